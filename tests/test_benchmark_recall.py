"""The benchmark of `recall` at sizes that are asked for, and over a store that is there."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture
def latency(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    return importlib.import_module("benchmarks.latency")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Development data as the benchmark reads it, of a dozen sentences."""
    folder = tmp_path / "data"
    for name, records in {
        "conversations/items": [
            {"text": f"The {bird} of the {tree} was painted on a rainy morning."}
            for bird in ("heron", "wren", "kestrel", "owl")
            for tree in ("willow", "oak", "alder")
        ],
        "conversations/questions": [{"question": "Who painted the heron?", "evidence": ["a"]}],
        "code_questions/corpus": [{"text": "def heron(): ..."}],
    }.items():
        path = folder / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return folder


def test_a_store_that_is_there_grows_in_steps_to_the_sizes_that_are_asked(
    latency: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latency, "STEP", 16)
    folder = tmp_path / "kept" / "recall"
    folder.mkdir(parents=True)
    assert 0 == latency.held(folder)

    assert (40, 40) == ((grown := latency.grow(folder, data, 0, 40)).memories, grown.added)
    assert 40 == latency.held(folder)
    assert 5 == latency.grow(folder, data, 40, 45).added
    assert 0 == latency.grow(folder, data, 45, 45).added
    assert (45, ["recall"]) == (latency.held(folder), [path.name for path in folder.parent.iterdir()])

    assert (
        0
        < latency.remember(folder, [f"The owl of tree {number} was painted." for number in range(8)])[
            "p50_ms"
        ]
    )
    assert 45 == latency.held(folder)
    answered = latency.ask(folder, ["Who painted the heron?"])
    assert 0 < answered["hits"]


def test_sizes_are_those_that_are_named_in_order(latency: Any, tmp_path: Path) -> None:
    options = importlib.import_module("benchmarks.report").Options

    assert [1_000, 10_000, 100_000] == list(latency.sizes_of(options(data=None, work=tmp_path)))
    named = options(data=None, work=tmp_path, quick=True, memories=(1_000_000, 50, 50))
    assert [50, 1_000_000] == latency.sizes_of(named)


@pytest.mark.parametrize("size", ["0", "many", "-5", "1e6", "10000001"])
def test_a_size_that_is_none_is_refused_by_its_value(size: str) -> None:
    command = [sys.executable, "-m", "benchmarks", "recall", f"--memories={size}"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert 2 == done.returncode
    assert f"{size!r} is not a whole number from 1 to 10,000,000; give for example 1000000" in done.stderr
