"""What a plain sentence narrows: what was understood of it, beside what the call says, and what of it is given up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from hexad.layers.context.filters import Narrowed
from hexad.layers.contract import MemoryLayer
from hexad.layers.router.plain_language import understood, written
from hexad.layers.router.query_language import QueryText
from hexad.memory.store import Stores


def carried(
    sentence: str,
    narrowed: Narrowed,
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


def loosened(found: QueryText) -> Iterator[tuple[QueryText | None, str]]:
    """Yield weaker readings of a sentence whose filters leave nothing, each with the note that says what was given up.

    First its times go, then its tags, path, space and pins too, then all its filters: None is the sentence as it is.
    """
    said, lost = told(found)[:-1], ""
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


def told(found: QueryText) -> str:
    """Return the note that says how a sentence was understood, in the query language."""
    return f"Understood as: {written(found)}."
