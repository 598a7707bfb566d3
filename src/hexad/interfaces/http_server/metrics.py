"""What a server counts, as Prometheus reads it; no id and no text is a label."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from hexad.interfaces.http_server.stores import ServedStore

_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


@dataclass(slots=True)
class Measured:
    """One request while it is answered."""

    status: int = 200


class Metrics:
    """Counts the calls of one server."""

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

    def text(self) -> tuple[bytes, str]:
        """Return what there is to read, and its type."""
        self._memories.set(self._store.owner.count())
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
