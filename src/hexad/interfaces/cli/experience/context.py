"""`hexad xdb context`, `compact`, `compactions`, `compressed`: a session's context window, and what left it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Command, confirm, note, note_more, state
from hexad.interfaces.cli.app.completion import session_ids
from hexad.interfaces.cli.experience.options import session_option, time_range
from hexad.interfaces.cli.experience.render import INDENT, concepts, ticks
from hexad.interfaces.cli.output.plots import Gauge, draw, gauges, glyphs
from hexad.interfaces.cli.output.progress import waiting
from hexad.interfaces.cli.output.render import clean, clip, count, excerpt, hanging, show, width

if TYPE_CHECKING:
    from hexad import CompactionRecord, CompressedRecord, ContextWindow, Hexad


_COMPACTED_AT: Final = 0.8
_INDENT: Final = 4
_WHOLE: Final = 1 << 20


@click.command(cls=Command)
@click.argument("session", required=False, shell_complete=session_ids)
@click.option("--brief", is_flag=True, help="Only how full it is, not what is in it.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Without SESSION: how many at most.",
)
def context(session: str | None, *, brief: bool, limit: int) -> None:
    """Show how full a session's context window is, and what is in it.

    The summary of what left it, then its events. Without SESSION how full the windows of the last sessions are that
    have not ended.
    """
    with state().opened() as hx:
        if session is None:
            running = [session_info.id for session_info in hx.xdb.sessions() if session_info.ended_at is None]
            states = hx.xdb.get_context_states(running[-limit:])
        else:
            window = None if brief else hx.xdb.context(session)  # first: it may compact the window
            states = [hx.xdb.get_context_state(session)]
    _note_missing(states)
    if session is None:
        show(states, table=_running_lines(states))
    else:
        show(
            {**states[0], **({} if window is None else window.to_dict())},
            table=_context_lines(states, window),
        )


def _note_missing(states: Sequence[dict[str, Any]]) -> None:
    for line in dict.fromkeys(line for each in states for line in each.get("notes", ())):
        note(clean(line))


def _context_lines(states: list[dict[str, Any]], window: ContextWindow | None) -> Iterator[str]:
    _draw(states)
    yield from _window_lines(window, room=width()) if window is not None else ()


def _running_lines(states: list[dict[str, Any]]) -> Iterator[str]:
    yield from ()  # `draw` prints what may have colours
    if not states:
        note("No session is running.")
        return
    _draw(states)


def _draw(states: Sequence[dict[str, Any]]) -> None:
    shown = glyphs()
    legend = f"{shown.mark} at {_COMPACTED_AT:.0%} the older half becomes a summary"
    draw([*gauges([_gauge(window) for window in states], room=width(), of=shown), ((legend, "dim"),)])


def _gauge(context_state: dict[str, Any]) -> Gauge:
    used, most = context_state["current_tokens"], context_state["max_tokens"]
    label = clip(str(context_state["session_id"]), width() // 3)
    return Gauge(
        label=label, amount=used, limit=most, said=f"{used:,} of {count(most, 'token')}", mark=_COMPACTED_AT
    )


def _window_lines(window: ContextWindow, *, room: int) -> Iterator[str]:
    if window.summary:
        yield click.style("summary of what left it", bold=True)
        for line in excerpt(window.summary, query="", room=room - _INDENT, verbatim=False, limit=_WHOLE):
            yield " " * _INDENT + line
    if window.omitted:
        yield f"{count(window.omitted, 'event')} before these, for which the window has no room"
    for event in window.events:
        where = click.style(f"#{ticks(event.start_tick, event.end_tick)}", fg="cyan")
        yield f"{where}  {click.style(clip(event.speaker, room - 40), bold=True)} · {count(event.token_count, 'token')}"
        for line in excerpt(
            event.content.strip(), query="", room=room - _INDENT, verbatim=False, limit=_WHOLE
        ):
            yield " " * _INDENT + line


@click.command(cls=Command)
@session_option("Of this session.", required=True)
@click.option("--dry-run", is_flag=True, help="Only report how full its window is.")
@click.option("--yes", is_flag=True, help="Do not ask of a session that never compacts by itself.")
def compact(*, session_id: str, dry_run: bool, yes: bool) -> None:
    """Replace the older half of a session's window by a summary, now.

    The timesteps that no window protects become a summary for each event. Sessions do this by themselves, unasked, when
    their window is four fifths full; so does this command. Of one begun with --no-compaction it asks first.
    """
    with state().opened() as hx:
        before = hx.xdb.get_context_state(session_id)
        keeps_all = next(
            not session.auto_compact for session in hx.xdb.sessions() if session.id == session_id
        )
        if keeps_all and not dry_run:
            confirm(
                f"Give up the detail of the older half of {clean(session_id)!r}, which keeps every token?",
                yes=yes,
                without="see with --dry-run how full its window is",
            )
        with waiting("Compacting"):
            record = None if dry_run else hx.xdb.request_compaction(session_id)
        after = hx.xdb.get_context_state(session_id)
    show(
        {"dry_run": dry_run, "compaction": record, "before": before, "after": after},
        table=_compact_lines(record, dry_run, after),
    )


def _compact_lines(record: CompactionRecord | None, dry_run: bool, after: dict[str, Any]) -> Iterator[str]:
    if record is not None:
        yield from _compaction_lines(record, room=width())
    elif not dry_run:
        note("There is nothing in the window that a summary could replace.")
    _draw([after])


@click.command(cls=Command)
@session_option("Only of this session.")
@click.option("--limit", type=int, default=20, show_default=True, help="Maximum number.")
@click.option("--offset", type=int, default=0, help="Skip this many at the start.")
def compactions(*, session_id: str | None, limit: int, offset: int) -> None:
    """List compactions with their summaries, the oldest first."""
    with state().opened() as hx:
        records = hx.xdb.compactions("*" if session_id is None else session_id, limit=limit, offset=offset)
    show(records, table=_compactions_lines(records, limit))


def _compactions_lines(records: list[CompactionRecord], limit: int) -> Iterator[str]:
    for record in records:
        yield from _compaction_lines(record, room=width())
    if not records:
        note("Nothing has left a context window.")
    elif len(records) == limit:
        note_more(count(limit, "compaction"))


def _compaction_lines(record: CompactionRecord, *, room: int) -> Iterator[str]:
    where = f"{clean(record.session_id)} #{ticks(record.range_start, record.range_end)}"
    head = f"{record.timestamp:%Y-%m-%d %H:%M}  {record.trigger.value.replace('_', ' ')}"
    yield click.style(clip(f"{where}  {head}", room), bold=True)
    tokens = f"{count(record.tokens_before, 'token')} → {record.tokens_after:,}"
    steps = count(record.timesteps_compacted, "timestep")
    facts = f"{steps}, {tokens}, summary by {record.generated_by}  ({record.id})"
    yield from hanging(facts, indent=_INDENT, room=room)
    if record.top_k_activations:
        yield from hanging(
            f"concepts: {concepts(record.top_k_activations, limit=5)}", indent=_INDENT, room=room
        )
    for line in excerpt(record.summary, query="", room=room - _INDENT, verbatim=False, limit=_WHOLE):
        yield " " * _INDENT + line


_LEVELS: Final = [
    compression_level.name.lower() for compression_level in hexad.CompressionLevel if compression_level
]
_CONCEPTS_SHOWN: Final = 5
_SOURCES_SHOWN: Final = 100


@click.command(cls=Command)
@click.argument("record", required=False)
@click.option("--level", type=click.Choice(_LEVELS), help="Only of this level.")
@session_option("Only of this session, and of days and more that it is part of.")
@click.option("--since", metavar="TIME", help="Only what ends after this time: RFC 3339 or a date.")
@click.option("--until", metavar="TIME", help="Only what begins before this time: RFC 3339 or a date.")
@click.option("--limit", type=int, default=20, show_default=True, help="Maximum number.")
@click.option("--offset", type=int, default=0, help="Skip this many at the start.")
def compressed(
    *,
    record: str | None,
    level: str | None,
    session_id: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    offset: int,
) -> None:
    """List COLD records, the oldest first.

    What each stands for, and what it says; `--level quarter` tells of quarters. With RECORD, an id, one of them and
    what it was made of.
    """
    with state().opened() as hx, waiting("Looking"):
        if record is None:
            records = hx.xdb.compressed_records(
                level=level,
                session_id="*" if session_id is None else session_id,
                time_range=time_range(since, until),
                limit=limit,
                offset=offset,
            )
        else:
            records = [_record_of(hx, record)]
        tags = _tag_names(hx, records)
    show(
        records[0].to_dict()
        if record is not None
        else [compressed_record.to_dict() for compressed_record in records],
        table=_compressed_lines(records, tags, record, limit),
    )


def _compressed_lines(
    records: list[CompressedRecord], tags: dict[str, str], record: str | None, limit: int
) -> Iterator[str]:
    room = width()
    for compressed_record in records:
        yield from _record_lines(compressed_record, tags, room=room, sources=record is not None)
    if not records:
        note("No COLD record matches.")
    elif len(records) == limit and record is None:
        note_more(count(limit, "record"))


def _record_of(hx: Hexad, record: str) -> CompressedRecord:
    compressed_record = hx.xdb.get_compressed_record(record)
    if compressed_record is None:
        raise hexad.NotFound(
            f"There is no COLD record {record!r}, any more or ever; `hexad xdb compressed` lists them."
        )
    return compressed_record


def _tag_names(hx: Hexad, records: list[CompressedRecord]) -> dict[str, str]:
    known_tags = {tag: hx.xdb.tag_index.get_tag(tag) for record in records for tag in record.significant_tags}
    return {tag: tag if tag_info is None else tag_info.name for tag, tag_info in known_tags.items()}


def _record_lines(
    record: CompressedRecord, tags: dict[str, str], *, room: int, sources: bool
) -> Iterator[str]:
    level = record.level.name.lower()
    where = f"{level}  {clean(record.session_id)} " if record.session_id else f"{level} "
    if record.start_tick is not None:
        where += f"#{ticks(record.start_tick, record.end_tick)} "
    when = f" {record.start_time:%Y-%m-%d %H:%M} to {record.end_time:%Y-%m-%d %H:%M}"
    yield click.style(clip(where + when, room), bold=True)
    stands_for = f"{count(record.timesteps, 'timestep')}, {count(record.token_count, 'token')}"
    yield from hanging(
        f"{stands_for}, of {count(record.record_count, 'record')}  ({record.id})", indent=INDENT, room=room
    )
    if record.peaks:
        yield from hanging(
            f"concepts: {concepts(record.peaks, limit=_CONCEPTS_SHOWN)}", indent=INDENT, room=room
        )
    if record.significant_tags:
        named = ", ".join(tags[tag] for tag in record.significant_tags)
        yield from hanging(f"tags: {named}", indent=INDENT, room=room)
    for line in excerpt(record.summary.strip(), query="", room=room - INDENT, verbatim=False, limit=_WHOLE):
        yield " " * INDENT + line
    if sources:
        first = ", ".join(record.source_record_ids[:_SOURCES_SHOWN])
        more = ", …" if len(record.source_record_ids) > _SOURCES_SHOWN else ""
        yield from hanging(f"made of: {first}{more}", indent=INDENT, room=room)
