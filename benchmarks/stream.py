"""The experience stream: how fast it takes records, how small it keeps them, how soon it finds them.

The peer is document 2's literal DuckDB schema (a text key, three indexes, JSON activations) in a file, in the same run:
single INSERTs, batches of 10,000, bytes a row. Activations are drawn as a model's would be: ten of 2,000 concepts,
most of them shared within an event, scores of four digits.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import hexad
from benchmarks.child import in_child
from benchmarks.report import Options, Report, Table, percentile

SINGLE_RATE, BATCH_RATE, ROW_BYTES = 100_000, 500_000, 45.0
POLICIES = ("always", "group", "os")
EVENT_ROWS = 50
_SCHEMA = """
CREATE TABLE timesteps (
  id VARCHAR PRIMARY KEY, session_id VARCHAR NOT NULL, tick INTEGER NOT NULL, ts TIMESTAMP NOT NULL,
  event_type VARCHAR NOT NULL, content VARCHAR, event_id VARCHAR, event_start BOOLEAN, event_end BOOLEAN,
  token_id INTEGER, role VARCHAR, fidelity VARCHAR DEFAULT 'hot', compression_level INTEGER DEFAULT 0,
  concept_activations JSON
);
CREATE INDEX idx_timesteps_session_tick ON timesteps(session_id, tick);
CREATE INDEX idx_timesteps_fidelity ON timesteps(fidelity);
CREATE INDEX idx_timesteps_ts ON timesteps(ts);
"""


def run(options: Options) -> Report:
    """Measure everything; a quick run takes a tenth of the records."""
    scale = 1 if options.quick else 10
    report = Report(name="Experience stream")
    report.tables.append(_singles(report, options, scale))
    report.tables.append(_batches(report, options, rows=100_000 * scale))
    report.tables.append(_recovery(options, rows=100_000 * scale))
    report.notes.append(
        "CPU time counts every thread of the process. `record` and `record_many` take Python objects, one a timestep; "
        "there is no way in for columns yet."
    )
    return report


def _singles(report: Report, options: Options, scale: int) -> Table:
    rows: list[tuple[str | int | float, ...]] = []
    for policy in POLICIES:
        for processes in (1, 4):
            count = (300 if policy == "always" else 30_000) * scale // processes
            folder = options.work / f"stream-{policy}-{processes}"
            with ThreadPoolExecutor(processes) as pool:
                done = list(
                    pool.map(lambda at: in_child(_record, folder, policy, at, count), range(processes))  # noqa: B023
                )
            shutil.rmtree(folder)
            cpu = sum(one[1] for one in done) / (count * processes)
            wall = count * processes / max(one[0] for one in done)
            rows.append((policy, processes, 1 / cpu, wall, 1e6 * cpu))
            if policy == "group" and processes == 1:
                report.at_least("single record, group, one process: a second of CPU", 1 / cpu, SINGLE_RATE)
    peer = in_child(_peer_singles, options.work / "peer-singles", 100 * scale)
    rows.append(("document 2's schema, INSERT", 1, 1 / peer[1], 1 / peer[0], 1e6 * peer[1]))
    return Table(
        title="Single records",
        columns=("policy", "processes", "records per CPU-second", "records a second", "µs of CPU"),
        rows=rows,
    )


def _record(folder: Path, policy: str, process: int, count: int) -> tuple[float, float]:
    os.environ["HEXAD_STREAM_DURABILITY"] = policy
    folder.mkdir(parents=True, exist_ok=True)
    timesteps = list(_timesteps(count, seed=process))
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session(f"session {process}")
        hx.xdb.record("system", "warm up")
        hx.xdb.flush()
        began, cpu = time.perf_counter(), time.process_time()
        for one in timesteps:
            hx.xdb.record(**one)
        hx.xdb.flush()
        return time.perf_counter() - began, time.process_time() - cpu


def _batches(report: Report, options: Options, *, rows: int) -> Table:
    ours = in_child(_ours, options.work / "stream-batches", rows)
    peer = in_child(_peer_batches, options.work / "peer-batches", min(rows, 200_000))
    report.at_least("record_many: rows per CPU-second", ours["record_many"], BATCH_RATE)
    report.figure("sealing: rows per CPU-second", ours["sealing"])
    report.at_most("sealed: bytes a row", ours["bytes"], ROW_BYTES)
    report.figure("times smaller than document 2's schema", peer["bytes"] / ours["bytes"], "×")
    names = [name for name in ours if name != "rows"]
    return Table(
        title=f"{rows:,} timesteps; document 2's schema with {int(peer['rows']):,}",
        columns=("", "hexad", "document 2's schema"),
        rows=[(name, ours[name], peer.get(name)) for name in names],
    )


def _ours(folder: Path, count: int) -> dict[str, float]:
    folder.mkdir(parents=True)
    timesteps = list(_timesteps(count, seed=1))
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session("s")
        cpu = time.process_time()
        hx.xdb.record_many(timesteps)
        found = {"rows": float(count), "record_many": count / (time.process_time() - cpu)}
        cpu = time.process_time()
        hx.xdb.seal()
        found["sealing"] = count / (time.process_time() - cpu)
        found["bytes"] = _size(folder / ".hexad/stream/segments") / count
        half = count // 2
        questions: dict[str, Callable[[], object]] = {
            "point, ms": lambda: hx.xdb.get_timestep(f"ts-s-{half}"),
            "500 ticks, ms": lambda: hx.xdb.recall(tick_range=(half, half + 499), limit=500),
            "concept's top 100, ms": lambda: hx.xdb.recall_by_concept("pack::Concept7", min_activation=0.4),
            "text, ms": lambda: hx.xdb.recall(text_search="word4999"),
        }
        for name, ask in questions.items():
            found[name] = _p50_ms(ask)
    return found


def _recovery(options: Options, *, rows: int) -> Table:
    folder = options.work / "stream-killed"
    process = os.fork()
    if process == 0:
        with hexad.open(_made(folder), embedder=None, background=False) as hx:
            hx.xdb.start_session("s")
            hx.xdb.record_many(_timesteps(rows, seed=2))
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)
    seconds = in_child(_first_answer, folder, rows)
    return Table(
        title=f"After a kill with {rows:,} unsealed timesteps",
        columns=("", "seconds", "CPU-seconds"),
        rows=[(name, *some) for name, some in seconds.items()],
    )


def _first_answer(folder: Path, rows: int) -> dict[str, tuple[float, float]]:
    found = {}
    began, cpu = time.perf_counter(), time.process_time()
    with hexad.open(folder, embedder=None, background=False) as hx:
        found["open"] = (time.perf_counter() - began, time.process_time() - cpu)
        assert hx.xdb.get_timestep(f"ts-s-{rows}") is not None
        found["open and first answer"] = (time.perf_counter() - began, time.process_time() - cpu)
        assert rows == hx.xdb.seal().rows
        found["all of it sealed"] = (time.perf_counter() - began, time.process_time() - cpu)
    return found


def _peer_singles(folder: Path, count: int) -> tuple[float, float]:
    con = _peer(folder)
    rows = list(_peer_rows(count))
    began, cpu = time.perf_counter(), time.process_time()
    for row in rows:
        con.execute(f"INSERT INTO timesteps VALUES ({', '.join('?' * 14)})", row)
    return (time.perf_counter() - began) / count, (time.process_time() - cpu) / count


def _peer_batches(folder: Path, count: int) -> dict[str, float]:
    import numpy as np

    con = _peer(folder)
    rows = list(_peer_rows(count))
    cpu = time.process_time()
    for at in range(0, count, 10_000):
        columns = list(zip(*rows[at : at + 10_000], strict=True))
        table = {f"c{n}": np.array(column, dtype=object) for n, column in enumerate(columns) if n != 10}
        con.register("batch", table)
        names = ", ".join("NULL" if n == 10 else f"c{n}" for n in range(14))
        con.execute(f"INSERT INTO timesteps SELECT {names} FROM batch")
        con.unregister("batch")
    found = {"rows": float(count), "record_many": count / (time.process_time() - cpu)}
    con.execute("CHECKPOINT")
    found["bytes"] = _size(folder) / count
    half, concept = count // 2, '$."pack::Concept7"'
    questions = {
        "point, ms": f"SELECT * FROM timesteps WHERE id = 'ts-s-{half}'",
        "500 ticks, ms": f"SELECT * FROM timesteps WHERE session_id = 's' AND tick BETWEEN {half} AND {half + 499}",
        "concept's top 100, ms": f"SELECT * FROM timesteps WHERE CAST(concept_activations->>'{concept}' AS FLOAT) >= 0.4"
        f" ORDER BY CAST(concept_activations->>'{concept}' AS FLOAT) DESC LIMIT 100",
        "text, ms": "SELECT * FROM timesteps WHERE content ILIKE '%word4999%' LIMIT 100",
    }
    for name, sql in questions.items():
        found[name] = _p50_ms(lambda sql=sql: con.execute(sql).fetchall())  # type: ignore[misc]
    con.close()
    return found


def _peer(folder: Path) -> Any:
    import duckdb

    con = duckdb.connect(str(_made(folder) / "peer.duckdb"), config={"threads": "2"})
    con.execute(_SCHEMA)
    return con


def _peer_rows(count: int) -> Iterator[tuple[Any, ...]]:
    start = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    for at, one in enumerate(_timesteps(count, seed=1), 1):
        yield (
            f"ts-s-{at}", "s", at, start + timedelta(milliseconds=7 * at), one["event_type"], one["content"],
            one["event_id"], False, False, one["token_id"], None, "hot", 0, json.dumps(one["concept_activations"]),
        )  # fmt: skip


def _timesteps(count: int, *, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the arguments of `record`: words by Zipf's law, ten concepts, seven of which stay for an event."""
    chance = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(5_000)]
    words = chance.choices(range(5_000), weights, k=count)
    concepts = [f"pack::Concept{at}" for at in range(2_000)]
    shared: list[str] = []
    for at, word in enumerate(words):
        if at % EVENT_ROWS == 0:
            shared = chance.sample(concepts, 7)
        names = [*shared, *chance.choices(concepts, k=3)]
        yield {
            "event_type": "output",
            "content": f" word{word}",
            "concept_activations": {name: round(chance.random(), 4) for name in names},
            "event_id": f"event {seed}.{at // EVENT_ROWS}",
            "token_id": word,
        }


def _p50_ms(ask: Callable[[], object]) -> float:
    times = []
    for _ in range(7):
        began = time.perf_counter()
        ask()
        times.append(1e3 * (time.perf_counter() - began))
    return percentile(times, 0.5)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
