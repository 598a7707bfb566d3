"""Several processes record, seal and tag by the rule at once, and are killed: each timestep is tagged once."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

import pytest

import hexad
from hexad.experience.values.tags import TagSource
from programs import Program

TARGET = Path(__file__).with_name("stream_target.py")
SHORT_CYCLES, LONG_CYCLES = 2, 60
THRESHOLD = 0.5  # the writers' `c0` to `c49` reach it, each writer's own concept does not


def start(what: str, project: Path, name: str) -> Program:
    return Program(TARGET, what, project, name, 10**9)


def kill_cycle(project: Path, chance: random.Random, cycle: int) -> None:
    writers = [start("record", project, f"w{cycle}.{at}") for at in range(3)]
    sealer = start("seal", project, "-")
    assert writers[0].stdout is not None
    writers[0].stdout.readline()  # so that there is something to tag
    time.sleep(chance.random())
    for process in chance.sample([*writers, sealer], 4):
        process.kill()
    for process in (*writers, sealer):
        _, errors = process.communicate()
        assert "Error" not in errors, errors


def check(project: Path) -> int:
    """Compare the tags with what was recorded; returns how many ticks are tagged."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.flush()
        active: set[tuple[str, int]] = set()
        at = 0
        while page := hx.xdb.recall(session_id="shared", limit=100_000, offset=at):
            at += len(page)
            active |= {
                (concept, record.tick)
                for record in page
                for concept, score in record.concept_activations.items()
                if score >= THRESHOLD
            }
        tagged: Counter[tuple[str, int]] = Counter()
        for tag in hx.xdb.find_tags(limit=1_000):
            for tag_application in hx.xdb.tag_applications(tag.id, limit=100_000):
                first, last = tag_application.target.range_start, tag_application.target.range_end
                assert first is not None
                assert last is not None
                assert TagSource.AUTO is tag_application.source
                tagged.update((tag.id, tick) for tick in range(first, last + 1))
        assert [] == [place for place, count in tagged.items() if count > 1]
        assert active == set(tagged)
        assert [] == hx.check()
    return len(active)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".hexad").mkdir(parents=True)
    (folder / ".hexad" / "hexad.toml").write_text(f"auto_tag_threshold = {THRESHOLD}")
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session("shared", compaction=False)
    return folder


@pytest.mark.row("H037")
def test_processes_that_are_killed_tag_each_timestep_once(project: Path) -> None:
    chance, before = random.Random(3), 0
    for cycle in range(SHORT_CYCLES):
        kill_cycle(project, chance, cycle)
        tagged = check(project)
        assert tagged > before
        before = tagged


@pytest.mark.long
def test_many_cycles_of_killing_tag_each_timestep_once(project: Path) -> None:
    chance = random.Random(4)
    for cycle in range(LONG_CYCLES):
        kill_cycle(project, chance, cycle)
        check(project)
