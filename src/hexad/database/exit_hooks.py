"""What a program that ends without closing its stores still has to do, in the order in which it must happen.

The thread in the background goes first: it may be in the middle of a question to DuckDB, and one that is still there
when the interpreter ends, or whose connection is closed under it, ends the process with a crash.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from enum import IntEnum
from threading import Event, Lock
from typing import Final

ENDING_S: Final = 10.0
"""So long the end of a program waits for a thread to finish what it has in hand."""


class ExitPhase(IntEnum):
    """When something is done, the lowest first."""

    BACKGROUND = 0
    RECORDS = 1
    ENGINE = 2


_lock = Lock()
_left: dict[tuple[ExitPhase, int], tuple[int, Callable[[], None]]] = {}
_ending = Event()


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


def _end() -> None:
    _ending.set()
    while True:
        with _lock:  # one by one: the thread in the background may open DuckDB while it is waited for
            if not _left:
                return
            pid, action = _left.pop(min(_left))
        if pid == os.getpid():  # a forked child has its parent's list and none of its threads
            action()
