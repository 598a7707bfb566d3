"""What a question points at among memories: where a best-first walk begins."""

from __future__ import annotations

from typing import Final, NamedTuple

from hexad.honeycomb.walk.state import Entry
from hexad.memory.query import Filters
from hexad.search.recall.recaller import Recaller

SEEDS_MOST: Final = 100


class Begin(NamedTuple):
    """Where to begin, what recall notes about the question, and its vector."""

    entries: list[Entry]
    notes: tuple[str, ...]
    vector: list[float] | None


def seeds_of(recaller: Recaller, query: str, space: str | None, *, roles: tuple[str, ...] | None) -> Begin:
    """Return what recall finds, its scores stretched from 0 to 1."""
    filters = Filters(spaces=None if space is None else (space,), roles=roles)
    found, notes, row = recaller.rank(query, filters, limit=SEEDS_MOST)
    vector: list[float] | None = None if row is None else row.tolist()
    if not found:
        return Begin([], notes, vector)
    most, least = found[0].score, found[-1].score
    width = most - least
    entries = [
        Entry(seed.no, (seed.score - least) / width if width else 1.0, seed.chunk_no) for seed in found
    ]
    return Begin(entries, notes, vector)
