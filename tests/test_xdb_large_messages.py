"""Messages that are most of a context window, or more than it holds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import hexad

SENTENCES = "".join(
    f"The {noun} of the {place} {verb} the {thing} at night. "
    for noun in ("keeper", "painter", "doctor", "farmer", "sailor", "writer", "baker")
    for place in ("harbour", "valley", "island", "castle", "market")
    for verb in ("found", "sold", "lost", "broke")
    for thing in ("lantern", "ledger", "compass", "violin")
)


@pytest.fixture
def hx() -> Iterator[hexad.Hexad]:
    with hexad.open(":memory:", embedder=None) as store:
        yield store


def ask(hx: hexad.Hexad, text: str, tokens: int) -> hexad.ContextWindow:
    hx.xdb.record("input", text, role="user", token_count=tokens)
    assert hx.wait_for_background(60)
    window = hx.xdb.context()
    assert window.token_count <= 1_000
    assert hx.xdb.get_context_state()["current_tokens"] == window.token_count
    return window


@pytest.mark.parametrize("tokens", [820, 900, 946, 1_000])
def test_the_question_just_asked_is_in_the_window(hx: hexad.Hexad, tokens: int) -> None:
    hx.xdb.start_session("f", max_context_tokens=1_000)
    hx.xdb.record("input", "What keeps the lamp of the harbour alight at night?", role="user", token_count=10)
    hx.xdb.record("output", "Its keeper does.", token_count=6)

    window = ask(hx, SENTENCES[: 4 * tokens], tokens)

    assert [event.token_count for event in window.events] == [tokens]
    assert window.omitted == 0


def test_each_large_question_is_in_the_window_when_it_is_answered(hx: hexad.Hexad) -> None:
    hx.xdb.start_session("f", max_context_tokens=1_000)
    for turn in range(4):
        window = ask(hx, SENTENCES[400 * turn :][:3_280], 820)
        assert 820 == window.events[-1].token_count

        hx.xdb.record("output", "So it was.", token_count=6)
        assert hx.wait_for_background(60)
        assert [820, 6] == [event.token_count for event in hx.xdb.context().events]
    assert window.summary


def test_a_large_question_leaves_when_what_follows_finds_no_room(hx: hexad.Hexad) -> None:
    hx.xdb.start_session("f", max_context_tokens=1_000)
    ask(hx, SENTENCES[:3_280], 820)

    window = ask(hx, "And what of the lantern?", 200)

    assert [200] == [event.token_count for event in window.events]
    assert "The keeper of the harbour" in window.summary


def test_a_long_summary_gives_way_to_a_question_that_fits(hx: hexad.Hexad) -> None:
    hx.xdb.start_session("f", max_context_tokens=1_000)
    hx.xdb.record("input", SENTENCES[:3_280], role="user", token_count=820)
    assert hx.xdb.request_compaction() is not None
    assert hx.xdb.context().summary

    hx.xdb.record("input", SENTENCES[3_280:7_000], role="user", token_count=930)
    window = hx.xdb.context()

    assert [930] == [event.token_count for event in window.events]
    assert window.token_count <= 1_000


@pytest.mark.parametrize("text", [SENTENCES, " ".join(f"word{at}" for at in range(5_000))])
def test_of_a_message_larger_than_the_window_a_summary_in_proportion_stays(
    hx: hexad.Hexad, text: str
) -> None:
    hx.xdb.start_session("f", max_context_tokens=1_000)

    window = ask(hx, text, 5_000)

    assert () == window.events
    assert window.token_count >= 60
