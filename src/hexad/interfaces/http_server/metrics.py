"""What a server counts, as Prometheus reads it; no id and no text is a label."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from hexad.core.tracing import Span, listen
from hexad.interfaces.http_server.stores import ServedStore
from hexad.maintenance.status import StoreStatus

_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


_RECORDING: Final = frozenset({"xdb.record", "xdb.record_many", "xdb.on_input", "xdb.on_output_token"})
"""Calls that record timesteps and answer with their ids."""


@dataclass(slots=True)
class Measured:
    """One request while it is answered."""

    status: int = 200


_STATE: Final[tuple[tuple[str, str, Callable[[StoreStatus], float]], ...]] = (
    ("hexad_queue_waiting", "Sources that wait for their turn.", lambda status: status.queue_waiting),
    (
        "hexad_queue_age_seconds",
        "How long the source waits that waits longest.",
        lambda status: status.queue_age_s,
    ),
    ("hexad_queue_failed", "Sources that could not be ingested.", lambda status: status.queue_failed),
    (
        "hexad_embeddings_pending",
        "Memories without their vectors.",
        lambda status: nan if status.embedder is None else status.embeddings_pending,
    ),
    (
        "hexad_embeddings_failed",
        "Memories that could not be embedded.",
        lambda status: status.embeddings_failed,
    ),
    (
        "hexad_store_size_bytes",
        "All files of the store.",
        lambda status: sum(status.sizes.values()) if status.sizes else nan,
    ),
)
"""What is read of the store's status when somebody asks, under its name and with its meaning.

An actor with roles is not told sizes, and a store without an embedder waits for no vector: there is no number then.
"""


class Metrics:
    """Counts the calls of one server, and what its process does with stores.

    Document 1, section 7: `lexon_memory_objects_total` is a gauge here, `hexad_memory_objects`, because memories also
    go; the two counters and the histograms of how long things take have Prometheus' forms of their names.
    """

    def __init__(self, store: ServedStore) -> None:
        self._store = store
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "hexad_http_requests", "Calls that were answered.", ("call", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "hexad_http_request_seconds",
            "How long a call took.",
            ("call",),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._active = Gauge("hexad_http_requests_active", "Calls under way.", registry=self._registry)
        self._memories = Gauge("hexad_memories", "Active memories of the store.", registry=self._registry)
        self._objects = Gauge(
            "hexad_memory_objects", "Memories of the store.", ("status",), registry=self._registry
        )
        self._state = {
            name: (Gauge(name, meaning, registry=self._registry), read) for name, meaning, read in _STATE
        }
        self._ledger = Gauge(
            "hexad_ledger_size_bytes", "The ledger's records and archives.", registry=self._registry
        )
        self._free = Gauge(
            "hexad_disk_free_bytes", "What the store's disk has left.", registry=self._registry
        )
        self._operations = Histogram(
            "hexad_operation_seconds",
            "How long an operation took: a span's name.",
            ("operation", "failed"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._gc_runs = Counter(
            "hexad_memory_gc_runs", "Collections of memories that are due.", registry=self._registry
        )
        self._pins = Counter(
            "hexad_memory_pin_toggles", "Memories pinned and unpinned.", registry=self._registry
        )
        self.close = listen(self._ended)
        self.tokens = Counter(
            "hexad_stream_records", "Timesteps recorded over HTTP.", registry=self._registry
        )

    @contextmanager
    def measured(self, call: str) -> Iterator[Measured]:
        """Measure a call."""
        measured = Measured(status=500)
        self._active.inc()
        try:
            with self._seconds.labels(call).time():
                measured.status = 200
                yield measured
        except BaseException:
            measured.status = 500
            raise
        finally:
            self._active.dec()
            self._requests.labels(call, str(measured.status)).inc()

    def note_records(self, call: str, answer: object) -> None:
        """Count what a call recorded, by the ids that it answers with."""
        if call in _RECORDING:
            self.tokens.inc(len(answer) if isinstance(answer, list) else 1)

    def _ended(self, span: Span) -> None:
        self._operations.labels(span.name, str(span.error is not None).lower()).observe(span.seconds)
        if span.name == "gc" and span.error is None and not span.attributes["dry_run"]:
            self._gc_runs.inc()
        elif span.name == "pin" and span.error is None and span.attributes.get("changed"):
            self._pins.inc()

    def text(self) -> tuple[bytes, str]:
        """Return what there is to read, and its type."""
        status = self._store.owner.status()
        self._memories.set(status.memories)
        for name in ("archived", "quarantined"):
            self._objects.labels(name).set(getattr(status, name))
        self._objects.labels("active").set(status.memories)
        for gauge, read in self._state.values():
            gauge.set(read(status))
        self._ledger.set(_ledger_size(self._store.path) if status.sizes else nan)
        self._free.set(shutil.disk_usage(self._store.path).free)
        return generate_latest(self._registry), CONTENT_TYPE_LATEST


def _ledger_size(store: Path) -> int:
    """Return the bytes of the ledger's files but SQLite's log and index, which come and go with its writers."""
    files = [path for path in (store / "audit").rglob("*") if not path.name.endswith(("-wal", "-shm"))]
    return sum(path.stat().st_size for path in files if path.is_file())
