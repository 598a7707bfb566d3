"""Recording experience: how fast it is taken in, one by one and in batches, how small it is, how soon it is back.

The peer is document 2's literal DuckDB schema (a text key, three indexes, JSON activations) in a file, in the same run.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import hexad
from benchmarks.child import in_child
from benchmarks.report import Options, Report, Table
from benchmarks.stream_data import START, columns, fill_peer, peer, rows, size
from hexad.audit import AuditLogWriter, HushController

SINGLE_RATE, BATCH_RATE, ROW_BYTES = 100_000, 500_000, 45.0
POLICIES = ("always", "group", "os")
FEW = 4
"""Activations of a token in the batches that the budget is about; the stream's own shape has ten."""
_BEST_OF = 3


def run(options: Options) -> Report:
    """Measure everything; a quick run takes a tenth of the records."""
    scale = 1 if options.quick else 10
    report = Report(name="Experience stream: recording")
    report.tables.append(_singles(report, options, scale))
    report.tables.append(_steered(options, count=5_000 * scale))
    report.tables.append(_batches(report, options, count=20_000 * scale))
    report.tables.append(_sealed(report, options, count=100_000 * scale))
    report.tables.append(_recovery(options, count=100_000 * scale))
    report.notes.append(
        "CPU time counts every thread of the process; figures are the best of three where they are short. Sessions do not "
        "compact here. A row is a token with ten activations; *a few* are four."
    )
    return report


def _singles(report: Report, options: Options, scale: int) -> Table:
    found: list[tuple[str | int | float, ...]] = []
    for policy in POLICIES:
        for processes in (1, 4):
            count = (300 if policy == "always" else 30_000) * scale // processes
            runs = [_together(options, policy, processes, count) for _ in range(_BEST_OF)]
            cpu, wall = min(run[0] for run in runs), max(run[1] for run in runs)
            found.append((policy, processes, 1 / cpu, wall, 1e6 * cpu))
            if policy == "group" and processes == 1:
                report.at_least("single record, group, one process: a second of CPU", 1 / cpu, SINGLE_RATE)
    done = in_child(_peer_singles, options.work / "peer-singles", 100 * scale)
    found.append(("document 2's schema, INSERT", 1, 1 / done[1], 1 / done[0], 1e6 * done[1]))
    return Table(
        title="Single records",
        columns=("policy", "processes", "records per CPU-second", "records a second", "µs of CPU"),
        rows=found,
    )


def _together(options: Options, policy: str, processes: int, count: int) -> tuple[float, float]:
    """Return the CPU-seconds of a record, and how many a second all processes recorded together."""
    folder = options.work / f"stream-{policy}-{processes}"
    with ThreadPoolExecutor(processes) as pool:
        done = list(pool.map(lambda at: in_child(_record, folder, policy, at, count), range(processes)))
    shutil.rmtree(folder)
    return sum(row[1] for row in done) / (count * processes), count * processes / max(row[0] for row in done)


def _record(folder: Path, policy: str, process: int, count: int) -> tuple[float, float]:
    os.environ["HEXAD_STREAM_DURABILITY"] = policy
    folder.mkdir(parents=True, exist_ok=True)
    timesteps = list(rows(count, seed=process))
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session(f"session {process}", compaction=False)
        hx.xdb.record("system", "warm up")
        hx.xdb.flush()
        began, cpu = time.perf_counter(), time.process_time()
        for timestep in timesteps:
            hx.xdb.record(**timestep)
        hx.xdb.flush()
        return time.perf_counter() - began, time.process_time() - cpu


def _steered(options: Options, *, count: int) -> Table:
    """Tokens through `on_output_token`, as a generation loop hands them over, without and with steering on the ledger."""
    ways = ("recorded", "recorded and steered")
    runs = [
        {way: in_child(_generate, options.work / f"tokens-{at}-{way}", count, way == ways[1]) for way in ways}
        for at in range(_BEST_OF)
    ]
    best = {way: max(run[way] for run in runs) for way in ways}
    return Table(
        title="Tokens of a generation loop, three activations each",
        columns=("", "tokens per CPU-second", "of those recorded alone"),
        rows=[(way, best[way], best[way] / best[ways[0]]) for way in ways],
    )


def _generate(folder: Path, count: int, steered: bool) -> float:
    folder.mkdir(parents=True)
    names = ("mood::calm", "intent::plan", "uncertain")
    states = [dict(zip(names, (0.2, 0.7, (at % 101) / 100), strict=True)) for at in range(count)]
    with hexad.open(folder, embedder=None, background=False) as hx, ExitStack() as stack:
        hx.xdb.start_session("s", compaction=False)
        controller = None
        if steered:
            writer = stack.enter_context(AuditLogWriter(hx.path / "audit", "model"))
            controller = HushController(
                stack.enter_context(writer.recorder()),
                evaluate=lambda state: state,
                steer=lambda seen: [{"directive": "no sampling"}] if seen["uncertain"] > 0.99 else [],
            )
        hx.xdb.on_input("warm up", "user")
        hx.xdb.flush()
        cpu = time.process_time()
        for at, state in enumerate(states):
            hx.xdb.on_output_token(" token", at % 997, state)
            if controller is not None:
                controller.evaluate_and_steer(state, "s", at + 2, " token")
        hx.xdb.flush()
        stack.close()  # what the ledger has not written yet
        return count / (time.process_time() - cpu)


def _batches(report: Report, options: Options, *, count: int) -> Table:
    found = []
    for name, activations in (("ten activations", 10), ("a few activations", FEW)):
        for way in ("rows", "columns", "Arrow"):
            rate = in_child(_many, options.work / f"many-{way}-{activations}", way, count, activations)
            found.append((f"{way}, {name}", rate))
            if activations == FEW:
                report.at_least(f"record_many, {way}: rows per CPU-second", rate, BATCH_RATE)
    done = in_child(_peer_batches, options.work / "peer-batches", min(count, 200_000))
    found.append(("document 2's schema, batches of 50,000, ten activations", done))
    return Table(title=f"{count:,} timesteps at once", columns=("", "rows per CPU-second"), rows=found)


def _many(folder: Path, way: str, count: int, activations: int) -> float:
    given = columns(0, count)
    given["concepts"], given["scores"] = (
        given["concepts"][:, -activations:],
        given["scores"][:, -activations:],
    )
    ways: dict[str, Callable[[], Any]] = {
        "rows": lambda: list(_as_rows(given)),
        "columns": lambda: given,
        "Arrow": lambda: _Relation(given),
    }
    made = ways[way]()
    best = 0.0
    for at in range(_BEST_OF):
        store = folder / str(at)
        store.mkdir(parents=True)
        with hexad.open(store, embedder=None, background=False) as hx:
            hx.xdb.start_session("s", compaction=False)
            hx.xdb.record("output", "warm up")
            cpu = time.process_time()
            hx.xdb.record_many(made)
            best = max(best, count / (time.process_time() - cpu))
        shutil.rmtree(store)
    return best


def _as_rows(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    lists = [given[name] for name in ("event_type", "content", "event_id")]
    numbers = [given[name].tolist() for name in ("token_id", "concepts", "scores")]
    # Without a time of their own, as tokens come that are being generated.
    for kind, content, event, token, names, scores in zip(*lists, *numbers, strict=True):
        yield {
            "event_type": kind, "content": content, "event_id": event, "token_id": token,
            "concept_activations": dict(zip(names, scores, strict=True)),
        }  # fmt: skip


class _Relation:
    """The columns as a table of another DuckDB, which speaks Arrow; its part of the work is counted too."""

    def __init__(self, given: dict[str, Any]) -> None:
        import duckdb

        self._con = duckdb.connect(config={"threads": "2"})
        places = range(given["scores"].shape[1])
        flat = {name: np_object(given[name]) for name in ("event_type", "content", "event_id")}
        flat |= {"token_id": given["token_id"], "timestamp": given["timestamp"]}
        flat |= {f"c{at}": given["concepts"][:, at].copy() for at in places}
        flat |= {f"s{at}": given["scores"][:, at].copy() for at in places}
        self._con.register("flat", flat)
        names, scores = (", ".join(f"{letter}{at}" for at in places) for letter in "cs")
        self._con.execute(
            "CREATE TABLE given AS SELECT event_type, content, event_id, token_id, timestamp,"
            f" list_value({names}) AS concepts, list_value({scores}) AS scores FROM flat"
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._con.table("given").__arrow_c_stream__(requested_schema)


def np_object(texts: list[str]) -> Any:
    """Return texts as DuckDB takes a column of them."""
    import numpy as np

    return np.array(texts, dtype=object)


def _sealed(report: Report, options: Options, *, count: int) -> Table:
    ours = in_child(_seal, options.work / "stream-sealed", count)
    done = in_child(_peer_bytes, options.work / "peer-bytes", min(count, 200_000))
    report.figure("sealing: rows per CPU-second", ours["sealing"])
    report.at_most("sealed: bytes a row", ours["segments"], ROW_BYTES)
    report.figure("times smaller than document 2's schema", done / ours["segments"], "×")
    return Table(
        title=f"Bytes a row of {count:,} timesteps",
        columns=("", "bytes a row"),
        rows=[
            ("in the log", ours["log"]),
            ("segments", ours["segments"]),
            ("with the lists and texts beside them", ours["beside"]),
            ("document 2's schema", done),
        ],
    )


def _seal(folder: Path, count: int) -> dict[str, float]:
    folder.mkdir(parents=True)
    stream = folder / ".hexad/stream"
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session("s", compaction=False)
        for at in range(0, count, 100_000):
            hx.xdb.record_many(columns(at, min(100_000, count - at)))
        found = {"log": size(stream / "log") / count}
        cpu = time.process_time()
        hx.xdb.seal()
        found["sealing"] = count / (time.process_time() - cpu)
        segments = hx.xdb.usage().segments_bytes
    found["beside"] = segments / count
    # Lists of concepts and events' texts stand beside the segments and can be made again.
    found["segments"] = sum(path.stat().st_size for path in stream.rglob("*.parquet")) / count
    return found


def _recovery(options: Options, *, count: int) -> Table:
    folder = options.work / "stream-killed"
    folder.mkdir(parents=True)
    process = os.fork()
    if process == 0:
        hx = hexad.open(folder, embedder=None, background=False)
        hx.xdb.start_session("s", compaction=False)
        for at in range(0, count, 100_000):
            hx.xdb.record_many(columns(at, min(100_000, count - at)))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)
    found = in_child(_first_answer, folder, count)
    return Table(
        title=f"After a kill with {count:,} unsealed timesteps",
        columns=("", "seconds", "CPU-seconds"),
        rows=[(name, *some) for name, some in found.items()],
    )


def _first_answer(folder: Path, count: int) -> dict[str, tuple[float, float]]:
    found = {}
    began, cpu = time.perf_counter(), time.process_time()
    with hexad.open(folder, embedder=None, background=False) as hx:
        found["open"] = (time.perf_counter() - began, time.process_time() - cpu)
        hx.xdb.start_session("s", compaction=False)
        hx.xdb.record("output", "next")
        found["open and first record"] = (time.perf_counter() - began, time.process_time() - cpu)
        assert hx.xdb.get_timestep(f"ts-s-{count}") is not None
        found["open, first record and first answer"] = (
            time.perf_counter() - began,
            time.process_time() - cpu,
        )
        assert count + 1 == hx.xdb.seal().rows
        found["all of it sealed"] = (time.perf_counter() - began, time.process_time() - cpu)
    return found


def _peer_singles(folder: Path, count: int) -> tuple[float, float]:
    con = peer(folder)
    given = [_peer_row(at, row) for at, row in enumerate(rows(count, seed=1), 1)]
    began, cpu = time.perf_counter(), time.process_time()
    for row in given:
        con.execute(f"INSERT INTO timesteps VALUES ({', '.join('?' * 14)})", row)
    done = (time.perf_counter() - began) / count, (time.process_time() - cpu) / count
    con.close()
    return done


def _peer_row(at: int, entry: dict[str, Any]) -> tuple[Any, ...]:
    ts = START.replace(tzinfo=None) + timedelta(milliseconds=7 * at)
    return (
        f"ts-s-{at}", "s", at, ts, entry["event_type"], entry["content"], entry["event_id"], False, False, entry["token_id"],
        None, "hot", 0, json.dumps(entry["concept_activations"]),
    )  # fmt: skip


def _peer_batches(folder: Path, count: int) -> float:
    con = peer(folder)
    rate = count / fill_peer(con, 0, count)
    con.close()
    return rate


def _peer_bytes(folder: Path, count: int) -> float:
    con = peer(folder)
    fill_peer(con, 0, count)
    con.close()
    return size(folder) / count
