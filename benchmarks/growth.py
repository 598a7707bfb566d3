"""`growth`: what public calls cost in stores of 1,000, 10,000 and 100,000 memories and as many timesteps, and how that grows.

CPU of the whole process, the median of some calls, each of something else, at each size by a fresh process. The slope is
that of the cost over the size, both as logarithms, from the smallest size to the largest: 0 is a cost that does not grow,
1 one that grows as the store does. What grows by more than 0.3 is named with its reason.

    python -m benchmarks growth                                # 1,000 and 10,000
    python -m benchmarks.growth --sizes 1000 10000 100000      # minutes of building
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import hexad
from benchmarks.child import in_child
from benchmarks.erasure import texts
from benchmarks.report import Options, Report, Table
from hexad.memory.draft import Draft

SIZES: Final = (1_000, 10_000)
SLOPE: Final = 0.3
_BATCH: Final = 500
_EVENT: Final = 40
_REPEATS: Final = 7
_KINDS: Final = ("note", "guide", "decision", "task")
_WORDS: Final = (
    "takes the text's words out of the full text's pages, where a word's list grows with the store"
)
_REASONS: Final = {
    "count": "counts the entries of an index, 0.04 µs each",
    "check": "reads every row: that is what it is asked for",
    "memory_quality": "reads every memory",
    "maintain, nothing to do": "looks through all pages of the file for what deleted rows left",
    "forget(subject=), purge": "looks through all memories for whose they are, and through all pages for what is left",
    "forget(subject=), dry run": "looks through all memories for whose they are and for texts that name them",
    "spaces.export": "writes every memory",
    "spaces.write_file": "writes every memory",
    "spaces.read_file": "reads every memory of the file, and stores all of it in one transaction or nothing",
    "recall": "scores all vectors of the store",
    "recall, one kind": "asks the full text a dozen questions, of which each ranks all of its matches, and scores the vectors of the kind",
    "context": "asks what `recall` asks",
    "status": "counts memories, tasks and vectors, each an index",
    "tag": _WORDS,
    "forget, archive": _WORDS,
}
"""Why calls may grow; a call that grows and does not stand here is to be mended."""
Call = Callable[[int], object]


def run(options: Options) -> Report:
    """Measure stores of two sizes."""
    return measure(options.work, (200, 1_000) if options.quick else SIZES)


def measure(work: Path, sizes: Sequence[int]) -> Report:
    """Measure stores of these sizes, the smallest first."""
    costs: dict[str, list[float | None]] = {}
    for size in sizes:
        folder = work / str(size)
        in_child(grow, folder, size)
        for name, cost in in_child(ask, folder, size).items():
            costs.setdefault(name, []).append(cost)
        shutil.rmtree(folder)
    report = Report(name="Growth of public calls")
    rows: list[tuple[Any, ...]] = []
    for name, found in costs.items():
        slope = (
            math.log(found[-1] / found[0]) / math.log(sizes[-1] / sizes[0])
            if found[0] and found[-1]
            else None
        )
        grows = slope is not None and slope > SLOPE
        rows.append((name, *found, slope, _REASONS.get(name, "**none known**") if grows else ""))
    columns = ("call", *(f"{size:,}, CPU ms" for size in sizes), "slope", f"why more than {SLOPE:g}")
    report.tables.append(Table(title="By size of the store", columns=columns, rows=rows))
    unnamed = sum(str(row[-1]).startswith("**") for row in rows)
    report.at_most(f"calls that grow by more than {SLOPE:g} for no known reason", unnamed, 0)
    return report


def grow(folder: Path, size: int) -> None:
    """Make a store of so many memories with vectors and links, and of so many timesteps, sealed."""
    folder.mkdir(parents=True)
    with _opened(folder) as hx:
        writer = hx._services.ingest().writer
        drafts = [
            Draft(
                text=text,
                data_subjects=(f"person{number // 10}",) if number % 10 == 0 else (),
                kind=_KINDS[number % len(_KINDS)],
                tags=(f"tag{number % 97}",),
                path=f"notes/{number % 997}/{number}",
                id=f"m{number}",
            )
            for number, (text, _whose) in enumerate(texts(size))
        ]
        for start in range(0, size, _BATCH):
            writer.write(drafts[start : start + _BATCH])
        hx.xdb.start_session("monday", compaction=False)
        hx.xdb.record_many(
            {
                "event_type": ["output"] * size,
                "content": [f" w{number % 1_000:x}" for number in range(size)],
                "event_id": [f"e{number // _EVENT}" for number in range(size)],
                "concepts": [[f"p::A{number % 500}"] for number in range(size)],
                "scores": [[(number * 7919 % 1000) / 1000] for number in range(size)],
            }
        )
        hx.xdb.seal()
        hx.maintain()


def ask(folder: Path, size: int) -> dict[str, float]:
    """Return what each call costs, in milliseconds of CPU."""
    with _opened(folder) as hx:
        words = [text.split() for text, _ in texts(min(size, 200))]
        return {name: _cost(call, times) for name, call, times in _calls(hx, folder, size, words)}


def _cost(call: Call, times: int) -> float:
    call(0)  # loads what it needs
    costs = []
    for number in range(1, times + 1):
        started = time.process_time()
        call(number)
        costs.append(1e3 * (time.process_time() - started))
    return statistics.median(costs)


def _calls(
    hx: hexad.Hexad, folder: Path, size: int, words: Sequence[Sequence[str]]
) -> Iterator[tuple[str, Call, int]]:
    """Yield the calls in an order in which none disturbs a later one."""
    yield from _questions(hx, size, words)
    yield from _systems(hx)
    yield from _writes(hx, folder, size, words)
    yield from _whole(hx, folder)


def _questions(hx: hexad.Hexad, size: int, words: Sequence[Sequence[str]]) -> Iterator[tuple[str, Call, int]]:
    def question(number: int) -> str:
        return " ".join(words[number % len(words)][3:9])

    yield "get", lambda n: hx.get(f"m{n * 31 % size}"), 3 * _REPEATS
    yield "memories: the newest 20", lambda _n: hx.memories(limit=20), _REPEATS
    yield "memories: 20 of a tag", lambda n: hx.memories(tags=[f"tag{n}"], limit=20), _REPEATS
    yield "count", lambda _n: hx.count(), _REPEATS
    yield "recall", lambda n: hx.recall(question(n), limit=5), 3 * _REPEATS
    yield "recall, one kind", lambda n: hx.recall(question(n), kinds=["guide"], limit=5), _REPEATS
    yield "recall_context", lambda n: hx.recall_context("default", question(n), limit=5), _REPEATS
    yield "context", lambda n: hx.context(question(n), max_tokens=500), _REPEATS
    yield "expand", lambda n: hx.expand(f"m{n * 31 % size}"), _REPEATS
    yield "history", lambda n: hx.history(f"m{n * 31 % size}"), _REPEATS
    yield "links", lambda n: hx.links(f"m{n * 31 % size}"), _REPEATS
    yield "near_duplicates", lambda n: hx.near_duplicates(f"m{n * 31 % size}"), _REPEATS
    yield "changes", lambda _n: hx.changes(), _REPEATS
    yield "status", lambda _n: hx.status(), _REPEATS
    yield "forget(subject=), dry run", lambda n: hx.forget(subject=f"person{n}", purge=True, dry_run=True), 3


def _systems(hx: hexad.Hexad) -> Iterator[tuple[str, Call, int]]:
    yield (
        "project.remember",
        lambda n: hx.project.remember(category="tech_stack", key=f"k{n}", value=f"v{n}"),
        _REPEATS,
    )
    yield "project.get_tech_stack", lambda _n: hx.project.get_tech_stack(), _REPEATS
    yield "governance.decide", lambda n: hx.governance.decide(f"Use tool {n}", rationale="It fits."), _REPEATS
    yield "session.note", lambda n: hx.session.note(f"Note {n}."), _REPEATS
    yield "spaces.list", lambda _n: hx.spaces.list(), _REPEATS
    yield "xdb.recall_events", lambda n: hx.xdb.recall_events(f"w{n:x}", limit=5), _REPEATS
    yield "xdb.recall_by_concept", lambda n: hx.xdb.recall_by_concept(f"p::A{n}", limit=20), _REPEATS
    yield "xdb.activity", lambda n: hx.xdb.activity(concepts=[f"p::A{n}"]), _REPEATS

    def record(number: int) -> None:
        hx.xdb.record("output", f" w{number}", {"p::A1": 0.5}, event_id=f"n{number}", session_id="tuesday")
        hx.xdb.flush()

    hx.xdb.start_session("tuesday", compaction=False)
    yield "xdb.record and flush", record, _REPEATS


def _writes(
    hx: hexad.Hexad, folder: Path, size: int, words: Sequence[Sequence[str]]
) -> Iterator[tuple[str, Call, int]]:
    notes = folder / "notes"
    notes.mkdir()

    def ingest(number: int) -> object:
        (notes / "guide.md").write_text(
            f"# Guide\n\nRevision {number} of the guide says more.\n", encoding="utf-8"
        )
        return hx.ingest(notes, embed=False)

    def text(number: int) -> str:
        return " ".join(reversed(words[number % len(words)])) + f" {number}"

    yield "remember", lambda n: hx.remember(text(n)), 3 * _REPEATS
    yield (
        "remember, of one fact",
        lambda n: hx.remember(f"The port is {n}.", subject="staging", attribute="port", value=n),
        3 * _REPEATS,
    )
    yield "ingest, one file changed", ingest, _REPEATS
    yield "tag", lambda n: hx.tag(f"m{n}", add=["new"]), _REPEATS
    yield "pin", lambda n: hx.pin(f"m{n}"), _REPEATS
    yield "link", lambda n: hx.link(f"m{n}", f"m{n + 50}", kind="related"), _REPEATS
    yield "feedback", lambda n: hx.feedback(f"m{n}", "helpful"), _REPEATS
    yield "forget, archive", lambda n: hx.forget(f"m{n + 20}"), _REPEATS
    yield "restore", lambda n: hx.restore(f"m{n + 20}"), _REPEATS
    yield "forget(subject=), purge", lambda n: hx.forget(subject=f"person{n}", purge=True, confirm=True), 5
    yield "embed_pending, one memory", lambda n: (hx.remember(text(n + 60)), hx.embed_pending()), _REPEATS


def _whole(hx: hexad.Hexad, folder: Path) -> Iterator[tuple[str, Call, int]]:
    hx.maintain()
    yield "maintain, nothing to do", lambda _n: hx.maintain(), 3
    yield "check", lambda _n: hx.check(), 1
    yield "memory_quality", lambda _n: hx.memory_quality(), 1
    yield "spaces.write_file", lambda _n: hx.spaces.write_file("default"), 1
    yield "spaces.read_file", lambda _n: hx.spaces.read_file(hx.path / "spaces" / "default.json"), 1
    yield "spaces.export", lambda _n: hx.spaces.export("default", force=True), 1


def _opened(folder: Path) -> hexad.Hexad:
    return hexad.open(folder, embedder="hashing", background=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--folder", type=Path, help="where stores are made; default: the temporary folder")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    given = parser.parse_args(arguments)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="hexad-growth-", dir=given.folder) as work:
        os.environ["HEXAD_USER_DIR"] = str(Path(work) / "user")
        report = measure(Path(work), given.sizes)
    report.seconds, report.load = time.perf_counter() - started, os.getloadavg()[0]
    print(report.markdown())


if __name__ == "__main__":
    main()
