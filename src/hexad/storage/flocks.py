"""`flock` with a time-out: fast while free, in line while contended, bounded when the holder is stopped."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from pathlib import Path

from hexad.clock import Clock
from hexad.storage import files


class TimedFlock:
    """An exclusive lock on a file between processes and between threads.

    `flock` cannot time out, and a blocked call cannot be called off without signals, which are not a
    library's to use. So a free lock is taken without blocking, in the caller's thread; otherwise a helper
    thread blocks in the kernel's line and hands the lock over. When the caller gives up, the helper keeps the
    place: the next caller takes it over, or the helper gives the lock back as soon as it gets it.
    """

    def __init__(self, path: Path, *, clock: Clock) -> None:
        self.path = path
        self.fd = files.open_for_locks(path)
        self._clock = clock
        self._turn = threading.Lock()  # held by the thread that holds, or waits for, the file's lock
        self._guard = threading.Lock()  # protects the flags below
        self._pending = False
        self._unwanted = False
        self._closing = False
        self._request = threading.Semaphore(0)
        self._granted = threading.Lock()
        self._granted.acquire()
        self._helper: threading.Thread | None = None

    def acquire(self, timeout_s: float) -> bool:
        """Return True when the lock is held, False when `timeout_s` seconds went by first."""
        deadline = self._clock.monotonic() + timeout_s
        if not self._turn.acquire(timeout=timeout_s):
            return False
        try:
            held = self._acquire_in_turn(deadline)
        except BaseException:
            if not self._give_up():
                fcntl.flock(self.fd, fcntl.LOCK_UN)
            self._turn.release()
            raise
        if not held:
            self._turn.release()
        return held

    def try_acquire(self) -> bool:
        """Return whether the lock could be taken at once."""
        if not self._turn.acquire(blocking=False):
            return False
        if self._pending or not self._take_if_free():
            self._turn.release()
            return False
        return True

    def release(self) -> None:
        """Give the lock back."""
        fcntl.flock(self.fd, fcntl.LOCK_UN)
        self._turn.release()

    def _acquire_in_turn(self, deadline: float) -> bool:
        with self._guard:
            in_line = self._pending  # the helper still waits for an earlier caller: take over its place
            if in_line:
                self._unwanted = False
        if not in_line:
            if self._take_if_free():
                return True
            with self._guard:
                self._pending, self._unwanted = True, False
            self._ask_helper()
        remaining_s = max(0.0, deadline - self._clock.monotonic())
        return self._granted.acquire(timeout=remaining_s) or not self._give_up()

    def _take_if_free(self) -> bool:
        with files.operation("lock", self.path, "lock"):
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def _give_up(self) -> bool:
        """Mark the helper's place as unwanted; False when it was granted in the meantime."""
        with self._guard:
            if self._pending:
                self._unwanted = True
                return True
        return not self._granted.acquire(blocking=False)

    def _ask_helper(self) -> None:
        if self._helper is None:
            self._helper = threading.Thread(target=self._stand_in_line, name="hexad-flock", daemon=True)
            self._helper.start()
        self._request.release()

    def _stand_in_line(self) -> None:
        self._request.acquire()
        while not self._closing:
            fcntl.flock(self.fd, fcntl.LOCK_EX)
            with self._guard:
                self._pending = False
                if self._unwanted:
                    fcntl.flock(self.fd, fcntl.LOCK_UN)
                else:
                    self._granted.release()
            self._request.acquire()
        os.close(self.fd)

    def abandon(self) -> None:
        """In a forked child: close the inherited descriptor without touching the parent's lock."""
        with contextlib.suppress(OSError):
            os.close(self.fd)

    def close(self) -> None:
        """Close the descriptor, or leave that to the helper while it stands in line."""
        with self._guard:
            self._closing = self._unwanted = True
            if self._helper is None:
                os.close(self.fd)
        self._request.release()
