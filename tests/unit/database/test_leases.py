from __future__ import annotations

import errno
import fcntl
import mmap
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hexad.core.clock import Clock, FrozenClock, SystemClock
from hexad.database import files, leases
from hexad.database.leases import Lease, OpenLock, ReadShare, poll, process_started
from hexad.errors import StorageFailure, StoreLocked

LEASE = """
    import sys
    from pathlib import Path
    from hexad.core.clock import SystemClock
    from hexad.database.leases import Lease
    lease = Lease(Path(sys.argv[1]) / "maintain.lock", clock=SystemClock(), purpose="nightly")
    assert lease.try_acquire()
    print("holding", flush=True)
    sys.stdin.readline()
"""
OPEN = """
    import sys
    from pathlib import Path
    from hexad.core.clock import SystemClock
    from hexad.database.leases import OpenLock
    lock = OpenLock(Path(sys.argv[1]), clock=SystemClock(), purpose="hexad serve")
    print(lock.identity, flush=True)
    sys.stdin.readline()
"""
READ = """
    import sys
    from pathlib import Path
    from hexad.core.clock import SystemClock
    from hexad.database.leases import ReadShare
    share = ReadShare(Path(sys.argv[1]), clock=SystemClock())
    print("reading", flush=True)
    sys.stdin.readline()
"""
ALONE = """
    import sys
    from pathlib import Path
    from hexad.core.clock import SystemClock
    from hexad.database.leases import OpenLock
    lock = OpenLock(Path(sys.argv[1]), clock=SystemClock(), purpose="hexad encrypt")
    with lock.exclusively("encrypt"):
        print("holding", flush=True)
        sys.stdin.readline()
"""


@contextmanager
def process(code: str, directory: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout
        line = child.stdout.readline().strip()
        try:
            yield child, line
        finally:
            child.kill()


def make_lease(directory: Path) -> Lease:
    return Lease(directory / "maintain.lock", clock=FrozenClock())


def test_a_lease_is_held_by_one_and_free_after_release(tmp_path: Path) -> None:
    first, second = make_lease(tmp_path), make_lease(tmp_path)

    assert first.try_acquire()
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    second.release()


def test_a_lease_that_cannot_be_noted_is_free(tmp_path: Path) -> None:
    first, second = make_lease(tmp_path), make_lease(tmp_path)

    def refuse(operation: str, path: Path) -> None:
        if operation == "write":
            raise OSError(28, "No space left on device")

    previous = files.set_hook(refuse)
    try:
        with pytest.raises(StorageFailure, match=r"maintain\.lock: No space"):
            first.try_acquire()
    finally:
        files.set_hook(previous)

    assert not first.is_held
    assert second.try_acquire()
    second.release()


def test_the_holder_of_a_lease_can_be_read_from_its_file(tmp_path: Path) -> None:
    lease = make_lease(tmp_path)

    assert make_lease(tmp_path).holder() is None
    with lease.held_for() as acquired:
        holder = make_lease(tmp_path).holder()
    assert acquired
    assert holder is not None
    assert (os.getpid(), datetime(2026, 1, 1, tzinfo=UTC), "maintenance") == (
        holder.pid,
        holder.since,
        holder.purpose,
    )
    assert make_lease(tmp_path).holder() is None


def test_a_killed_process_loses_its_lease_and_is_not_named_any_more(tmp_path: Path) -> None:
    lease = make_lease(tmp_path)
    with process(LEASE, tmp_path) as (child, _):
        refused = lease.try_acquire()
        holder = lease.holder()
        child.kill()
        child.wait()

        assert not refused
        assert holder is not None
        assert (child.pid, "nightly") == (holder.pid, holder.purpose)
    assert lease.holder() is None
    assert lease.try_acquire()
    lease.release()


def test_a_number_that_was_given_to_another_process_is_not_the_holder(tmp_path: Path) -> None:
    lease = make_lease(tmp_path)
    assert lease.try_acquire()
    path = tmp_path / "maintain.lock"
    path.write_text(
        path.read_text().replace(f"{os.getpid()}-{process_started(os.getpid())}-", f"{os.getpid()}-1-")
    )

    assert make_lease(tmp_path).holder() is None
    lease.release()


def test_a_process_has_a_start_and_an_ended_one_has_none() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()

    assert process_started(os.getpid()) is not None
    assert process_started(os.getpid()) == process_started(os.getpid())
    assert process_started(child.pid) is None


def test_the_start_of_a_process_stays_while_it_takes_memory() -> None:
    before = process_started(os.getpid())
    with mmap.mmap(-1, 64 << 20):
        assert before == process_started(os.getpid())


def test_everybody_who_has_the_store_open_is_listed_until_killed(tmp_path: Path) -> None:
    mine = OpenLock(tmp_path, clock=SystemClock(), purpose="tests")
    with process(OPEN, tmp_path) as (child, identity):
        both = {(holder.pid, holder.purpose) for holder in mine.holders()}
        alive = mine.alive()
        child.kill()
        child.wait()

        assert {(os.getpid(), "tests"), (child.pid, "hexad serve")} == both
        assert identity in alive
    assert [mine.identity] == mine.alive()
    assert [mine.identity] == [path.name for path in (tmp_path / "openers").iterdir()]
    mine.close()
    mine.close()
    assert [] == list((tmp_path / "openers").iterdir())


def test_two_openings_of_one_process_are_two_holders(tmp_path: Path) -> None:
    lock = OpenLock(tmp_path, clock=SystemClock(), purpose="one")
    two = OpenLock(tmp_path, clock=SystemClock(), purpose="two")

    assert {lock.identity, two.identity} == set(lock.alive())
    two.close()
    assert [lock.identity] == lock.alive()
    lock.close()


def test_what_must_be_alone_is_refused_and_names_who_is_there(tmp_path: Path) -> None:
    mine = OpenLock(tmp_path, clock=SystemClock(), purpose="tests")
    with process(OPEN, tmp_path) as (child, _):
        with pytest.raises(StoreLocked, match=rf"Cannot encrypt: process {child.pid} \(hexad serve, since"):
            with mine.exclusively("encrypt"):
                pass
        child.kill()
        child.wait()
    ran = False
    with mine.exclusively("encrypt"):
        ran = True

    assert ran
    mine.close()


def test_a_refused_attempt_to_be_alone_keeps_the_store_open_for_oneself(tmp_path: Path) -> None:
    lock = OpenLock(tmp_path, clock=SystemClock(), purpose="one")
    two = OpenLock(tmp_path, clock=SystemClock(), purpose="two")
    with pytest.raises(StoreLocked):
        with lock.exclusively("encrypt"):
            pass

    with pytest.raises(StoreLocked, match=r"\(one, since"):
        with two.exclusively("encrypt"):
            pass
    lock.close()
    two.close()


def test_who_only_reads_is_named_by_its_process_to_whom_it_keeps_out(tmp_path: Path) -> None:
    mine = OpenLock(tmp_path, clock=SystemClock(), purpose="tests")
    with process(READ, tmp_path) as (child, _):
        with pytest.raises(
            StoreLocked, match=rf"Cannot encrypt: process {child.pid} \(reading\) has the store open"
        ):
            with mine.exclusively("encrypt"):
                pass
    mine.close()


def test_a_store_that_was_had_alone_is_open_to_all_again(tmp_path: Path) -> None:
    mine = OpenLock(tmp_path, clock=SystemClock(), purpose="tests")
    with mine.exclusively("encrypt"):
        pass

    with process(OPEN, tmp_path) as (_, identity):
        assert {mine.identity, identity} == set(mine.alive())
        with pytest.raises(StoreLocked):
            with mine.exclusively("encrypt"):
                pass
    mine.close()


def test_a_share_is_given_back_with_all_of_its_handles(tmp_path: Path) -> None:
    mine = OpenLock(tmp_path, clock=SystemClock(), purpose="tests")
    before = len(os.listdir("/proc/self/fd"))
    other = OpenLock(tmp_path, clock=SystemClock(), purpose="tests")
    reader = ReadShare(tmp_path, clock=SystemClock())
    assert {mine.identity, other.identity} == set(mine.alive())
    other.close()
    reader.close()
    reader.close()

    assert before == len(os.listdir("/proc/self/fd"))
    with mine.exclusively("encrypt"):
        pass
    mine.close()
    mine.close()
    assert before - 2 == len(os.listdir("/proc/self/fd"))


def test_nobody_can_open_a_store_that_somebody_has_for_itself(tmp_path: Path) -> None:
    with process(ALONE, tmp_path) as (child, _):
        with pytest.raises(StoreLocked, match=rf"process {child.pid} .* needs the store alone"):
            OpenLock(tmp_path, clock=SystemClock(), purpose="tests", wait_s=0.1)
        child.kill()
        child.wait()
    OpenLock(tmp_path, clock=SystemClock(), purpose="tests").close()


def test_what_becomes_free_while_it_is_polled_for_is_taken() -> None:
    tries: list[int] = []

    def take() -> bool:
        tries.append(1)
        return len(tries) == 3

    assert poll(take, wait_s=60.0, clock=SystemClock())
    assert 3 == len(tries)


@pytest.mark.parametrize("clock", [SystemClock(), FrozenClock()])
def test_polling_ends_after_its_time_also_where_the_clock_stands_still(clock: Clock) -> None:
    tries: list[int] = []

    def take() -> bool:
        tries.append(1)
        return False

    assert not poll(take, wait_s=0.1, clock=clock)
    assert 2 <= len(tries) <= 6
    tries.clear()
    assert not poll(take, wait_s=0.0, clock=clock)
    assert [1] == tries


def test_a_lease_is_waited_for_as_long_as_is_asked(tmp_path: Path) -> None:
    with process(LEASE, tmp_path) as (child, _):
        lease = Lease(tmp_path / "maintain.lock", clock=SystemClock())
        with lease.held_for(wait_s=0.05) as acquired:
            assert not acquired
        child.kill()
        with lease.held_for(wait_s=60.0) as acquired:
            assert acquired
        assert not lease.is_held


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_what_an_ended_process_noted_at_length_does_not_hide_the_next_holder(tmp_path: Path) -> None:
    with Lease(tmp_path / "maintain.lock", clock=FrozenClock(), purpose="long " * 50).held_for():
        left = (tmp_path / "maintain.lock").read_bytes()
    assert b"" == (tmp_path / "maintain.lock").read_bytes()
    (tmp_path / "maintain.lock").write_bytes(left)  # as after a kill

    with make_lease(tmp_path).held_for() as acquired:
        assert acquired
        holder = make_lease(tmp_path).holder()

    assert holder is not None
    assert "maintenance" == holder.purpose


def test_asking_for_a_lease_that_another_has_leaves_no_file_open(tmp_path: Path) -> None:
    with make_lease(tmp_path).held_for():
        before = open_files()
        assert [False] * 3 == [make_lease(tmp_path).try_acquire() for _ in range(3)]
        assert before == open_files()


def test_a_lease_whose_lock_fails_says_so_and_leaves_no_file_open(tmp_path: Path) -> None:
    def fail(operation: str, path: Path) -> None:
        if operation == "lock":
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK), str(path))

    lease, before = make_lease(tmp_path), open_files()
    previous = files.set_hook(fail)
    try:
        with pytest.raises(StorageFailure, match=r"\ACannot lock .*maintain\.lock"):
            lease.try_acquire()
    finally:
        files.set_hook(previous)

    assert before == open_files()
    assert not lease.is_held


def test_a_lease_that_is_held_is_not_taken_twice(tmp_path: Path) -> None:
    lease = make_lease(tmp_path)
    assert lease.try_acquire()
    before = open_files()

    assert lease.try_acquire()
    assert before == open_files()
    lease.release()
    lease.release()
    assert before - 1 == open_files()


@pytest.mark.parametrize("operation", ["rename", "write"])
def test_a_store_that_cannot_be_announced_is_not_open_and_leaves_nothing(
    tmp_path: Path, operation: str
) -> None:
    def fail(name: str, path: Path) -> None:
        if name == operation:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    before = open_files()
    previous = files.set_hook(fail)
    try:
        with pytest.raises(StorageFailure, match="No space left"):
            OpenLock(tmp_path, clock=SystemClock(), purpose="tests")
    finally:
        files.set_hook(previous)

    assert before == open_files()
    assert [] == list((tmp_path / "openers").iterdir())
    lock = OpenLock(tmp_path, clock=SystemClock(), purpose="tests")
    with lock.exclusively("encrypt"):
        pass
    lock.close()


def test_a_store_that_another_has_for_itself_leaves_no_file_open_with_who_is_refused(tmp_path: Path) -> None:
    with process(ALONE, tmp_path):
        before = open_files()
        with pytest.raises(StoreLocked, match="needs the store alone; wait until it is done"):
            OpenLock(tmp_path, clock=SystemClock(), purpose="tests", wait_s=0.0)
        with pytest.raises(StoreLocked, match=r"needs .* alone; wait until it is done"):
            ReadShare(tmp_path, clock=SystemClock(), wait_s=0.0)
        assert before == open_files()


def test_only_the_files_of_ended_processes_are_removed_from_among_the_openers(tmp_path: Path) -> None:
    with closing(OpenLock(tmp_path, clock=SystemClock(), purpose="tests")) as lock:
        openers = tmp_path / "openers"
        ended, half, foreign = (
            openers / "123-456-0123abcd",
            openers / ".123-456-0123abcd.tmp",
            openers / "notes",
        )
        for path in (ended, half, foreign):
            path.write_bytes(b"{}")

        assert [lock.identity] == lock.alive()
        assert sorted([half, foreign, openers / lock.identity]) == sorted(openers.iterdir())


def test_openers_are_listed_the_oldest_first(tmp_path: Path) -> None:
    clock = FrozenClock()
    names = ["first", "second", "third"]
    locks = []
    for name in names:
        locks.append(OpenLock(tmp_path, clock=clock, purpose=name))
        clock.advance(seconds=1)

    assert names == [holder.purpose for holder in locks[0].holders()]
    for lock in locks:
        lock.close()


def test_a_reader_needs_neither_a_lock_file_nor_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_files()
    ReadShare(tmp_path, clock=SystemClock()).close()
    assert [] == list(tmp_path.iterdir())

    (tmp_path / "open.lock").touch()

    def refuse(_fd: int, _operation: int) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(fcntl, "flock", refuse)
    share = ReadShare(tmp_path, clock=SystemClock())
    assert before == open_files()
    share.close()


def test_between_two_tries_of_a_poll_time_passes() -> None:
    clock = SystemClock()
    began = clock.monotonic()

    assert not poll(lambda: False, wait_s=0.1, clock=FrozenClock())
    assert clock.monotonic() - began >= 0.08  # five pauses; how many more there are is the machine's


@pytest.fixture
def without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that has no `/proc`."""

    def path(name: str) -> Path:
        return tmp_path / "nothing" if name.startswith("/proc/") else Path(name)

    monkeypatch.setattr(leases, "Path", path)
    leases._started.cache_clear()


@pytest.mark.usefixtures("without_proc")
def test_without_proc_a_process_that_lives_has_an_empty_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    assert "" == process_started(os.getpid())
    assert process_started(ended.pid) is None

    def refuse(_pid: int, signal: int) -> None:
        assert 0 == signal
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "kill", refuse)  # it is somebody else's, so it is there
    assert "" == process_started(ended.pid)


@pytest.mark.usefixtures("without_proc")
def test_without_proc_the_holder_of_a_lease_is_named_as_well(tmp_path: Path) -> None:
    with make_lease(tmp_path).held_for():
        holder = make_lease(tmp_path).holder()
    leases._started.cache_clear()

    assert holder is not None
    assert os.getpid() == holder.pid
    assert holder.identity.startswith(f"{os.getpid()}-0-")


@pytest.mark.usefixtures("without_proc")
def test_without_proc_a_reader_is_another_process(tmp_path: Path) -> None:
    lock = OpenLock(tmp_path, clock=SystemClock(), purpose="tests")
    with process(READ, tmp_path):
        with pytest.raises(StoreLocked, match="Cannot encrypt: Another process has the store open"):
            with lock.exclusively("encrypt"):
                raise AssertionError("a reader was passed over")
    leases._started.cache_clear()
    lock.close()
