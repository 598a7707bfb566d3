"""What a record counts for in its window where nobody says it, and that a window is never more than it holds."""

from __future__ import annotations

import json
import random

import numpy
import pytest

from hexad import Hexad
from hexad.core.event_types import EventType
from hexad.text.tokens import estimate_tokens
from opener import Opener

MESSAGE = (
    "We moved the nightly build to two in the morning, because Anna saw that the backup runs at one. " * 5
)
WORDS = "lexer parser build backup ferry window kernel ledger token branch review merge".split()


def counts(hx: Hexad, session: str = "monday") -> list[int]:
    return [step.token_count for step in hx.xdb.recall(session_id=session, limit=1_000)]


def talk(count: int) -> list[str]:
    draw = random.Random(7)
    return [f"{at}: " + " ".join(draw.choices(WORDS, k=40)).capitalize() + "." for at in range(count)]


@pytest.mark.row("H158")
@pytest.mark.parametrize("kind", [kind.value for kind in EventType])
def test_a_message_counts_by_its_length_however_it_is_recorded(hx, kind):
    hx.xdb.start_session("monday", compaction=False)
    hx.xdb.record(kind, MESSAGE)
    hx.xdb.record_many(
        [{"event_type": kind, "content": MESSAGE}, {"event_type": kind, "content": MESSAGE, "role": "a"}]
    )
    hx.xdb.record_many({"event_type": [kind], "content": numpy.array([MESSAGE])})
    hx.xdb.record(kind, MESSAGE, token_count=3)

    assert [*[estimate_tokens(MESSAGE)] * 4, 3] == counts(hx)


@pytest.mark.row("H157")
def test_a_generated_token_is_one_however_it_is_recorded(hx):
    hx.xdb.start_session("monday", compaction=False)
    tokens = [" responsibilities", "\n\n", "", " " * 20, "It"]
    for token in tokens:
        hx.xdb.record("output", token)
    for number, token in enumerate(["x" * 200, "of the"]):
        hx.xdb.on_output_token(token, number, {"p::Seen": 0.5})
    hx.xdb.record_many([{"event_type": "output", "content": token} for token in tokens])
    hx.xdb.record_many({"event_type": ["output"] * 2, "content": ["of the", "x" * 200], "token_id": [3, 4]})

    assert [1] * 14 == counts(hx)
    by_hook = hx.xdb.recall(session_id="monday", tick_range=(6, 7))
    assert [("assistant", 0), ("assistant", 1)] == [(step.role, step.token_id) for step in by_hook]


@pytest.mark.row("H158")
def test_a_message_of_one_long_word_and_one_without_spaces_count_by_their_length(hx):
    hx.xdb.start_session("monday", compaction=False)
    for text in ("x" * 400, "\u6211\u4eec\u5468\u4e8c\u53d1\u5e03" * 20):
        hx.xdb.record("output", text)
    hx.xdb.on_input("Yes", "user")
    hx.xdb.on_input("", "user")

    assert [100, 30, 1, 1] == counts(hx)


@pytest.mark.row("H158")
def test_a_secret_counts_as_what_is_kept_of_it(hx):
    hx.xdb.start_session("monday", compaction=False)
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    hx.xdb.on_input(f"use {secret}", "user")
    hx.xdb.record_many([{"event_type": "input", "content": f"use {secret}"}] * 2)

    (kept,) = {step.content for step in hx.xdb.recall(session_id="monday")}
    assert [estimate_tokens(kept)] * 3 == counts(hx)


@pytest.mark.row("H158", "H085")
def test_messages_fill_a_window_and_it_compacts(hx):
    hx.xdb.start_session("monday", max_context_tokens=1_000)
    for text in talk(60):
        hx.xdb.on_input(text, "user", {"p::Build": 0.5})

    state = hx.xdb.get_context_state("monday")
    assert 0 < state["current_tokens"] <= 1_000
    assert hx.xdb.compactions()
    assert len(str(hx.xdb.context("monday"))) <= 1.1 * 4 * 1_000


def test_what_compaction_keeps_is_in_proportion_to_what_goes(hx):
    hx.xdb.start_session("monday")
    texts = talk(80)
    for text in texts:
        hx.xdb.on_input(text, "user")
    assert 20_000 < sum(map(len, texts)) < 8_192 * 4

    made = hx.xdb.request_compaction()

    assert made is not None
    assert made.tokens_before / 8 < made.tokens_after < made.tokens_before / 2
    assert 1_000 < len(made.summary)


@pytest.mark.parametrize("ahead", ["rows", "messages"])
def test_a_context_is_never_more_than_its_window_whatever_the_background_has_come_to(opened: Opener, ahead):
    hx = opened()
    hx.xdb.start_session("monday", max_context_tokens=1_000, compaction=False)
    if ahead == "rows":
        hx.xdb.record_many(
            [
                {"event_type": "output", "content": f" w{at}", "event_id": f"e{at // 50}"}
                for at in range(7_500)
            ]
        )
    else:
        hx.xdb.record_many([{"event_type": "input", "content": text} for text in talk(120)])
    before = sum(counts_of_all(hx))

    still = hx.xdb.context("monday")
    hx.xdb.start_session("monday", compaction=True)  # which looks at no window before something is recorded
    assert not hx.xdb.compactions()
    compacted = hx.xdb.context("monday")

    assert 7_000 <= before
    assert still.omitted > 0 and not still.summary and still.token_count <= 1_000
    assert still.events[-1].content == compacted.events[-1].content
    assert sum(event.token_count for event in still.events) == still.token_count
    assert 0 == compacted.omitted and compacted.summary and compacted.token_count <= 1_000
    assert len(hx.xdb.compactions()) > 1
    assert json.loads(json.dumps(compacted.to_dict()))["omitted"] == 0


def counts_of_all(hx: Hexad) -> list[int]:
    return [step.token_count for step in hx.xdb.recall(session_id="monday", limit=100_000)]


def test_a_context_that_cannot_be_compacted_shows_the_newest(opened: Opener):
    hx = opened()
    hx.xdb.start_session("monday", max_context_tokens=1_000, compaction=False)
    hx.xdb.record_many([{"event_type": "input", "content": text} for text in talk(40)])
    hx.xdb.flush()

    shown = opened(readonly=True).xdb.context("monday")

    assert shown.token_count <= 1_000 < sum(counts_of_all(hx))
    assert talk(40)[-1] == shown.events[-1].content
    assert 40 == shown.omitted + len(shown.events)


def test_the_agents_own_inference_may_look_at_the_context_that_it_summarises(hx):
    hx.xdb.start_session("monday", max_context_tokens=1_000)
    seen = []
    hx.xdb.set_summarizer(
        lambda prompt: (seen.append(hx.xdb.context("monday").token_count), "They talked.")[1]
    )

    for text in talk(30):
        hx.xdb.on_input(text, "user")

    assert seen and max(seen) <= 1_000
