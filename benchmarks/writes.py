"""`remember`: how long until a memory is durable, alone and with 32 processes, beside plain SQLite.

Alone, the peer is one plain FTS5 insert per commit with `synchronous=FULL` (the same promise) and `=NORMAL` (none on
lost power). With many processes, the peer executes the very same statements: they are recorded while one store
remembers, and replayed by plain connections under FULL, one `BEGIN IMMEDIATE` … `COMMIT` per memory. The peer
is thereby spared the work of making them. `durability = "full"` is the third: all of `remember`, each commit with its own sync.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import apsw

import hexad
from benchmarks.child import in_child
from benchmarks.corpora import Sentences
from benchmarks.report import Options, Report, Table, Timings, percentile

PROCESSES = 32
BUSY_TIMEOUT_MS = 120_000
RATE_OVER_FULL, WORST_OVER_FULL, P50_MS = 2.0, 0.1, 5.0
_SKIPPED = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA", "END")
_SETUP_SECONDS = 60.0

Statement = tuple[str, tuple[Any, ...]]


def run(options: Options) -> Report:
    """Measure `remember` alone and in company."""
    report = Report(name="Latency of remember")
    if options.data is None:
        report.skipped = "the development data is not there (give --data DIR)."
        return report
    sentences = Sentences.load(options.data)
    _alone(sentences, options, report)
    _together(sentences, options, report)
    return report


# Alone ----------------------------------------------------------------------------------------------------------


def _alone(sentences: Sentences, options: Options, report: Report) -> None:
    count = 100 if options.quick else 500
    texts = list(sentences.texts(start=0, stop=count))
    runs: list[tuple[str, dict[str, float]]] = [
        (
            "**remember**, as opened by default",
            in_child(remember, options.work / "default", texts, plain=False),
        ),
        (
            "remember, no embedder, no background",
            in_child(remember, options.work / "bare", texts, plain=True),
        ),
        ("plain FTS5, synchronous=FULL", in_child(insert, options.work / "full", texts, "FULL")),
        ("plain FTS5, synchronous=NORMAL", in_child(insert, options.work / "normal", texts, "NORMAL")),
    ]
    columns = ("p50_ms", "p95_ms", "worst_ms", "cpu_p50_ms", "per_second")
    report.tables.append(
        Table(
            title=f"One process, {count} memories, one after the other",
            columns=("", "p50 ms", "p95 ms", "worst ms", "CPU p50 ms", "a second"),
            rows=[(name, *(found[column] for column in columns)) for name, found in runs],
        )
    )
    ours, bare, full, normal = (found["p50_ms"] for _, found in runs)
    report.at_most("remember p50", ours, P50_MS, "ms")
    report.figure("remember p50, no embedder, no background", bare, "ms")
    report.figure("remember p50 over a plain insert under FULL", ours / full, "×")
    report.figure("remember p50 over a plain insert under NORMAL", ours / normal, "×")


def remember(folder: Path, texts: Sequence[str], *, plain: bool) -> dict[str, float]:
    """Return how long `remember` takes; `plain` leaves vectors and the background thread out."""
    folder.mkdir()
    timings = Timings()
    with hexad.open(folder, embedder=None if plain else "default", background=not plain) as hx:
        for number in range(5):
            hx.remember(f"warm-up {number}")
        for text in texts:
            with timings:
                hx.remember(text)
    return timings.summary()


def insert(folder: Path, texts: Sequence[str], synchronous: str) -> dict[str, float]:
    """Return how long a plain FTS5 insert takes, one per commit."""
    folder.mkdir()
    con = _plain(folder / "plain.db", synchronous)
    con.execute("CREATE VIRTUAL TABLE f USING fts5(text)")
    timings = Timings()
    for text in texts:
        with timings:
            con.execute("BEGIN IMMEDIATE")
            con.execute("INSERT INTO f(text) VALUES(?)", (text,))
            con.execute("COMMIT")
    con.close()
    return timings.summary()


def _plain(path: Path, synchronous: str) -> apsw.Connection:
    con = apsw.Connection(str(path))
    con.set_busy_timeout(BUSY_TIMEOUT_MS)
    con.execute("PRAGMA journal_mode = WAL").fetchall()
    con.execute(f"PRAGMA synchronous = {synchronous}").fetchall()
    return con


# Many processes -------------------------------------------------------------------------------------------------


def _together(sentences: Sentences, options: Options, report: Report) -> None:
    processes, seconds, rounds = (8, 3.0, 1) if options.quick else (PROCESSES, 5.0, 3)
    base = options.work / "base"
    base.mkdir()
    with hexad.open(base, embedder=None, background=False) as hx:
        hx.remember("the first of them")
    shutil.copytree(base, options.work / "recorded")
    texts = list(sentences.texts(start=10**6, stop=10**6 + (2_000 if options.quick else 6_000)))
    recorded = in_child(record, options.work / "recorded", texts)
    measured = [
        _round(base, options.work / f"round-{number}", recorded, processes=processes, seconds=seconds)
        for number in range(rounds)
    ]
    names = ("**remember**", "remember, durability = full", "its statements alone, FULL")
    report.tables.append(
        Table(
            title=f"{processes} processes, {seconds:g} s, {rounds} rounds",
            columns=("", "acknowledged", "a second", "p50 ms", "p99 ms", "worst ms", "a sync before, ms"),
            rows=[
                (
                    name,
                    len(crowd.waits),
                    crowd.rate,
                    *(1000 * percentile(crowd.waits, share) for share in (0.5, 0.99, 1.0)),
                    crowd.sync_ms,
                )
                for measurement in measured
                for name, crowd in zip(names, measurement.crowds, strict=True)
            ],
        )
    )
    where = f"{processes} processes, median of {rounds}"
    rates = [[crowd.rate for crowd in measurement.crowds] for measurement in measured]
    worst = [[max(crowd.waits) for crowd in measurement.crowds] for measurement in measured]
    over_full = statistics.median(ours / theirs for ours, _, theirs in rates)
    report.at_least(f"{where}: rate over the same statements under FULL", over_full, RATE_OVER_FULL, "×")
    waited = statistics.median(ours / theirs for ours, _, theirs in worst)
    report.at_most(f"{where}: worst wait over theirs", waited, WORST_OVER_FULL, "×")
    over_alone = statistics.median(ours / alone for ours, alone, _ in rates)
    report.figure(f"{where}: rate over remember with durability = full", over_alone, "×")
    report.at_most(
        f"{processes} processes: acknowledged and lost", sum(measurement.lost for measurement in measured), 0
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """What many processes did together: every wait, and how long the longest of them worked, in seconds."""

    waits: list[float]
    seconds: float
    sync_ms: float

    @property
    def rate(self) -> float:
        """How many were acknowledged a second."""
        return len(self.waits) / self.seconds


def _crowd(
    work: Callable[..., list[float]], seconds: float, folder: Path, arguments: Sequence[tuple[Any, ...]]
) -> Crowd:
    """Let processes start together and work for some seconds; raises `SystemExit` when one of them fails."""
    sync_ms = _sync_ms(folder)
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(arguments))
    workers, pipes = [], []
    for given in arguments:
        ours, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=_worker, args=(work, barrier, seconds, theirs, given))
        worker.start()
        theirs.close()
        workers.append(worker)
        pipes.append(ours)
    try:
        found = [pipe.recv() for pipe in pipes]
    except EOFError:
        raise SystemExit(f"A process of {work.__name__} failed; its words are above.") from None
    finally:
        for worker in workers:
            worker.join()
    waits = [wait for each, _ in found for wait in each]
    return Crowd(waits=waits, seconds=max(took for _, took in found), sync_ms=sync_ms)


def _sync_ms(folder: Path, count: int = 50) -> float:
    """Return the median time of one `fdatasync` of a written page: what each commit under FULL pays."""
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(count):
            os.pwrite(file.fileno(), bytes(4096), 0)
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """`remember`, `remember` with a sync for each commit, and its statements alone, one after the other."""

    crowds: Sequence[Crowd]
    lost: int


def _round(
    base: Path, work: Path, recorded: Sequence[list[Statement]], *, processes: int, seconds: float
) -> Round:
    ours, alone, replayed = (shutil.copytree(base, work / name) for name in ("ours", "alone", "replayed"))
    (alone / ".hexad" / "hexad.toml").write_text('durability = "full"\n', encoding="utf-8")
    database = replayed / ".hexad" / "memory.db"
    numbers = range(processes)
    crowds = (
        _crowd(remember_until, seconds, work, [(ours, number) for number in numbers]),
        _crowd(remember_until, seconds, work, [(alone, number) for number in numbers]),
        _crowd(replay_until, seconds, work, [(database, recorded[number::processes]) for number in numbers]),
    )
    with hexad.open(ours, embedder=None, background=False, readonly=True) as hx:
        lost = len(crowds[0].waits) + processes + 1 - hx.status().memories
    return Round(crowds=crowds, lost=lost)


def record(folder: Path, texts: Sequence[str]) -> list[list[Statement]]:
    """Return the statements inside each memory's transaction, one list per memory remembered."""
    seen: list[Statement] = []

    def watch(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        if not sql.lstrip().upper().startswith(_SKIPPED):
            seen.append((sql, tuple(bindings or ())))
        return True

    def attach(con: apsw.Connection) -> None:
        con.exec_trace = watch

    apsw.connection_hooks.append(attach)
    result = []
    with hexad.open(folder, embedder=None, background=False) as hx:
        for text in texts:
            seen.clear()
            hx.remember(text)
            result.append(list(seen))
    return result


def _worker(
    work: Callable[..., list[float]], barrier: Barrier, seconds: float, pipe: Connection, given: Any
) -> None:
    waits = work(*given, seconds=seconds, barrier=barrier)
    pipe.send((waits, sum(waits)))
    pipe.close()


def remember_until(folder: Path, number: int, *, seconds: float, barrier: Barrier) -> list[float]:
    """Remember as many texts as fit; returns how long each took."""
    waits: list[float] = []
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.remember(f"Worker {number} is ready.")  # the write path is loaded before the clock starts
        barrier.wait(_SETUP_SECONDS)
        deadline = time.perf_counter() + seconds
        while (start := time.perf_counter()) < deadline:
            text = f"Worker {number} notes that step {len(waits)} of build {number * 7919 + len(waits)} went through."
            hx.remember(text)
            waits.append(time.perf_counter() - start)
    return waits


def replay_until(
    database: Path, memories: Sequence[Sequence[Statement]], *, seconds: float, barrier: Barrier
) -> list[float]:
    """Execute recorded statements, a transaction a memory, as many as fit; returns how long each took."""
    waits: list[float] = []
    con = _plain(database, "FULL")
    barrier.wait(_SETUP_SECONDS)
    deadline = time.perf_counter() + seconds
    for statements in memories:
        start = time.perf_counter()
        if start >= deadline:
            break
        con.execute("BEGIN IMMEDIATE")
        for sql, bindings in statements:
            con.execute(sql, bindings).fetchall()
        con.execute("COMMIT")
        waits.append(time.perf_counter() - start)
    con.close()
    return waits
