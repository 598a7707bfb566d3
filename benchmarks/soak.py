"""The long life of one process at constant data: `python -m benchmarks.soak --minutes 480 --out build/soak`.

One store is asked, told, forgotten in and kept up without end; what comes in goes out again some rounds later. After a
warm-up, which lasts until the caches with a limit are full, memory must not grow by more than 5 %, handles and threads not at
all, and the CPU of a round must stay flat. Beside the memory of the process stands what the caches keep, and what the C library's allocator
holds in use and free, where it is glibc's: growth that none of them explains would be lost. The exit code is 1 where that does not hold; `--out` is a folder for `soak.md` and `soak.csv`, which has every round.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import ctypes
import gc
import hashlib
import json
import math
import random
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Final

import apsw
import psutil

import hexad
from benchmarks.report import Report, Table, disk_bytes, environment
from hexad import Hexad
from hexad.audit import AuditLog, AuditLogWriter

KEPT_ROUNDS: Final = 12
"""What a round brought is purged so many rounds later."""
NOTES, FILES, TOKENS, STANDING = 8, 2, 60, 240
WARM_UP: Final = 0.25
"""The share of the time, half an hour at most, that is not looked at: caches and the allocator take what they need."""
WARM_UP_MOST_S: Final = 1_800.0
FULL: Final = 0.99
"""Caches are full from when they keep so much of what they keep at most; the warm-up waits for that, half of the rounds at most."""
SLICES: Final = 12
"""The time after the warm-up is told in so many parts."""
GROWTH_MOST: Final = 0.05
"""How much memory and the CPU of a round may grow from the warm-up's end to the end."""

_NAMES = ("gateway", "ledger", "importer", "scheduler", "billing", "search", "mailer", "archive")
_VERBS = ("retries", "flushes", "rejects", "caches", "signs", "compresses", "mirrors", "queues")
_THINGS = ("requests", "invoices", "snapshots", "messages", "vectors", "tokens", "sessions", "uploads")
_ENDS = ("every night", "on Tuesday", "twice", "before a release", "after a failure", "behind a lock")


@dataclass(frozen=True, slots=True)
class Sample:
    """What the process holds after a round, and what the round cost."""

    seconds: float  # since the beginning
    rss_mb: float
    handles: int
    threads: int
    cpu_ms: float
    floor_ms: float  # CPU of the same fixed work at that moment
    operations: int
    memories: int
    store_mb: float
    caches_mb: float = 0.0  # kept by caches that have a limit
    used_mb: float = (
        0.0  # of the C library's allocator, in use; what Python allocates for itself is not in it
    )
    free_mb: float = 0.0  # the same, given back and kept

    @property
    def cost(self) -> float:
        """Return the CPU of an operation in units of the floor."""
        return self.cpu_ms / self.operations / self.floor_ms


@dataclass(frozen=True, slots=True)
class Slope:
    """A straight line through values over time: by how much of their mean they grow from the first to the last moment."""

    growth: float
    error: float  # one standard error of `growth`

    @classmethod
    def of(cls, moments: Sequence[float], values: Sequence[float]) -> Slope:
        """Fit by least squares; raises `ValueError` for fewer than three values.

        >>> Slope.of([0, 1, 2, 3], [10.0, 11.0, 12.0, 13.0])
        Slope(growth=0.2608695652173913, error=0.0)
        """
        if len(values) < 3:
            raise ValueError(f"a slope needs three values, not {len(values)}")
        at, mean = statistics.fmean(moments), statistics.fmean(values)
        spread = sum((moment - at) ** 2 for moment in moments)
        slope = (
            sum((moment - at) * (value - mean) for moment, value in zip(moments, values, strict=True))
            / spread
        )
        rest = sum(
            (value - mean - slope * (moment - at)) ** 2 for moment, value in zip(moments, values, strict=True)
        )
        error = math.sqrt(rest / (len(values) - 2) / spread)
        span = (moments[-1] - moments[0]) / mean
        return cls(slope * span, error * span)

    @property
    def is_flat(self) -> bool:
        """Return whether it grows by no more than is allowed, or by less than two of its errors."""
        return self.growth <= GROWTH_MOST or self.growth <= 2 * self.error


class Life:
    """A store with everything in it, and rounds that are all alike."""

    def __init__(self, folder: Path, *, embedder: str | None = "default", seed: int = 1) -> None:
        self.folder, self.notes = folder, folder / "notes"
        self.notes.mkdir(parents=True)
        self.chance = random.Random(seed)
        self.operations = 0
        self.cpu_ms: dict[str, float] = {}
        self.hx: Hexad = hexad.open(folder, embedder=embedder, user_dir=folder / "user")
        self.hx.spaces.create("docs")
        self.hx.spaces.set_policy("docs", {"allow_delete": True})
        for number in range(STANDING):
            self.hx.remember(self.sentence(), id=f"standing-{number}", tags=["standing"])
        self.hx.governance.decide("Keep tokens in SQLite", rationale="One process.", alternatives=["Redis"])
        self.hx.project.remember(category="tech_stack", key="database", value="Postgres 17")
        self.writer = AuditLogWriter(self.hx.path, "being")
        self.log = AuditLog(self.hx.path)
        self.credential = self.log.reviewers.add("rita", expires_at="2100-01-01")
        self.hx.embed_pending()

    def close(self) -> None:
        """Close what is open."""
        self.log.close()
        self.writer.close()
        self.hx.close()

    def sentence(self) -> str:
        """Return a plain sentence of the same few words."""
        pick = self.chance.choice
        return f"The {pick(_NAMES)} {pick(_VERBS)} {self.chance.randrange(1, 500)} {pick(_THINGS)} {pick(_ENDS)}."

    def question(self) -> str:
        """Return a question that some sentences answer."""
        pick = self.chance.choice
        return f"which {pick(_THINGS)} does the {pick(_NAMES)} handle {pick(_ENDS)}?"

    @contextlib.contextmanager
    def counted(self, name: str, times: int = 1) -> Iterator[None]:
        """Book the CPU of `times` operations, which includes what happens in the background meanwhile."""
        before = time.process_time()
        yield
        self.cpu_ms[name] = self.cpu_ms.get(name, 0.0) + (time.process_time() - before) * 1_000
        self.operations += times

    def live(self, number: int) -> None:
        """Live one round: a task that somebody works on, with everything that an agent calls on the way."""
        old, session = number - KEPT_ROUNDS, f"task-{number}"
        for each in (self._write, self._ask, self._record, self._work):
            each(number, session)
        if old >= 0:
            self._forget(old)
        self._keep_up(number)
        with self.counted("background"):
            if not self.hx.wait_for_background(120):
                raise RuntimeError("the background thread did not come to an end within two minutes")

    def _write(self, number: int, session: str) -> None:
        for at in range(FILES):
            text = "\n\n".join(f"## Part {part}\n\n{self.sentence()} {self.sentence()}" for part in range(4))
            (self.notes / f"{number}-{at}.md").write_text(f"# Notes {number}\n\n{text}\n")
        with self.counted("ingest"):
            self.hx.ingest(self.notes, space="docs")
        with self.counted("remember", NOTES + 1):
            for at in range(NOTES):
                self.hx.remember(self.sentence(), id=f"round-{number}-{at}", tags=[f"round-{number}"])
            turns = [
                {"role": "user", "content": self.question()},
                {"role": "assistant", "content": self.sentence()},
            ]
            self.hx.remember(turns, conversation=session, tags=[f"round-{number}"])

    def _ask(self, number: int, session: str) -> None:
        with self.counted("recall", 16):
            for _ in range(16):
                self.hx.recall(self.question())
        with self.counted("context", 4):
            for _ in range(4):
                self.hx.context(self.question(), max_tokens=800, wait=True)
        with self.counted("bundle", 4):
            for name in self.chance.sample(_NAMES, 4):
                self.hx.recall_context("default", name, limit=5)
        with self.counted("honeycomb", 2):
            for _ in range(2):
                self.hx.honeycomb.jit_context(self.question())
        with self.counted("why and get", 3):
            self.hx.governance.why("tokens")
            self.hx.get(f"round-{number}-0")
            self.hx.query("ask: where do tokens go?")

    def _record(self, number: int, session: str) -> None:
        stream, tag = self.hx.xdb, f"round-{number}"
        with self.counted("stream record", TOKENS + 4):
            stream.start_session(session, max_context_tokens=512)
            stream.record("input", self.question(), {"pack::Question": 0.9}, role="user")
            for at in range(TOKENS):
                scores = {"pack::Gateway": self.chance.random(), "pack::Care": self.chance.random()}
                stream.record("output", f" {_THINGS[at % 8]}", scores, event_id="reply", role="assistant")
            stream.tag(tag, event_id="reply")
            stream.comment("As expected.", event_id="reply")
            stream.flush()
        with self.counted("stream recall", 5):
            stream.recall(tags=[tag])
            stream.recall(concepts={"pack::Gateway": (0.5, 1.0)}, limit=50)
            stream.recall_by_concept("pack::Care", limit=20)
            stream.recall_events("vectors tokens", limit=10)
            stream.get_state()
        with self.counted("stream seal", 2):
            stream.end_session()
            stream.seal()

    def _work(self, number: int, session: str) -> None:
        work = self.hx.session
        with self.counted("session", 7):
            work.start(
                f"Change the {_NAMES[number % 8]}",
                steps=["look", "mend"],
                fresh=True,
                session_id=f"work-{number}",
            )
            work.open_file("src/gateway.py", line=10)
            work.record_edit("src/gateway.py", line=12, summary="Retries are counted.")
            work.add_turn("user", self.question())
            work.note(self.sentence())
            work.mark_step("look")
            work.end("done")
        with self.counted("audit", 4):
            rows = (
                {"session_id": session, "tick": at, "event_type": "output", "raw_content": "token"}
                for at in range(8)
            )
            self.writer.record_many(rows)
            self.log.query(reviewer_credential=self.credential, session_id=session)
            self.log.checkpoint()
            self.log.inclusion_proof("audit-1")

    def _forget(self, old: int) -> None:
        """Purge all that a round brought."""
        with self.counted("forget", 6):
            self.hx.forget(tag=f"round-{old}", purge=True, confirm=True)
            for name in (f"task-{old}", f"work-{old}"):
                self.hx.forget(session=name, purge=True, confirm=True)
            for at in range(FILES):  # a pattern for each round would stay in a cache of Python's
                path = self.notes / f"{old}-{at}.md"
                path.unlink()
                self.hx.forget(source=path.name, purge=True, confirm=True)
            self.hx.xdb.remove_tag(f"round-{old}", force=True)

    def _keep_up(self, number: int) -> None:
        with self.counted("status"):
            self.hx.status()
        with self.counted("maintain"):
            self.hx.maintain()
        with self.counted("consolidate"):
            self.hx.consolidate("session")
            self.hx.consolidate("project", dry_run=True)


def floor() -> None:
    """Do the same work each time, of the kinds that a store does: SQL, JSON, hashes."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    with connection:
        rows = ((at, json.dumps({"at": at, "text": "x" * 50})) for at in range(2_000))
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    for (text,) in connection.execute("SELECT b FROM t ORDER BY b DESC"):
        hashlib.sha256(json.loads(text)["text"].encode()).digest()


class _Allocated(ctypes.Structure):
    """What glibc's `mallinfo2` gives."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


def allocated_mb() -> tuple[float, float]:
    """Return what the C library's allocator has in use, and free; zeros where it does not say."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0.0, 0.0
    ask.restype = _Allocated
    told = ask()
    return (told.uordblks + told.hblkhd) / 1e6, told.fordblks / 1e6


def open_files(process: psutil.Process) -> Counter[str]:
    """Return what each handle leads to, numbers as `#`; what has no file goes by its kind. Empty where nobody says."""
    folder = Path(f"/proc/{process.pid}/fd")
    found: Counter[str] = Counter()
    with contextlib.suppress(OSError):
        for handle in folder.iterdir():
            with contextlib.suppress(OSError):  # that of the folder itself
                found[re.sub(r"[0-9a-f]*[0-9][0-9a-f]*", "#", str(handle.readlink()))] += 1
    return found


def cpu_of(work: Callable[[], object]) -> float:
    """Return the CPU that something takes in all threads, in milliseconds."""
    before = time.process_time()
    work()
    return (time.process_time() - before) * 1_000


@dataclass(slots=True)
class Soak:
    """What a soak saw."""

    samples: list[Sample] = field(default_factory=list)
    kinds: list[dict[str, float]] = field(
        default_factory=list
    )  # CPU in ms by kind of operation, of each round

    def run(self, life: Life, *, minutes: float, progress: Callable[[str], None] = lambda _: None) -> None:
        """Live until the time is over, and take a sample after each round."""
        process, began, number = psutil.Process(), time.monotonic(), 0
        most, were_open = 0, open_files(process)
        while (seconds := time.monotonic() - began) < minutes * 60 or number < KEPT_ROUNDS * 3:
            life.operations, life.cpu_ms = 0, {}
            cpu_ms = cpu_of(lambda at=number: life.live(at))  # type: ignore[misc]
            status = life.hx.status()
            floor_ms = min(cpu_of(floor) for _ in range(3))
            gc.collect()
            self.kinds.append(dict(life.cpu_ms))
            used_mb, free_mb = allocated_mb()
            self.samples.append(
                Sample(
                    seconds,
                    process.memory_info().rss / 1e6,
                    process.num_fds(),
                    process.num_threads(),
                    cpu_ms,
                    floor_ms,
                    life.operations,
                    status.memories + status.archived + status.quarantined,
                    disk_bytes(life.hx.path) / 1e6,
                    sum(use.bytes for use in status.caches.values() if use.limit_bytes is not None) / 1e6,
                    used_mb,
                    free_mb,
                )
            )
            number += 1
            if self.samples[-1].handles > most:
                most, now = self.samples[-1].handles, open_files(process)
                more = ", ".join(f"{name} × {count}" for name, count in sorted((now - were_open).items()))
                progress(f"{seconds / 60:6.1f} min, round {number}: {most} handles, new are {more or 'none'}")
                were_open = now
            if number % 20 == 0:
                last = self.samples[-1]
                progress(
                    f"{seconds / 60:6.1f} min, round {number}: {last.rss_mb:.1f} MB, {last.handles} handles, "
                    f"{last.threads} threads, {last.cpu_ms:.0f} ms a round, {last.memories} memories, "
                    f"caches {last.caches_mb:.2f}, malloc {last.used_mb:.1f} and {last.free_mb:.1f} free"
                )

    def report(self) -> Report:
        """Return the table of what was seen after the warm-up, and figures with their budgets."""
        end, first = self.samples[-1].seconds, self.warm_up()
        parts = _parts(self.samples[first:])
        report = Report(name="Soak")
        report.tables.append(
            Table(
                title=f"{end / 60:.0f} minutes in {len(self.samples)} rounds, the first {first} of them warm-up; medians",
                columns=("minutes", "rounds", "RSS MB", "", "handles", "threads", "CPU ms an operation", "over floor", "memories", "store MB", "caches MB", "malloc used MB", "free MB"),
                rows=[_row(part, parts[0]) for part in parts],
            )
        )  # fmt: skip
        report.tables.append(self._by_kind(first))
        before, after = parts[0], parts[-1]
        report.at_most("RSS, growth", _median(after, "rss_mb") / _median(before, "rss_mb") - 1, GROWTH_MOST)
        # A thread of the background that comes and goes has its connections, of which each opens its log when it first
        # reads: how many are open goes up and down, and what is lost raises the fewest.
        fewest = [min(sample.handles for sample in part) for part in (before, after)]
        report.at_most("handles, more than before", fewest[1] - fewest[0], 0)
        report.at_most("threads, more than before", _median(after, "threads") - _median(before, "threads"), 0)
        for name, words in (
            ("caches_mb", "caches"),
            ("used_mb", "malloc in use"),
            ("free_mb", "malloc free"),
        ):
            report.figure(f"{words}, MB more than before", _median(after, name) - _median(before, name))
        slope = Slope.of(
            [part[len(part) // 2].seconds for part in parts], [_median(part, "cost") for part in parts]
        )
        report.figure("CPU of an operation, growth of its line", slope.growth)
        report.figure("the same, standard error", slope.error)
        report.at_most(
            "CPU of an operation, growth that is more than chance",
            0.0 if slope.is_flat else slope.growth,
            GROWTH_MOST,
        )
        report.figure("memories, growth", _median(after, "memories") / _median(before, "memories") - 1)
        return report

    def warm_up(self) -> int:
        """Return how many rounds at the beginning are not looked at."""
        warm = min(self.samples[-1].seconds * WARM_UP, WARM_UP_MOST_S)
        first = max(KEPT_ROUNDS, sum(sample.seconds < warm for sample in self.samples))
        most = FULL * max(sample.caches_mb for sample in self.samples)
        full = next(at for at, sample in enumerate(self.samples) if sample.caches_mb >= most)
        return max(first, min(full, len(self.samples) // 2))

    def _by_kind(self, first: int) -> Table:
        rows = []
        moments = [sample.seconds for sample in self.samples[first:]]
        floors = [sample.floor_ms for sample in self.samples[first:]]
        for kind in self.kinds[-1]:
            values = [round_[kind] for round_ in self.kinds[first:]]
            slope = Slope.of(moments, [value / ms for value, ms in zip(values, floors, strict=True)])
            rows.append((kind, statistics.median(values), f"{slope.growth:+.1%} ± {slope.error:.1%}"))
        return Table(
            title="CPU of a round by kind of operation",
            columns=("kind", "ms", "growth of its line over the floor"),
            rows=rows,
        )

    def write(self, folder: Path, report: Report) -> None:
        """Write the report and every round into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        facts = ", ".join(f"{name} {value}" for name, value in environment().items())
        (folder / "soak.md").write_text(f"{report.markdown()}\n\n{facts}\n")
        with (folder / "soak.csv").open("w", newline="") as out:
            table = csv.writer(out)
            table.writerow([*(each.name for each in fields(Sample)), *self.kinds[-1]])
            for sample, kinds in zip(self.samples, self.kinds, strict=True):
                table.writerow(
                    [*astuple(sample), *(round(kinds.get(kind, 0.0), 2) for kind in self.kinds[-1])]
                )


def _parts(samples: Sequence[Sample]) -> list[Sequence[Sample]]:
    """Return the samples in at most `SLICES` parts, as equal as can be."""
    bounds = [len(samples) * at // SLICES for at in range(SLICES + 1)]
    return [samples[begin:end] for begin, end in pairwise(bounds) if begin < end]


def _median(samples: Sequence[Sample], name: str) -> float:
    return statistics.median(getattr(sample, name) for sample in samples)


def _row(part: Sequence[Sample], first: Sequence[Sample]) -> tuple[str | int | float, ...]:
    rss = _median(part, "rss_mb")
    operation = statistics.median(sample.cpu_ms / sample.operations for sample in part)
    return (
        f"{part[0].seconds / 60:.0f}–{part[-1].seconds / 60:.0f}",
        len(part),
        rss,
        "#" * round(20 * rss / _median(first, "rss_mb")),
        _median(part, "handles"),
        _median(part, "threads"),
        operation,
        _median(part, "cost"),
        _median(part, "memories"),
        _median(part, "store_mb"),
        _median(part, "caches_mb"),
        _median(part, "used_mb"),
        _median(part, "free_mb"),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=480.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--no-embedder", action="store_true", help="by full text alone")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="hexad-soak-") as folder:
        life, soak = Life(Path(folder) / "life", embedder=None if given.no_embedder else "default"), Soak()
        try:
            soak.run(
                life, minutes=given.minutes, progress=lambda line: print(line, file=sys.stderr, flush=True)
            )
        finally:
            life.close()
    report = soak.report()
    print(report.markdown())
    if given.out is not None:
        soak.write(given.out, report)
    return 0 if all(figure.met is not False for figure in report.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
