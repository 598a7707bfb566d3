"""What the benchmarks of the experience stream record, and document 2's literal schema, which they are held against."""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import percentile
from hexad import HexadError

EVENT_ROWS = 50
STEP_MS = 7
START = datetime(2026, 1, 1, tzinfo=UTC)
SHARED, FREE = 7, 3
CONCEPTS = np.array([f"pack::Concept{at}" for at in range(2_000)], dtype=object)
WORDS = np.array([f" word{at}" for at in range(5_000)], dtype=object)
_CHANCES = np.array([1 / (rank + 1) for rank in range(len(WORDS))])
_ASKED_S, _ASKED_TIMES = 10.0, 7
# Document 2, section 11.1.
SCHEMA = """
CREATE TABLE timesteps (
  id VARCHAR PRIMARY KEY, session_id VARCHAR NOT NULL, tick INTEGER NOT NULL, ts TIMESTAMP NOT NULL,
  event_type VARCHAR NOT NULL, content VARCHAR, event_id VARCHAR, event_start BOOLEAN, event_end BOOLEAN,
  token_id INTEGER, role VARCHAR, fidelity VARCHAR DEFAULT 'hot', compression_level INTEGER DEFAULT 0,
  concept_activations JSON
);
CREATE INDEX idx_timesteps_session_tick ON timesteps(session_id, tick);
CREATE INDEX idx_timesteps_fidelity ON timesteps(fidelity);
CREATE INDEX idx_timesteps_ts ON timesteps(ts);
CREATE TABLE tags (
  id VARCHAR PRIMARY KEY, name VARCHAR NOT NULL, tag_type VARCHAR NOT NULL, concept_id VARCHAR, entity_type VARCHAR,
  bud_status VARCHAR, created_at TIMESTAMP, created_by VARCHAR, description VARCHAR
);
CREATE TABLE tag_applications (
  id VARCHAR PRIMARY KEY, tag_id VARCHAR NOT NULL REFERENCES tags(id), session_id VARCHAR NOT NULL,
  target_type VARCHAR NOT NULL, timestep_id VARCHAR, event_id VARCHAR, range_start INTEGER, range_end INTEGER,
  confidence FLOAT, source VARCHAR, created_at TIMESTAMP, note VARCHAR
);
CREATE INDEX idx_tag_apps_tag ON tag_applications(tag_id);
CREATE INDEX idx_tag_apps_session ON tag_applications(session_id);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a question costs: the median of its time, and of the CPU time of all threads."""

    wall_ms: float
    cpu_ms: float


def columns(
    first: int, count: int, *, event_rows: int = EVENT_ROWS, step_ms: float = STEP_MS
) -> dict[str, Any]:
    """Return `count` tokens from number `first` on, as `record_many` takes columns; the same for the same numbers.

    Words follow Zipf's law. Each token has ten concepts of 2,000, seven of which stay for an event of 50 tokens, with
    scores of four digits, and stands about 7 ms after the one before.
    """
    chance = np.random.default_rng(first)
    numbers = np.arange(first, first + count)
    events = numbers // event_rows
    words = chance.choice(len(WORDS), size=count, p=_CHANCES / _CHANCES.sum())
    # The seven come from 1,400 concepts, each of the three others from 200 of its own: none is twice in a row.
    places = np.arange(SHARED + FREE) * 200
    drawn = (events[:, None] * 2_654_435_761 + np.arange(SHARED) * 40_503_001) % 4_294_967_291
    shared = places[:SHARED] + drawn % 200
    free = places[SHARED:] + chance.integers(0, 200, (count, FREE))
    return {
        "event_type": ["output"] * count,
        "content": WORDS[words].tolist(),
        "event_id": [f"event {number}" for number in events.tolist()],
        "event_start": numbers % event_rows == 0,
        "event_end": numbers % event_rows == event_rows - 1,
        "token_id": words,
        "timestamp": times(first, count, step_ms)
        + chance.integers(0, 3_000, count).astype("timedelta64[us]"),
        "concepts": CONCEPTS[np.concatenate([shared, free], axis=1)],
        "scores": np.round(chance.random((count, SHARED + FREE)), 4),
    }


def times(first: int, count: int, step_ms: float = STEP_MS) -> np.ndarray[Any, Any]:
    """Return when tokens are recorded, in UTC."""
    begin = np.datetime64(START.replace(tzinfo=None), "us")
    return begin + (np.arange(first, first + count) * (1e3 * step_ms)).astype("timedelta64[us]")


def rows(count: int, *, seed: int) -> Iterator[dict[str, Any]]:
    """Yield tokens as the arguments of `record`, like those of `columns`."""
    chance = random.Random(seed)
    weights = _CHANCES.tolist()
    words = chance.choices(range(len(WORDS)), weights, k=count)
    concepts = CONCEPTS.tolist()
    shared: list[str] = []
    for at, word in enumerate(words):
        if at % EVENT_ROWS == 0:
            shared = chance.sample(concepts, SHARED)
        names = [*shared, *chance.choices(concepts, k=FREE)]
        yield {
            "event_type": "output",
            "content": f" word{word}",
            "concept_activations": {name: round(chance.random(), 4) for name in names},
            "event_id": f"event {seed}.{at // EVENT_ROWS}",
            "token_id": word,
        }


def asked(question: Callable[[], object]) -> Cost:
    """Ask seven times, twice where that takes long, after once to warm up; a question that is refused costs `nan`."""
    began = time.perf_counter()
    try:
        question()
    except HexadError as error:
        print(f"refused: {error}", file=sys.stderr, flush=True)
        return Cost(wall_ms=math.nan, cpu_ms=math.nan)
    warm = time.perf_counter() - began
    walls, cpus = [], []
    for _ in range(_ASKED_TIMES if warm < _ASKED_S / _ASKED_TIMES else 2):
        wall, cpu = time.perf_counter(), time.process_time()
        question()
        walls.append(1e3 * (time.perf_counter() - wall))
        cpus.append(1e3 * (time.process_time() - cpu))
    return Cost(wall_ms=percentile(walls, 0.5), cpu_ms=percentile(cpus, 0.5))


def peer(folder: Path) -> Any:
    """Return document 2's database in a file of `folder`, made where it is not there."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "peer.duckdb"
    made = path.exists()
    con = duckdb.connect(str(path), config={"threads": "2"})
    if not made:
        con.execute(SCHEMA)
    return con


def fill_peer(con: Any, first: int, count: int, *, batch: int = 50_000) -> float:
    """Insert tokens in batches, as DuckDB takes them fastest from Python; return the CPU-seconds of the inserting."""
    spent = 0.0
    for at in range(first, first + count, batch):
        some = min(batch, first + count - at)
        given = columns(at, some)
        texts = [
            json.dumps(dict(zip(names, scores, strict=True)))
            for names, scores in zip(given["concepts"].tolist(), given["scores"].tolist(), strict=True)
        ]
        table = {
            "tick": np.arange(at + 1, at + some + 1), "ts": given["timestamp"], "token": given["token_id"],
            "content": np.array(given["content"], object), "event": np.array(given["event_id"], object),
            "json": np.array(texts, object), "starts": given["event_start"], "ends": given["event_end"],
        }  # fmt: skip
        cpu = time.process_time()
        con.register("batch", table)
        con.execute(
            "INSERT INTO timesteps SELECT 'ts-s-' || tick, 's', tick, ts, 'output', content, event, starts, ends, token,"
            " NULL, 'hot', 0, json FROM batch"
        )
        con.unregister("batch")
        spent += time.process_time() - cpu
    con.execute("CHECKPOINT")
    return spent


def size(folder: Path) -> int:
    """Return how many bytes the files of a folder have."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
