"""Context windows where it gets narrow: several programs, late records, stores that are read, embedders that change."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

import hexad
from hexad import CompactionTrigger, Fidelity, Hexad, StorageFailure
from hexad.experience.tables.sessions import Sessions
from hexad.testing import HashEmbedder
from hexad.text.tokens import estimate_tokens
from opener import Opener


def tell(hx: Hexad, words: int, *, name: str = "w", start: int = 0) -> None:
    for at in range(start, start + words):
        hx.xdb.record("output", f" {name}{at}", {"work::Parsing": 0.5}, event_id=f"{name}-{at // 20}")


def all_of(hx: Hexad, session: str = "monday") -> list[hexad.TimestepRecord]:
    return hx.xdb.recall(session_id=session, limit=100_000)


def accounted(hx: Hexad, tokens: int) -> None:
    found, (info,) = all_of(hx), hx.xdb.sessions()
    live = sum(
        record.token_count
        for record in found
        if record.fidelity is not Fidelity.COLD and record.tick > info.compacted_through
    )
    assert tokens == sum(record.token_count for record in found) == sum(record.timesteps for record in found)
    summary = hx.xdb.context("monday").summary
    assert live + estimate_tokens(summary) == hx.xdb.get_context_state("monday")["current_tokens"]


def test_two_programs_that_summarise_the_same_range_store_it_once(opened):
    first, two = opened(), opened()
    other = threading.Event()

    def slow(_prompt: str) -> str:
        assert other.wait(30)
        return "By one."

    first.xdb.set_summarizer(slow)
    two.xdb.set_summarizer(lambda _prompt: "By two.")
    two.xdb.start_session("monday", 1000)
    thread = threading.Thread(target=lambda: (first.xdb.start_session("monday"), tell(first, 800)))
    thread.start()
    while len(all_of(two)) < 800:
        thread.join(0.01)
    assert two.xdb.request_compaction() is not None
    other.set()
    thread.join()

    assert ["By two."] == [made.summary for made in first.xdb.compactions("monday")]
    accounted(first, 800)


def test_what_a_slower_program_writes_into_a_range_that_left_is_compacted_with_the_next(opened):
    slow, fast = opened(), opened()
    slow.xdb.start_session("monday", 1000)
    fast.xdb.start_session("monday")
    tell(slow, 1, name="slow")
    slow.xdb.flush()
    tell(fast, 799, name="fast")
    (made,) = fast.xdb.compactions()
    assert 1 == made.range_start

    tell(slow, 10, name="slow", start=1)
    slow.xdb.flush()

    late = [
        record for record in all_of(fast) if record.fidelity is Fidelity.HOT and record.tick <= made.range_end
    ]
    assert 10 == len(late)
    accounted(fast, 810)

    again = fast.xdb.request_compaction()
    assert again is not None
    assert 2 == again.range_start
    assert not [
        record
        for record in all_of(fast)
        if record.fidelity is Fidelity.HOT and record.tick <= again.range_end
    ]
    accounted(fast, 810)


def test_a_program_that_fell_behind_goes_on_where_the_window_is(opened):
    slow, fast = opened(), opened()
    slow.xdb.start_session("monday", 160)
    fast.xdb.start_session("monday")
    tell(slow, 1, name="slow")
    slow.xdb.flush()
    tell(fast, 900, name="fast")
    fast.xdb.flush()

    tell(slow, 12, name="slow", start=1)  # looks at the window after a sixteenth of it
    slow.xdb.record("output", "here", event_id="slow-here")

    through = slow.xdb.sessions()[0].compacted_through
    assert through > 64
    assert slow.xdb.recall(event_id="slow-here")[0].tick > through
    assert "here" in str(slow.xdb.context("monday"))
    accounted(slow, 914)


def test_a_range_of_which_all_is_pinned_is_compacted_once(opened):
    first, two = opened(), opened()
    other = threading.Event()

    def slow(_prompt: str) -> str:
        assert other.wait(30)
        return "By one."

    first.xdb.set_summarizer(slow)
    two.xdb.start_session("monday", 1000)
    tell(two, 790)
    two.xdb.pin_window((1, 790))
    two.xdb.flush()
    thread = threading.Thread(target=lambda: (first.xdb.start_session("monday"), tell(first, 20, start=790)))
    thread.start()
    while len(all_of(two)) < 800:
        thread.join(0.01)
    assert two.xdb.request_compaction() is not None
    other.set()
    thread.join()

    assert ["local"] == [made.generated_by for made in first.xdb.compactions("monday")]
    accounted(first, 810)


def test_a_summary_is_smaller_than_texts_that_count_for_little(opened):
    hx = opened()
    hx.xdb.start_session("monday")
    for at in range(20):
        hx.xdb.record(
            "input",
            f"Anna wrote test number {at}, and it shows why the lexer breaks on line ends.",
            token_count=1,
        )

    made = hx.xdb.request_compaction()

    assert made is not None
    assert made.tokens_after < made.tokens_before == 10
    accounted(hx, 20)


def test_a_window_that_is_let_go_while_a_summary_is_written_leaves_nothing_behind(opened):
    hx = opened()
    hx.xdb.start_session("monday", 1000)
    tell(hx, 100)
    window = hx.xdb.pin_window((10, 19))
    hx.xdb.set_summarizer(lambda _prompt: (hx.xdb.unpin_window(window.id) and "") or "They talked.")
    tell(hx, 700, start=100)

    (made,) = hx.xdb.compactions()

    assert not [
        record
        for record in all_of(hx)
        if record.fidelity is not Fidelity.COLD and record.tick <= made.range_end
    ]
    accounted(hx, 800)


def test_what_an_accepted_submission_took_is_not_in_the_window_any_more(opened):
    hx = opened()
    hx.xdb.start_session("monday", 1000)
    tell(hx, 300)
    bud = hx.xdb.create_bud_tag("Lexing", "How line ends are lexed.")
    hx.xdb.tag("Lexing", tick_range=(101, 200))
    hx.xdb.submit_graft(bud.id, "graft-1")
    hx.xdb.resolve_submission("graft-1", accepted=True)

    assert 200 == hx.xdb.get_context_state()["current_tokens"]
    accounted(hx, 300)
    tell(hx, 599, start=300)
    assert [] == hx.xdb.compactions()
    tell(hx, 1, start=899)
    (made,) = hx.xdb.compactions()
    assert made.tokens_before == made.timesteps_compacted
    accounted(hx, 900)


def test_a_store_that_is_only_read_shows_its_windows_and_compacts_nothing(opened):
    hx = opened()
    hx.xdb.start_session("monday", 1000)
    tell(hx, 900)
    hx.close()
    reading = opened(readonly=True)

    assert 1 == len(reading.xdb.compactions("monday"))
    assert reading.xdb.get_context_state("monday")["current_tokens"] > 400
    assert reading.xdb.context("monday").summary
    with pytest.raises(StorageFailure, match="read-only"):
        reading.xdb.request_compaction("monday")


def test_the_background_compacts_after_the_embedder_was_changed(opened):
    hx = opened(background=True, embedder=HashEmbedder())
    hx.xdb.start_session("monday", 1000)
    tell(hx, 100)
    hx.reindex(embedder=HashEmbedder(128))
    hx.wait_for_background()
    tell(hx, 700, start=100)
    hx.wait_for_background()

    assert [CompactionTrigger.CONTEXT_FULL] == [made.trigger for made in hx.xdb.compactions()]
    assert 1 == len(hx.memories(space="experience"))


def test_a_session_that_ended_is_counted_anew_when_it_goes_on(opened):
    hx = opened()
    session = hx.xdb.start_session("monday", 1000)
    tell(hx, 700)
    session.end()
    hx.xdb.start_session("monday")
    tell(hx, 99, start=700)
    assert [] == hx.xdb.compactions()
    tell(hx, 1, start=799)
    assert 1 == len(hx.xdb.compactions())


def test_a_session_that_is_recorded_to_by_its_handle_is_counted(opened):
    hx = opened()
    hx.xdb.start_session("monday", 1000)
    hx.close()
    again = opened()
    session = again.xdb.session("monday")
    for _ in range(800):
        session.record("output", " word", event_id="e")
    assert 1 == len(session.compactions())


def test_a_window_that_is_made_smaller_is_compacted_with_the_next_record(opened):
    hx = opened()
    hx.xdb.start_session("monday", 4000)
    tell(hx, 700)
    hx.xdb.start_session("monday", 500)
    tell(hx, 1, start=700)
    assert hx.xdb.compactions()
    assert hx.xdb.get_context_state()["current_tokens"] < 400


@pytest.mark.parametrize("window", [1, 2, 5, 20])
def test_the_smallest_windows_work(opened, window):
    hx = opened()
    hx.xdb.start_session("monday", window)
    tell(hx, 24)
    accounted(hx, 24)
    assert hx.xdb.get_context_state()["current_tokens"] <= max(window, 2)


def test_texts_without_a_word_are_compacted_too(opened):
    hx = opened()
    hx.xdb.start_session("monday", 100)
    for content in ("", " ", "\n", "\ufffd") * 20:
        hx.xdb.record("output", content, token_count=2, event_id="e")
    assert hx.xdb.compactions()
    accounted_tokens = sum(record.token_count for record in all_of(hx))
    assert 160 == accounted_tokens
    assert hx.xdb.get_context_state()["current_tokens"] < 80


def test_a_concept_that_may_not_be_seen_is_told_to_no_inference(opened, project):
    hx = opened()
    hx.xdb.start_session("monday", 1000)
    for at in range(790):
        hx.xdb.record(
            "output", f" w{at}", {"work::Parsing": 0.5, "work::Hidden": 0.9}, event_id=f"e{at // 20}"
        )
    hx.close()
    (project / ".hexad" / "hexad.toml").write_text('lenses = ["work::Parsing"]\n')
    hx = opened()
    prompts: list[str] = []
    hx.xdb.set_summarizer(lambda prompt: prompts.append(prompt) or "They talked.")
    hx.xdb.start_session("monday")
    tell(hx, 10)

    (made,) = hx.xdb.compactions()

    assert 1 == len(prompts)
    assert "work::Parsing" in prompts[0]
    assert "Hidden" not in prompts[0]
    assert ("work::Parsing",) == tuple(made.summary_concept_tags)
    assert ["work::Parsing"] == hx.xdb.context_manager.generate_summary(1, 300)[1]
    assert "Hidden" not in str([memory.to_dict() for memory in hx.memories(space="experience")])


def test_a_long_range_is_summarised_in_parts(opened, monkeypatch):
    monkeypatch.setattr("hexad.experience.context.compactor.ROWS_LIMIT", 100)
    hx = opened()
    hx.xdb.start_session("monday", 2000)
    story = (
        "Anna fixed the lexer on Tuesday. Ben wrote the release note. The parser was not touched. ".split()
    )
    for at in range(900):
        hx.xdb.record("output", f" {story[at % len(story)]}", {"work::Parsing": 0.5}, event_id=f"e{at // 30}")

    text, concepts = hx.xdb.context_manager.generate_summary(1, 1 << 52)

    assert "lexer" in text
    assert ["work::Parsing"] == concepts
    assert estimate_tokens(text) <= 500


def test_a_gap_in_the_ticks_hides_nothing_of_a_window(opened, monkeypatch):
    monkeypatch.setattr("hexad.experience.context.compactor.ROWS_LIMIT", 50)
    hx = opened()
    hx.xdb.start_session("monday", 1000)
    tell(hx, 10)
    hx.xdb.flush()
    # As a program that was killed leaves it: a block of ticks that nobody uses.
    db = hx._services.db
    Sessions(db).reserve(1, 100_000)
    hx.xdb.start_session("monday")
    tell(hx, 100, start=10)
    assert hx.xdb.recall()[-1].tick > 100_000

    made = hx.xdb.request_compaction()

    assert made is not None
    assert made.timesteps_compacted > 10
    accounted(hx, 110)


def test_who_may_not_write_memories_of_the_past_compacts_all_the_same(opened):
    owner = opened()
    owner.spaces.create("experience")
    owner.spaces.set_policy("experience", {"roles": ["ops"]})
    dev = opened(role="dev")
    dev.xdb.start_session("monday", 1000)
    tell(dev, 800)

    (made,) = dev.xdb.compactions()
    assert not owner.memories(space="experience")
    owner.xdb.seal()
    owner.maintain()
    assert [made.id] == [memory.source_id for memory in owner.memories(space="experience")]


def test_what_does_not_fit_into_memory_is_compacted_later(opened, caplog):
    hx = opened()
    hx.xdb.start_session("monday", 1000)
    tell(hx, 799)
    engine = hx._services.experience().experience._engine
    with engine.cursor(hx.path) as cursor:
        cursor.execute("SET memory_limit = '1MB'")
    tell(hx, 1, start=799)
    assert [] == hx.xdb._windows.compactions.find()
    assert "could not be compacted" in caplog.text
    with engine.cursor(hx.path) as cursor:
        cursor.execute("SET memory_limit = '2GB'")
    tell(hx, 100, start=800)
    assert hx.xdb.compactions()
    accounted(hx, 900)


def test_a_program_that_ends_before_its_background_came_to_it_leaves_no_full_window(opened):
    hx = opened(background=True, embedder=None)
    hx.xdb.start_session("monday", 500)
    tell(hx, 2_000)
    hx.close()

    again = opened()
    assert again.xdb.get_context_state("monday")["current_tokens"] < 400
    accounted(again, 2_000)


class _Cancelled(BaseException):
    """As asyncio's is: no `Exception`."""


def _cancelled(_prompt: str) -> str:
    raise _Cancelled


@pytest.mark.parametrize(
    ("inference", "summary"), [(lambda _: "All \ud800 well.", "All \ufffd well."), (_cancelled, None)]
)
def test_an_inference_that_answers_oddly_keeps_no_window_full(
    opened: Opener, inference: Callable[[str], str], summary: str | None
) -> None:
    hx = opened()
    hx.xdb.start_session("monday", 500)
    hx.xdb.set_summarizer(inference)

    tell(hx, 450)

    made = hx.xdb.compactions()
    assert made
    assert summary is None or {summary} == {compaction.summary for compaction in made}
    assert hx.xdb.get_context_state()["utilization"] < 0.8
