from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hexad.core.clock import FrozenClock, SystemClock
from hexad.database.connection import Database
from hexad.database.file_locks import AGING_BYTES, FRESH_S, OVERDUE_FACTOR, OVERDUE_S, LockAging, TimedFlock


@pytest.fixture
def shared() -> Iterator[mmap.mmap]:
    memory = mmap.mmap(-1, AGING_BYTES)
    yield memory
    memory.close()


@contextmanager
def processes(shared: mmap.mmap, count: int) -> Iterator[list[LockAging]]:
    """Give what so many processes have of one lock's memory."""
    many = [LockAging(shared, 0) for _ in range(count)]
    yield many
    for aging in many:
        aging.close()


def test_nobody_waits_for_others_while_nobody_is_overdue(shared: mmap.mmap) -> None:
    with processes(shared, 2) as (waiter, newcomer):
        soon = 1.0 + OVERDUE_S / 2

        assert not waiter.claim(1.0, at_s=soon)
        assert newcomer.may_take(soon, at_s=soon)
        assert not newcomer.wake(at_s=soon)


def test_who_asks_now_leaves_the_lock_to_who_is_overdue_and_a_release_wakes_that_one(
    shared: mmap.mmap,
) -> None:
    with processes(shared, 3) as (waiter, newcomer, holder):
        late = 1.0 + OVERDUE_S
        rung = waiter.bell.rung

        assert waiter.claim(1.0, at_s=late)
        assert not newcomer.may_take(late, at_s=late)
        assert waiter.may_take(1.0, at_s=late)
        assert holder.wake(at_s=late)
        assert rung != waiter.bell.rung


def test_of_those_who_are_overdue_the_oldest_is_next(shared: mmap.mmap) -> None:
    with processes(shared, 3) as (oldest, second, third):
        late = 2.0 + OVERDUE_S

        assert second.claim(1.5, at_s=late)
        assert not third.claim(2.0, at_s=late)
        assert oldest.claim(1.0, at_s=late)
        assert not second.claim(1.5, at_s=late)


def test_who_has_the_lock_or_gives_up_is_waited_for_no_more(shared: mmap.mmap) -> None:
    with processes(shared, 2) as (waiter, newcomer):
        late = 1.0 + OVERDUE_S
        waiter.claim(1.0, at_s=late)
        waiter.note_taken(1.0, at_s=late)
        after_taking = newcomer.may_take(late, at_s=late)
        later = late + 10 * OVERDUE_S
        waiter.claim(late, at_s=later)
        waiter.withdraw(late)

        assert after_taking
        assert newcomer.may_take(later, at_s=later)


def test_who_is_overdue_and_does_not_come_holds_others_up_for_a_moment_only(shared: mmap.mmap) -> None:
    with processes(shared, 2) as (stopped, newcomer):
        late = 1.0 + OVERDUE_S
        stopped.claim(1.0, at_s=late)

        assert not newcomer.may_take(late, at_s=late + FRESH_S / 2)
        assert newcomer.may_take(late, at_s=late + 1.1 * FRESH_S)
        assert not newcomer.wake(at_s=late + 1.1 * FRESH_S)


def test_where_all_wait_for_long_only_who_waits_for_longer_is_overdue(shared: mmap.mmap) -> None:
    with processes(shared, 1) as (aging,):
        for _ in range(100):
            aging.note_taken(1.0, at_s=2.0)

        assert OVERDUE_FACTOR == pytest.approx(aging.overdue_s, rel=0.01)
        for _ in range(200):
            aging.note_taken(1.0, at_s=1.0)
        assert OVERDUE_S == aging.overdue_s


def test_a_waiter_that_is_overdue_gets_the_lock_before_those_who_take_it_again_and_again(
    tmp_path: Path,
) -> None:
    # They give the lock back for an instant only: without a claim the waiter would have to hit one of these.
    with mmap.mmap(-1, AGING_BYTES) as memory, processes(memory, 2) as (ours, theirs):
        greedy, waiter = (TimedFlock(tmp_path / "lock", clock=SystemClock()) for _ in range(2))
        for lock, aging in ((greedy, ours), (waiter, theirs)):
            lock.let_age(aging)
        has_lock, pause = threading.Event(), threading.Event()

        def wait() -> None:
            if waiter.acquire(20.0):
                has_lock.set()
                waiter.release()

        greedy.acquire(1.0)
        thread = threading.Thread(target=wait)
        thread.start()
        while not memory[16:24].strip(b"\0"):  # until it is overdue
            pause.wait(0.001)
        turns = 0
        while thread.is_alive():
            greedy.release()
            assert greedy.acquire(60.0)
            turns += 1
        greedy.release()
        thread.join()
        greedy.close()
        waiter.close()

    assert has_lock.is_set(), turns


def test_a_lock_that_ages_gives_up_even_when_the_clock_stands_still(tmp_path: Path) -> None:
    with mmap.mmap(-1, AGING_BYTES) as memory, processes(memory, 2) as (ours, theirs):
        mine, other = (TimedFlock(tmp_path / "lock", clock=FrozenClock()) for _ in range(2))
        mine.let_age(ours)
        other.let_age(theirs)

        assert mine.acquire(0.1)
        assert not other.acquire(0.1)
        mine.release()
        assert other.acquire(0.1)
        other.release()
        mine.close()
        other.close()


@pytest.mark.parametrize("content", [b"\xff", b"\x01", b""])
def test_nothing_that_the_shared_memory_may_hold_keeps_writers_out(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "memory.db"
    Database.open(path, clock=SystemClock()).close()
    shared = path.with_name("memory.db-commit")
    size = shared.stat().st_size
    shared.write_bytes(content * size or os.urandom(size))
    many = [Database.open(path, clock=SystemClock(), lock_timeout_s=30.0) for _ in range(4)]
    with many[0].transaction() as con:
        con.execute("CREATE TABLE t(a)")

    def add(database: Database) -> None:
        for _ in range(5):
            with database.transaction() as con:
                con.execute("INSERT INTO t VALUES(1)")

    threads = [threading.Thread(target=add, args=(database,)) for database in many]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (20,) == many[0].query_one("SELECT count(*) FROM t")
    for database in many:
        database.close()


def test_counters_of_an_older_version_are_kept_and_lengthened(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Database.open(path, clock=SystemClock()).close()
    shared = path.with_name("memory.db-commit")
    before = bytes(range(48)) + bytes(16)
    shared.write_bytes(before)
    Database.open(path, clock=SystemClock()).close()

    assert before[8:16] == shared.read_bytes()[8:16]
    assert 64 + AGING_BYTES == shared.stat().st_size
