from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from hexad.core.arguments import parse_choice, parse_time, word_list
from hexad.core.clock import format_time
from hexad.errors import InvalidInput
from hexad.memory.memory import Chunk, Memory, Relevance, Trust, Turn
from hexad.memory.query import Dropped, Explanation, Filters, Hit, Hits

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def a_memory(**fields: object) -> Memory:
    values: dict[str, object] = {
        "id": "m", "space": "s", "path": "a/b", "kind": "note", "raw": "One line.\nAnother line.",
        "summary_micro": "One", "summary_short": "One", "summary_long": "One", "metadata": {"hash": "sha256:00"},
        "created_at": NOON, "updated_at": NOON,
    }  # fmt: skip
    return Memory(**{**values, **fields})  # type: ignore[arg-type]


FIRST = Chunk(chunk_id="m#0", start=0, end=9, first_line=1, last_line=1)
BOTH = Chunk(chunk_id="m#0", start=0, end=23, first_line=1, last_line=2)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-05-01T12:00:00Z", NOON),
        (" 2026-05-01T12:00:00+00:00 ", NOON),
        ("2026-05-01T14:00:00+02:00", NOON),
        ("2026-05-01 12:00", NOON),
        ("2026-05-01", NOON.replace(hour=0)),
        (NOON.replace(tzinfo=None), NOON),
        (NOON.astimezone(timezone(timedelta(hours=-5))), NOON),
        (None, None),
    ],
)
def test_times_are_parsed_to_utc(value: str | datetime | None, expected: datetime | None) -> None:
    assert expected == parse_time(value, "since")


@pytest.mark.parametrize("value", ["", "noon", "2026-02-30", "12:00", "9999-12-31T23:59:59-12:00", 5])
def test_what_is_no_time_is_named_with_its_field(value: object) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_time(value, "since")  # type: ignore[arg-type]
    assert "since" == raised.value.argument
    assert "since" in str(raised.value)
    assert repr(value) in str(raised.value)


def test_choices_are_words_of_a_short_list() -> None:
    assert Trust.WEB is parse_choice(Trust, "web", "trust")
    with pytest.raises(InvalidInput, match=r"relevance = 'HIGH' is not one of high, medium, low"):
        parse_choice(Relevance, "HIGH", "relevance")


def test_a_list_of_words_is_not_one_word() -> None:
    assert ("a", "b") == word_list(iter(["a", "b"]), "tags")
    with pytest.raises(InvalidInput, match=r"tags = 'ab' must be a list"):
        word_list("ab", "tags")


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (NOON, "2026-05-01T12:00:00Z"),
        (NOON + timedelta(microseconds=120), "2026-05-01T12:00:00.000120Z"),
        (NOON.astimezone(timezone(timedelta(hours=2))), "2026-05-01T12:00:00Z"),
    ],
)
def test_times_are_written_with_z(time: datetime, expected: str) -> None:
    assert expected == format_time(time)


@pytest.mark.parametrize(
    ("fields", "chunk", "expected"),
    [
        ({}, FIRST, "a/b"),
        ({"source": "/x", "source_id": "a.md"}, FIRST, "a.md:1"),
        ({"source": "/x", "source_id": "a.md"}, BOTH, "a.md:1-2"),
        ({"source": "/x", "source_id": "a.md"}, None, "a.md"),
        ({"source": "/x", "source_id": "c0ffee", "kind": "commit"}, FIRST, "c0ffee"),
        ({"source": "/x", "source_id": "CHANGELOG.md", "kind": "log"}, BOTH, "CHANGELOG.md:1-2"),
        ({"source": "/x", "source_id": "./", "kind": "overview"}, BOTH, "./"),
        ({"source_id": "wiki/1"}, FIRST, "wiki/1"),
        ({"turn": Turn(conversation="c", session="s1", position=4, speaker="Ada")}, FIRST, "s1 turn 5"),
    ],
)
def test_a_hit_says_where_to_look(fields: dict[str, object], chunk: Chunk | None, expected: str) -> None:
    hit = Hit(memory=a_memory(**fields), chunk=chunk, score=1.0, parts={"lexical": 1.0}, layer="vector")

    assert expected == hit.location
    assert ("One line." if chunk is FIRST else hit.memory.raw) == hit.text
    json.dumps(hit.to_dict(), allow_nan=False)


def test_an_answer_is_written_as_json_with_all_that_it_says() -> None:
    hit = Hit(memory=a_memory(), chunk=None, score=1.0, parts={}, layer="project")
    explanation = Explanation(
        terms=("one",), ignored_terms=(), speakers=(), since=NOON, until=None, arms={"lexical": 1},
        confidence={}, timings_ms={}, considered=({"id": "m"},),
    )  # fmt: skip
    hits = Hits(
        items=(hit,), mode="lexical", late=("vector",), notes=("so",), explanation=explanation,
        dropped=(Dropped(memory_id="n", reason="too long", score=0.5),),
    )  # fmt: skip

    record = json.loads(json.dumps(hits.to_dict()))

    assert ["hits", "mode", "late", "dropped", "notes", "explanation"] == list(record)
    assert [{"id": "n", "reason": "too long", "score": 0.5}] == record["dropped"]
    assert ("2026-05-01T12:00:00Z", None) == (record["explanation"]["since"], record["explanation"]["until"])
    assert (1, hit, [hit]) == (len(hits), hits[0], list(hits[:5]))
    assert Hits().to_dict()["explanation"] is None


def test_filters_are_empty_until_one_is_given() -> None:
    assert Filters().empty
    for given in (Filters(spaces=()), Filters(kinds=("a",)), Filters(path=""), Filters(since=NOON)):
        assert not given.empty


def test_two_memories_are_equal_whatever_was_done_to_write_them() -> None:
    assert a_memory() == a_memory(receipt=None)
    assert a_memory() != a_memory(pinned=True)
    assert "sha256:00" == a_memory().content_hash
