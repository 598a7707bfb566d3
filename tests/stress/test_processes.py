"""Several processes write to one store: killed at any moment, or all at once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from stress_processes import Operation, Recorder, run_and_kill, run_to_the_end
from stress_target import missing, open_store, problems, written

SHORT_KILLS, LONG_KILLS = 4, 1_000
KILLED_WRITERS, CYCLE_S = 8, 0.4
STORE_EVERY_CYCLES = 50
MANY_WRITERS, SHORT_WRITES, LONG_WRITES = 32, 20, 1_000


def kill_cycles(directory: Path, *, cycles: int, operation: Operation) -> int:
    """Write and kill, again and again; every cycle checks the whole store. Return the acknowledged writes."""
    chance = random.Random(cycles)
    acknowledged: set[tuple[int, int]] = set()
    count = 0
    for cycle in range(cycles):
        if cycle % STORE_EVERY_CYCLES == 0:
            count += len(acknowledged)
            acknowledged = set()
        path = directory / f"{cycle // STORE_EVERY_CYCLES}.db"
        some, errors = run_and_kill(
            path,
            workers=KILLED_WRITERS,
            first=cycle * 100_000,
            seconds=CYCLE_S,
            chance=chance,
            operation=operation,
        )
        acknowledged |= some

        assert [] == errors
        store = open_store(path)
        assert [] == missing(store, acknowledged)
        assert [] == problems(store)
        store.close()
    return count + len(acknowledged)


def test_writers_that_are_killed_lose_nothing_that_was_acknowledged(
    tmp_path: Path, record_property: Recorder
) -> None:
    acknowledged = kill_cycles(tmp_path, cycles=SHORT_KILLS, operation=Operation())

    assert acknowledged > SHORT_KILLS
    record_property("rounds of killed writers", SHORT_KILLS)
    record_property("acknowledged writes", acknowledged)


@pytest.mark.long
def test_a_thousand_cycles_of_killing_lose_nothing(tmp_path: Path, record_property: Recorder) -> None:
    acknowledged = kill_cycles(tmp_path, cycles=LONG_KILLS, operation=Operation())

    assert acknowledged >= LONG_KILLS
    record_property("rounds of killed writers", LONG_KILLS)
    record_property("acknowledged writes", acknowledged)


def write_from_many(path: Path, *, writes_each: int, operation: Operation) -> None:
    open_store(path).close()
    acknowledged, errors = run_to_the_end(
        path, workers=MANY_WRITERS, writes_each=writes_each, operation=operation
    )

    store = open_store(path)
    everything = {(worker, n) for worker in range(MANY_WRITERS) for n in range(writes_each)}
    assert [] == errors
    assert everything == acknowledged
    assert everything == written(store)
    assert [] == problems(store)
    store.close()


def test_thirty_two_processes_write_at_once_and_nothing_is_lost_or_refused(tmp_path: Path) -> None:
    write_from_many(tmp_path / "memory.db", writes_each=SHORT_WRITES, operation=Operation())


@pytest.mark.long
def test_thirty_two_processes_with_a_thousand_writes_each_lose_nothing(tmp_path: Path) -> None:
    write_from_many(tmp_path / "memory.db", writes_each=LONG_WRITES, operation=Operation())


def test_processes_that_create_the_same_store_at_once_all_succeed(tmp_path: Path) -> None:
    path = tmp_path / "new" / "memory.db"

    acknowledged, errors = run_to_the_end(path, workers=6, writes_each=2, operation=Operation())

    store = open_store(path)
    assert [] == errors
    assert acknowledged == written(store)
    assert [] == problems(store)
    store.close()
