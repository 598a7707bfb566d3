"""What recalls handed out, kept for a moment in memory and then written in one transaction.

The store remembers it for two reasons: `last_used_at`, and to know its own words when they come back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import datetime
from sys import getsizeof
from threading import Lock
from typing import Final

from hexad.core.lazy import CountedCache
from hexad.memory.query import Hit
from hexad.memory.store import Stores
from hexad.memory.tables.duplicates import HandedOut
from hexad.text.similarity.fingerprints import passage_hashes

KEPT: Final = 2_000
"""Handouts kept in memory at most; past this the oldest are dropped, which costs only `last_used_at`."""

_ENTRY_BYTES: Final = 250
"""What an entry takes besides its texts."""

KEPT_CHARACTERS: Final = 8_000_000
"""So much of their texts: each is that of a whole memory, which may have a mebibyte."""


PASSAGES_KEPT: Final = 200_000
"""So many hashes of those whose texts were let go of before they were stored."""

_PASSAGE_BYTES: Final = 40


class RecallLog:
    """Collects hits; `flush` stores them."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._lock = Lock()
        self._kept: deque[tuple[int, str, str, datetime]] = deque()
        self._hashed: deque[HandedOut] = deque(maxlen=KEPT)
        self._characters = self._bytes = self._passages = 0
        most = 8 * KEPT_CHARACTERS + KEPT * 750 + PASSAGES_KEPT * _PASSAGE_BYTES
        self._use = CountedCache(most, self._nbytes)
        stores.db.caches.add("recalled texts", self._use)
        stores.db.caches.on_release(self.hash_texts)

    def note(self, hits: Iterable[tuple[int, Hit]], *, at: datetime) -> None:
        """Remember the hits of one recall, by the memory's row number."""
        self.note_texts(((no, hit.text, hit.memory.raw) for no, hit in hits), at=at)

    def note_texts(self, texts: Iterable[tuple[int, str, str]], *, at: datetime) -> None:
        """Remember `(row number, what the caller saw, the memory's whole text)`."""
        with self._lock:
            for no, shown, whole in texts:
                self._kept.append((no, shown, whole, at))
                self._characters += len(whole)
                self._bytes += _bytes_of(shown, whole)
            while self._kept and (len(self._kept) > KEPT or self._characters > KEPT_CHARACTERS):
                _, shown, whole, _ = self._kept.popleft()
                self._characters -= len(whole)
                self._bytes -= _bytes_of(shown, whole)

    def flush(self) -> int:
        """Store what was collected; returns how many hits that were."""
        with self._lock:
            entries, hashed = self._take(), list(self._hashed)
            self._hashed.clear()
            self._passages = 0
        if entries or hashed:
            self._stores.duplicates.record_handouts([*hashed, *map(_handed_out, entries)])
        return len(entries) + len(hashed)

    def hash_texts(self) -> None:
        """Keep only the hashes of what was collected, which are all that is stored of it: something was erased."""
        with self._lock:
            self._hashed.extend(map(_handed_out, self._take()))
            self._passages = sum(len(handout.passages) for handout in self._hashed)
            while self._passages > PASSAGES_KEPT:
                self._passages -= len(self._hashed.popleft().passages)

    def _nbytes(self) -> int:
        return self._bytes + len(self._hashed) * _ENTRY_BYTES + self._passages * _PASSAGE_BYTES

    def _take(self) -> deque[tuple[int, str, str, datetime]]:
        entries, self._kept = self._kept, deque()
        self._characters = self._bytes = 0
        return entries


def _handed_out(entry: tuple[int, str, str, datetime]) -> HandedOut:
    no, shown, whole, at = entry
    return HandedOut(memory_no=no, passages=_passages(shown, whole), at=at)


def _bytes_of(shown: str, whole: str) -> int:
    return getsizeof(shown) + getsizeof(whole) + _ENTRY_BYTES


def _passages(shown: str, whole: str) -> tuple[int, ...]:
    """Hashes of what the caller saw, in pieces as the gate will look at them."""
    pieces = dict.fromkeys(passage_hashes(shown))
    if whole != shown and len(whole) <= 4 * len(shown):
        pieces.update(dict.fromkeys(passage_hashes(whole)))
    return tuple(pieces)
