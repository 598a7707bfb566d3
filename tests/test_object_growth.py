"""A process that lives long holds no more objects after a thousand operations than after the first ones."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable

import pytest

from hexad import FrozenClock, Hexad
from hexad.search.recall.recall_log import KEPT_CHARACTERS
from opener import Opener

WARM_UP, COUNTED = 24, 40
"""Operations before the first count, until every cache has what it will have, and between the two counts."""
QUESTIONS = (
    "gateway retries",
    "deploys on Tuesday",
    "who keeps the pool?",
    "what did we decide about tokens?",
)

OPERATIONS: dict[str, Callable[[Hexad, int], object]] = {
    "recall": lambda hx, i: hx.recall(QUESTIONS[i % 4]),
    "context": lambda hx, i: hx.context(QUESTIONS[i % 4], wait=True),
    "recall_context": lambda hx, i: hx.recall_context("default", QUESTIONS[i % 4]),
    "jit_context": lambda hx, i: hx.honeycomb.jit_context(QUESTIONS[i % 4]),
    "why": lambda hx, i: hx.governance.why(QUESTIONS[i % 4]),
    "get": lambda hx, i: hx.get(f"note-{i % 4}"),
    "status": lambda hx, i: hx.status(),
    "remember": lambda hx, i: hx.remember(f"The gateway has state {i % 2}.", id="state"),
    "record": lambda hx, i: hx.xdb.record("input", QUESTIONS[i % 4], session_id="talk"),
    "session": lambda hx, i: hx.session.set_task(QUESTIONS[i % 4]),
    "where a tag is": lambda hx, i: hx.forget(tag="useful", purge=True, dry_run=True),
}


@pytest.fixture
def filled(opened: Opener) -> Hexad:
    hx = opened()
    for number in range(30):
        hx.remember(f"Note {number}: the gateway retries {number} times, then deploys.", id=f"note-{number}")
    hx.governance.decide("Keep tokens in SQLite", rationale="One process.")
    hx.xdb.start_session("talk")
    hx.xdb.record("output", "Noted.", event_id="reply")
    hx.xdb.tag("useful", event_id="reply")
    hx.embed_pending()
    return hx


def counted(hx: Hexad) -> Counter[str]:
    hx.xdb.flush()  # what was recorded waits for a writer, who may be late on a busy machine
    gc.collect()
    return Counter(type(each).__qualname__ for each in gc.get_objects())


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_leave_no_objects_behind(filled: Hexad, clock: FrozenClock, name: str) -> None:
    operation = OPERATIONS[name]
    for number in range(WARM_UP):
        operation(filled, number)
        clock.advance(seconds=2)  # what is written later is written
    before = counted(filled)

    for number in range(COUNTED):
        operation(filled, number)
        clock.advance(seconds=2)  # what is written later is written

    grown = counted(filled) - before
    assert {} == {kind: count for kind, count in grown.items() if count >= COUNTED}


def test_what_recalls_handed_out_waits_up_to_a_size(filled: Hexad, clock: FrozenClock) -> None:
    handouts, long = filled._services.handouts, "retries " * 125_000
    handouts.flush()

    handouts.note_texts(((1, "the gateway", long) for _ in range(20)), at=clock.now())

    assert KEPT_CHARACTERS // len(long) == handouts.flush()
    handouts.note_texts([(1, "the gateway", long)], at=clock.now())
    assert 1 == handouts.flush()
