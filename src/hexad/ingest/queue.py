"""The durable queue of sources: put by watchers and callers, run by whoever is alive."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import cast

from hexad.core.arguments import parse_path
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.errors import AccessDenied, HexadError, InvalidInput, NotFound
from hexad.ingest.report import IngestOptions, IngestReport
from hexad.ingest.runner import Ingestor
from hexad.ingest.sources.detect import GIT_PREFIX
from hexad.memory.store import Stores


class QueueRunner:
    """Puts sources on the queue and ingests what waits there (document 1, section 6.1)."""

    def __init__(
        self,
        stores: Stores,
        ingestor: Ingestor,
        *,
        ingestor_for: Callable[[tuple[str, ...] | None], Ingestor],
        clock: Clock,
        owner: str,
        alive: Callable[[], Collection[str]],
        wake: Callable[[], None],
    ) -> None:
        self._wake = wake
        self._stores = stores
        self._ingestor = ingestor
        self._ingestor_for = ingestor_for
        self._clock = clock
        self._owner = owner
        self._alive = alive

    def put(self, source: str | Path, *, space: str, tags: Sequence[str]) -> None:
        """Queue a source; one that waits already is not queued twice. Raises `AccessDenied`.

        Whoever takes it up may write no more than whoever queued it.
        """
        self._stores.spaces.admit(space)
        roles = self._stores.roles
        limits: dict[str, JSONValue] = {} if roles is None else {"roles": list(roles)}
        # Whoever runs the queue has another current folder: a path is kept whole.
        path = Path(source) if str(source).startswith(GIT_PREFIX) else parse_path(source, "source")
        name = str(path.resolve()) if isinstance(source, Path) or path.exists() else source
        self._stores.queue.put(name, {"space": space, "tags": list(tags), **limits}, at=self._clock.now())

    def vanished(self, path: Path, *, space: str) -> int:
        """Archive what was ingested from a file that is gone; returns how many memories."""
        return self._ingestor.vanish(path, space=space)

    def run(
        self,
        *,
        stop: Callable[[], bool] = lambda: False,
        on_report: Callable[[IngestReport], None] | None = None,
    ) -> int:
        """Ingest what waits; returns how many sources. One that cannot be read is kept with its error."""
        done = 0
        while not stop() and self._stores.queue.counts()[0]:
            queued = self._stores.queue.claim(self._owner, alive=frozenset(self._alive()))
            if queued is None:
                break
            try:
                ingestor = self._ingestor_for(_roles(queued.options))
                report = ingestor.ingest(queued.source, _options(queued.options))
            except (NotFound, InvalidInput, AccessDenied) as error:
                self._stores.queue.finish(queued.no, error=str(error))
                continue
            except HexadError:
                self._stores.queue.release(queued.no)
                raise
            self._stores.queue.finish(queued.no)
            done += 1
            self._wake()  # the vectors of what came in
            if on_report is not None:
                on_report(report)
        return done


def _roles(stored: Mapping[str, JSONValue]) -> tuple[str, ...] | None:
    return tuple(cast("list[str]", stored["roles"])) if "roles" in stored else None


def _options(stored: Mapping[str, JSONValue]) -> IngestOptions:
    return IngestOptions(
        space=cast("str", stored.get("space", "default")),
        tags=tuple(cast("list[str]", stored.get("tags", []))),
    )
