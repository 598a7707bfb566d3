"""The commit path: many processes, the same one-row transaction, three ways to commit it.

`hexad` is `Database.transaction()` with shared syncs; `full` is plain SQLite with `synchronous=FULL`, the peer that
promises the same; `normal` is plain SQLite with `synchronous=NORMAL`, which promises nothing on lost power and is
the floor. How long the disk takes to sync decides what sharing gains, so it is measured beside each run; the modes
take turns, because a shared machine is not equally fast at all times.
Run: `python -m benchmarks.commit [--seconds 3] [--rounds 3] [--processes 1 8 32] [--out FILE]`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import apsw

from hexad.core.clock import SystemClock
from hexad.database.connection import Database

MODES = ("hexad", "full", "normal")
BODY = "x" * 200
SCHEMA = "CREATE TABLE t(id INTEGER PRIMARY KEY, worker INTEGER, n INTEGER, body TEXT)"
INSERT = "INSERT INTO t(worker, n, body) VALUES(?, ?, ?)"
BUSY_TIMEOUT_MS = 120_000


def _hexad(path: Path, worker: int, deadline: float, waits: list[float]) -> None:
    database = Database.open(path, clock=SystemClock(), lock_timeout_s=120.0)
    while (start := time.perf_counter()) < deadline:
        with database.transaction() as con:
            con.execute(INSERT, (worker, len(waits), BODY))
        waits.append(time.perf_counter() - start)
    database.close()


def _plain(path: Path, worker: int, deadline: float, waits: list[float], synchronous: str) -> None:
    con = apsw.Connection(str(path))
    con.set_busy_timeout(BUSY_TIMEOUT_MS)
    con.execute(f"PRAGMA synchronous = {synchronous}").fetchall()
    while (start := time.perf_counter()) < deadline:
        con.execute("BEGIN IMMEDIATE")
        con.execute(INSERT, (worker, len(waits), BODY))
        con.execute("COMMIT")
        waits.append(time.perf_counter() - start)
    con.close()


def _work(mode: str, path: Path, worker: int, seconds: float, barrier: Barrier, results: Any) -> None:
    waits: list[float] = []
    barrier.wait()
    deadline = time.perf_counter() + seconds
    if mode == "hexad":
        _hexad(path, worker, deadline, waits)
    else:
        _plain(path, worker, deadline, waits, mode)
    results.put(waits)


def _sync_ms(directory: Path, count: int = 50) -> float:
    """Return the median time of one `fdatasync` after writing a page, in milliseconds."""
    path, times = directory / "sync-probe", []
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    for _ in range(count):
        os.pwrite(fd, bytes(4096), 0)
        start = time.perf_counter()
        os.fdatasync(fd)
        times.append(time.perf_counter() - start)
    os.close(fd)
    path.unlink()
    return round(1000 * sorted(times)[count // 2], 3)


def _percentile_ms(ordered: list[float], share: float) -> float:
    return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)


def measure(mode: str, processes: int, seconds: float, directory: Path) -> dict[str, Any]:
    """Run one combination and return its rate and waits; raises when an acknowledged row is missing."""
    path = directory / f"{mode}-{processes}.db"
    context = multiprocessing.get_context("spawn")
    database = Database.open(path, clock=SystemClock())
    with database.transaction() as con:
        con.execute(SCHEMA)
    database.close()
    sync_ms = _sync_ms(directory)
    barrier, results = context.Barrier(processes), context.Queue()
    workers = [
        context.Process(target=_work, args=(mode, path, number, seconds, barrier, results))
        for number in range(processes)
    ]
    for worker in workers:
        worker.start()
    waits = sorted(wait for _ in workers for wait in results.get())
    for worker in workers:
        worker.join()
    database = Database.open(path, clock=SystemClock())
    (rows,) = database.query_one("SELECT count(*) FROM t") or (0,)
    database.close()
    path.unlink()
    if rows != len(waits):
        raise SystemExit(f"{mode}, {processes} processes: {len(waits)} acknowledged, {rows} stored")
    return {
        "mode": mode,
        "processes": processes,
        "commits": len(waits),
        "per_second": round(len(waits) / seconds, 1),
        "p50_ms": _percentile_ms(waits, 0.5),
        "p99_ms": _percentile_ms(waits, 0.99),
        "worst_ms": round(1000 * waits[-1], 3),
        "sync_ms": sync_ms,
    }


def ratios(runs: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return, per number of processes, how `hexad` compares with `full` and the floor: medians over the rounds."""
    found: dict[str, dict[str, float]] = {}
    for processes in sorted({run["processes"] for run in runs}):
        by_mode = {
            mode: [run for run in runs if (run["mode"], run["processes"]) == (mode, processes)]
            for mode in MODES
        }
        rounds = list(zip(*(by_mode[mode] for mode in MODES), strict=True))
        found[str(processes)] = {
            "rate_over_full": round(
                statistics.median(h["per_second"] / f["per_second"] for h, f, _ in rounds), 2
            ),
            "worst_over_full": round(
                statistics.median(h["worst_ms"] / f["worst_ms"] for h, f, _ in rounds), 4
            ),
            "rate_over_normal": round(
                statistics.median(h["per_second"] / n["per_second"] for h, _, n in rounds), 4
            ),
        }
    return found


def main(arguments: list[str] | None = None) -> None:
    """Measure every combination, print JSON, and write it to `--out`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="hexad-commit-") as name:
        runs = [
            measure(mode, processes, options.seconds, Path(name))
            for processes in options.processes
            for _ in range(options.rounds)
            for mode in MODES
        ]
    report = {"runs": runs, "ratios": ratios(runs)}
    text = json.dumps(report, indent=2)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
