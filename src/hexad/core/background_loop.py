"""Threads of our own: one that works when it is woken, and those for calls that cannot be stopped."""

from __future__ import annotations

from collections.abc import Callable
from threading import TIMEOUT_MAX, BoundedSemaphore, Event, Lock, Thread, current_thread
from typing import TypeVar

from hexad.core.clock import SystemClock
from hexad.core.tracing import carried

T = TypeVar("T")


class BackgroundLoop:
    """Calls `step` in a daemon thread: when it is woken, and again after the seconds that `step` returns.

    0 is at once, since there is more to do; infinity when it is woken. After None the thread ends, and the next `wake`
    starts another, as it does where something that `step` raised ended one. What may be retried `step` catches itself.
    A forked child has no thread: who may be used in one looks at the process before.
    """

    def __init__(self, name: str, step: Callable[[], float | None], *, delay_s: float = 0.0) -> None:
        """`delay_s` after it was woken `step` is called, so that more comes together."""
        self._name, self._step, self._delay_s = name, step, delay_s
        self._wake, self._hurry, self._idle = Event(), Event(), Event()
        self._stopping = False
        self._thread: Thread | None = None
        self._lock = Lock()

    @property
    def running(self) -> bool:
        """Whether there is a thread."""
        return self._thread is not None

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called; a long step looks at it."""
        return self._stopping

    def wake(self) -> None:
        """Have `step` called; after `stop` it is not."""
        with self._lock:  # two threads that wake it at once must not start two
            if self._stopping:
                return
            self._idle.clear()
            self._wake.set()
            if self._thread is None:
                self._thread = Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def hurry(self) -> None:
        """Have `step` called without a delay."""
        self._hurry.set()
        self.wake()

    def stop(self, wait_s: float | None = None) -> None:
        """Let the step in hand end, and the thread; it is waited for as long as that takes, or `wait_s`. Idempotent."""
        with self._lock:
            self._stopping = True
            self._hurry.set()
            self._wake.set()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(wait_s)

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until there was nothing left to do; False when that took longer than `timeout_s`."""
        return self._thread is None or self._idle.wait(timeout_s)

    def _run(self) -> None:
        try:
            self._work()
        finally:
            with self._lock:
                if (
                    self._thread is current_thread()
                ):  # not by `stop`: out of memory, or what `step` calls ended it
                    self._thread = None
                    self._idle.set()

    def _work(self) -> None:
        pause_s: float = TIMEOUT_MAX
        while True:
            if self._wake.wait(pause_s) and self._delay_s:
                self._hurry.wait(self._delay_s)
            if self._stopping:
                return
            self._wake.clear()
            self._hurry.clear()
            pause = self._step()
            with self._lock:
                if pause != 0 and not self._wake.is_set():
                    self._idle.set()
                    if pause is None:
                        self._thread = None
                        return
            pause_s = min(pause or 0.0, TIMEOUT_MAX)


class TooManyCalls(TimeoutError):
    """There was no thread to be had in time: others of the calls have not ended."""


class SideCalls:
    """Calls of foreign code, each in a thread of its own, at most `most` at once: who asks waits only for a time.

    What is late goes on, and is one of them until it ends; what it gives is thrown away.
    """

    def __init__(self, name: str, *, most: int) -> None:
        self._name, self.most = name, most
        self._free = BoundedSemaphore(most)

    def call(self, work: Callable[[], T], *, within_s: float) -> T:
        """Return what `work` gives, or raise what it raises.

        Raises `TimeoutError` where that takes longer, `TooManyCalls` where it was not begun.
        """
        clock = SystemClock()  # foreign code takes real time, whatever time a store has
        ends_at = clock.monotonic() + within_s
        if not self._free.acquire(timeout=within_s):
            raise TooManyCalls
        answers: list[T] = []
        errors: list[BaseException] = []
        done = Event()
        work_here = carried(work)

        def run() -> None:
            try:
                answers.append(work_here())
            except BaseException as error:  # noqa: BLE001 - raised again where it was asked for
                errors.append(error)
            finally:
                self._free.release()
                done.set()

        Thread(target=run, name=self._name, daemon=True).start()
        if not done.wait(max(ends_at - clock.monotonic(), 0.0)):
            raise TimeoutError
        if errors:
            raise errors[0]
        return answers[0]

    def wait(self) -> None:
        """Wait until every call has ended."""
        for _ in range(self.most):
            self._free.acquire()
        for _ in range(self.most):
            self._free.release()
