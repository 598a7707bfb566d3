"""The table families, each on a real database: tasks, the queue of sources, small facts, columns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.core.clock import FrozenClock, SystemClock
from hexad.core.json_types import JSONValue
from hexad.database import migrations
from hexad.database.codec import dump, from_micros, load_object, load_strings, optional_time, to_micros
from hexad.database.connection import Database
from hexad.errors import InvalidSpace, NotFound
from hexad.lifecycle.schema import migrations as store_migrations
from hexad.memory.memory import Citation
from hexad.memory.store import Stores
from hexad.memory.tables.rows import dump_citations, load_citations
from hexad.memory.tables.sources import ItemState

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KIND = "embed"


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    database = Database.open(tmp_path / "memory.db", clock=SystemClock())
    migrations.apply(database, store_migrations(), FrozenClock())
    yield Stores(database)
    database.close()


def memory(stores: Stores, *numbers: int) -> None:
    """Make rows that tasks may refer to."""
    stores.spaces.ensure("s", at=NOW)
    values = {"no": "?1", "space_no": "1"}
    for _, name, kind, required, _, primary in stores.db.query("PRAGMA table_info(memories)"):
        if required and not primary:
            values.setdefault(str(name), "0" if kind in {"INTEGER", "REAL"} else "'' || ?1")
    with stores.db.transaction() as con:
        con.executemany(
            f"INSERT INTO memories({','.join(values)}) VALUES({','.join(values.values())})",
            [(no,) for no in numbers],
        )


# Columns --------------------------------------------------------------------------------------------------------


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_is_read_back_to_the_microsecond(time: datetime) -> None:
    assert time == from_micros(to_micros(time)) == optional_time(to_micros(time))


def test_missing_values_are_read_as_such() -> None:
    assert optional_time(None) is None
    assert () == load_strings("[]") == load_citations("[]")


@given(
    st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()))
)
def test_an_object_is_read_back_and_always_the_same_bytes(value: dict[str, JSONValue]) -> None:
    assert value == load_object(dump(value))
    assert dump(value) == dump(dict(reversed(value.items())))


def test_citations_are_kept_without_their_empty_fields() -> None:
    citations = (
        Citation(path="a.md"),
        Citation(path="b.py", symbol="f", content_hash="sha256:0", commit="c"),
    )

    assert citations == load_citations(dump_citations(citations))
    assert '[{"path":"a.md"},' == dump_citations(citations)[:17]


# Tasks ----------------------------------------------------------------------------------------------------------


def test_a_task_is_claimed_once_and_by_nobody_else_while_its_owner_lives(stores: Stores) -> None:
    memory(stores, 1, 2, 3)
    for no in (3, 1, 2, 1):
        stores.tasks.put(KIND, no)

    assert [1, 2] == stores.tasks.claim(KIND, owner="a", alive=frozenset({"a", "b"}), limit=2)
    assert [3] == stores.tasks.claim(KIND, owner="b", alive=frozenset({"a", "b"}), limit=2)
    assert [] == stores.tasks.claim(KIND, owner="b", alive=frozenset({"a", "b"}), limit=2)
    assert [1, 2] == stores.tasks.claim(KIND, owner="b", alive=frozenset({"b"}), limit=9)


def test_a_finished_task_is_gone_and_one_that_was_queued_anew_is_not(stores: Stores) -> None:
    memory(stores, 1, 2)
    stores.tasks.put(KIND, 1)
    stores.tasks.put(KIND, 2)
    stores.tasks.claim(KIND, owner="a", alive=frozenset({"a"}), limit=9)
    stores.tasks.put(KIND, 2)

    assert {1} == stores.tasks.finish_all(KIND, [1, 2], owner="a")
    assert (1, 0) == stores.tasks.counts(KIND)


def test_a_task_fails_for_good_after_so_many_tries_until_it_is_retried(stores: Stores) -> None:
    memory(stores, 1)
    stores.tasks.put(KIND, 1)
    for tried in range(1, 4):
        assert [1] == stores.tasks.claim(KIND, owner="a", alive=frozenset({"a"}), limit=9)
        stores.tasks.release_or_fail(KIND, 1, owner="a", attempts=3, error="down")
        assert ((1, 0) if tried < 3 else (0, 1)) == stores.tasks.counts(KIND)
    assert [] == stores.tasks.claim(KIND, owner="a", alive=frozenset({"a"}), limit=9)

    stores.tasks.retry_failed(KIND)

    assert [1] == stores.tasks.claim(KIND, owner="a", alive=frozenset({"a"}), limit=9)


# The queue ------------------------------------------------------------------------------------------------------


def test_a_source_waits_once_for_each_set_of_options(stores: Stores) -> None:
    for options in ({"space": "a"}, {"space": "a"}, {"space": "b"}):
        stores.queue.put("/x", options, at=NOW)

    assert (2, 0) == stores.queue.counts()


def test_a_claimed_source_is_finished_failed_or_given_back(stores: Stores) -> None:
    for name in ("/x", "/y", "/z"):
        stores.queue.put(name, {}, at=NOW)
    alive = frozenset({"me"})
    x, y, z = (stores.queue.claim("me", alive=alive) for _ in range(3))
    assert x is not None
    assert y is not None
    assert z is not None
    assert (["/x", "/y", "/z"], None) == (
        [x.source, y.source, z.source],
        stores.queue.claim("me", alive=alive),
    )

    stores.queue.finish(x.no)
    stores.queue.finish(y.no, error="gone")
    stores.queue.release(z.no)

    assert (1, 1) == stores.queue.counts()
    again = stores.queue.claim("me", alive=alive)
    assert again is not None
    assert ("/z", 2) == (again.source, again.attempts)


def test_a_source_that_is_given_back_beside_its_twin_is_one(stores: Stores) -> None:
    stores.queue.put("/x", {}, at=NOW)
    claimed = stores.queue.claim("me", alive=frozenset({"me"}))
    assert claimed is not None
    stores.queue.put("/x", {}, at=NOW)

    stores.queue.release(claimed.no)

    assert (1, 0) == stores.queue.counts()


# Sources --------------------------------------------------------------------------------------------------------


def test_items_that_a_run_did_not_meet_have_vanished(stores: Stores) -> None:
    memory(stores, 1, 2)
    space = stores.spaces.ensure("s", at=NOW)
    source = stores.sources.ensure("/x", kind="folder", space_no=space)
    first = stores.sources.next_run(source)
    states = [
        (name, ItemState(fingerprint="f", content_hash="h", memory_no=no))
        for no, name in ((1, "a"), (2, "b"))
    ]
    stores.sources.put_items(source, states, run=first)
    second = stores.sources.next_run(source)
    assert second > first
    changed = ItemState(fingerprint="g", content_hash="h", memory_no=None)
    stores.sources.put_items(source, [("a", changed)], run=second)

    assert [("b", 2)] == list(stores.sources.vanished(source, run=second))
    stores.sources.forget_item(source, "b")
    assert {"a": ItemState(fingerprint="g", content_hash="h", memory_no=1)} == stores.sources.items(source)


# Spaces and facts -----------------------------------------------------------------------------------------------


def test_a_space_is_made_once_and_its_twin_is_refused(stores: Stores) -> None:
    first = stores.spaces.ensure("Docs", at=NOW)

    assert first == stores.spaces.ensure("Docs", at=NOW + timedelta(days=1))
    assert NOW == stores.spaces.get("Docs").created_at
    with pytest.raises(InvalidSpace, match=r"'docs'.*'Docs'; use that name"):
        stores.spaces.ensure("docs", at=NOW)
    with pytest.raises(NotFound):
        stores.spaces.get("docs")
    assert stores.spaces.find("docs") is None


def test_a_fact_is_kept_as_it_was_first_said(stores: Stores) -> None:
    assert stores.meta.get("colour") is None
    assert "red" == stores.meta.ensure("colour", "red") == stores.meta.ensure("colour", "blue")
    stores.meta.put("colour", "blue")
    assert "blue" == stores.meta.get("colour")


def test_the_first_embedder_stays_until_it_is_replaced(stores: Stores) -> None:
    assert stores.meta.recorded_embedder() is None
    stores.meta.record_embedder("one", 3, replace=False)
    stores.meta.record_embedder("two", 4, replace=False)
    assert ("one", 3) == stores.meta.recorded_embedder()
    stores.meta.record_embedder("two", 4, replace=True)
    assert ("two", 4) == stores.meta.recorded_embedder()


def test_notes_of_maintenance_are_read_newest_first(stores: Stores) -> None:
    for day in range(3):
        stores.meta.log("swept", {"day": day}, at=NOW + timedelta(days=day))

    assert [
        (NOW + timedelta(days=2), "swept", {"day": 2}),
        (NOW + timedelta(days=1), "swept", {"day": 1}),
    ] == (stores.meta.logged(limit=2))
