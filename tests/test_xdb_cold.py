"""Timesteps whose detail is gone: REPLY records in their place, found by the same questions."""

from __future__ import annotations

import pytest

from hexad import CompressionLevel, EventType, Fidelity, Hexad
from hexad.experience.tiers.replies import ReplyMaker


def replies(hx: Hexad) -> ReplyMaker:
    return hx._services.experience().replies


@pytest.fixture
def spoken(hx: Hexad) -> Hexad:
    """A session: a question, a reply of four tokens, a call with its response, and a bare token run."""
    xdb = hx.xdb
    xdb.start_session("monday")
    xdb.record("input", "When do we deploy?", {"p::Question": 0.9}, role="user", token_count=5)
    for text, score in [("On", 0.1), (" Tues", 0.7), ("day", 0.6), (".", 0.2)]:
        xdb.record("output", text, {"p::Weekday": score}, event_id="reply-1", role="assistant")
    xdb.record("tool_call", "calendar()", event_id="call-1")
    xdb.record("tool_response", "free", event_id="call-1")
    for text in ("All", " right"):
        xdb.record("output", text, role="assistant")
    xdb.flush()
    return hx


def sums(hx: Hexad) -> tuple[int, int]:
    found = hx.xdb.recall(session_id="*", limit=1000)
    return sum(record.timesteps for record in found), sum(record.token_count for record in found)


@pytest.mark.parametrize("sealed", [False, True])
def test_an_event_becomes_one_record_with_its_words_and_its_concepts(spoken: Hexad, sealed: bool) -> None:
    if sealed:
        spoken.xdb.seal()
    before = sums(spoken)

    stored = replies(spoken).release("monday", [(1, 9)])

    found = spoken.xdb.recall(session_id="monday")
    assert ["When do we deploy?", "On Tuesday.", "calendar()\nfree", "All right"] == [
        record.content for record in found
    ]
    assert {Fidelity.COLD} == {record.fidelity for record in found}
    assert {CompressionLevel.REPLY} == {record.compression_level for record in found}
    reply = stored.records[1]
    assert ("reply-1", EventType.OUTPUT, "assistant") == (reply.event_id, reply.event_type, reply.role)
    assert {"p::Weekday": 1.6} == dict(reply.top_k_activations)
    assert {"p::Weekday": 0.7} == dict(reply.peaks)
    assert [f"ts-monday-{tick}" for tick in range(2, 6)] == list(reply.source_record_ids)
    assert (4, 4, 4) == (reply.token_count, reply.record_count, reply.timesteps)
    assert before == sums(spoken)


def test_what_is_not_released_stays_as_it_was(spoken: Hexad) -> None:
    replies(spoken).release("monday", [(1, 5)])

    found = spoken.xdb.recall(session_id="monday")

    assert [
        ("cold", 1), ("cold", 2), ("hot", 6), ("hot", 7), ("hot", 8), ("hot", 9),
    ] == [(record.fidelity.value, record.tick) for record in found]  # fmt: skip
    assert [1, 5] == [record.end_tick for record in found[:2]]
    assert [6, 7] == [record.tick for record in spoken.xdb.recall(session_id="monday", limit=2, offset=2)]


def test_every_filter_finds_a_record_as_it_found_the_timesteps(spoken: Hexad) -> None:
    xdb = spoken.xdb
    xdb.tag("planning", event_id="reply-1")
    xdb.tag("odd", tick_range=(8, 9))
    replies(spoken).release("monday", [(1, 9)])

    def ticks(**asked: object) -> list[int]:
        return [record.tick for record in xdb.recall(session_id="monday", **asked)]  # type: ignore[arg-type]

    assert [2] == ticks(tags=["planning"])
    assert [2, 8] == ticks(tags=["planning", "odd"], match="any")
    assert [] == ticks(tags=["planning", "odd"])
    assert [2] == ticks(concepts={"p::Weekday": (0.65, 0.75)})
    assert [] == ticks(concepts={"p::Weekday": (0.75, 1.0)})
    assert [1] == ticks(concepts=["p::Question"])
    assert [2] == ticks(text_search="TUESDAY")
    assert [2] == ticks(event_id="reply-1")
    assert [6] == ticks(event_types=["tool_call"])
    assert [2, 6] == ticks(tick_range=(5, 6))
    assert [] == ticks(time_range=("2020-01-01", "2020-01-02"))
    assert [1, 2, 6, 8] == ticks(time_range=("2025-12-31", "2026-01-02"))
    assert ["ts-monday-1"] == [xdb.get_timestep("ts-monday-3") and "ts-monday-1"]
    assert Fidelity.COLD is xdb.get_timestep("ts-monday-3").fidelity  # type: ignore[union-attr]
    assert [2] == [record.tick for record in xdb.recall_by_concept("p::Weekday", session_id="monday")]
    assert ["planning"] == [tag.name for tag in xdb.get_tags_for_timestep("ts-monday-3")]


def test_a_record_carries_the_tags_that_people_made(spoken: Hexad) -> None:
    tag = spoken.xdb.tag_index.get_tag
    custom = spoken.xdb.tag("planning", event_id="reply-1")
    assert custom
    spoken.xdb.tag("weekdays", tick_range=(3, 7))

    stored = replies(spoken).release("monday", [(1, 9)])

    names = [
        [tag(significant_tag).name for significant_tag in record.significant_tags]
        for record in stored.records
    ]  # type: ignore[union-attr]
    assert [[], ["planning", "weekdays"], ["weekdays"], []] == names


def test_a_tick_that_is_written_late_is_not_lost(spoken: Hexad) -> None:
    """Ticks are reserved in blocks: another process may write a lower one after those around it have left."""
    maker = replies(spoken)
    prepared = maker.prepare("monday", [(1, 20)])
    late = spoken.xdb.record("output", "late")

    assert maker.store(prepared)

    assert "late" == spoken.xdb.get_timestep(late).content  # type: ignore[union-attr]


def test_the_same_ticks_leave_once(spoken: Hexad) -> None:
    maker = replies(spoken)
    first, second = maker.prepare("monday", [(1, 9)]), maker.prepare("monday", [(4, 9)])

    assert maker.store(first)
    assert not maker.store(second)
    assert 0 == maker.release("monday", [(1, 9)]).timesteps
    assert (9, 15) == sums(spoken)


def test_a_secret_that_is_spread_over_tokens_is_not_in_the_record(hx: Hexad) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6" * 3
    hx.xdb.start_session("s")
    for at in range(0, len(secret), 7):
        hx.xdb.record("output", secret[at : at + 7], event_id="e")

    stored = replies(hx).release("s", [(1, 100)])

    assert secret not in stored.records[0].summary
    assert "REDACTED" in stored.records[0].summary


def test_a_tag_that_is_taken_away_after_the_detail_went_is_on_no_record_that_nothing_else_tags(
    hx: Hexad,
) -> None:
    hx.xdb.start_session("s", max_context_tokens=1_000)
    for at in range(16):
        hx.xdb.record("output", f"w{at} ", event_id=f"e{at // 4}", event_end=at % 4 == 3, token_count=10)
    uses = [
        hx.xdb.tag("noise", event_id="e0"),
        hx.xdb.tag("noise", tick_range=(3, 6)),
        hx.xdb.tag("noise", timestep_id="ts-s-6"),
    ]
    hx.xdb.request_compaction()

    def found() -> list[tuple[int, int]]:
        return [
            (recall_event.start_tick, recall_event.end_tick)
            for recall_event in hx.xdb.recall_events(tags=["noise"])
        ]

    assert [(1, 4), (5, 8)] == found()
    hx.xdb.untag(uses[1])
    assert [(1, 4), (5, 8)] == found(), "both are tagged by something else"
    hx.xdb.untag(uses[2])
    assert [(1, 4)] == found()
    hx.xdb.untag(uses[0])
    assert [] == found() == hx.xdb.recall(tags=["noise"])
    assert [()] * 2 == [record.significant_tags for record in hx.xdb.compressed_records(session_id="s")]


@pytest.mark.row("H047")
def test_what_is_tagged_after_the_detail_went_is_still_found_when_replies_become_a_session(hx: Hexad) -> None:
    hx.xdb.start_session("s", max_context_tokens=1_000)
    for at in range(16):
        hx.xdb.record("output", f"w{at} ", event_id=f"e{at // 4}", event_end=at % 4 == 3, token_count=10)
    hx.xdb.request_compaction()
    hx.xdb.end_session()

    hx.xdb.tag("late", tick_range=(2, 3), session_id="s")
    hx.xdb.tag("pack::Late", event_id="e1", session_id="s")
    hx.xdb.check_and_compress(max_storage_bytes=0)

    [year] = hx.xdb.compressed_records(session_id="*")
    names = [hx.xdb.tag_index.get_tag(tag).name for tag in year.significant_tags]
    assert ["late", "pack::Late"] == names
    assert [year.id] == [record.id for record in hx.xdb.recall(session_id="*", tags=["late"])]


@pytest.mark.row("H074")
def test_what_is_tagged_while_replies_are_made_is_on_them_too(spoken: Hexad) -> None:
    made = replies(spoken).prepare("monday", [(1, 1_000)])
    first, *others = made.records
    spoken.xdb.tag("meanwhile", timestep_id=first.source_record_ids[0])

    assert replies(spoken).store(made)

    tag = spoken.xdb.tag_index.resolve("meanwhile")
    assert tag is not None
    found = {
        record.id: tag.id in record.significant_tags
        for record in spoken.xdb.compressed_records(session_id="monday")
    }
    assert {first.id: True} | {record.id: False for record in others} == found


def test_a_tag_on_a_record_counts_as_bytes_of_it(spoken: Hexad) -> None:
    replies(spoken).release("monday", [(1, 1_000)])
    before = spoken.xdb.usage().cold_bytes
    application = spoken.xdb.tag("later", tick_range=(1, 1))
    [tag] = spoken.xdb.get_tags_for_timestep("ts-monday-1")

    assert before + len(f'"{tag.id}"') == spoken.xdb.usage().cold_bytes
    spoken.xdb.untag(application)
    assert before == spoken.xdb.usage().cold_bytes


@pytest.mark.row("H034", "H041")
def test_an_event_whose_beginning_is_cold_may_go_on_under_its_tags_and_comments(hx: Hexad) -> None:
    hx.xdb.start_session("s", max_context_tokens=1_000)
    for event in ("long", "other"):
        for at in range(4):
            hx.xdb.record("output", f"w{at} ", event_id=event, token_count=10)
    hx.xdb.request_compaction()
    assert [Fidelity.COLD] == [record.fidelity for record in hx.xdb.recall(event_id="long")]

    hx.xdb.tag("odd", event_id="long")
    remark = hx.xdb.comment("Why so long?", event_id="long")
    later = hx.xdb.record("output", "later", event_id="long", event_end=True)

    assert ["w0 w1 w2 w3 ", "later"] == [record.content for record in hx.xdb.recall(tags=["odd"])]
    assert ["odd"] == [tag.name for tag in hx.xdb.get_tags_for_timestep(later)]
    assert [remark] == [comment.id for comment in hx.xdb.get_comments_for_range("s", 9, 9)]
    assert [remark] == [comment.id for comment in hx.xdb.get_comments_for_range("s", 1, 1)]


def test_a_tag_on_what_is_told_by_its_session_is_found_on_that_record(spoken: Hexad) -> None:
    replies(spoken).release("monday", [(1, 9)])
    spoken.xdb.end_session()
    spoken.xdb.check_and_compress(max_storage_bytes=0)
    assert CompressionLevel.REPLY < spoken.xdb.recall(session_id="*")[0].compression_level

    spoken.xdb.tag("seen again", tick_range=(2, 3), session_id="monday")

    (found,) = spoken.xdb.recall(tags=["seen again"], session_id="*")
    assert Fidelity.COLD is found.fidelity
    assert [] == spoken.check()
