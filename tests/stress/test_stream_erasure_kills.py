"""Erasing experience while others record to it, and while programs are killed at it."""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

import hexad
from programs import Program

sys.path.insert(0, str(Path(__file__).parents[1]))
from stream_canaries import Canaries, found_in

TARGET = Path(__file__).with_name("stream_erasure_target.py")
SHORT_KILLS, LONG_KILLS = 3, 150


def start(what: str, project: Path, argument: str) -> Program:
    return Program(TARGET, what, project, argument)


def opened(project: Path) -> hexad.Hexad:
    return hexad.open(project, embedder=None, background=False)


def line(process: Program) -> str:
    assert process.stdout is not None
    said = process.stdout.readline()
    assert said, process.communicate(timeout=60)
    return said


def end(process: Program) -> str:
    """End a program and return what it said since."""
    said, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return said


def test_what_a_live_program_holds_is_pending_unseen_and_gone_once_it_ends(tmp_path: Path) -> None:
    with opened(tmp_path) as hx:
        hx.xdb.start_session("calm", compaction=False)
        hx.xdb.record("output", "calm")
        holder = start("hold", tmp_path, "call")
        assert "recorded\n" == line(holder)
        hx.xdb.tag("private", tick_range=(1, 20), session_id="call")

        receipt = hx.forget(tag="private", purge=True, confirm=True)

        (pending,) = [entry for entry in receipt.pending if entry.place == "files of the stream"]
        assert f"process {holder.pid}" in pending.reason
        assert [] == hx.xdb.recall(session_id="call") == hx.check()
        assert 1 == hx.xdb.get_state()["timestep_count"]
        hx.maintain()  # it still holds it
        assert found_in(hx.path)
        assert holder.stdin is not None
        holder.stdin.write("\n")
        holder.stdin.flush()
        assert "more\n" == line(holder)
        assert 20 == len(hx.xdb.recall(session_id="call"))
        end(holder)
        hx.maintain()

        assert {} == found_in(hx.path)
        assert [f" finch{at}" for at in range(20)] == [
            record.content for record in hx.xdb.recall(session_id="call")
        ]
        assert [] == hx.check()
        assert () == hx.erasures()[0].pending


def test_what_a_live_program_goes_on_recording_to_an_erased_session_is_kept_under_another_name(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as hx:
        holder = start("hold", tmp_path, "call")
        assert "recorded\n" == line(holder)
        hx.forget(session="call", purge=True, confirm=True)
        assert ([], []) == (hx.xdb.sessions(), hx.xdb.recall(session_id="*"))
        assert holder.stdin is not None
        holder.stdin.write("\n")
        holder.stdin.flush()
        assert "more\n" == line(holder)
        end(holder)
        hx.maintain()
        hx.xdb.seal()

        (left,) = hx.xdb.sessions()
        assert left.id.startswith("erased-")
        assert 20 == len(hx.xdb.recall(session_id=left.id))
        assert {} == found_in(hx.path)
        hx.forget(session=left.id, purge=True, confirm=True)
        assert ([], [], []) == (hx.xdb.sessions(), hx.xdb.recall(session_id="*"), hx.check())


def test_a_rule_that_comes_later_tags_nothing_of_what_was_erased_and_is_in_a_log_still(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as hx:
        holder = start("hold", tmp_path, "call")
        assert "recorded\n" == line(holder)
        hx.xdb.tag("private", tick_range=(5, 8), session_id="call")
        hx.forget(tag="private", purge=True, confirm=True)
        (hx.path / "hexad.toml").write_text("auto_tag_threshold = 0.4\n")
    with opened(tmp_path) as hx:
        hx.xdb.flush()
        targets = [tag_application.target for tag_application in hx.xdb.tag_applications("c")]
        assert [(1, 4), (9, 20)] == [(target.range_start, target.range_end) for target in targets]
        end(holder)


@pytest.mark.parametrize("where", ["thread", "process"])
def test_whoever_records_meanwhile_loses_nothing_that_was_not_selected(tmp_path: Path, where: str) -> None:
    with opened(tmp_path) as hx:
        hx.xdb.start_session("call", compaction=False)
        kept: set[int] = set()
        gone: set[int] = set()
        stop = threading.Event()

        def record() -> None:
            session = hx.xdb.session("call")
            while not stop.is_set():
                some = [session.record("output", " later", {"c": 0.5}) for _ in range(5)]
                hx.xdb.flush()
                kept.update(int(text.rpartition("-")[2]) for text in some)
                time.sleep(0.002)  # as a disk would take

        if where == "thread":
            writer = threading.Thread(target=record)
            writer.start()
        else:
            process = start("record", tmp_path, "call")
            kept.update(int(part) for part in line(process).split())
        for turn in range(4):
            ids = [
                hx.xdb.record("output", f" canary{10_000 + turn}", {"c": 0.5}, session_id="call")
                for _ in range(9)
            ]
            for text in ids:
                hx.xdb.tag("private", timestep_id=text)
            gone.update(int(text.rpartition("-")[2]) for text in ids)
            if turn % 2:
                hx.xdb.seal()
            hx.forget(tag="private", purge=True, confirm=True)
        if where == "thread":
            stop.set()
            writer.join()
        else:
            kept.update(int(part) for part in end(process).split())
        hx.maintain()

        assert len(kept) > 20
        assert kept == {
            timestep_record.tick for timestep_record in hx.xdb.recall(session_id="call", limit=100_000)
        }
        assert 36 == len(gone)
        assert {} == found_in(hx.path)
        assert [] == hx.check()


@pytest.mark.parametrize("kills", [SHORT_KILLS, pytest.param(LONG_KILLS, marks=pytest.mark.long)])
def test_a_program_that_is_killed_at_it_leaves_nothing_erased_or_all_of_it_to_be_finished(
    tmp_path: Path, kills: int
) -> None:
    chance = random.Random(kills)
    canaries = Canaries()
    finished = unbegun = 0
    for turn in range(kills):
        name = f"call-{turn}"
        with opened(tmp_path) as hx:
            hx.xdb.start_session("calm", compaction=False)
            for _ in range(30):
                hx.xdb.record("output", " calm", {"c": 0.5})
            hx.xdb.start_session(name, 200)
            for at in range(300):
                hx.xdb.record(
                    "output",
                    f" {canaries()}" if at % 10 == 5 else f" w{at}",
                    {"c": 0.5},
                    event_id=f"e{at // 10}",
                )
            hx.xdb.tag("nice", tick_range=(250, 290), note=canaries(), session_id=name)
            hx.xdb.end_session()
            if turn % 2:
                hx.xdb.seal()
                hx.xdb.check_and_compress(max_storage_bytes=0)
        process = start("forget", tmp_path, name)
        assert "open\n" == line(process)
        time.sleep(chance.random() * 0.5)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        with opened(tmp_path) as hx:
            hx.maintain()
            assert [] == hx.check(), turn
            assert 30 * (turn + 1) == len(hx.xdb.recall(session_id="calm", limit=100_000))
            if name in {session.id for session in hx.xdb.sessions()}:
                unbegun += 1
                assert 300 == hx.xdb.session_totals().get(name, None).timesteps or turn % 2  # type: ignore[union-attr]
                hx.forget(session=name, purge=True, confirm=True)
            else:
                finished += 1
            assert {} == found_in(hx.path), turn
    assert kills == finished + unbegun
