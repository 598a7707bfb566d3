"""What is known of candidates is read once, until these memories change."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from hexad import Hexad
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.memory.tables import memories, ranking_columns
from opener import Opener


@pytest.fixture
def hx(opened: Opener) -> Hexad:
    hx = opened(embedder=None)
    for number in range(4):
        hx.remember(f"Herons nest in tree {number}.", id=f"mem-{number}")
    return hx


def statements(stores: Stores, numbers: Collection[int]) -> tuple[dict[int, str], int]:
    """Return the ids of these memories, and how many statements read rows for them."""
    heard: list[str] = []
    stores.db.tracer = lambda sql, _seconds: heard.append(sql)
    rows = stores.places.of(numbers)
    stores.db.tracer = None
    return {no: row.id for no, row in rows.items()}, sum("m.content_hash" in sql for sql in heard)


def test_rows_that_were_read_are_not_read_again(hx: Hexad) -> None:
    stores = hx._services.stores

    assert ({1: "mem-0", 2: "mem-1"}, 1) == statements(stores, range(1, 3))
    assert ({1: "mem-0", 2: "mem-1"}, 0) == statements(stores, range(1, 3))
    assert ({2: "mem-1", 3: "mem-2"}, 1) == statements(stores, range(2, 4))
    assert ({}, 1) == statements(stores, range(90, 92))
    assert ({}, 0) == statements(stores, range(90, 92))
    assert 0 < hx.status().caches["ranking rows"].bytes


def test_what_another_opening_changes_is_seen(hx: Hexad, opened: Opener) -> None:
    stores = hx._services.stores
    statements(stores, range(1, 6))

    other = opened(embedder=None)
    other.forget("mem-1", confirm=True)
    other.remember("Herons eat fish.", id="mem-5")

    assert ({1: "mem-0", 3: "mem-2", 4: "mem-3", 5: "mem-5"}, 1) == statements(stores, range(1, 6))


@pytest.mark.parametrize("many", [False, True])
def test_what_a_write_does_not_touch_is_not_read_again(
    hx: Hexad, opened: Opener, monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    if many:  # in a store of very many spaces all are read again
        monkeypatch.setattr(ranking_columns, "SPACES_MOST", 0)
    stores, other = hx._services.stores, opened(embedder=None)
    statements(stores, range(1, 5))

    other.remember("Herons eat fish.", id="mem-5")
    assert ({1: "mem-0", 2: "mem-1"}, int(many)) == statements(stores, range(1, 3))
    assert ({5: "mem-5"}, 1) == statements(stores, range(5, 6))

    other.forget("mem-0")
    assert ({2: "mem-1", 3: "mem-2", 5: "mem-5"}, int(many)) == statements(stores, (2, 3, 5))
    assert ({}, 1) == statements(stores, range(1, 2))

    other.restore("mem-0")
    other.remember("Herons nest on the ground.", id="mem-1")
    rows = stores.places.of([1, 2])
    assert ["mem-0", "mem-1"] == [row.id for row in rows.values()]
    assert hx.get("mem-1").content_hash == rows[2].content_hash


def test_more_changes_than_are_followed_are_all_seen(hx: Hexad, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking_columns, "FOLLOWED_MOST", 2)
    stores = hx._services.stores
    statements(stores, range(1, 5))

    for number in range(3):
        hx.forget(f"mem-{number}")

    assert ({4: "mem-3"}, 1) == statements(stores, range(1, 5))


def test_what_was_undone_is_not_kept(hx: Hexad) -> None:
    stores = hx._services.stores
    with pytest.raises(RuntimeError), stores.db.transaction() as con:
        con.execute("UPDATE memories SET status = 'archived' WHERE no = 1")
        stores.memories.set_pinned(2, True, at=hx._services.context.clock.now())
        assert [2] == list(stores.places.of([1, 2]))
        raise RuntimeError

    stores.memories.set_pinned(2, True, at=hx._services.context.clock.now())
    assert [1, 2] == list(stores.places.of([1, 2]))


def test_what_is_hidden_from_a_role_is_not_shown_from_what_was_read(hx: Hexad, opened: Opener) -> None:
    statements(hx._services.stores, range(1, 5))
    dev = opened(embedder=None, role="dev")
    before = statements(dev._services.stores, range(1, 5))[0]

    hx.spaces.set_policy("default", {"visibility": [{"kinds": ["note"], "roles": ["lead"]}]})

    assert 4 == len(before)
    assert {} == statements(dev._services.stores, range(1, 5))[0]


def test_speakers_are_read_again_when_there_is_another(hx: Hexad) -> None:
    stores = hx._services.stores
    hx.remember([{"role": "user", "name": "Ann", "content": "I keep bees in the garden."}], conversation="a")
    names = stores.places.speakers()

    hx.remember([{"role": "user", "name": "Ben", "content": "I keep geese by the pond."}], conversation="a")

    assert {*names.values()} | {"ben"} == {*stores.places.speakers().values()}


def test_whether_any_memory_passes_is_looked_for_once_until_memories_or_spaces_change(
    hx: Hexad, opened: Opener
) -> None:
    stores, heard = hx._services.stores, list[str]()
    decisions, elsewhere = Filters(kinds=("decision",)), Filters(spaces=("ponds",))

    def passing() -> tuple[list[bool], int]:
        heard.clear()
        stores.db.tracer = lambda sql, _seconds: heard.append(sql)
        found = [stores.places.any_passes(filters) for filters in (decisions, elsewhere, Filters())]
        stores.db.tracer = None
        return found, sum("FROM memories" in sql for sql in heard)

    assert ([False, False, True], 3) == passing()
    assert ([False, False, True], 0) == passing()

    other = opened(embedder=None)
    other.remember("We count herons in May.", kind="decision", space="ponds")

    assert ([True, True, True], 3) == passing()
    with pytest.raises(RuntimeError), stores.db.transaction() as con:
        con.execute("UPDATE memories SET status = 'archived'")
        assert [False, False, False] == passing()[0]
        raise RuntimeError
    assert ([True, True, True], 0) == passing()


def test_a_role_is_told_of_what_it_may_see_alone(hx: Hexad, opened: Opener) -> None:
    dev = opened(embedder=None, role="dev")._services.stores.places
    assert dev.any_passes(Filters(kinds=("note",)))

    hx.spaces.set_policy("default", {"visibility": [{"kinds": ["note"], "roles": ["lead"]}]})

    assert hx._services.stores.places.any_passes(Filters(kinds=("note",)))
    assert not dev.any_passes(Filters(kinds=("note",)))


def test_a_layer_has_memories_where_one_came_from_there(hx: Hexad, tmp_path: Path) -> None:
    def there() -> list[str]:
        places = hx._services.stores.places
        return [
            name
            for name in ("project", "governance", "vector")
            if places.any_passes(Filters(origins=(name,)))
        ]

    assert ["project"] == there()
    hx.remember("We count herons in May.", kind="decision", id="counted")
    assert ["project", "governance"] == there()
    (tmp_path / "herons.md").write_text("# Herons\n\nHerons stand still.\n", encoding="utf-8")
    hx.ingest(tmp_path / "herons.md")
    hx.forget("counted", confirm=True)
    assert ["project", "vector"] == there()
    assert hx._services.stores.places.any_passes(Filters(origins=("governance", "vector")))


def test_what_turns_are_called_is_not_kept_in_memory() -> None:
    columns = ("garden-talks", "1", 0, "Ann")

    assert memories._turn_of(columns) is not memories._turn_of(columns)  # a cache would keep what is erased
