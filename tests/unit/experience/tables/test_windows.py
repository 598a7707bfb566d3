from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.core.clock import FrozenClock
from hexad.core.tick_ranges import difference, union
from hexad.database.connection import Database
from hexad.database.migrations import apply
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.windows import FullDetail, NewWindow, Windows
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.lifecycle.schema import migrations as store_migrations

ticks = st.tuples(st.integers(0, 40), st.integers(0, 8)).map(lambda row: (row[0], row[0] + row[1]))


@pytest.fixture
def db(tmp_path):
    clock = FrozenClock()
    database = Database.open(tmp_path / "memory.db", clock=clock)
    apply(database, store_migrations(), clock)
    for name in ("monday", "tuesday"):
        Sessions(database).start(name, max_context_tokens=8192, at=clock.now())
    yield database
    database.close()


def add(db: Database, session: int, *ranges: tuple[int, int], fidelity: Fidelity) -> list[int]:
    now = db.clock.now()
    with db.transaction():
        return [
            Windows(db).insert(
                NewWindow(
                    id=f"w-{session}-{fidelity}-{first}-{last}",
                    session_no=session,
                    ticks=(first, last),
                    holds=FullDetail(start_time=now, end_time=now, token_count=1),
                    fidelity=fidelity,
                ),
                at=now,
            )
            for first, last in ranges
        ]


@given(left=st.lists(ticks), right=st.lists(ticks))
def test_a_difference_holds_the_ticks_of_the_left_that_the_right_has_not(left, right):
    def members(ranges):
        return {tick for first, last in ranges for tick in range(first, last + 1)}

    rest = difference(union(left), union(right))

    assert rest == union(rest)
    assert members(rest) == members(left) - members(right)


def test_of_windows_that_overlap_the_strongest_counts(db):
    add(db, 1, (1, 10), (8, 20), (40, 50), fidelity=Fidelity.WARM)
    add(db, 1, (5, 9), (45, 60), fidelity=Fidelity.SUBMITTED)
    add(db, 1, (1, 99), fidelity=Fidelity.HOT)
    add(db, 1, (1, 98), fidelity=Fidelity.COLD)
    add(db, 2, (3, 4), fidelity=Fidelity.WARM)

    assert {
        Fidelity.SUBMITTED: ((5, 9), (45, 60)),
        Fidelity.WARM: ((1, 4), (10, 20), (40, 44)),
    } == Windows(db).protected(1)
    assert {Fidelity.SUBMITTED: (), Fidelity.WARM: ()} == Windows(db).protected(3)
    assert {1, 2} == set(Windows(db).protected_by_session())


def test_only_windows_that_share_a_tick_are_looked_at(db):
    add(db, 1, (1, 10), (20, 30), fidelity=Fidelity.WARM)
    add(db, 1, (9, 12), fidelity=Fidelity.SUBMITTED)

    assert {Fidelity.SUBMITTED: ((9, 12),), Fidelity.WARM: ()} == Windows(db).protected(1, (11, 19))
    assert {Fidelity.SUBMITTED: (), Fidelity.WARM: ((20, 30),)} == Windows(db).protected(1, (30, 99))


def test_a_released_window_protects_nothing(db):
    numbers = add(db, 1, (1, 10), (20, 30), fidelity=Fidelity.WARM)

    with db.transaction():
        Windows(db).release(numbers[0], Fidelity.COLD, CompressionLevel.REPLY)

    assert ((20, 30),) == Windows(db).protected(1)[Fidelity.WARM]
    assert Fidelity.COLD is Windows(db).find(ticks=(1, 10))[0].fidelity
