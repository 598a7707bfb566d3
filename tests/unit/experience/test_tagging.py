"""Where tags are: the resolver that a query of the stream asks, and what a tick carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.core.clock import FrozenClock
from hexad.core.tick_ranges import count, intersection, union
from hexad.database import migrations
from hexad.database.connection import Database
from hexad.errors import InvalidInput
from hexad.experience.tables.annotations import Comments, TagApplications
from hexad.experience.tables.tags import Tags
from hexad.experience.tagging import CommentPlaces, TagPlaces
from hexad.experience.tags.tag_index import ActiveTags, ConceptPacks
from hexad.experience.values.tags import (
    Comment,
    Tag,
    TagApplication,
    TaggedTicks,
    TagSource,
    TagType,
    Target,
    TickRange,
    event_target,
    range_target,
    timestep_target,
)
from hexad.lifecycle.schema import migrations as store_migrations

DATA = Path(__file__).parents[2] / "data" / "concepts"
NOW = FrozenClock().now()


class Events:
    """A stream's word on its events, as a table."""

    def __init__(self, table: Mapping[tuple[str, str], Sequence[TickRange]]) -> None:
        self._table = table

    def ticks_of(self, session_id: str, event_ids: Sequence[str]) -> Mapping[str, Sequence[TickRange]]:
        return {
            event: self._table[session_id, event] for event in event_ids if (session_id, event) in self._table
        }

    def events_at(self, session_id: str, tick: int) -> Sequence[str]:
        return [
            event
            for (session, event), ranges in self._table.items()
            if session == session_id and any(first <= tick <= last for first, last in ranges)
        ]


def opened(path: Path) -> Database:
    database = Database.open(path / "memory.db", clock=FrozenClock())
    migrations.apply(database, store_migrations(), FrozenClock())
    return database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = opened(tmp_path)
    yield database
    database.close()


def put(db: Database, *names: str) -> None:
    with db.transaction():
        for name in names:
            Tags(db).insert(
                Tag(id=f"tag_{name}", name=name, tag_type=TagType.CUSTOM, created_at=NOW, created_by="tests")
            )


def apply(db: Database, tag_id: str, *targets: Target) -> None:
    store = TagApplications(db)
    at = store.count()
    with db.transaction():
        store.add(
            [
                TagApplication(
                    id=f"ta-{at + i}",
                    tag_id=tag_id,
                    target=target,
                    confidence=1.0,
                    source=TagSource.MANUAL,
                    created_at=NOW,
                )
                for i, target in enumerate(targets)
            ]
        )


def test_timesteps_events_and_ranges_are_one_answer(db):
    put(db, "odd")
    apply(
        db,
        "tag_odd",
        timestep_target("ts-a-5"),
        range_target("a", (6, 9)),
        event_target("a", "ev", (20, 22)),
        range_target("b", (1, 1)),
    )
    places = TagPlaces(db)

    assert {"a": TaggedTicks(ranges=((5, 9), (20, 22)))} == places.ranges("a", ["odd"])
    assert ["a", "b"] == [*places.ranges(None, ["ODD"])]
    assert {"a": TaggedTicks(ranges=((8, 9), (20, 21)))} == places.ranges("a", ["odd"], ticks=(8, 21))
    assert {} == places.ranges("c", ["odd"])
    assert {} == places.ranges("a", ["odd"], ticks=(10, 19))


def test_all_asks_for_every_tag_and_any_for_one(db):
    put(db, "x", "y")
    apply(db, "tag_x", range_target("a", (1, 10)), range_target("b", (1, 5)))
    apply(db, "tag_y", event_target("a", "ev", (8, 20)))
    places = TagPlaces(db)

    assert {"a": TaggedTicks(ranges=((8, 10),))} == places.ranges(None, ["x", "y"])
    assert {"a": TaggedTicks(ranges=((1, 20),)), "b": TaggedTicks(ranges=((1, 5),))} == places.ranges(
        None, ["x", "y"], match="any"
    )
    assert {} == places.ranges(None, ["x", "never seen"])
    assert ["a", "b"] == [*places.ranges(None, ["x", "never seen"], match="any")]


@pytest.mark.parametrize(("tags", "match"), [([], "all"), ("x", "all"), (["x"], "some")])
def test_a_question_that_makes_no_sense_is_refused(db, tags, match):
    with pytest.raises(InvalidInput):
        TagPlaces(db).ranges(None, tags, match=match)


def test_the_stream_says_where_an_event_is_that_was_tagged_without_ticks(db):
    put(db, "x")
    apply(
        db, "tag_x", event_target("a", "ev"), event_target("a", "lost"), event_target("a", "done", (30, 31))
    )
    places = TagPlaces(db, events=Events({("a", "ev"): [(3, 4), (9, 9)], ("a", "done"): [(1, 99)]}))

    assert {
        "a": TaggedTicks(ranges=((3, 4), (9, 9), (30, 31)), unknown_events=frozenset({"lost"}))
    } == places.ranges("a", ["x"])
    assert [] == places.tags_at("a", 5, event_ids=[])
    assert ["x"] == [tag.name for tag in places.tags_at("a", 9)]
    assert ["x"] == [tag.name for tag in TagPlaces(db).tags_at("a", 30)]
    assert ["x"] == [tag.name for tag in TagPlaces(db).tags_at("a", 500, event_ids=["lost"])]


@pytest.mark.row("H039")
def test_what_is_tagged_with_a_concept_counts_for_the_concepts_above(db):
    ConceptPacks(db, ActiveTags(db)).load(DATA / "kitchen")
    kitchen = "example.org/kitchen::"
    apply(db, f"{kitchen}BreadBaking", timestep_target("ts-a-1"))
    apply(db, f"{kitchen}Cooking", timestep_target("ts-a-2"))
    places = TagPlaces(db)

    assert {"a": TaggedTicks(ranges=((1, 2),))} == places.ranges("a", ["Cooking"])
    assert {"a": TaggedTicks(ranges=((1, 1),))} == places.ranges("a", [f"{kitchen}Baking"])
    assert {"a": TaggedTicks(ranges=((1, 1),))} == places.ranges("a", ["food", "cooking"])
    found = places.applications_at("a", 1)
    assert [
        ("BreadBaking", "manual"),
        ("Baking", "inherited"),
        ("Cooking", "inherited"),
        ("Food", "inherited"),
    ] == [(application.tag_id.removeprefix(kitchen), application.source.value) for application in found]
    assert {"ta-0"} == {application.id for application in found}
    assert ["BreadBaking"] == [tag.name for tag in places.tags_at("a", 1)]
    assert 4 == len(places.tags_at("a", 1, inherited=True))


@pytest.mark.row("H111")
def test_comments_of_a_range_are_those_that_share_a_tick_with_it(db):
    targets = {
        "before": range_target("a", (1, 4)),
        "touches": range_target("a", (2, 5)),
        "inside": timestep_target("ts-a-7"),
        "event": event_target("a", "ev"),
        "around": range_target("a", (0, 10**9)),
        "elsewhere": timestep_target("ts-b-7"),
        "lost": event_target("a", "lost"),
    }
    with db.transaction():
        for name, target in targets.items():
            Comments(db).add(Comment(id=name, target=target, content=name, created_at=NOW))
    places = CommentPlaces(db, events=Events({("a", "ev"): [(9, 9)]}))

    assert ["touches", "inside", "event", "around"] == [c.content for c in places.in_range("a", (5, 9))]
    assert ["touches", "inside", "around"] == [c.content for c in places.in_range("a", (5, 8))]


ticks = st.integers(min_value=0, max_value=40)
ranges = st.tuples(ticks, st.integers(min_value=0, max_value=20)).map(lambda pair: (pair[0], sum(pair)))


def members(found) -> set[int]:
    return {tick for first, last in found for tick in range(first, last + 1)}


@given(st.lists(ranges), st.lists(ranges))
def test_ranges_are_sets_of_ticks(left, right):
    a, b = union(left), union(right)

    assert members(left) == members(a)
    assert members(a) & members(b) == members(intersection(a, b))
    assert members(left) | members(right) == members(union([*a, *b]))
    assert len(members(a)) == count(a)
    assert all(first > before[1] + 1 for before, (first, _) in pairwise(a))


@settings(max_examples=examples(20))
@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("ab"), ranges), max_size=25),
    ticks,
    ranges,
)
def test_every_answer_is_what_a_look_at_each_application_gives(tmp_path_factory, applied, tick, window):
    database = opened(tmp_path_factory.mktemp("places"))
    try:
        put(database, "x", "y", "z")
        for name, session, where in applied:
            apply(database, f"tag_{name}", range_target(session, where))
        places = TagPlaces(database)

        at_tick = {name for name, session, (a, b) in applied if session == "a" and a <= tick <= b}
        assert at_tick == {tag.name for tag in places.tags_at("a", tick)}
        for match, combine in (("all", set.intersection), ("any", set.union)):
            expected = combine(
                *(members([w for n, s, w in applied if n == name and s == "a"]) for name in "xy")
            )
            answer = places.ranges("a", ["x", "y"], match=match).get("a", TaggedTicks(ranges=()))
            assert expected == members(answer.ranges)
            narrowed = places.ranges(None, ["x", "y"], match=match, ticks=window).get(
                "a", TaggedTicks(ranges=())
            )
            assert expected & members([window]) == members(narrowed.ranges)
    finally:
        database.close()
