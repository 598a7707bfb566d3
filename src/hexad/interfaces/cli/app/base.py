"""What every command shares: the options that all have, opening the store, and the three ways to speak.

Data goes to stdout; notes, warnings, progress and errors go to stderr. rich, and the whole engine, are
imported only by a command that needs them, so that `hexad --help` and a completion cost nothing.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar, cast

import click

import hexad
from hexad.config import find_store, load_settings, store_above
from hexad.core.arguments import absence as absence
from hexad.core.arguments import json_fault as json_fault
from hexad.core.arguments import quoted as quoted
from hexad.core.prompt_fence import escaped, fenced_json

if TYPE_CHECKING:
    from hexad import Hexad

EXIT_OK: Final = 0
EXIT_DECLINED: Final = 1
EXIT_INTEGRITY: Final = 5
EXIT_INTERRUPTED: Final = 130
LOSSES: Final = "--accept-losses"
"""Stands in every warning of a file that is lost."""

TEXT_BYTES_LIMIT: Final = 16 << 20
"""So much is read of a text that is to become one memory: a memory holds 1 MiB, and some notations take more."""
_SHOWN: Final = 80

Function = TypeVar("Function", bound=Callable[..., Any])


class OutputClosed(Exception):
    """Whoever read our output has gone away: nothing more to say, and no error."""


@dataclass(slots=True, kw_only=True)
class State:
    """What the options that all commands share have set."""

    store: str | None = None
    role: str | None = None
    json: bool = False
    debug: bool = False
    plain: bool = False
    command: click.Command | None = None
    """The one that runs."""
    passphrase: str | None = field(default=None, repr=False)
    user_passphrase: str | None = field(default=None, repr=False)
    taken_out: hexad.Redactions | None = None
    """What the command's last opening of the store took out of texts."""

    @contextmanager
    def opened(
        self, *, create: bool = False, background: bool = False, embeds: bool = False, user: bool = False
    ) -> Iterator[Hexad]:
        """Open the store for a command and close it afterwards, also after Ctrl-C. `user` says that the command is
        about the user layer, whose passphrase is then asked for where nothing gives it.

        Without `embeds` no embedder is looked for. With it, a store whose vectors are from an embedder that
        this command line cannot make is opened without one, and says so: its vectors wait for the program
        that has it. Raises `NotFound` when there is no store and `create` is false.
        """
        if user:
            self._ask_for_user()
        try:
            hx = self._open_or_read(create=create, background=background, embeds=embeds)
        except hexad.AccessDenied:
            if not self.ask_passphrase():
                raise
            hx = self._open_or_read(create=create, background=background, embeds=embeds)
        self.say_above(hx.path)
        with hx, hexad.redactions() as self.taken_out:  # a store that was made for what is refused goes again
            yield hx

    def say_above(self, directory: Path | None = None) -> None:
        """Say that the folder that was named has no store of its own, and that the one above it is used: `directory`,
        or the one that will be found there.
        """
        if self.store is None or (directory := directory or find_store(Path(self.store))) is None:
            return
        if (words := store_above(self.store, directory)) is not None:
            note(words)

    def ask_passphrase(self, *, user: bool = False) -> bool:
        """Ask whoever sits at the terminal for the store's passphrase, or the user layer's; return whether there is
        one to try.
        """
        if self.passphrase is not None or not sys.stdin.isatty() or not sys.stderr.isatty():
            return False
        try:
            encryption_state = hexad.encryption_state(None if user else self.store, user=user)
        except hexad.HexadError:
            return False
        if encryption_state is None or encryption_state.provider != "passphrase":
            return False
        self.passphrase = click.prompt("Passphrase", hide_input=True, err=True)
        return True

    def ask_trust(self) -> bool:
        """Ask whoever sits at the terminal to trust what the project's file names; return whether that is so now."""
        if not sys.stdin.isatty() or not sys.stderr.isatty():
            return False
        untrusted = hexad.untrusted_settings(self.store)
        for line in trust_lines(untrusted):
            click.echo(line, err=True)
        if not untrusted.settings or not click.confirm("Trust that?", err=True):
            return False
        hexad.trust_settings(settings=untrusted)
        return True

    def _ask_for_user(self) -> None:
        if self.user_passphrase is not None or not sys.stdin.isatty() or not sys.stderr.isatty():
            return
        encryption_state = hexad.encryption_state(user=True)
        if (
            encryption_state is not None
            and encryption_state.provider == "passphrase"
            and load_settings(None).user_keys["passphrase"] is None
        ):
            self.user_passphrase = click.prompt("Passphrase of the user layer", hide_input=True, err=True)

    @property
    def actor(self) -> dict[str, str] | None:
        """As whom to open the store; None is its owner, or the role that the settings name."""
        return None if self.role is None else {"role": self.role}

    def _open_or_read(self, *, create: bool, background: bool, embeds: bool) -> Hexad:
        return opened_or_read(
            lambda readonly: self._open(
                create=create and not readonly, background=background, embeds=embeds, readonly=readonly
            )
        )

    def _open(self, *, create: bool, background: bool, embeds: bool, readonly: bool = False) -> Hexad:
        purpose = click.get_current_context().command_path
        if embeds:
            try:
                return hexad.open(
                    self.store,
                    actor=self.actor,
                    purpose=purpose,
                    background=background,
                    create=create,
                    readonly=readonly,
                    key=self.passphrase,
                    user_key=self.user_passphrase,
                )
            except hexad.Conflict as error:
                conflict = error
        hx = hexad.open(
            self.store,
            actor=self.actor,
            purpose=purpose,
            background=background,
            create=create,
            readonly=readonly,
            embedder=None,
            key=self.passphrase,
            user_key=self.user_passphrase,
        )
        if embeds:
            note(f"Without an embedder: {conflict}")
        return hx


def opened_or_read(open_store: Callable[[bool], Hexad]) -> Hexad:
    """Return a store that `open_store` opens: for reading alone (True) where its disk is full or may not be written."""
    try:
        return open_store(False)
    except hexad.StorageFailure as refused:
        try:
            hx = open_store(True)
        except hexad.StorageFailure as unread:  # it says more: what stands in the way of reading, too
            raise unread from refused
        except hexad.HexadError:
            raise refused from None
        note(f"{refused} The store was opened for reading alone.")
        return hx


@contextmanager
def losses_are_told() -> Iterator[None]:
    """Let opening warn of no lost file: the command looks for those itself, and says what it finds once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*{LOSSES}", UserWarning)
        yield


def trust_lines(settings: hexad.TrustedSettings) -> Iterator[str]:
    """Return settings of a project's file, and what each does, line by line."""
    yield f"{_quoted(str(settings.file))} says:"
    for name, purpose in settings.purposes.items():
        yield f"  {name} = {_quoted(settings.settings[name])}"
        yield f"    {_quoted(purpose)[1:-1]}"


def _quoted(text: str) -> str:
    """Return a text of somebody else's file as one that cannot steer a terminal."""
    return escaped(json.dumps(text, ensure_ascii=False))


def state() -> State:
    """Return what the shared options of the running command have set."""
    return click.get_current_context().find_root().ensure_object(State)


# Options that every command has -----------------------------------------------------------------------------


class _Present(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions of click
    """True for any text: `NO_COLOR` counts whatever its value is (no-color.org)."""

    name = "boolean"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool:
        del param, ctx
        return bool(value)


def _set(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        del param
        # An empty text is a value: `--role "$ROLE"` of a variable that is not set must not make an owner.
        if value is not None and value is not False:
            setattr(ctx.find_root().ensure_object(State), name, value)

    return callback


def _set_store(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value == "":
        raise hexad.InvalidInput(
            "-C '' names no folder; give the folder of a project, or leave -C out for the current one."
        )
    _set("store")(ctx, param, value)


def _set_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    del param
    if value:
        ctx.find_root().ensure_object(State).plain = True
        ctx.find_root().color = ctx.color = False


def shared_options() -> list[click.Parameter]:
    """Return fresh copies of the options that may stand anywhere: before the command's name or after it."""
    return [
        click.Option(
            ["-C", "--store"],
            metavar="DIR",
            type=click.Path(),
            expose_value=False,
            callback=_set_store,
            help="Folder of the project, or its .hexad; default: the current one or the nearest above it.",
        ),
        click.Option(
            ["--role"],
            metavar="NAME",
            expose_value=False,
            callback=_set("role"),
            help="Act in this role: see only what the spaces' policies show to it. Default: HEXAD_ROLE, else owner.",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_set("json"),
            help="Print JSON on stdout; errors become JSON on stderr.",
        ),
        click.Option(
            ["--no-color"],
            is_flag=True,
            flag_value=True,
            type=_Present(),
            envvar="NO_COLOR",
            expose_value=False,
            is_eager=True,
            callback=_set_color,
            help="Plain text without colours; so does the variable NO_COLOR.",
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_set("debug"),
            help="Show where an error came from.",
        ),
    ]


_COLUMNS, _COLUMNS_LEAST = 100, 20
"""Between which widths a message is wrapped."""
_WHOLE_SENTENCE: Final = 400
"""Characters; no command's first sentence has as many."""


class Command(click.Command):
    """A command with the shared options after its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *shared_options()]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, noting which one it is for an error to name its options."""
        shared = ctx.find_root().ensure_object(State)
        shared.command = self
        for parameter in self.params:
            _require_whole(parameter, ctx.params.get(parameter.name or ""))
        try:
            return super().invoke(ctx)
        except hexad.UntrustedSettings:  # what opens a store comes first: nothing has been done yet
            if not shared.ask_trust():
                raise
            return super().invoke(ctx)

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return both names in any context: the option is made at the first use and stays."""
        del ctx
        return ["-h", "--help"]

    def get_short_help_str(self, limit: int = _WHOLE_SENTENCE) -> str:
        """Return the first sentence of the help, whole: a list of commands wraps what is longer than its line."""
        return super().get_short_help_str(max(limit, _WHOLE_SENTENCE))


class Group(click.Group):
    """Commands by name; each module is imported when its command runs.

    `lazy` maps a command's name to `module:attribute`. A name that is unknown suggests the nearest.
    """

    command_class = Command

    def __init__(self, *args: Any, lazy: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **{"invoke_without_command": True, "callback": _show_help, **kwargs})
        self._lazy = dict(lazy or {})
        self.params = [*self.params, *shared_options()]

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return both names in any context: the option is made at the first use and stays."""
        del ctx
        return ["-h", "--help"]

    def get_short_help_str(self, limit: int = _WHOLE_SENTENCE) -> str:
        """Return the first sentence of the help, whole."""
        return super().get_short_help_str(max(limit, _WHOLE_SENTENCE))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they were given, those of the group's own module first."""
        del ctx
        return [*self.commands, *self._lazy]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name, importing its module."""
        if cmd_name not in self._lazy:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._lazy[cmd_name].partition(":")
        return cast("click.Command", getattr(import_module(module), attribute))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names; raises `UsageError` with the nearest name."""
        name = args[0]
        if not name.startswith("-") and name not in (names := self.list_commands(ctx)):
            nearest = get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            raise click.UsageError(f"No such command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader who has gone away becomes `OutputClosed`."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise OutputClosed from error


@click.pass_context
def _show_help(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


# Speaking ---------------------------------------------------------------------------------------------------


def print_json(value: object) -> None:
    """Print one JSON document on stdout."""
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=False)
    click.echo(fenced_json(text))  # what nobody sees must not steer a terminal either; the values stay


def note(text: str) -> None:
    """Say something about the work on stderr."""
    click.echo(click.style(wrapped(text), dim=True), err=True)


def wrapped(text: str, head: str = "") -> str:
    """Return a message in lines that fit a terminal, so that no word is cut; elsewhere as it is, for a program.

    `head` stands before it on its first line.
    """
    if not sys.stderr.isatty():
        return text
    room = max(min(get_terminal_size((80, 24)).columns, _COLUMNS), _COLUMNS_LEAST)
    lines = [
        line
        for part in (head + text).split("\n")
        for line in wrap(part, room, break_long_words=False, break_on_hyphens=False) or [""]
    ]
    return "\n".join(lines).removeprefix(head)


def note_more(items: str) -> None:
    """Say of a list that may be cut at its limit how to see the rest; `items` is its length with its noun."""
    note(f"{items} shown; there may be more, which --limit and --offset show.")


def warn(text: str) -> None:
    """Say on stderr that something is not as it should be."""
    click.echo(f"{click.style('Warning:', fg='yellow', bold=True)} {text}", err=True)


def on_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


def confirm(question: str, *, yes: bool, without: str) -> None:
    """Ask before something is destroyed; return when it may be.

    Without a terminal to ask on nothing is taken for granted: raises `UsageError` that names --yes and, after it,
    `without`. After a no the command ends with exit code 1.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"{question} Nothing was changed. Add --yes to do it, or {without}.")
    try:
        agreed, code = click.confirm(question, err=True), EXIT_DECLINED
    except click.Abort:  # Ctrl-C or Ctrl-D, on the question's line
        click.echo(err=True)
        agreed, code = False, EXIT_INTERRUPTED
    if not agreed:
        note("Nothing was changed.")
        click.get_current_context().exit(code)


# Reading what was typed -------------------------------------------------------------------------------------


def read_stdin() -> str:
    """Return what was piped in. Raises `InvalidInput` where that is no UTF-8, `LimitExceeded` for what has no end."""
    try:
        return read_bounded(sys.stdin.buffer, "What was piped in").decode("utf-8")
    except UnicodeDecodeError as error:
        raise hexad.InvalidInput(
            f"What was piped in is no UTF-8 text: byte {error.start} is none. Convert it, for example with iconv."
        ) from error


def require_utf8(text: str, name: str) -> str:
    """Return an argument; raises `InvalidInput` for bytes that are no UTF-8, which Python has as lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise hexad.InvalidInput(
            f"The {name} is no UTF-8: byte {ord(text[error.start]) & 0xFF:#04x} after {error.start} characters is "
            "none. Convert it, for example with iconv."
        ) from error
    return text


_PLACES: Final = frozenset({
    "archives", "file", "folder", "into", "key_file", "ledger", "messages", "out", "package", "path", "place", "root",
    "sources",
})  # fmt: skip
"""Parameters that are paths or begin with one: a name of a file is bytes, and what takes it says what it cannot be."""


class NamedPath(click.Path):
    """A path that was typed; an empty one, which Python takes for the current folder, is refused as that."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; raises `BadParameter`."""
        if value == "":
            what = "file" if self.file_okay else "folder"
            self.fail(f"'' names no {what}; give the path of one.", param, ctx)
        return super().convert(value, param, ctx)


def _require_whole(parameter: click.Parameter, value: object) -> None:
    """Raise `InvalidInput`, naming an option or argument, for bytes of its value that are no UTF-8."""
    if parameter.name in _PLACES or isinstance(parameter.type, click.Path):
        return
    is_option = isinstance(parameter, click.Option)
    name = max(parameter.opts, key=len) if is_option else parameter.human_readable_name.strip("[].")
    for text in value if isinstance(value, tuple) else (value,):
        if isinstance(text, str):
            require_utf8(text, name)


def read_bounded(stream: BinaryIO, what: str) -> bytes:
    """Return what a stream holds; raises `LimitExceeded` when that is far more than a memory can."""
    data = stream.read(TEXT_BYTES_LIMIT + 1)
    if len(data) > TEXT_BYTES_LIMIT:
        raise hexad.LimitExceeded(
            f"{what} is larger than a memory; `hexad ingest` stores a large file in parts."
        )
    return data


def read_file(file: Path, *, read: Callable[[BinaryIO], bytes] | None = None) -> bytes:
    """Return what a file holds, or what comes out of a pipe that somebody writes to, such as `<(command)`.

    `read` reads from it, by default `read_bounded`, which raises `LimitExceeded`. Raises `InvalidInput` for a pipe that
    nobody writes to, which would be waited for, and `OSError` as `open` does.
    """
    with open(file, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as stream:
        os.set_blocking(stream.fileno(), True)
        data = read_bounded(stream, repr(str(file))) if read is None else read(stream)
        if not data and stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode):
            raise hexad.InvalidInput(
                f"{str(file)!r} is a pipe that nobody writes to; give a file, or - for what is piped in."
            )
    return data


def parse_object(text: str | None, option: str) -> dict[str, Any] | None:
    """Return a JSON object; raises `BadParameter` naming `option` for anything else."""
    if text is None:
        return None
    shown = repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"{shown} is no JSON: {json_fault(error)}.", param_hint=option) from error
    if not isinstance(value, dict):
        raise click.BadParameter(f'{shown} is no JSON object; write {{"name": value}}.', param_hint=option)
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands there twice")
    return members


def several(values: Sequence[str]) -> list[str] | None:
    """Return the values of a repeatable option; None when it was not given."""
    return list(values) or None
