"""What may answer a context: the filters of a question in the query language and of its call together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from hexad.core.arguments import parse_time, word_list
from hexad.errors import InvalidInput
from hexad.layers.contract import MemoryItem, MemoryQuery
from hexad.layers.router.natural_language_filters import understood, written
from hexad.layers.router.query_language import QueryText, moment
from hexad.memory.decision import DECISION
from hexad.memory.layer_names import MemoryLayer
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.redaction.injection.detector import instructions_in
from hexad.text.normalize import slug, slugs

NAMES: Final = ("layer", "kind", "tag", "path", "space", "since", "until", "is")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFilters:
    """What else may be asked of a context: filters as `recall` takes them, and how it answers.

    `plain` lets a plain sentence carry filters of its own.
    """

    space: str | Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    since: datetime | str | None = None
    until: datetime | str | None = None
    as_of: datetime | str | None = None
    plain: bool = True


def filters_of(typed: QueryText, narrowed: ContextFilters, *, now: datetime, stores: Stores) -> Filters:
    """Return the filters of both. Raises `InvalidInput` for times between which there is nothing, `NotFound` for a
    space that was never created.
    """
    given = narrowed.space
    spaces = (given,) if isinstance(given, str) else None if given is None else word_list(given, "space")
    if typed.space is not None:
        spaces = (*(spaces or ()), typed.space)
    for name in spaces or ():
        stores.spaces.get(name)
    kinds = (*word_list(narrowed.kinds or (), "kinds"), *typed.kinds)
    since, until = parse_time(narrowed.since, "since"), parse_time(narrowed.until, "until")
    since = since if typed.since is None else moment(typed.since, "since", now=now)
    until = until if typed.until is None else moment(typed.until, "until", now=now)
    if since is not None and until is not None and since >= until:
        raise InvalidInput(
            f"since ({since:%Y-%m-%d %H:%M}) is not before until ({until:%Y-%m-%d %H:%M}): nothing is between them."
        )
    return Filters(
        spaces=spaces,
        kinds=tuple(map(slug, kinds)) or None,
        tags=slugs(typed.tags) or None,
        path=typed.path,
        since=since,
        until=until,
        pinned=typed.pinned,
        text=typed.phrases or None,
        roles=stores.roles,
    )


def asks_decisions(typed: QueryText, narrowed: ContextFilters, layers: Sequence[MemoryLayer] | None) -> bool:
    """Whether decisions are asked for by their kind: those of the project are in a layer of their own."""
    kinds = {slug(kind) for kind in (*word_list(narrowed.kinds or (), "kinds"), *typed.kinds)}
    return DECISION in kinds and (layers is None or MemoryLayer.PROJECT in layers)


def passes(item: MemoryItem, query: MemoryQuery) -> bool:
    """Whether an item passes the filters, whatever its layer made of them."""
    filters = query.filters
    if item.memory_id is None and (filters.tags or filters.path is not None or filters.spaces is not None):
        return False
    low = item.text.casefold()
    return (
        (filters.spaces is None or item.space in filters.spaces)
        and (filters.kinds is None or slug(item.kind) in filters.kinds)
        and (filters.since is None or item.at >= filters.since)
        and (filters.until is None or item.at < filters.until)
        and (query.as_of is None or item.at <= query.as_of)
        and (filters.pinned is None or item.pinned == filters.pinned)
        and (item.memory_id is not None or all(word.casefold() in low for word in filters.text or ()))
    )


def with_instruction_marks(item: MemoryItem) -> MemoryItem:
    """Return an item with what of its text reads as instructions; memories know it since they were written."""
    if item.instruction_like or item.memory_id is not None or item.layer is MemoryLayer.SESSION:
        return item
    found = instructions_in(item.text)
    return replace(item, instruction_like=found) if found else item


def carried_filters(
    sentence: str,
    narrowed: ContextFilters,
    layers: tuple[MemoryLayer, ...] | None,
    *,
    now: datetime,
    stores: Stores,
) -> QueryText | None:
    """Return the filters that a sentence carries and the call leaves open, with the words left; None without any.

    What the call says goes before what the sentence seems to say.
    """
    found = understood(sentence, now=now, known_space=lambda name: stores.spaces.find(name) is not None)
    if found is None:
        return None
    if layers is not None:
        found = replace(found, layers=())
    if narrowed.kinds is not None:
        found = replace(found, kinds=())
    if narrowed.space is not None:
        found = replace(found, space=None)
    if narrowed.since is not None or narrowed.until is not None or narrowed.as_of is not None:
        found = replace(found, since=None, until=None)
    return found if found.narrows else None


def weaker_readings(found: QueryText) -> Iterator[tuple[QueryText | None, str]]:
    """Yield weaker readings of a sentence whose filters leave nothing, each with the note that says what was given up.

    First its times go, then its tags, path, space and pins too, then all its filters: None is the sentence as it is.
    """
    said, lost = understood_as(found)[:-1], ""
    times = QueryText(since=found.since, until=found.until)
    placed = QueryText(tags=found.tags, path=found.path, space=found.space, pinned=found.pinned)
    for gone in (times, placed):
        if not gone.narrows:
            continue
        lost = f"{lost} {written(gone)}".strip()
        found = replace(found, since=None, until=None)
        if gone is placed:
            found = replace(found, tags=(), path=None, space=None, pinned=None)
        if found.narrows:
            yield found, f"{said}; nothing known passes it, so it was answered without {lost}."
    yield None, f"{said}; nothing known passes it, so it was answered without filters."


def understood_as(found: QueryText) -> str:
    """Return the note that says how a sentence was understood, in the query language."""
    return f"Understood as: {written(found)}."
