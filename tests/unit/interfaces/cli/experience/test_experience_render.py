"""Experience as text: transcripts, tables of timesteps, what tags and comments are on; and how options are read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
import pytest

from hexad import CompressionLevel, EventRecord, EventType, Fidelity, Target, TargetType, TimestepRecord
from hexad.interfaces.cli.experience.options import CONCEPT, TICKS, concept_ranges, time_range
from hexad.interfaces.cli.experience.render import concepts, event_lines, step_table, target, ticks
from hexad.interfaces.cli.output.render import columns

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def event(content: str, *, at: datetime = NOON, session: str = "monday", **fields) -> EventRecord:
    known = {
        "id": "ev-1",
        "event_id": "reply-1",
        "event_type": EventType.OUTPUT,
        "role": "assistant",
        "start_tick": 2,
        "end_tick": 5,
        "concept_activations": {},
        "token_count": 4,
        "timesteps": 4,
        "fidelity": Fidelity.HOT,
    }
    return EventRecord(**{**known, **fields}, session_id=session, start_time=at, end_time=at, content=content)


def shown(*events: EventRecord, **options) -> list[str]:
    return [click.unstyle(line) for line in event_lines(events, room=80, **options)]


def test_a_transcript_says_who_said_what_when_and_in_which_detail():
    assert [
        "── monday  2026-01-05 UTC ──",
        "#2–5  12:00:00  assistant · output · reply-1 · 4 timesteps · hot",
        "    At noon on Friday.",
    ] == shown(event(" At noon on Friday."))


def test_what_is_cold_says_of_how_many_timesteps_it_is_the_summary():
    cold = event(
        "Ferries were asked about.",
        fidelity=Fidelity.COLD,
        compression_level=CompressionLevel.REPLY,
        role=None,
        event_id=None,
        end_tick=900,
        timesteps=1_200,
    )

    assert "#2–900  12:00:00  output · 1,200 timesteps · cold reply" == shown(cold)[1]


def test_days_and_sessions_are_told_apart():
    lines = shown(
        event("One."), event("Two.", at=NOON + timedelta(days=1)), event("Three.", session="b", at=NOON)
    )

    assert ["── monday  2026-01-05 UTC ──", "── monday  2026-01-06 UTC ──", "── b  2026-01-05 UTC ──"] == [
        line for line in lines if line.startswith("──")
    ]


@pytest.mark.parametrize("room", [40, 80, 120])
def test_no_line_is_wider_than_the_room(room):
    long = event("word " * 200, event_id="e" * 300, role="r" * 100, session="s" * 200)

    assert all(columns(click.unstyle(line)) <= room for line in event_lines([long], room=room))


def test_a_whole_event_shows_unless_a_limit_is_given_then_the_lines_with_the_words():
    text = " ".join(f"Sentence {number}." for number in range(100)) + " The ferry is late. " + "More. " * 200
    [_, _, *whole], [_, _, *part] = shown(event(text)), shown(event(text), query="ferry", limit=3)

    assert 20 < len(whole)
    assert 3 == len(part) and any("ferry" in line for line in part)


def test_control_characters_do_not_reach_the_terminal():
    bad = event("a\x1b[31mb\x07", role="\x1b]0;owned\x07", event_id="\x1b[2J", session="\x1b[1m")

    assert not {"\x1b", "\x07"} & set("".join(shown(bad)))


def test_a_table_of_timesteps_has_the_columns_that_say_something():
    step = TimestepRecord(
        id="ts-a-1",
        session_id="a",
        tick=1,
        timestamp=NOON,
        event_type=EventType.INPUT,
        content="one\ntwo",
        concept_activations={"sea::Tide": 0.5, "sea::Ebb": 0.75},
    )
    head, row = map(click.unstyle, step_table([step], room=None))

    assert ["tick", "time", "type", "detail", "content", "concepts"] == head.split()
    assert "1     12:00:00  input  hot     one⏎two  Ebb 0.75, Tide 0.50" == row


def test_what_is_left_of_a_whole_session_has_no_tick():
    cold = TimestepRecord(
        id="compressed-SESSION-0123456789ab",
        session_id="a",
        tick=0,
        timestamp=NOON,
        event_type=EventType.SYSTEM,
        content="A quiet day.",
        fidelity=Fidelity.COLD,
        compression_level=CompressionLevel.SESSION,
        timesteps=90,
    )

    assert "–     12:00:00  system  cold session  A quiet day." == step_table([cold], room=None)[1]


def test_targets_are_told_in_words():
    def on(kind: TargetType, **fields) -> str:
        return target(Target(session_id="monday", target_type=kind, **fields))

    assert "ts-monday-3" == on(TargetType.TIMESTEP, range_start=3, range_end=3)
    assert "monday, event reply-1" == on(TargetType.EVENT, event_id="reply-1")
    assert "monday, ticks 3–17" == on(TargetType.RANGE, range_start=3, range_end=17)


def test_short_forms():
    assert ("3", "3", "3–4") == (ticks(3, None), ticks(3, 3), ticks(3, 4))
    assert "b 0.90, a 0.50" == concepts({"x::a": 0.5, "x::b": 0.9, "c": 0.1}, limit=2)


# What is typed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("pack::Term", ("pack::Term", None, None)),
        ("pack::Term:0.5", ("pack::Term", 0.5, None)),
        ("pack::Term:0.5:1", ("pack::Term", 0.5, 1.0)),
        ("pack::Term:-inf:.5", ("pack::Term", float("-inf"), 0.5)),
        ("Area:51:", ("Area:51", None, None)),
        ("Area:51::0.5", ("Area:51:", 0.5, None)),
        ("a b", ("a b", None, None)),
        ("1e-3", ("1e-3", None, None)),
    ],
)
def test_a_concept_may_have_bounds(typed, meant):
    assert meant == tuple(CONCEPT.convert(typed, None, None))


def test_without_bounds_a_concept_counts_from_a_half():
    given = (CONCEPT.convert("a", None, None), CONCEPT.convert("b:0.5", None, None))

    assert {"a": (0.5, float("inf")), "b": (0.5, float("inf"))} == concept_ranges(given)
    assert concept_ranges(()) is None


@pytest.mark.parametrize(("typed", "meant"), [("7", (7, 7)), ("3-17", (3, 17)), ("0-0", (0, 0))])
def test_ticks_are_a_range_or_one(typed, meant):
    assert meant == TICKS.convert(typed, None, None)


@pytest.mark.parametrize("typed", ["", "-", "3-", "-3", "3-2", "a-b", "3–17", "1" * 17])
def test_what_is_no_range_of_ticks_is_refused(typed):
    with pytest.raises(click.BadParameter):
        TICKS.convert(typed, None, None)


def test_a_time_may_be_bounded_at_one_end():
    assert ("2026-01-01", "9999-12-31T23:59:59Z") == time_range("2026-01-01", None)
    assert ("0001-01-01T00:00:00Z", "2026-01-01") == time_range(None, "2026-01-01")
    assert time_range(None, None) is None
