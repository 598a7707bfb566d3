"""Which concepts an agent may see, by the settings and by the hierarchy of the packs that are loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Final

from hexad.database.change_counters import ChangeReader
from hexad.database.connection import Database
from hexad.experience.tables.concepts import Concepts
from hexad.experience.tables.tags import TAGS
from hexad.experience.values.lenses import LensRules

_VERDICTS_REMEMBERED: Final = 200_000


class _Verdicts(dict[str, bool]):
    """Verdicts by concept; one that is not known yet is decided. Looking one up costs no call into Python."""

    def __init__(self, decide: Callable[[str], bool]) -> None:
        super().__init__()
        self._decide = decide

    def __missing__(self, concept: str) -> bool:
        return self._decide(concept)


class Lenses:
    """Says of a concept whether its lens may be seen. Safe to share between threads.

    `permits` is for what is asked millions of times: it knows the hierarchy as of the last `refresh`.
    """

    def __init__(self, db: Database, rules: LensRules) -> None:
        self._rules = rules
        self._concepts = Concepts(db)
        self._changes = ChangeReader(db)
        self._lock = threading.Lock()
        self._seen = -1
        self._packs: tuple[str, ...] = ()
        self._below: frozenset[str] = frozenset()
        self._verdicts = _Verdicts(self._decided)
        self.permits: Callable[[str], bool] = self._verdicts.__getitem__

    def refresh(self) -> Callable[[str], bool]:
        """Look whether packs were loaded since, and return `permits`."""
        if self._rules.below:
            change = self._changes.current(TAGS)
            if change != self._seen:
                self._read(change)
        return self.permits

    def visible(self, activations: Mapping[str, float]) -> dict[str, float]:
        """Return those of the activations that may be seen, in their order."""
        permits = self.refresh()
        return {concept: score for concept, score in activations.items() if permits(concept)}

    def _read(self, change: int) -> None:
        packs = self._concepts.fingerprints()
        # Tags are made all the time, and nothing of the hierarchy changes with them.
        if self._seen == -1 or packs != self._packs:
            below = frozenset(self._concepts.with_descendants(self._rules.below))
            with self._lock:
                self._below = below
                self._verdicts.clear()
        self._packs, self._seen = packs, change

    def _decided(self, concept: str) -> bool:
        rules = self._rules
        with self._lock:
            verdict = (
                concept in rules.concepts or concept in self._below or concept.startswith(rules.beginnings)
            )
            if len(self._verdicts) >= _VERDICTS_REMEMBERED:
                self._verdicts.clear()
            self._verdicts[concept] = verdict
        return verdict
