"""What share of the memories is searched by meaning while vectors are being computed, and when all of them will be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hexad.database.meta import EMBEDDING_PAUSED, EMBEDDING_RATE
from hexad.memory.store import Stores
from hexad.search.embedding_job import BEGINNING_TOKENS
from hexad.search.indexer import EMBED
from hexad.text.tokens import CHARACTERS_PER_TOKEN

_MINUTE_S: Final = 60
_HOUR_S: Final = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many active memories there are, and what waits: memories, and the tokens of their chunks."""

    memories: int
    waiting: int
    waiting_tokens: int

    def share(self) -> int:
        """Return the percentage that is searched by meaning: 100 only where nothing waits."""
        if not self.waiting:
            return 100
        return min(99, 100 * max(0, self.memories - self.waiting) // max(1, self.memories))


def coverage_of(stores: Stores, spaces: Sequence[str] | None = None) -> Coverage:
    """Return what waits of the memories that `stores` show, in these spaces or in all; a chunk counts with what an
    embedder reads of it.
    """
    memories, waiting, characters = stores.memories.awaited(
        EMBED, characters_most=BEGINNING_TOKENS * CHARACTERS_PER_TOKEN, spaces=spaces
    )
    return Coverage(memories=memories, waiting=waiting, waiting_tokens=characters // CHARACTERS_PER_TOKEN)


def coverage_note(
    stores: Stores, *, background: bool, first: float = 0.0, spaces: Sequence[str] | None = None
) -> str | None:
    """Say what share is searched by meaning, and who computes the rest by when; None where nothing waits.

    `first` is the share of the rest of the whole store that has first vectors: its owner is told it, of all spaces.
    Of some `spaces` alone no time is said: others may come before them.
    """
    if spaces is not None or stores.roles is not None:
        first = 0.0
    if not stores.places.present().waiting:
        return None
    coverage = coverage_of(stores, spaces)
    if not coverage.waiting:
        return None
    memories = "1 memory" if coverage.memories == 1 else f"{coverage.memories:,} memories"
    estimate = (
        f" and{'' if first >= 1 else f', {100 * first:.0f} % of it,'} by a first estimate of meaning"
        if first
        else ""
    )
    words = f"Searched by meaning: {coverage.share()} % of {memories}; the rest by words{estimate}. "
    if stores.meta.get(EMBEDDING_PAUSED):
        return f"{words}The rest waits for a budget."
    rate = float(stores.meta.get(EMBEDDING_RATE) or 0.0)
    when = f" in {_duration(coverage.waiting_tokens / rate)}" if rate > 0 and spaces is None else ""
    return f"{words}{'The background' if background else '`hexad maintain`'} computes the rest{when}."


def _duration(seconds: float) -> str:
    """Return an estimate for people.

    >>> _duration(20), _duration(170), _duration(9_000)
    ('under a minute', 'about 3 min', 'about 2.5 h')
    """
    if seconds < _MINUTE_S:
        return "under a minute"
    return f"about {seconds / _MINUTE_S:.0f} min" if seconds < _HOUR_S else f"about {seconds / _HOUR_S:.1f} h"
