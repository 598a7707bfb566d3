"""`remember_structured`: a record as its maker wants it, filled where it is open, and the same one when it comes again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import (
    Conflict,
    FrozenClock,
    Hexad,
    InvalidInput,
    InvalidMemory,
    InvalidSpace,
    LimitExceeded,
    Outcome,
    Status,
)
from opener import Opener

TEXT = (
    "The ledger is sealed each night. Sealing takes a minute and blocks no reader. "
    "Whoever changes the order of its steps asks the auditors first."
)
RECORD: Mapping[str, Any] = {
    "id": "mem_runtime_decision_001",
    "path": "lexon/runtime/release_checklist",
    "kind": "decision",
    "raw": "Ship when recall is under 200 ms and the supervisor is green.\n\n- blockers\n- samples",
    "summary_micro": "What has to hold before the release.",
    "summary_short": "Decisions and blockers for the release.",
    "summary_long": "Context, targets and the report that the release needs.",
    "tags": ["runtime", "release", "checklist"],
    "metadata": {"project": "lexon", "source": "docs/runtime_decision.md", "importance": "high"},
    "relevance": "high",
    "pinned": True,
    "chunks": [
        {
            "chunk_id": "runtime_decision_001#0",
            "text": "Ship when recall is under 200 ms and the supervisor is green.",
        },
        {"chunk_id": "runtime_decision_001#1", "text": "- blockers\n- samples"},
    ],
    "created_at": "2025-12-01T11:32:00Z",
    "updated_at": "2025-12-01T12:04:00Z",
}


TURN: Mapping[str, Any] = {"conversation": "c", "session": "s", "position": 0, "speaker": "Ada"}


def nested(depth: int, value: Any) -> Any:
    for _ in range(depth):
        value = {"a": value} if isinstance(value, dict) else [value]
    return value


def outcome(memory: hexad.Memory) -> Outcome:
    assert memory.receipt is not None
    return memory.receipt.outcome


def notes(memory: hexad.Memory) -> str:
    assert memory.receipt is not None
    return " ".join(memory.receipt.notes)


# What is stored -------------------------------------------------------------------------------------------------


@pytest.mark.row("L064")
@pytest.mark.parametrize("form", [dict, json.dumps], ids=["mapping", "JSON text"])
def test_a_whole_record_is_stored_as_it_is(hx: Hexad, form: Any) -> None:
    hx.remember_structured("runtime", form(RECORD))

    stored = hx.get("mem_runtime_decision_001").to_dict()

    for key in RECORD.keys() - {"metadata", "chunks", "tags"}:
        assert RECORD[key] == stored[key], key
    assert ["checklist", "release", "runtime"] == stored["tags"]
    assert [chunk["text"] for chunk in RECORD["chunks"]] == [chunk["text"] for chunk in stored["chunks"]]
    assert ["mem_runtime_decision_001#0", "mem_runtime_decision_001#1"] == [
        chunk["chunk_id"] for chunk in stored["chunks"]
    ]
    assert ("lexon", "runtime", 1.0) == (
        stored["metadata"]["project"],
        stored["metadata"]["space"],
        stored["importance"],
    )


@pytest.mark.row("L065", "L136")
def test_what_a_record_leaves_open_is_filled_from_its_text(hx: Hexad) -> None:
    memory = hx.remember_structured("audit", {"raw": TEXT, "tags": ["Night Jobs", "ledger", "night jobs"]})

    assert memory == hx.get(memory.id)
    assert ("note", "project/note/the-ledger-is-sealed-each-night") == (memory.kind, memory.path)
    assert memory.summary_micro in TEXT
    assert memory.summary_micro.endswith(".")
    assert TEXT == memory.summary_short == memory.summary_long
    assert ("ledger", "night-jobs") == memory.tags
    assert memory.content_hash.startswith("sha256:")
    assert [f"{memory.id}#0"] == [chunk.chunk_id for chunk in memory.chunks]


@pytest.mark.row("L065")
def test_a_summary_made_here_ends_with_a_sentence_and_never_inside_a_character(hx: Hexad) -> None:
    flags = "🏴󠁧󠁢󠁳󠁣󠁴󠁿" * 200
    sentences = " ".join(f"Sentence number {number} says a little about harbours." for number in range(60))

    flagged = hx.remember_structured("s", {"raw": flags})
    told = hx.remember_structured("s", {"raw": sentences})

    assert 0 == len(flagged.summary_micro.rstrip("…")) % len("🏴󠁧󠁢󠁳󠁣󠁴󠁿")
    for summary in (told.summary_micro, told.summary_short, told.summary_long):
        assert summary.endswith("harbours.")


@pytest.mark.row("L065")
def test_a_given_summary_is_kept_beside_those_that_are_made(hx: Hexad) -> None:
    memory = hx.remember_structured("s", {"raw": TEXT, "summary_micro": "Night job.", "summary_long": "  "})

    assert ("Night job.", TEXT, TEXT) == (memory.summary_micro, memory.summary_short, memory.summary_long)


@pytest.mark.row("L065")
def test_a_given_summary_is_redacted_like_the_text(hx: Hexad) -> None:
    secret = "ghp_" + "R4nd0mT0kenW1thEn0ughL3tters9876543210"[:36]

    memory = hx.remember_structured("s", {"raw": TEXT, "summary_short": f"Use {secret} to push."})

    assert secret not in json.dumps(memory.to_dict())
    assert "[REDACTED:" in memory.summary_short
    assert memory.receipt is not None
    assert 1 == memory.receipt.redacted


def test_without_raw_the_longest_summary_is_the_text(hx: Hexad) -> None:
    memory = hx.remember_structured(
        "s", {"summary_micro": "Short.", "summary_long": "A longer one that says it all."}
    )

    assert ("A longer one that says it all.", "Short.") == (memory.raw, memory.summary_micro)
    assert "summary_long was taken" in notes(memory)


def test_project_is_the_option_where_the_metadata_name_none(hx: Hexad) -> None:
    by_option = hx.remember_structured("s", {"raw": "One text."}, project="shop")
    by_metadata = hx.remember_structured(
        "s", {"raw": "Another.", "metadata": {"project": "bank"}}, {"project": "shop"}
    )

    assert ("shop", "shop/note/one-text") == (by_option.metadata["project"], by_option.path)
    assert ("bank", "bank/note/another") == (by_metadata.metadata["project"], by_metadata.path)


@pytest.mark.row("L055")
def test_times_are_those_of_the_frozen_clock(hx: Hexad) -> None:
    memory = hx.remember_structured("s", {"raw": TEXT}, freeze_clock="2025-01-01T00:00:00Z")

    assert datetime(2025, 1, 1, tzinfo=UTC) == memory.created_at == memory.updated_at


@pytest.mark.row("L055")
def test_times_that_are_given_are_kept_also_when_they_are_still_to_come(hx: Hexad) -> None:
    future = hx.remember_structured("s", {"raw": "Later.", "created_at": "2031-05-01T12:00:00+02:00"})
    past = hx.remember_structured("s", {"raw": "Earlier.", "updated_at": "2020-02-02T00:00:00Z"})

    assert datetime(2031, 5, 1, 10, tzinfo=UTC) == future.created_at == future.updated_at
    assert datetime(2020, 2, 2, tzinfo=UTC) == past.created_at == past.updated_at


@pytest.mark.row("L157")
def test_a_missing_space_is_made(hx: Hexad) -> None:
    hx.remember_structured("brand/new", {"raw": TEXT})

    assert ["brand/new"] == [space.name for space in hx.spaces.list()]


# Chunks ---------------------------------------------------------------------------------------------------------


def test_given_chunks_may_overlap_and_what_they_leave_out_is_still_found(hx: Hexad) -> None:
    raw = "Alpha beta gamma delta. Epsilon zeta. A tail about walruses."
    given = ["Alpha beta gamma", "gamma delta.", "Epsilon zeta."]

    memory = hx.remember_structured("s", {"raw": raw, "chunks": [{"text": text} for text in given]})

    assert [*given, "A tail about walruses."] == [memory.chunk_text(chunk) for chunk in memory.chunks]
    assert [memory.id] == [hit.id for hit in hx.recall("walruses", semantic=False)]
    assert "" == notes(memory)


@pytest.mark.parametrize(
    "given", [["not in the text"], ["blocks no reader.", "The ledger"]], ids=["absent", "disorder"]
)
def test_chunks_that_do_not_lie_in_the_text_are_cut_anew_and_the_receipt_says_so(
    hx: Hexad, given: list[str]
) -> None:
    memory = hx.remember_structured(
        "s", {"raw": TEXT, "chunks": [{"chunk_id": "x#0", "text": text} for text in given]}
    )

    assert [TEXT] == [memory.chunk_text(chunk) for chunk in memory.chunks]
    assert "cut anew" in notes(memory)


def test_given_chunks_stay_in_place_when_a_secret_before_them_is_taken_out(hx: Hexad) -> None:
    raw = "password: Tr0ub4dor&3xyz\nThe second line.\nThe third line."

    memory = hx.remember_structured(
        "s", {"raw": raw, "chunks": [{"text": "password: Tr0ub4dor&3xyz"}, {"text": "The third line."}]}
    )

    texts = [memory.chunk_text(chunk) for chunk in memory.chunks]
    assert ["password: [REDACTED:password]", "The second line.", "The third line."] == [
        text.strip() for text in texts
    ]
    assert [1, 2, 3] == [chunk.first_line for chunk in memory.chunks]


def test_chunks_and_summaries_that_were_given_survive_a_change_of_something_else(hx: Hexad) -> None:
    hx.remember_structured("runtime", RECORD)

    changed = hx.remember_structured("runtime", {"id": RECORD["id"], "raw": RECORD["raw"], "tags": ["other"]})

    assert (Outcome.UPDATED, ("other",)) == (outcome(changed), changed.tags)
    assert RECORD["summary_short"] == changed.summary_short
    assert 2 == len(hx.get(RECORD["id"]).chunks)


def test_a_record_of_a_file_keeps_its_headings_and_lines_when_its_tags_change(
    hx: Hexad, tmp_path: Path
) -> None:
    (tmp_path / "guide.md").write_text(
        "# Guide\n\nIntro.\n\n## Install\n\n" + "Run the installer twice. " * 60 + "\n"
    )
    hx.ingest(tmp_path / "guide.md", space="s")
    (memory,) = hx.memories(space="s")

    changed = hx.remember_structured("s", {**memory.to_dict(), "tags": ["manual"]})

    assert (Outcome.UPDATED, ("manual",)) == (outcome(changed), changed.tags)
    assert memory.chunks == changed.chunks == hx.get(memory.id).chunks
    assert any("Install" in chunk.heading for chunk in changed.chunks)
    assert (memory.source, memory.source_id) == (changed.source, changed.source_id)


# The same record again ------------------------------------------------------------------------------------------


@pytest.mark.row("L116", "L039")
@pytest.mark.parametrize(
    "payload",
    [
        RECORD,
        {"raw": TEXT},
        {
            "raw": TEXT,
            "kind": "guide",
            "path": "a/b",
            "chunks": [{"text": "The ledger is sealed each night."}],
        },
        {
            "raw": "password: Tr0ub4dor&3xyz",
            "metadata": {"token": "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJ2kL4"},
        },
        {"summary_micro": "Only this."},
        {"id": "old", "raw": TEXT, "status": "archived"},
    ],
    ids=["whole", "open", "chunks", "secret", "summary", "archived"],
)
def test_the_same_payload_twice_changes_no_byte(
    hx: Hexad, clock: FrozenClock, payload: Mapping[str, Any]
) -> None:
    first = hx.remember_structured("runtime", payload)
    before = hx.spaces.write_file("runtime").read_bytes()
    clock.advance(days=3)

    second = hx.remember_structured("runtime", payload)

    assert (Outcome.UNCHANGED, first) == (outcome(second), second)
    assert before == hx.spaces.write_file("runtime").read_bytes()


@pytest.mark.row("L116")
def test_a_known_id_is_changed_and_keeps_when_it_was_made_and_its_pin(hx: Hexad, clock: FrozenClock) -> None:
    made = hx.remember_structured("s", {"id": "ledger", "raw": "Old words.", "pinned": True, "tags": ["a"]})
    clock.advance(days=1)

    changed = hx.remember_structured("s", {"id": "ledger", "raw": TEXT})

    assert (Outcome.UPDATED, made.created_at, True, ("a",)) == (
        outcome(changed), changed.created_at, changed.pinned, changed.tags,
    )  # fmt: skip
    assert made.created_at + timedelta(days=1) == changed.updated_at
    assert ["Old words."] == [version["raw"] for version in hx.history("ledger")]
    assert not hx.remember_structured("s", {"id": "ledger", "raw": TEXT, "pinned": False}).pinned


@pytest.mark.row("L116", "L123")
def test_without_an_id_path_kind_and_content_tell_which_record_it_is(hx: Hexad) -> None:
    first = hx.remember_structured("s", {"raw": TEXT, "path": "a/b", "kind": "guide"})

    assert (
        first.id
        == hx.remember_structured("s", {"raw": TEXT, "path": "a/b", "kind": "guide", "tags": ["x"]}).id
    )
    others = [
        hx.remember_structured("s", {"raw": TEXT, "path": "a/c", "kind": "guide"}),
        hx.remember_structured("s", {"raw": TEXT, "path": "a/b", "kind": "note"}),
        hx.remember_structured("s", {"raw": TEXT + " More.", "path": "a/b", "kind": "guide"}),
        hx.remember_structured("t", {"raw": TEXT, "path": "a/b", "kind": "guide"}),
    ]
    assert 5 == len({first.id, *(memory.id for memory in others)})


def test_metadata_that_are_given_are_whole_and_those_left_out_stay(hx: Hexad) -> None:
    hx.remember_structured("s", {"id": "x", "raw": TEXT, "metadata": {"a": 1, "b": 2, "project": "shop"}})

    kept = hx.remember_structured("s", {"id": "x", "raw": TEXT, "tags": ["t"]})
    replaced = hx.remember_structured("s", {"id": "x", "raw": TEXT, "metadata": {"b": 3}})

    assert (1, 2, "shop") == tuple(kept.metadata[key] for key in ("a", "b", "project"))
    assert (None, 3, "shop") == tuple(replaced.metadata.get(key) for key in ("a", "b", "project"))


def test_an_archived_record_comes_back_when_it_is_written_again(hx: Hexad) -> None:
    memory = hx.remember_structured("s", {"raw": TEXT})
    hx.forget(memory.id)

    again = hx.remember_structured("s", {"raw": TEXT})

    assert (memory.id, Status.ACTIVE) == (again.id, hx.get(memory.id).status)
    assert [memory.id] == [hit.id for hit in hx.recall("auditors", semantic=False)]


@pytest.mark.parametrize("status", ["archived", "superseded", "quarantined"])
def test_a_record_that_is_not_active_is_stored_and_not_recalled(hx: Hexad, status: str) -> None:
    hx.remember_structured("s", {"id": "x", "raw": TEXT, "status": status})

    assert status == hx.get("x").status.value
    assert [] == list(hx.recall("auditors", semantic=False))
    hx.remember_structured("s", {"id": "x", "raw": TEXT, "status": "active"})
    assert ["x"] == [hit.id for hit in hx.recall("auditors", semantic=False)]


def test_the_flags_of_what_was_taken_out_come_back_with_the_record(
    hx: Hexad, opened: Opener, tmp_path: Any
) -> None:
    memory = hx.remember_structured("s", {"raw": "password: Tr0ub4dor&3xyz"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    copied = opened(elsewhere).remember_structured("s", memory.to_dict())

    assert memory.metadata["pii_flags"] == copied.metadata["pii_flags"] != []


def test_flags_that_hide_something_else_are_dropped(hx: Hexad) -> None:
    forged = [
        {"rule": "password", "kind": "secret", "hash": "my password is hunter2", "count": 1},
        "hunter2",
        {"a": 1},
    ]

    memory = hx.remember_structured("s", {"raw": "x [REDACTED:password]", "metadata": {"pii_flags": forged}})

    assert [] == memory.metadata["pii_flags"]


# Rules that pin -------------------------------------------------------------------------------------------------


@pytest.mark.row("L041")
def test_a_rule_of_the_space_pins_what_matches_unless_the_caller_says_otherwise(hx: Hexad) -> None:
    hx.spaces.create("s")
    hx.spaces.set_policy(
        "s", {"auto_pin": [{"kinds": ["decision"]}, {"tags": ["law"]}, {"relevance": "high"}]}
    )

    assert hx.remember_structured("s", {"raw": "One.", "kind": "decision"}).pinned
    assert hx.remember("Two.", space="s", tags=["Law"]).pinned
    assert hx.remember_raw("s", "note", "Never restart the primary by hand.", relevance="high").pinned
    assert not hx.remember("Three.", space="s").pinned
    assert not hx.remember_structured("s", {"raw": "Four.", "kind": "decision", "pinned": False}).pinned
    assert not hx.remember_raw("s", "decision", "Five.", auto_pin=False).pinned


@pytest.mark.row("L041")
def test_what_was_inferred_from_a_text_makes_no_rule_match_unless_the_policy_says_so(hx: Hexad) -> None:
    hx.spaces.create("s")
    rules = [{"tags": ["primary"]}, {"relevance": "high"}, {"paths": ["project/note/never-restart-primary"]}]
    hx.spaces.set_policy("s", {"auto_pin": rules})

    assert not hx.remember_raw("s", "note", "Never restart the primary.").pinned
    assert hx.remember_raw("s", "note", "Always back up the primary.", tags=["primary"]).pinned
    hx.spaces.set_policy("s", {"auto_pin": rules, "model_may_pin": True})
    assert hx.remember_raw("s", "note", "Never move the primary.").pinned


@pytest.mark.row("L041")
def test_a_change_that_makes_a_rule_match_pins_and_a_pin_taken_away_stays_away(hx: Hexad) -> None:
    hx.spaces.create("s")
    hx.spaces.set_policy("s", {"auto_pin": [{"tags": ["law"]}]})
    hx.remember("The text.", space="s", id="x")

    assert hx.remember("The text.", space="s", id="x", tags=["law"]).pinned
    hx.unpin("x")
    assert not hx.remember("The text, changed.", space="s", id="x").pinned


@pytest.mark.row("L041")
def test_a_changed_policy_counts_at_once_also_in_a_store_that_was_open(hx: Hexad, opened: Opener) -> None:
    other = opened()
    assert not other.remember("Before.", space="s", kind="decision").pinned

    hx.spaces.set_policy("s", {"auto_pin": {"kind": "decision"}})

    assert other.remember("After.", space="s", kind="decision").pinned


# What cannot be used --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ('{"raw": "x",\n "tags" ["a"]}', r"line 2, column 9"),
        ("", r"line 1, column 1"),
        ("[1]", r"no JSON object"),
        ('{"raw": "a", "raw": "b"}', r"'raw' stands there twice"),
        ('{"raw": "a", "importance": NaN}', r"NaN is no number"),
        ("[" * 100_000, r"nested too deeply"),
        ({"raw": "x", "sumary": "y"}, r"unknown key 'sumary'; known are id, path"),
        ({}, r"raw is missing"),
        ({"raw": "  ", "summary_micro": ""}, r"raw is missing"),
        ({"raw": 5}, r"raw = 5.*give a string"),
        ({"raw": "x", "summary_short": ["y"]}, r"summary_short = .*give a string"),
        ({"raw": "x", "tags": "release"}, r"tags = 'release'.*list of strings"),
        ({"raw": "x", "tags": ["a", 3]}, r"list of strings"),
        ({"raw": "x", "relevance": "urgent"}, r"'urgent' is not one of high, medium, low"),
        ({"raw": "x", "pinned": "yes"}, r"pinned = 'yes'.*true or false"),
        ({"raw": "x", "metadata": [1]}, r"metadata = .*give an object"),
        ({"raw": "x", "chunks": ["x"]}, r"chunks = .*list of objects"),
        ({"raw": "x", "chunks": [{"chunk_id": "a#0"}]}, r"chunks\[0\].*chunk_id and text"),
        ({"raw": "x", "created_at": "yesterday"}, r"Cannot parse created_at = 'yesterday' as a time"),
        ({"raw": "x", "created_at": 5}, r"created_at must be a datetime or a string, not 5"),
        ({"raw": "x", "created_at": "2026-02-02", "updated_at": "2026-02-01"}, r"updated_at .* is before created_at"),
        ({"raw": "x", "path": "../up"}, r"holds '\.\.'"),
        ({"raw": "x", "importance": 7}, r"not between 0 and 1"),
        ({"raw": "x", "turn": {"conversation": "c"}}, r"a turn has conversation"),
        ({"raw": "x", "citations": [{"symbol": "y"}]}, r"a citation has path"),
        ({"raw": "x", "source": "docs"}, r"give source_id with it"),
        (17, r"neither an object nor a JSON text"),
        ('{"raw": "x", "value": ' + "9" * 5_000 + "}", r"number .*too long"),
        ({"raw": "x", "importance": 10**5_000}, r"importance = .*between 0 and 1"),
        ({"raw": "x", "confidence": -(10**400)}, r"confidence = .*between 0 and 1"),
        ({"raw": "x", "value": nested(900, [])}, r"value .*more than 50 deep"),
        ({"raw": "x", "metadata": {"a": nested(900, {})}}, r"metadata .*more than 50 deep"),
        ('{"raw": "x", "metadata": ' + '{"a":' * 900 + "1" + "}" * 900 + "}", r"metadata .*more than 50 deep"),
        ({"raw": "x", "source": "a\ud800", "source_id": "s"}, r"source = .*half a surrogate pair"),
        ({"raw": "x", "citations": [{"path": "a\ud800"}]}, r"path = .*half a surrogate pair"),
        ({"raw": "x", "citations": [{"path": "a", "commit": "\udfff"}]}, r"commit = .*half a surrogate pair"),
        ({"raw": "x", "turn": {**TURN, "speaker": "\ud83d"}}, r"speaker = .*half a surrogate pair"),
        ({"raw": "x", "turn": {**TURN, "position": 2**63}}, r"a turn has conversation"),
        ({"raw": "x", "data_subjects": ["\ud800"]}, r"data_subjects = .*half a surrogate pair"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named_and_nothing_is_stored(hx: Hexad, payload: Any, said: str) -> None:
    with pytest.raises(InvalidMemory, match=said):
        hx.remember_structured("s", payload)

    assert [] == hx.memories(status=None)
    assert [] == list(hx.spaces.list())


@pytest.mark.row("L158")
@pytest.mark.parametrize("space", [None, True, 7, 1.5, b"docs", ["docs"], {"docs"}, object()])
def test_a_space_whose_name_is_no_text_is_invalid(hx: Hexad, space: Any) -> None:
    for write in (
        lambda: hx.remember_structured(space, {"raw": TEXT}),
        lambda: hx.remember_raw(space, "note", TEXT),
    ):
        with pytest.raises(InvalidSpace, match=r"Invalid space .*: the name must be a string, such as"):
            write()
    assert [] == hx.memories(status=None)


def test_a_key_that_stands_twice_among_very_many_is_found_at_once(hx: Hexad) -> None:
    many = ",".join(f'"k{number}":1' for number in range(200_000))

    with pytest.raises(InvalidMemory, match=r"the key 'k199999' stands there twice"):
        hx.remember_structured("s", f'{{{many},"k199999":1}}')


def test_a_summary_past_its_limit_is_refused(hx: Hexad) -> None:
    with pytest.raises(LimitExceeded, match=r"summary_micro has 1,001 characters; at most 1,000"):
        hx.remember_structured("s", {"raw": "x", "summary_micro": "y" * 1_001})


def test_an_unknown_option_is_named(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match=r"Unknown option 'freeze'.*project, freeze_clock"):
        hx.remember_structured("s", {"raw": "x"}, '{"freeze": 1}')


def test_an_id_and_a_payload_of_another_space_are_conflicts(hx: Hexad) -> None:
    memory = hx.remember_structured("one", {"id": "x", "raw": TEXT})

    with pytest.raises(Conflict, match=r"'x' is in space 'one', not in 'two'"):
        hx.remember_structured("two", {"id": "x", "raw": "Other words."})
    with pytest.raises(Conflict, match=r"of space 'one', not of 'two'"):
        hx.remember_structured("two", memory.to_dict())
    assert [memory] == hx.memories()
    assert ["one"] == [space.name for space in hx.spaces.list()]


def test_an_update_before_the_memory_was_made_is_refused(hx: Hexad) -> None:
    hx.remember_structured("s", {"id": "x", "raw": TEXT})

    with pytest.raises(InvalidMemory, match=r"is before created_at 2026-01-01"):
        hx.remember_structured("s", {"id": "x", "raw": "Other.", "updated_at": "2025-12-31T23:59:59Z"})
    assert TEXT == hx.get("x").raw


# Roles ----------------------------------------------------------------------------------------------------------


def test_a_role_writes_beside_what_it_may_not_see_and_learns_nothing_of_it(hx: Hexad, opened: Opener) -> None:
    hx.spaces.create("s")
    hx.spaces.set_policy("s", {"visibility": [{"tags": ["private"], "roles": ["lead"]}]})
    hidden = hx.remember_structured("s", {"id": "hidden", "raw": TEXT, "tags": ["private"], "path": "a/b"})
    guest = opened(role="guest")

    copy = guest.remember_structured("s", {"raw": TEXT, "path": "a/b"})
    raw = guest.remember_raw("s", "note", TEXT + " More.")

    assert copy.id != hidden.id
    assert (Outcome.CREATED, (), Outcome.CREATED) == (outcome(copy), copy.tags, outcome(raw))
    assert copy.receipt is not None
    assert "hidden" not in str(copy.receipt) + str(raw.receipt)
    with pytest.raises(Conflict, match=r"'hidden' cannot be used"):
        guest.remember_structured("s", {"id": "hidden", "raw": "Other words."})
    assert {copy.id, raw.id} == {memory.id for memory in guest.memories()}
    assert TEXT == hx.get("hidden").raw
