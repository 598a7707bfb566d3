"""A consolidation that is killed at any point is made good by the next run: the end is that of one that was not."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock, Hexad

SHORT_RANDOM, LONG_RANDOM = 1, 60
_CHILD = textwrap.dedent(
    """
    import os, signal, sys
    from datetime import datetime
    import hexad
    import hexad.maintenance.consolidation.project as consolidate
    from hexad.memory.tables.purge import RetentionRows
    from hexad.maintenance.consolidation.rows import ConsolidationRows

    folder, at, moment, when = sys.argv[1], datetime.fromisoformat(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    consolidate.BATCH = 3
    calls = 0

    def killing(kind, name):
        original = getattr(kind, name)
        def call(*args, **kwargs):
            global calls
            calls += 1
            if calls == when:
                os.kill(os.getpid(), signal.SIGKILL)  # in the middle of a transaction
            return original(*args, **kwargs)
        setattr(kind, name, call)

    if moment == "archive":
        killing(RetentionRows, "archive")
    elif moment == "promote":
        killing(ConsolidationRows, "note_promoted")
    with hexad.open(folder, embedder=None, background=False, clock=hexad.FrozenClock(at)) as hx:
        print("ready", flush=True)
        hx.consolidate()
    """
)


def filled(folder: Path, clock: FrozenClock) -> None:
    """Make a store with something for each rule."""
    folder.mkdir()
    with hexad.open(folder, embedder=None, background=False, clock=clock) as hx:
        for at in range(6):
            hx.remember(f"Line {at} of a log that nobody reads.", importance=0.3)
        hx.project.observe(category="pattern", key="data_access", value="Prisma", confidence=0.6)
        clock.advance(days=370)
        for at in range(6):
            for text in ("Ship it on green, not on red.", "ship it on green; not on red!"):
                hx.remember(f"Round {at}: {text}")
        for at in range(3):
            hx.session.start(f"task {at}", steps=["one step", f"step {at}"], fresh=True)
            hx.session.mark_step("one step")
            hx.session.add_turn("user", f"We decided to keep the number {at} in the table.")
            hx._services.session().manager.listeners.clear()
            hx.session.end()


def state(folder: Path, clock: FrozenClock, *, finish: bool) -> object:
    with hexad.open(folder, embedder=None, background=False, clock=clock) as hx:
        if finish:
            hx.consolidate()
            assert () == hx.consolidate().changes
        assert [] == hx.check()
        return _state(hx)


def _state(hx: Hexad) -> object:
    memories = hx.memories(status=None, limit=None, order="path")
    return [
        {name: value for name, value in memory.to_dict().items() if name != "chunks"} for memory in memories
    ], sorted(decision.title for decision in hx.governance.query())


def started(folder: Path, clock: FrozenClock, moment: str, when: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(folder), clock.now().isoformat(), moment, str(when)],
        stdout=subprocess.PIPE,
        text=True,
    )


def killed_at(tmp_path: Path, clock: FrozenClock, moments: list[tuple[str, int]], chances: int) -> None:
    filled(tmp_path / "store", clock)
    whole = tmp_path / "whole" / "store"  # the folder's name is the project's
    shutil.copytree(tmp_path / "store", whole)
    wanted = state(whole, clock, finish=True)
    for moment, when in moments:
        folder = tmp_path / f"{moment}-{when}" / "store"
        shutil.copytree(tmp_path / "store", folder)
        child = started(folder, clock, moment, when)
        child.communicate(timeout=120)
        assert -signal.SIGKILL == child.returncode
        assert wanted == state(folder, clock, finish=True)
    chance = random.Random(11)
    for turn in range(chances):
        folder = tmp_path / f"chance-{turn}" / "store"
        shutil.copytree(tmp_path / "store", folder)
        child = started(folder, clock, "none", 0)
        assert child.stdout is not None
        assert "ready\n" == child.stdout.readline()
        time.sleep(chance.uniform(0, 0.3))
        child.kill()
        child.communicate(timeout=120)
        assert wanted == state(folder, clock, finish=True)


@pytest.mark.row("A100")
def test_a_killed_consolidation_is_made_good_by_the_next(tmp_path):
    killed_at(tmp_path, FrozenClock(), [("archive", 2), ("promote", 2)], SHORT_RANDOM)


@pytest.mark.long
def test_a_consolidation_killed_at_many_moments_is_made_good_by_the_next(tmp_path):
    moments = [("archive", at) for at in range(1, 5)] + [("promote", at) for at in range(1, 4)]
    killed_at(tmp_path, FrozenClock(), moments, LONG_RANDOM)
