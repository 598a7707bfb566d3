"""`flock` with a time-out: fast while free, woken while contended, bounded when the holder is stopped."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import threading
from pathlib import Path
from typing import Final

from hexad.core.clock import Clock
from hexad.database import files
from hexad.database.wakeup import ProcessWakeup
from hexad.errors import failure

_RECHECK_S = 0.02
_WAIT_US, _ASKED_US, _SEEN_US, _FIELDS = range(4)
_BELL_OFFSET: Final = 8 * _FIELDS
AGING_BYTES: Final = _BELL_OFFSET + 8
OVERDUE_S: Final = 0.1
"""Nobody is overdue before so long."""
OVERDUE_FACTOR: Final = 3
"""Nor before so many times as long as others waited lately."""
FRESH_S: Final = 0.008
"""For how long the lock is left to who is overdue and does not come: it is stopped, killed, or has no processor."""
_OVERDUE_RECHECK_S: Final = FRESH_S / 2
"""How often who is overdue looks, and so shows that it is there."""


class LockAging:
    """Knows how long processes wait for a lock, and which of them is overdue; times are seconds of one clock for all.

    Whoever comes first takes a free lock, which keeps it in use: nobody waits for a process that is still to be woken.
    That alone lets some wait for long where many ask: on a time-out a waiter goes to the end of the kernel's queue,
    and with 32 processes a few were overtaken by 350 others. So one of them at a time, the oldest of those who are
    overdue, says so in memory that all processes map; others leave the lock to it, and a release wakes it alone.
    Nothing depends on what that memory holds: at worst the lock is left alone for `FRESH_S`, or the order is one of
    chance.

    Others were tried. A line with a ticket for each, strictly first come, first served: 32 processes that remember came
    to 0.58 to 0.72 of the rate, because each then waits for one more process to be scheduled, the convoy that was to be
    avoided. The same with a count or a time for which the first can be overtaken: 0.2 to 0.9 of the rate of small
    commits, and no clearly shorter waits.
    """

    def __init__(self, shared: mmap.mmap, offset: int) -> None:
        """Use the `AGING_BYTES` at `offset` of memory that every process maps from the same file."""
        self._items = memoryview(shared)[offset : offset + _BELL_OFFSET].cast("Q")
        self.bell = ProcessWakeup(shared, offset + _BELL_OFFSET)

    @property
    def overdue_s(self) -> float:
        """How long a wait is by which a process is overdue."""
        return max(OVERDUE_S, OVERDUE_FACTOR * self._items[_WAIT_US] / 1e6)

    def _is_waited_for(self, at_us: int) -> bool:
        """Whether somebody is overdue, and was there a moment ago."""
        return bool(self._items[_ASKED_US]) and 0 <= at_us - self._items[_SEEN_US] < FRESH_S * 1e6

    def may_take(self, asked_s: float, *, at_s: float) -> bool:
        """Whether who has waited since `asked_s` may take the lock: nobody who asked earlier is overdue."""
        return not self._is_waited_for(_micros(at_s)) or _micros(asked_s) <= self._items[_ASKED_US]

    def claim(self, asked_s: float, *, at_s: float) -> bool:
        """Return whether who has waited since `asked_s` is to be next: it is overdue, and nobody is for longer."""
        if at_s - asked_s < self.overdue_s or not self.may_take(asked_s, at_s=at_s):
            return False
        self._items[_ASKED_US], self._items[_SEEN_US] = _micros(asked_s), _micros(at_s)
        return True

    def note_taken(self, asked_s: float, *, at_s: float) -> None:
        """Say that who waited since `asked_s` has the lock."""
        if self._items[_ASKED_US] == _micros(asked_s):
            self._items[_ASKED_US] = 0
        waited_us = max(0, _micros(at_s) - _micros(asked_s))
        self._items[_WAIT_US] = (7 * min(self._items[_WAIT_US], 10**9) + min(waited_us, 10**9)) // 8

    def withdraw(self, asked_s: float) -> None:
        """Say that who waited since `asked_s` waits no more."""
        if self._items[_ASKED_US] == _micros(asked_s):
            self._items[_ASKED_US] = 0

    def wake(self, *, at_s: float) -> bool:
        """Wake who is overdue; return whether there is somebody. Called after the lock was given back."""
        if not self._is_waited_for(_micros(at_s)):
            return False
        self.bell.count()
        self.bell.wake(everyone=False)
        return True

    def close(self) -> None:
        """Let go of the shared memory."""
        self.bell.close()
        self._items.release()


def _micros(seconds: float) -> int:
    return max(1, int(seconds * 1e6))


class TimedFlock:
    """An exclusive lock on a file between processes and between threads; freed by the kernel with its
    process.

    `flock` cannot time out, and a blocked call cannot be called off without signals, which are not a
    library's to use. So the lock is only ever asked for without blocking, and whoever does not get it waits
    for the bell that the holder rings on release. A helper thread that blocks in the kernel's line was tried
    instead: 15 context switches a commit where this takes 2, and half the rate with 32 processes.
    """

    def __init__(self, path: Path, *, clock: Clock) -> None:
        self.path = path
        self.fd = files.open_for_locks(path)
        self._clock = clock
        self._bell: ProcessWakeup | None = None
        self._aging: LockAging | None = None
        self._turn = threading.Lock()  # between threads of this process, which share the descriptor
        self._pause = threading.Event()

    def hang(self, bell: ProcessWakeup) -> None:
        """Ring `bell` on release and wait for it; without one, waiting is polling."""
        self._bell = bell

    def let_age(self, aging: LockAging) -> None:
        """Let who waits for much longer than others have the lock next; it needs a bell."""
        self._aging = aging

    def acquire(self, timeout_s: float) -> bool:
        """Return True when the lock is held, False when `timeout_s` seconds went by first."""
        deadline = self._clock.monotonic() + timeout_s
        if not self._turn.acquire(timeout=timeout_s):
            return False
        is_held = False
        try:
            is_held = self._acquire_in_turn(deadline, timeout_s)
        finally:
            if not is_held:
                self._turn.release()
        return is_held

    def _acquire_in_turn(self, deadline: float, timeout_s: float) -> bool:
        aging, asked = self._aging, self._clock.monotonic()
        silent_s = 0.0
        try:
            while True:
                now = self._clock.monotonic()
                is_next = aging is not None and aging.claim(asked, at_s=now)
                bell = aging.bell if aging and is_next else self._bell
                pause_s = _OVERDUE_RECHECK_S if is_next else _RECHECK_S
                rung = bell.rung if bell else 0
                # Who comes at once and waits for nothing hears of no one either.
                if (not aging or timeout_s <= 0 or aging.may_take(asked, at_s=now)) and self._take_if_free():
                    if aging:
                        aging.note_taken(asked, at_s=now)
                    return True
                # Silence is counted beside the clock, so that a clock that stands still does not make this
                # endless.
                if now >= deadline or silent_s >= timeout_s:
                    break
                if not self._wait(bell, rung, pause_s):
                    silent_s += pause_s
        except BaseException:
            self._withdraw(asked)
            raise
        self._withdraw(asked)
        return False

    def _withdraw(self, asked: float) -> None:
        if self._aging:
            self._aging.withdraw(asked)

    def _wait(self, bell: ProcessWakeup | None, rung: int, pause_s: float) -> bool:
        if bell:
            return bell.wait(rung, pause_s)
        self._pause.wait(pause_s)
        return False

    def _take_if_free(self) -> bool:
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise failure("lock", self.path, error) from error
        return True

    def try_acquire(self) -> bool:
        """Return whether the lock could be taken at once."""
        if not self._turn.acquire(blocking=False):
            return False
        is_held = False
        try:
            is_held = self._take_if_free()
        finally:
            if not is_held:
                self._turn.release()
        return is_held

    def release(self, *, wake_everyone: bool = False) -> None:
        """Give the lock back and wake who is overdue, else one who waits; or all who wait for what was done."""
        if self._bell:
            self._bell.count()
        fcntl.flock(self.fd, fcntl.LOCK_UN)
        self._turn.release()
        if self._aging and self._aging.wake(at_s=self._clock.monotonic()):
            return
        if self._bell:
            self._bell.wake(everyone=wake_everyone)

    def abandon(self) -> None:
        """In a forked child: close the inherited descriptor without touching the parent's lock."""
        with contextlib.suppress(OSError):
            os.close(self.fd)

    def close(self) -> None:
        """Close the descriptor, and with it give the lock back."""
        os.close(self.fd)
