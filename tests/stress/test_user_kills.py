"""Several processes in one user layer, some of them killed: what was acknowledged is there, and counted once."""

from __future__ import annotations

import random
import stat
import time
from pathlib import Path

import pytest
import user_target as target
from stress_processes import Operation, Worker

import hexad

SHORT_KILLS, LONG_KILLS = 2, 100
_PREFIX = "update:"


def shared(folder: Path) -> tuple[hexad.Hexad, dict[str, str]]:
    (folder / "after").mkdir(exist_ok=True)
    hx = hexad.open(folder / "after", embedder=None, background=False, user_dir=folder / "user")
    return hx, {preference.key: preference.value for preference in hx.user.preferences()}


def killed_at_work(
    folder: Path, first: int, chance: random.Random, operation: Operation
) -> tuple[set[tuple[int, int]], list[str]]:
    """Let three workers begin, and kill each at a moment of its own while it writes; return what they reported."""
    writes = range(first, first + 100_000)
    running = [Worker.start(folder, worker=no, writes=writes, operation=operation) for no in range(3)]
    for worker in running:
        assert worker.pipe.poll(60)
    for worker in running:
        time.sleep(chance.uniform(0.05, 0.4))
        worker.process.kill()
    reports = [worker.reports() for worker in running]
    return set().union(*(some for some, _ in reports)), [error for _, wrong in reports for error in wrong]


def killed_often(folder: Path, kills: int) -> None:
    chance = random.Random(7)
    operation = Operation(target.open_project, target.change)  # type: ignore[arg-type]
    acknowledged: set[tuple[int, int]] = set()
    for turn in range(kills):
        some, errors = killed_at_work(folder, turn * 100_000, chance, operation)
        assert [] == errors
        acknowledged |= some
        hx, found = shared(folder)
        with hx:
            assert [] == hx.user.check()
            assert {f"own_{worker}_{n}" for worker, n in acknowledged} <= found.keys()
            evidence = sum(preference.evidence_count for preference in hx.user.preferences("shared"))
            counted = {
                str(row["idempotency_key"]).removeprefix(_PREFIX)
                for section, row in hx.user.held()
                if section == "feedback"
            }
            assert {f"{worker}-{n}" for worker, n in acknowledged} <= counted
            assert len(counted) == evidence
    assert len(acknowledged) >= 3 * kills
    assert 0o600 == stat.S_IMODE((folder / "user" / "user.db").stat().st_mode)


@pytest.mark.row("A035")
def test_what_was_acknowledged_in_the_user_layer_survives_kills_of_several_processes(tmp_path):
    killed_often(tmp_path, SHORT_KILLS)


@pytest.mark.long
def test_what_was_acknowledged_in_the_user_layer_survives_many_kills(tmp_path):
    killed_often(tmp_path, LONG_KILLS)
