"""Experience as text for people: transcripts, timesteps in a table, tags and comments with what they are on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

import click

from hexad.interfaces.cli.output.render import clean, clean_lines, clip, count, excerpt, fits, hanging, table

if TYPE_CHECKING:
    from hexad import (
        Comment,
        CompressionLevel,
        EventRecord,
        Fidelity,
        Tag,
        TagApplication,
        Target,
        TimestepRecord,
    )

INDENT: Final = 4
_CONCEPTS: Final = 3
_COLORS: Final = {"hot": "red", "warm": "yellow", "submitted": "magenta", "cold": "blue"}
_EVERYTHING: Final = 1 << 20


def fidelity(of: Fidelity, level: CompressionLevel) -> str:
    """Return in which detail something is there, such as `hot` or `cold reply`."""
    return of.value if not level else f"{of.value} {level.name.lower()}"


def colored(text: str, of: Fidelity) -> str:
    """Return the text in the colour of a tier."""
    return click.style(text, fg=_COLORS[of.value])


def ticks(first: int, last: int | None) -> str:
    """Return a tick or a range of ticks.

    >>> ticks(3, 3), ticks(3, 17)
    ('3', '3–17')
    """
    return f"{first}" if last is None or last == first else f"{first}–{last}"


def concepts(scores: Mapping[str, float], *, limit: int = _CONCEPTS) -> str:
    """Return the strongest concepts with their scores, the pack's name left out.

    >>> concepts({"org.example::Tide": 0.91, "Harbour": 0.5})
    'Tide 0.91, Harbour 0.50'
    """
    strongest = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return ", ".join(f"{short(concept)} {score:.2f}" for concept, score in strongest)


def short(concept: str) -> str:
    """Return a concept without its pack.

    >>> short("org.example/tides::Ebb"), short("Ebb")
    ('Ebb', 'Ebb')
    """
    return concept.rpartition("::")[2] or concept


# Events -----------------------------------------------------------------------------------------------------


def event_lines(
    events: Sequence[EventRecord],
    *,
    room: int,
    query: str = "",
    limit: int | None = None,
    sessions: bool = True,
) -> Iterator[str]:
    """Give a transcript: for each event who, when and in which detail, then what was said.

    A new day, and with `sessions` a new session, has a line of its own. Of each event at most `limit` lines show,
    those around the words of `query`.
    """
    where: tuple[str, datetime | None] = ("", None)
    for event in events:
        day = event.start_time.replace(hour=0, minute=0, second=0, microsecond=0)
        if (event.session_id, day) != where:
            named = f"{clip(event.session_id, room - 22)}  " if sessions and event.session_id else ""
            yield click.style(f"── {named}{day:%Y-%m-%d} UTC ──", bold=True)
            where = (event.session_id, day)
        yield clip_styled(_event_head(event), room, event.fidelity)
        lines = excerpt(
            event.content.strip(), query=query, room=room - INDENT, verbatim=False, limit=limit or _EVERYTHING
        )
        yield from (" " * INDENT + line for line in lines)


def _event_head(event: EventRecord) -> tuple[str, str, str]:
    who = event.role or event.event_type.value
    facts = [who, *([event.event_type.value] if who != event.event_type.value else [])]
    if event.event_id:
        facts.append(event.event_id)
    if event.timesteps > 1:
        facts.append(count(event.timesteps, "timestep"))
    where = f"#{ticks(event.start_tick, event.end_tick)}  {event.start_time:%H:%M:%S}"
    return where, " · ".join(facts), fidelity(event.fidelity, event.compression_level)


def clip_styled(parts: tuple[str, str, str], room: int, of: Fidelity) -> str:
    """Return a head in one line: where, what, in which detail; what does not fit is what it is."""
    where, what, detail = parts
    left = max(8, room - len(where) - len(detail) - 5)
    return (
        f"{click.style(where, fg='cyan')}  {click.style(clip(what, left), bold=True)} · {colored(detail, of)}"
    )


# Timesteps --------------------------------------------------------------------------------------------------


def step_table(steps: Sequence[TimestepRecord], *, room: int | None) -> list[str]:
    """Return timesteps as a table, a line each."""
    several = len({step.session_id for step in steps}) > 1
    roles, events = any(step.role for step in steps), any(step.event_id for step in steps)
    heads = [
        *(["session"] if several else []),
        "tick",
        "time",
        "type",
        *(["role"] if roles else []),
        *(["event"] if events else []),
        "detail",
        "content",
        "concepts",
    ]
    rows = [
        [
            *([step.session_id] if several else []),
            ticks(step.tick, step.end_tick) if step.tick else "–",  # a session's record, or a day's, has none
            f"{step.timestamp:%Y-%m-%d %H:%M:%S}" if several else f"{step.timestamp:%H:%M:%S}",
            step.event_type.value,
            *([step.role or ""] if roles else []),
            *([step.event_id or ""] if events else []),
            fidelity(step.fidelity, step.compression_level),
            step.content.replace("\n", "⏎"),
            concepts(step.concept_activations, limit=_CONCEPTS if room is not None else _EVERYTHING),
        ]
        for step in steps
    ]
    if several and not fits(rows, heads=heads, room=room):  # the year and the seconds are there with --json
        for row, step in zip(rows, steps, strict=True):
            row[2] = f"{step.timestamp:%m-%d %H:%M}"
    return table(rows, heads=heads, room=room, whole=("tick", "time", "type", "detail"))


# Tags and comments ------------------------------------------------------------------------------------------


def target(of: Target) -> str:
    """Return what a tag or a comment is on."""
    if of.timestep_id is not None:
        return of.timestep_id
    if of.event_id is not None:
        return f"{of.session_id}, event {of.event_id}"
    assert of.range_start is not None
    return f"{of.session_id}, ticks {ticks(of.range_start, of.range_end)}"


def tag_kind(tag: Tag) -> str:
    """Return what a tag is, such as `bud, ready` or `entity, person`."""
    more = tag.entity_type or (tag.bud_status.value if tag.bud_status else None)
    return f"{tag.tag_type.value}, {more}" if more else tag.tag_type.value


def tag_table(tags: Sequence[Tag], *, room: int | None) -> list[str]:
    """Return tags as a table."""
    rows = [[tag.id, tag_kind(tag), tag.name, (tag.description or "").replace("\n", " ")] for tag in tags]
    return table(rows, heads=("id", "type", "name", "description"), room=room, whole=("type",))


def application_table(
    uses: Sequence[TagApplication], names: Mapping[str, str], *, room: int | None
) -> list[str]:
    """Return uses of tags as a table; `names` are the tags' by id, and left out where all are of one."""
    heads = ["id", *(["tag"] if names else []), "on", "confidence", "source", "since", "note"]
    rows = [
        [
            use.id,
            *([names.get(use.tag_id, use.tag_id)] if names else []),
            target(use.target),
            f"{use.confidence:.2f}",
            use.source.value,
            f"{use.created_at:%Y-%m-%d %H:%M}",
            (use.note or "").replace("\n", " "),
        ]
        for use in uses
    ]
    if not fits(rows, heads=heads, room=room):  # since when is there with --json
        heads, rows = [*heads[:-2], heads[-1]], [[*row[:-2], row[-1]] for row in rows]
    return table(rows, heads=heads, room=room, whole=("id", "confidence", "source"))


def comment_lines(comments: Sequence[Comment], *, room: int) -> Iterator[str]:
    """Give comments: what each is on, since when, and what it says."""
    for comment in comments:
        edited = "" if comment.updated_at is None else f", edited {comment.updated_at:%Y-%m-%d %H:%M}"
        head = f"{comment.id}  {target(comment.target)}  {comment.created_at:%Y-%m-%d %H:%M}{edited}"
        yield click.style(clean(head), fg="cyan")
        for paragraph in clean_lines(comment.content).splitlines() or [""]:
            yield from hanging(paragraph, indent=INDENT, room=room) or [""]
