"""The `hexad` command: which commands there are, and how an error becomes one line and an exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from difflib import SequenceMatcher
from types import FrameType
from typing import Final

import click

import hexad
from hexad.config import NO_STORE
from hexad.interfaces.cli.app.base import (
    EXIT_INTERRUPTED,
    EXIT_OK,
    LOSSES,
    Group,
    OutputClosed,
    State,
    warn,
    wrapped,
)
from hexad.interfaces.cli.app.messages import error_message

_HERE: Final = "hexad.interfaces.cli"
_COMMANDS: Final = {
    "init": f"{_HERE}.store.store:init",
    "config": f"{_HERE}.store.config:config",
    "demo": f"{_HERE}.store.demo:demo",
    "ingest": f"{_HERE}.store.ingest:ingest",
    "watch": f"{_HERE}.store.ingest:watch",
    "remember": f"{_HERE}.memory.remember:remember",
    "remember-raw": f"{_HERE}.memory.remember:remember_raw",
    "recall": f"{_HERE}.memory.recall:recall",
    "context": f"{_HERE}.layers.context:context",
    "expand": f"{_HERE}.layers.context:expand",
    "feedback": f"{_HERE}.memory.feedback:feedback",
    "use-context": f"{_HERE}.memory.bundles:use_context",
    "forget": f"{_HERE}.memory.forget:forget",
    "memory": f"{_HERE}.memory.memory:memory",
    "spaces": f"{_HERE}.memory.spaces:spaces",
    "xdb": f"{_HERE}.experience.xdb:xdb",
    "session": f"{_HERE}.layers.session:session",
    "tags": f"{_HERE}.experience.tags:tags",
    "docs": f"{_HERE}.experience.docs:docs",
    "decide": f"{_HERE}.layers.decisions:decide",
    "why": f"{_HERE}.layers.decisions:why",
    "project": f"{_HERE}.layers.project:project",
    "honeycomb": f"{_HERE}.layers.honeycomb:honeycomb",
    "graph": f"{_HERE}.layers.graph:graph",
    "check": f"{_HERE}.store.store:check",
    "reindex": f"{_HERE}.store.store:reindex",
    "prefs": f"{_HERE}.layers.prefs:prefs",
    "maintain": f"{_HERE}.store.store:maintain",
    "consolidate": f"{_HERE}.store.store:consolidate",
    "encrypt": f"{_HERE}.store.encryption:encrypt",
    "decrypt": f"{_HERE}.store.encryption:decrypt",
    "rekey": f"{_HERE}.store.encryption:rekey",
    "cat": f"{_HERE}.store.store:cat",
    "audit": f"{_HERE}.audit.audit:audit",
    "mcp": f"{_HERE}.server.mcp:mcp",
    "serve": f"{_HERE}.server.serve:serve",
    "install": f"{_HERE}.store.install:install",
    "hook": f"{_HERE}.store.hook:hook",
    "doctor": f"{_HERE}.store.doctor:doctor",
    "completion": f"{_HERE}.app.completion:completion",
}
_EPILOG: Final = (
    "Exit codes: 0 ok, 1 failure or not allowed, 2 usage or limit, 3 not found, 4 conflict, 5 integrity, "
    "6 locked or timed out, 130 interrupted."
)
_MEMORY_NOT_FOUND: Final = re.compile(r"Memory '.*' not found(?: in space '[^']*')?", re.DOTALL)
_EXIT_PIPE: Final = 128 + signal.SIGPIPE
_EXIT_TERM: Final = 128 + signal.SIGTERM

root = Group(
    "hexad",
    lazy=_COMMANDS,
    help="A local, inspectable memory for AI agents: remember, ingest, recall.",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(hexad.__version__, "-V", "--version", prog_name="hexad")(root)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; nothing but `--debug` ever prints a traceback."""
    args = list(sys.argv[1:] if args is None else args)
    _prepare_streams()
    previous = signal.signal(signal.SIGTERM, _end)
    try:
        with warnings.catch_warnings():
            # Commands say it themselves, as a note.
            warnings.filterwarnings("ignore", f".* {NO_STORE}")
            warnings.filterwarnings("always", f".*{LOSSES}")
            warnings.showwarning = lambda message, *_where: warn(str(message))
            code = _run(args)
    finally:
        signal.signal(signal.SIGTERM, previous)
    return code


def _run(args: list[str]) -> int:
    state = State()
    try:
        result = root.main(args, prog_name="hexad", standalone_mode=False, obj=state)
        sys.stdout.flush()
        return result if isinstance(result, int) else EXIT_OK
    except (OutputClosed, BrokenPipeError):
        _drop_output()
        return _EXIT_PIPE
    except (click.Abort, KeyboardInterrupt):
        _say_error(args, state, "Interrupted", "Interrupted; what was acknowledged is stored.")
        return EXIT_INTERRUPTED
    except click.ClickException as error:
        _say_error(args, state, "UsageError", _usage_message(error))
        return error.exit_code
    except hexad.HexadError as error:
        _say_error(
            args, state, type(error).__name__, _with_remedy(error, error_message(error, state.command))
        )
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the outermost handler: a person gets a sentence
        _say_error(
            args, state, type(error).__name__, f"{type(error).__name__}: {error} (--debug shows where)"
        )
        return hexad.HexadError.exit_code


def _with_remedy(error: hexad.HexadError, message: str) -> str:
    """Return the message with what helps; document 1's for a memory that is not there ends without it."""
    if isinstance(error, hexad.NotFound) and _MEMORY_NOT_FOUND.fullmatch(message):
        return (
            f"{message}. `hexad memory list` shows those there are, with --status any the archived ones too."
        )
    return message


def _end(number: int, frame: FrameType | None) -> None:
    """On SIGTERM leave as on a return: `with` blocks close the store."""
    del number, frame
    raise SystemExit(_EXIT_TERM)


def _prepare_streams() -> None:
    # A terminal that cannot show a character gets its escape, not an error half-way through the output.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Let the interpreter's last flush go nowhere instead of failing at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _usage_message(error: click.ClickException) -> str:
    message = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx is not None:
        if isinstance(error, click.NoSuchOption):
            meant = " or ".join(map(repr, _options_meant(error)))
            message = f"{error.message}{f' Did you mean {meant}?' * bool(meant)}{_after_dashes(error.ctx)}"
        end = "" if message.endswith((".", "?", "!", ")")) else "."
        return f"{message}{end} Try '{error.ctx.command_path} --help'."
    return message


_SAME_OPTIONS: Final = (
    frozenset({"--why", "--because", "--reason", "--rationale"}),
    frozenset({"--yes", "--confirm", "--force"}),
    frozenset({"--limit", "--max", "--count", "--top-k"}),
)
"""Options of one meaning: of a command that has another one of them, that one is meant."""
_LIKE: Final = 0.65


def _options_meant(error: click.NoSuchOption) -> list[str]:
    """Return the options of a command that an unknown one likely stands for."""
    assert error.ctx is not None
    own = {name for parameter in error.ctx.command.params for name in parameter.opts}
    same = [name for names in _SAME_OPTIONS if error.option_name in names for name in sorted(names & own)]
    bare = error.option_name.lstrip("-")
    alike = [
        name
        for name in error.possibilities or ()
        if SequenceMatcher(None, bare, name.lstrip("-")).ratio() >= _LIKE
    ]
    return same or alike


def _after_dashes(ctx: click.Context) -> str:
    """Return how a text that begins with a dash is given to a command that takes one."""
    texts = [parameter for parameter in ctx.command.params if isinstance(parameter, click.Argument)]
    if not texts:
        return ""
    name = texts[0].human_readable_name.strip("[]")
    return f" A {name} that begins with a dash stands after `--`: '{ctx.command_path} -- {name}'."


def _say_error(args: Sequence[str], state: State, kind: str, message: str) -> None:
    # An option that cannot be read ends the parsing before `--json` and `--debug` are seen: look for them.
    options = args[: args.index("--")] if "--" in args else args
    if state.debug or "--debug" in options:
        traceback.print_exc()
    message = str(
        hexad.HexadError(message)
    )  # what was typed may be a text or a key: an error is discreet about both
    try:
        if state.json or "--json" in options:
            click.echo(
                json.dumps({"error": {"type": kind, "message": message}}, ensure_ascii=False), err=True
            )
        else:
            line = f"{click.style('Error:', fg='red', bold=True)} {wrapped(' '.join(message.split()), 'Error: ')}"
            click.echo(line, err=True, color=False if state.plain else None)
    except BrokenPipeError:
        pass  # nobody reads stderr either; the exit code still says it
