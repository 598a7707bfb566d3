"""What can be said of an open store: what `hexad doctor` prints. Apart from `wiring`, because only that asks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hexad import __version__
from hexad.database.connection import sqlite_library_is_safe
from hexad.database.encryption.inventory import state_of
from hexad.database.encryption.record import read_record
from hexad.database.encryption.state import EncryptionState
from hexad.lifecycle.schema import MIGRATIONS
from hexad.maintenance.status__status import StoreStatus
from hexad.memory.memory import Status
from hexad.memory.policy import is_backend
from hexad.search.indexer import EMBED

if TYPE_CHECKING:
    from hexad.services import Parts


def describe(parts: Parts) -> StoreStatus:
    """Return the state of a store, and of its files."""
    stores, recorded = parts.stores, parts.stores.meta.recorded_embedder()
    pending, failed = stores.tasks.counts(EMBED)
    waiting, stuck = stores.queue.counts()
    unlinked = parts.links_pending()
    sqlite = stores.meta.sqlite_version()
    return StoreStatus(
        path=str(parts.place.directory),
        version=__version__,
        sqlite=sqlite,
        sqlite_safe=sqlite_library_is_safe(_numbers(sqlite)),
        durability=parts.base.db.durability.value,
        encrypted=parts.place.crypt is not None,
        encryption=None if parts.place.crypt is None else _encryption(parts.place.directory),
        readonly=parts.base.db.readonly,
        schema=MIGRATIONS[-1].number,
        memories=stores.memories.count(),
        archived=stores.memories.count(status=Status.ARCHIVED),
        quarantined=stores.memories.count(status=Status.QUARANTINED) if stores.roles is None else 0,
        chunks=parts.fulltext.count() if stores.roles is None else stores.memories.count_of("chunks"),
        vectors=stores.vectors.count() if stores.roles is None else stores.memories.count_of("vectors"),
        embedder=parts.embedder.name if parts.embedder is not None else None,
        store_embedder=recorded[0] if recorded is not None else None,
        embeddings_pending=pending,
        embeddings_failed=failed,
        queue_waiting=waiting,
        queue_failed=stuck,
        sizes=_sizes(parts.place.directory),
        keys=str(parts.place.keys.state()),
        embeddings_paused=parts.embedding.paused() if parts.embedding is not None else None,
        generator=parts.generator.name if parts.generator is not None else None,
        backend=parts.base.settings.memory_backend,
        backend_known=is_backend(backend := parts.base.settings.memory_backend)
        or backend in parts.base.orderings,
        links_pending=unlinked,
        links_made_by=parts.links_made_by() if unlinked else None,
        consolidation=parts.consolidation_state(),
        user_layer=parts.user_layer_state(),
        holders=tuple(map(str, parts.place.lock.holders())) if parts.place.lock is not None else (),
    )


def _encryption(directory: Path) -> EncryptionState | None:
    record = read_record(directory)
    return None if record is None else state_of(record)


def _numbers(version: str) -> tuple[int, int, int]:
    major, minor, patch = (int(part) for part in version.split(".")[:3])
    return major, minor, patch


def _sizes(directory: Path) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            name = path.relative_to(directory).parts[0]
            sizes[name] = sizes.get(name, 0) + path.stat().st_size
    return sizes
