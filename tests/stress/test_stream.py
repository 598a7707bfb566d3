"""Several processes record, read and seal the same stream: killed at any moment, or all at once."""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from pathlib import Path

import pytest

import hexad
from hexad.database import files
from hexad.experience.stream.log import read_log
from programs import Program

TARGET = Path(__file__).with_name("stream_target.py")
SHORT_KILLS, LONG_KILLS = 2, 200
ENDLESS = 10**9


def start(what: str, project: Path, name: str = "-", count: int = ENDLESS) -> Program:
    return Program(TARGET, what, project, name, count)


def finish(process: Program) -> str:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


def contents(hx: hexad.Hexad) -> dict[str, list[int]]:
    """The numbers that were recorded by each writer; no timestep is there twice, and no file is without its row."""
    found: list[hexad.TimestepRecord] = []
    while page := hx.xdb.recall(session_id="*", limit=100_000, offset=len(found)):
        found += page
    assert not [text for text, count in Counter(record.id for record in found).items() if count > 1]
    numbers: dict[str, list[int]] = {}
    for record in found:
        name, at = record.content.split()
        numbers.setdefault(name, []).append(int(at))
    return {name: sorted(some) for name, some in numbers.items()}


def whole(hx: hexad.Hexad, acknowledged: dict[str, int]) -> None:
    numbers = contents(hx)
    for name, count in acknowledged.items():
        assert list(range(len(numbers.get(name, [])))) == numbers.get(name, []), name
        assert len(numbers.get(name, [])) >= count, name
    assert [] == hx.check()


def kill_cycles(project: Path, cycles: int) -> int:
    """Record from three processes and seal beside them, kill all, look; return what was acknowledged."""
    chance = random.Random(cycles)
    acknowledged: dict[str, int] = {}
    for cycle in range(cycles):
        names = [f"w{cycle}.{at}" for at in range(3)]
        writers = [start("record", project, name) for name in names]
        sealer = start("seal", project)
        assert writers[0].stdout is not None
        acknowledged[names[0]] = int(writers[0].stdout.readline())  # so that there is something to lose
        time.sleep(chance.random())
        for process in chance.sample([*writers, sealer], 4):
            process.kill()
        sealer.communicate()
        for name, writer in zip(names, writers, strict=True):
            output, errors = writer.communicate()
            assert "Error" not in errors, errors
            lines = output.splitlines(keepends=True)
            acknowledged[name] = max(
                [acknowledged.get(name, 0), *(int(line) for line in lines if line.endswith("\n"))]
            )
        with hexad.open(project, embedder=None, background=False) as hx:
            whole(hx, acknowledged)
            if cycle % 2:
                hx.xdb.seal()
                whole(hx, acknowledged)
    return sum(acknowledged.values())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session("shared", compaction=False)
    return folder


def test_recorders_and_sealers_that_are_killed_lose_nothing_that_was_acknowledged(project, record_property):
    acknowledged = kill_cycles(project, SHORT_KILLS)

    assert acknowledged > 0
    record_property("rounds of killed recorders", SHORT_KILLS)
    record_property("acknowledged records", acknowledged)


@pytest.mark.long
def test_many_cycles_of_killing_lose_nothing(tmp_path, record_property):
    done = 0
    for store in range(LONG_KILLS // 10):
        folder = tmp_path / str(store)
        folder.mkdir()
        with hexad.open(folder, embedder=None, background=False) as hx:
            hx.xdb.start_session("shared", compaction=False)
        done += kill_cycles(folder, 10)
    assert done > 0
    record_property("rounds of killed recorders", LONG_KILLS)
    record_property("acknowledged records", done)


def test_several_record_read_and_seal_at_once(project):
    writers = [start("record", project, f"w{at}", 700) for at in range(3)]
    others = [start("read", project, count=15), start("seal", project, count=30)]
    for process in [*writers, *others]:
        finish(process)

    with hexad.open(project, embedder=None, background=False) as hx:
        assert {f"w{at}": list(range(700)) for at in range(3)} == contents(hx)
        hx.xdb.seal()
        assert {f"w{at}": list(range(700)) for at in range(3)} == contents(hx)
        assert [] == hx.check()


@pytest.mark.parametrize("apart", [6, pytest.param(1, marks=pytest.mark.long)])
def test_a_sealing_that_is_killed_at_any_step_leaves_nothing_half_done(project, apart):
    recorded = dict[str, int]()
    for step in itertools.count(1, apart):
        recorded[f"w{step}"] = 20
        finish(start("record", project, f"w{step}", 20))
        process = start("seal_and_die", project, count=step)
        process.communicate()
        with hexad.open(project, embedder=None, background=False) as hx:
            whole(hx, recorded)
            if process.returncode == 0:
                break
    assert step > 8
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.seal()
        whole(hx, recorded)
        registered = hx._services.db.query(
            "SELECT name FROM stream_segments UNION SELECT name FROM stream_sidecars"
        )
        assert {path.name for path in (project / ".hexad/stream/segments").iterdir()} == {
            str(row[0]) for row in registered
        }
        assert [] == list((project / ".hexad/stream/log").glob("*.log"))


def test_several_that_seal_what_one_left_seal_it_once(project):
    finish(start("record", project, "w", 500))
    sealers = [start("seal", project, count=1) for _ in range(4)]
    for process in sealers:
        finish(process)

    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.seal()
        assert {"w": list(range(504))} == contents(hx)  # in groups of seven
        assert [] == hx.check()


@pytest.mark.parametrize("policy", ["always", "group"])
def test_what_is_acknowledged_was_in_the_file_when_it_was_synced(project, monkeypatch, policy):
    """Lost power keeps what a sync covered: those bytes alone must hold every acknowledged record."""
    monkeypatch.setenv("HEXAD_STREAM_DURABILITY", policy)
    synced: dict[str, bytes] = {}

    def hook(operation: str, path: Path) -> None:
        if operation == "fdatasync" and "stream" in path.parts:
            synced[path.name.removeprefix(".").removesuffix(".tmp")] = path.read_bytes()

    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.start_session("shared", compaction=False)
        previous = files.set_hook(hook)
        try:
            for group in range(5):
                for at in range(3):
                    hx.xdb.record("output", f"{group} {at}")
                hx.xdb.flush()
                (name,) = synced
                survivor = project / "survivor.log"
                survivor.write_bytes(synced[name])
                found = read_log(survivor)
                assert found is not None
                assert 3 * (group + 1) == sum(map(len, found.frames))
        finally:
            files.set_hook(previous)


def test_a_log_goes_only_after_its_segment_is_synced_named_and_registered(project):
    steps: list[str] = []
    registered: list[bool] = []

    def hook(operation: str, path: Path) -> None:
        what = "log" if path.suffix == ".log" else "segment" if ".parquet" in path.name else path.name
        steps.append(f"{operation} {what}")
        if operation == "unlink" and what == "log":
            registered.append(hx._services.db.query_one("SELECT 1 FROM stream_segments") is not None)

    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.start_session("shared", compaction=False)
        hx.xdb.record("output", "x")
        hx.xdb.flush()
        previous = files.set_hook(hook)
        try:
            hx.xdb.seal()
        finally:
            files.set_hook(previous)

    order = ["write segment", "fdatasync segment", "rename segment", "fsync_dir segments", "fdatasync memory.db-wal",
             "unlink log"]  # fmt: skip
    places = [steps.index("write segment")]
    for step in order[1:]:
        places.append(steps.index(step, places[-1]))
    assert sorted(places) == places
    assert [True] == registered
