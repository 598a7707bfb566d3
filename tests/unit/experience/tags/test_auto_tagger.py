"""The rule that tags by itself, on logs whose ticks came in any order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import SHARED_FIXTURES, examples
from hexad.core.clock import FrozenClock
from hexad.core.ids import TimeSortedIds
from hexad.core.tick_ranges import union
from hexad.database import migrations
from hexad.database.connection import Database
from hexad.experience.stream.frames import Step
from hexad.experience.stream.log import LogWriter
from hexad.experience.tables.annotations import TagApplications
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tags.auto_tagger import AutoTagger
from hexad.lifecycle.schema import migrations as store_migrations
from hexad.redaction.masking import Masking
from hexad.redaction.redact import RedactionRules

CONCEPTS = ("a::A", "b::B")


class Store:
    """A store of which only the logs matter: frames go in with the ticks that a test says."""

    def __init__(self, folder: Path) -> None:
        self.clock = FrozenClock()
        self.db = Database.open(folder / "memory.db", clock=self.clock)
        migrations.apply(self.db, store_migrations(), self.clock)
        self.session = Sessions(self.db).start("s", max_context_tokens=None, at=self.clock.now())
        self.folder = folder / "log"
        self.logs: dict[int, LogWriter] = {}

    def write(self, log: int, ticks: Sequence[int], concepts: Sequence[str] = CONCEPTS[:1]) -> None:
        """Append a frame to a log: each tick with these concepts, active by a hundredth of the tick over 0.5."""
        if log not in self.logs:
            self.logs[log] = LogWriter(self.folder, begun_at=0, sync=False)
        self.logs[log].append(
            [
                Step(self.session, tick, 0, 1, 0, 0, 1, None, None, dict.fromkeys(concepts, 0.5), "x")
                for tick in ticks
            ]
        )

    def tagger(self) -> AutoTagger:
        return AutoTagger(
            self.db,
            self.folder,
            ids=TimeSortedIds(self.clock),
            masking=Masking(salt=lambda: b"", rules=RedactionRules()),
            lenses=None,
            threshold=0.5,
        )

    def ranges(self, concept: str = CONCEPTS[0]) -> list[tuple[int | None, int | None]]:
        found = TagApplications(self.db).of_tags([concept])
        return [(application.target.range_start, application.target.range_end) for application in found]

    def close(self) -> None:
        for log in self.logs.values():
            log.close()
        self.db.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path)
    yield made
    made.close()


def test_ticks_on_both_sides_of_a_range_join_it(store: Store) -> None:
    tagger = store.tagger()
    store.write(1, [5])
    tagger.run()
    store.write(2, [4, 6])  # in one look, apart from each other

    assert 0 == tagger.run(), "nothing new, what was there has grown"

    assert [(4, 6)] == store.ranges()


def test_a_tick_between_two_ranges_makes_them_one(store: Store) -> None:
    tagger = store.tagger()
    store.write(1, [1, 2, 4, 5])
    tagger.run()
    assert [(1, 2), (4, 5)] == store.ranges()

    store.write(2, [3])
    tagger.run()

    assert [(1, 5)] == store.ranges()


def test_a_log_that_is_read_on_is_looked_at_from_where_it_was_left(store: Store) -> None:
    first, second = store.tagger(), store.tagger()
    store.write(1, [1, 2])
    assert 1 == first.run()
    store.write(1, [7], ())
    store.write(1, [9])

    assert 1 == second.run(), "another process knows what was done"
    assert 0 == first.run()
    assert [(1, 2), (9, 9)] == store.ranges()


def test_inside_a_transaction_nothing_is_tagged_that_could_be_undone(store: Store) -> None:
    tagger = store.tagger()
    store.write(1, [1, 2])

    class Undone(Exception):
        pass

    with pytest.raises(Undone), store.db.transaction():
        assert 0 == tagger.run()
        raise Undone
    assert 1 == tagger.run()

    assert [(1, 2)] == store.ranges()


@settings(max_examples=examples(20), suppress_health_check=SHARED_FIXTURES)
@given(data=st.data())
def test_whatever_the_order_of_frames_and_looks_each_tick_is_tagged_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    ticks = data.draw(st.permutations(range(1, data.draw(st.integers(2, 25)))))
    store = Store(tmp_path_factory.mktemp("store"))
    taggers = [store.tagger(), store.tagger()]
    wanted: dict[str, set[int]] = {concept: set() for concept in CONCEPTS}
    at = 0
    while at < len(ticks):
        frame = sorted(ticks[at : at + data.draw(st.integers(1, 6))])
        concepts = data.draw(st.sampled_from([CONCEPTS, CONCEPTS[:1], CONCEPTS[1:], ()]))
        store.write(data.draw(st.integers(1, 3)), frame, concepts)
        for concept in concepts:
            wanted[concept].update(frame)
        at += len(frame)
        for tagger in data.draw(st.lists(st.sampled_from(taggers), max_size=2)):
            tagger.run()
    for tagger in taggers:
        tagger.run()

    found = {concept: store.ranges(concept) for concept in CONCEPTS}
    store.close()
    assert {concept: list(union((t, t) for t in some)) for concept, some in wanted.items()} == found
