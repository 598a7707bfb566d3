"""Timesteps that left for COLD records go from the files: whoever is killed at it, no other timestep goes with them."""

from __future__ import annotations

import itertools
import random
import time
from pathlib import Path

import pytest

import hexad
from hexad.experience.stream import sealing
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.sessions import Sessions
from programs import Program

TARGET = Path(__file__).with_name("removal_target.py")
SHORT_KILLS, LONG_KILLS = 2, 100
ENDLESS = 10**9


def start(what: str, project: Path, count: int = ENDLESS) -> Program:
    return Program(TARGET, what, project, count)


def finish(process: Program) -> str:
    output, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    return output


def opened(project: Path) -> hexad.Hexad:
    return hexad.open(project, embedder=None, background=False)


def ticks_of(output: str) -> set[int]:
    return {
        int(part) for line in output.splitlines(keepends=True) if line.endswith("\n") for part in line.split()
    }


def problems(hx: hexad.Hexad) -> list[str]:
    """What `check` finds; here ticks leave without the COLD records that stand for them."""
    return [problem for problem in hx.check() if not problem.startswith("COLD records stand for")]


def hot(hx: hexad.Hexad) -> set[int]:
    found = [record.tick for record in hx.xdb.recall(session_id="shared", limit=100_000)]
    assert len(found) == len(set(found))
    return set(found)


def left(hx: hexad.Hexad) -> set[int]:
    db = hx._services.db
    number = Sessions(db).number("shared")
    assert number is not None
    return {tick for first, last in ColdRanges(db).ranges(number) for tick in range(first, last + 1)}


def whole(hx: hexad.Hexad, recorded: set[int], gone: set[int]) -> None:
    there = hot(hx)
    assert gone <= left(hx)
    assert there.isdisjoint(left(hx))
    assert recorded <= there | left(hx)
    events = hx.xdb.recall_events(session_id="shared", limit=100_000)
    assert len(there) == sum(event.timesteps for event in events)
    assert [] == problems(hx)


def let_leave(hx: hexad.Hexad, ticks: set[int]) -> None:
    db = hx._services.db
    number = Sessions(db).number("shared")
    assert number is not None
    with db.transaction():
        ColdRanges(db).add(number, [(tick, tick) for tick in ticks])


def kill_cycles(project: Path, cycles: int) -> int:
    chance = random.Random(cycles)
    recorded, gone = set[int](), set[int]()
    for _ in range(cycles):
        writers = [start("record", project) for _ in range(2)]
        leaver, sealer = start("leave", project), start("seal", project)
        for process in (writers[0], leaver):
            assert process.stdout is not None
            line = process.stdout.readline()  # so that there is something to lose
            (recorded if process is writers[0] else gone).update(ticks_of(line))
        time.sleep(chance.random() * 2)
        everyone = [*writers, leaver, sealer]
        for process in chance.sample(everyone, len(everyone)):
            process.kill()
        for process in everyone:
            output, errors = process.communicate()
            assert "Error" not in errors, errors
            if process is leaver:
                gone |= ticks_of(output)
            elif process is not sealer:
                recorded |= ticks_of(output)
        with opened(project) as hx:
            whole(hx, recorded, gone)
    with opened(project) as hx:
        hx.xdb.seal()
        hx.maintain()
        whole(hx, recorded, gone)
    return len(gone)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    with opened(folder) as hx:
        hx.xdb.start_session("shared", compaction=False)
    return folder


def test_whoever_is_killed_no_timestep_is_lost_and_none_comes_back(project):
    assert kill_cycles(project, SHORT_KILLS) > 0


@pytest.mark.long
def test_many_cycles_of_killing_lose_nothing_and_bring_nothing_back(tmp_path):
    done = 0
    for store in range(LONG_KILLS // 10):
        folder = tmp_path / str(store)
        folder.mkdir()
        with opened(folder) as hx:
            hx.xdb.start_session("shared", compaction=False)
        done += kill_cycles(folder, 10)
    assert done > 0


@pytest.mark.parametrize("apart", [6, pytest.param(1, marks=pytest.mark.long)])
def test_a_rewriting_that_is_killed_at_any_step_leaves_nothing_half_done(project, apart):
    recorded = set[int]()
    for step in itertools.count(1, apart):
        with opened(project) as hx:
            session = hx.xdb.start_session("shared", compaction=False)
            for _ in range(3):
                ids = session.record_many([{"event_type": "output", "content": "word"}] * 5)
                recorded |= {int(text.rpartition("-")[2]) for text in ids}
                hx.xdb.seal()
            there = sorted(hot(hx))
            gone = left(hx) | set(there[: len(there) // 2])
            let_leave(hx, gone)
        process = start("tidy_and_die", project, step)
        output, errors = process.communicate()
        assert "Error" not in errors, errors
        with opened(project) as hx:
            assert gone == left(hx)
            assert recorded - gone == hot(hx)
            assert [] == problems(hx)
        if process.returncode == 0:
            assert int(output) > 0
            break
    assert step > 8
    with opened(project) as hx:
        hx._services.experience().experience.tidy()
        whole(hx, recorded, gone)
        db = hx._services.db
        registered = db.query("SELECT name FROM stream_segments UNION SELECT name FROM stream_sidecars")
        assert {path.name for path in (project / ".hexad/stream/segments").iterdir()} == {
            str(row[0]) for row in registered
        }


@pytest.mark.row("H171")
def test_readers_go_on_while_segments_are_put_together(project):
    with opened(project) as hx:
        hx.xdb.start_session("shared", compaction=False)
    writers, sealers = (
        [start("record", project, 40) for _ in range(2)],
        [start("seal", project) for _ in range(2)],
    )
    readers = [start("read", project, 15) for _ in range(2)]
    try:
        for process in [*writers, *readers]:
            finish(process)
    finally:
        for process in sealers:
            process.kill()
            process.communicate()

    with opened(project) as hx:
        assert 400 == len(hot(hx))
        assert [] == problems(hx)


def test_what_left_takes_no_room_after_upkeep(project, monkeypatch):
    finish(start("record", project, 400))
    with opened(project) as hx:
        hx.xdb.seal()
        there = sorted(hot(hx))
        let_leave(hx, set(there[:100]))
        assert 0 == hx.maintain().freed_bytes  # not worth writing a segment anew for
        let_leave(hx, set(there[:1_500]))
        before = sum(path.stat().st_size for path in (hx.path / "stream").rglob("*") if path.is_file())

        freed = hx.maintain().freed_bytes

        after = sum(path.stat().st_size for path in (hx.path / "stream").rglob("*") if path.is_file())
        assert 0 < freed
        assert before - after == freed
        assert set(there[1_500:]) == hot(hx)
        let_leave(hx, set(there))
        hx.maintain()
        assert set() == hot(hx)
        assert [] == list((hx.path / "stream" / "segments").iterdir())
        assert [] == problems(hx)


def test_a_log_of_which_everything_left_becomes_no_segment(project):
    finish(start("record", project, 3))
    with opened(project) as hx:
        let_leave(hx, hot(hx))

        report = hx.xdb.seal()

        assert (0, 15, 0) == (report.rows, report.removed, report.segments)
        assert report.freed_bytes > 0
        assert [] == list((hx.path / "stream" / "log").glob("*.log"))
        assert [] == list((hx.path / "stream" / "segments").iterdir())
        assert [] == problems(hx)


def test_small_segments_become_one(project):
    for _ in range(sealing.SMALL_SEGMENTS):
        finish(start("record", project, 1))
        with opened(project) as hx:
            hx.xdb.seal()
            before = hx.xdb.recall(session_id="shared", limit=1_000)
    with opened(project) as hx:
        hx.maintain()

        assert 1 == len(list((hx.path / "stream" / "segments").glob("*.parquet")))
        assert before == hx.xdb.recall(session_id="shared", limit=1_000)
        assert [] == problems(hx)
