"""A long life of one process: memory, handles, threads and the CPU of an operation stay as they are."""

from __future__ import annotations

import importlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
LONG_MINUTES = 20


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    return importlib.import_module("benchmarks.soak")


def lived(soak: ModuleType, rounds: int = 400, **growth: float) -> dict[str, bool | None]:
    """Return which figures are met of rounds of three seconds, of which a field grows by so much each round."""
    steady = soak.Sample(0.0, 400.0, 50, 8, 1_500.0, 8.0, 150, 400, 3.5)
    whole = soak.Soak()
    for number in range(rounds):
        grown = {name: getattr(steady, name) + step * number for name, step in growth.items()}
        noise = 30.0 * (number % 7 - 3)
        sample = replace(steady, **{"seconds": 3.0 * number, "cpu_ms": steady.cpu_ms + noise, **grown})
        whole.samples.append(sample)
        whole.kinds.append({"recall": sample.cpu_ms})
    return {figure.name: figure.met for figure in whole.report().figures}


def test_a_life_in_which_nothing_grows_meets_every_budget(soak: ModuleType) -> None:
    assert {True, None} == set(lived(soak).values())


@pytest.mark.parametrize(
    ("growth", "missed"),
    [
        ({"rss_mb": 0.1}, "RSS, growth"),
        ({"handles": 0.02}, "handles, more than before"),
        ({"threads": 0.01}, "threads, more than before"),
        ({"cpu_ms": 0.5}, "CPU of an operation, growth that is more than chance"),
    ],
)
def test_what_grows_misses_its_budget(soak: ModuleType, growth: dict[str, float], missed: str) -> None:
    assert [missed] == [name for name, met in lived(soak, **growth).items() if met is False]


def test_the_warm_up_lasts_until_the_caches_are_full_and_half_of_the_time_at_most(soak: ModuleType) -> None:
    def rounds_of(full_at: int) -> int:
        whole = soak.Soak()
        for number in range(400):
            whole.samples.append(
                soak.Sample(
                    3.0 * number, 400.0, 50, 8, 1_500.0, 8.0, 150, 400, 3.5, min(number, full_at) / 10
                )
            )
        return int(whole.warm_up())

    assert [100, 149, 200] == [rounds_of(full_at) for full_at in (20, 150, 390)]


def test_handles_that_come_and_go_are_not_taken_for_lost_ones(soak: ModuleType) -> None:
    whole = soak.Soak()
    for number in range(400):
        handles = 50 + (number % 3 if number > 300 else 0)
        whole.samples.append(soak.Sample(3.0 * number, 400.0, handles, 8, 1_500.0, 8.0, 150, 400, 3.5))
        whole.kinds.append({"recall": 1_500.0})

    assert False not in {figure.met for figure in whole.report().figures}


def test_a_slope_knows_how_certain_it_is(soak: ModuleType) -> None:
    certain, chance = (
        soak.Slope.of([0, 1, 2, 3], [10, 11, 12, 13]),
        soak.Slope.of([0, 1, 2, 3], [9, 13, 8, 12]),
    )

    assert (pytest.approx(3 / 11.5), 0.0, False) == (certain.growth, certain.error, certain.is_flat)
    assert 0.05 < chance.growth < chance.error
    assert chance.is_flat


def test_rounds_leave_as_much_as_they_bring_and_are_reported(
    soak: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(soak, "KEPT_ROUNDS", 2)
    monkeypatch.setattr(soak, "STANDING", 30)
    life, seen = soak.Life(tmp_path / "life", embedder=None), soak.Soak()
    try:
        seen.run(life, minutes=0)
        wrong = life.hx.check()
    finally:
        life.close()
    report: Any = seen.report()
    seen.write(tmp_path / "out", report)

    assert [] == wrong
    assert 6 == len(seen.samples)
    assert (
        abs(seen.samples[-1].memories - seen.samples[-2].memories) <= 1
    )  # a sentence may come a second time
    assert {"ingest", "recall", "forget", "stream seal", "audit", "maintain"} <= set(seen.kinds[-1])
    assert 7 == len((tmp_path / "out" / "soak.csv").read_text().splitlines())
    assert "RSS, growth" in (tmp_path / "out" / "soak.md").read_text()


@pytest.mark.long
def test_twenty_minutes_grow_nothing(tmp_path: Path, record_property: Any) -> None:
    command = [
        sys.executable,
        "-m",
        "benchmarks.soak",
        "--minutes",
        str(LONG_MINUTES),
        "--out",
        str(tmp_path),
    ]

    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert 0 == ended.returncode, ended.stdout + ended.stderr
    record_property("rounds", len((tmp_path / "soak.csv").read_text().splitlines()) - 1)
