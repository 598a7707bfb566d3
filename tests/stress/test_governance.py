"""gc, reset and delete: killed at any point, beside writers, and two at once."""

from __future__ import annotations

import random
from pathlib import Path

import governance_target as target
import pytest
from stress_processes import Operation, Worker, run_and_kill, run_to_the_end

import hexad

SHORT_KILLS, LONG_KILLS = 1, 200
MANY = 3_000


def killed_once(folder: Path, what: str, chance: random.Random) -> None:
    """Fill a space, kill one process that empties it and some that write, and look at what is left."""
    target.fill(folder, MANY)
    emptying = Operation(target.open_store, target.EMPTYING[what])
    writing = Operation(target.open_store, target.write_elsewhere)
    writers = [
        Worker.start(folder, worker=number, writes=range(100_000), operation=writing) for number in range(2)
    ]
    _, errors = run_and_kill(folder, workers=2, first=0, seconds=1.2, chance=chance, operation=emptying)
    for writer in writers:
        writer.process.kill()
    reports = [writer.reports() for writer in writers]

    assert [] == errors + [error for _, wrong in reports for error in wrong]
    with target.open_store(folder) as store:
        assert [] == store.check()
        written = {memory.id for memory in store.memories(space="elsewhere", limit=None)}
        assert {f"e{worker}-{n}" for some, _ in reports for worker, n in some} <= written
        target.EMPTYING[what](store, 0, 0)  # goes on from where it was killed
        assert [] == store.check()
        assert not [m.id for m in store.memories(limit=None, status=None) if m.id.startswith("d")]


@pytest.mark.parametrize("what", target.EMPTYING)
def test_what_was_killed_on_the_way_is_whole_and_can_be_done_again(tmp_path: Path, what: str) -> None:
    chance = random.Random(what)
    for cycle in range(SHORT_KILLS):
        killed_once(tmp_path / str(cycle), what, chance)


@pytest.mark.long
@pytest.mark.parametrize("what", target.EMPTYING)
def test_two_hundred_kills_leave_the_store_whole(tmp_path: Path, what: str) -> None:
    chance = random.Random(what)
    for cycle in range(LONG_KILLS):
        killed_once(tmp_path / str(cycle), what, chance)


def test_writers_beside_a_gc_lose_nothing_and_are_not_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    target.fill(folder, MANY)
    writers = [
        Worker.start(
            folder,
            worker=number,
            writes=range(30),
            operation=Operation(target.open_store, target.write_beside),
        )
        for number in range(3)
    ]
    _, errors = run_to_the_end(
        folder, workers=2, writes_each=3, operation=Operation(target.open_store, target.EMPTYING["gc"])
    )
    reports = [writer.reports() for writer in writers]

    assert [] == errors + [error for _, wrong in reports for error in wrong]
    with target.open_store(folder) as store:
        assert [] == store.check()
        kept = {memory.id for memory in store.memories(space="docs", limit=None)}
        assert {f"b{worker}-{n}" for some, _ in reports for worker, n in some} == kept
        assert MANY == sum(
            int(str(detail["purged"]))
            for _, what, detail in store._services.stores.meta.logged(limit=10_000)
            if what == "gc"
        )


def test_a_policy_that_changes_beside_writers_holds_for_all_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    target.fill(folder, 200)
    workers = [
        Worker.start(folder, worker=number, writes=range(40), operation=Operation(target.open_store, act))
        for number, act in enumerate((target.write_beside, target.write_beside, target.change_policy))
    ]
    reports = [worker.reports() for worker in workers]

    assert [] == [error for _, wrong in reports for error in wrong]
    with target.open_store(folder) as store:
        assert [] == store.check()  # which compares every memory's audience with the policy
    with hexad.open(folder, embedder=None, background=False, actor={"role": "dev"}) as dev:
        assert {"note"} == {memory.kind for memory in dev.memories(space="docs", limit=None)}
