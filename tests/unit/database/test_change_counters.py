"""Change counters: what one transaction counts in memory is in the table whenever anybody reads, keeps or undoes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from hexad import FrozenClock
from hexad.database.change_counters import (
    DDL,
    BoundedChangeCache,
    ChangeCache,
    ChangeReader,
    bump,
    while_unchanged,
)
from hexad.database.connection import Database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "counted.db", clock=FrozenClock())
    with database.transaction() as con:
        con.execute(DDL)
    yield database
    database.close()


def written(db: Database) -> dict[str, int]:
    return dict(db.query("SELECT family, n FROM changes"))


def test_each_change_of_a_transaction_has_a_number_of_its_own(db: Database) -> None:
    with db.transaction() as con:
        numbers = [bump(con, "memories"), bump(con, "memories"), bump(con, "vectors"), bump(con, "memories")]

    assert [1, 2, 1, 3] == numbers
    assert {"memories": 3, "vectors": 1} == written(db)


def test_a_transaction_writes_the_first_change_and_the_last_however_many_it_counts(db: Database) -> None:
    heard: list[str] = []
    db.tracer = lambda sql, _seconds: heard.append(sql)
    with db.transaction() as con:
        for _ in range(50):
            bump(con, "memories")
    db.tracer = None

    assert {"memories": 50} == written(db)
    assert 3 == sum("changes" in sql for sql in heard)  # it is read once, then written twice


def test_a_reader_inside_of_the_transaction_sees_what_it_counted_so_far(db: Database) -> None:
    reader = ChangeReader(db)

    with db.transaction() as con:
        bump(con, "memories")
        bump(con, "memories")

        assert 2 == reader.current("memories")
        bump(con, "memories")
        assert 3 == reader.current("memories")


def test_what_a_part_of_a_transaction_counted_is_undone_with_it(db: Database) -> None:
    with db.transaction() as con:
        bump(con, "memories")
        bump(con, "memories")
        with pytest.raises(RuntimeError), db.transaction() as inner:
            bump(inner, "memories")
            bump(inner, "memories")
            raise RuntimeError
        number = bump(con, "memories")

    assert 3 == number
    assert {"memories": 3} == written(db)


def test_what_a_part_of_a_transaction_counted_is_kept_with_it(db: Database) -> None:
    with db.transaction() as con:
        bump(con, "memories")
        with db.transaction() as inner:
            bump(inner, "memories")
            bump(inner, "memories")

    assert {"memories": 3} == written(db)


def test_what_an_undone_transaction_counted_is_forgotten(db: Database) -> None:
    with pytest.raises(RuntimeError), db.transaction() as con:
        bump(con, "memories")
        bump(con, "memories")
        raise RuntimeError

    with db.transaction() as con:
        assert 1 == bump(con, "memories")
    assert {"memories": 1} == written(db)


def test_a_reader_writes_nothing_of_what_an_undone_transaction_counted(db: Database) -> None:
    with db.trial() as con:
        bump(con, "memories")
        bump(con, "memories")

    with db.read():
        assert ChangeReader(db).current("memories") == 0


def test_two_connections_never_count_the_same_change(db: Database, tmp_path: Path) -> None:
    other = Database.open(tmp_path / "counted.db", clock=FrozenClock())
    numbers = []
    for database in (db, other, db, other):
        with database.transaction() as con:
            numbers += [bump(con, "memories"), bump(con, "memories")]
    other.close()

    assert list(range(1, 9)) == numbers


def test_a_view_is_asked_once_whatever_is_counted_meanwhile(db: Database, tmp_path: Path) -> None:
    reader, other = ChangeReader(db), Database.open(tmp_path / "counted.db", clock=FrozenClock())
    heard: list[str] = []
    with other.transaction() as con:
        bump(con, "memories")
    with db.read():
        assert 1 == reader.current("memories")
        with other.transaction() as con:
            bump(con, "memories")
        db.tracer = lambda sql, _seconds: heard.append(sql)

        assert [1, 0] == [reader.current("memories"), reader.current("vectors")]
        db.tracer = None

    assert [] == heard
    assert 2 == reader.current("memories")
    with db.read():
        assert 2 == reader.current("memories")
    other.close()


def test_a_reader_counts_within_a_transaction_that_begins_in_no_view(db: Database) -> None:
    reader = ChangeReader(db)
    with db.read():
        assert 0 == reader.current("memories")

    with db.transaction() as con:
        assert 0 == reader.current("memories")
        bump(con, "memories")
        with db.read():
            assert 1 == reader.current("memories")
            bump(con, "memories")
            assert 2 == reader.current("memories")


def test_a_kept_result_holds_until_something_is_changed_by_whomever(db: Database, tmp_path: Path) -> None:
    kept, computed = ChangeCache[int](db, "memories"), iter(range(100))
    other = Database.open(tmp_path / "counted.db", clock=FrozenClock())

    def value(key: str = "all") -> int:
        return kept.get(key, lambda: next(computed))

    assert [0, 0, 1, 1, 0] == [value(), value(), value("one"), value("one"), value()]
    with other.transaction() as con:
        bump(con, "vectors")
    assert 0 == value()
    with other.transaction() as con:
        bump(con, "memories")
    assert [2, 2, 3] == [value(), value(), value("one")]
    with db.transaction() as con:
        bump(con, "memories")
    assert [4, 4] == [value(), value()]
    other.close()


def test_what_was_computed_inside_of_a_transaction_is_not_kept(db: Database) -> None:
    kept = ChangeCache[int](db, "memories")
    with pytest.raises(RuntimeError), db.transaction() as con:
        bump(con, "memories")
        assert 1 == kept.get("all", lambda: 1)
        raise RuntimeError
    with db.transaction() as con:  # has the number that the undone one had
        bump(con, "memories")

    assert 2 == kept.get("all", lambda: 2)


def counted(db: Database) -> int:
    return int(db.query("SELECT count(*) FROM changes")[0][0])


def test_what_was_read_is_kept_until_anybody_commits(db: Database, tmp_path: Path) -> None:
    other = Database.open(tmp_path / "counted.db", clock=FrozenClock())
    heard: list[str] = []
    db.tracer = lambda sql, _seconds: heard.append(sql)

    assert [0, 0] == [while_unchanged(db, "rows", lambda: counted(db)) for _ in range(2)]
    assert 1 == sum("count" in sql for sql in heard)
    with other.transaction() as con:
        bump(con, "memories")
    assert 1 == while_unchanged(db, "rows", lambda: counted(db))
    with db.transaction() as con:
        bump(con, "vectors")
    assert 2 == while_unchanged(db, "rows", lambda: counted(db))
    other.close()


def test_nothing_is_kept_of_what_a_transaction_may_undo(db: Database) -> None:
    assert 0 == while_unchanged(db, "rows", lambda: counted(db))
    with pytest.raises(RuntimeError), db.transaction() as con:
        bump(con, "memories")
        assert 1 == while_unchanged(db, "rows", lambda: counted(db))
        raise RuntimeError

    assert 0 == while_unchanged(db, "rows", lambda: counted(db))


def test_what_is_kept_is_of_the_view_that_is_open(db: Database, tmp_path: Path) -> None:
    other = Database.open(tmp_path / "counted.db", clock=FrozenClock())
    with db.read():
        assert 0 == while_unchanged(db, "rows", lambda: counted(db))
        with other.transaction() as con:
            bump(con, "memories")
        assert 0 == while_unchanged(db, "rows", lambda: counted(db))

    assert 1 == while_unchanged(db, "rows", lambda: counted(db))
    other.close()


def test_each_thread_keeps_what_it_read_itself(db: Database) -> None:
    looks: list[int] = []

    def look() -> int:
        looks.append(1)
        return counted(db)

    while_unchanged(db, "rows", look)
    thread = Thread(target=lambda: while_unchanged(db, "rows", look))
    thread.start()
    thread.join()
    while_unchanged(db, "rows", look)

    assert 2 == len(looks)


def test_results_are_kept_until_one_of_their_families_changes(db: Database, tmp_path: Path) -> None:
    other = Database.open(tmp_path / "counted.db", clock=FrozenClock())
    results = BoundedChangeCache[int](db, ("memories", "fulltext"), limit_bytes=10_000, size=lambda _: 8)

    assert [0, 0] == [results.get("rows", lambda: counted(db)) for _ in range(2)]
    assert 1 == len(results.kept)
    with other.transaction() as con:
        bump(con, "vectors")
    assert 0 == results.get("rows", lambda: counted(db))
    with other.transaction() as con:
        bump(con, "fulltext")
    assert 2 == results.get("other rows", lambda: counted(db))
    other.close()

    assert 1 == len(results.kept)  # what was kept before is gone, asked for again or not


def test_results_of_a_transaction_are_not_kept(db: Database) -> None:
    results = BoundedChangeCache[int](db, ("memories",), limit_bytes=10_000, size=lambda _: 8)
    with pytest.raises(RuntimeError), db.transaction() as con:
        bump(con, "memories")
        assert 1 == results.get("rows", lambda: counted(db))
        raise RuntimeError

    assert 0 == len(results.kept)
    assert 0 == results.get("rows", lambda: counted(db))


def test_results_are_kept_in_so_many_bytes(db: Database) -> None:
    results = BoundedChangeCache[int](db, ("memories",), limit_bytes=4_000, size=lambda _: 1_000)
    for key in range(10):
        results.get(key, lambda: 1)

    assert results.kept.nbytes() <= 4_000
    assert 0 < len(results.kept) < 10
