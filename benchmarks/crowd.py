"""`crowd`: how long calls wait for each other when 32 processes use one store at once, and who waits for whom.

Two crowds. *Mixed work*: processes that remember, recall, ingest files, record tokens, erase people and maintain, each
as fast as it can. *Writers*: all remember, beside plain connections that execute the very same statements, a
transaction a memory, under `synchronous=FULL`. A disk is made as slow as is asked for: every sync takes that much
longer in Hexad, and so does every commit of the plain connections (in SQLite's commit hook, with its lock held, where
the sync would be). On a file system without syncs of its own (`--folder /dev/shm`) nothing else is in the figures.

    python -m benchmarks.crowd --folder /dev/shm                 # both crowds
    python -m benchmarks.crowd --against OTHER/src --rounds 5    # another revision's sources and these, in turns
    python -m benchmarks.crowd --trace                           # who had the turn to write, and what it waited for
"""

from __future__ import annotations

import argparse
import bisect
import json
import math
import os
import pickle
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Final

import hexad
from benchmarks.arguments import is_folder, whole
from benchmarks.child import in_child
from benchmarks.report import Options, Report, Table, percentile
from benchmarks.writes import record

PROCESSES: Final = 32
MOST_PROCESSES, MOST_ROUNDS, LEAST_SECONDS, MOST_SECONDS = 256, 1_000, 0.1, 3_600
CROWDS: Final = ("mixed", "writers")
RATE_OVER_FULL, WORST_OVER_FULL = 2.0, 0.1
_SHARES: Final = {"remember": 14, "recall": 6, "ingest": 4, "record": 4, "erase": 3, "maintain": 1}
_HERE: Final = Path(__file__).resolve().parents[1]
_SYNCS_MS: Final = (0.1, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """What the processes of a crowd measured: the calls of each role, and who had the turn to write when."""

    waits: Mapping[str, Sequence[float]]
    seconds: float
    cpu_s: float
    traces: Sequence[tuple[str, Sequence[Sequence[Any]]]]

    def rate(self, role: str) -> float:
        """How many calls of a role ended a second."""
        return len(self.waits[role]) / self.seconds


def run(options: Options) -> Report:
    """Measure both crowds, with the sources that this process uses."""
    size = Size(processes=8, seconds=2.0, rounds=1) if options.quick else Size()
    return measure(options.work, [""], size, trace=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many processes there are in a crowd, how long they work, and how often; and the crowds that are measured."""

    processes: int = PROCESSES
    seconds: float = 8.0
    rounds: int = 3
    crowds: tuple[str, ...] = CROWDS


def measure(work: Path, sources: Sequence[str], size: Size, *, trace: bool) -> Report:
    """Measure crowds for each of the sources (folders that hold `hexad`, "" is this one's), in turns."""
    report = Report(name="A crowd of processes")
    seconds, base = size.seconds, work / "base"
    base.mkdir()
    with hexad.open(base, embedder=None, background=False) as hx:
        hx.remember("the first of them")
    shutil.copytree(base, work / "recorded")
    texts = [
        f"Worker {n % 32} notes that step {n} of build {n * 7919} went through."
        for n in range(int(1500 * seconds))
    ]
    statements = work / "statements.pickle"
    statements.write_bytes(pickle.dumps(in_child(record, work / "recorded", texts)))
    runner = _Runner(base=base, work=work, seconds=seconds, trace=trace, statements=statements)
    if "mixed" in size.crowds:
        _mixed(runner, sources, report, processes=size.processes, rounds=size.rounds)
    if "writers" in size.crowds:
        for sync_ms in _SYNCS_MS:
            _writers(runner, sources, report, sync_ms=sync_ms, size=size)
    return report


@dataclass(slots=True, kw_only=True)
class _Runner:
    base: Path
    work: Path
    seconds: float
    trace: bool
    statements: Path
    runs: int = 0

    def crowd(self, roles: Sequence[str], source: str, *, sync_ms: float) -> Crowd:
        """Let processes of these roles work on a store of their own together; raises `SystemExit` when one fails."""
        self.runs += 1
        folder = Path(shutil.copytree(self.base, self.work / f"run-{self.runs}"))
        path = os.pathsep.join([*([source] if source else []), str(_HERE)])
        environment = {**os.environ, "PYTHONPATH": path, "HEXAD_USER_DIR": str(folder / "user")}
        orders = []
        for number, role in enumerate(roles):
            own = folder / f"own-{number}"
            own.mkdir()
            orders.append(
                {
                    "role": role, "number": number, "processes": len(roles), "own": str(own), "seconds": self.seconds,
                    "sync_ms": sync_ms, "trace": self.trace, "statements": str(self.statements),
                    "folder": str(folder / ".hexad" / "memory.db" if role == "floor" else folder),
                }
            )  # fmt: skip
        file, loading = folder / "orders.json", self.work / f"loading-{self.runs}"
        file.write_text(json.dumps(orders), encoding="utf-8")
        loading.mkdir()
        command = [sys.executable, "-m", "benchmarks.crowd_worker", str(file), str(loading)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit("A process of the crowd failed; its words are above.")
        found = json.loads(done.stdout)
        waits: dict[str, list[float]] = {role: [] for role in roles}
        for role, result in zip(roles, found, strict=True):
            waits[role].extend(took for _, took in result["calls"])
        calls = [call for result in found for call in result["calls"]]
        if roles.count("remember") == len(roles):
            _require_all(folder, acknowledged=len(calls) + len(roles) + 1)
        shutil.rmtree(folder)
        return Crowd(
            waits=waits,
            seconds=max(start + took for start, took in calls) - min(start for start, _ in calls),
            cpu_s=sum(result["cpu_s"] for result in found),
            traces=[(role, result["trace"]) for role, result in zip(roles, found, strict=True)],
        )


def _require_all(folder: Path, *, acknowledged: int) -> None:
    with hexad.open(folder, embedder=None, background=False, readonly=True) as hx:
        stored = hx.status().memories
    if stored != acknowledged:
        raise SystemExit(f"{acknowledged} memories were acknowledged, {stored} are stored.")


def _mixed(runner: _Runner, sources: Sequence[str], report: Report, *, processes: int, rounds: int) -> None:
    roles = [role for role, share in _SHARES.items() for _ in range(max(1, share * processes // PROCESSES))]
    crowds: dict[str, list[Crowd]] = {source: [] for source in sources}
    for _ in range(rounds):
        for source in sources:
            crowds[source].append(runner.crowd(roles, source, sync_ms=0.1))
    rows = []
    for source, measured in crowds.items():
        for role in _SHARES:
            waits = [crowd.waits[role] for crowd in measured]
            worst = statistics.median(max(each) / statistics.median(each) for each in waits)
            rows.append(
                (
                    _name(source), role, sum(map(len, waits)), statistics.median(c.rate(role) for c in measured),
                    *(1000 * statistics.median(percentile(each, share) for each in waits) for share in (0.5, 0.99, 1)),
                    worst,
                )
            )  # fmt: skip
            if role in ("remember", "erase"):
                report.figure(f"mixed work, {_name(source)}: worst {role} over its median", worst, "×")
    columns = ("", "call", "calls", "a second", "p50 ms", "p99 ms", "worst ms", "worst over p50")
    title = f"Mixed work: {len(roles)} processes, {runner.seconds:g} s, syncs of 0.1 ms, medians of {rounds} rounds"
    report.tables.append(Table(title=title, columns=columns, rows=rows))
    if runner.trace:
        report.tables.append(_traced("Who had the turn to write, mixed work", crowds))
        report.tables.append(_by_role(crowds))


def _writers(runner: _Runner, sources: Sequence[str], report: Report, *, sync_ms: float, size: Size) -> None:
    processes, rounds = size.processes, size.rounds
    crowds: dict[str, list[Crowd]] = {source: [] for source in sources}
    floors: list[Crowd] = []
    for _ in range(rounds):
        floors.append(runner.crowd(["floor"] * processes, "", sync_ms=sync_ms))
        for source in sources:
            crowds[source].append(runner.crowd(["remember"] * processes, source, sync_ms=sync_ms))
    rows: list[tuple[Any, ...]] = []
    for name, role, measured in [
        *((_name(source), "remember", each) for source, each in crowds.items()),
        ("the same statements, FULL", "floor", floors),
    ]:
        waits = [crowd.waits[role] for crowd in measured]
        calls = sum(map(len, waits))
        rows.append(
            (
                name, calls, statistics.median(crowd.rate(role) for crowd in measured),
                1000 * sum(crowd.cpu_s for crowd in measured) / calls,
                *(1000 * statistics.median(percentile(each, share) for each in waits) for share in (0.5, 0.99, 1)),
            )
        )  # fmt: skip
    title = f"Writers: {processes} processes, {runner.seconds:g} s, syncs of {sync_ms:g} ms, medians of {rounds} rounds"
    columns = ("", "acknowledged", "a second", "CPU ms each", "p50 ms", "p99 ms", "worst ms")
    report.tables.append(Table(title=title, columns=columns, rows=rows))
    for source, each in crowds.items():
        pairs = list(zip(each, floors, strict=True))
        rate = statistics.median(ours.rate("remember") / floor.rate("floor") for ours, floor in pairs)
        worst = statistics.median(max(o.waits["remember"]) / max(f.waits["floor"]) for o, f in pairs)
        where = f"syncs of {sync_ms:g} ms, {_name(source)}"
        report.at_least(f"{where}: rate over the same statements under FULL", rate, RATE_OVER_FULL, "×")
        report.at_most(f"{where}: worst wait over theirs", worst, WORST_OVER_FULL, "×")
    if runner.trace:
        report.tables.append(_traced(f"Who had the turn to write, syncs of {sync_ms:g} ms", crowds))


def _name(source: str) -> str:
    return "before" if source else "**now**"


# The trace --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """One time that a process had the turn to write, by the system's clock in seconds."""

    asked: float
    taken: float
    given: float
    cpu_s: float
    worker: int
    role: str


def _turns(crowd: Crowd) -> list[_Turn]:
    turns = []
    for worker, (role, events) in enumerate(crowd.traces):
        asked = taken = cpu = 0.0
        for at, event, thread_s in events:
            if event == "ask":
                asked = at
            elif event == "take":
                taken, cpu = at, thread_s
            elif event == "give" and taken:
                turns.append(
                    _Turn(asked=asked, taken=taken, given=at, cpu_s=thread_s - cpu, worker=worker, role=role)
                )
                taken = 0.0
    return sorted(turns, key=lambda turn: turn.taken)


def _syncs(crowd: Crowd) -> list[float]:
    waits = []
    for _, events in crowd.traces:
        written = 0.0
        for at, event, _cpu in events:
            if event == "written":
                written = at
            elif event == "durable" and written:
                waits.append(at - written)
    return waits


def _overtaken(turns: Sequence[_Turn]) -> list[int]:
    """Return of each turn, in the order in which they were taken, how many that asked later were served before it."""
    served: list[float] = []
    counts = []
    for turn in turns:
        counts.append(len(served) - bisect.bisect_right(served, turn.asked))
        bisect.insort(served, turn.asked)
    return counts


def _handovers(turns: Sequence[_Turn]) -> tuple[list[float], int]:
    """Return how long the turn was nobody's while somebody waited for it, and how often a newcomer took it then."""
    earliest = list(accumulate((turn.asked for turn in reversed(turns)), min))[::-1]
    gaps, newcomers = [], 0
    for at, (before, turn) in enumerate(pairwise(turns)):
        if earliest[at + 1] < before.given:
            gaps.append(max(0.0, turn.taken - before.given))
            newcomers += turn.asked >= before.given
    return gaps, newcomers


def _traced(title: str, crowds: Mapping[str, Sequence[Crowd]]) -> Table:
    """Return for each of the sources what the turn to write was spent on, and how fairly it went round."""
    columns = (
        "", "turns a second", "held, of the time", "computing, of that", "handed over, of the time", "hand-over p50 µs",
        "p99 µs", "taken by a newcomer", "overtaken p99", "worst", "sync p50 ms", "p99 ms",
    )  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for source, measured in crowds.items():
        turns = [_turns(crowd) for crowd in measured]
        gaps = [_handovers(each) for each in turns]
        spans = [each[-1].given - each[0].taken for each in turns]
        held = sum(turn.given - turn.taken for each in turns for turn in each)
        all_gaps = [gap for found, _ in gaps for gap in found] or [0.0]
        overtaken = [count for each in turns for count in _overtaken(each)]
        syncs = [wait for crowd in measured for wait in _syncs(crowd)]
        rows.append(
            (
                _name(source), sum(map(len, turns)) / sum(spans), held / sum(spans),
                sum(turn.cpu_s for each in turns for turn in each) / held, sum(all_gaps) / sum(spans),
                1e6 * statistics.median(all_gaps), 1e6 * percentile(all_gaps, 0.99),
                sum(count for _, count in gaps) / len(all_gaps), percentile(overtaken, 0.99), max(overtaken),
                1e3 * statistics.median(syncs), 1e3 * percentile(syncs, 0.99),
            )
        )  # fmt: skip
    return Table(title=title, columns=columns, rows=rows)


def _by_role(crowds: Mapping[str, Sequence[Crowd]]) -> Table:
    """Return for each role how long it had the turn to write, and how long it waited for it."""
    rows: list[tuple[Any, ...]] = []
    for source, measured in crowds.items():
        turns = [turn for crowd in measured for turn in _turns(crowd)]
        for role in _SHARES:
            ours = [turn for turn in turns if turn.role == role]
            if not ours:
                continue
            held, waited = ([t.given - t.taken for t in ours], [t.taken - t.asked for t in ours])
            calls = sum(len(crowd.waits[role]) for crowd in measured)
            rows.append(
                (
                    _name(source), role, len(ours) / max(1, calls),
                    *(1e3 * percentile(held, share) for share in (0.5, 0.99, 1)),
                    1e3 * statistics.mean(turn.cpu_s for turn in ours),
                    *(1e3 * percentile(waited, share) for share in (0.5, 0.99, 1)),
                )
            )  # fmt: skip
    columns = (
        "", "call", "turns a call", "held p50 ms", "p99 ms", "worst ms", "CPU ms", "waited p50 ms", "p99 ms", "worst ms",
    )  # fmt: skip
    return Table(title="The turn to write, by call, mixed work", columns=columns, rows=rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the tables; the exit code is 1 when a budget is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crowd", description=__doc__)
    parser.add_argument(
        "--folder", type=is_folder, help="where stores are made; default: the temporary folder"
    )
    parser.add_argument(
        "--against",
        type=_sources,
        help="a folder with another revision's `hexad`, measured in turns with this one",
    )
    parser.add_argument("--processes", type=whole(1, MOST_PROCESSES, example=PROCESSES), default=PROCESSES)
    parser.add_argument("--seconds", type=_seconds, default=8.0)
    parser.add_argument("--rounds", type=whole(1, MOST_ROUNDS, example=3), default=3)
    parser.add_argument("--crowds", nargs="+", choices=CROWDS, default=CROWDS)
    parser.add_argument("--trace", action="store_true", help="also say who had the turn to write")
    parser.add_argument("--keep-going", action="store_true", help="exit with 0 even when a budget is missed")
    given = parser.parse_args(arguments)
    sources = ["", *([str(given.against.absolute())] if given.against else [])]
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="hexad-crowd-", dir=given.folder) as work:
        os.environ["HEXAD_USER_DIR"] = str(Path(work) / "user")
        size = Size(
            processes=given.processes, seconds=given.seconds, rounds=given.rounds, crowds=tuple(given.crowds)
        )
        report = measure(Path(work), sources, size, trace=given.trace)
    report.seconds, report.load = time.perf_counter() - started, os.getloadavg()[0]
    print(report.markdown())
    return int(any(figure.met is False for figure in report.figures) and not given.keep_going)


def _sources(text: str) -> Path:
    folder = is_folder(text)
    if not (folder / "hexad" / "__init__.py").is_file():
        raise argparse.ArgumentTypeError(
            f"{text!r} holds no hexad/__init__.py; name the folder with the sources, for example OTHER/src"
        )
    return folder


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number from {LEAST_SECONDS:g} to {MOST_SECONDS:,}; give for example 8"
        )
    return seconds


if __name__ == "__main__":
    sys.exit(main())
