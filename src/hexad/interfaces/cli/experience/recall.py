"""`hexad xdb recall` and `hexad xdb show`: experience, whole events or token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Command, note, note_more, several, state
from hexad.interfaces.cli.app.completion import concept_ids, session_ids, tag_names
from hexad.interfaces.cli.experience.options import (
    CONCEPT,
    MIN_ACTIVATION,
    TICKS,
    ConceptRange,
    concept_ranges,
    session_option,
    time_range,
)
from hexad.interfaces.cli.experience.render import event_lines, step_table
from hexad.interfaces.cli.output.progress import waiting
from hexad.interfaces.cli.output.render import EXCERPT_LINES, clean, count, show, table_room, width

if TYPE_CHECKING:
    from hexad import EventRecord, Hexad, TimestepRecord, Timesteps

_TYPES: Final = [event_type.value for event_type in hexad.EventType]


@click.command(cls=Command)
@click.argument("words", nargs=-1)
@click.option("--tokens", is_flag=True, help="Show timesteps, not the events that they make up.")
@session_option("Only of this session.")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    shell_complete=tag_names,
    help="Only with this tag; repeated: with all of them.",
)
@click.option("--any", "any_tag", is_flag=True, help="One of the tags is enough.")
@click.option(
    "--concept",
    "concepts",
    multiple=True,
    type=CONCEPT,
    metavar="ID[:MIN[:MAX]]",
    shell_complete=concept_ids,
    help="Only where this concept was active, with a score from MIN to MAX; repeatable.",
)
@click.option("--since", metavar="TIME", help="Only from this time on: RFC 3339 or a date.")
@click.option("--until", metavar="TIME", help="Only before this time: RFC 3339 or a date.")
@click.option(
    "--ticks", "tick_range", type=TICKS, metavar="A-B", help="Only these ticks, both ends included."
)
@click.option(
    "--type",
    "event_types",
    multiple=True,
    type=click.Choice(_TYPES),
    help="Only of this type; may be repeated.",
)
@click.option("--event", "event_id", metavar="ID", help="Only the event with this id.")
@click.option("--strongest", is_flag=True, help="Timesteps with one --concept, the strongest first.")
@click.option(
    "--surprising", is_flag=True, help="Timesteps tagged surprising, confusing, interesting, unexpected."
)
@click.option("--full", is_flag=True, help="Show whole events, not the lines around the words.")
@click.option("--limit", type=int, default=100, show_default=True, help="Maximum number.")
@click.option("--offset", type=int, default=0, help="Skip this many at the start.")
def recall(
    *,
    words: tuple[str, ...],
    tokens: bool,
    strongest: bool,
    surprising: bool,
    full: bool,
    since: str | None,
    until: str | None,
    concepts: tuple[ConceptRange, ...],
    any_tag: bool,
    tags: tuple[str, ...],
    **options: Any,
) -> None:
    """Find events that contain all WORDS, at any level of detail.

    Everything given must hold. A word is found by its beginning, what stands in double quotes as it is. With --tokens
    single timesteps, whose text holds WORDS as they are. Prints nothing on stdout, with exit code 0, when there is
    nothing.
    """
    filters = {
        "tags": several(tags),
        "match": "any" if any_tag else "all",
        "concepts": concept_ranges(concepts),
        "time_range": time_range(since, until),
        **options,
        "event_types": several(options["event_types"]),
        "session_id": "*" if options["session_id"] is None else options["session_id"],
    }
    text = " ".join(words)
    if strongest or surprising:
        _special(text, filters, concepts, strongest=strongest, surprising=surprising)
        return
    with state().opened() as hx, waiting("Looking"):
        unknown = _unknown(hx, filters)
        if tokens:
            steps = hx.xdb.recall(text_search=text or None, **filters)
        else:
            events = hx.xdb.recall_events(text or None, **filters)
    if tokens:
        _print(steps)
    else:
        print_events(events, query=text.replace('"', " "), limit=None if full else EXCERPT_LINES)
        for line in events.notes:
            note(clean(line))
    for problem in unknown if not (steps if tokens else events) else ():
        note(problem)
    _more(len(steps if tokens else events), filters["limit"])


def _print(steps: Timesteps) -> None:
    print_steps(steps)
    for line in steps.notes:
        note(clean(line))


def _unknown(hx: Hexad, filters: dict[str, Any]) -> list[str]:
    """Put ids where concepts are named otherwise, and return what to say of tags and concepts that are not there."""
    index = hx.xdb.tag_index
    problems = [
        f"There is no tag {clean(tag)!r}; `hexad tags list` shows what there is."
        for tag in filters["tags"] or ()
        if index.resolve(tag) is None
    ]
    for concept in list(filters["concepts"] or ()):
        tag = index.resolve(concept)
        if tag is None:
            problems.append(f"No pack that is loaded has a concept {clean(concept)!r}.")
        elif tag.concept_id is not None:
            filters["concepts"][tag.concept_id] = filters["concepts"].pop(concept)
    return problems


def _special(
    text: str,
    filters: dict[str, Any],
    concepts: tuple[ConceptRange, ...],
    *,
    strongest: bool,
    surprising: bool,
) -> None:
    """Ask one of the two questions that have an answer of their own."""
    option = "--strongest" if strongest else "--surprising"
    session, limit = filters.pop("session_id"), filters.pop("limit")
    filters.pop("match")
    others = text or any(value for name, value in filters.items() if name != "concepts" or surprising)
    if others or (strongest and surprising):
        allowed = "one --concept, --session and --limit" if strongest else "--session and --limit"
        raise click.UsageError(f"{option} goes with {allowed} alone.")
    if strongest and (len(concepts) != 1 or concepts[0].high is not None):
        raise click.UsageError("--strongest needs exactly one --concept, as ID or ID:MIN.")
    with state().opened() as hx, waiting("Looking"):
        if surprising:
            steps = hx.xdb.recall_surprising(session_id=session, limit=limit)
        else:
            low = concepts[0].low
            steps = hx.xdb.recall_by_concept(
                concepts[0].name,
                min_activation=MIN_ACTIVATION if low is None else low,
                session_id=session,
                limit=limit,
            )
    _print(steps)
    _more(len(steps), limit)


@click.command("show", cls=Command)
@click.argument("session", shell_complete=session_ids)
@click.option("--tokens", is_flag=True, help="Show timesteps, not the events that they make up.")
@click.option(
    "--ticks", "tick_range", type=TICKS, metavar="A-B", help="Only these ticks, both ends included."
)
@click.option("--limit", type=int, default=1000, show_default=True, help="Maximum number.")
@click.option("--offset", type=int, default=0, help="Skip this many at the start.")
def show_(*, session: str, tokens: bool, tick_range: tuple[int, int] | None, limit: int, offset: int) -> None:
    """Show the session SESSION as a transcript.

    Each event with its ticks, its time, who spoke, and in which detail it is still there.
    """
    with state().opened() as hx, waiting("Looking"):
        if tokens:
            steps = hx.xdb.recall(session_id=session, tick_range=tick_range, limit=limit, offset=offset)
        else:
            events = hx.xdb.recall_events(
                session_id=session, tick_range=tick_range, limit=limit, offset=offset
            )
    if tokens:
        _print(steps)
    else:
        print_events(events)
    _more(len(steps if tokens else events), limit)


def print_steps(steps: Sequence[TimestepRecord]) -> None:
    """Print timesteps: as JSON, or a table."""
    show(steps, table=_print_steps_lines(steps))


def _print_steps_lines(steps: Sequence[TimestepRecord]) -> Iterator[str]:
    if steps:
        yield from step_table(steps, room=table_room())
    else:
        note("No timestep matches.")


def print_events(events: Sequence[EventRecord], *, query: str = "", limit: int | None = None) -> None:
    """Print events: as JSON, or a transcript with at most `limit` lines of each."""
    show(events, table=_print_events_lines(events, query, limit))


def _print_events_lines(events: Sequence[EventRecord], query: str, limit: int | None) -> Iterator[str]:
    yield from event_lines(events, room=width(), query=query, limit=limit)
    if not events:
        note("No event matches.")


def _more(number: int, limit: int) -> None:
    if number == limit and not state().json:
        note_more(count(limit, "result"))
