"""A program that decides is killed: what it was told is there, with its memory, and the line has one end."""

from __future__ import annotations

from pathlib import Path

import pytest

import hexad
from programs import Program

TARGET = Path(__file__).parent / "decision_target.py"


@pytest.mark.row("A052")
@pytest.mark.parametrize("after", [3, 17])
def test_an_acknowledged_decision_survives_a_kill_with_its_memory(tmp_path: Path, after: int) -> None:
    told: list[str] = []
    with Program(TARGET, tmp_path) as process:
        assert process.stdout is not None
        for line in process.stdout:
            told.append(line.split()[1])
            if len(told) == after:
                process.kill()
                break

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        found = {decision.id: decision for decision in hx.governance.query(limit=1_000)}
        standing = hx.governance.query(in_force=True, limit=1_000)
        active = hx.memories(space="project", limit=None)
        assert set(told) <= set(found)
        assert [1, 1] == [len(standing), len(active)], "of a line one stands, and one is recalled"
        assert standing[0].memory_id == active[0].id
        assert [f"Reason {number}" for number in range(len(told))] == [found[name].rationale for name in told]
        assert [] == hx.check()
