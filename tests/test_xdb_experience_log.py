"""`hx.xdb.experience_log`: whole records in and out, by document 2's names; and `get_state`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hexad import (
    Comment,
    Conflict,
    EventType,
    Fidelity,
    Hexad,
    InvalidInput,
    InvalidTarget,
    NotFound,
    Tag,
    TagApplication,
    TimestepRecord,
)
from hexad.experience.values.tags import TagSource, event_target, range_target, timestep_target
from opener import Opener
from tables import everything_stored

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
SECRET = "ghp_" + "Ab3" * 12


def step(tick: int = 0, content: str = "word", **fields: object) -> TimestepRecord:
    given = {
        "id": "",
        "session_id": "s",
        "tick": tick,
        "timestamp": NOON,
        "event_type": EventType.OUTPUT,
        "content": content,
        **fields,
    }
    return TimestepRecord(**given)


@pytest.fixture
def log(hx: Hexad):
    hx.xdb.start_session("s")
    return hx.xdb.experience_log


@pytest.mark.row("H098", "H099")
def test_a_record_comes_out_as_it_went_in(log) -> None:
    record = step(
        7,
        "tool",
        id="ts-s-7",
        event_type=EventType.TOOL_CALL,
        concept_activations={"pack::Tool": 0.75},
        event_id="call",
        event_start=True,
        event_end=True,
        token_id=12,
        role="tool",
        token_count=3,
    )

    assert "ts-s-7" == log.record_timestep(record)
    assert record == log.get_timestep("ts-s-7")
    assert log.get_timestep("ts-s-8") is None


@pytest.mark.row("H098")
def test_a_record_without_a_tick_gets_the_next_and_one_with_a_tick_may_leave_a_gap(log) -> None:
    ids = [
        log.record_timestep(step()),
        log.record_timestep(step(5)),
        log.record_timestep(step(id="ts-s-99")),
        log.record_timestep(step(100_000)),
        log.record_timestep(step()),
    ]

    assert ["ts-s-1", "ts-s-5", "ts-s-6", "ts-s-100000", "ts-s-100001"] == ids
    assert ids == [record.id for record in log.query()]


def test_a_tick_that_may_have_been_used_is_refused_with_the_next_free_one(log, opened: Opener) -> None:
    log.record_timestep(step(10))
    with pytest.raises(Conflict, match=r"Tick 9 of session 's' may have been used; give one from \d+ on"):
        log.record_timestep(step(9))
    with pytest.raises(Conflict, match="Tick 10 "):
        log.record_timestep(step(10))

    other = opened().xdb
    with pytest.raises(Conflict, match="Tick 11 "):
        other.experience_log.record_timestep(step(11))
    assert "ts-s-5000" == other.experience_log.record_timestep(step(5000))
    other.flush()
    assert "ts-s-11" == log.record_timestep(step(11)), "the process that has the tick may use it"
    assert [10, 11, 5000] == [record.tick for record in log.query()]


@pytest.mark.parametrize(
    ("record", "error", "words"),
    [
        (step(3, id="ts-s-4"), InvalidInput, "not that of tick 3"),
        (step(3, id="ts-t-3"), InvalidInput, "not that of tick 3"),
        (step(-1), InvalidInput, "tick = -1"),
        (step(True), InvalidInput, "tick = True"),
        (step(1.5), InvalidInput, "tick = 1.5"),
        (step(1 << 60), InvalidInput, "tick = "),
        (step(session_id="never"), NotFound, "no session 'never'"),
        (step(fidelity=Fidelity.COLD, timesteps=9), InvalidInput, "stands for 9 timesteps"),
        (step(content=None), InvalidInput, "content must be a string, not None"),
        (step(event_type="thought"), InvalidInput, "event_type"),
        (step(timestamp="yesterday"), InvalidInput, "timestamp"),
    ],
)
def test_a_record_that_cannot_be_stored_is_refused_and_nothing_is(log, record, error, words) -> None:
    with pytest.raises(error, match=words):
        log.record_timestep(record)

    assert [] == log.query()
    assert "ts-s-1" == log.record_timestep(step())


def test_a_session_that_has_ended_takes_no_records(log, hx: Hexad) -> None:
    hx.xdb.end_session()

    with pytest.raises(Conflict, match="has ended"):
        log.record_timestep(step())


@pytest.fixture
def filled(log, hx: Hexad):
    """Six timesteps a second apart, two sessions: `s` has the odd ones, `t` the even ones."""
    hx.xdb.start_session("t")
    for at in range(6):
        log.record_timestep(
            step(
                content=f"word {at}",
                session_id="ts"[at % 2],
                timestamp=NOON + timedelta(seconds=at),
                event_type=EventType.INPUT if at < 2 else EventType.OUTPUT,
                concept_activations={"pack::A": at / 10},
            )
        )
    hx.xdb.tag("late", tick_range=(2, 3), session_id="s")
    return log


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param({}, "1 3 5 0 2 4", id="all", marks=pytest.mark.row("H099")),
        pytest.param({"session_id": "t"}, "0 2 4", id="session", marks=pytest.mark.row("H100")),
        pytest.param({"tick_range": (2, 3)}, "3 5 2 4", id="ticks", marks=pytest.mark.row("H101")),
        pytest.param(
            {"time_range": (NOON + timedelta(seconds=1), NOON + timedelta(seconds=4))},
            "1 3 2",
            id="times",
            marks=pytest.mark.row("H102"),
        ),
        pytest.param({"event_types": [EventType.INPUT]}, "1 0", id="types", marks=pytest.mark.row("H103")),
        pytest.param({"tags": ["late"]}, "3 5", id="tags", marks=pytest.mark.row("H104")),
        pytest.param(
            {"concept_activations": {"pack::A": (0.2, 0.4)}},
            "3 2 4",
            id="concepts",
            marks=pytest.mark.row("H105"),
        ),
        pytest.param({"text_search": "ORD 3"}, "3", id="text", marks=pytest.mark.row("H106")),
        pytest.param({"limit": 2, "offset": 2}, "5 0", id="page", marks=pytest.mark.row("H107")),
        pytest.param(
            {"tags": ["late"], "event_types": ["output"], "text_search": "5", "session_id": "s"},
            "5",
            id="together",
        ),
    ],
)
def test_each_filter_of_a_query_holds_and_all_together(filled, question, expected: str) -> None:
    found = filled.query(**question)

    assert expected == " ".join(record.content.removeprefix("word ") for record in found)


def application(tag: Tag, target, **fields: object) -> TagApplication:
    given = {
        "id": "",
        "tag_id": tag.id,
        "target": target,
        "confidence": 0.5,
        "source": TagSource.MANUAL,
        "created_at": NOON,
        **fields,
    }
    return TagApplication(**given)


@pytest.mark.row("H108", "H110")
def test_a_tag_is_put_on_a_timestep_an_event_and_a_range_and_recalled(log, hx: Hexad) -> None:
    for at in range(1, 7):
        log.record_timestep(step(event_id="e" if at in (3, 4) else None, event_end=at == 4))
    tags = [hx.xdb.tag_index.create_tag(name) for name in ("one", "event", "stretch")]

    ids = [
        log.add_tag(application(tags[0], timestep_target("ts-s-1"), id="ta-mine", note=f"see {SECRET}")),
        log.add_tag(application(tags[1], event_target("s", "e"), source=TagSource.AUTO)),
        log.add_tag(application(tags[2], range_target("s", (5, 6)))),
    ]

    assert "ta-mine" == ids[0]
    assert 3 == len({*ids})
    assert {"one": [1], "event": [3, 4], "stretch": [5, 6]} == {
        tag.name: [found.tick for found in log.query(tags=[tag.name])] for tag in tags
    }
    assert ["stretch"] == [tag.name for tag in log.get_tags_for_timestep("ts-s-6")]
    stored = hx.xdb.tag_applications("one")[0]
    assert (NOON, 0.5) == (stored.created_at, stored.confidence)
    assert SECRET not in stored.note


def test_an_application_that_cannot_be_is_refused_and_nothing_is_stored(log, hx: Hexad) -> None:
    log.record_timestep(step())
    tag = hx.xdb.tag_index.create_tag("x")
    target = timestep_target("ts-s-1")
    good = application(tag, target, id="ta-1")
    log.add_tag(good)

    for bad, error, words in (
        (good, Conflict, "'ta-1' is there already"),
        (replace(good, id="", tag_id="tag-none"), NotFound, "'tag-none' is not there"),
        (replace(good, id="", confidence=2), InvalidInput, "confidence = 2"),
        (replace(good, id="", source=TagSource.INHERITED), InvalidInput, "follows by itself"),
        (replace(good, id="", target=timestep_target("ts-s-2")), NotFound, "never recorded"),
        (replace(good, id="", target=range_target("never", (1, 2))), NotFound, "no session 'never'"),
        (
            replace(good, id="", target=replace(target, range_end=None, range_start=None)),
            InvalidTarget,
            "no timestep",
        ),
        (replace(good, id=SECRET), InvalidInput, "looks like a secret"),
    ):
        with pytest.raises(error, match=words):
            log.add_tag(bad)
    assert ["ta-1"] == [tag_application.id for tag_application in hx.xdb.tag_applications("x")]


@pytest.mark.row("H109", "H111")
def test_a_comment_is_put_on_a_range_and_found_by_it(log, hx: Hexad) -> None:
    for _ in range(4):
        log.record_timestep(step())
    remark = Comment(id="", target=range_target("s", (2, 3)), content="Odd.", created_at=NOON)

    made = log.add_comment(remark)

    assert [replace(remark, id=made)] == log.get_comments_for_range("s", 3, 9)
    assert [] == log.get_comments_for_range("s", 4, 9)
    with pytest.raises(Conflict, match="is there already"):
        log.add_comment(replace(remark, id=made))
    with pytest.raises(InvalidInput, match="needs a text"):
        log.add_comment(replace(remark, content=" "))
    log.add_comment(replace(remark, target=range_target("s", (4, 4)), content=f"Its key is {SECRET}."))
    (cleaned,) = log.get_comments_for_range("s", 4, 9)
    assert cleaned.content.startswith("Its key is [REDACTED")
    assert SECRET not in everything_stored(hx)


@pytest.mark.row("H153")
def test_the_state_begins_with_the_seven_fields_and_counts_what_there_is(hx: Hexad) -> None:
    seven = [
        "be_id",
        "session_id",
        "current_tick",
        "tag_count",
        "bud_count",
        "document_count",
        "context",
    ]
    empty = hx.xdb.get_state()
    assert seven == list(empty)[:7]
    assert [None, None, 0, 0, 0, 0, {"error": "No active session"}] == list(empty.values())[:7]

    hx.xdb.start_session("s", max_context_tokens=1_000)
    hx.xdb.record("output", "word", token_count=5)
    hx.xdb.tag("custom", timestep_id="ts-s-1")
    hx.xdb.create_bud_tag("bud", "to be learned")
    hx.xdb.documents.add_document("a.md", "text", "reference")

    state = hx.xdb.get_state()
    assert ["s", 1, 2, 1, 1] == list(state.values())[1:6]
    assert hx.xdb.get_context_state() == state["context"]
    assert (1_000, 5) == (state["context"]["max_tokens"], state["context"]["current_tokens"])
    assert {"session_count": 1, "timestep_count": 1, "unsealed_count": 1} == dict(list(state.items())[7:])
