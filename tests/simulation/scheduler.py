"""Threads that run one at a time, in an order that a seed decides, on a clock that moves only with them.

A task is a thread. Exactly one runs; it hands over where it calls `pause`, which every call to the simulated disk
does, and where it waits: for a lock, an event, a bell, the end of a thread, or time. `install` puts locks and threads of
this kind under everything that is imported afterwards; while no scheduler runs they are ordinary ones.
"""

from __future__ import annotations

import _thread
import faulthandler
import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
DEADLOCK, ENDLESS = 70, 71
"""What the process ends with where no task can go on, and where one goes on for ever."""
_MOST_STEPS = 2_000_000
_STEP_S = 0.000_02


@dataclass(eq=False)
class Task:
    """A thread that takes part."""

    name: str
    turn: _thread.LockType = field(default_factory=_thread.allocate_lock)
    is_done: bool = False
    is_ready: Callable[[], bool] | None = None
    deadline_s: float = float("inf")

    def __post_init__(self) -> None:
        self.turn.acquire()


class Scheduler:
    """Who runs, and what time it is; a clock as `hexad.open` takes one."""

    current: Scheduler | None = None

    def __init__(self, chance: Random, *, begun_s: float = 0.0) -> None:
        self.chance = chance
        self.time_s = begun_s
        self.steps = 0
        self._switching = chance.choice((0.0, 0.02, 0.1, 0.3, 0.7))
        self._tasks: list[Task] = []
        self._by_thread: dict[int, Task] = {}
        self._running: Task | None = None
        self._all_done = _thread.allocate_lock()
        self._trace = hashlib.blake2b(digest_size=8)

    # The clock ------------------------------------------------------------------------------------------------------

    def now(self) -> datetime:
        return BEGINNING + timedelta(seconds=self.time_s)

    def monotonic(self) -> float:
        return self.time_s

    # Running --------------------------------------------------------------------------------------------------------

    def run(self, *works: tuple[str, Callable[[], None]]) -> None:
        """Run all of them, and every thread that they start, to the end; raises what the first of them raised."""
        errors: list[BaseException] = []

        def guarded(work: Callable[[], None]) -> Callable[[], None]:
            def call() -> None:
                try:
                    work()
                except BaseException as error:
                    errors.append(error)

            return call

        Scheduler.current = self
        self._all_done.acquire()
        try:
            for name, work in works:
                threading.Thread(target=guarded(work), name=name, daemon=True).start()
            self._hand_over()
            self._all_done.acquire()
        finally:
            Scheduler.current = None
        if errors:
            raise errors[0]

    @property
    def digest(self) -> str:
        """What happened, in a word: the same seed gives the same."""
        return self._trace.hexdigest()

    def note(self, what: str) -> None:
        """Let `what` count for `digest`."""
        self._trace.update(what.encode())

    def adopt(self, name: str) -> Task:
        """Return a task for a thread that is about to start."""
        task = Task(name)
        self._tasks.append(task)
        return task

    def begin(self, task: Task) -> None:
        """Wait for the first turn; called by the task's own thread."""
        self._by_thread[_thread.get_ident()] = task
        task.turn.acquire()

    def end(self, task: Task) -> None:
        """Let the others go on for good."""
        del self._by_thread[_thread.get_ident()]
        task.is_done = True
        self._tasks.remove(task)
        if self._tasks:
            self._hand_over()
        else:
            self._all_done.release()

    @property
    def task(self) -> Task | None:
        """The task of the calling thread; None for a thread that takes no part."""
        return self._by_thread.get(_thread.get_ident())

    @contextmanager
    def aside(self):
        """Let the calling thread wait in earnest inside the block, for another thread that is only starting."""
        me = _thread.get_ident()
        task = self._by_thread.pop(me, None)
        try:
            yield
        finally:
            if task is not None:
                self._by_thread[me] = task

    # Handing over ---------------------------------------------------------------------------------------------------

    def pause(self, what: str) -> None:
        """A moment passes, in which another task may run."""
        me = self.task
        if me is None:
            return
        self.steps += 1
        if self.steps > _MOST_STEPS:
            self._give_up(ENDLESS, "it goes on for ever")
        self.time_s += _STEP_S
        self.note(f"{me.name}{what}")
        if len(self._tasks) > 1 and self.chance.random() < self._switching:
            self._switch(me)

    def wait(self, is_ready: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Let others run until it is ready, or the time has passed; returns whether it is ready."""
        me = self.task
        assert me is not None
        me.is_ready = is_ready
        me.deadline_s = float("inf") if timeout_s is None or timeout_s < 0 else self.time_s + timeout_s
        try:
            while not (ready := is_ready()) and self.time_s < me.deadline_s:
                self._switch(me)
            return ready
        finally:
            me.is_ready = None
            me.deadline_s = float("inf")

    def sleep(self, seconds: float) -> None:
        """Let others run for a while."""
        self.wait(lambda: False, seconds)

    def _switch(self, me: Task) -> None:
        chosen = self._chosen()
        if chosen is not me:
            self._running = chosen
            chosen.turn.release()
            me.turn.acquire()

    def _hand_over(self) -> None:
        self._running = self._chosen()
        self._running.turn.release()

    def _chosen(self) -> Task:
        while True:
            able = [
                task
                for task in self._tasks
                if task.is_ready is None or task.deadline_s <= self.time_s or task.is_ready()
            ]
            if able:
                return able[self.chance.randrange(len(able))] if len(able) > 1 else able[0]
            soonest = min(task.deadline_s for task in self._tasks)
            if soonest == float("inf"):
                self._give_up(DEADLOCK, f"nobody can go on of {[task.name for task in self._tasks]}")
            self.time_s = soonest

    def _give_up(self, code: int, words: str) -> None:
        print(f"{words}, at {self.time_s:.3f} s", file=sys.stderr)
        faulthandler.dump_traceback(all_threads=True)
        sys.stderr.flush()
        os._exit(code)


class Lock:
    """A lock that a task waits for by letting others run."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if self._lock.acquire(False):
            return True
        if not blocking:
            return False
        scheduler = Scheduler.current
        if scheduler is None or scheduler.task is None:
            return self._lock.acquire(True, timeout)
        # Who is woken runs at once: nobody can take it in between.
        scheduler.wait(lambda: not self._lock.locked(), None if timeout < 0 else timeout)
        return self._lock.acquire(False)

    def release(self) -> None:
        self._lock.release()

    def locked(self) -> bool:
        return self._lock.locked()

    def _at_fork_reinit(self) -> None:
        self._lock = _thread.allocate_lock()

    __enter__ = acquire

    def __exit__(self, *_: object) -> None:
        self.release()


_start, _join, _is_alive = threading.Thread.start, threading.Thread.join, threading.Thread.is_alive


def _start_as_task(thread: threading.Thread) -> None:
    scheduler = Scheduler.current
    if scheduler is None:
        _start(thread)
        return
    task = thread.task = scheduler.adopt(thread.name)  # type: ignore[attr-defined]
    work = thread.run

    def run() -> None:
        scheduler.begin(task)
        try:
            work()
        finally:
            scheduler.end(task)

    thread.run = run  # type: ignore[method-assign]
    with scheduler.aside():
        _start(thread)


def _join_task(thread: threading.Thread, timeout: float | None = None) -> None:
    task, scheduler = getattr(thread, "task", None), Scheduler.current
    if task is None or scheduler is None or scheduler.task is None:
        _join(thread, timeout)
        return
    scheduler.wait(lambda: task.is_done, timeout)


def _is_task_alive(thread: threading.Thread) -> bool:
    task = getattr(thread, "task", None)
    return _is_alive(thread) if task is None else not task.is_done


def install() -> None:
    """Put locks and threads that take part under everything that is imported from now on."""
    threading._allocate_lock = threading.Lock = Lock  # type: ignore[attr-defined, misc, assignment]
    # `functools` has its own for cached properties: one for all objects of a class.
    threading.RLock = functools.RLock = threading._PyRLock  # type: ignore[attr-defined, misc, assignment]
    threading.Thread.start = _start_as_task  # type: ignore[method-assign]
    threading.Thread.join = _join_task  # type: ignore[method-assign]
    threading.Thread.is_alive = _is_task_alive  # type: ignore[method-assign]
