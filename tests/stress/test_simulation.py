"""Whole stores over a simulated clock, disk and scheduler, against a model: what was acknowledged is there, always."""

from __future__ import annotations

import pytest
from stress_processes import Recorder

from simulation.run import run

FIRST, SHORT_LIVES, LONG_LIVES = 1, 60, 2_000


def lives(seeds: range, record_property: Recorder, *, processes: int) -> None:
    violations, counts, digests = run(seeds, processes=processes)

    assert {} == violations, f"again with: python tests/simulation --seed {min(violations)}"
    assert set(seeds) == set(digests)
    assert counts["acknowledged writes"] > len(seeds)
    for what, name in (
        ("lives", "simulated lives"),
        ("losses of power", "simulated losses of power"),
        ("calls to the disk", "simulated calls to the disk"),
        ("acknowledged writes", "acknowledged writes"),
    ):
        record_property(name, len(seeds) if what == "lives" else counts[what])


@pytest.mark.timeout(1_800)
def test_no_life_breaks_a_promise(record_property: Recorder) -> None:
    lives(range(FIRST, FIRST + SHORT_LIVES), record_property, processes=1)


def test_a_seed_gives_the_same_life_again() -> None:
    (_, _, first), (_, _, again) = (run(range(1, 5), processes=processes) for processes in (1, 2))

    assert first == again


def test_lives_over_a_disk_that_lies_do_break_promises() -> None:
    violations, _, _ = run(range(1, 13), processes=2, is_lying=True)

    assert violations


@pytest.mark.long
@pytest.mark.timeout(36_000)
def test_no_life_of_thousands_breaks_a_promise(record_property: Recorder) -> None:
    lives(range(10_000, 10_000 + LONG_LIVES), record_property, processes=2)
