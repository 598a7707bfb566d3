"""The ledger: one unbroken chain, read by reviewers, in which nobody changes anything unnoticed."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from hexad import AccessDenied, Conflict, FrozenClock, IntegrityError, InvalidInput, LedgerBroken, NotFound
from hexad.audit import AuditLog, AuditLogWriter
from hexad.audit.checkpoint import leaf_hash, verify_consistency, verify_inclusion
from hexad.audit.ledger import ERASURE
from hexad.audit.open import open_ledger
from hexad.audit.reviewers import SYSTEM
from hexad.audit.values import NewAuditRecord
from hexad.core.audit_notes import AuditEvent
from hexad.core.clock import SystemClock

SECRET = "ghp_" + "A1b2C3d4E5f6" * 3


def fill(writer: AuditLogWriter, count: int, *, session: str = "monday", first: int = 0) -> list[str]:
    return writer.record_many(
        {
            "session_id": session,
            "tick": first + at,
            "event_type": "output",
            "raw_content": f"word {at}",
            "lens_activations": {"p::Seen": 0.5, "p::Hidden": 0.9},
            "steering_applied": [{"directive": "calm", "strength": at}],
        }
        for at in range(count)
    )


@pytest.mark.row("H094", "H095", "H096", "H155")
def test_a_record_says_everything_and_follows_the_one_before(writer: AuditLogWriter, log: AuditLog) -> None:
    first = writer.record("monday", 1, "input", "Hello", {"p::Hidden": 0.9}, [])
    second = writer.record("monday", 1, "steering", "calm down", {}, [{"directive": "calm"}], subject="ada")
    credential = log.reviewers.add("rita")

    record, two, added = log.query(reviewer_credential=credential)

    assert ["audit-0", "audit-1"] == [first, second] == [record.id, two.id]
    assert ("monday", 1, "Hello", {"p::Hidden": 0.9}, []) == (
        record.session_id, record.tick, record.raw_content, record.lens_activations, record.steering_applied,
    )  # fmt: skip
    assert ("genesis", record.record_hash) == (record.prev_record_hash, two.prev_record_hash)
    assert ("session:monday", "ada", "system") == (record.subject, two.subject, added.subject)
    assert [{"directive": "calm"}] == two.steering_applied
    assert hashlib.sha256(b"genesis:monday:1:Hello").hexdigest() == record.four_field_hash


@pytest.mark.row("H176", "H184")
def test_the_ledger_is_for_its_owner_alone(writer: AuditLogWriter, folder: Path) -> None:
    writer.record("s", 1, "input", "x", {}, [])

    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@pytest.mark.row("H184")
def test_nothing_is_readable_in_the_files(writer: AuditLogWriter, folder: Path) -> None:
    writer.record("s", 1, "input", "canary-content", {"p::CanaryLens": 1.0}, [], subject="canary-person")

    everything = b"".join(path.read_bytes() for path in folder.iterdir())

    assert b"canary" not in everything
    assert b"CanaryLens" not in everything


def test_secrets_are_taken_out_before_they_are_recorded(writer: AuditLogWriter, log: AuditLog) -> None:
    writer.record("s", 1, "input", f"use {SECRET}", {}, [{"why": f"saw {SECRET}"}])

    record = log.query(reviewer_credential=log.reviewers.add("rita"))[0]

    assert SECRET not in str(record)
    assert "REDACTED" in str(record.raw_content)


def test_of_many_records_those_with_secrets_are_kept_without_them(
    writer: AuditLogWriter, log: AuditLog
) -> None:
    texts = [f"use {SECRET} now" if at in (3, 7) else f"word {at}" for at in range(20)]
    writer.record_many(
        {"session_id": "s", "tick": at, "event_type": "output", "raw_content": text}
        for at, text in enumerate(texts)
    )

    found = log.query(reviewer_credential=log.reviewers.add("rita"), session_id="s")

    assert [at for at in range(20) if at not in (3, 7)] == [
        at for at, record in enumerate(found) if record.raw_content == texts[at]
    ]
    assert not any(SECRET in str(record) for record in found)


def _write(folder: Path, name: str, count: int) -> None:
    with AuditLogWriter(folder, name, clock=SystemClock()) as writer:
        for at in range(count):
            writer.record(name, at, "output", "x", {}, [])


@pytest.mark.row("H092", "H096")
def test_several_programs_write_one_chain(folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    programs = [context.Process(target=_write, args=(folder, f"p{at}", 25)) for at in range(3)]
    for program in programs:
        program.start()
    for program in programs:
        program.join()

    with AuditLog(folder) as log:
        assert 75 == log.verify().records
        assert log.verify().ok
        found = log.query(reviewer_credential=log.reviewers.add("rita"), session_id="p1", limit=1000)
    assert list(range(25)) == [record.tick for record in found]


@pytest.mark.row("H092", "H096")
def test_a_restart_goes_on_with_the_chain(folder: Path, clock: FrozenClock) -> None:
    for _ in range(3):
        with AuditLogWriter(folder, "be", clock=clock) as writer:
            fill(writer, 5)
    with AuditLog(folder, clock=clock) as log:
        assert (15, True) == (log.verify().records, log.verify().ok)


def test_what_is_no_timestep_is_a_record_too(
    writer: AuditLogWriter, log: AuditLog, clock: FrozenClock
) -> None:
    made = writer.event(AuditEvent(what="deploy", at=clock.now(), detail={"version": 2}))

    (found,) = log.query(reviewer_credential=log.reviewers.add("rita"), kinds=["deploy"])

    assert (made, "system", {"by": "be-1", "version": 2}) == (found.id, found.subject, found.detail)


@pytest.mark.row("H092", "H156")
def test_what_was_recorded_stays_byte_for_byte_whatever_comes_after(
    writer: AuditLogWriter, log: AuditLog, folder: Path, clock: FrozenClock
) -> None:
    def records() -> list[tuple[object, ...]]:
        opened = open_ledger(folder, clock=clock, create=False)
        found = opened.db.query("SELECT * FROM entries ORDER BY seq")
        opened.close()
        return found

    fill(writer, 5)
    before, root = records(), log.root(5)

    fill(writer, 300, session="tuesday")
    credential = log.reviewers.add("rita")
    log.query(reviewer_credential=credential)
    opened = open_ledger(folder, clock=clock, create=False)
    opened.ledger.erase([2])
    opened.close()

    assert before == records()[:5]
    assert root == log.root(5)


@pytest.mark.row("H155")
def test_the_chain_can_be_followed_by_hand(
    writer: AuditLogWriter, log: AuditLog, folder: Path, clock: FrozenClock
) -> None:
    """Each record is the SHA-256 of canonical JSON that ends with the hash before it; the first says `genesis`."""
    fill(writer, 20)
    opened = open_ledger(folder, clock=clock, create=False)
    rows = opened.db.query("SELECT body, hash FROM entries ORDER BY seq")
    opened.close()

    before = "genesis"
    for body, digest in rows:
        assert isinstance(body, bytes) and isinstance(digest, bytes)
        said = json.loads(body)
        assert before == said["prev"]
        assert body == json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        before = hashlib.sha256(body).hexdigest()
        assert before == digest.hex()


# Reviewers ------------------------------------------------------------------------------------------------------


@pytest.mark.row("H093")
@pytest.mark.parametrize("credential", ["", "rita", "rita:wrong", "nobody:x", "rita:"])
def test_without_a_credential_nothing_is_shown_and_the_attempt_is_kept(
    writer: AuditLogWriter, log: AuditLog, credential: str
) -> None:
    fill(writer, 1)
    right = log.reviewers.add("rita")

    with pytest.raises(AccessDenied, match="for reviewers"):
        log.query(reviewer_credential=credential)

    assert ["reviewer.refused"] == [
        record.kind for record in log.query(reviewer_credential=right, kinds=["reviewer.refused"])
    ]


@pytest.mark.row("H093")
def test_a_query_is_a_record_itself(writer: AuditLogWriter, log: AuditLog) -> None:
    fill(writer, 3)
    credential = log.reviewers.add("rita")
    log.query(reviewer_credential=credential, session_id="monday", tick_range=(1, 2))

    (kept,) = log.query(reviewer_credential=credential, kinds=["reviewer.query"])

    assert ("rita", 2, "monday", [1, 2]) == tuple(
        kept.detail[name] for name in ("reviewer", "shown", "session", "ticks")
    )


@pytest.mark.row("H093")
def test_a_credential_ends_is_revoked_and_reaches_as_far_as_its_scope(
    writer: AuditLogWriter, log: AuditLog, clock: FrozenClock
) -> None:
    fill(writer, 2, session="monday")
    fill(writer, 2, session="tuesday")
    short = log.reviewers.add("short", expires_at=clock.now() + timedelta(hours=1))
    narrow = log.reviewers.add("narrow", sessions=["tuesday"])

    assert ["tuesday"] * 2 == [record.session_id for record in log.query(reviewer_credential=narrow)]
    assert [] == log.query(reviewer_credential=narrow, session_id="monday")
    with pytest.raises(Conflict, match="already"):
        log.reviewers.add("narrow")
    clock.advance(hours=2)
    with pytest.raises(AccessDenied):
        log.query(reviewer_credential=short)
    log.reviewers.revoke("narrow")
    with pytest.raises(AccessDenied):
        log.query(reviewer_credential=narrow)
    with pytest.raises(Conflict, match="revoked already"):
        log.reviewers.revoke("narrow")
    assert [("narrow", True), ("short", False)] == [
        (reviewer.name, reviewer.revoked) for reviewer in log.reviewers.list()
    ]


def test_a_secret_is_nowhere_in_the_ledger(log: AuditLog, folder: Path) -> None:
    secret = log.reviewers.add("rita").partition(":")[2]

    assert secret.encode() not in b"".join(path.read_bytes() for path in folder.iterdir())


# Checking -------------------------------------------------------------------------------------------------------


def test_proofs_hold_between_any_two_sizes(writer: AuditLogWriter, log: AuditLog) -> None:
    fill(writer, 300)
    credential = log.reviewers.add("rita")
    for seq in (0, 1, 255, 256, 299):
        (record,) = log.query(reviewer_credential=credential, kinds=["timestep"], limit=1, offset=seq)
        leaf = leaf_hash(bytes.fromhex(record.record_hash))
        for size in (seq + 1, 300):
            proof = log.inclusion_proof(record.id, size=size)
            assert verify_inclusion(leaf, seq, size, proof, log.root(size))
    for old, new in ((1, 300), (256, 300), (257, 299), (0, 300)):
        assert verify_consistency(old, new, log.root(old), log.root(new), log.consistency_proof(old, new))


def test_a_checkpoint_is_checked_with_the_public_key_alone(writer: AuditLogWriter, log: AuditLog) -> None:
    fill(writer, 10)
    note = log.checkpoint()

    outcome = log.verify(checkpoints=[note], verifiers=[log.public_key])

    assert (True, 10) == (outcome.ok, outcome.checkpoint)
    with pytest.raises(IntegrityError, match="is false"):
        log.verify(checkpoints=[note.replace("\n10\n", "\n11\n")])


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ({"session_id": ""}, "no session"),
        ({"tick": -1}, "no tick"),
        ({"tick": True}, "no tick"),
        ({"raw_content": None}, "must be a string"),
        ({"lens_activations": {"a": float("nan")}}, "finite"),
        ({"event_type": "dream"}, "not one of"),
        ({"color": "red"}, "color"),
        ({"subject": ""}, "no subject"),
        ({"lens_activations": ["a"]}, "no mapping"),
        ({"lens_activations": {1: 0.5}}, "no lens"),
        ({"steering_applied": "calm"}, "no list"),
        ({"steering_applied": ["calm"]}, "no list"),
        ({"steering_applied": [{"how": object()}]}, "as JSON"),
        ({"steering_applied": [{"how": float("inf")}]}, "as JSON"),
    ],
)
def test_what_cannot_be_recorded_is_refused_and_changes_nothing(
    writer: AuditLogWriter, log: AuditLog, bad: dict[str, object], error: str
) -> None:
    row = {"session_id": "s", "tick": 1, "event_type": "input", "raw_content": "x"}

    with pytest.raises(InvalidInput, match=error):
        writer.record_many([row, {**row, **bad}])

    assert 0 == log.verify().records


def test_a_ledger_that_is_not_there_is_not_made_by_a_reader(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no ledger"):
        AuditLog(tmp_path)
    assert [] == list(tmp_path.iterdir())


# Erasing --------------------------------------------------------------------------------------------------------


@pytest.mark.row("H156")
def test_erased_contents_are_gone_and_the_ledger_still_verifies(
    writer: AuditLogWriter, log: AuditLog, folder: Path, clock: FrozenClock
) -> None:
    for tick, person in enumerate(("ada", "bob", "ada")):
        writer.record("monday", tick, "input", f"canary of {person}", {}, [], subject=person)
    credential, note = log.reviewers.add("rita"), log.checkpoint()
    opened = open_ledger(folder, clock=clock, create=False)
    with opened.db.transaction():
        gone, ref = opened.ledger.erase([], subject="ada")
        said = NewAuditRecord(
            kind=ERASURE, at=clock.now(), subject=SYSTEM, detail={"subjects": [str(ref)], "contents": gone}
        )
        opened.ledger.append([said])
    opened.close()

    found = log.query(reviewer_credential=credential, session_id="monday")

    assert 2 == gone
    assert [(None, True), ("canary of bob", False), (None, True)] == [
        (record.raw_content, record.erased) for record in found
    ]
    assert [str(ref), "bob", str(ref)] == [record.subject for record in found]
    assert log.verify(checkpoints=[note]).ok


def test_contents_that_are_erased_without_a_record_of_it_are_missing(
    writer: AuditLogWriter, log: AuditLog, folder: Path, clock: FrozenClock
) -> None:
    fill(writer, 3)
    opened = open_ledger(folder, clock=clock, create=False)
    opened.ledger.erase([1])
    opened.close()

    found = log.verify()

    assert (False, 1) == (found.ok, found.first_bad)
    assert "no erasure record" in str(found.problem)


def test_contents_that_were_changed_are_not_shown(
    writer: AuditLogWriter, log: AuditLog, folder: Path, clock: FrozenClock
) -> None:
    fill(writer, 3)
    credential = log.reviewers.add("rita")
    opened = open_ledger(folder, clock=clock, create=False)
    with opened.db.transaction() as con:
        con.execute("UPDATE contents SET ciphertext = zeroblob(length(ciphertext)) WHERE seq = 1")
    opened.close()

    with pytest.raises(LedgerBroken, match="audit-1 were changed"):
        log.query(reviewer_credential=credential)


def test_the_keys_of_another_ledger_open_nothing(tmp_path: Path, clock: FrozenClock) -> None:
    for name in ("one", "two"):
        with AuditLogWriter(tmp_path / name, "be", clock=clock) as writer:
            fill(writer, 2)
    (tmp_path / "two" / "audit.key").replace(tmp_path / "one" / "audit.key")

    with AuditLog(tmp_path / "one", clock=clock) as log:
        assert not log.verify().ok
        with pytest.raises(IntegrityError, match="does not open this ledger"):
            log.query(reviewer_credential=log.reviewers.add("rita"))


def nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "change",
    [
        {"lens_activations": {"p::Seen": 10**400}},
        {"lens_activations": {"p::Seen": 10**5_000}},
        {"steering_applied": [nested(60)]},
        {"steering_applied": [nested(2_000)]},
        {"tick": 10**5_000},
    ],
)
def test_a_record_that_cannot_be_kept_is_named(writer: AuditLogWriter, change: dict[str, object]) -> None:
    row = {
        "session_id": "s", "tick": 1, "event_type": "output", "raw_content": "x", "lens_activations": {},
        "steering_applied": [],
    }  # fmt: skip

    with pytest.raises(InvalidInput, match=r"activation|steering|tick"):
        writer.record_many([{**row, **change}])


@pytest.mark.parametrize("rows", [None, 5, "text"])
def test_rows_that_are_none_are_named(writer: AuditLogWriter, rows: object) -> None:
    with pytest.raises(InvalidInput):
        writer.record_many(rows)  # type: ignore[arg-type]


def test_what_no_question_can_be_is_a_clear_error(writer: AuditLogWriter, folder: Path) -> None:
    fill(writer, 2)
    with AuditLog(folder) as log:
        ana = log.reviewers.add("ana")
        size = log.size
        wrong: list[dict[str, object]] = [
            {"offset": 1 << 70}, {"limit": 10**5_000}, {"time_range": 5}, {"kinds": 5}, {"kinds": [1]},
            {"kinds": "erasure"}, {"event_types": 5}, {"session_id": 5}, {"archive": 5},
        ]  # fmt: skip
        calls = [
            *(lambda given=given: log.query(reviewer_credential=ana, **given) for given in wrong),
            lambda: log.incidents.mark("x", "why", reviewer_credential=ana, time_range=5),  # type: ignore[arg-type]
            lambda: log.reviewers.add("bo", sessions=5),  # type: ignore[arg-type]
            lambda: log.consistency_proof("a"),  # type: ignore[arg-type]
            lambda: log.consistency_proof(1.5, 2),  # type: ignore[arg-type]
            lambda: log.root("x"),  # type: ignore[arg-type]
            lambda: log.inclusion_proof("audit-0", size="x"),  # type: ignore[arg-type]
            lambda: log.verify(checkpoints=[5]),  # type: ignore[list-item]
            lambda: log.verify(verifiers="abc"),
            lambda: log.verify(archives=5),  # type: ignore[arg-type]
        ]
        for call in calls:
            with pytest.raises(InvalidInput):
                call()
        for ask in (lambda: log.reviewers.revoke([]), lambda: log.leaf("audit-" + "9" * 5_000)):  # type: ignore[arg-type]
            with pytest.raises(NotFound):
                ask()
        assert size == log.size, "what was refused left nothing"


@pytest.mark.parametrize("name", ["", "  ", None])
def test_a_writer_without_a_name_is_refused_and_makes_nothing(tmp_path: Path, name: str | None) -> None:
    with pytest.raises(InvalidInput, match="be_id"):
        AuditLogWriter(tmp_path / "ledger", name)  # type: ignore[arg-type]
    assert not (tmp_path / "ledger").exists()
