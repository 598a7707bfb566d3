"""`hexad audit incident`: spans of the ledger that are kept for good, and what proves them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hexad.interfaces.cli.app.base import Command, Group, NamedPath
from hexad.interfaces.cli.app.completion import session_ids
from hexad.interfaces.cli.audit.audit import credential_of, credential_option, ledger_of, ledger_option
from hexad.interfaces.cli.experience.options import TICKS, time_range
from hexad.interfaces.cli.output.render import clean, count, show, table, table_room

if TYPE_CHECKING:
    from hexad.audit import Incident, Span


@click.group(cls=Group)
@click.pass_context
def incident(ctx: click.Context) -> None:
    """Spans of the ledger that are never archived."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@incident.command("mark", cls=Command)
@click.argument("name")
@click.option("--reason", required=True, metavar="TEXT", help="Why; it is kept encrypted.")
@click.option(
    "--session", "session_id", metavar="ID", shell_complete=session_ids, help="Records of this session."
)
@click.option(
    "--ticks", "tick_range", type=TICKS, metavar="A-B", help="Of its ticks only these, both included."
)
@click.option("--since", metavar="TIME", help="Records from this time on: RFC 3339 or a date.")
@click.option("--until", metavar="TIME", help="Records before this time.")
@click.option("--records", "seq_range", type=TICKS, metavar="A-B", help="The records audit-A to audit-B.")
@credential_option
@ledger_option
def mark(
    *,
    name: str,
    reason: str,
    session_id: str | None,
    tick_range: tuple[int, int] | None,
    since: str | None,
    until: str | None,
    seq_range: tuple[int, int] | None,
    credential: str | None,
    ledger: Path | None,
) -> None:
    """Mark records as part of the incident NAME.

    What holds all that is given, now or later, stays in the ledger. Nothing takes a mark back; a second one under the
    same name adds to the incident. Needs a reviewer's credential, who is named as the author.
    """
    with ledger_of(ledger) as log:
        mark = log.incidents.mark(
            name,
            reason,
            reviewer_credential=credential_of(credential),
            session_id=session_id,
            tick_range=tick_range,
            time_range=time_range(since, until),
            seq_range=seq_range,
        )
    show(
        {"name": name, **mark.to_dict()},
        table=f"Marked {clean(name)}: {_span(mark.span)}; {mark.record_id} says so",
    )


@incident.command("list", cls=Command)
@credential_option
@ledger_option
def list_(*, credential: str | None, ledger: Path | None) -> None:
    """Show the incidents.

    Needs a reviewer's credential; the question is a record.
    """
    with ledger_of(ledger) as log:
        incidents = log.incidents.list(reviewer_credential=credential_of(credential))
    show(incidents, table=_list_lines(incidents))


def _list_lines(incidents: list[Incident]) -> Iterator[str]:
    rows = [
        (
            incident.name,
            f"{incident.records:,}",
            f"{incident.marks[0].at:%Y-%m-%d %H:%M}",
            incident.marks[0].author,
            _reasons(incident),
        )
        for incident in incidents
    ]
    yield from table(rows, heads=("incident", "records", "marked", "by", "why"), room=table_room())


@incident.command("show", cls=Command)
@click.argument("name")
@credential_option
@ledger_option
def show_(*, name: str, credential: str | None, ledger: Path | None) -> None:
    """Show what the incident NAME marks, and why.

    Needs a reviewer's credential; the question is a record.
    """
    with ledger_of(ledger) as log:
        incident = log.incidents.get(name, reviewer_credential=credential_of(credential))
    show(incident, table=_show_lines(incident))


def _show_lines(incident: Incident) -> Iterator[str]:
    yield f"{clean(incident.name)}: {count(incident.records, 'record')} in the ledger"
    for mark in incident.marks:
        yield f"{mark.record_id}  {mark.at:%Y-%m-%d %H:%M}  {clean(mark.author)}  {_span(mark.span)}"
        yield f"  {clean(mark.reason)}"


@incident.command("export", cls=Command)
@click.argument("name")
@click.option("--out", required=True, type=NamedPath(path_type=Path), metavar="FILE", help="Output file.")
@click.option(
    "--archive",
    "archives",
    multiple=True,
    type=NamedPath(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Records that were in this archive before they were marked, too; repeat it.",
)
@credential_option
@ledger_option
def export(
    *, name: str, out: Path, archives: tuple[Path, ...], credential: str | None, ledger: Path | None
) -> None:
    """Write the decrypted records of an incident to a file.

    Whoever has the ledger's public key can check it with `hexad audit inspect FILE`, without the ledger: that every
    record stands in it, and that its contents are those. Needs a reviewer's credential; the export is a record.
    """
    with ledger_of(ledger) as log:
        written = log.incidents.export(
            name, out, reviewer_credential=credential_of(credential), archives=archives
        )
    show(
        {"name": name, "path": str(out), "records": written},
        table=f"Wrote {count(written, 'record')} to {clean(str(out))}",
    )


def _span(span: Span) -> str:
    parts = []
    if span.session is not None:
        parts.append(f"session {clean(span.session)}")
    if span.ticks is not None:
        parts.append(f"ticks {span.ticks[0]:,}-{span.ticks[1]:,}")
    if span.times is not None:
        parts.append(f"{span.times[0]:%Y-%m-%d %H:%M} to {span.times[1]:%Y-%m-%d %H:%M}")
    if span.seqs is not None:
        parts.append(f"audit-{span.seqs[0]} to audit-{span.seqs[1]}")
    return ", ".join(parts)


def _reasons(incident: Incident) -> str:
    return "; ".join(clean(mark.reason) for mark in incident.marks)
