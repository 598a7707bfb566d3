"""`hexad memory export`, and `list` and `wipe` with `--scope`: everything of a project, a session or a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Command, Function, confirm, note, note_more, state, warn
from hexad.interfaces.cli.app.completion import session_ids
from hexad.interfaces.cli.memory.space_files import export as export_space
from hexad.interfaces.cli.memory.spaces import DRY_RUN
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, count, hanging, memory_table, show, table_room

if TYPE_CHECKING:
    from hexad import ErasureReceipt, ExportItem, Hexad, Memory, SessionTotals, WipeReport, WorkingSet

_NAMED: Final = 10
_MISSING: Final = "missing"
SCOPES: Final = [scope.value for scope in hexad.Scope]
_LEDGER: Final = (
    "The ledger's contents are not in it: reviewers get them with a credential, `hexad audit export`."
)


def scope_options(function: Function) -> Function:
    """Add the options that name a scope."""
    function = click.option(
        "--session",
        metavar="ID",
        shell_complete=session_ids,
        help="With --scope session: which one, recorded or of a conversation.",
    )(function)
    return click.option(
        "--scope",
        type=click.Choice(SCOPES),
        help="Everything of the project, of one session, or of you: the user layer, shared by all projects.",
    )(function)


def check_scope(scope: str | None, session: str | None, *, names_one: bool = True) -> None:
    """Raise `UsageError` where a session is named without its scope or, with `names_one`, the other way round."""
    if session is not None and scope != "session":
        raise click.UsageError("--session goes with --scope session.")
    if scope == "session" and session is None and names_one:
        raise click.UsageError(
            "--scope session needs --session ID; `hexad memory list --scope session` lists them."
        )


def list_scope(scope: str, session: str | None, *, limit: int, offset: int) -> None:
    """List the memories of a scope, whatever their status, and say what else is held."""
    if scope == hexad.Scope.USER:
        _list_user(limit=limit, offset=offset)
        return
    with state().opened() as hx:
        memories: list[Memory] = []
        if scope == hexad.Scope.SESSION and session is None:
            working_sets = hx.session.list(limit=limit, offset=offset)
        else:
            memories = hx.memories_in(scope, session=session, limit=limit, offset=offset)
            working_sets = [] if session is None or offset else _working_set_of(hx, session)
        amounts = hx.xdb.session_totals()
    rows = [*memories, *({"list": "working_sets", **each.to_dict()} for each in working_sets)]
    show(rows, table=_list_scope_lines(memories, working_sets, offset, session, amounts, limit))


def _working_set_of(hx: Hexad, session: str) -> list[WorkingSet]:
    try:
        return [hx.session.get(session)]
    except hexad.NotFound:
        return []  # recorded, or of a conversation


def _list_scope_lines(
    memories: list[Memory],
    working_sets: list[WorkingSet],
    offset: int,
    session: str | None,
    amounts: SessionTotals,
    limit: int,
) -> Iterator[str]:
    if memories or not working_sets:
        yield from memory_table(memories, room=table_room(), status=True)
    for working_set in working_sets:
        yield from _working_set_lines(working_set)
    if not memories and not working_sets:
        note(f"No memory of it comes after the first {offset:,}." if offset else "No memory is of it.")
    records = sum(amount.records for name, amount in amounts.items() if session in (None, name))
    sessions = sum(1 for name in amounts if session in (None, name))
    if records:
        what = count(records, "record", "records")
        of = (
            f"the session {clean(session)}" if session is not None else count(sessions, "session", "sessions")
        )
        note(f"Beside it: {what} of {of} in the experience database; `hexad memory export` has all of it.")
    for line in amounts.notes:
        note(clean(line))
    if len(memories) == limit or len(working_sets) == limit:
        note_more(count(limit, "memory", "memories") if memories else count(limit, "session"))


def _working_set_lines(working_set: WorkingSet) -> Iterator[str]:
    """Yield what a session is about, and how much of each kind its working set holds."""
    parts = {
        "step": len(working_set.substeps),
        "open file": len(working_set.open_files),
        "edit": working_set.edits_total,
        "turn": working_set.turns_total,
        "note": len(working_set.scratchpad),
    }
    held = ", ".join(count(number, name) for name, number in parts.items() if number)
    line = f"working set  {working_set.id}  {working_set.subject}" + (f" ({held})" if held else "")
    room = table_room()
    if room is None:
        yield clean(line)
    else:
        yield from hanging(line, indent=0, room=room)


def _list_user(*, limit: int, offset: int) -> None:
    """List what the user layer holds."""
    if limit < 1 or offset < 0:
        raise click.UsageError("--limit is at least 1, --offset at least 0.")
    with state().opened(user=True) as hx:
        rows = list(islice(hx.user.held(), offset, offset + limit))
    show([{"list": section, **row} for section, row in rows], table=_list_user_lines(rows, offset, limit))


def _list_user_lines(rows: list[tuple[str, dict[str, Any]]], offset: int, limit: int) -> Iterator[str]:
    for section, row in rows:
        text = ", ".join(f"{name}: {value}" for name, value in row.items() if value not in (None, ""))
        room = table_room()
        if room is None:
            yield f"{section}  {clean(text)}"
        else:
            yield from hanging(f"{section}  {text}", indent=0, room=room)
    if not rows:
        note("Nothing is held of you." if not offset else f"Nothing comes after the first {offset:,}.")
    if len(rows) == limit:
        note_more(count(limit, "row"))


def wipe_scope(scope: str, session: str | None, *, dry_run: bool, yes: bool) -> None:
    """Remove all of a scope, after asking, and say what went."""
    with state().opened(user=scope == hexad.Scope.USER) as hx:
        planned = hx.wipe(scope, session=session, dry_run=True)
        if dry_run:
            report = planned
        else:
            there = ", ".join(f"{place}: {number:,}" for place, number in planned.counts().items())
            of = "the project" if session is None else f"the session {clean(session)!r}"
            of = "the user layer, of all projects," if scope == hexad.Scope.USER else of
            if there:
                confirm(f"Remove everything of {of} for good ({there})?", yes=yes, without=DRY_RUN)
            with meter("Wiping", clock=hx.clock, unit="memories") as advance:
                report = hx.wipe(scope, session=session, confirm=True, progress=advance)
    show(report, table=_wipe_scope_lines(dry_run, session, scope, report))


def _wipe_scope_lines(dry_run: bool, session: str | None, scope: str, report: WipeReport) -> Iterator[str]:
    yield f"{clean(session or scope)}  {'would be wiped' if dry_run else 'wiped'}"
    counts = ", ".join(f"{place}: {number:,}" for place, number in report.counts().items())
    note(counts or "There is nothing of it.")
    say_removed(report.receipts)


def say_removed(receipts: Sequence[ErasureReceipt]) -> None:
    """Say what a purge left for later, and which memories rest on what went."""
    for leftover in {(waiting.place, waiting.reason) for receipt in receipts for waiting in receipt.pending}:
        warn(f"Not gone yet: {leftover[0]} ({leftover[1]}); `hexad maintain` completes it.")
    flagged = sorted({name for receipt in receipts for name in receipt.flagged})
    if flagged:
        what = count(len(flagged), "memory rests", "memories rest")
        note(f"{what} on what went: {', '.join(flagged[:_NAMED])}{' and more' * (len(flagged) > _NAMED)}")


@click.command(cls=Command)
@click.argument("space", required=False)
@scope_options
@click.option(
    "--subject", metavar="PERSON", help="Everything of a person: what names them in its data_subjects."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["json"]),
    default="json",
    show_default=True,
    help="With --scope and --subject: how it is written.",
)
@click.option(
    "--out", metavar="FILE", help="Output; default: the policy's path; stdout with --scope and --subject."
)
@click.option("--no-archived", is_flag=True, help="Of a space: leave archived memories out.")
@click.option("--force", is_flag=True, help="Replace FILE also when it is something else.")
@click.pass_context
def export(
    ctx: click.Context,
    /,
    *,
    space: str | None,
    scope: str | None,
    session: str | None,
    subject: str | None,
    form: str,
    out: str | None,
    no_archived: bool,
    force: bool,
) -> None:
    """Export a space, a scope or a person as JSON.

    Exactly one of SPACE, --scope and --subject. Of a space it is the signed file that `hexad spaces export` writes:
    `hexad spaces verify` checks it anywhere, `hexad spaces restore` brings it back. --scope and --subject answer who
    asks for their data: memories with what they said before, links, sources, sessions with every record, tags and
    comments, documents, receipts. Keys are not in it, nor the ledger's contents, which reviewers get.
    """
    del form
    check_scope(scope, session)
    if sum(selector is not None for selector in (space, scope, subject)) != 1:
        raise click.UsageError("Give exactly one of SPACE, --scope and --subject.")
    if space is not None:
        ctx.invoke(export_space, space=space, out=out, no_archived=no_archived, force=force)
        return
    if no_archived:
        raise click.UsageError("--no-archived goes with a SPACE: a scope is all that is held.")
    options: dict[str, Any] = {"scope": scope, "session": session, "subject": subject}
    with state().opened(user=scope == hexad.Scope.USER) as hx:
        if out is None:
            _warn_of_missing(_print(hx, hx.export(**options)))
            note(_LEDGER)
            return
        with meter("Exporting", clock=hx.clock, unit="records") as advance:
            counts = hx.write_export(out, **options, force=force, progress=advance)
    _warn_of_missing(counts.get(_MISSING, 0))
    show({"path": out, "counts": dict(counts)}, table=_export_lines(out, counts))


def _export_lines(out: str, counts: Mapping[str, int]) -> Iterator[str]:
    yield clean(out)
    note(
        ", ".join(f"{name.replace('_', ' ')}: {number:,}" for name, number in counts.items())
        or "Nothing is held."
    )
    note(_LEDGER)


def _warn_of_missing(number: int) -> None:
    if number:
        warn(
            f"It is not complete: {count(number, 'segment')} cannot be read, and its list `{_MISSING}` names each. Run "
            "`hexad check`, put a backup in its place, and export again."
        )


def _print(hx: Hexad, items: Iterator[ExportItem]) -> int:
    """Print an export as it is read; returns how many segments could not be."""
    missing = 0
    with meter("Exporting", clock=hx.clock, unit="records") as advance:

        def shown() -> Iterator[ExportItem]:
            for done, item in enumerate(items):
                advance(done)
                nonlocal missing
                missing += item.section == _MISSING
                yield item

        for piece in hexad.export_json(shown()):
            click.echo(piece, nl=False)
    return missing
