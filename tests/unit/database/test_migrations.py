from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexad.core.clock import FrozenClock, SystemClock
from hexad.database import change_counters as changes
from hexad.database.connection import Connection, Database
from hexad.database.migrations import Migration, apply, newest
from hexad.errors import IntegrityError


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "memory.db", clock=SystemClock())
    yield database
    database.close()


def make(number: int, sql: str) -> Migration:
    def run(con: Connection) -> None:
        con.execute(sql)

    return Migration(number=number, name=f"step {number}", apply=run)


ONE = make(1, "CREATE TABLE one(a)")
TWO = make(2, "INSERT INTO one VALUES('two')")
BROKEN = make(2, "INSERT INTO nowhere VALUES(1)")


def test_migrations_run_in_order_once_and_are_listed(db: Database) -> None:
    assert [1] == apply(db, [ONE], FrozenClock())
    assert [2] == apply(db, [ONE, TWO], FrozenClock())
    assert [] == apply(db, [ONE, TWO], FrozenClock())
    assert [("two",)] == db.query("SELECT a FROM one")
    assert [
        (1, "step 1", "2026-01-01T00:00:00+00:00"),
        (2, "step 2", "2026-01-01T00:00:00+00:00"),
    ] == db.query("SELECT number, name, applied_at FROM schema_migrations ORDER BY number")


def test_a_migration_that_fails_leaves_the_earlier_ones_and_can_be_run_again(db: Database) -> None:
    apply(db, [ONE], FrozenClock())
    with pytest.raises(IntegrityError, match="nowhere"):
        apply(db, [ONE, TWO, make(3, "INSERT INTO nowhere VALUES(1)")], FrozenClock())

    assert [(1,), (2,)] == db.query("SELECT number FROM schema_migrations ORDER BY number")
    assert [3] == apply(db, [ONE, TWO, make(3, "DELETE FROM one")], FrozenClock())


def test_a_new_store_gets_all_migrations_in_one_commit_or_none(db: Database) -> None:
    with pytest.raises(IntegrityError, match="nowhere"):
        apply(db, [ONE, BROKEN], FrozenClock())
    assert [(0,)] == db.query("SELECT count(*) FROM sqlite_schema")

    began: list[str] = []
    db.tracer = lambda sql, _seconds: began.append(sql)
    assert [1, 2] == apply(db, [ONE, TWO], FrozenClock())
    db.tracer = None
    assert 1 == began.count("BEGIN IMMEDIATE")


def test_a_store_of_a_newer_version_is_refused_and_left_unchanged(db: Database) -> None:
    apply(db, [ONE, TWO], FrozenClock())

    with pytest.raises(IntegrityError, match=r"newer version.*schema 2 .*knows up to 1\. Install the newer"):
        apply(db, [ONE], FrozenClock())
    assert [(1,), (2,)] == db.query("SELECT number FROM schema_migrations ORDER BY number")


@pytest.mark.parametrize("was_there", [False, True])
def test_a_program_that_is_open_writes_nothing_once_another_has_migrated_the_file(
    db: Database, was_there: bool
) -> None:
    if was_there:
        other = Database.open(db.path, clock=SystemClock())
        apply(other, [ONE], FrozenClock())
        other.close()
    apply(db, [ONE], FrozenClock())
    with db.transaction() as con:
        con.execute("INSERT INTO one VALUES('before')")
    other = Database.open(db.path, clock=SystemClock())
    apply(other, [ONE, TWO], FrozenClock())
    other.close()

    with pytest.raises(IntegrityError, match=r"migrated meanwhile .* has schema 2, .* started with 1\."):
        with db.transaction() as con:
            con.execute("INSERT INTO one VALUES('after')")
    assert [("before",), ("two",)] == db.query("SELECT a FROM one")


def test_a_program_that_migrates_itself_goes_on_writing(db: Database) -> None:
    apply(db, [ONE], FrozenClock())
    apply(db, [ONE, TWO], FrozenClock())

    with db.transaction() as con:
        con.execute("INSERT INTO one VALUES('after')")
    assert [("two",), ("after",)] == db.query("SELECT a FROM one")


def test_a_store_of_which_another_program_has_taken_the_list_away_is_not_written_to(db: Database) -> None:
    apply(db, [ONE], FrozenClock())
    other = Database.open(db.path, clock=SystemClock())
    with other.transaction() as con:
        con.execute("DELETE FROM schema_migrations")
    other.close()

    with pytest.raises(IntegrityError, match=r"has schema None, this program was started with 1\."):
        with db.transaction():
            raise AssertionError("it was begun")


def test_the_newest_is_the_last_that_a_store_has_and_0_without_any(db: Database) -> None:
    assert 0 == newest(db)
    apply(db, [ONE, TWO], FrozenClock())
    assert 2 == newest(db)
    with db.transaction() as con:
        con.execute("DROP TABLE one")
        con.execute("DELETE FROM schema_migrations")
    assert 0 == newest(db)


def test_a_list_without_rows_is_that_of_a_store_without_migrations(db: Database) -> None:
    with db.transaction() as con:
        con.execute(
            "CREATE TABLE schema_migrations(number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT"
        )

    assert [1] == apply(db, [ONE], FrozenClock())


def test_numbers_with_a_gap_are_a_mistake_in_the_program(db: Database) -> None:
    with pytest.raises(ValueError, match="without gaps"):
        apply(db, [ONE, make(3, "SELECT 1")], FrozenClock())


def test_of_several_that_open_at_once_exactly_one_applies_each(db: Database) -> None:
    steps = [make(1, "CREATE TABLE one(a)"), *[make(n, f"INSERT INTO one VALUES({n})") for n in range(2, 12)]]
    applied: list[int] = []
    gate = threading.Barrier(4)

    def run() -> None:
        database = Database.open(db.path, clock=SystemClock())
        gate.wait()
        applied.extend(apply(database, steps, SystemClock()))
        database.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert list(range(1, 12)) == sorted(applied)
    assert [(n,) for n in range(2, 12)] == db.query("SELECT a FROM one ORDER BY a")


@pytest.fixture
def counted(db: Database) -> Database:
    apply(db, [make(1, changes.DDL)], FrozenClock())
    return db


def bump(database: Database, family: str) -> None:
    with database.transaction() as con:
        changes.bump(con, family)


def test_a_family_counts_its_changes_by_any_connection(counted: Database) -> None:
    other = Database.open(counted.path, clock=SystemClock())
    reader = changes.ChangeReader(counted)
    seen = [reader.current("vectors")]
    bump(counted, "vectors")
    seen.append(reader.current("vectors"))
    bump(other, "vectors")
    seen.append(reader.current("vectors"))
    bump(other, "memories")
    seen.append(reader.current("vectors"))
    other.close()

    assert [0, 1, 2, 2] == seen


def test_while_nothing_changed_the_table_is_not_asked(counted: Database) -> None:
    reader = changes.ChangeReader(counted)
    reader.current("vectors")
    asked: list[str] = []
    counted.tracer = lambda sql, _seconds: asked.append(sql)
    reader.current("vectors")
    counted.tracer = None

    assert [] == [sql for sql in asked if "FROM changes" in sql]


def test_a_change_that_was_rolled_back_does_not_count(counted: Database) -> None:
    reader = changes.ChangeReader(counted)
    with pytest.raises(ValueError, match="stop"):
        with counted.transaction() as con:
            changes.bump(con, "vectors")
            inside = reader.current("vectors")
            raise ValueError("stop")

    assert 1 == inside
    assert 0 == reader.current("vectors")
