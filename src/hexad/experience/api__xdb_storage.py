"""The calls of `hx.xdb` on how much experience takes, what it may take, and making it less."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hexad.experience.tiers.contract import Contracts
from hexad.experience.tiers.storage_manager import StorageManager
from hexad.experience.values.contract import LifecycleContract
from hexad.experience.values.pressure import CompressionReport, StorageUsage


class StorageCalls:
    """The part of `Xdb` that is about storage: usage, pressure, the contract."""

    _storage: StorageManager
    _contracts: Contracts

    @property
    def storage_manager(self) -> StorageManager:
        """What keeps COLD storage under its limit, with the calls of document 2's `StorageManager`."""
        return self._storage

    def usage(self) -> StorageUsage:
        """Return what the experience takes, by kind of file, fidelity and compression level, beside its limits."""
        return self._storage.usage()

    def check_and_compress(
        self, *, max_storage_bytes: int | None = None, compression_threshold: float | None = None
    ) -> CompressionReport:
        """Make COLD storage coarser, the oldest and finest first, until it is under the threshold of its limit.

        The limit is the contract's `cold_storage_bytes`, the threshold 0.8, unless other ones are given for this call.
        `maintain` and the background do this by themselves. Nothing goes past YEAR, and HOT, WARM and SUBMITTED are
        never compressed.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     hx.xdb.check_and_compress().stopped.value
        'under_threshold'
        """
        return self._storage.check_and_compress(
            max_storage_bytes=max_storage_bytes, compression_threshold=compression_threshold
        )

    @property
    def contract(self) -> LifecycleContract:
        """The limits in force, each with where it comes from: the contract, or the tribe's minimum."""
        return self._contracts.current()

    def set_contract(self, contract: Mapping[str, object] | str | Path | None) -> LifecycleContract:
        """Put a lifecycle contract in force, a mapping or a JSON or TOML file; None ends the one there is.

        It is kept in the store, so that every program that has it open goes by it. What it does not say is the tribe's
        minimum: 100,000 tokens WARM, 100 MiB COLD, a context window of 8,192 tokens. Keys that are not known are kept.

        Raises `LimitExceeded` for less than a minimum, `InvalidInput` for what is no contract, `NotFound` for a file
        that is not there, `AccessDenied` for who is not the store's owner; then nothing was changed.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     contract = hx.xdb.set_contract({"resources": {"memory": {"warm_quota_tokens": 250_000}}})
        ...     contract.warm_quota_tokens, contract.cold_storage_bytes, contract.sources["cold_storage_bytes"].value
        (250000, 104857600, 'minimum')
        """
        return self._contracts.set(contract)
