"""A year of an agent's life: what is kept, what it takes, and what is still known of it.

There is no peer that forgets: what everything would take that was recorded, in full detail, is the floor of the same
run. What is checked besides are invariants, not times: after each month every token is accounted for exactly once,
evidence is there to the letter, and COLD is under its limit; programs are killed on the way.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from agent_year import AgentYear, YearShape
from agent_year.answers import Answer, ask
from agent_year.checks import problems
from agent_year.crashes import Crashes
from agent_year.plan import TARGET_TOKENS_A_DAY
from benchmarks.report import Options, Report, Table, disk_bytes
from hexad import CompressionLevel, Fidelity

PACK = Path(__file__).resolve().parent.parent / "tests" / "data" / "concepts" / "workshop.json"
LARGE_PACK = Path("concepts") / "first-light.jsonl.gz"
DAY_REPLY_BYTES = 300_000_000
"""What document 2 wants a day of 150 million tokens to take as REPLY records."""
KILLED_EVERY_DAYS = 30
_LEVELS = [
    compression_level
    for compression_level in CompressionLevel
    if compression_level is not CompressionLevel.TOKEN
]
_FULL = (Fidelity.HOT, Fidelity.WARM, Fidelity.SUBMITTED)
_BAR, _PLOT_ROWS, _MARKS = 40, 12, "#+o."


@dataclass(slots=True)
class Month:
    """What there was at a month's end."""

    day: date
    tokens: int
    full: dict[Fidelity, int]  # tokens
    cold_tokens: int
    cold_bytes: int
    total_bytes: int
    levels: dict[CompressionLevel, int]  # records
    wrong: list[str]


@dataclass(slots=True)
class Watch:
    """Where the time of a year goes."""

    lived_s: float = 0.0
    checked_s: float = 0.0
    killed_s: float = 0.0
    months: list[Month] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def run(options: Options) -> Report:
    """Live a year; a quick one has every eighth day, and fewer tokens."""
    shape = YearShape(
        tokens_a_day=600 if options.quick else 2_000,
        tokens_a_reply=60 if options.quick else 200,
        sessions_a_day=1 if options.quick else 2,
        window_tokens=512 if options.quick else 2_048,
        max_storage_bytes=27_000 if options.quick else 48_000,
        auto_tag_threshold=0.8,
        stride=8 if options.quick else 1,
    )
    report = Report(name="A year of experience")
    folder = options.work / "year"
    folder.mkdir()
    watch = Watch()
    cpu = time.process_time()
    with AgentYear.in_folder(folder, pack=_pack(options), shape=shape) as year:
        _live(year, folder, watch)
        cpu = time.process_time() - cpu
        answers = [ask(year.hx.xdb, year.books, year=shape.year, quarter=quarter) for quarter in (1, 2, 3, 4)]
        _report(report, year, watch, answers, cpu=cpu, folder=folder)
        return report


def _pack(options: Options) -> Path:
    large = None if options.data is None else options.data / LARGE_PACK
    return PACK if large is None or not large.exists() else large


def _live(year: AgentYear, folder: Path, watch: Watch) -> None:
    crashes = Crashes(year, folder)
    days = year.shape.days
    killed, began = days[0], time.perf_counter()
    for at, day in enumerate(year.days()):
        watch.lived_s += time.perf_counter() - began
        if (day - killed).days >= KILLED_EVERY_DAYS:
            began, killed = time.perf_counter(), day
            watch.wrong += crashes.while_recording(day)
            crashes.while_sleeping(day)
            watch.killed_s += time.perf_counter() - began
        if day == days[-1] or days[at + 1].month != day.month:
            began = time.perf_counter()
            watch.months.append(_month(year, day, now=year.clock.now()))
            watch.wrong += watch.months[-1].wrong
            watch.checked_s += time.perf_counter() - began
        _progress(at + 1, len(days), day, year)
        began = time.perf_counter()


def _month(year: AgentYear, day: date, *, now: datetime) -> Month:
    usage = year.hx.xdb.usage()
    return Month(
        day=day,
        tokens=year.books.tokens,
        full={fidelity: usage.by_fidelity[fidelity].tokens for fidelity in _FULL},
        cold_tokens=usage.by_fidelity[Fidelity.COLD].tokens,
        cold_bytes=usage.cold_bytes,
        total_bytes=usage.total_bytes,
        levels={level: usage.by_level[level].records for level in _LEVELS},
        wrong=problems(year.hx, year.books, now=now),
    )


def _progress(done: int, of: int, day: date, year: AgentYear) -> None:
    if sys.stderr.isatty():
        filled = "█" * (done * _BAR // of)
        end = "\n" if done == of else ""
        sys.stderr.write(f"\r{filled:·<{_BAR}} {day} {year.books.tokens:>12,} tokens{end}")
        sys.stderr.flush()


# What it says ---------------------------------------------------------------------------------------------------


def _report(
    report: Report, year: AgentYear, watch: Watch, answers: Sequence[Answer], *, cpu: float, folder: Path
) -> None:
    books, shape = year.books, year.shape
    days = len(books.days)
    whole = _kept_in_full(year)
    report.tables.append(_months(watch.months))
    report.tables.append(_quarters(answers))
    report.tables.append(_done(year))
    report.figure("tokens", books.tokens)
    report.figure("timesteps", books.timesteps)
    report.figure("days with sessions", days)
    report.figure("seconds to live it", watch.lived_s, "s")
    report.figure("seconds of CPU, checks and all", cpu, "s")
    report.figure("timesteps a second of living", books.timesteps / watch.lived_s)
    report.figure("times as fast as a day of 150 million tokens", _share(year, watch), "×")
    report.at_most("invariants broken", len(watch.wrong), 0)
    limit = shape.max_storage_bytes * 0.8
    peak = max(night.pressure.bytes_after for night in books.nights)
    report.at_most("COLD bytes after a night, of the threshold", peak / limit, 1.0)
    third = answers[2]
    report.at_least("Q3: planted topics found by concept", _found(third.planted, third.active), 1.0)
    report.at_least("Q3: strongest concepts that were planted", third.strongest_precision, 2 / 3)
    report.at_least("Q3: topics told of that were planted", third.told_precision, 2 / 3)
    usage = year.hx.xdb.usage()
    report.figure("bytes of the whole store, with memories and index", disk_bytes(folder))
    report.figure("bytes of the stream", usage.logs_bytes + usage.segments_bytes)
    report.figure("bytes of the stream if nothing had been forgotten", whole)
    report.figure("bytes of tables but COLD: concepts, tags, comments, windows", usage.tables_bytes)
    report.figure("bytes of evidence packages", usage.exports_bytes)
    for line in watch.wrong[:20]:
        report.notes.append(f"Broken: {line}")
    report.notes.append(_plot(watch.months))


def _found(planted: Sequence[str], found: Sequence[str]) -> float:
    return sum(text in found for text in planted) / len(planted)


def _share(year: AgentYear, watch: Watch) -> float:
    return year.books.tokens / watch.lived_s / (TARGET_TOKENS_A_DAY / 86_400)


def _kept_in_full(year: AgentYear) -> float:
    """Return what all timesteps would take at the bytes that those in full detail take."""
    full = [year.hx.xdb.usage().by_fidelity[fidelity] for fidelity in _FULL]
    kept = sum(amount.timesteps for amount in full)
    return sum(amount.bytes for amount in full) / kept * year.books.timesteps if kept else 0.0


def _months(months: Sequence[Month]) -> Table:
    return Table(
        title="Tokens by fidelity, COLD bytes and records by level, at the end of months",
        columns=(
            "until", "recorded", "hot", "warm", "submitted", "cold", "COLD bytes", "bytes in all",
            *(level.name.lower() for level in _LEVELS), "broken",
        ),
        rows=[
            (
                f"{month.day:%d %b}", month.tokens, *(month.full[each] for each in _FULL), month.cold_tokens,
                month.cold_bytes, month.total_bytes, *(month.levels[level] for level in _LEVELS), len(month.wrong),
            )
            for month in months
        ],
    )  # fmt: skip


def _quarters(answers: Sequence[Answer]) -> Table:
    return Table(
        title="What did I work on? Planted topics, and what COLD records answer on 31 December",
        columns=(
            "quarter", "planted", "strongest concepts", "told", "found by concept", "found by text",
            "precision: strongest", "told", "by concept", "records",
        ),
        rows=[
            (
                f"Q{answer.quarter}", ", ".join(answer.planted), ", ".join(answer.strongest), ", ".join(answer.told),
                ", ".join(answer.active), ", ".join(answer.named), answer.strongest_precision, answer.told_precision,
                answer.active_precision, ", ".join(f"{n} {name}" for name, n in answer.fidelities.items()),
            )
            for answer in answers
        ],
    )  # fmt: skip


def _done(year: AgentYear) -> Table:
    return Table(title="What the agent did", columns=("", "times"), rows=sorted(year.books.counts.items()))


def _plot(months: Sequence[Month]) -> str:
    """Return tokens by fidelity over the year, each column a month, on a scale of roots: COLD is by far the most."""
    highest = max(month.tokens for month in months) ** 0.5
    kinds = ["submitted", "warm", "hot", "cold"]
    columns = []
    for month in months:
        shares = [month.full[Fidelity(kind)] if kind != "cold" else month.cold_tokens for kind in kinds]
        column, total = "", 0.0
        for mark, tokens in zip(_MARKS, shares, strict=True):
            before, total = total, total + tokens
            height = round(total**0.5 / highest * _PLOT_ROWS) - round(before**0.5 / highest * _PLOT_ROWS)
            column += mark * height
        columns.append(column.ljust(_PLOT_ROWS)[:_PLOT_ROWS])
    lines = [
        "    " + "   ".join(column[row] * 2 for column in columns) for row in range(_PLOT_ROWS - 1, -1, -1)
    ]
    lines.append("    " + "  ".join(f"{month.day:%b}" for month in months))
    legend = ", ".join(f"`{mark}` {kind}" for mark, kind in zip(_MARKS, kinds, strict=True))
    return "\n".join([f"Tokens by fidelity ({legend}; square roots):", "", "```", *lines, "```"])
