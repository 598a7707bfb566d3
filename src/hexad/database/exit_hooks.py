"""What a program that ends without closing its stores still has to do, in the order in which it must happen.

The thread in the background goes first: it may be in the middle of a question to DuckDB, and one that is still there
when the interpreter ends, or whose connection is closed under it, ends the process with a crash.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from threading import Condition, Event, Lock
from typing import Final

from hexad.errors import ProviderError

ENDING_S: Final = 10.0
"""So long the end of a program waits for a thread to finish what it has in hand."""


class ExitPhase(IntEnum):
    """When something is done, the lowest first."""

    BACKGROUND = 0
    RECORDS = 1
    ENGINE = 2


_lock = Lock()
_left: dict[tuple[ExitPhase, int], tuple[int, Callable[[], None]]] = {}
_ending, _ended = Event(), Event()


def register(turn: ExitPhase, owner: object, action: Callable[[], None]) -> None:
    """Have `action` called when this process ends, unless `forget` is called before.

    It is called before what packages imported until now have registered with `atexit`: DuckDB takes its connections
    from whoever is in the middle of a question there.
    """
    with _lock:
        _left[turn, id(owner)] = os.getpid(), action
        if not _ending.is_set():
            atexit.unregister(_end)
            atexit.register(_end)


def forget(turn: ExitPhase, owner: object) -> None:
    """Call nothing for this owner."""
    with _lock:
        _left.pop((turn, id(owner)), None)


class ProgramEnding(ProviderError):
    """The program is ending, and a call is not begun: no failure to whoever works in the background, but its end."""


def _end() -> None:
    _ending.set()
    while True:
        with _lock:  # one by one: the thread in the background may open DuckDB while it is waited for
            if not _left:
                _ended.set()
                return
            pid, action = _left.pop(min(_left))
        if pid == os.getpid():  # a forked child has its parent's list and none of its threads
            action()


class NativeCalls:
    """Calls of a library in C++ from threads that nobody waits for when the program ends.

    Such a thread that comes back from one when the interpreter has ended takes the process down with an abort. Those in
    hand are therefore waited for, at most `ENDING_S`, after everything else that the end of a program does.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self._waited = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Have the call inside waited for. Raises `ProgramEnding` once the program has waited: it is not begun."""
        with self._changed:
            if self._waited or _ended.is_set():
                raise ProgramEnding("The program is ending.")
            if not self._running:
                register(ExitPhase.ENGINE, self, self._end)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self._waited = True
            self._changed.wait_for(lambda: not self._running, ENDING_S)
