"""Storage pressure: what experience takes, held against its limits (document 2, section 4.3)."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hexad.core.arguments import is_number, parse_whole, quoted, require_function
from hexad.database import files
from hexad.database.component import Stop, never
from hexad.database.connection import Database
from hexad.database.leases import Lease
from hexad.database.store_context import StoreContext
from hexad.errors import InvalidInput
from hexad.experience.query.reader import StreamReader
from hexad.experience.query.usage import (
    COLD_TABLES,
    OTHER_TABLES,
    ColdBytes,
    Extent,
    ended_sessions,
    extents,
    folder_bytes,
    tables_bytes,
)
from hexad.experience.tables.cold_records import LevelTotals
from hexad.experience.tiers.compression import CompressionPass, PassResult
from hexad.experience.tiers.contract import Contracts
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.pressure import Amount, CompressionReport, CompressionStep, Stopped, StorageUsage
from hexad.experience.values.tiers import TOP_K

THRESHOLD: Final = 0.8
BATCH: Final = 100
"""Records of a pass: larger ones are faster, and lose more detail at once."""
BATCH_LEAST, BATCH_MOST = 20, 1_600
TOP_K_MOST: Final = 100
_FRUITLESS_LIMIT: Final = 20
_LEVELS: Final = tuple(CompressionLevel)[CompressionLevel.REPLY : CompressionLevel.YEAR]


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
        if not is_number(threshold, 0, 1) or threshold == 0:
            raise InvalidInput(
                f"compression_threshold = {quoted(threshold)} cannot be used; give a number over 0, at most 1.",
                argument="compression_threshold",
            )
        if parse_whole(self.top_k_activations, "top_k_activations", least=1) > TOP_K_MOST:
            raise InvalidInput(
                f"top_k_activations = {quoted(self.top_k_activations)} cannot be used; give 1 to {TOP_K_MOST}.",
                argument="top_k_activations",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionExpiry:
    """How ended sessions leave full detail: `expire` compacts all of one's window and returns what it did, `reclaim`
    gives back the bytes of timesteps that left the stream.
    """

    expire: Callable[[str], Collection[object]]
    reclaim: Callable[[], object]


def stored_bytes(db: Database, directory: Path) -> int:
    """Return the bytes of everything in the experience store: files, and the pages of its tables."""
    folders = (directory / name for name in ("stream", "documents", "exports"))
    return sum(map(folder_bytes, folders)) + tables_bytes(db, (*COLD_TABLES, *OTHER_TABLES))


class PressureRun:
    """One check of the limits, and the compression that it asks for."""

    def __init__(
        self,
        context: StoreContext,
        settings: PressureSettings,
        *,
        reader: StreamReader,
        passes: CompressionPass,
        expiry: SessionExpiry,
        stop: Stop,
    ) -> None:
        self._db, self._directory = context.db, context.directory
        self._settings, self._reader, self._passes = settings, reader, passes
        self._expiry, self._stop = expiry, stop
        self._cold = ColdBytes(context.db)
        self._limit = settings.max_storage_bytes or 0
        self._total_limit = settings.total_limit_bytes
        self._steps: dict[CompressionLevel, CompressionStep] = {}
        self._expired: list[str] = []
        self._tried: set[str] = set()
        self._written_by: Counter[str] = Counter()
        self._measure()
        self._before = self._bytes

    @property
    def is_needed(self) -> bool:
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
            self._total = 0 if self._total_limit is None else stored_bytes(self._db, self._directory)

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

    def _pass(self, most: int) -> PassResult | None:
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

    def _count(self, passed: PassResult) -> None:
        step = self._steps.get(
            passed.source,
            CompressionStep(
                source=passed.source, target=passed.target, records=0, into=0, bytes_freed=0, passes=0
            ),
        )
        self._steps[passed.source] = replace(
            step,
            records=step.records + passed.records,
            into=step.into + passed.into,
            bytes_freed=step.bytes_freed + passed.bytes_freed,
            passes=step.passes + 1,
            largest_batch=max(step.largest_batch, passed.batch),
        )
        self._written_by.update(passed.written_by)

    def _expire(self) -> None:
        """Let sessions that have ended leave their context, the one that ended first before the others."""
        for session_ids in iter(self._ended_sessions, []):
            before = sum(self._reader.counts())
            per_timestep = folder_bytes(self._directory / "stream") / max(before, 1)
            for session_id in session_ids:
                if self._stop():
                    return
                self._tried.add(session_id)
                if self._expiry.expire(session_id):
                    self._expired.append(session_id)
                left = before - sum(self._reader.counts())
                if left * per_timestep >= self._total_excess:
                    break
            self._expiry.reclaim()
            self._measure()
            if self._total_excess <= 0:
                return

    def _ended_sessions(self) -> list[str]:
        return [session for session in ended_sessions(self._db) if session not in self._tried]


LOOK_S: Final = 60.0
"""How often the background measures everything, where everything has a limit."""


class StorageManager:
    """Keeps COLD storage under its limit by making it coarser, the oldest and finest first (document 2, section 4.3).

    HOT, WARM and SUBMITTED are never compressed by it. Only where a limit for everything is set (`total_limit_bytes`),
    sessions that have ended leave their context: then they are HOT no more.
    """

    def __init__(
        self,
        context: StoreContext,
        *,
        reader: StreamReader,
        flush: Callable[[], None],
        contracts: Contracts,
        passes: CompressionPass,
        warm_tokens: Callable[[], int],
        expiry: SessionExpiry,
    ) -> None:
        """`warm_tokens` says how much of the quota of pins is used."""
        self._context, self._db, self._directory = context, context.db, context.directory
        self._settings = PressureSettings(
            total_limit_bytes=context.settings.xdb_max_storage_bytes,
            compression_threshold=context.settings.xdb_compression_threshold,
            top_k_activations=context.settings.xdb_top_k_activations,
        )
        self._reader, self._flush, self._contracts = reader, flush, contracts
        self._passes, self._warm_tokens, self._expiry = passes, warm_tokens, expiry
        self._cold = ColdBytes(context.db)
        self._lease = Lease(
            context.directory / "stream" / "compress.lock", clock=context.clock, purpose="compression"
        )
        self._turn = threading.Lock()  # the lease is the process's, so threads need one of their own
        self._seen: tuple[object, ...] | None = None
        self._looked_at = -math.inf

    @property
    def max_storage_bytes(self) -> int:
        """Most bytes of COLD records and compactions: the contract's, unless another limit was set."""
        limit = self._settings.max_storage_bytes
        return self._contracts.current().cold_storage_bytes if limit is None else limit

    @property
    def total_limit_bytes(self) -> int | None:
        """Most bytes of the whole experience store, None where nothing bounds it."""
        return self._settings.total_limit_bytes

    @property
    def compression_threshold(self) -> float:
        """From which part of a limit on there is pressure."""
        return self._settings.compression_threshold

    @property
    def top_k_activations(self) -> int:
        """How many concepts and tags a compressed record keeps; a timestep keeps ten."""
        return self._settings.top_k_activations

    # How much there is ------------------------------------------------------------------------------------------

    def get_current_usage(self) -> int:
        """Return the bytes of everything in the experience store: files, and the database's tables of it."""
        self._flush()
        return stored_bytes(self._db, self._directory)

    def usage(self) -> StorageUsage:
        """Return what the experience takes, by kind of file, fidelity and level, beside its limits."""
        self._flush()
        contract, directory = self._contracts.current(), self._directory
        logs = folder_bytes(directory / "stream" / "log")
        segments = folder_bytes(directory / "stream") - logs
        levels = self._cold.levels()
        count, size = self._cold.compactions()
        found_extents, notes = self._reader.in_spite_of_damage(lambda: extents(self._db, self._reader))
        return StorageUsage(
            total_bytes=stored_bytes(self._db, directory),
            cold_bytes=sum(level.bytes for level in levels.values()) + size,
            cold_limit_bytes=self.max_storage_bytes,
            compression_threshold=self.compression_threshold,
            total_limit_bytes=self.total_limit_bytes,
            logs_bytes=logs,
            segments_bytes=segments,
            documents_bytes=folder_bytes(directory / "documents"),
            exports_bytes=folder_bytes(directory / "exports"),
            tables_bytes=tables_bytes(self._db, OTHER_TABLES),
            by_fidelity=_by_fidelity(found_extents, logs + segments, levels),
            by_level={
                level: _amount(levels.get(level, LevelTotals()))
                for level in CompressionLevel
                if level is not CompressionLevel.TOKEN
            },
            compactions=Amount(records=count, bytes=size),
            warm_quota_tokens=contract.warm_quota_tokens,
            warm_used_tokens=self._warm_tokens(),
            notes=tuple(notes),
        )

    # Under pressure ---------------------------------------------------------------------------------------------

    def check_and_compress(
        self,
        *,
        max_storage_bytes: int | None = None,
        compression_threshold: float | None = None,
        stop: Stop = never,
    ) -> CompressionReport:
        """Compress the oldest of the finest level, again and again, until all is under the threshold.

        What is given counts for this call alone. The report says what became of what, and why it went no further;
        nothing goes past YEAR. May be stopped or killed at any point: each record that is made takes the place of its
        sources in one transaction.

        Raises `InvalidInput` for a limit or a threshold that cannot be used.
        """
        require_function(stop, "stop", given=())
        settings = PressureSettings(
            max_storage_bytes=self.max_storage_bytes if max_storage_bytes is None else max_storage_bytes,
            total_limit_bytes=self.total_limit_bytes,
            compression_threshold=(
                self.compression_threshold if compression_threshold is None else compression_threshold
            ),
            top_k_activations=self.top_k_activations,
        )
        self._db.require_writable()
        relief = PressureRun(
            self._context,
            settings,
            reader=self._reader,
            passes=self._passes,
            expiry=self._expiry,
            stop=stop,
        )
        if not relief.is_needed:
            return relief.report(Stopped.UNDER_THRESHOLD)
        files.ensure_dir(self._lease.path.parent)
        with self._turn, self._lease.held_for() as mine:
            return relief.report(relief.compress() if mine else Stopped.ELSEWHERE)

    def compress_when_due(self, *, stop: Stop = never) -> CompressionReport | None:
        """Do what `check_and_compress` does where COLD grew since the last look, or a limit for everything is set and
        the last look is a minute ago; None where neither is.
        """  # fmt: skip
        require_function(stop, "stop", given=())
        state = (*self._cold.written(), self.max_storage_bytes)
        now = self._context.clock.monotonic()
        late = self.total_limit_bytes is not None and now - self._looked_at >= LOOK_S
        if not late and state == self._seen:
            return None
        self._looked_at = now
        report = self.check_and_compress(stop=stop)
        if report.stopped in {Stopped.UNDER_THRESHOLD, Stopped.NOTHING_LEFT}:
            # What was compressed counts as stored; when nothing is left to do, only what others store is news.
            self._seen = (*self._cold.written(), self.max_storage_bytes)
        return report


def _by_fidelity(
    found_extents: Mapping[Fidelity, Extent],
    stream_bytes: int,
    levels: Mapping[CompressionLevel, LevelTotals],
) -> dict[Fidelity, Amount]:
    timesteps = sum(extent.timesteps for extent in found_extents.values())
    amounts = {
        fidelity: Amount(
            records=extent.timesteps,
            timesteps=extent.timesteps,
            tokens=extent.tokens,
            bytes=round(stream_bytes * extent.timesteps / timesteps) if timesteps else 0,
        )
        for fidelity, extent in found_extents.items()
    }
    cold = Amount(
        records=sum(level.records for level in levels.values()),
        timesteps=sum(level.timesteps for level in levels.values()),
        tokens=sum(level.tokens for level in levels.values()),
        bytes=sum(level.bytes for level in levels.values()),
    )
    return {fidelity: amounts.get(fidelity, cold) for fidelity in Fidelity}


def _amount(level: LevelTotals) -> Amount:
    return Amount(records=level.records, timesteps=level.timesteps, tokens=level.tokens, bytes=level.bytes)
