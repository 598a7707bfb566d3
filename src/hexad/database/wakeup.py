"""A bell that processes can wait for: a word in shared memory, and the kernel's futex where there is one."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import threading

# The number of the system call `futex`, from Linux's syscall tables.
_FUTEX_NUMBERS = {"x86_64": 202, "aarch64": 98, "riscv64": 98}
_WAIT, _WAKE = 0, 1
_ALL = 2**31 - 1
_WORD_BYTES = 4
_POLL_S = 0.001


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def _futex_number() -> int | None:
    # 64-bit only: the 32-bit call of the same name takes another time structure.
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return None
    return _FUTEX_NUMBERS.get(os.uname().machine)


class ProcessWakeup:
    """Wakes processes that wait for something to change, without their polling for it.

    A hint, never a promise: whoever waits passes a time-out and looks again, because a process can be killed
    before it rings. Usage: read `rung`, look whether the thing has changed, and only then `wait`.
    """

    def __init__(self, shared: mmap.mmap, offset: int) -> None:
        """Use the four bytes at `offset` of memory that every process maps from the same file."""
        self._word = memoryview(shared)[offset : offset + _WORD_BYTES].cast("I")
        self._number = _futex_number()
        self._address = ctypes.c_void_p(ctypes.addressof(ctypes.c_uint32.from_buffer(shared, offset)))
        self._system_call = ctypes.CDLL(None).syscall
        self._pause = threading.Event()

    @property
    def rung(self) -> int:
        """How often the bell was rung, modulo 2³²."""
        return self._word[0]

    def count(self) -> None:
        """Count a ring; called by whoever still holds the lock that is waited for, so that none is lost."""
        self._word[0] = (self._word[0] + 1) & 0xFFFF_FFFF

    def wake(self, *, everyone: bool) -> None:
        """Wake one waiter, who waited longest, or everyone."""
        if self._number is not None:
            # No private flag: the waiters are other processes.
            self._system_call(self._number, self._address, _WAKE, _ALL if everyone else 1, None, None, 0)

    def wait(self, rung: int, timeout_s: float) -> bool:
        """Wait until the bell was rung since `rung` was read; return False when the time went by first."""
        if self._number is None:
            # Without a futex: look again soon. Slower and less fair, and still correct.
            self._pause.wait(min(_POLL_S, timeout_s))
            return self._word[0] != rung
        limit = _Timespec(int(timeout_s), int(timeout_s % 1 * 1_000_000_000))
        self._system_call(
            self._number, self._address, _WAIT, ctypes.c_uint32(rung), ctypes.byref(limit), None, 0
        )
        return self._word[0] != rung

    def close(self) -> None:
        """Let go of the shared memory."""
        self._word.release()
