"""One run of compression under storage pressure: what is over which limit, and what was done about it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hexad.core.arguments import parse_whole, quoted
from hexad.core.clock import Clock
from hexad.database.connection import Database
from hexad.errors import InvalidInput
from hexad.experience.query.reader import StreamReader
from hexad.experience.query.usage import (
    COLD_TABLES,
    OTHER_TABLES,
    ColdBytes,
    ended_sessions,
    folder_bytes,
    tables_bytes,
)
from hexad.experience.summaries.summarizer import Summarizer
from hexad.experience.tables.cold_records import LevelTotals
from hexad.experience.tags.visibility import Sight
from hexad.experience.tiers.compression_pass import Passed, Passes
from hexad.experience.tiers.contract import Contracts
from hexad.experience.values.pressure import CompressionReport, CompressionStep, Stopped
from hexad.experience.values.records import CompressionLevel
from hexad.experience.values.tiers import TOP_K

THRESHOLD: Final = 0.8
BATCH: Final = 100
"""Records of a pass: larger ones are faster, and lose more detail at once."""
BATCH_LEAST, BATCH_MOST = 20, 1_600
TOP_K_MOST: Final = 100
_FRUITLESS_LIMIT: Final = 20
_LEVELS: Final = tuple(CompressionLevel)[CompressionLevel.REPLY : CompressionLevel.YEAR]

Stop = Callable[[], bool]


def never() -> bool:
    """Do not stop."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class PressureSettings:
    """What may be set: `max_storage_bytes` None means the contract's limit of COLD bytes, `total_limit_bytes` none.

    Raises `InvalidInput` for what cannot be used.
    """

    max_storage_bytes: int | None = None
    total_limit_bytes: int | None = None
    compression_threshold: float = THRESHOLD
    top_k_activations: int = TOP_K

    def __post_init__(self) -> None:
        for name in ("max_storage_bytes", "total_limit_bytes"):
            value: int | None = getattr(self, name)
            if value is not None:
                parse_whole(value, name, least=0)
        threshold: object = self.compression_threshold
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            raise InvalidInput(
                f"compression_threshold = {quoted(threshold)} cannot be used; give a number over 0, at most 1."
            )
        if parse_whole(self.top_k_activations, "top_k_activations", least=1) > TOP_K_MOST:
            raise InvalidInput(
                f"top_k_activations = {self.top_k_activations!r} cannot be used; give 1 to {TOP_K_MOST}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PressureNeeds:
    """What the storage manager is handed. `directory` is the store's; `expire` compacts all of an ended session's
    window and returns what it did, `reclaim` gives back the bytes of timesteps that left the stream, `warm_tokens`
    says how much of the quota of pins is used.
    """

    db: Database
    directory: Path
    clock: Clock
    reader: StreamReader
    flush: Callable[[], None]
    contracts: Contracts
    summarizer: Summarizer
    sight: Sight
    warm_tokens: Callable[[], int]
    reclaim: Callable[[], object]
    expire: Callable[[str], Collection[object]]


def stored_bytes(needs: PressureNeeds) -> int:
    """Return the bytes of everything in the experience store: files, and the pages of its tables."""
    folders = (needs.directory / name for name in ("stream", "documents", "exports"))
    return sum(map(folder_bytes, folders)) + tables_bytes(needs.db, (*COLD_TABLES, *OTHER_TABLES))


class Relief:
    """One check of the limits, and the compression that it asks for."""

    def __init__(self, needs: PressureNeeds, passes: Passes, settings: PressureSettings, stop: Stop) -> None:
        self._needs, self._passes, self._settings, self._stop = needs, passes, settings, stop
        self._cold = ColdBytes(needs.db)
        self._limit = settings.max_storage_bytes or 0
        self._total_limit = settings.total_limit_bytes
        self._steps: dict[CompressionLevel, CompressionStep] = {}
        self._expired: list[str] = []
        self._tried: set[str] = set()
        self._written_by: Counter[str] = Counter()
        self._measure()
        self._before = self._bytes

    @property
    def due(self) -> bool:
        """Whether COLD, or everything, is over its threshold."""
        return self._excess > 0

    def compress(self) -> Stopped:
        """Compress until all is under the threshold, and return why it went no further."""
        if self._total_excess > 0:
            self._expire()
        batch, fruitless = BATCH, 0
        while self._excess > 0:
            if self._stop():
                return Stopped.ASKED
            passed = self._pass(batch)
            if passed is None:
                self._measure()
                return Stopped.NOTHING_LEFT if self._excess > 0 else Stopped.UNDER_THRESHOLD
            self._count(passed)
            fruitless = 0 if passed.into else fruitless + 1
            if fruitless == _FRUITLESS_LIMIT:
                return Stopped.ELSEWHERE
            # The more is left to do, the more is done at once.
            batch = min(2 * batch, BATCH_MOST)
            self._total -= passed.bytes_freed
            self._measure(total=self._total_excess <= 0)
        return Stopped.UNDER_THRESHOLD

    def report(self, stopped: Stopped) -> CompressionReport:
        """Return what was done."""
        notes: list[str] = []
        if stopped is Stopped.NOTHING_LEFT:
            what, limit = (
                ("COLD", self._limit) if self._cold_excess > 0 else ("Everything", self._total_limit)
            )
            size = self._bytes if self._cold_excess > 0 else self._total
            notes.append(
                f"{what} takes {size:,} bytes, more than {self._settings.compression_threshold:g} of {limit:,}, and "
                "all of COLD is at YEAR. Raise the limit, or unpin what is kept in full."
            )
        return CompressionReport(
            bytes_before=self._before,
            bytes_after=self._bytes,
            limit_bytes=self._limit,
            compression_threshold=self._settings.compression_threshold,
            stopped=stopped,
            steps=tuple(self._steps[level] for level in sorted(self._steps)),
            expired_sessions=tuple(self._expired),
            summaries=dict(self._written_by),
            notes=tuple(notes),
        )

    # What is over -----------------------------------------------------------------------------------------------

    def _measure(self, *, total: bool = True) -> None:
        self._levels = self._cold.levels()
        self._bytes = sum(level.bytes for level in self._levels.values()) + self._cold.compactions()[1]
        if total:
            self._total = 0 if self._total_limit is None else stored_bytes(self._needs)

    @property
    def _cold_excess(self) -> int:
        return math.ceil(self._bytes - self._limit * self._settings.compression_threshold)

    @property
    def _total_excess(self) -> int:
        if self._total_limit is None:
            return 0
        return math.ceil(self._total - self._total_limit * self._settings.compression_threshold)

    @property
    def _excess(self) -> int:
        return max(self._cold_excess, self._total_excess)

    # What is done -----------------------------------------------------------------------------------------------

    def _pass(self, most: int) -> Passed | None:
        for source in _LEVELS:
            batch = self._batch(self._levels.get(source, LevelTotals()), most)
            passed = self._passes.run(
                source, batch=batch, k=self._settings.top_k_activations, stop=self._stop
            )
            if passed is not None:
                return passed
        return None

    def _batch(self, level: LevelTotals, most: int) -> int:
        """Return how many records to take: not more than what is over asks for, lest detail goes without need."""
        mean = level.bytes / level.records if level.records else 1.0
        return max(BATCH_LEAST, min(math.ceil(self._excess / mean), most))

    def _count(self, passed: Passed) -> None:
        known = self._steps.get(
            passed.source,
            CompressionStep(
                source=passed.source, target=passed.target, records=0, into=0, bytes_freed=0, passes=0
            ),
        )
        self._steps[passed.source] = replace(
            known,
            records=known.records + passed.records,
            into=known.into + passed.into,
            bytes_freed=known.bytes_freed + passed.bytes_freed,
            passes=known.passes + 1,
            largest_batch=max(known.largest_batch, passed.batch),
        )
        self._written_by.update(passed.written_by)

    def _expire(self) -> None:
        """Let sessions that have ended leave their context, the one that ended first before the others."""
        needs = self._needs
        for session_ids in iter(self._ended, []):
            before = sum(needs.reader.counts())
            per_timestep = folder_bytes(needs.directory / "stream") / max(before, 1)
            for session_id in session_ids:
                if self._stop():
                    return
                self._tried.add(session_id)
                if needs.expire(session_id):
                    self._expired.append(session_id)
                left = before - sum(needs.reader.counts())
                if left * per_timestep >= self._total_excess:
                    break
            needs.reclaim()
            self._measure()
            if self._total_excess <= 0:
                return

    def _ended(self) -> list[str]:
        return [session for session in ended_sessions(self._needs.db) if session not in self._tried]
