"""Whatever is pinned, handed in, answered, let go of and compacted, in whatever order: nothing that is protected is
lost, and every timestep is there once, in full or in one record."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hexad
from example_counts import examples
from hexad import Fidelity, FrozenClock, Hexad, HexadError
from hexad.experience.values.tiers import SubmissionStatus

TICKS = 24
FULL = (Fidelity.HOT, Fidelity.WARM, Fidelity.SUBMITTED)
_numbers = count()

some = st.integers(0, 5)
ticks = st.tuples(st.integers(1, TICKS), st.integers(0, 9)).map(
    lambda row: (row[0], min(row[0] + row[1], TICKS))
)
steps = st.one_of(
    st.tuples(st.just("pin"), ticks),
    st.tuples(st.just("unpin"), some),
    st.tuples(st.just("tag"), st.integers(0, 1), ticks),
    st.tuples(st.just("submit"), st.integers(0, 1)),
    st.tuples(st.just("resolve"), some, st.booleans()),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("seal"), st.none()),
    st.tuples(st.just("wait"), st.sampled_from([1, 8])),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hexad, FrozenClock]]:
    clock = FrozenClock()
    with hexad.open(tmp_path_factory.mktemp("windows"), embedder=None, background=False, clock=clock) as hx:
        yield hx, clock
        assert [] == hx.check()


class Life:
    """One session, with its windows and submissions, and what must hold of them."""

    def __init__(self, hx: Hexad, clock: FrozenClock) -> None:
        self.hx, self.clock = hx, clock
        self.name = f"s{next(_numbers)}"
        hx.xdb.start_session(self.name, compaction=False)
        for tick in range(1, TICKS + 1):
            hx.xdb.record(
                "output", f"{tick} ", event_id=None if tick % 7 else f"e{tick}", token_count=tick % 3 + 1
            )
        self.buds = [hx.xdb.create_bud_tag(f"{self.name} bud {at}", "A bud.").id for at in range(2)]
        self.pins: list[str] = []
        self.submissions: list[str] = []

    def do(self, what: str, *given) -> None:
        """Do one step; what cannot be done is refused."""
        with contextlib.suppress(HexadError):
            getattr(self, what)(*given)

    def pin(self, where) -> None:
        self.pins.append(self.hx.xdb.pin_window(where, session_id=self.name).id)

    def unpin(self, at) -> None:
        if self.pins:
            self.hx.xdb.unpin_window(self.pins[at % len(self.pins)])

    def tag(self, bud, where) -> None:
        self.hx.xdb.tag(self.buds[bud], tick_range=where, session_id=self.name)

    def submit(self, bud) -> None:
        submission = f"{self.name}-{len(self.submissions)}"
        windows = self.hx.xdb.submit_graft(self.buds[bud], submission)
        self.submissions.append(submission)
        assert {Fidelity.SUBMITTED} == {self.hx.xdb.get_window(window).fidelity for window in windows}

    def resolve(self, at, accepted) -> None:
        if self.submissions:
            self.hx.xdb.resolve_submission(self.submissions[at % len(self.submissions)], accepted)

    def compact(self, _) -> None:
        self.hx.xdb.request_compaction(self.name)

    def seal(self, _) -> None:
        self.hx.xdb.seal()
        self.hx.maintain()

    def wait(self, days) -> None:
        self.clock.advance(days=days)
        self.hx.maintain()

    def look(self) -> None:
        shown = self.hx.xdb.recall(session_id=self.name, limit=1_000)
        full = {
            timestep_record.tick: timestep_record
            for timestep_record in shown
            if timestep_record.fidelity in FULL
        }
        cold = Counter[int]()
        for timestep_record in shown:
            if timestep_record.fidelity is Fidelity.COLD:
                record = self.hx.xdb.get_compressed_record(timestep_record.id)
                cold.update(int(step.rpartition("-")[2]) for step in record.source_record_ids)
        assert dict.fromkeys(range(1, TICKS + 1), 1) == Counter(full.keys()) + cold
        assert all(timestep_record.content == f"{tick} " for tick, timestep_record in full.items())
        assert sum(tick % 3 + 1 for tick in range(1, TICKS + 1)) == sum(
            timestep_record.token_count for timestep_record in shown
        )
        self.look_at_windows(full)

    def look_at_windows(self, full) -> None:
        expected = dict.fromkeys(full, Fidelity.HOT)
        windows = self.hx.xdb.windows(session_id=self.name)
        open_ones = {submission.id for submission in self.hx.xdb.submissions(SubmissionStatus.OPEN)}
        for strength in (Fidelity.WARM, Fidelity.SUBMITTED):
            for window in windows:
                if window.fidelity is strength:
                    covered = [tick for tick in full if window.start_tick <= tick <= window.end_tick]
                    assert sum(full[tick].token_count for tick in covered) == window.token_count
                    expected |= dict.fromkeys(covered, strength)
        assert expected == {tick: record.fidelity for tick, record in full.items()}
        for window in windows:
            assert (window.fidelity is Fidelity.SUBMITTED) == bool(window.submission_ids)
            assert open_ones.issuperset(window.submission_ids)
        for submission in open_ones & set(self.submissions):
            assert {Fidelity.SUBMITTED} == {
                window.fidelity for window in self.hx.xdb.get_windows_for_submission(submission)
            }


@pytest.mark.row("H073", "H090")
@settings(max_examples=examples(12), suppress_health_check=list(HealthCheck))
@given(plan=st.lists(steps, min_size=1, max_size=14))
def test_nothing_protected_is_lost_and_nothing_is_there_twice(store, plan):
    life = Life(*store)
    for step in plan:
        life.do(*step)
        life.look()
    for submission in life.submissions:
        life.do("resolve", life.submissions.index(submission), True)
    for at in range(len(life.pins)):
        life.do("unpin", at)
    life.look()
    assert not [
        window
        for window in life.hx.xdb.windows(session_id=life.name)
        if window.fidelity is Fidelity.SUBMITTED or (window.fidelity is Fidelity.WARM and window.pinned)
    ]
