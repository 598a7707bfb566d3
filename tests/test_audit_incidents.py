"""Incidents: spans that somebody marked, kept for good, exported with what proves them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hexad import AccessDenied, Conflict, FrozenClock, IntegrityError, InvalidInput, NotFound
from hexad.audit import AuditLog, AuditLogWriter, check_export, check_incident
from opener import Opener

SECRET = "ghp_" + "A1b2C3d4E5f6" * 3


@pytest.fixture
def rita(log: AuditLog, writer: AuditLogWriter, clock: FrozenClock) -> str:
    """A reviewer's credential; 40 timesteps of monday and, an hour later, 20 of tuesday are in the ledger."""
    credential = log.reviewers.add("rita")
    fill(writer, 40, "monday")
    clock.advance(hours=1)
    fill(writer, 20, "tuesday")
    return credential


def fill(writer: AuditLogWriter, count: int, session: str) -> None:
    writer.record_many(
        {
            "session_id": session,
            "tick": at,
            "event_type": "output",
            "raw_content": f"{session} {at}",
            "lens_activations": {"p::Hidden": 0.9},
            "steering_applied": [{"directive": "calm"}],
        }
        for at in range(count)
    )


def exported(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()][1:-1]


@pytest.mark.row("H092", "H093")
@pytest.mark.parametrize(
    ("span", "records"),
    [
        ({"session_id": "monday"}, 40),
        ({"session_id": "monday", "tick_range": (5, 9)}, 5),
        (
            {"time_range": ("2026-01-01T00:30:00Z", "2026-01-01T02:00:00Z")},
            21,
        ),  # its own mark is of that time
        ({"seq_range": (1, 10)}, 10),
        ({"session_id": "tuesday", "seq_range": (30, 45)}, 5),
    ],
)
def test_a_span_is_marked_listed_shown_and_exported(
    log: AuditLog, rita: str, tmp_path: Path, span: dict[str, Any], records: int
) -> None:
    mark = log.incidents.mark("crash", "It fell over.", reviewer_credential=rita, **span)
    (found,) = log.incidents.list(reviewer_credential=rita)
    shown = log.incidents.get("crash", reviewer_credential=rita)
    written = log.incidents.export("crash", tmp_path / "crash.jsonl", reviewer_credential=rita)

    assert ("crash", "rita", "It fell over.", mark.record_id) == (
        found.name, found.marks[0].author, found.marks[0].reason, found.marks[0].record_id,
    )  # fmt: skip
    assert records == found.records
    assert found.marks == shown.marks
    lines = exported(tmp_path / "crash.jsonl")
    assert (
        written == len(lines) == check_incident(tmp_path / "crash.jsonl", verifiers=[log.public_key]).records
    )
    assert written - records in (0, 3)  # what was asked since is of the hour that one span marks
    kinds = [record.kind for record in log.query(reviewer_credential=rita, limit=1_000)]
    assert ["incident", "reviewer.incidents", "reviewer.incidents", "reviewer.incident_export"] == kinds[61:]
    assert log.verify().ok


def test_marks_under_one_name_add_up_and_count_each_record_once(
    log: AuditLog, rita: str, writer: AuditLogWriter
) -> None:
    log.incidents.mark("crash", "first", reviewer_credential=rita, seq_range=(1, 10))
    log.incidents.mark("crash", "second", reviewer_credential=rita, session_id="monday", tick_range=(5, 14))
    log.incidents.mark("other", "third", reviewer_credential=rita, session_id="later")
    fill(writer, 3, "later")

    crash, other = log.incidents.list(reviewer_credential=rita)

    assert (15, ["first", "second"]) == (crash.records, [mark.reason for mark in crash.marks])
    assert 3 == other.records  # records that came after the mark


@pytest.mark.row("H093")
def test_incidents_are_for_reviewers_as_far_as_their_scope_goes(
    log: AuditLog, rita: str, tmp_path: Path
) -> None:
    sam = log.reviewers.add("sam", sessions=["tuesday"])
    log.incidents.mark("crash", "It fell.", reviewer_credential=rita, session_id="monday")
    log.incidents.mark("crash", "Again.", reviewer_credential=sam, session_id="tuesday")

    (found,) = log.incidents.list(reviewer_credential=sam)
    log.incidents.export("crash", tmp_path / "crash.jsonl", reviewer_credential=sam)

    assert (20, ["Again."]) == (found.records, [mark.reason for mark in found.marks])
    assert {"tuesday"} == {entry["session_id"] for entry in exported(tmp_path / "crash.jsonl")}
    assert "monday" not in (tmp_path / "crash.jsonl").read_text()
    with pytest.raises(AccessDenied):
        log.incidents.mark("x", "y", reviewer_credential=sam, session_id="monday")
    with pytest.raises(AccessDenied):
        log.incidents.mark("x", "y", reviewer_credential=sam, seq_range=(0, 5))
    for work in (
        lambda: log.incidents.list(reviewer_credential="rita:guess"),
        lambda: log.incidents.get("crash", reviewer_credential="rita:guess"),
        lambda: log.incidents.mark("x", "y", reviewer_credential="", session_id="monday"),
        lambda: log.incidents.export("crash", tmp_path / "x", reviewer_credential="rita:guess"),
    ):
        with pytest.raises(AccessDenied):
            work()
    assert not (tmp_path / "x").exists()


def test_a_reason_is_kept_encrypted_and_without_secrets(log: AuditLog, rita: str, folder: Path) -> None:
    log.incidents.mark("crash", f"canary {SECRET}", reviewer_credential=rita, session_id="monday")

    kept = b"".join(path.read_bytes() for path in folder.iterdir())
    (found,) = log.incidents.list(reviewer_credential=rita)

    assert b"canary" not in kept
    assert "canary" in found.marks[0].reason
    assert SECRET not in found.marks[0].reason


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "marks a session"),
        ({"tick_range": (1, 2)}, "give the session"),
        ({"session_id": "s", "tick_range": (2, 1)}, "ticks"),
        ({"session_id": ""}, "session"),
        ({"seq_range": (1, 2, 3)}, "seqs"),
        ({"seq_range": (True, 2)}, "seqs"),
        ({"time_range": ("soon", "later")}, "Cannot parse"),
        ({"session_id": "s", "name": "a name"}, "name"),
        ({"session_id": "s", "reason": " "}, "why"),
    ],
)
def test_what_cannot_be_marked_is_refused_and_nothing_is_noted(
    log: AuditLog, rita: str, given: dict[str, Any], words: str
) -> None:
    size = log.size
    with pytest.raises(InvalidInput, match=words):
        log.incidents.mark(**{"name": "crash", "reason": "x", "reviewer_credential": rita, **given})
    assert size == log.size


def test_an_incident_that_is_not_there_is_not_found(log: AuditLog, rita: str, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing"):
        log.incidents.get("nothing", reviewer_credential=rita)
    with pytest.raises(NotFound, match="nothing"):
        log.incidents.export("nothing", tmp_path / "x", reviewer_credential=rita)
    log.incidents.mark("crash", "x", reviewer_credential=rita, session_id="monday")
    (tmp_path / "x").write_text("mine")
    with pytest.raises(Conflict):
        log.incidents.export("crash", tmp_path / "x", reviewer_credential=rita)
    assert "mine" == (tmp_path / "x").read_text()


@pytest.mark.row("H096")
def test_records_that_were_archived_before_they_were_marked_are_exported_with_their_archive(
    log: AuditLog, rita: str, tmp_path: Path, clock: FrozenClock
) -> None:
    clock.advance(days=9)
    archive = tmp_path / "old.hxa"
    log.retention.archive(archive, before="2026-01-05", reviewer_credential=rita, limit=33)
    log.incidents.mark("crash", "late", reviewer_credential=rita, session_id="monday")

    without = log.incidents.export("crash", tmp_path / "without.jsonl", reviewer_credential=rita)
    written = log.incidents.export(
        "crash", tmp_path / "all.jsonl", reviewer_credential=rita, archives=[archive]
    )

    assert (7, 40) == (without, written)
    assert [f"monday {at}" for at in range(40)] == [
        entry["raw_content"] for entry in exported(tmp_path / "all.jsonl")
    ]
    for name in ("without", "all"):
        assert check_incident(tmp_path / f"{name}.jsonl", verifiers=[log.public_key]).records in (7, 40)


@pytest.mark.row("H096")
@pytest.mark.parametrize("check", [check_incident, check_export])
def test_an_export_is_checked_without_the_ledger_and_every_change_of_it_is_found(
    log: AuditLog, rita: str, tmp_path: Path, check: Callable[..., Any]
) -> None:
    path, copy = tmp_path / "crash.jsonl", tmp_path / "copy.jsonl"
    log.incidents.mark("crash", "x", reviewer_credential=rita, session_id="monday", tick_range=(0, 5))
    if check is check_incident:
        log.incidents.export("crash", path, reviewer_credential=rita)
    else:
        log.export_to(path, reviewer_credential=rita, session_id="monday", tick_range=(0, 5))
    data, lines, draw = path.read_bytes(), path.read_bytes().splitlines(keepends=True), random.Random(5)

    changes = [
        b"".join([*lines[:2], *lines[3:]]), b"".join([*lines[:1], *lines[2:3], *lines[1:2], *lines[3:]]), data[:-1],
        data + b"\n", b"", b"".join(lines[:-1]), b"".join([*lines[:3], lines[2], *lines[3:]]),
        data.replace(b"monday 3", b"monday 4"), data.replace(b"0.9", b"0.8"), data.replace(b"calm", b"cold"),
    ]  # fmt: skip
    for at in [*draw.sample(range(len(data)), 80), len(data) - 3, len(data) - 5]:
        changed = bytearray(data)
        changed[at] ^= 1 << draw.randrange(7)
        changes.append(bytes(changed))
    for change in changes:
        copy.write_bytes(change)
        with pytest.raises(IntegrityError):
            check(copy)
    with AuditLog(tmp_path / "other", create=True) as other, pytest.raises(IntegrityError, match="key"):
        check(path, verifiers=[other.public_key])
    assert 6 == check(path, verifiers=[log.public_key]).records


def test_an_export_says_what_was_asked_for_and_of_erased_contents_that_they_were(
    log: AuditLog, rita: str, tmp_path: Path
) -> None:
    log.erase(reviewer_credential=rita, session_id="monday", tick_range=(2, 2))

    written = log.export_to(
        tmp_path / "all.jsonl", reviewer_credential=rita, session_id="monday", tick_range=(1, 3)
    )
    checked = check_export(tmp_path / "all.jsonl", verifiers=[log.public_key])

    assert (3, "rita", "monday", [1, 3]) == (
        written, checked.reviewer, checked.asked["session"], checked.asked["ticks"],
    )  # fmt: skip
    assert [False, True, False] == [entry["erased"] for entry in exported(tmp_path / "all.jsonl")]
    with pytest.raises(IntegrityError, match="form"):
        check_incident(tmp_path / "all.jsonl")


def test_neither_kind_of_file_shows_what_checks_the_secret_of_a_reviewer(
    log: AuditLog, rita: str, tmp_path: Path
) -> None:
    log.incidents.mark("all", "x", reviewer_credential=rita, seq_range=(0, 1_000))
    log.incidents.export("all", tmp_path / "incident.jsonl", reviewer_credential=rita)
    log.export_to(tmp_path / "all.jsonl", reviewer_credential=rita)

    for name, check in (("incident.jsonl", check_incident), ("all.jsonl", check_export)):
        entries = exported(tmp_path / name)
        assert "reviewer.added" in {entry["kind"] for entry in entries}
        assert "scrypt" not in (tmp_path / name).read_text()
        assert len(entries) == check(tmp_path / name, verifiers=[log.public_key]).records


@pytest.mark.parametrize(
    "span", [{"session_id": "monday"}, {"seq_range": (0, 3)}], ids=["a session", "records"]
)
def test_a_mark_beyond_a_reviewers_sessions_is_refused_and_that_is_a_record(
    log: AuditLog, rita: str, span: dict[str, Any]
) -> None:
    sam = log.reviewers.add("sam", sessions=["tuesday"])

    with pytest.raises(AccessDenied):
        log.incidents.mark("crash", "It fell.", reviewer_credential=sam, **span)

    (refused,) = log.query(reviewer_credential=rita, kinds=["reviewer.refused"])
    assert "sam" == refused.detail["name"]
    assert [] == log.incidents.list(reviewer_credential=rita)


def test_nobody_who_is_called_as_the_ledger_calls_itself_takes_a_reason_along(opened: Opener) -> None:
    hx = opened(embedder=None)
    hx.remember("System wants tea.", data_subjects=["system"])
    with AuditLogWriter(hx.path, "being") as writer, AuditLog(hx.path) as log:
        writer.record("monday", 1, "output", "Certainly.", {}, [])
        rita = log.reviewers.add("rita")
        log.incidents.mark("outburst", "Sounded angry.", reviewer_credential=rita, session_id="monday")
        with pytest.raises(InvalidInput, match="ledger's own"):
            writer.record("monday", 2, "output", "Certainly.", {}, [], subject="system")

        receipt = hx.forget(subject="system", purge=True, confirm=True)

        (incident,) = log.incidents.list(reviewer_credential=rita)
        assert (1, 0) == (receipt.count("memories"), receipt.count("contents of the ledger"))
        assert ["Sounded angry."] == [mark.reason for mark in incident.marks]
        assert log.verify().ok
