"""The background thread of a long-lived process: vectors, and what recalls handed out."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Final

from hexad.core.tracing import log
from hexad.database.exit_hooks import ENDING_S, ExitPhase, forget, register
from hexad.errors import HexadError

IDLE_S: Final = 2.0
"""How long the worker sleeps when nothing is to be done; another process's tasks wait no longer than this."""
RETRY_S: Final = 10.0


class Worker:
    """Runs `step` whenever it is woken, and every few seconds. `step` returns whether there may be more."""

    def __init__(self, step: Callable[[Callable[[], bool]], bool]) -> None:
        self._step = step
        self._wake = Event()
        self._stopping = Event()
        self._idle = Event()
        self._thread: Thread | None = None
        self._lock = Lock()

    def wake(self) -> None:
        """Start the thread if it does not run, and let it look for work now."""
        with self._lock:  # two threads that wake it at once must not start two
            if self._stopping.is_set():
                return
            self._idle.clear()
            self._wake.set()
            if self._thread is None:
                register(ExitPhase.BACKGROUND, self, self._end)
                self._thread = Thread(target=self._run, name="hexad-background", daemon=True)
                self._thread.start()

    def stop(self, wait_s: float | None = None) -> None:
        """Finish the batch in hand and end the thread; it is waited for as long as that takes, or `wait_s`."""
        with self._lock:
            self._stopping.set()
            self._wake.set()
            thread, self._thread = self._thread, None
        forget(ExitPhase.BACKGROUND, self)
        if thread is not None:
            thread.join(wait_s)

    def _end(self) -> None:
        """Stop when the program ends; a step that waits for a model for long is not waited for."""
        self.stop(ENDING_S)

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until there was nothing left to do; False when that took longer than `timeout_s`."""
        return self._thread is None or self._idle.wait(timeout_s)

    def _run(self) -> None:
        try:
            self._work()
        finally:
            # Not by `stop`: out of memory, or a caller's function ended the thread. The next wake starts another one.
            with self._lock:
                if not self._stopping.is_set():
                    self._thread = None
                    self._idle.set()

    def _work(self) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            self._wake.wait(pause)
            if self._stopping.is_set():
                return
            self._wake.clear()
            try:
                more = self._step(self._stopping.is_set)
                pause = 0.0 if more else IDLE_S
            except HexadError as error:
                # The tasks are still in the store; a failing embedder must not end the process that uses us.
                log.warning("Background work failed, trying again in %s s: %s", RETRY_S, error)
                pause, more = RETRY_S, False
            with self._lock:
                if not more and not self._wake.is_set():
                    self._idle.set()
