"""What becomes of experience: how fast it is compressed, how much smaller it gets, and what a full day of it takes.

The day is document 2's: 150 million tokens, lived in proportion. Its plan, 300 MB of REPLY records, is the peer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hexad
from benchmarks.child import in_child
from benchmarks.report import Options, Report, Table
from benchmarks.stream_data import columns

DAY_TOKENS = 150_000_000
DAY_REPLY_BYTES = 300_000_000
REPLY_TOKENS, SESSION_TOKENS = 500, 50_000
_DAY_MS = 86_400_000
_MIB = 1 << 20


def run(options: Options) -> Report:
    """Compress some, then live a hundredth of a day; a quick run takes a thousandth."""
    report = Report(name="Experience stream: compression, and a day")
    report.tables += _compression(
        report, in_child(_compress, options.work / "cold", 100_000 if options.quick else 1_000_000)
    )
    share = 1_000 if options.quick else 100
    report.tables.append(_day(report, in_child(_live, options.work / "day", DAY_TOKENS // share), share))
    report.notes.append(
        f"Replies are of {REPLY_TOKENS} tokens with ten activations each, sessions of {SESSION_TOKENS:,}, windows of 8,192; "
        "summaries are the local ones, and everything is done in the process that records. Rates are tokens per "
        "CPU-second; what is lived in proportion is multiplied, and growth with size is in the questions' report."
    )
    return report


def _record(xdb: Any, tokens: int, *, step_ms: float, compaction: bool | None) -> float:
    """Record tokens as replies of sessions; return the CPU-seconds, without the making of the data."""
    spent = 0.0
    for at in range(0, tokens, REPLY_TOKENS):
        given = columns(at, min(REPLY_TOKENS, tokens - at), event_rows=REPLY_TOKENS, step_ms=step_ms)
        cpu = time.process_time()
        if at % SESSION_TOKENS == 0:
            xdb.end_session()
            xdb.start_session(f"session {at // SESSION_TOKENS}", compaction=compaction)
        xdb.record_many(given)
        spent += time.process_time() - cpu
    cpu = time.process_time()
    xdb.end_session()
    return spent + time.process_time() - cpu


def _compress(folder: Path, tokens: int) -> dict[str, object]:
    found: dict[str, object] = {"tokens": tokens}
    for name, compaction in (("plain", False), ("compacting", None)):
        store = folder / name
        store.mkdir(parents=True)
        with hexad.open(store, embedder=None, background=False) as hx:
            found[name] = _record(hx.xdb, tokens, step_ms=_DAY_MS * 30 / tokens, compaction=compaction)
            cpu = time.process_time()
            hx.xdb.seal()
            hx.maintain()
            found[f"{name} sealed"] = time.process_time() - cpu
            usage = hx.xdb.usage()
            found[f"{name} bytes"] = usage.logs_bytes + usage.segments_bytes
            if compaction is False:
                continue
            found["replies"] = usage.by_level
            found["left"] = sum(amount.tokens for amount in usage.by_fidelity.values() if amount.bytes)
            found["steps"] = _coarser(hx)
    return found


def _coarser(hx: hexad.Hexad) -> list[tuple[str | int | float, ...]]:
    """Bring COLD under ever smaller limits; return what each of them took and left."""
    rows: list[tuple[str | int | float, ...]] = []
    bytes_before = hx.xdb.usage().cold_bytes
    for part in (2, 8, 32):
        limit = bytes_before // part
        cpu = time.process_time()
        done = hx.xdb.check_and_compress(max_storage_bytes=limit, compression_threshold=1.0)
        cpu = time.process_time() - cpu
        levels = ", ".join(
            f"{compression_level.name} {amount.records:,}"
            for compression_level, amount in hx.xdb.usage().by_level.items()
            if amount.records
        )
        rows.append(
            (f"1/{part}", done.records, done.records / cpu if done.records else 0, done.bytes_before, done.bytes_after, levels)
        )  # fmt: skip
    return rows


def _compression(report: Report, found: dict[str, object]) -> list[Table]:
    tokens = _number(found["tokens"])
    plain, compacting = _number(found["plain"]), _number(found["compacting"])
    replies = found["replies"]
    assert isinstance(replies, dict)
    reply = replies[hexad.CompressionLevel.REPLY]
    ratio = _number(found["plain bytes"]) / tokens / (reply.bytes / max(reply.tokens, 1))
    report.figure(
        "compaction: tokens per CPU-second that left the stream", reply.tokens / (compacting - plain)
    )
    report.figure("REPLY records: times smaller than segments", ratio, "×")
    report.figure("a REPLY record", reply.bytes / max(reply.records, 1), "bytes")
    steps = found["steps"]
    assert isinstance(steps, list)
    rows: list[tuple[str, float, float]] = [
        ("recorded without compaction", tokens / plain, _number(found["plain bytes"]) / tokens),
        ("recorded, compacting by itself", tokens / compacting, reply.bytes / max(reply.tokens, 1)),
    ]
    return [
        Table(
            title=f"{tokens:,.0f} tokens",
            columns=("", "tokens per CPU-second", "bytes a token, sealed or as REPLY"),
            rows=rows,
        ),
        Table(
            title="COLD made smaller",
            columns=(
                "limit",
                "records compressed",
                "a CPU-second",
                "bytes before",
                "bytes after",
                "records by level",
            ),
            rows=steps,
        ),
    ]


def _number(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)


def _live(folder: Path, tokens: int) -> dict[str, float]:
    folder.mkdir(parents=True)
    with hexad.open(folder, embedder=None, background=False) as hx:
        began = time.perf_counter()
        cpu = _record(hx.xdb, tokens, step_ms=_DAY_MS / tokens, compaction=None)
        wall = time.perf_counter() - began
        # In a whole day logs are sealed as they fill, at 128 MiB; here once, or they would be all that is seen.
        upkeep = time.process_time()
        hx.xdb.seal()
        hx.maintain()
        upkeep = time.process_time() - upkeep
        usage = hx.xdb.usage()
        reply = usage.by_level[hexad.CompressionLevel.REPLY]
        return {
            "tokens": tokens, "cpu": cpu, "wall": wall, "upkeep": upkeep, "total": usage.total_bytes,
            "cold": usage.cold_bytes, "reply": reply.bytes, "replies": reply.records,
            "stream": usage.logs_bytes + usage.segments_bytes, "tables": usage.tables_bytes,
        }  # fmt: skip


def _day(report: Report, found: dict[str, float], share: int) -> Table:
    rate = found["tokens"] / (found["cpu"] + found["upkeep"])
    report.at_least(
        "tokens per CPU-second, beside those that a day brings a second", rate, DAY_TOKENS / 86_400
    )
    report.figure("a day of 150 million tokens: CPU-hours", DAY_TOKENS / rate / 3_600, "h")
    report.figure("a day of 150 million tokens: REPLY records", found["reply"] * share / _MIB, "MiB")
    report.figure("document 2's plan for them", DAY_REPLY_BYTES / _MIB, "MiB")
    said: dict[str, Callable[[], float]] = {
        "tokens": lambda: found["tokens"],
        "tokens a second, wall, one process (with the making of the data)": lambda: (
            found["tokens"] / found["wall"]
        ),
        "tokens per CPU-second, with upkeep": lambda: rate,
        "MiB on disk, all of it": lambda: found["total"] / _MIB,
        "MiB of the stream": lambda: found["stream"] / _MIB,
        "MiB of COLD": lambda: found["cold"] / _MIB,
        "REPLY records": lambda: found["replies"],
    }
    scaled = {"tokens", "MiB on disk, all of it", "MiB of the stream", "MiB of COLD", "REPLY records"}
    return Table(
        title=f"1/{share} of a day of {DAY_TOKENS:,} tokens",
        columns=("", "lived", "a whole day"),
        rows=[(name, value(), value() * share if name in scaled else None) for name, value in said.items()],
    )
