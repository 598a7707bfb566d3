"""The ledger: what a record costs, how fast it is checked, how large it is and its proofs are, and what archives cost.

Records are those of tokens, with three lenses, appended in batches of 1,000 as a system does beside the stream; what that
costs is also given as a share of a `remember` without an embedder. Proofs are measured at 1,000, 100,000 and 1,000,000 records
(with `--quick` at a tenth), the rest at the largest.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import hexad
from benchmarks.report import Options, Report, Table
from hexad.audit import AuditLog, AuditLogWriter
from hexad.audit.checkpoint import verify_inclusion

SIZES = (1_000, 100_000, 1_000_000)
BATCH = 1_000
APPEND_US, VERIFY_RATE, PROOF_HASHES = 20.0, 200_000.0, 20
_WORDS = ("the", "ledger", " keeps", " what", " was", " said", ",", " tick", " by", " tick", ".")
_OLD = timedelta(days=40)


def run(options: Options) -> Report:
    """Measure the ledger at each size."""
    report = Report(name="Ledger")
    sizes = [size // 10 for size in SIZES] if options.quick else list(SIZES)
    folder = options.work / "ledger"
    draw, rows, now = random.Random(5), list[tuple[Any, ...]](), datetime.now(UTC)
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        credential = log.reviewers.add("bench")
        cpu, wall = list[float](), list[float]()
        for size in sizes:
            for batch in _batches(size - log.size, draw, now - _OLD):
                begun, begun_cpu = time.perf_counter(), time.process_time()
                writer.record_many(batch)
                wall.append((time.perf_counter() - begun) / len(batch))
                cpu.append((time.process_time() - begun_cpu) / len(batch))
            rows.append(_proofs(log, draw))
        report.tables.append(
            Table(
                title="Proofs",
                columns=(
                    "records",
                    "inclusion bytes",
                    "hashes",
                    "ms",
                    "consistency bytes",
                    "checkpoint bytes",
                ),
                rows=rows,
            )
        )
        append_us = 1e6 * statistics.median(cpu)
        report.at_most("append in batches of 1,000, CPU", append_us, APPEND_US, "µs/record")
        report.figure("append in batches of 1,000, wall", 1e6 * statistics.median(wall), "µs/record")
        report.figure("append through a recorder, CPU", 1e6 * _recorded(writer, draw), "µs/record")
        report.figure("append one by one, wall", 1e6 * _single(writer, draw), "µs/record")
        remember_us = 1e6 * _remember(options.work / "store")
        report.figure("append as a share of a remember", append_us / remember_us)
        report.figure("on the disk", _bytes(folder) / log.size, "bytes/record, its log not counted")
        begun = time.process_time()
        found = log.verify()
        report.at_least(
            "verify, CPU", found.records / (time.process_time() - begun), VERIFY_RATE, "records/s"
        )
        assert found.ok, found
        report.at_most("hashes of an inclusion proof, largest", max(row[2] for row in rows), PROOF_HASHES + 1)
        _archive(log, credential, options.work, report, now)
    return report


def _batches(count: int, draw: random.Random, at: datetime) -> Iterator[list[dict[str, Any]]]:
    for first in range(0, max(count, 0), BATCH):
        yield [_row(draw, first + number, at) for number in range(min(BATCH, count - first))]


def _row(draw: random.Random, tick: int, at: datetime | None = None) -> dict[str, Any]:
    return {
        "session_id": "monday",
        "tick": tick,
        "event_type": "output",
        "raw_content": draw.choice(_WORDS),
        "lens_activations": {name: draw.random() for name in ("mood::Calm", "intent::Hidden", "self::Doubt")},
        "steering_applied": [],
        "timestamp": at,
    }


def _proofs(log: AuditLog, draw: random.Random) -> tuple[Any, ...]:
    size, times, lengths = log.size, list[float](), list[int]()
    root = log.root(size)
    for _ in range(50):
        record = f"audit-{draw.randrange(size)}"
        begun = time.perf_counter()
        path = log.inclusion_proof(record, size=size)
        times.append(time.perf_counter() - begun)
        assert verify_inclusion(log.leaf(record), int(record[6:]), size, path, root)
        lengths.append(len(path))
    consistency = max(len(log.consistency_proof(draw.randrange(1, size), size)) for _ in range(50))
    note = len(log.checkpoint().encode())
    return size, 32 * max(lengths), max(lengths), 1e3 * statistics.median(times), 32 * consistency, note


def _recorded(writer: AuditLogWriter, draw: random.Random) -> float:
    rows, times = [_row(draw, at) for at in range(BATCH)], list[float]()
    for _ in range(10):
        begun = time.process_time()
        with writer.recorder(batch=BATCH) as recorder:
            for row in rows:
                recorder.record(**row)
        times.append((time.process_time() - begun) / BATCH)
    return statistics.median(times)


def _single(writer: AuditLogWriter, draw: random.Random) -> float:
    times = list[float]()
    for at in range(200):
        row = {name: value for name, value in _row(draw, at).items() if name != "timestamp"}
        begun = time.perf_counter()
        writer.record(**row)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def _remember(folder: Path) -> float:
    folder.mkdir()
    times = list[float]()
    with hexad.open(folder, embedder=None, background=False) as hx:
        for at in range(200):
            begun = time.process_time()
            hx.remember(f"In run {at} the gateway answered after {at * 7 % 13} retries.")
            times.append(time.process_time() - begun)
    return statistics.median(times)


def _archive(log: AuditLog, credential: str, work: Path, report: Report, now: datetime) -> None:
    path, before = work / "old.hxa", _bytes(work / "ledger")
    begun = time.perf_counter()
    made = log.retention.archive(path, before=now - timedelta(days=30), reviewer_credential=credential)
    assert made is not None
    report.figure("archive", made.records / (time.perf_counter() - begun), "records/s")
    report.figure("an archive", path.stat().st_size / made.records, "bytes/record")
    begun = time.perf_counter()
    found = log.verify(archives=[path])
    report.figure(
        "verify with an archive of its first 100,000",
        found.records / (time.perf_counter() - begun),
        "records/s",
    )
    assert found.ok, found
    report.figure("the ledger's file before archiving", before / 1e6, "MB")


def _bytes(folder: Path) -> int:
    return (folder / "audit.db").stat().st_size
