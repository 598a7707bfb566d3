"""A damaged segment without a backup is given up by name: the ledger is told, what waited is finished, `check` is quiet."""

from __future__ import annotations

import os
import shutil
import signal
from datetime import timedelta
from pathlib import Path

import pytest

import hexad
from hexad import AccessDenied, Conflict, FrozenClock, Hexad, IntegrityError, NotFound, StorageFailure
from hexad.audit import AuditLog
from hexad.core.erasure import UNREAD
from hexad.database import files
from hexad.database.leases import Lease
from hexad.database.meta import ACCEPTED_SEGMENT
from hexad.experience.erasure.eraser import FILES
from opener import Opener
from programs import command


def recorded(hx: Hexad, *groups: dict[str, int]) -> list[Path]:
    """Record so many timesteps of sessions, a segment for each group, and return the segments' paths."""
    paths: list[Path] = []
    for group in groups:
        for session, number in group.items():
            hx.xdb.start_session(session, data_subjects=[f"subject of {session}"])
            for step in range(number):
                hx.xdb.record("input", f"{session} says heather {step}", session_id=session)
        hx.xdb.seal()
        paths += {*(hx.path / "stream" / "segments").glob("*.parquet")} - {*paths}
    return paths


def damage(path: Path, how: str = "cut") -> None:
    whole = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    else:
        middle = len(whole) // 2
        path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 0xFF]) + whole[middle + 1 :])


def words_in(hx: Hexad, session: str = "*") -> int:
    return len(hx.xdb.recall(session_id=session, limit=1_000))


def on_ledger(hx: Hexad) -> list[dict[str, object]]:
    """Return what the ledger has of segments that were given up, while the store is open."""
    with AuditLog(hx.path) as log:
        credential = log.reviewers.add("rita", expires_at="2100-01-01")
        return [
            dict(record.detail)
            for record in log.query(reviewer_credential=credential, limit=1_000)
            if record.kind == ACCEPTED_SEGMENT
        ]


@pytest.mark.parametrize("how", ["gone", "cut", "flipped"])
def test_a_damaged_segment_is_given_up_by_name_and_the_stream_goes_on_without(
    opened: Opener, clock: FrozenClock, how: str
) -> None:
    hx = opened()
    lost, kept = recorded(hx, {"one": 20, "two": 5}, {"one": 10})
    damage(lost, how)
    assert any(lost.name in problem for problem in hx.check())
    clock.advance(hours=1)

    given_up = hx.xdb.accept_lost_segment(lost.name, confirm=True)

    assert (lost.name, clock.now(), 25, 2) == (
        given_up.segment,
        given_up.at,
        given_up.timesteps,
        given_up.sessions,
    )
    assert [("one", 1, 20, 20), ("two", 1, 5, 5)] == [
        (each.session_id, each.first_tick, each.last_tick, each.timesteps) for each in given_up.ranges
    ]
    assert [given_up] == hx.xdb.lost_segments()
    assert not lost.exists()
    assert kept.exists()
    assert [] == hx.check()
    assert 10 == words_in(hx)
    assert () == hx.xdb.recall(session_id="*").notes
    assert hx.xdb.get_timestep("ts-one-3") is None
    hx.close()
    hx = opened()
    hx.xdb.start_session("two")
    assert "ts-two-6" == hx.xdb.record("input", "two says more")  # after those that are lost


def test_the_ledger_says_who_gave_up_what_and_names_no_session(opened: Opener, clock: FrozenClock) -> None:
    hx = opened()
    began = clock.now()
    (lost,) = recorded(hx, {"mrs-heather": 4})
    damage(lost)
    clock.advance(days=1)

    hx.xdb.accept_lost_segment(str(lost), confirm=True)

    (detail,) = on_ledger(hx)
    assert ("owner", lost.name, 4, 1) == tuple(
        detail[name] for name in ("by", "segment", "timesteps", "sessions")
    )
    assert [[1, 1, 4, 4]] == detail["ranges"]
    assert detail["from"] == detail["to"] == int(began.timestamp() * 1e6)
    assert "mrs-heather" not in str(detail)
    text = str(hx.xdb.lost_segments()[0])
    assert text.startswith(
        f"Segment {lost.name} was given up on {clock.now():%Y-%m-%d} by owner: up to 4 timesteps"
    )
    hx.forget(session="mrs-heather", purge=True, confirm=True)
    assert "mrs-heather" not in str(hx.xdb.lost_segments()[0])
    assert [] == hx.check()


def test_an_erasure_that_waits_for_a_segment_is_finished_when_that_is_given_up(opened: Opener) -> None:
    hx = opened()
    shared, _ = recorded(hx, {"one": 20, "two": 5}, {"one": 10, "two": 3})
    damage(shared)
    receipt = hx.forget(session="one", purge=True, confirm=True)
    assert [FILES] == [waiting.place for waiting in receipt.pending]

    hx.xdb.accept_lost_segment(shared.name, confirm=True)

    (erasure,) = hx.erasures()
    assert () == tuple(erasure.pending)
    assert 30 == erasure.count("timesteps")
    assert not shared.exists()
    assert 3 == words_in(hx)
    assert [] == hx.check()


def test_an_erasure_goes_on_whose_part_of_the_segment_nobody_knew(opened: Opener, clock: FrozenClock) -> None:
    hx = opened()
    (first,) = recorded(hx, {"one": 20})
    clock.advance(hours=1)
    for step in range(4):
        hx.xdb.record("input", f"one says {step}", session_id="one")
        clock.advance(minutes=1)
    hx.xdb.seal()
    (shared,) = {*(hx.path / "stream" / "segments").glob("*.parquet")} - {first}
    damage(shared)
    receipt = hx.forget(session="one", before=clock.now() - timedelta(minutes=2), purge=True, confirm=True)
    assert UNREAD in [waiting.place for waiting in receipt.pending]

    hx.xdb.accept_lost_segment(shared.name, confirm=True)

    (erasure,) = hx.erasures()
    assert () == tuple(erasure.pending)
    assert 20 == erasure.count("timesteps")
    assert 0 == words_in(hx)
    assert [] == hx.check()


def test_a_healthy_or_unknown_segment_is_refused_and_nothing_changes(opened: Opener) -> None:
    hx = opened()
    healthy, damaged = recorded(hx, {"one": 20}, {"one": 10})

    with pytest.raises(NotFound, match=r"The stream has no segment 'nothing.parquet'; none is damaged"):
        hx.xdb.accept_lost_segment("nothing.parquet", confirm=True)
    damage(damaged)
    with pytest.raises(Conflict, match=r"as it was sealed, and nothing is lost.*`forget`"):
        hx.xdb.accept_lost_segment(healthy.name, confirm=True)
    with pytest.raises(NotFound, match=f"no segment 'nothing.parquet'; damaged are {damaged.name}"):
        hx.xdb.accept_lost_segment("nothing.parquet", confirm=True)
    with pytest.raises(AccessDenied, match="Confirm it with confirm=True"):
        hx.xdb.accept_lost_segment(damaged.name)

    assert healthy.exists()
    assert damaged.exists()
    assert [] == hx.xdb.lost_segments()
    hx.xdb.accept_lost_segment(damaged.name, confirm=True)
    with pytest.raises(NotFound, match="was given up before"):
        hx.xdb.accept_lost_segment(damaged.name, confirm=True)
    assert 20 == words_in(hx)


def test_a_segment_whose_backup_was_put_back_is_not_given_up(opened: Opener) -> None:
    hx = opened()
    (segment,) = recorded(hx, {"one": 20})
    whole = segment.read_bytes()
    damage(segment)
    segment.write_bytes(whole)

    with pytest.raises(Conflict, match="nothing is lost"):
        hx.xdb.accept_lost_segment(segment.name, confirm=True)

    assert 20 == words_in(hx)


def test_a_store_that_is_only_read_gives_up_nothing(opened: Opener) -> None:
    hx = opened()
    (lost,) = recorded(hx, {"one": 20})
    hx.close()
    damage(lost)

    reader = opened(readonly=True)
    with pytest.raises(StorageFailure, match="read-only"):
        reader.xdb.accept_lost_segment(lost.name, confirm=True)
    assert [] == reader.xdb.lost_segments()
    reader.close()

    assert lost.exists()
    opened().xdb.accept_lost_segment(lost.name, confirm=True)


def test_a_role_gives_up_nothing(opened: Opener) -> None:
    hx = opened()
    (lost,) = recorded(hx, {"one": 20})
    damage(lost)
    hx.close()

    with pytest.raises(AccessDenied, match="by the store's owner alone"):
        opened(role="agent").xdb.accept_lost_segment(lost.name, confirm=True)

    assert lost.exists()
    opened().xdb.accept_lost_segment(lost.name, confirm=True)


def test_it_waits_for_whoever_writes_the_files_of_the_stream(opened: Opener, tmp_path: Path) -> None:
    hx = opened()
    (lost,) = recorded(hx, {"one": 20})
    damage(lost)
    other = hexad.SystemClock()
    child = os.fork()
    if not child:
        lease = Lease(hx.path / "stream" / "seal.lock", clock=other, purpose="sealing")
        held = lease.try_acquire()
        (tmp_path / "held").touch()
        signal.pause() if held else None
        os._exit(0)
    while not (tmp_path / "held").exists():
        os.sched_yield()
    try:
        with pytest.raises(hexad.StoreLocked, match="Another process has been writing the stream's files"):
            hx.xdb.accept_lost_segment(lost.name, confirm=True)
        assert lost.exists()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    hx.xdb.accept_lost_segment(lost.name, confirm=True)


def test_what_comes_back_later_is_named_and_not_read(opened: Opener) -> None:
    hx = opened()
    lost, _ = recorded(hx, {"one": 20}, {"one": 10})
    whole = lost.read_bytes()
    damage(lost)
    hx.xdb.accept_lost_segment(lost.name, confirm=True)

    lost.write_bytes(whole)

    assert 10 == words_in(hx)
    (problem,) = hx.check()
    assert f"{lost} was given up, and nothing reads it. Remove it" in problem
    hx.maintain()
    assert lost.exists()
    lost.unlink()
    assert [] == hx.check()


def killed_at(number: int, project: Path, segment: str) -> bool:
    """Give up a segment in a child that is killed before its file operation of this number; False where it ended."""
    child = os.fork()
    if not child:
        code = 1
        try:
            seen = 0

            def reached(_operation: str, _path: Path) -> None:
                nonlocal seen
                seen += 1
                if seen == number:
                    os.kill(os.getpid(), signal.SIGKILL)

            with hexad.open(project, embedder=None, background=False) as hx:
                files.set_hook(reached)
                hx.xdb.accept_lost_segment(segment, confirm=True)
                code = 0
                os._exit(0)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL)
    return status != 0


def test_killed_anywhere_a_segment_is_given_up_or_is_not(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    with hexad.open(whole, embedder=None, background=False) as hx:
        shared, _ = recorded(hx, {"one": 20, "two": 5}, {"two": 3})
        damage(shared)
        hx.forget(session="one", purge=True, confirm=True)
    number, before, after = 0, 0, 0
    goes_on = True
    while goes_on:
        number += 1
        project = tmp_path / "copy"
        shutil.rmtree(project, ignore_errors=True)
        shutil.copytree(whole, project)

        goes_on = killed_at(number, project, shared.name)

        with hexad.open(project, embedder=None, background=False) as hx:
            is_given_up = bool(hx.xdb.lost_segments())
            if is_given_up:
                hx.maintain()
                after += 1
            else:
                assert [FILES] == [waiting.place for waiting in hx.erasures()[0].pending]
                assert any(shared.name in problem for problem in hx.check())
                hx.xdb.accept_lost_segment(shared.name, confirm=True)
                before += 1
            assert [shared.name] == [lost.segment for lost in hx.xdb.lost_segments()]
            assert () == tuple(hx.erasures()[0].pending)
            assert 20 == hx.erasures()[0].count("timesteps")
            assert [shared.name] == [detail["segment"] for detail in on_ledger(hx)]
            assert not (hx.path / "stream" / "segments" / shared.name).exists()
            assert 3 == words_in(hx)
            assert [] == hx.check()
    assert before
    assert after > 1


def test_the_command_asks_and_check_says_it_as_a_note(tmp_path: Path) -> None:
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        lost, _ = recorded(hx, {"one": 20}, {"one": 10})
        damage(lost)

    def told(*words: str) -> tuple[int, str, str]:
        ended = command("--store", tmp_path, *words)
        return ended.returncode, ended.stdout, ended.stderr

    code, said, _ = told("check")
    assert 5 == code
    assert f"hexad xdb accept-lost {lost.name}" in said
    code, _, complained = told("xdb", "accept-lost", "nope")
    assert 3 == code
    assert "has no segment 'nope'" in complained
    code, _, complained = told("xdb", "accept-lost", lost.name)
    assert 2 == code
    assert "Add --yes" in complained
    assert lost.exists()

    code, said, _ = told("xdb", "accept-lost", lost.name, "--yes")

    assert 0 == code
    assert f"Segment {lost.name} was given up on" in said
    code, said, complained = told("check")
    assert 0 == code
    assert "All is well" in said
    assert f"Segment {lost.name} was given up on" in complained
    assert f"Segment {lost.name} was given up on" in told("doctor")[1]
    assert f'"segment": "{lost.name}"' in told("--json", "check")[1]


def test_a_folder_in_the_place_of_a_segment_is_refused_before_it_is_given_up(opened: Opener) -> None:
    hx = opened()
    (lost,) = recorded(hx, {"one": 20})
    lost.unlink()
    lost.mkdir()

    with pytest.raises(StorageFailure, match="is a folder"):
        hx.xdb.accept_lost_segment(lost.name, confirm=True)
    assert [] == hx.xdb.lost_segments()
    lost.rmdir()
    assert lost.name == hx.xdb.accept_lost_segment(lost.name, confirm=True).segment


def test_what_is_lost_is_told_as_json(opened: Opener) -> None:
    hx = opened()
    (lost,) = recorded(hx, {"one": 20})
    damage(lost)
    with pytest.raises(IntegrityError):
        hx.xdb.get_timestep("ts-one-1")

    given_up = hx.xdb.accept_lost_segment(lost.name, confirm=True)

    assert given_up.to_dict()["ranges"] == [
        {"session_id": "one", "first_tick": 1, "last_tick": 20, "timesteps": 20}
    ]
