from __future__ import annotations

import contextlib
import gc
import os
import stat
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from hexad.core.clock import SystemClock
from hexad.database import connection, files
from hexad.database.connection import APPLICATION_ID, Database, sqlite_library_is_safe
from hexad.errors import Conflict, IntegrityError, InvalidInput, StorageFailure


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "store" / "memory.db", clock=SystemClock())
    with database.transaction() as con:
        con.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT NOT NULL)")
    yield database
    database.close()


def rows(database: Database) -> list[tuple[object, ...]]:
    return list(database.query("SELECT a, b FROM t ORDER BY a"))


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 6, 23), False),
        ((3, 7, 0), False),
        ((3, 40, 1), False),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 54, 0), True),
        ((4, 0, 0), True),
    ],
)
def test_libraries_that_lose_rows_or_have_no_wal_are_not_safe(
    version: tuple[int, int, int], safe: bool
) -> None:
    assert safe is sqlite_library_is_safe(version)


def test_an_unsafe_library_is_refused_before_the_file_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")

    with pytest.raises(StorageFailure, match=r"3\.40\.1 can lose committed rows.*install apsw-sqlite3mc"):
        Database.open(tmp_path / "memory.db", clock=SystemClock())
    assert [] == list(tmp_path.iterdir())


def test_a_new_store_is_private_and_marked_as_ours(db: Database) -> None:
    assert 0o700 == stat.S_IMODE(db.path.parent.stat().st_mode)
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in db.path.parent.iterdir()}
    assert (APPLICATION_ID,) == db.query_one("PRAGMA application_id")


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("journal_mode", "wal"),
        ("page_size", 4096),
        ("foreign_keys", 1),
        ("trusted_schema", 0),
        ("cell_size_check", 1),
        ("recursive_triggers", 1),
        ("synchronous", 1),
        ("wal_autocheckpoint", 0),
    ],
)
def test_every_connection_is_set_up_alike(db: Database, pragma: str, value: object) -> None:
    seen: list[object] = [db.query_one(f"PRAGMA {pragma}")]
    thread = threading.Thread(target=lambda: seen.append(db.query_one(f"PRAGMA {pragma}")))
    thread.start()
    thread.join()

    assert [(value,), (value,)] == seen


def test_a_new_store_in_a_folder_of_somebody_else_makes_the_folders_name_durable(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()  # a moment ago, by a process that has not synced that yet
    synced: list[Path] = []
    previous = files.set_hook(
        lambda operation, path: synced.append(path) if operation == "fsync_dir" else None
    )
    try:
        Database.open(tmp_path / "made" / "memory.db", clock=SystemClock()).close()
        assert tmp_path == synced[0]
        synced.clear()
        Database.open(tmp_path / "made" / "memory.db", clock=SystemClock()).close()
        assert tmp_path not in synced
    finally:
        files.set_hook(previous)


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"# Notes\n" * 1000)

    with pytest.raises(IntegrityError, match=r"memory\.db is damaged or is not a Hexad store"):
        Database.open(path, clock=SystemClock())
    assert b"# Notes\n" * 1000 == path.read_bytes()


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE bookmarks(url)")
    other.close()
    before = path.read_bytes()

    with pytest.raises(IntegrityError, match=r"another program \(application id 0\); it was left unchanged"):
        Database.open(path, clock=SystemClock())
    assert before == path.read_bytes()


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")

    with pytest.raises(StorageFailure, match=r"Cannot .*file.*"):
        Database.open(tmp_path / "file" / "memory.db", clock=SystemClock())


def test_a_store_that_is_not_there_cannot_be_opened_for_reading(tmp_path: Path) -> None:
    with pytest.raises(StorageFailure, match="There is no store at"):
        Database.open(tmp_path / "memory.db", clock=SystemClock(), readonly=True)


def test_a_store_opened_for_reading_reads_and_refuses_to_write(db: Database) -> None:
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'one')")
    reader = Database.open(db.path, clock=SystemClock(), readonly=True)

    assert [(1, "one")] == rows(reader)
    with pytest.raises(StorageFailure, match="opened read-only"):
        with reader.transaction():
            pass
    reader.close()


def test_an_exception_undoes_the_whole_transaction(db: Database) -> None:
    with pytest.raises(ValueError, match="stop"):
        with db.transaction() as con:
            con.execute("INSERT INTO t VALUES(1, 'one')")
            raise ValueError("stop")

    assert [] == rows(db)


def test_an_exception_in_a_nested_transaction_undoes_just_that_level(db: Database) -> None:
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'outer')")
        with pytest.raises(ValueError, match="stop"):
            with db.transaction() as inner:
                inner.execute("INSERT INTO t VALUES(2, 'inner')")
                with db.transaction() as innermost:
                    innermost.execute("INSERT INTO t VALUES(3, 'innermost')")
                raise ValueError("stop")
        con.execute("INSERT INTO t VALUES(4, 'after')")

    assert [(1, "outer"), (4, "after")] == rows(db)


def test_nothing_can_be_written_outside_a_transaction(db: Database) -> None:
    with pytest.raises(StorageFailure, match="readonly"):
        db.query("INSERT INTO t VALUES(1, 'one')")
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'one')")
    with pytest.raises(StorageFailure, match="readonly"):
        db.query("INSERT INTO t VALUES(2, 'two')")
    with pytest.raises(StorageFailure, match="readonly"):
        with db.read() as con:
            con.execute("INSERT INTO t VALUES(3, 'three')")
    fresh = Database.open(db.path, clock=SystemClock())
    with contextlib.closing(fresh), pytest.raises(StorageFailure, match="readonly"):
        fresh.query("INSERT INTO t VALUES(4, 'four')")

    assert [(1, "one")] == rows(db)


def test_a_change_that_does_not_wait_for_the_disk_is_seen_and_synced_by_the_next_that_does(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    monkeypatch.setattr(files, "fdatasync", lambda fd, path: (synced.append(path), os.fdatasync(fd)))
    with db.transaction(durable=False) as con:
        con.execute("INSERT INTO t VALUES(1, 'one')")
    before = len(synced)
    seen = rows(db)
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(2, 'two')")

    assert (0, 1) == (before, len(synced))
    assert [(1, "one")] == seen


def test_a_read_keeps_its_view_while_others_write(db: Database) -> None:
    def add() -> None:
        with db.transaction() as con:
            con.execute("INSERT INTO t VALUES(1, 'one')")

    with db.read() as con:
        before = con.execute("SELECT count(*) FROM t").fetchone()
        thread = threading.Thread(target=add)
        thread.start()
        thread.join()
        with db.read() as nested:
            after = nested.execute("SELECT count(*) FROM t").fetchone()

    assert (0,) == before == after
    assert [(1, "one")] == rows(db)


def test_a_read_inside_a_transaction_sees_its_changes(db: Database) -> None:
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'one')")
        with db.read() as reader:
            seen = reader.execute("SELECT b FROM t").fetchall()

    assert [("one",)] == seen


def test_a_transaction_inside_a_read_is_refused(db: Database) -> None:
    with db.read():
        with pytest.raises(InvalidInput, match="open the transaction first"):
            with db.transaction():
                pass


def test_a_broken_constraint_is_a_conflict_and_ends_nothing(db: Database) -> None:
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'one')")
        with pytest.raises(Conflict, match="UNIQUE"):
            con.execute("INSERT INTO t VALUES(1, 'again')")
        con.execute("INSERT INTO t VALUES(2, 'two')")

    assert [(1, "one"), (2, "two")] == rows(db)


def test_a_transaction_that_sqlite_undid_cannot_end_as_if_it_were_kept(db: Database) -> None:
    with pytest.raises(StorageFailure, match="undid the whole transaction"):
        with db.transaction() as con:
            con.execute("INSERT INTO t VALUES(1, 'one')")
            with pytest.raises(Conflict):
                con.execute("INSERT OR ROLLBACK INTO t VALUES(1, 'again')")

    assert [] == rows(db)
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(2, 'two')")
    assert [(2, "two")] == rows(db)


def test_the_stamp_of_a_connection_changes_with_another_ones_commit(db: Database) -> None:
    other = Database.open(db.path, clock=SystemClock())
    before = db.own_connection().stamp()
    unchanged = db.own_connection().stamp()
    with other.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'one')")
    other.close()

    assert before == unchanged
    assert before != db.own_connection().stamp()


def test_the_tracer_hears_every_statement(db: Database) -> None:
    heard: list[tuple[str, float]] = []
    db.tracer = lambda sql, seconds: heard.append((sql, seconds))
    db.query("SELECT 1")
    db.tracer = None
    db.query("SELECT 2")

    assert ["SELECT 1"] == [sql for sql, _ in heard]
    assert all(seconds >= 0 for _, seconds in heard)


def test_closing_twice_is_closing_once_and_use_afterwards_is_refused(db: Database) -> None:
    db.close()
    db.close()

    with pytest.raises(InvalidInput, match="is closed; open it again"):
        db.query("SELECT 1")


def test_the_last_to_close_leaves_no_wal_and_others_do(db: Database) -> None:
    other = Database.open(db.path, clock=SystemClock())
    wal = db.path.with_name("memory.db-wal")
    with other.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'one')")
    other.close()
    while_open = wal.exists()
    db.close()

    assert while_open
    assert not wal.exists()


def test_closing_keeps_statistics_of_large_tables_alone(db: Database) -> None:
    with db.transaction() as con:
        con.execute("CREATE INDEX t_by_b ON t(b)")
        con.execute("CREATE INDEX t_by_a_few ON t(b) WHERE a < 5")
        con.execute("CREATE TABLE small(a INTEGER PRIMARY KEY, b TEXT)")
        con.execute("CREATE INDEX small_by_b ON small(b)")
        con.executemany("INSERT INTO t(b) VALUES (?)", [(str(number % 7),) for number in range(1_000)])
        con.execute("INSERT INTO small(b) VALUES ('x')")
        con.execute("ANALYZE")  # earlier versions kept those of small tables too
    db.close()
    with contextlib.closing(Database.open(db.path, clock=SystemClock())) as again:
        assert [("t", 2)] == again.query("SELECT tbl, count(*) FROM sqlite_stat1 GROUP BY 1")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files through /proc")
def test_connections_of_ended_threads_are_closed(db: Database) -> None:
    def use_threads(count: int) -> int:
        for _ in range(count):
            thread = threading.Thread(target=db.query, args=("SELECT 1",))
            thread.start()
            thread.join()
        return len(os.listdir("/proc/self/fd"))

    assert use_threads(2) == use_threads(20)


def test_a_forked_child_is_told_to_open_the_store_again(db: Database) -> None:
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of a fork beside threads, which the test runner may have.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            db.query("SELECT 1")
            os.write(writer, b"it worked")
        except InvalidInput as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    said = os.read(reader, 1000).decode()
    os.close(reader)

    assert "opened before a fork" in said
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'one')")
    assert [(1, "one")] == rows(db)


def test_a_symbolic_link_is_followed_to_the_real_file(db: Database, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(db.path)
    other = Database.open(link, clock=SystemClock())
    with other.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'one')")
    other.close()

    assert [(1, "one")] == rows(db)
    assert ["link.db"] == [path.name for path in tmp_path.iterdir() if path.is_file()]


def test_the_wal_stays_short_under_readers_that_always_overlap(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CHECKPOINT_FRAMES", 50)
    monkeypatch.setattr(connection, "RESTART_FRAMES", 100)
    stop = threading.Event()

    def keep_reading(offset: float) -> None:
        stop.wait(offset)
        while not stop.is_set():
            with db.read() as con:
                con.execute("SELECT count(*) FROM t").fetchone()
                stop.wait(0.005)

    readers = [threading.Thread(target=keep_reading, args=(number / 500,)) for number in range(3)]
    for reader in readers:
        reader.start()
    longest = 0
    for number in range(400):
        with db.transaction() as con:
            con.execute("INSERT INTO t VALUES(?, ?)", (number, "x" * 2000))
        longest = max(longest, db.path.with_name("memory.db-wal").stat().st_size)
    stop.set()
    for reader in readers:
        reader.join()

    assert 400 == len(rows(db))
    assert longest < 400 * 4096


def test_a_joined_step_is_undone_with_the_level_around_it(tmp_path: Path) -> None:
    db = Database.open(tmp_path / "memory.db", clock=SystemClock())
    with db.joined() as con:
        con.execute("CREATE TABLE t (x)")
    with pytest.raises(RuntimeError), db.transaction():
        with db.joined() as con:
            con.execute("INSERT INTO t VALUES (1)")
        raise RuntimeError

    assert [] == db.query("SELECT x FROM t")
    db.close()


def largest_of(db: Database) -> int:
    return next(iter(db.query("SELECT coalesce(max(a), 0) FROM t")))[0]


def insert(db: Database, number: int) -> int:
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES (?, 'x')", (number,))
    return number


def test_what_changed_in_between_is_prepared_anew(db: Database) -> None:
    seen: list[int | None] = []

    def prepare(before: int | None) -> int:
        seen.append(before)
        largest = largest_of(db)
        if len(seen) < 3:
            insert(db, largest + 1)  # somebody else is faster
        return largest

    result = db.prepare_and_act(
        prepare=prepare,
        is_current=lambda largest: largest == largest_of(db),
        act=lambda largest: insert(db, largest + 10),
    )

    assert [None, 0, 1] == seen
    assert result == 12


def test_after_the_last_attempt_it_is_prepared_where_nobody_else_can_write(db: Database) -> None:
    inside: list[bool] = []

    def prepare(before: int | None) -> int:
        with db.read() as con:
            inside.append(con.writing)
        return largest_of(db)

    assert 1 == db.prepare_and_act(
        prepare=prepare,
        is_current=lambda _: False,
        act=lambda largest: insert(db, largest + 1),
        attempts=2,
    )
    assert [False, False, True] == inside


# Trials ---------------------------------------------------------------------------------------------------------------


def test_what_a_trial_changes_can_be_read_in_it_and_is_undone_at_its_end(db: Database) -> None:
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'stays')")

    with db.trial() as con:
        con.execute("DELETE FROM t")
        with db.transaction() as inner:
            inner.execute("INSERT INTO t VALUES(2, 'two')")
        assert db.in_trial and [(2, "two")] == rows(db)

    assert not db.in_trial and [(1, "stays")] == rows(db)


def test_a_trial_within_a_transaction_undoes_its_own_part_alone(db: Database) -> None:
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'stays')")
        with db.trial() as tried, db.trial() as within:
            within.execute("INSERT INTO t VALUES(2, 'two')")
            tried.execute("INSERT INTO t VALUES(3, 'three')")
        assert not db.in_trial

    assert [(1, "stays")] == rows(db)


def test_an_error_in_a_trial_reaches_the_caller(db: Database) -> None:
    with pytest.raises(Conflict), db.trial() as con:
        con.execute("INSERT INTO t VALUES(1, NULL)")

    assert not db.in_trial
    with db.transaction() as con:
        con.execute("INSERT INTO t VALUES(1, 'after')")
    assert [(1, "after")] == rows(db)


@pytest.mark.parametrize("key", [None, b"k" * 32], ids=["plain", "encrypted"])
def test_a_trial_of_a_store_that_is_only_read_changes_a_copy(tmp_path: Path, key: bytes | None) -> None:
    path = tmp_path / "memory.db"
    with contextlib.closing(Database.open(path, clock=SystemClock(), key=key)) as db:
        with db.transaction() as con:
            con.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT NOT NULL)")
            con.execute("INSERT INTO t VALUES(1, 'in the log')")
        with contextlib.closing(Database.open(path, clock=SystemClock(), key=key, readonly=True)) as reader:
            with reader.trial() as con, reader.transaction():
                con.execute("UPDATE t SET b = 'tried'")
                assert [(1, "tried")] == rows(reader)
                assert [(1, "in the log")] == rows(db)
            assert [(1, "in the log")] == rows(reader)
            with pytest.raises(StorageFailure, match="read-only"), reader.transaction():
                pass


def test_cursors_go_with_their_last_row_and_when_somebody_stops_half_way(tmp_path: Path) -> None:
    def left_half_way(db: Database) -> None:
        for _ in db._connection().execute("SELECT value FROM json_each('[1, 2, 3]')"):
            break

    def read_to_the_end(db: Database) -> None:
        with db.read() as con:  # ends with another statement, while `rows` is still named
            rows = con.execute("SELECT value FROM json_each('[1, 2, 3]')")
            assert [1, 2, 3] == [value for (value,) in rows]

    def cursors() -> int:
        gc.collect()
        return sum(type(each) is apsw.Cursor for each in gc.get_objects())

    with contextlib.closing(Database.open(tmp_path / "a.db", clock=SystemClock())) as db:
        for use in (left_half_way, read_to_the_end):
            use(db)
            before = cursors()
            for _ in range(20):
                use(db)
            assert cursors() - before < 5
