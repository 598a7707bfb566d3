"""Records one by one, appended in batches: what a system calls for each token beside `hx.xdb.record`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from hexad.audit.values import NewAuditRecord
from hexad.config import StreamDurability
from hexad.core.arguments import is_number, is_whole, quoted, require_function
from hexad.core.background_loop import BackgroundLoop
from hexad.core.clock import Clock
from hexad.core.event_types import EventType
from hexad.core.json_types import JSONValue
from hexad.database.commit_queue import CommitInDoubt
from hexad.errors import InvalidInput, StorageFailure

RECORDER_BATCH: Final = 1_000
RECORDER_DELAY_S: Final = 0.1
BATCH_LIMIT: Final = 100_000
DELAY_LIMIT_S: Final = 60.0
_WAITING_BATCHES: Final = 16
"""So many batches may wait for the disk; then `record` waits, too."""


class Sink(Protocol):
    """What a recorder needs of a writer."""

    def made(self, row: Mapping[str, Any], now: datetime) -> NewAuditRecord:
        """Return the record of a row; raises `InvalidInput`."""

    def append(self, made: Sequence[NewAuditRecord]) -> list[int]:
        """Append records in one transaction."""


class AuditRecorder:
    """Takes records in the order in which they happen and appends them to the ledger in batches.

    Made by `AuditLogWriter.recorder`; any thread may call it. `record` has the parameters of `AuditLogWriter.record`,
    so that a controller can be handed either. With `durability="group"` it returns at once; at most `delay_s` seconds
    or `batch` records later all are on the disk, and a process that is killed loses what was not: `flush` waits for it,
    and so does `close`. With `"always"` a record is on the disk when `record` returns; threads share a transaction.

    What cannot be recorded is refused by `record`. What the disk refuses is kept, tried again, and said to every call
    until it is written: nothing is dropped.
    """

    def __init__(
        self,
        sink: Sink,
        clock: Clock,
        *,
        batch: int,
        delay_s: float,
        durability: StreamDurability | str,
    ) -> None:
        if not is_whole(batch, 1, BATCH_LIMIT):
            raise InvalidInput(
                f"batch = {quoted(batch)} must be a whole number from 1 to {BATCH_LIMIT:,}.", argument="batch"
            )
        if not is_number(delay_s, 0, DELAY_LIMIT_S) or delay_s == 0:
            raise InvalidInput(
                f"delay_s = {quoted(delay_s)} must be above 0 and at most {DELAY_LIMIT_S:g} seconds.",
                argument="delay_s",
            )
        word = durability.value if isinstance(durability, StreamDurability) else durability
        if word not in (StreamDurability.GROUP.value, StreamDurability.ALWAYS.value):
            raise InvalidInput(
                f"durability = {quoted(word)} is neither 'group' nor 'always': what is in the ledger is always synced.",
                argument="durability",
            )
        self._sink, self._clock, self._batch, self._delay_s = sink, clock, batch, delay_s
        self._always = word == StreamDurability.ALWAYS.value
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._loop = BackgroundLoop("hexad-audit-recorder", self._pause_after_step, delay_s=delay_s)
        self._waiting = list[NewAuditRecord]()
        self._taken = self._written = 0
        self._trouble: StorageFailure | None = None
        self._closed = False

    @property
    def pending(self) -> int:
        """How many records are not on the disk yet."""
        return self._taken - self._written

    def record(
        self,
        session_id: str,
        tick: int,
        event_type: EventType | str,
        raw_content: str,
        lens_activations: Mapping[str, float],
        steering_applied: Sequence[Mapping[str, JSONValue]],
        *,
        subject: str | None = None,
        timestamp: datetime | str | None = None,
    ) -> None:
        """Take one record; its time is now unless `timestamp` says when. Raises as `AuditLogWriter.record` does."""
        row = {
            "session_id": session_id,
            "tick": tick,
            "event_type": event_type,
            "raw_content": raw_content,
            "lens_activations": lens_activations,
            "steering_applied": steering_applied,
            "subject": subject,
            "timestamp": timestamp,
        }
        record = self._sink.made(row, self._clock.now())
        with self._lock:
            if self._closed:
                raise InvalidInput(
                    "This recorder is closed; make another one with `AuditLogWriter.recorder`."
                )
            self._waiting.append(record)
            self._taken += 1
            mine, count = self._taken, len(self._waiting)
        if self._always or self._trouble is not None or count >= self._batch * _WAITING_BATCHES:
            self._write(mine)
        elif count == 1:
            self._loop.wake()
        elif count == self._batch:
            self._loop.hurry()

    def flush(self) -> None:
        """Return when all that was taken so far is on the disk; raises `StorageFailure`."""
        self._write(self._taken)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left and take no more. Idempotent; raises `StorageFailure`, and can then be called again."""
        with self._lock:
            self._closed = True
        self._loop.stop()
        self._write(self._taken)

    def _pause_after_step(self) -> float | None:
        if self._waiting:
            try:
                self._write(self._taken)
            except StorageFailure as error:
                self._trouble = error  # said by the next call, which tries again
        return self._delay_s if self._waiting else None

    def _write(self, until: int) -> None:
        """Append what waits, up to the record with this number at least; whoever comes second finds it done."""
        with self._writing:
            while self._written < until:
                with self._lock:
                    batch = self._waiting[: self._batch]
                try:
                    self._sink.append(batch)
                except CommitInDoubt:
                    self._done(len(batch))  # others see it already: a second try would write it twice
                    raise
                self._done(len(batch))
            self._trouble = None

    def _done(self, count: int) -> None:
        with self._lock:
            del self._waiting[:count]
            self._written += count


State = TypeVar("State")


class RecordTaker(Protocol):
    """What records a timestep on the ledger: a writer, or its recorder."""

    def record(
        self,
        session_id: str,
        tick: int,
        event_type: EventType | str,
        raw_content: str,
        lens_activations: Mapping[str, float],
        steering_applied: Sequence[Mapping[str, JSONValue]],
    ) -> object:
        """Record it."""


class HushController(Generic[State]):
    """What document 2 (section 10.2) calls so: it steers a model by what all lenses see, hidden ones too.

    `evaluate` turns a model's hidden state into activations of lenses, `steer` these into directives, mappings as the
    ledger keeps them; both are the caller's. `audit_log` is a writer or its recorder, None records nothing.
    """

    def __init__(
        self,
        audit_log: RecordTaker | None = None,
        *,
        evaluate: Callable[[State], Mapping[str, float]],
        steer: Callable[[Mapping[str, float]], Sequence[Mapping[str, Any]]] = lambda _activations: (),
    ) -> None:
        """Raises `InvalidInput` for an `evaluate` or `steer` that is no function, and for what takes no records."""
        require_function(evaluate, "evaluate", given=("hidden_state",))
        require_function(steer, "steer", given=("activations",))
        if audit_log is not None and not callable(getattr(audit_log, "record", None)):
            raise InvalidInput(
                f"audit_log = {quoted(audit_log)} must be an `AuditLogWriter`, its recorder, or None.",
                argument="audit_log",
            )
        self.audit_log, self._evaluate, self._steer = audit_log, evaluate, steer
        self.active_directives: Sequence[Mapping[str, Any]] = ()

    def evaluate_and_steer(
        self, hidden_state: State, session_id: str, tick: int, content: str
    ) -> Sequence[Mapping[str, Any]]:
        """Return the directives for a token that was generated; what all lenses saw, and these, are recorded before.

        Raises `InvalidInput` where the caller's functions give no activations or no directives; nothing is recorded.
        """
        activations = self._evaluate(hidden_state)
        if not isinstance(activations, Mapping):
            raise InvalidInput(
                f"`evaluate` gave {quoted(activations)}; it must give a mapping of lenses to numbers.",
                argument="evaluate",
            )
        directives = self._steer(activations)
        if isinstance(directives, str | bytes | Mapping) or not _are_directives(directives):
            raise InvalidInput(
                f"`steer` gave {quoted(directives)}; it must give a list of directives, mappings that say something.",
                argument="steer",
            )
        self.active_directives = directives
        if self.audit_log is not None:
            self.audit_log.record(
                session_id,
                tick,
                EventType.OUTPUT,
                content,
                activations,
                [dict(directive) for directive in self.active_directives],
            )
        return self.active_directives


def _are_directives(values: object) -> bool:
    """Whether these are directives: an empty one steers nothing, and a record of it would say that something did."""
    return isinstance(values, Sequence) and all(isinstance(value, Mapping) and value for value in values)
