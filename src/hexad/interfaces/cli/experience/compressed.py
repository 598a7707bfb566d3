"""`hexad xdb compressed`: what is left of experience whose detail is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Command, note, print_json, state
from hexad.interfaces.cli.experience.lines import INDENT, concepts, ticks
from hexad.interfaces.cli.experience.options import session_option, time_range
from hexad.interfaces.cli.output.progress import waiting
from hexad.interfaces.cli.output.render import clean, clip, count, excerpt, hanging, width

if TYPE_CHECKING:
    from hexad import CompressedRecord, Hexad

_LEVELS: Final = [
    compression_level.name.lower() for compression_level in hexad.CompressionLevel if compression_level
]
_WHOLE: Final = 1 << 20
_CONCEPTS: Final = 5
_SOURCES: Final = 100


@click.command(cls=Command)
@click.argument("record", required=False)
@click.option("--level", type=click.Choice(_LEVELS), help="Only of this level.")
@session_option("Only of this session, and of days and more that it is part of.")
@click.option("--since", metavar="TIME", help="Only what ends after this time: RFC 3339 or a date.")
@click.option("--until", metavar="TIME", help="Only what begins before this time: RFC 3339 or a date.")
@click.option("--limit", type=int, default=20, show_default=True, help="How many at most.")
@click.option("--offset", type=int, default=0, help="Leave out so many of the first.")
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
            found = hx.xdb.compressed_records(
                level=level,
                session_id="*" if session_id is None else session_id,
                time_range=time_range(since, until),
                limit=limit,
                offset=offset,
            )
        else:
            found = [_one(hx, record)]
        tags = _tag_names(hx, found)
    if state().json:
        print_json(
            found[0].to_dict()
            if record is not None
            else [compressed_record.to_dict() for compressed_record in found]
        )
        return
    room = width()
    for compressed_record in found:
        for line in _lines(compressed_record, tags, room=room, sources=record is not None):
            click.echo(line)
    if not found:
        note("No COLD record is like that.")
    elif len(found) == limit and record is None:
        note(f"{count(limit, 'record')}, and maybe more: --limit and --offset show them.")


def _one(hx: Hexad, record: str) -> CompressedRecord:
    found = hx.xdb.get_compressed_record(record)
    if found is None:
        raise hexad.NotFound(
            f"There is no COLD record {record!r}, any more or ever; `hexad xdb compressed` lists them."
        )
    return found


def _tag_names(hx: Hexad, found: list[CompressedRecord]) -> dict[str, str]:
    known = {tag: hx.xdb.tag_index.get_tag(tag) for record in found for tag in record.significant_tags}
    return {tag: tag if tag_info is None else tag_info.name for tag, tag_info in known.items()}


def _lines(record: CompressedRecord, tags: dict[str, str], *, room: int, sources: bool) -> Iterator[str]:
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
        yield from hanging(f"concepts: {concepts(record.peaks, limit=_CONCEPTS)}", indent=INDENT, room=room)
    if record.significant_tags:
        named = ", ".join(tags[tag] for tag in record.significant_tags)
        yield from hanging(f"tags: {named}", indent=INDENT, room=room)
    for line in excerpt(record.summary.strip(), query="", room=room - INDENT, verbatim=False, limit=_WHOLE):
        yield " " * INDENT + line
    if sources:
        first = ", ".join(record.source_record_ids[:_SOURCES])
        more = ", …" if len(record.source_record_ids) > _SOURCES else ""
        yield from hanging(f"made of: {first}{more}", indent=INDENT, room=room)
