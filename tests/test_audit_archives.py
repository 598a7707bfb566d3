"""Old records in archives: nothing is lost or twice, erasing reaches them, and nobody changes one unnoticed."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import shutil
import signal
import stat
import zlib
from pathlib import Path
from typing import Any

import apsw
import pytest

import hexad
from hexad import AccessDenied, Conflict, FrozenClock, IntegrityError, InvalidInput, NotFound
from hexad.audit import Archive, AuditLog, AuditLogWriter, check_archive
from hexad.audit.archive_file import FORM, ArchivedEntry, ArchiveFile, Elsewhere, archive_bytes
from hexad.audit.archiving import Archiver
from hexad.audit.checkpoint import verify_consistency, verify_inclusion
from hexad.audit.ledger import ERASURE
from hexad.audit.reviewers import SYSTEM
from hexad.audit.values import NewAuditRecord
from hexad.database import files
from opener import Opener

OLD = 700


@pytest.fixture
def rita(log: AuditLog) -> str:
    return log.reviewers.add("rita")


def fill(writer: AuditLogWriter, count: int, *, session: str = "monday", subject: str | None = None) -> None:
    writer.record_many(
        {
            "session_id": session,
            "tick": at,
            "event_type": "output",
            "raw_content": f"{session} {at}",
            "lens_activations": {"p::Hidden": 0.9},
            "steering_applied": [],
            "subject": subject,
        }
        for at in range(count)
    )


@pytest.fixture
def old(writer: AuditLogWriter, rita: str, clock: FrozenClock) -> str:
    """A ledger with 700 old timesteps, and some of today; the reviewer's credential."""
    fill(writer, OLD - 20)
    fill(writer, 20, session="tuesday", subject="ada")
    clock.advance(days=30)
    fill(writer, 50, session="today")
    return rita


def make(log: AuditLog, out: Path, credential: str, **given: Any) -> Archive:
    made = log.retention.archive(out, before="2026-01-15", reviewer_credential=credential, **given)
    assert made is not None
    return made


def texts(log: AuditLog, credential: str, **asked: Any) -> list[str | None]:
    return [
        record.raw_content
        for record in log.query(reviewer_credential=credential, kinds=["timestep"], limit=10_000, **asked)
    ]


# Moving -----------------------------------------------------------------------------------------------------


@pytest.mark.row("H092", "H096", "H156")
def test_old_records_are_in_the_archive_and_no_longer_in_the_ledger_and_both_verify(
    log: AuditLog, old: str, tmp_path: Path
) -> None:
    before, notes = texts(log, old), [log.checkpoint()]
    root = log.root(log.size)

    made = make(log, tmp_path / "old.hxa", old)

    assert (OLD, OLD, False) == (made.records, made.contents, made.more)
    assert before[OLD:] == texts(log, old)
    assert before[:OLD] == texts(log, old, archive=tmp_path / "old.hxa")
    assert 0o600 == stat.S_IMODE((tmp_path / "old.hxa").stat().st_mode)
    assert (made.sha256, made.root) == (
        hashlib.sha256((tmp_path / "old.hxa").read_bytes()).hexdigest(),
        log.root(made.size).hex(),
    )
    assert root == log.root(made.size)
    for archives in ((), (tmp_path / "old.hxa",)):
        found = log.verify(checkpoints=notes, archives=archives)
        assert found.ok, found
        assert (OLD, OLD if archives else 0) == (found.archived, found.read)
    assert made.records == check_archive(tmp_path / "old.hxa", verifiers=(log.public_key,)).records


@pytest.mark.row("H093")
def test_that_it_was_archived_is_a_record_and_so_is_every_question_to_an_archive(
    log: AuditLog, old: str, tmp_path: Path
) -> None:
    made = make(log, tmp_path / "old.hxa", old)
    texts(log, old, archive=tmp_path / "old.hxa", session_id="tuesday")
    (archived,) = log.query(reviewer_credential=old, kinds=["archive"])
    asked = log.query(reviewer_credential=old, kinds=["reviewer.query"])[0]

    assert made.record_id == archived.id
    assert (made.sha256, "rita", OLD) == tuple(archived.detail[item] for item in ("sha256", "by", "records"))
    assert (20, made.record_id) == (asked.detail["shown"], asked.detail["archive"])


@pytest.mark.row("H093")
def test_an_archive_is_shown_to_reviewers_alone_as_far_as_their_scope_goes(
    log: AuditLog, old: str, tmp_path: Path
) -> None:
    make(log, tmp_path / "old.hxa", old)
    sam = log.reviewers.add("sam", sessions=["tuesday"])

    assert [f"tuesday {at}" for at in range(20)] == texts(log, sam, archive=tmp_path / "old.hxa")
    assert [] == texts(log, sam, archive=tmp_path / "old.hxa", session_id="monday")
    with pytest.raises(AccessDenied):
        texts(log, "rita:guess", archive=tmp_path / "old.hxa")
    for work in (
        lambda: log.retention.archive(tmp_path / "x", before="2026-01-15", reviewer_credential=sam),
        lambda: log.retention.set(3, reviewer_credential=sam),
        lambda: log.retention.archive(tmp_path / "x", before="2026-01-15", reviewer_credential="rita:guess"),
        lambda: log.retention.set(3, reviewer_credential=""),
    ):
        with pytest.raises(AccessDenied):
            work()
    assert not (tmp_path / "x").exists()
    assert log.retention.policy is None


@pytest.mark.row("H156")
def test_what_is_no_timestep_stays_however_old(
    writer: AuditLogWriter, log: AuditLog, old: str, tmp_path: Path
) -> None:
    make(log, tmp_path / "old.hxa", old)

    kinds = {record.kind for record in log.query(reviewer_credential=old, limit=1_000)}
    ids = {record.id for record in log.query(reviewer_credential=old, kinds=["reviewer.added"])}

    assert {"audit-0"} == ids
    assert {"reviewer.added", "timestep", "archive"} <= kinds
    assert ["rita"] == [reviewer.name for reviewer in log.reviewers.list()]


@pytest.mark.row("H156")
def test_what_an_incident_marks_stays(log: AuditLog, old: str, tmp_path: Path) -> None:
    log.incidents.mark("crash", "it fell", reviewer_credential=old, session_id="monday", tick_range=(10, 19))
    log.incidents.mark("crash", "again", reviewer_credential=old, seq_range=(100, 102))

    made = make(log, tmp_path / "old.hxa", old)

    assert OLD - 13 == made.records
    assert [*(f"monday {at}" for at in range(10, 20)), "monday 99", "monday 100", "monday 101"] == texts(
        log, old, session_id="monday"
    )
    found = log.verify(archives=[tmp_path / "old.hxa"])
    assert found.ok, found
    assert OLD - 13 == found.read


def test_nothing_is_made_where_nothing_is_old(log: AuditLog, rita: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"before": "2025-06-01", "reviewer_credential": rita}
    assert log.retention.archive(tmp_path / "old.hxa", **given) is None
    assert not (tmp_path / "old.hxa").exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"before": "2199-01-01"}, "not over"),
        ({"before": "soon"}, "Cannot parse before"),
        ({"limit": 0}, "limit"),
    ],
)
def test_what_cannot_be_archived_is_refused(
    log: AuditLog, old: str, tmp_path: Path, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        log.retention.archive(tmp_path / "x", **{"before": "2026-01-15", "reviewer_credential": old, **given})
    assert not (tmp_path / "x").exists()


def test_several_archives_in_turn_hold_everything_once(log: AuditLog, old: str, tmp_path: Path) -> None:
    before = texts(log, old)[:OLD]
    paths = [tmp_path / f"{at}.hxa" for at in range(4)]
    made = [make(log, path, old, limit=200) for path in paths]

    assert [200, 200, 200, 100] == [archive.records for archive in made]
    assert [True, True, True, False] == [archive.more for archive in made]
    assert before == [text for path in paths for text in texts(log, old, archive=path)]
    found = log.verify(archives=paths)
    assert found.ok, found
    assert OLD == found.read
    # The trees of later archives have hashes of what is in the earlier ones.
    assert [200, 200, 200, 100] == [check_archive(path).records for path in paths]


@pytest.mark.row("H096")
def test_proofs_hold_after_records_were_archived(log: AuditLog, old: str, tmp_path: Path) -> None:
    sizes = [0, 1, 256, 300, 512, 701, 751]
    roots = {size: log.root(size) for size in sizes}
    make(log, tmp_path / "old.hxa", old)
    total = log.size

    for seq in (0, 701, 750, total - 1):
        leaf, path = log.leaf(f"audit-{seq}"), log.inclusion_proof(f"audit-{seq}")
        assert verify_inclusion(leaf, seq, total, path, log.root(total))
    for size in (0, 1, 256, 512, 701, 751):
        proof = log.consistency_proof(size)
        assert verify_consistency(size, total, roots[size], log.root(total), proof)
    with pytest.raises(NotFound, match="archive"):
        log.inclusion_proof("audit-300")
    with pytest.raises(NotFound, match="archive"):
        log.consistency_proof(300)


def test_a_checkpoint_that_ends_among_archived_records_needs_the_archive(
    writer: AuditLogWriter, log: AuditLog, rita: str, clock: FrozenClock, tmp_path: Path
) -> None:
    fill(writer, 299)
    note = log.checkpoint()
    fill(writer, 300, session="more")
    clock.advance(days=30)
    make(log, tmp_path / "old.hxa", rita)

    without, read = (
        log.verify(checkpoints=[note]),
        log.verify(checkpoints=[note], archives=[tmp_path / "old.hxa"]),
    )

    assert (True, (300,), None) == (without.ok, without.skipped, without.checkpoint)
    assert (True, (), 300) == (read.ok, read.skipped, read.checkpoint)


# Erasing ----------------------------------------------------------------------------------------------------


def erase(log: AuditLog, seqs: list[int], *, subject: str | None = None) -> int:
    ledger = log._ledger
    with ledger.db.transaction():
        gone, ref = ledger.erase(seqs, subject=subject)
        detail: dict[str, Any] = {
            "contents": gone, "seqs": [[seq, seq] for seq in seqs], "subjects": [ref] if ref else [],
        }  # fmt: skip
        ledger.append([NewAuditRecord(kind=ERASURE, at=log._clock.now(), subject=SYSTEM, detail=detail)])
    return gone


@pytest.mark.row("H156")
def test_erasing_reaches_what_was_archived_before(log: AuditLog, old: str, tmp_path: Path) -> None:
    path = tmp_path / "old.hxa"
    make(log, path, old)
    bytes_before = path.read_bytes()

    assert (20, 1) == (erase(log, [], subject="ada"), erase(log, [5]))

    assert bytes_before == path.read_bytes()
    shown = log.query(reviewer_credential=old, archive=path, limit=1_000)
    erased = [record.seq for record in shown if record.erased]
    assert [5, *range(OLD - 19, OLD + 1)] == erased
    assert {None} == {record.raw_content for record in shown if record.erased}
    for archives in ((), (path,)):
        assert log.verify(archives=archives).ok
    assert check_archive(path).records == OLD


@pytest.mark.row("H102")
@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"session_id": "monday"}, {"of ada in tuesday", "tuesday"}),
        ({"session_id": "monday", "tick_range": (0, 0)}, {"of ada in tuesday", "tuesday", "late"}),
        ({"subject": "ada"}, {"monday", "tuesday", "late"}),
    ],
)
def test_a_ledger_of_its_own_loses_what_it_is_asked_to(
    writer: AuditLogWriter, log: AuditLog, rita: str, tmp_path: Path, clock: FrozenClock,
    given: dict[str, Any], left: set[str],
) -> None:  # fmt: skip
    for session in ("monday", "tuesday"):
        writer.record(session, 0, "output", session, {}, [])
        writer.record(session, 0, "output", f"of ada in {session}", {}, [], subject="ada")
    clock.advance(days=30)
    make(log, tmp_path / "old.hxa", rita)
    writer.record("monday", 1, "output", "late", {}, [])
    sam = log.reviewers.add("sam", sessions=["monday"])
    with pytest.raises(AccessDenied):
        log.erase(reviewer_credential=sam, **given)

    done = log.erase(reviewer_credential=rita, **given)

    said = {*texts(log, rita), *texts(log, rita, archive=tmp_path / "old.hxa")} - {None}
    assert left == said
    assert (5 - len(left), True) == (done.contents, done.cleared)
    assert log.verify(archives=[tmp_path / "old.hxa"]).ok
    assert 0 == log.erase(reviewer_credential=rita, **given).contents


@pytest.mark.parametrize(
    "given", [{}, {"session_id": "a", "subject": "b"}, {"subject": "b", "tick_range": (0, 1)}, {"subject": "system"},
              {"subject": 5}, {"session_id": 5}],
)  # fmt: skip
def test_what_names_nothing_in_particular_erases_nothing(
    writer: AuditLogWriter, log: AuditLog, rita: str, given: dict[str, Any]
) -> None:
    fill(writer, 3)

    with pytest.raises(InvalidInput):
        log.erase(reviewer_credential=rita, **given)

    assert 3 == len([item for item in texts(log, rita) if item])


def test_an_archive_holds_no_key_and_no_content_in_the_clear(log: AuditLog, old: str, tmp_path: Path) -> None:
    path = tmp_path / "old.hxa"
    with apsw.Connection(str(log._open.path / "audit.db")) as con:
        nonces = [row[0] for row in con.execute("SELECT nonce FROM contents")]
    make(log, path, old)
    plain = zlib.decompressobj().decompress(path.read_bytes()[len(FORM) :])

    assert b'"kind":"timestep"' in plain
    assert not any(nonce in plain or nonce.hex().encode() in plain for nonce in nonces)
    assert b"monday 5" not in plain
    assert b"p::Hidden" not in plain
    assert not any(
        log._open.keys.secret(name).hex().encode() in plain for name in ("wrapping_key", "signing_seed")
    )


def test_what_is_erased_while_an_archive_is_made_stays_erased(
    log: AuditLog, old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Archiver._take_out

    def erasing(self: Archiver, *args: Any, **given: Any) -> Archive:
        erase(log, [7])
        return real(self, *args, **given)

    monkeypatch.setattr(Archiver, "_take_out", erasing)
    make(log, tmp_path / "old.hxa", old)

    (shown,) = log.query(
        reviewer_credential=old, archive=tmp_path / "old.hxa", session_id="monday", tick_range=(6, 6)
    )
    assert (True, None) == (shown.erased, shown.raw_content)
    assert log.verify(archives=[tmp_path / "old.hxa"]).ok


@pytest.mark.row("H156")
def test_a_store_forgets_a_session_also_in_archives(
    opened: Opener, clock: FrozenClock, tmp_path: Path
) -> None:
    hx = opened()
    with AuditLogWriter(hx.path, "be", clock=clock) as writer:
        fill(writer, 30, subject="ada")
        fill(writer, 30, session="kept")
    hx.xdb.start_session("monday")
    hx.xdb.record("output", "said", {})
    clock.advance(days=30)
    with AuditLog(hx.path, clock=clock) as log:
        rita = log.reviewers.add("rita")
        nonces = dict(log._ledger.db.query("SELECT seq, nonce FROM contents"))
        make(log, tmp_path / "old.hxa", rita)

        hx.forget(session="monday", purge=True, confirm=True)
        hx.maintain()

        # Nor is what would decrypt them left anywhere in the ledger's files.
        left = b"".join(path.read_bytes() for path in (hx.path / "audit").iterdir() if path.is_file())
        assert [seq >= 30 for seq in nonces] == [nonce in left for nonce in nonces.values()]
        kept = texts(log, rita, archive=tmp_path / "old.hxa")
        assert [None] * 30 + [f"kept {at}" for at in range(30)] == kept
        assert log.verify(archives=[tmp_path / "old.hxa"]).ok


# Killed -----------------------------------------------------------------------------------------------------


def _archive_and_die(folder: Path, out: Path, credential: str, at: int) -> None:
    left = [at]

    def count(name: str, path: Path) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    clock = FrozenClock()
    clock.advance(days=30)
    with AuditLog(folder, clock=clock) as log:
        files.set_hook(count)
        log.retention.archive(out, before="2026-01-15", reviewer_credential=credential)
    os._exit(42)


@pytest.mark.row("H092", "H156")
def test_killed_at_any_step_nothing_is_lost_or_twice_and_the_next_call_finishes(
    folder: Path, writer: AuditLogWriter, log: AuditLog, old: str, tmp_path: Path
) -> None:
    before = texts(log, old)
    writer.close()
    log.close()
    context = multiprocessing.get_context("fork")
    codes, step = set[int | None](), 0
    while 42 not in codes:
        step += 1
        copy, out = tmp_path / f"copy{step}", tmp_path / f"{step}.hxa"
        shutil.copytree(folder, copy)
        program = context.Process(target=_archive_and_die, args=(copy, out, old, step))
        program.start()
        program.join()
        codes.add(program.exitcode)

        clock = FrozenClock()
        clock.advance(days=30)
        with AuditLog(copy, clock=clock) as again:
            done = [
                record.detail["sha256"] for record in again.query(reviewer_credential=old, kinds=["archive"])
            ]
            if not done:
                assert before == texts(again, old)
                assert again.verify().ok
                make(again, out, old)
            assert before[OLD:] == texts(again, old)
            assert before[:OLD] == texts(again, old, archive=out)
            assert again.verify(archives=[out]).ok
            assert 1 == len(again.query(reviewer_credential=old, kinds=["archive"]))
    assert {-signal.SIGKILL, 42} == codes
    assert step > 5


def test_an_archive_that_was_not_finished_is_finished_by_the_next_call_unless_an_incident_marks_it_now(
    log: AuditLog, old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "old.hxa"

    def stop(*_: Any, **__: Any) -> Archive:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Archiver, "_take_out", stop)
        with pytest.raises(KeyboardInterrupt):
            make(log, out, old)
    with pytest.raises(NotFound, match="in the ledger itself"):
        texts(log, old, archive=out)
    assert not log.verify(archives=[out]).ok
    shutil.copy(out, tmp_path / "other.hxa")

    assert OLD == make(log, out, old).records
    with pytest.raises(Conflict, match="names"):
        make(log, out, old)
    with pytest.raises(Conflict):
        make(log, tmp_path / "other.hxa", old)
    assert log.verify(archives=[out]).ok


def test_a_file_that_is_there_is_never_written_over(log: AuditLog, old: str, tmp_path: Path) -> None:
    (tmp_path / "old.hxa").write_text("something else")
    with pytest.raises(Conflict):
        make(log, tmp_path / "old.hxa", old)
    assert "something else" == (tmp_path / "old.hxa").read_text()
    assert OLD + 50 == len(texts(log, old))


@pytest.mark.row("H156")
def test_an_incident_that_is_marked_while_an_archive_is_made_keeps_everything(
    log: AuditLog, old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, out = Archiver._take_out, tmp_path / "old.hxa"

    def marking(self: Archiver, *args: Any, **given: Any) -> Archive:
        log.incidents.mark("crash", "it fell", reviewer_credential=old, session_id="tuesday")
        return real(self, *args, **given)

    with monkeypatch.context() as patch:
        patch.setattr(Archiver, "_take_out", marking)
        with pytest.raises(Conflict, match="incident"):
            make(log, out, old)

    assert not out.exists()
    assert OLD + 50 == len(texts(log, old))
    assert OLD - 20 == make(log, out, old).records


def test_of_two_programs_that_archive_at_once_the_second_is_refused_and_nothing_is_touched(
    log: AuditLog, old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, out = Archiver._take_out, tmp_path / "old.hxa"

    def meanwhile(self: Archiver, *args: Any, **given: Any) -> Archive:
        with AuditLog(log._open.path, clock=log._clock) as other:
            for path in (out, tmp_path / "another.hxa"):
                with pytest.raises(Conflict, match="Another program"):
                    make(other, path, old)
        return real(self, *args, **given)

    with monkeypatch.context() as patch:
        patch.setattr(Archiver, "_take_out", meanwhile)
        make(log, out, old)

    assert not (tmp_path / "another.hxa").exists()
    log.retention._desk.archiver.discard(out)  # as who took it for unfinished a moment ago would
    assert OLD == log.verify(archives=[out]).read


# Retention --------------------------------------------------------------------------------------------------


@pytest.mark.row("H156")
def test_a_policy_moves_what_is_older_each_time_it_is_applied(
    writer: AuditLogWriter, log: AuditLog, old: str, clock: FrozenClock, folder: Path
) -> None:
    assert [] == log.retention.retain()
    policy = log.retention.set(14, reviewer_credential=old)

    first = log.retention.retain(limit=500)
    again = log.retention.retain()
    clock.advance(days=30)
    later = log.retention.retain()

    assert policy is not None
    assert (14, folder / "archives") == (policy.days, policy.folder)
    assert ([500, 200], [], [50]) == tuple(
        [archive.records for archive in made] for made in (first, again, later)
    )
    paths = sorted((folder / "archives").iterdir())
    assert 750 == log.verify(archives=paths).read
    assert log.retention.set(None, reviewer_credential=old) is None
    assert [] == log.retention.retain()


@pytest.mark.parametrize("marked", [False, True], ids=["as it was", "marked since"])
def test_a_policy_finishes_what_was_left_unfinished_or_makes_it_anew(
    log: AuditLog, old: str, folder: Path, monkeypatch: pytest.MonkeyPatch, marked: bool
) -> None:
    def stop(*_: Any, **__: Any) -> Archive:
        raise KeyboardInterrupt

    log.retention.set(14, reviewer_credential=old)
    with monkeypatch.context() as patch:
        patch.setattr(Archiver, "_take_out", stop)
        with pytest.raises(KeyboardInterrupt):
            log.retention.retain()
    (unfinished,) = (folder / "archives").iterdir()
    if marked:
        log.incidents.mark("crash", "it fell", reviewer_credential=old, session_id="tuesday")

    made = log.retention.retain()

    assert [OLD - 20 if marked else OLD] == [archive.records for archive in made]
    assert (not marked) == unfinished.exists()
    assert [archive.path for archive in made] == list((folder / "archives").iterdir())
    found = log.verify(archives=[archive.path for archive in made])
    assert (True, made[0].records) == (found.ok, found.read)


def test_a_stores_upkeep_applies_the_policy(opened: Opener, clock: FrozenClock) -> None:
    hx = opened()
    with AuditLogWriter(hx.path, "be", clock=clock) as writer, AuditLog(hx.path, clock=clock) as log:
        fill(writer, 40)
        log.retention.set(7, reviewer_credential=log.reviewers.add("rita"))
        clock.advance(days=8)

        hx.maintain()

        assert 40 == log.verify().archived
        assert 1 == len(list((hx.path / "audit" / "archives").iterdir()))
        assert [] == hx.check()


# Tampering --------------------------------------------------------------------------------------------------


@pytest.fixture
def archived(log: AuditLog, old: str, tmp_path: Path) -> Path:
    make(log, tmp_path / "old.hxa", old, limit=300)
    return tmp_path / "old.hxa"


def refused(path: Path, log: AuditLog) -> bool:
    try:
        return not log.verify(archives=[path]).ok
    except (IntegrityError, NotFound):
        return True


@pytest.mark.row("H096", "H156")
def test_every_changed_byte_of_an_archive_is_found_with_and_without_the_ledger(
    log: AuditLog, archived: Path, tmp_path: Path
) -> None:
    data, draw = archived.read_bytes(), random.Random(3)
    copy = tmp_path / "copy.hxa"
    edges = [*range(len(FORM) + 12), *range(len(data) - 80, len(data))]
    for at in [*edges, *draw.sample(range(len(data)), 60)]:
        changed = bytearray(data)
        changed[at] ^= 1 << draw.randrange(8)
        copy.write_bytes(changed)
        with pytest.raises(IntegrityError):
            check_archive(copy)
        assert refused(copy, log), at


@pytest.mark.row("H096")
def test_a_cut_or_lengthened_archive_is_found(log: AuditLog, archived: Path, tmp_path: Path) -> None:
    data = archived.read_bytes()
    copy = tmp_path / "copy.hxa"
    for changed in (b"", data[:10], data[: len(data) // 2], data[:-1], data + b"x", data + data, data[1:]):
        copy.write_bytes(changed)
        with pytest.raises(IntegrityError):
            check_archive(copy)
        assert refused(copy, log)


@pytest.mark.row("H096")
def test_an_archive_made_anew_with_another_key_is_not_one_of_this_ledger(
    log: AuditLog, archived: Path, tmp_path: Path
) -> None:
    clock = FrozenClock()
    with (
        AuditLogWriter(tmp_path / "other", "be-1", clock=clock) as writer,
        AuditLog(tmp_path / "other", clock=clock) as other,
    ):
        credential = other.reviewers.add("rita")
        fill(writer, 300)
        clock.advance(days=30)
        make(other, tmp_path / "forged.hxa", credential)
        swapped = (other.public_key, log.public_key)

    assert refused(tmp_path / "forged.hxa", log)
    with pytest.raises(IntegrityError):
        check_archive(tmp_path / "forged.hxa", verifiers=(swapped[1],))
    assert 300 == check_archive(tmp_path / "forged.hxa", verifiers=(swapped[0],)).records


@pytest.mark.row("H096")
@pytest.mark.parametrize("change", ["record", "hash", "count"])
def test_an_archive_that_the_key_signed_must_still_hold_what_its_checkpoint_says(
    log: AuditLog, archived: Path, tmp_path: Path, change: str
) -> None:
    true, desk = ArchiveFile(archived), log.retention._desk
    items, said = list(true.items()), dict(true.described)
    last = max(at for at, item in enumerate(items) if isinstance(item, ArchivedEntry))
    kept = items[last]
    assert isinstance(kept, ArchivedEntry)
    if change == "record":
        items[last] = ArchivedEntry(kept.seq, kept.body.replace(b'"tick":', b'"tick":1'), kept.ciphertext)
    elif change == "hash":
        items[-1] = Elsewhere(items[-1].level, bytes(32)) if isinstance(items[-1], Elsewhere) else items[-1]
    else:
        said["records"] += 1
    forged = tmp_path / "forged.hxa"
    forged.write_bytes(b"".join(archive_bytes(said, items, key=desk.signing_key)))

    with pytest.raises(IntegrityError):
        check_archive(forged, verifiers=(log.public_key,))
    assert refused(forged, log)
    again = tmp_path / "again.hxa"
    again.write_bytes(b"".join(archive_bytes(true.described, list(true.items()), key=desk.signing_key)))
    assert archived.read_bytes() == again.read_bytes()


@pytest.mark.row("H096")
def test_two_archives_in_each_others_place_are_told_apart_by_what_they_are(
    log: AuditLog, old: str, archived: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second.hxa"
    make(log, second, old, limit=300)
    (tmp_path / "swap").write_bytes(archived.read_bytes())
    archived.write_bytes(second.read_bytes())
    second.write_bytes((tmp_path / "swap").read_bytes())

    assert log.verify(
        archives=[archived, second]
    ).ok  # a name says nothing: the ledger knows them by their hashes
    assert [f"monday {at}" for at in range(300)] == texts(log, old, archive=second)
    with pytest.raises(NotFound, match="No record"):
        # As the ledger was before the second was made: it names none of it.
        copy = tmp_path / "copy"
        with AuditLog(_without(log, copy), clock=log._clock) as earlier:
            texts(earlier, old, archive=archived)


def _without(log: AuditLog, copy: Path) -> Path:
    shutil.copytree(log._open.path, copy)
    with apsw.Connection(str(copy / "audit.db")) as con:
        con.execute("UPDATE entries SET kind = 'gc' WHERE kind = 'archive'")
    return copy


LIVE = {
    "a run's last hash": "UPDATE gaps SET last = randomblob(32)",
    "a run's hashes": "UPDATE gaps SET edges = randomblob(length(edges))",
    "a run's end": "UPDATE gaps SET past = past - 1",
    "a run's record": "UPDATE gaps SET named_by = 0",
    "no run": "DELETE FROM gaps",
    "a tile": "UPDATE tiles SET hash = randomblob(32) WHERE level = 8 AND place = 0",
    "a key gone": "DELETE FROM archived WHERE seq = 10",
    "a key emptied": "UPDATE archived SET nonce = NULL WHERE seq = 10",
    "a key too many": "INSERT INTO archived SELECT 100000, owner, tick, nonce FROM archived LIMIT 1",
    "a person gone": "DELETE FROM subjects WHERE ref IN (SELECT ref FROM archived_owners)",
    "the record of the archive": "DELETE FROM entries WHERE kind = 'archive'",
    "an owner": "UPDATE archived_owners SET ref = randomblob(16)",
    "an owner's session": "UPDATE archived_owners SET session = 'another'",
    "an owner's first record": "UPDATE archived_owners SET first = last + 1",
    "an owner's last record": "UPDATE archived_owners SET last = first",
    "a tick": "UPDATE archived SET tick = tick + 1000 WHERE seq = 10",
    "a shortened key": "UPDATE subjects SET key = x'00'",
    "a shortened name": "UPDATE subjects SET name = x''",
}
WITH_THE_FILE = {"a key": "UPDATE archived SET nonce = randomblob(16) WHERE seq = 10"}


@pytest.mark.row("H096", "H156")
@pytest.mark.parametrize("name", [*LIVE, *WITH_THE_FILE])
def test_what_the_ledger_keeps_of_archived_records_cannot_be_changed_unnoticed(
    log: AuditLog, archived: Path, tmp_path: Path, name: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(log._open.path, copy)
    with apsw.Connection(str(copy / "audit.db")) as con:
        con.execute("PRAGMA foreign_keys = OFF")
        con.execute({**LIVE, **WITH_THE_FILE}[name])

    with AuditLog(copy, clock=log._clock) as changed:
        read, unread = changed.verify(archives=[archived]), changed.verify()

    assert not read.ok
    assert read.first_bad is not None
    assert unread.ok == (name in WITH_THE_FILE)
    if name.startswith("a run's"):
        assert 1 == read.first_bad == unread.first_bad  # the first that the archive has


@pytest.mark.row("H096")
def test_an_archive_whose_records_are_back_in_the_ledger_is_found(
    log: AuditLog, old: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(log._open.path, copy)
    make(log, tmp_path / "old.hxa", old)

    with AuditLog(copy, clock=log._clock) as earlier:
        assert not earlier.verify(archives=[tmp_path / "old.hxa"]).ok
        assert earlier.verify().ok


# Encrypted --------------------------------------------------------------------------------------------------


def test_the_archive_of_an_encrypted_ledger_is_sealed(tmp_path: Path, clock: FrozenClock) -> None:
    key = os.urandom(32)
    with (
        AuditLogWriter(tmp_path / "led", "be", clock=clock, key=key) as writer,
        AuditLog(tmp_path / "led", clock=clock, key=key) as log,
    ):
        rita = log.reviewers.add("rita")
        fill(writer, 30, session="canary-session")
        clock.advance(days=30)
        make(log, tmp_path / "old.hxa", rita)
        inside = b"".join(path.read_bytes() for path in (tmp_path / "led").iterdir())

        assert 30 == log.verify(archives=[tmp_path / "old.hxa"]).read
        assert 30 == log.retention.check(tmp_path / "old.hxa").records
        with pytest.raises(IntegrityError, match="sealed"):
            check_archive(tmp_path / "old.hxa")
    assert b"canary" not in inside + (tmp_path / "old.hxa").read_bytes()
    with pytest.raises(IntegrityError):
        AuditLog(tmp_path / "led", key=os.urandom(32))
    with pytest.raises(IntegrityError):
        AuditLog(tmp_path / "led")
    with pytest.raises(InvalidInput, match="32 bytes"):
        AuditLog(tmp_path / "led", key="a passphrase")


@pytest.mark.row("H184")
def test_the_ledger_of_an_encrypted_store_opens_with_its_key_alone(project: Path, clock: FrozenClock) -> None:
    key = os.urandom(32)
    with hexad.open(project, key=key, embedder=None, background=False, clock=clock) as hx:
        folder = hx.path
        hx.remember("What the agent knows.")
        with (
            AuditLogWriter(folder, "be", clock=clock, key=key) as writer,
            AuditLog(folder, clock=clock, key=key) as log,
        ):
            rita = log.reviewers.add("rita")
            fill(writer, 30, session="canary-session")
            log.retention.set(7, reviewer_credential=rita)
            clock.advance(days=8)
            hx.maintain()
            (path,) = (folder / "audit" / "archives").iterdir()
            assert 30 == log.verify(archives=[path]).read
        for given in (None, os.urandom(32)):
            with pytest.raises(AccessDenied):
                AuditLogWriter(folder, "be", clock=clock, key=given)
    kept = b"".join(file.read_bytes() for file in (folder / "audit").rglob("*") if file.is_file())
    assert b"canary" not in kept
    assert b"wrapping_key" not in kept


@pytest.mark.row("H184")
def test_whoever_has_the_ledger_of_a_store_open_keeps_others_from_having_it_alone(
    project: Path, clock: FrozenClock
) -> None:
    with hexad.open(project, embedder=None, background=False, clock=clock) as hx:
        folder = hx.path
    from hexad.database.leases import OpenLock

    other = OpenLock(folder, clock=clock, purpose="test")
    try:
        with (
            AuditLogWriter(folder / "audit", "be", clock=clock),
            pytest.raises(hexad.StoreLocked, match="audit writer"),
            other.exclusively("change the encryption"),
        ):
            pass
        with other.exclusively("change the encryption"):
            pass
    finally:
        other.close()


@pytest.mark.row("H184", "H096")
def test_archives_are_read_as_before_when_the_encryption_of_their_store_changes(
    project: Path, tmp_path: Path, clock: FrozenClock
) -> None:
    outside = tmp_path / "outside.hxa"
    with hexad.open(project, embedder=None, background=False, clock=clock) as hx:
        folder = hx.path
    with AuditLogWriter(folder, "be", clock=clock) as writer, AuditLog(folder, clock=clock) as log:
        rita = log.reviewers.add("rita")
        fill(writer, 30, session="canary-1")
        fill(writer, 30, session="canary-2")
        clock.advance(days=30)
        make(log, outside, rita, limit=30)
        log.retention.set(7, reviewer_credential=rita)
        log.retention.retain()
        note = log.checkpoint()

    def look(key: bytes | None) -> None:
        (inside,) = (folder / "audit" / "archives").iterdir()
        with AuditLog(folder, clock=clock, key=key) as log:
            found = log.verify(archives=[inside, outside], checkpoints=[note])
            assert (True, 60) == (found.ok, found.read)
            assert [f"canary-1 {at}" for at in range(30)] == texts(log, rita, archive=outside)
            assert [f"canary-2 {at}" for at in range(30)] == texts(log, rita, archive=inside)
        kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        assert (key is None) == (b"canary" in kept)

    first, second = os.urandom(32), os.urandom(32)
    look(None)
    hexad.encrypt(project, key=first, clock=clock)
    look(first)
    hexad.rekey(project, key=first, new_key=second, clock=clock)
    look(second)
    hexad.decrypt(project, key=second, clock=clock)
    look(None)
