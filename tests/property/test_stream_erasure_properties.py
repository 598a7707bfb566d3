"""Whatever was recorded, compacted, compressed, pinned and tagged before: what is erased is gone, and only that."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hexad
from example_counts import examples
from hexad import Fidelity, FrozenClock, Hexad
from stream_canaries import found_in

EXAMPLES = examples(12)

SESSIONS = ("one", "two", "three")
TAGS = ("red", "blue")

steps = st.lists(
    st.one_of(
        st.tuples(st.just("record"), st.sampled_from(SESSIONS), st.integers(1, 60)),
        st.tuples(st.just("tag"), st.sampled_from(TAGS), st.sampled_from(SESSIONS), st.integers(1, 120), st.integers(0, 9)),
        st.tuples(st.just("pin"), st.sampled_from(SESSIONS), st.integers(1, 120), st.integers(0, 9)),
        st.tuples(st.just("compact"), st.sampled_from(SESSIONS)),
        st.tuples(st.just("compress"), st.sampled_from((0, 3_000, 10_000))),
        st.tuples(st.just("seal")),
        st.tuples(st.just("maintain")),
        st.tuples(st.just("wait"), st.integers(1, 40)),
        st.tuples(st.just("forget tag"), st.sampled_from(TAGS)),
        st.tuples(st.just("forget session"), st.sampled_from(SESSIONS)),
        st.tuples(st.just("forget before"), st.integers(0, 30)),
        st.tuples(st.just("forget tag in session"), st.sampled_from(TAGS), st.sampled_from(SESSIONS)),
    ),
    max_size=14,
)  # fmt: skip


@dataclass
class World:
    """A store, and the words that were recorded in it and are to be found or not."""

    hx: Hexad
    clock: FrozenClock
    numbers: count[int] = field(default_factory=lambda: count(10_000))
    words: dict[tuple[str, int], tuple[str, datetime]] = field(default_factory=dict)
    tagged: dict[str, list[tuple[str, int, int]]] = field(default_factory=lambda: {tag: [] for tag in TAGS})
    erased: set[str] = field(default_factory=set)

    def hot(self) -> dict[tuple[str, int], str]:
        """Return what is in full detail, by session and tick."""
        found = self.hx.xdb.recall(session_id="*", limit=100_000)
        return {
            (record.session_id or "", record.tick or 0): record.content
            for record in found
            if record.fidelity is not Fidelity.COLD
        }

    def record(self, session: str, times: int) -> None:
        handle = self.hx.xdb.start_session(session, 60)
        for at in range(times):
            word = f"canary{next(self.numbers)}"
            made = handle.record("output", f" {word}", {"c": 0.5}, event_id=f"e{at // 7}" if at % 2 else None)
            self.words[session, int(made.rpartition("-")[2])] = (word, self.clock.now())

    def place(self, session: str, first: int, length: int) -> tuple[int, int] | None:
        """Return a range of ticks that are there in full detail."""
        there = {tick for name, tick in self.hot() if name == session}
        if not there:
            return None
        start = sorted(there)[first % len(there)]
        last = start
        while last + 1 in there and last - start < length:
            last += 1
        return start, last

    def carrying(self, tag: str) -> set[tuple[str, int]]:
        return {
            (session, tick)
            for session, first, last in self.tagged[tag]
            for tick in range(first, last + 1)
            if (session, tick) in self.words
        }

    def forget(self, selected: set[tuple[str, int]], **selection: Any) -> None:
        before = self.hot()
        self.hx.forget(**selection, purge=True, confirm=True)
        assert {place: word for place, word in before.items() if place not in selected} == self.hot()
        for place in selected:
            self.erased.add(self.words.pop(place)[0])


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(steps)
def test_what_is_erased_is_gone_and_only_that(given_steps: list[tuple[Any, ...]]) -> None:
    clock = FrozenClock()
    with tempfile.TemporaryDirectory() as folder:
        with hexad.open(Path(folder), embedder=None, background=False, clock=clock) as hx:
            world = World(hx, clock)
            for what, *arguments in given_steps:
                do(world, what, arguments)
                clock.advance(minutes=1)
            holds(hx)
        with hexad.open(Path(folder), embedder=None, background=False, clock=clock) as hx:
            hx.maintain()
            holds(hx)
        left = set().union(*found_in(Path(folder), packed=False).values()) if world.erased else set()
        assert set() == left & world.erased


def holds(hx: Hexad) -> None:
    assert [] == hx.check()
    counted = sum(amount.timesteps for amount in hx.xdb.session_totals().values())
    counted += sum(
        record.timesteps
        for record in hx.xdb.compressed_records(session_id="*", limit=100_000)
        if record.session_id is None
    )
    assert counted == sum(bucket.timesteps for bucket in hx.xdb.activity(session_id="*", by="month"))


def do(world: World, what: str, arguments: list[Any]) -> None:
    hx, xdb = world.hx, world.hx.xdb
    if what == "record":
        world.record(*arguments)
    elif what in ("tag", "pin"):
        *tag, session, first, length = arguments
        place = world.place(session, first, length)
        if place is None:
            return
        if what == "pin":
            xdb.pin_window(place, session_id=session)
        else:
            xdb.tag(tag[0], tick_range=place, session_id=session, note="A note.")
            xdb.comment("A comment.", tick_range=place, session_id=session)
            world.tagged[tag[0]].append((session, *place))
    elif what == "compact":
        if arguments[0] in {session_info.id for session_info in xdb.sessions()}:
            xdb.request_compaction(session_id=arguments[0])
    elif what == "compress":
        xdb.check_and_compress(max_storage_bytes=arguments[0])
    elif what == "seal":
        xdb.seal()
    elif what == "maintain":
        hx.maintain()
    elif what == "wait":
        world.clock.advance(days=arguments[0])
    elif what == "forget tag":
        world.forget(world.carrying(arguments[0]), tag=arguments[0])
        world.tagged[arguments[0]].clear()
    elif what == "forget session":
        (session,) = arguments
        world.forget({place for place in world.words if place[0] == session}, session=session)
        for some in world.tagged.values():
            some[:] = [row for row in some if row[0] != session]
    elif what == "forget before":
        border = world.clock.now() - timedelta(days=arguments[0])
        world.forget({place for place, (_, at) in world.words.items() if at < border}, before=border)
    else:
        tag, session = arguments
        world.forget(
            {place for place in world.carrying(tag) if place[0] == session}, tag=tag, session=session
        )
        world.tagged[tag] = [row for row in world.tagged[tag] if row[0] != session]
