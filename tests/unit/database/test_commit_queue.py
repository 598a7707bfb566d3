from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hexad.core.clock import FrozenClock, SystemClock
from hexad.database import files
from hexad.database.commit_queue import CommitInDoubt
from hexad.database.connection import Database, Durability
from hexad.database.file_locks import TimedFlock
from hexad.errors import StorageFailure, StoreLocked


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "memory.db", clock=SystemClock())
    with database.transaction() as con:
        con.execute("CREATE TABLE t(a INTEGER)")
    yield database
    database.close()


def add(database: Database, value: int) -> None:
    with database.transaction() as con:
        con.execute("INSERT INTO t VALUES(?)", (value,))


def values(database: Database) -> list[object]:
    return [row[0] for row in database.query("SELECT a FROM t ORDER BY a")]


@contextmanager
def hooked(hook: files.Hook) -> Iterator[None]:
    previous = files.set_hook(hook)
    try:
        yield
    finally:
        files.set_hook(previous)


@contextmanager
def syncs() -> Iterator[list[str]]:
    seen: list[str] = []

    def note(operation: str, path: Path) -> None:
        if operation == "fdatasync":
            seen.append(path.name)

    with hooked(note):
        yield seen


def failing_sync(operation: str, path: Path) -> None:
    if operation == "fdatasync":
        raise OSError(errno.EIO, "Input/output error", str(path))


def test_a_commit_syncs_the_wal_once_before_it_is_acknowledged(db: Database) -> None:
    with syncs() as seen:
        add(db, 1)

    assert ["memory.db-wal"] == seen


def test_a_transaction_that_wrote_nothing_syncs_nothing(db: Database) -> None:
    with syncs() as seen:
        with db.transaction() as con:
            con.execute("UPDATE t SET a = 2 WHERE a = 1")

    assert [] == seen


def test_a_transaction_that_wrote_nothing_still_waits_for_what_it_may_have_read(db: Database) -> None:
    with hooked(failing_sync), pytest.raises(CommitInDoubt):
        add(db, 1)
    with hooked(failing_sync), pytest.raises(StorageFailure):
        with db.transaction() as con:
            con.execute("SELECT a FROM t").fetchall()


def test_full_durability_leaves_syncing_to_sqlite(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "memory.db", clock=SystemClock(), durability=Durability.FULL)
    with syncs() as seen:
        with database.transaction() as con:
            con.execute("CREATE TABLE t(a)")
    mode = database.query_one("PRAGMA synchronous")
    database.close()

    assert [] == seen
    assert (2,) == mode


def test_threads_that_commit_together_share_syncs(db: Database) -> None:
    count, each = 8, 20
    slow = threading.Event()

    def slow_sync(operation: str, path: Path) -> None:
        if operation == "fdatasync":
            seen.append(path.name)
            slow.wait(0.005)

    def work(worker: int) -> None:
        for n in range(each):
            add(db, worker * each + n)

    seen: list[str] = []
    with hooked(slow_sync):
        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert list(range(count * each)) == values(db)
    assert len(seen) < count * each


def test_a_failed_sync_is_in_doubt_and_the_next_writer_writes_the_wal_again(db: Database) -> None:
    with hooked(failing_sync), pytest.raises(CommitInDoubt, match="may not survive lost power"):
        add(db, 1)
    operations: list[str] = []
    with hooked(lambda operation, path: operations.append(f"{operation} {path.name}")):
        add(db, 2)

    assert ["write memory.db-wal", "read memory.db-wal", "fdatasync memory.db-wal"] == operations[1:4]
    assert [1, 2] == values(db)


def test_while_the_disk_refuses_nothing_more_is_written(db: Database) -> None:
    with hooked(failing_sync):
        with pytest.raises(CommitInDoubt):
            add(db, 1)
        with pytest.raises(StorageFailure) as refused:
            add(db, 2)
    assert not isinstance(refused.value, CommitInDoubt)
    add(db, 3)

    assert [1, 3] == values(db)


def test_other_waiters_of_a_failed_sync_are_not_acknowledged(db: Database) -> None:
    outcomes: list[str] = []
    gate = threading.Barrier(4)

    def work(value: int) -> None:
        gate.wait()
        try:
            add(db, value)
            outcomes.append("acknowledged")
        except StorageFailure:
            outcomes.append("refused")

    with hooked(failing_sync):
        threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert ["refused"] * 4 == outcomes


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 64, bytes(range(64)), b"\x00" * 8 + b"\x05" + b"\x00" * 55]
)
def test_no_content_of_the_counters_makes_a_commit_skip_its_sync(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "memory.db"
    Database.open(path, clock=SystemClock()).close()
    path.with_name("memory.db-commit").write_bytes(content)
    database = Database.open(path, clock=SystemClock())
    with syncs() as seen:
        with database.transaction() as con:
            con.execute("CREATE TABLE t(a)")
    database.close()

    assert seen.count("memory.db-wal") >= 1


def test_counters_that_claim_more_synced_than_written_do_not_cover_a_new_commit(db: Database) -> None:
    # What a page may look like that was written to the disk while both numbers were being counted up.
    with db.path.with_name("memory.db-commit").open("r+b") as counters:
        counters.write((1_000_000).to_bytes(8, sys.byteorder) + (3).to_bytes(8, sys.byteorder))
    with syncs() as seen:
        add(db, 1)
        add(db, 2)

    assert ["memory.db-wal"] * 2 == seen


def test_a_wal_that_was_removed_under_an_open_store_is_not_acknowledged(db: Database) -> None:
    db.path.with_name("memory.db-wal").unlink()

    with pytest.raises(CommitInDoubt, match="removed while the store was open"):
        add(db, 1)


HOLDER = """
    import sys, time
    from pathlib import Path
    from hexad.core.clock import SystemClock
    from hexad.database.connection import Database
    database = Database.open(Path(sys.argv[1]), clock=SystemClock())
    with database.transaction() as con:
        con.execute("INSERT INTO t VALUES(-1)")
        print("holding", flush=True)
        sys.stdin.readline()
"""


@contextmanager
def process(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout
        child.stdout.readline()
        try:
            yield child
        finally:
            child.kill()


def test_a_stopped_writer_holds_others_up_only_until_their_time_out_and_is_named(db: Database) -> None:
    impatient = Database.open(db.path, clock=SystemClock(), lock_timeout_s=0.2)
    with process(HOLDER, str(db.path)) as holder:
        os.kill(holder.pid, signal.SIGSTOP)
        with pytest.raises(StoreLocked, match=f"process {holder.pid} has held its write lock"):
            add(impatient, 1)
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    impatient.close()
    add(db, 2)

    assert [2] == values(db)


SYNC_HOLDER = """
    import fcntl, sys
    with open(sys.argv[1], "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        print("holding", flush=True)
        sys.stdin.readline()
"""


def test_a_leader_that_is_stopped_while_it_syncs_holds_nobody_up_for_long(db: Database) -> None:
    with process(SYNC_HOLDER, str(db.path.with_name("memory.db-sync"))):
        with syncs() as seen:
            add(db, 1)

    assert ["memory.db-wal"] == seen
    assert [1] == values(db)


def test_a_lock_gives_up_even_when_the_clock_stands_still(tmp_path: Path) -> None:
    mine = TimedFlock(tmp_path / "lock", clock=FrozenClock())
    other = TimedFlock(tmp_path / "lock", clock=FrozenClock())

    assert mine.acquire(0.1)
    assert not other.acquire(0.1)
    mine.release()
    assert other.acquire(0.1)
    other.release()
    mine.close()
    other.close()


def test_without_a_futex_processes_wait_by_looking_again(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hexad.database.wakeup._FUTEX_NUMBERS", {})
    other = Database.open(db.path, clock=SystemClock())
    threads = [
        threading.Thread(target=add, args=(database, value)) for value, database in enumerate([db, other] * 5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()

    assert list(range(10)) == values(db)
