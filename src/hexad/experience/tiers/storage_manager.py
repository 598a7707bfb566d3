"""Storage pressure: what experience takes, held against its limits (document 2, section 4.3)."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import Final

from hexad.database import files
from hexad.database.leases import Lease
from hexad.experience.query.usage import OTHER_TABLES, ColdBytes, extents, folder_bytes, tables_bytes
from hexad.experience.tables.cold_records import LevelTotals
from hexad.experience.tiers.compression_pass import Passes
from hexad.experience.tiers.pressure_run import (
    PressureNeeds,
    PressureSettings,
    Relief,
    Stop,
    never,
    stored_bytes,
)
from hexad.experience.values.pressure import Amount, CompressionReport, Stopped, StorageUsage
from hexad.experience.values.records import CompressionLevel, Fidelity

LOOK_S: Final = 60.0
"""How often the background measures everything, where everything has a limit."""


class StorageManager:
    """Keeps COLD storage under its limit by making it coarser, the oldest and finest first (document 2, section 4.3).

    HOT, WARM and SUBMITTED are never compressed by it. Only where a limit for everything is set (`total_limit_bytes`),
    sessions that have ended leave their context: then they are HOT no more.
    """

    def __init__(self, needs: PressureNeeds, settings: PressureSettings) -> None:
        self._needs, self._settings = needs, settings
        self._cold = ColdBytes(needs.db)
        self._passes = Passes(needs.db, summarizer=needs.summarizer, sight=needs.sight)
        self._lease = Lease(
            needs.directory / "stream" / "compress.lock", clock=needs.clock, purpose="compression"
        )
        self._turn = threading.Lock()  # the lease is the process's, so threads need one of their own
        self._seen: tuple[object, ...] | None = None
        self._looked_at = -math.inf

    @property
    def max_storage_bytes(self) -> int:
        """Most bytes of COLD records and compactions: the contract's, unless another limit was set."""
        given = self._settings.max_storage_bytes
        return self._needs.contracts.current().cold_storage_bytes if given is None else given

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
        self._needs.flush()
        return stored_bytes(self._needs)

    def usage(self) -> StorageUsage:
        """Return what the experience takes, by kind of file, fidelity and level, beside its limits."""
        needs = self._needs
        needs.flush()
        contract = needs.contracts.current()
        directory = needs.directory
        logs = folder_bytes(directory / "stream" / "log")
        segments = folder_bytes(directory / "stream") - logs
        levels = self._cold.levels()
        count, size = self._cold.compactions()
        by_fidelity = self._by_fidelity(logs + segments, levels)
        return StorageUsage(
            total_bytes=stored_bytes(needs),
            cold_bytes=sum(level.bytes for level in levels.values()) + size,
            cold_limit_bytes=self.max_storage_bytes,
            compression_threshold=self.compression_threshold,
            total_limit_bytes=self.total_limit_bytes,
            logs_bytes=logs,
            segments_bytes=segments,
            documents_bytes=folder_bytes(directory / "documents"),
            exports_bytes=folder_bytes(directory / "exports"),
            tables_bytes=tables_bytes(needs.db, OTHER_TABLES),
            by_fidelity=by_fidelity,
            by_level={
                level: _amount(levels.get(level, LevelTotals()))
                for level in CompressionLevel
                if level is not CompressionLevel.TOKEN
            },
            compactions=Amount(records=count, bytes=size),
            warm_quota_tokens=contract.warm_quota_tokens,
            warm_used_tokens=needs.warm_tokens(),
        )

    def _by_fidelity(
        self, stream_bytes: int, levels: Mapping[CompressionLevel, LevelTotals]
    ) -> dict[Fidelity, Amount]:
        found = extents(self._needs.db, self._needs.reader)
        timesteps = sum(extent.timesteps for extent in found.values())
        amounts = {
            fidelity: Amount(
                records=extent.timesteps,
                timesteps=extent.timesteps,
                tokens=extent.tokens,
                bytes=round(stream_bytes * extent.timesteps / timesteps) if timesteps else 0,
            )
            for fidelity, extent in found.items()
        }
        cold = Amount(
            records=sum(level.records for level in levels.values()),
            timesteps=sum(level.timesteps for level in levels.values()),
            tokens=sum(level.tokens for level in levels.values()),
            bytes=sum(level.bytes for level in levels.values()),
        )
        return {fidelity: amounts.get(fidelity, cold) for fidelity in Fidelity}

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
        settings = PressureSettings(
            max_storage_bytes=self.max_storage_bytes if max_storage_bytes is None else max_storage_bytes,
            total_limit_bytes=self.total_limit_bytes,
            compression_threshold=(
                self.compression_threshold if compression_threshold is None else compression_threshold
            ),
            top_k_activations=self.top_k_activations,
        )
        self._needs.db.require_writable()
        relief = Relief(self._needs, self._passes, settings, stop)
        if not relief.due:
            return relief.report(Stopped.UNDER_THRESHOLD)
        files.ensure_dir(self._lease.path.parent)
        with self._turn, self._lease.held_for() as mine:
            return relief.report(relief.compress() if mine else Stopped.ELSEWHERE)

    def compress_when_due(self, *, stop: Stop = never) -> CompressionReport | None:
        """Do what `check_and_compress` does where COLD grew since the last look, or a limit for everything is set and
        the last look is a minute ago; None where neither is.
        """  # fmt: skip
        state = (*self._cold.written(), self.max_storage_bytes)
        now = self._needs.clock.monotonic()
        late = self.total_limit_bytes is not None and now - self._looked_at >= LOOK_S
        if not late and state == self._seen:
            return None
        self._looked_at = now
        report = self.check_and_compress(stop=stop)
        if report.stopped in {Stopped.UNDER_THRESHOLD, Stopped.NOTHING_LEFT}:
            # What was compressed counts as stored; when nothing is left to do, only what others store is news.
            self._seen = (*self._cold.written(), self.max_storage_bytes)
        return report


def _amount(level: LevelTotals) -> Amount:
    return Amount(records=level.records, timesteps=level.timesteps, tokens=level.tokens, bytes=level.bytes)
