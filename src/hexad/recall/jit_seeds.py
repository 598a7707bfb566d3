"""What a question points at among memories: where a best-first walk begins."""

from __future__ import annotations

from typing import Final

from hexad.model.query import Filters
from hexad.recall.jit import Entry
from hexad.recall.recaller import Recaller

SEEDS_MOST: Final = 100


def seeds_of(
    recaller: Recaller, query: str, space: str | None, *, roles: tuple[str, ...] | None
) -> tuple[list[Entry], tuple[str, ...]]:
    """Return what recall finds, its scores stretched from 0 to 1, and what it notes."""
    filters = Filters(spaces=None if space is None else (space,), roles=roles)
    found, notes = recaller.rank(query, filters, limit=SEEDS_MOST)
    if not found:
        return [], notes
    most, least = found[0].score, found[-1].score
    width = most - least
    entries = [Entry(one.no, (one.score - least) / width if width else 1.0, one.chunk_no) for one in found]
    return entries, notes
