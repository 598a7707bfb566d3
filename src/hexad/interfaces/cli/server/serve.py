"""`hexad serve` serves a store over HTTP; `hexad serve token …` says who may ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

import hexad
from hexad.config import load_settings
from hexad.interfaces.cli.app.base import Command, Group, State, note, several, state
from hexad.interfaces.cli.output.render import clean, show
from hexad.interfaces.cli.server.options import listening_options
from hexad.interfaces.http_server.tokens import Login, TokenFile, check_spaces

if TYPE_CHECKING:
    from hexad import Hexad
    from hexad.interfaces.http_server.serve import Listening

_SERVER: Final = "hexad.interfaces.http_server.serve"
_OWNER: Final = "owner"


@click.group(cls=Group)
@listening_options(port=8765)
@click.option(
    "--rate",
    type=click.FloatRange(min=0.1),
    default=2_000.0,
    show_default=True,
    help="Requests a second of one token.",
)
@click.option(
    "--body-mib",
    type=click.IntRange(1, 1_024),
    default=16,
    show_default=True,
    help="Size limit of a request's body, in MiB.",
)
@click.pass_context
def serve(ctx: click.Context, /, rate: float, body_mib: int, **options: Any) -> None:
    """Serve the store over HTTP, on this machine alone unless told otherwise.

    Every request needs a token. The first one, the owner's, is made at the first start and stands in
    .hexad/server/token; `hexad serve token add` makes others, with a role and spaces.
    """
    if ctx.invoked_subcommand is not None:
        return
    state().command = ctx.command
    if state().role is not None:
        raise click.UsageError("A server has no role: each token has one. Leave --role out.")
    try:
        server: Any = import_module(_SERVER)
    except ModuleNotFoundError as error:
        raise hexad.HexadError(
            f"`hexad serve` needs the package {error.name!r}; install the extra: pip install 'hexad[server]'."
        ) from error
    limits = server.Limits(rate=rate, body_bytes=body_mib << 20)
    chosen = server.ServeOptions(**options, limits=limits)
    server.check_options(chosen)
    server.serve(chosen, _opener(state()), key=state().passphrase, listening=_say)


class _Opener:
    """Opens the store for a role, in whichever thread asks."""

    def __init__(self, shared: State, *, is_role_set: bool) -> None:
        self._shared, self._is_role_set = shared, is_role_set

    def __call__(self, role: str | None) -> Hexad:
        if role is None and self._is_role_set:
            role = _OWNER  # the role that the settings name is that of whoever names none
        options: dict[str, Any] = {
            "actor": None if role is None else {"role": role},
            "purpose": "hexad serve",
            "background": True,
            "key": self._shared.passphrase,
            "user_key": self._shared.user_passphrase,
        }
        try:
            return hexad.open(self._shared.store, **options)
        except hexad.Conflict as conflict:
            hx = hexad.open(self._shared.store, embedder=None, **options)
            note(f"Without an embedder: {conflict}")
            return hx


def _opener(shared: State) -> _Opener:
    # The first opening asks for the passphrase of an encrypted store, while there is somebody to ask.
    with shared.opened(create=True) as hx:
        return _Opener(shared, is_role_set=load_settings(hx.path).role is not None)


def _say(listening: Listening) -> None:
    if state().json:
        show(
            {"url": listening.url, "store": listening.store, "token_file": listening.token_file},
            table="",
        )
    else:
        click.echo(f"Serving {listening.store} on {listening.url}")
    if listening.new_token:
        note(f"The owner's token is in {listening.token_file}. Ctrl-C ends the server.")


# Tokens ---------------------------------------------------------------------------------------------------------------


class _RoleOfToken(Command):
    """A command whose `--role` is that of the token, and not of who calls."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params = [
            parameter for parameter in self.params if parameter.name != "role" or parameter.expose_value
        ]


@serve.group(cls=Group)
@click.pass_context
def token(ctx: click.Context) -> None:
    """Who may ask: make, list and revoke tokens."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@contextmanager
def _tokens(spaces: Sequence[str] | None = None, *, create: bool = False) -> Iterator[TokenFile]:
    """Give the tokens of the store; spaces that it does not have are named: they may be made later.

    Raises `InvalidSpace` for a name that none can have.
    """
    check_spaces(spaces or ())
    with state().opened(create=create) as hx:
        names = {info.name for info in hx.spaces.list()}
        if state().role not in (None, _OWNER):
            raise hexad.AccessDenied("Tokens are for the store's owner; leave --role and HEXAD_ROLE out.")
        for name in spaces or ():
            if name not in names:
                note(f"There is no space {name!r} yet; the token reaches nothing there until there is one.")
        yield TokenFile(hx.path)


@token.command(cls=_RoleOfToken)
@click.option(
    "--role", required=True, help="Role that whoever has the token acts in; `owner` sees everything."
)
@click.option(
    "--space",
    "spaces",
    multiple=True,
    help="Only this space; repeatable. Default: all that the role may see.",
)
@click.option("--name", help="Name of the token; default: the role with a number.")
@click.option("--expires", "expires_at", metavar="TIME", help="When it ends: RFC 3339 or a date.")
def add(role: str, spaces: Sequence[str], name: str | None, expires_at: str | None) -> None:
    """Make a token and print it: it is shown this once."""
    names = several(spaces)
    with _tokens(names, create=True) as tokens:
        login, text = tokens.add(role=role, spaces=names, name=name, expires_at=expires_at)
    show({**login.to_dict(), "token": text}, table=text)
    if not state().json:
        note(f"{login.name}: role {login.role}, {_spaces(login)}. Nothing keeps the token but you.")


@token.command("list")
def list_tokens() -> None:
    """List the tokens, without themselves."""
    with _tokens() as tokens:
        logins = tokens.list()
    show(logins, table=_lines(logins))


def _lines(logins: Sequence[Login]) -> Iterator[str]:
    if not logins:
        note("No token; the first one is made when `hexad serve` first starts.")
    for login in logins:
        end = "" if login.expires_at is None else f", until {login.expires_at:%Y-%m-%d %H:%M}"
        since = f"since {login.created_at:%Y-%m-%d %H:%M}{end}"
        yield f"{clean(login.name)}  {login.role}  {clean(_spaces(login))}  {since}"


@token.command()
@click.argument("name")
def revoke(name: str) -> None:
    """End the token NAME; a server that runs refuses it from its next request on."""
    with _tokens() as tokens:
        login = tokens.revoke(name)
    show(login, table=f"{clean(login.name)} revoked")


def _spaces(login: Login) -> str:
    return "all spaces" if login.spaces is None else f"spaces {', '.join(login.spaces)}"
