"""`hexad audit …`: the ledger for reviewers: who may read it (`reviewer`), reading it (`query`, `export`)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import hexad
from hexad import EventType, SystemClock
from hexad.audit import AuditLog
from hexad.audit.reviewers import new_reviewer
from hexad.config import load_settings
from hexad.interfaces.cli.app.base import Command, Function, Group, NamedPath, note, several, state
from hexad.interfaces.cli.app.completion import session_ids
from hexad.interfaces.cli.experience.options import TICKS, time_range
from hexad.interfaces.cli.output.render import clean, count, show, table, table_room

if TYPE_CHECKING:
    from hexad.audit import AuditRecord, Reviewer


_HERE: Final = "hexad.interfaces.cli"
_MODULES: Final = {
    "audit.proofs": ("verify", "checkpoint", "key", "proof"),
    "audit.retention": ("archive", "retain", "erase", "inspect"),
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
        type=NamedPath(path_type=Path),
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


VARIABLE: Final = "HEXAD_REVIEWER_CREDENTIAL"


# Reviewers --------------------------------------------------------------------------------------------------


@audit.group(cls=Group)
@click.pass_context
def reviewer(ctx: click.Context) -> None:
    """Who may read the ledger."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@reviewer.command("add", cls=Command)
@click.argument("name")
@click.option("--expires", metavar="TIME", help="Until when: RFC 3339 or a date. Default: until revoked.")
@click.option(
    "--session",
    "sessions",
    multiple=True,
    metavar="ID",
    shell_complete=session_ids,
    help="Show only records of this session; repeat it. Default: all.",
)
@ledger_option
def add(*, name: str, expires: str | None, sessions: tuple[str, ...], ledger: Path | None) -> None:
    """Add the reviewer NAME, and print the credential.

    It is shown this once and kept as a hash only. That the reviewer was added is a record of the ledger.
    """
    # Before a ledger is made for a reviewer who cannot be.
    new_reviewer(name, expires_at=expires, sessions=several(sessions), now=SystemClock().now())
    with ledger_of(ledger, create=True) as log:
        credential = log.reviewers.add(name, expires_at=expires, sessions=several(sessions))
    show({"name": name, "credential": credential}, table=_add_lines(credential))


def _add_lines(credential: str) -> Iterator[str]:
    yield credential
    note(f"Keep it: it is not shown again. Commands take it from {VARIABLE}, or ask for it.")


@reviewer.command("revoke", cls=Command)
@click.argument("name")
@ledger_option
def revoke(*, name: str, ledger: Path | None) -> None:
    """Revoke NAME's access to the ledger."""
    with ledger_of(ledger) as log:
        log.reviewers.revoke(name)
    show({"name": name, "revoked": True}, table=f"Revoked {clean(name)}")


@reviewer.command("list", cls=Command)
@ledger_option
def list_(*, ledger: Path | None) -> None:
    """List the reviewers, current and former."""
    with ledger_of(ledger) as log:
        reviewers = log.reviewers.list()
    show(reviewers, table=_list_lines(reviewers))


def _list_lines(reviewers: list[Reviewer]) -> Iterator[str]:
    now = SystemClock().now()
    rows = []
    for reviewer in reviewers:
        is_expired = reviewer.expires_at is not None and reviewer.expires_at <= now
        may = "revoked" if reviewer.revoked else "expired" if is_expired else "may read"
        end = "" if reviewer.expires_at is None else f"{reviewer.expires_at:%Y-%m-%d %H:%M}"
        scope = "everything" if reviewer.sessions is None else ", ".join(reviewer.sessions)
        rows.append((reviewer.name, may, f"{reviewer.added_at:%Y-%m-%d %H:%M}", end, scope))
    if not rows:
        note("No reviewers; `hexad audit reviewer add NAME` lets somebody read the ledger.")
        return
    yield from table(rows, heads=("name", "state", "added", "expires", "sessions"), room=table_room())


# Reading ----------------------------------------------------------------------------------------------------

credential_option = click.option(
    "--credential",
    metavar="NAME:SECRET",
    envvar=VARIABLE,
    help=f"The reviewer's credential; default: the variable {VARIABLE}, else it is asked for. Other users of the"
    " machine can see what stands on a command line.",
)
_asked = each(
    credential_option,
    click.option(
        "--session", "session_id", metavar="ID", shell_complete=session_ids, help="Only of this session."
    ),
    click.option("--ticks", "tick_range", type=TICKS, metavar="A-B", help="Only these ticks, both included."),
    click.option("--since", metavar="TIME", help="Only from this time on: RFC 3339 or a date."),
    click.option("--until", metavar="TIME", help="Only before this time."),
    click.option(
        "--type",
        "event_types",
        multiple=True,
        type=click.Choice([event_type.value for event_type in EventType]),
        help="Only timesteps of this type; repeat it.",
    ),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="KIND",
        help="Only this kind: timestep, or an event such as gc or reviewer.query; repeat it.",
    ),
    ledger_option,
)


@audit.command()
@_asked
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Maximum number."
)
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip this many at the start.")
@click.option(
    "--archive",
    type=NamedPath(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Of those in this archive, not in the ledger.",
)
def query(
    *,
    credential: str | None,
    ledger: Path | None,
    limit: int,
    offset: int,
    archive: Path | None,
    **given: Any,
) -> None:
    """Show records of the ledger, decrypted.

    Needs a reviewer's credential. The question and how many records it showed become a record themselves.
    """
    with ledger_of(ledger) as log:
        records = log.query(
            reviewer_credential=credential_of(credential),
            limit=limit,
            offset=offset,
            archive=archive,
            **_conditions(given),
        )
    show(records, table=_query_lines(records))


def _query_lines(records: list[AuditRecord]) -> Iterator[str]:
    rows = [
        (
            record.id,
            f"{record.timestamp:%Y-%m-%d %H:%M:%S}",
            record.session_id or "",
            "" if record.tick is None else f"{record.tick:,}",
            record.kind if record.event_type is None else record.event_type.value,
            _contents(record),
        )
        for record in records
    ]
    yield from table(
        rows,
        heads=("record", "time", "session", "tick", "what", "contents"),
        room=table_room(),
        whole=("record",),
    )
    note(f"{count(len(records), 'record')}; --json shows lenses, steering and hashes.")


@audit.command()
@_asked
@click.option("--out", type=NamedPath(path_type=Path), metavar="FILE", help="Output; default: stdout.")
def export(*, credential: str | None, ledger: Path | None, out: Path | None, **given: Any) -> None:
    """Write records of the ledger as JSON lines, decrypted.

    Needs a reviewer's credential. All that hold are written, in their order; that they were is a record itself. FILE
    is for its owner alone, and must not be there yet. It is signed, each record with an inclusion proof, and `hexad
    audit inspect FILE` checks it without the ledger; what goes to stdout is records alone.
    """
    with ledger_of(ledger) as log:
        known, conditions = credential_of(credential), _conditions(given)
        if out is not None:
            written = log.export_to(out, reviewer_credential=known, **conditions)
        else:
            for record in log.export(reviewer_credential=known, **conditions):
                click.echo(json.dumps(record.to_dict(), ensure_ascii=False))
            return
    show(
        {"path": str(out), "records": written}, table=f"Wrote {count(written, 'record')} to {clean(str(out))}"
    )


def _conditions(options: dict[str, Any]) -> dict[str, Any]:
    return {
        "session_id": options["session_id"],
        "tick_range": options["tick_range"],
        "time_range": time_range(options["since"], options["until"]),
        "event_types": several(options["event_types"]),
        "kinds": several(options["kinds"]),
    }


def credential_of(value: str | None) -> str:
    """Return the credential that was given, or is typed now, unseen."""
    if value is not None:
        return value
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"The ledger is for reviewers: set {VARIABLE}, or give --credential.")
    typed: str = click.prompt(
        "Credential (NAME:SECRET)", hide_input=True, err=True, default="", show_default=False
    )
    if not typed:
        raise click.UsageError(f"No credential was typed. Give NAME:SECRET, or set {VARIABLE}.")
    return typed


def _contents(record: AuditRecord) -> str:
    if record.erased:
        return "(erased)"
    if record.raw_content is not None:
        return record.raw_content
    return " ".join(f"{name}={_plain(value)}" for name, value in record.detail.items() if value is not None)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
