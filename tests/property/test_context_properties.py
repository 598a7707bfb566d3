"""Whatever is recorded, pinned and compacted, in whatever order: no token is lost and none counts twice."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import hexad
from example_counts import examples
from hexad import CompactionTrigger, Fidelity, FrozenClock, HexadError, TimeSortedIds
from hexad.text.tokens import estimate_tokens

WORDS = "the lexer swallowed a line end and Anna fixed it on Tuesday for the release".split()

RECORDS = st.tuples(
    st.just("record"),
    st.sampled_from(["output", "input", "tool_call"]),
    st.sampled_from([None, "a", "b", "c"]),
    st.integers(1, 40),
    st.integers(0, 12),
)
OTHERS = st.one_of(
    st.tuples(st.just("pin"), st.integers(1, 300), st.integers(0, 60)),
    st.tuples(st.just("unpin"), st.integers(0, 10)),
    st.tuples(st.just("compact")),
    st.tuples(st.just("expire")),
    st.tuples(st.just("seal")),
    st.tuples(st.just("reopen"), st.integers(20, 600)),
    st.tuples(st.just("tidy")),
)


class Life:
    """One session of a store, and what was recorded to it."""

    def __init__(self, folder: Path, window: int) -> None:
        self.folder, self.clock = folder, FrozenClock()
        self.ids = TimeSortedIds(self.clock, seed=1)
        self.recorded: list[int] = []
        self.pins: list[str] = []
        self.hx = self._open(window)

    def _open(self, window: int) -> hexad.Hexad:
        hx = hexad.open(self.folder, embedder=None, background=False, clock=self.clock, ids=self.ids)
        hx.xdb.start_session("s", window)
        return hx

    def do(self, what: str, *args: object) -> None:
        getattr(self, f"do_{what}")(*args)
        self.check()

    def do_record(self, kind: str, event: str | None, count: int, tokens: int) -> None:
        for _ in range(count):
            word = WORDS[len(self.recorded) % len(WORDS)]
            self.hx.xdb.record(kind, f" {word}", {"work::A": 0.5}, event_id=event, token_count=tokens)
            self.recorded.append(tokens)

    def do_pin(self, first: int, length: int) -> None:
        with contextlib.suppress(HexadError):  # nothing is there any more, or yet
            self.pins.append(self.hx.xdb.pin_window((first, first + length)).id)

    def do_unpin(self, which: int) -> None:
        if self.pins:
            with contextlib.suppress(HexadError):  # the same range was pinned twice: one window
                self.hx.xdb.unpin_window(self.pins.pop(which % len(self.pins)))

    def do_compact(self) -> None:
        before = self.hx.xdb.get_context_state()["current_tokens"]
        made = self.hx.xdb.request_compaction()
        after = self.hx.xdb.get_context_state()["current_tokens"]
        assert made is None or (made.tokens_after < made.tokens_before and after < before)

    def do_expire(self) -> None:
        self.hx._services.experience().compactor.expire("s", CompactionTrigger.SCHEDULED)
        assert (
            estimate_tokens(self.hx.xdb.context().summary)
            == self.hx.xdb.get_context_state()["current_tokens"]
        )

    def do_seal(self) -> None:
        self.hx.xdb.seal()

    def do_tidy(self) -> None:
        self.hx.xdb.seal()
        self.hx.maintain()

    def do_reopen(self, window: int) -> None:
        self.hx.close()
        self.hx = self._open(window)

    def check(self) -> None:
        """Each token is in the stream or in one REPLY record; the window is what is live, and the summary."""
        summary = (
            self.hx.xdb.context().summary
        )  # a window that was made smaller is compacted when it is asked for
        found = self.hx.xdb.recall(limit=100_000)
        (info,) = self.hx.xdb.sessions()
        stream = [record for record in found if record.fidelity is not Fidelity.COLD]
        ticks = [record.tick for record in stream]
        for record in found:
            if record.fidelity is Fidelity.COLD:
                ticks += [
                    int(name.rpartition("-")[2])
                    for name in self.hx.xdb.get_compressed_record(record.id).source_record_ids
                ]
        assert sorted(ticks) == list(range(1, len(self.recorded) + 1))
        assert sum(self.recorded) == sum(record.token_count for record in found)
        live = sum(record.token_count for record in stream if record.tick > info.compacted_through)
        assert live + estimate_tokens(summary) == self.hx.xdb.get_context_state()["current_tokens"]
        assert all(
            record.tick > info.compacted_through for record in stream if record.fidelity is Fidelity.HOT
        )


@pytest.mark.row("H064", "H129", "H130")
@settings(max_examples=examples(5), suppress_health_check=list(HealthCheck))
@example(360, [("record", "output", None, 37, 11), ("compact",), ("compact",), ("reopen", 69)])
@given(st.integers(20, 600), st.lists(st.one_of(RECORDS, OTHERS), min_size=3, max_size=14))
def test_every_token_is_once_in_the_stream_or_in_a_reply(window, steps):
    with tempfile.TemporaryDirectory() as folder:
        life = Life(Path(folder), window)
        try:
            for what, *args in steps:
                life.do(what, *args)
            assert [] == life.hx.check()
        finally:
            life.hx.close()
