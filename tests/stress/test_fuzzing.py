"""Every reader of foreign bytes is given bytes that nobody meant: it refuses them in Hexad's words, soon, or reads them."""

from __future__ import annotations

import collections
import json
import resource
import shutil
import time
import traceback
from pathlib import Path
from random import Random

import pytest
from stress_processes import Recorder

from fuzzing.mutations import MOST_BYTES, mutated
from fuzzing.targets import TARGETS, Bench, opened
from hexad import HexadError
from http_servers import serving

CORPUS = Path(__file__).parents[1] / "data" / "fuzzing"
SHORT_INPUTS, LONG_INPUTS = 25, 5_000
STORE_EVERY = 500
MOST_S = 20.0
"""CPU seconds for 64 KiB at most: the slowest input that was seen takes a second."""
MOST_GROWTH_BYTES = 300 << 20


def seeds_of(target: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((CORPUS / target).iterdir())}


def input_of(target: str, number: int) -> tuple[str, bytes]:
    """Return input `number` of a target, and the name of the seed whose kind of file it is; always the same."""
    chance = Random(f"{target} {number}")
    seeds = seeds_of(target)
    name = chance.choice(sorted(seeds))
    return name, mutated([seeds[name], seeds[name], *seeds.values()], chance)


def problem_with(target: str, bench: Bench, name: str, data: bytes) -> str | None:
    began = time.process_time()
    try:
        TARGETS[target](bench, data, name)
    except HexadError:
        pass
    except Exception as error:
        return f"{type(error).__name__}: {error} at {traceback.format_tb(error.__traceback__)[-1]}"
    used_s = time.process_time() - began
    return None if used_s < MOST_S else f"it takes {used_s:.0f} s"


def problems(target: str, folder: Path, numbers: range) -> list[str]:
    found, bench = [], None
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for at, number in enumerate(numbers):
        if at % STORE_EVERY == 0:
            if bench is not None:
                bench.hx.close()
                shutil.rmtree(bench.folder.parent)
            bench = opened(folder / f"{target}-{number}")
        name, data = input_of(target, number)
        assert bench is not None
        if (problem := problem_with(target, bench, name, data)) is not None:
            found.append(f"input {number} of {target}, made of {name}: {problem}")
    if bench is not None:
        bench.hx.close()
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - rss) << 10
    if growth > MOST_GROWTH_BYTES:
        found.append(f"{target} takes {growth >> 20} MiB")
    return found


def test_every_target_has_seeds_and_reads_them(tmp_path: Path) -> None:
    assert set(TARGETS) == {path.name for path in CORPUS.iterdir()}
    bench = opened(tmp_path / "bench")
    refused = []
    for target in TARGETS:
        for name, data in seeds_of(target).items():
            assert len(data) <= MOST_BYTES
            try:
                TARGETS[target](bench, data, name)
            except HexadError as error:
                refused.append(f"{target}/{name}: {error}")
    bench.hx.close()

    assert [] == refused


@pytest.mark.parametrize("target", TARGETS)
def test_changed_input_is_read_or_refused(target: str, tmp_path: Path, record_property: Recorder) -> None:
    assert [] == problems(target, tmp_path, range(SHORT_INPUTS))
    record_property("changed inputs", SHORT_INPUTS)


BODIES = {
    "recall": {"query": "when does the gate open?", "limit": 3, "tags": ["a"], "min_relevance": 0.1},
    "memories": {"text": "The gate opens at noon.", "kind": "note", "tags": ["a"], "metadata": {"n": 1.5}},
    "xdb/record-many": {"rows": [{"event_type": "input", "content": "x"}], "session_id": "talk"},
    "governance/decide": {"title": "Open at noon", "rationale": "Tides", "alternatives": ["midnight"]},
}
"""Calls over HTTP; schemathesis asks for the others, with bodies that are JSON."""


def answers(folder: Path, numbers: range) -> dict[int, int]:
    """Send changed bodies to a server; return how often it answered with which status."""
    folder.mkdir()
    seeds = {path: json.dumps(body).encode() for path, body in BODIES.items()}
    statuses = collections.Counter[int]()
    with serving(folder, "--rate", "100000") as server:
        for number in numbers:
            chance = Random(f"body {number}")
            path = chance.choice(sorted(seeds))
            body = mutated([seeds[path], seeds[path], *seeds.values()], chance)
            headers = {"Content-Type": "application/json"}
            statuses[server.request("POST", f"/v1/{path}", content=body, headers=headers).status_code] += 1
        assert 200 == server.get("/healthz").status_code
    return dict(statuses)


def test_a_server_answers_changed_bodies_and_lives(tmp_path: Path, record_property: Recorder) -> None:
    pytest.importorskip("fastapi")
    statuses = answers(tmp_path / "project", range(SHORT_INPUTS * 2))

    assert {} == {status: count for status, count in statuses.items() if status >= 500}
    assert len(statuses) > 1
    record_property("changed bodies over HTTP", SHORT_INPUTS * 2)


@pytest.mark.long
@pytest.mark.timeout(36_000)
def test_a_server_answers_thousands_of_changed_bodies_and_lives(
    tmp_path: Path, record_property: Recorder
) -> None:
    pytest.importorskip("fastapi")
    statuses = answers(tmp_path / "project", range(LONG_INPUTS))

    assert {} == {status: count for status, count in statuses.items() if status >= 500}
    record_property("changed bodies over HTTP", LONG_INPUTS)


@pytest.mark.long
@pytest.mark.timeout(36_000)
@pytest.mark.parametrize("target", TARGETS)
def test_thousands_of_changed_inputs_are_read_or_refused(
    target: str, tmp_path: Path, record_property: Recorder
) -> None:
    assert [] == problems(target, tmp_path, range(SHORT_INPUTS, SHORT_INPUTS + LONG_INPUTS))
    record_property("changed inputs", LONG_INPUTS)
