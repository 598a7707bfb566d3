"""Recording: from many threads into this process's log, acknowledged as the policy says."""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import get_ident
from typing import Final, NamedTuple

from hexad.config import StreamDurability
from hexad.core.background_loop import BackgroundLoop
from hexad.core.clock import Clock
from hexad.core.tracing import log
from hexad.database.codec import to_micros
from hexad.database.encryption.cipher import FileCipher
from hexad.database.exit_hooks import ExitPhase, forget, register
from hexad.errors import InvalidInput, StorageFailure, StoreLocked
from hexad.experience.stream.frames import Batch, StepFields
from hexad.experience.stream.log import LogWriter, RowsInDoubt
from hexad.experience.tables.sessions import Sessions

GROUP_RECORDS: Final = 4_096
GROUP_CHARS: Final = 4 << 20
GROUP_S: Final = 0.020
SESSIONS_MOST: Final = 4_096
"""Sessions whose blocks of ticks are kept; what is left of those used longest ago goes back to the store."""
_FIRST_BLOCK, _LARGEST_BLOCK = 64, 65_536


class RecordFields(NamedTuple):
    """What is recorded, before it has a tick and, mostly, a time: the rest of a `Step`."""

    at: int | None
    kind: int
    flags: int
    token: int
    tokens: int
    role: str | None
    event: str | None
    activations: Mapping[str, float]
    content: str


@dataclass(slots=True)
class _Waiting:
    """Records that are written together, and what became of them."""

    steps: list[StepFields] = field(default_factory=list)
    chars: int = 0
    written: bool = False
    error: StorageFailure | None = None
    threads: set[int] = field(default_factory=set)  # who recorded them


@dataclass(slots=True)
class _Ticks:
    """A block of ticks that this process has reserved: the next one, and the first that is not ours."""

    next: int = 0
    end: int = 0
    size: int = _FIRST_BLOCK // 2


class Recorder:
    """Appends records to the log of this process. Safe to share between threads."""

    def __init__(
        self,
        sessions: Sessions,
        directory: Path,
        *,
        clock: Clock,
        durability: StreamDurability,
        full: Callable[[], None],
        note: Callable[[str, int], object],
        cipher: FileCipher | None = None,
    ) -> None:
        self._sessions = sessions
        self._directory = directory
        self._clock = clock
        self._durability = durability
        self._cipher = cipher
        self._note = note  # told how long a log is that is given away
        self._full = full  # called when there is a log to seal
        self._pid = os.getpid()
        self._lock = threading.Lock()  # ticks and the batch; never held while the disk is waited for
        self._writing = threading.Lock()  # the log; taken before `_lock`
        self._batch = _Waiting()
        self._ticks: OrderedDict[int, _Ticks] = OrderedDict()  # by session, used last at the end
        self._log: LogWriter | None = None
        self._doubtful: LogWriter | None = None  # a log that may still show what it failed to write
        self._trouble: StorageFailure | None = None
        self._doubt: RowsInDoubt | None = None  # until `acknowledge` told it
        self._doubts: dict[int, RowsInDoubt] = {}  # the same by thread, of those whose records it is about
        self._loop = BackgroundLoop("hexad-recorder", self._pause_after_step, delay_s=GROUP_S)
        self._registered = self._closed = False

    def add(self, session: int, fields: RecordFields, tick: int | None = None) -> int:
        """Record for a session; return the tick, which is `tick` if given. Under `always` it is on the disk.

        Raises `StorageFailure` when the disk refuses; then it was not recorded. After a failure in the background
        nothing is taken before what waits could be written, and where earlier records of this thread are in doubt it
        says that, once. `Conflict` when somebody may have been given the tick.
        """
        self._require_own_process()
        if self._trouble is not None or self._doubts:
            self._require_written()
        always = self._durability is StreamDurability.ALWAYS
        with self._lock:
            if tick is not None:
                self._aim(session, tick)
            ticks = self._ticks.get(session)
            if ticks is not None and ticks.next < ticks.end and not self._closed:
                self._ticks.move_to_end(session)
                tick = ticks.next
                ticks.next += 1
            else:
                tick = self._take(session, 1)[0]
            batch = self._batch
            if fields.at is None:
                batch.steps.append((session, tick, to_micros(self._clock.now()), *fields[1:]))
            else:
                batch.steps.append((session, tick, *fields))  # type: ignore[arg-type]  # its time is there
            batch.chars += len(fields.content)
            batch.threads.add(get_ident())
            waiting = len(batch.steps)
        if always:
            self._write(batch)
            if batch.error is not None:
                raise batch.error
        else:
            if waiting == 1 or not self._loop.running:
                self._begin()
            if waiting >= GROUP_RECORDS or batch.chars >= GROUP_CHARS:
                self._write(batch)
        return tick

    def add_batch(self, session: int, batch: Batch) -> Sequence[int]:
        """Record a batch for a session; return the ticks, increasing. It is acknowledged, whatever the policy.

        Raises `StorageFailure` when the disk refuses; then none of it was recorded, as after a failure in the
        background, until what waits could be written.
        """
        self._require_own_process()
        self._require_written()
        with self._writing:  # while it is held nobody can close the log
            with self._lock:
                ticks = self._take(session, len(batch))
                now = to_micros(self._clock.now())
            self._append(lambda writer: writer.append_batch(batch, session=session, ticks=ticks, now=now))
        return ticks

    def _take(self, session: int, count: int) -> Sequence[int]:
        """Return ticks that nobody else is given; the lock is held."""
        if self._closed:
            raise InvalidInput("The store is closed; open it again.")
        ticks = self._ticks.get(session)
        if ticks is None or ticks.end - ticks.next < count:
            return self._reserve(session, count)
        self._ticks.move_to_end(session)
        ticks.next += count
        return range(ticks.next - count, ticks.next)

    def _begin(self) -> None:
        """Have what waits written soon; the thread is started for the first time, or after something ended it."""
        self._loop.wake()
        if not self._registered:
            self._registered = True
            register(ExitPhase.RECORDS, self, self._finish)

    def _require_own_process(self) -> None:
        # A forked child has the parent's log open, and a copy of what waits: it would write over its records.
        if os.getpid() != self._pid:
            raise InvalidInput(
                "The store was opened before a fork and cannot record in the child; open it again."
            )

    def _ticks_of(self, session: int) -> _Ticks:
        """Return the block of a session, as used last; the lock is held."""
        ticks = self._ticks.get(session)
        if ticks is None:
            if len(self._ticks) >= SESSIONS_MOST:
                self._drop_unused()
            ticks = self._ticks[session] = _Ticks()
        self._ticks.move_to_end(session)
        return ticks

    def _drop_unused(self) -> None:
        """Let go of the eighth of the blocks that was used longest ago, together: each time is a transaction."""
        departed = [self._ticks.popitem(last=False) for _ in range(max(1, SESSIONS_MOST // 8))]
        # What cannot be given back is a gap, as after a kill.
        with contextlib.suppress(StorageFailure, StoreLocked):
            self._sessions.give_back(_unused(departed))

    def _reserve(self, session: int, count: int) -> list[int]:
        ticks = self._ticks_of(session)
        # Blocks grow with use: a short session leaves no large gap behind when its process is killed.
        ticks.size = min(ticks.size * 2, _LARGEST_BLOCK)
        have = list(range(ticks.next, ticks.end))
        missing = count - len(have)
        size = max(ticks.size, missing)
        first = self._sessions.reserve(session, size)
        ticks.next, ticks.end = first + missing, first + size
        return [*have, *range(first, first + missing)]

    def _aim(self, session: int, tick: int) -> None:
        """Let the next tick be this one; the lock is held. Those before it that were not used are a gap."""
        ticks = self._ticks_of(session)
        if not ticks.next <= tick < ticks.end:
            ticks.size = min(ticks.size * 2, _LARGEST_BLOCK)
            self._sessions.claim(session, tick, ticks.size)
            ticks.end = tick + ticks.size
        ticks.next = tick

    def resume(self, session: int, highest: int) -> None:
        """Go on after the session's highest tick: what is left of a block goes when others have ticks above it."""
        with self._lock:
            ticks = self._ticks.get(session)
            if ticks is not None and ticks.end <= highest:
                self._ticks[session] = _Ticks()

    def skip(self, session: int, through: int) -> None:
        """Give out no tick up to this one any more: what it is for has left the context window."""
        with self._lock:
            ticks = self._ticks.get(session)
            if ticks is not None and ticks.next <= through:
                ticks.next = min(through + 1, ticks.end)

    @property
    def log_path(self) -> Path | None:
        """The log that this process writes to now."""
        current = self._log
        return None if current is None else current.path

    def last_tick(self, session: int) -> int | None:
        """Return the last tick that this process gave out in the session, None before the first."""
        with self._lock:
            ticks = self._ticks.get(session)
            return None if ticks is None or not ticks.next else ticks.next - 1

    def _require_written(self) -> None:
        """Write what could not be written before, and tell this thread of its records that are in doubt."""
        if self._trouble is not None:
            self.flush()
        if self._doubts:
            doubt = self._doubts.pop(get_ident(), None)
            if doubt is not None:
                raise RowsInDoubt(str(doubt)) from doubt

    def acknowledge(self) -> None:
        """Wait until everything recorded so far is acknowledged: on the disk, or under `os` with the system.

        Raises `StorageFailure` when that cannot be. What was refused is kept, and written by a later flush, unless it
        is `RowsInDoubt`. Of doubts whoever asks first is told, and besides each thread whose records it is about.
        """
        self.flush()
        general, self._doubt = self._doubt, None
        doubt = self._doubts.pop(get_ident(), None) or general
        if doubt is not None:
            raise RowsInDoubt(str(doubt)) from doubt

    def flush(self) -> None:
        """Do what `acknowledge` does for somebody who only reads what was recorded: doubts are left to tell."""
        self._require_own_process()
        with self._lock:
            batch = self._batch
        if batch.steps:
            self._write(batch)
        else:
            # The thread may be writing what was recorded before: it takes the batch first and writes it then.
            with self._writing:
                pass
        trouble, self._trouble = self._trouble, None
        if trouble is not None:
            with self._lock:
                if self._batch.steps:
                    self._trouble = trouble
            raise trouble

    def _write(self, batch: _Waiting) -> None:
        """Write what was collected, up to and with `batch`; whoever comes second finds it done."""
        with self._writing:
            if batch.written:
                return
            with self._lock:
                assert batch is self._batch
                self._batch = _Waiting()
            batch.written = True
            try:
                self._append(lambda writer: writer.append(batch.steps))
                self._trouble = None
            except StorageFailure as error:
                self._note_refusal(batch, error)
            except BaseException:
                # Ctrl-C, for example: others wait for records of the same batch, or have their ids already.
                self._note_refusal(batch, StorageFailure("Writing the stream was interrupted."))
                raise

    def _append(self, write: Callable[[LogWriter], None]) -> None:
        if self._doubtful is not None:
            self._doubtful.settle()
            self._doubtful = None
        if self._log is None:
            self._log = LogWriter(
                self._directory,
                begun_at=to_micros(self._clock.now()),
                sync=self._durability is not StreamDurability.OS,
                cipher=self._cipher,
            )
        try:
            write(self._log)
        except BaseException:
            if self._log.is_cut_in_doubt:
                self._doubtful = self._log
            self._log = None
            raise
        if self._log.full:
            self._log.close()
            self._log = None
            self._full()

    def _note_refusal(self, batch: _Waiting, error: StorageFailure) -> None:
        if self._durability is StreamDurability.ALWAYS:
            batch.error = error
        elif isinstance(error, RowsInDoubt):
            # Told apart from other trouble: what is written later, or asked for by somebody else, settles no doubt.
            log.warning("the stream could not be written: %s", error)
            self._doubt = error
            self._doubts.update(dict.fromkeys(batch.threads, error))
        else:
            self._trouble = error
            # They have ids that callers know: kept until the disk takes them. Nothing is added meanwhile.
            with self._lock:
                self._batch.steps[:0] = batch.steps
                self._batch.threads |= batch.threads

    def _pause_after_step(self) -> float:
        """Write what has waited for 20 ms; what could not be written waits still, whatever ends the thread."""
        with self._lock:
            batch = self._batch
        if batch.steps and not self._closed:
            self._write(batch)
            if self._trouble is not None:
                log.warning("the stream could not be written: %s", self._trouble)
        return math.inf

    def _finish(self) -> None:
        """Write what waits when the program ends without closing the store."""
        if os.getpid() == self._pid:
            self.flush()

    def rotate(self) -> None:
        """Write what waits and give this process's log away for sealing; the next record begins a new one."""
        self.flush()
        with self._writing:
            ended, self._log = self._log, None
            if ended is not None:
                is_durable = self._is_durable(ended)
                ended.close()
        if ended is not None and ended.rows and is_durable:
            # Only a help to whoever misses it; without it the log is as good.
            with contextlib.suppress(StorageFailure, StoreLocked):
                self._note(ended.path.name, ended.size)

    def _is_durable(self, ended: LogWriter) -> bool:
        if self._durability is StreamDurability.OS:
            try:
                ended.sync()
            except StorageFailure:
                return False
        return True

    @property
    def unsealed(self) -> tuple[int, int]:
        """How many records this process's log holds, and when it was begun, in microseconds."""
        current = self._log
        return (0, 0) if current is None else (current.rows, current.begun_at)

    def close(self) -> None:
        """Write what waits, give back unused ticks, and leave the log to whoever seals next. Idempotent."""
        if self._closed or os.getpid() != self._pid:
            return
        with self._lock:
            # First of all: what another thread records from here on is refused, what it recorded before is written.
            self._closed = True
            unused = _unused(self._ticks.items())
        try:
            self.rotate()
        finally:
            self._loop.stop()
            forget(ExitPhase.RECORDS, self)
            if self._doubtful is not None:
                self._doubtful.close(clean=False)
            if unused:
                self._sessions.give_back(unused)
        if self._doubt is not None:
            raise RowsInDoubt(str(self._doubt)) from self._doubt


def _unused(blocks: Iterable[tuple[int, _Ticks]]) -> list[tuple[int, int, int]]:
    """Return what is left of blocks, as `Sessions.give_back` takes it."""
    return [(session, ticks.next, ticks.end) for session, ticks in blocks if ticks.next < ticks.end]
