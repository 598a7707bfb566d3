"""The working set of tags in memory: least recently used goes first, what current buds need stays (section 11.2)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Final

from hexad.database.change_counters import ChangeReader
from hexad.database.connection import Database
from hexad.experience.tables.concepts import Concepts
from hexad.experience.tables.tags import TAGS, Tags
from hexad.experience.tags.concept_packs import Masked, read_pack, without_secrets
from hexad.experience.values.concepts import PackReport
from hexad.experience.values.tags import Tag

WORKING_SET_LIMIT: Final = 10_000
"""How many tags are kept in memory unless buds need more."""


class WorkingSet:
    """Tags by id, as the store has them now: a change by any process is seen at the next look.

    What a current bud is, or is near to, is never evicted, so that there may be more than the limit.
    """

    def __init__(self, db: Database, *, limit: int = WORKING_SET_LIMIT) -> None:
        self._tags = Tags(db)
        self._changes = ChangeReader(db)
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[int, Tag]] = OrderedDict()
        self._needed: tuple[int, frozenset[str]] = (-1, frozenset())
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, tag_id: object) -> bool:
        return tag_id in self._kept

    def get(self, tag_id: str) -> Tag | None:
        """Return a tag and count it as used; None when there is none."""
        change = self._changes.current(TAGS)
        with self._lock:
            kept = self._kept.get(tag_id)
            if kept is not None and kept[0] == change:
                self.hits += 1
                self._kept.move_to_end(tag_id)
                return kept[1]
            self.misses += 1
        tag = self._tags.get(tag_id)
        if tag is None:
            with self._lock:
                self._kept.pop(tag_id, None)
            return None
        self._keep(tag, change)
        return tag

    def add(self, tag: Tag) -> None:
        """Put a tag into the set, as used last."""
        self._keep(tag, self._changes.current(TAGS))

    def _keep(self, tag: Tag, change: int) -> None:
        with self._lock:
            self._kept[tag.id] = (change, tag)
            self._kept.move_to_end(tag.id)
            full = len(self._kept) > self._limit
        if full:
            self.evict_unused()

    def evict_unused(self, max_size: int | None = None) -> int:
        """Let go of the least recently used tags over `max_size`, but for those of current buds; returns how many."""
        limit = self._limit if max_size is None else max_size
        needed = self._of_buds()
        with self._lock:
            over = len(self._kept) - limit
            gone: list[str] = []
            for tag_id in self._kept:
                if len(gone) >= over:
                    break
                if tag_id not in needed:
                    gone.append(tag_id)
            for tag_id in gone:
                del self._kept[tag_id]
        return len(gone)

    def _of_buds(self) -> frozenset[str]:
        change = self._changes.current(TAGS)
        seen, needed = self._needed
        if seen != change:
            needed = self._tags.of_current_buds()
            self._needed = (change, needed)
        return needed


class ConceptPacks:
    """Loads packs into the store, and their primaries into the working set."""

    def __init__(self, db: Database, working_set: WorkingSet, *, masked: Masked | None = None) -> None:
        self._db = db
        self._concepts = Concepts(db)
        self._working_set = working_set
        self._masked = masked

    def load(self, path: Path) -> PackReport:
        """Bring the store to what the pack at `path` says, without secrets; the same pack again changes nothing.

        Raises `NotFound` and `InvalidInput` as `read_pack` does, `Conflict` for concepts of another pack.
        """
        pack = read_pack(path)
        if self._masked is not None:
            pack = without_secrets(pack, self._masked)
        with self._db.transaction():
            return self._concepts.load(pack, at=self._db.clock.now())

    def load_primaries(self, *, limit: int = WORKING_SET_LIMIT) -> int:
        """Put the concepts that a lens sees into the working set, the coarsest first to stay; returns how many."""
        primaries = self._concepts.primaries(limit=limit)
        for tag in reversed(primaries):
            self._working_set.add(tag)
        return len(primaries)
