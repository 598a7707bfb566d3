"""`hexad audit …`: the ledger, for whoever reviews what a model did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

import hexad
from hexad.audit import AuditLog
from hexad.config import load_settings
from hexad.interfaces.cli.app.base import Function, Group, state

_HERE: Final = "hexad.interfaces.cli"
_MODULES: Final = {
    "audit.reading": ("reviewer", "query", "export"),
    "audit.proving": ("verify", "checkpoint", "key", "proof"),
    "audit.keeping": ("archive", "retain", "erase", "inspect"),
    "audit.incidents": ("incident",),
}
_LAZY: Final = {name: f"{_HERE}.{module}:{name}" for module, names in _MODULES.items() for name in names}
_OWNER: Final = "owner"


@click.group(cls=Group, lazy=_LAZY)
@click.pass_context
def audit(ctx: click.Context) -> None:
    """The ledger: review it, check it, prove what is in it."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def ledger_option(function: Function) -> Function:
    """Add `--ledger`."""
    return click.option(
        "--ledger",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The ledger's own folder; default: the one of the store.",
    )(function)


@contextmanager
def ledger_of(folder: Path | None, *, create: bool = False) -> Iterator[AuditLog]:
    """Open a ledger for a command; that of a store first takes what upkeep noted there.

    Raises `AccessDenied` in a role: whoever acts in one sees what policies show, and no policy shows the ledger.
    """
    if folder is None:
        with state().opened() as hx:
            _require_owner(hx.path)
            hx.spaces.list()  # what knows the policies hands its notes to the ledger when it closes
            folder = hx.path / "audit"
    else:
        _require_owner(None)
    with AuditLog(folder, create=create) as log:
        yield log


def _require_owner(store: Path | None) -> None:
    role = state().role if state().role is not None else load_settings(store).role
    if role not in (None, _OWNER):
        raise hexad.AccessDenied(
            f"The ledger is not for the role {role!r}, and no policy can show it. Leave --role and HEXAD_ROLE out."
        )


def each(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Return what adds several options, in this order."""

    def add(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add
