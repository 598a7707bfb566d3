"""Questions about tags in a store with a million applications."""

from __future__ import annotations

import pytest

from hexad.core.clock import SystemClock
from hexad.database import migrations
from hexad.database.connection import Database
from hexad.experience.tables.annotations import TagApplications
from hexad.experience.tables.tags import Tags
from hexad.experience.values.tags import Tag, TagApplication, TagSource, TagType, range_target
from hexad.lifecycle.schema import migrations as store_migrations


def application(number: int) -> TagApplication:
    return TagApplication(
        id=f"ta-{number}",
        tag_id=f"t{number % 100}",
        target=range_target(f"s{number % 50}", (number, number + number % 977)),
        confidence=0.5,
        source=TagSource.AUTO,
        created_at=SystemClock().now(),
    )


@pytest.mark.parametrize("rows", [20_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_what_is_on_a_tick_and_where_a_tag_is_takes_no_look_at_all_of_them(tmp_path, rows):
    database = Database.open(tmp_path / "memory.db", clock=SystemClock())
    migrations.apply(database, store_migrations(), SystemClock())
    store = TagApplications(database)
    with database.transaction():
        for number in range(100):
            Tags(database).insert(
                Tag(
                    id=f"t{number}",
                    name=f"t{number}",
                    tag_type=TagType.CUSTOM,
                    created_at=SystemClock().now(),
                    created_by="tests",
                )
            )
    for first in range(0, rows, 10_000):
        with database.transaction():
            store.add([application(number) for number in range(first, first + 10_000)])

    asked = range(0, rows, rows // 100)
    looked: list[int] = []
    with database.read() as con:
        con._sqlite.set_progress_handler(lambda: looked.append(100) or False, 100)
    for number in asked:
        assert store.touching(f"s{number % 50}", (number, number))
        assert store.placed([f"t{number % 100}"], session_id=f"s{number % 50}", ticks=(number, number))
    taken = sum(looked) / len(asked)

    print(f"{rows} applications: {taken:.0f} steps of SQLite's machine for both questions")
    assert taken < rows / 2  # each row that is looked at takes several
    assert rows == store.count()
    database.close()
