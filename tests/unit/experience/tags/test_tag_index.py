"""The working set in memory: who is let go, who stays, and that it never shows what was."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.core.clock import FrozenClock
from hexad.database import migrations
from hexad.database.connection import Database
from hexad.experience.tables.tags import Tags
from hexad.experience.tags.tag_index import ActiveTags
from hexad.experience.values.tags import BudStatus, Tag, TagType
from hexad.lifecycle.schema import migrations as store_migrations


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "memory.db", clock=FrozenClock())
    migrations.apply(database, store_migrations(), FrozenClock())
    yield database
    database.close()


def put(db: Database, name: str, *, status: BudStatus | None = None) -> Tag:
    tag = Tag(
        id=name,
        name=name,
        tag_type=TagType.CUSTOM if status is None else TagType.BUD,
        bud_status=status,
        created_at=FrozenClock().now(),
        created_by="tests",
    )
    with db.transaction():
        Tags(db).insert(tag)
    return tag


@pytest.mark.row("H172", "H174", "H175")
def test_the_tag_that_was_not_used_longest_goes_first(db):
    kept = ActiveTags(db, limit=2)
    for name in ("a", "b"):
        kept.add(put(db, name))
    kept.get("a")
    put(db, "c")
    kept.get("c")

    assert ("a" in kept, "b" in kept, "c" in kept) == (True, False, True)
    assert "b" == kept.get("b").name  # what was let go is read again


@pytest.mark.row("H175")
def test_ten_thousand_are_kept_and_no_more(db):
    kept = ActiveTags(db)
    now = FrozenClock().now()
    for number in range(10_050):
        kept.add(Tag(id=f"t{number}", name="x", tag_type=TagType.CUSTOM, created_at=now, created_by="tests"))

    assert 10_000 == len(kept)
    assert "t49" not in kept
    assert 3_000 == kept.evict_unused(max_size=7_000)


@pytest.mark.row("H175")
def test_what_a_current_bud_needs_is_never_evicted(db):
    kept = ActiveTags(db, limit=3)
    bud, done = put(db, "bud", status=BudStatus.READY), put(db, "done", status=BudStatus.PROMOTED)
    near = put(db, "near")
    with db.transaction():
        Tags(db).relate_bud("bud", ["near"])
        Tags(db).relate_bud("done", ["far"])
    for tag in (bud, near, done):
        kept.add(tag)
    for name in ("x1", "x2", "x3"):
        kept.add(put(db, name))

    assert {"bud", "near", "x3"} == set(kept._kept)
    assert 1 == kept.evict_unused(max_size=0)
    assert {"bud", "near"} == set(kept._kept)


def test_a_bud_that_is_given_up_can_be_evicted(db):
    kept = ActiveTags(db, limit=1)
    kept.add(put(db, "bud", status=BudStatus.COLLECTING))
    with db.transaction():
        Tags(db).set_bud_status("bud", BudStatus.ABANDONED)
    kept.add(put(db, "other"))

    assert ["other"] == [*kept._kept]


def test_a_change_by_another_connection_is_seen(db):
    kept, put_tag = ActiveTags(db), put(db, "bud", status=BudStatus.COLLECTING)
    kept.add(put_tag)
    other = Database.open(db.path, clock=FrozenClock())
    with other.transaction():
        Tags(other).set_bud_status("bud", BudStatus.TRAINING)
    other.close()

    assert BudStatus.TRAINING is kept.get("bud").bud_status
    assert (0, 1) == (kept.hits, kept.misses)
    kept.get("bud")
    assert (1, 1) == (kept.hits, kept.misses)


@settings(max_examples=examples(20))
@given(st.lists(st.integers(min_value=0, max_value=9), max_size=60), st.integers(min_value=1, max_value=6))
def test_it_keeps_what_a_plain_list_of_uses_would(tmp_path_factory, uses, limit):
    path = tmp_path_factory.mktemp("lru") / "memory.db"
    database = Database.open(path, clock=FrozenClock())
    try:
        migrations.apply(database, store_migrations(), FrozenClock())
        for number in range(10):
            put(database, f"t{number}")
        kept, expected = ActiveTags(database, limit=limit), OrderedDict[str, None]()
        for number in uses:
            kept.get(f"t{number}")
            expected[f"t{number}"] = None
            expected.move_to_end(f"t{number}")
            if len(expected) > limit:
                expected.popitem(last=False)
            assert [*expected] == [*kept._kept]
    finally:
        database.close()
