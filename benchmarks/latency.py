"""How long `recall` takes as a store grows, what it needs in memory and on disk, and the floors under it.

One store grows from 1,000 to 100,000 memories, or to the sizes that `--memories` names; at each size fresh processes
ask it the same questions. Vectors come
from a table (`WordVectors`), so that the model's time is left out; "with the model" adds the default embedder's own
time for the question. The floors search the same texts and vectors: plain FTS5 for any word of the question, and
exact float32 search in NumPy.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hexad
from benchmarks import peers
from benchmarks.child import in_child
from benchmarks.corpora import Sentences, WordVectors, write_lines
from benchmarks.report import Options, Report, Table, Timings, disk_bytes, peak_memory_mb
from hexad.providers.embedders.base import resolve

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (1_000, 10_000)
WARM_UP = 10
LIMIT = 10
P50_MS = ((1_000, 1.5), (10_000, 3.0), (100_000, 8.0))
"""Budgets of p50, each up to so many memories."""
P95_MS, GROWTH, COLD_CPU_MS = 25.0, 6.0, 150.0
MILLION_MS, MILLION_MB = 30.0, 1_200.0
"""Budgets of p50 and of a process's memory where there are more memories than in `SIZES`."""
STEP = 100_000
"""So many documents are ingested from one file."""


class ModelForQuestions(WordVectors):
    """`WordVectors` that also asks the default model for each question and throws its answer away."""

    def __init__(self) -> None:
        model = resolve("default")
        assert model is not None
        self._model = model

    def embed_query(self, text: str) -> Any:
        """Return the table's row, after the time that the model takes."""
        self._model.embed_query(text)
        return super().embed_query(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """What it took to grow the store by one step."""

    memories: int
    ingest_seconds: float
    ingest_cpu_seconds: float
    vectors_seconds: float
    added: int


def run(options: Options) -> Report:
    """Measure recall at each size."""
    report = Report(name="Latency of recall")
    if options.data is None:
        report.skipped = "the development data is not there (give --data DIR)."
        return report
    sentences = Sentences.load(options.data)
    asked = list(sentences.questions[:: max(1, len(sentences.questions) // (60 if options.quick else 300))])
    folder = (options.store or options.work) / "recall"
    folder.mkdir(parents=True, exist_ok=True)
    below = in_child(held, folder)
    measured: list[dict[str, Any]] = []
    for size in sizes_of(options):
        if size < below:
            raise SystemExit(f"{folder} holds {below:,} memories; ask for as many or more, not for {size:,}.")
        grown = in_child(grow, folder, options.data, below, size)
        below = size
        measured.append(
            {
                "size": size,
                "grown": grown,
                "disk": disk_bytes(folder),
                "fresh": in_child(ask, folder, asked[:20]),
                "recall": in_child(ask, folder, asked),
                "model": in_child(ask, folder, asked[:60], model=True),
                "lexical": in_child(ask, folder, asked, semantic=False),
                "space": in_child(ask, folder, asked, space="default"),
                "floors": in_child(floors, folder, asked, options.work / f"plain-{size}.db"),
                "remember": in_child(
                    remember, folder, list(sentences.texts(start=10**6 + size, stop=10**6 + size + 60))
                ),
                "after": in_child(
                    ask_after_writes,
                    folder,
                    asked[:100],
                    list(sentences.texts(start=2 * 10**6 + size, stop=2 * 10**6 + size + 100)),
                ),
                "cold": cold(folder, asked[0], repeats=3 if options.quick else 7),
            }
        )
    _report(measured, report)
    return report


# What each child process does --------------------------------------------------------------------------------------


def sizes_of(options: Options) -> Sequence[int]:
    """Return how many memories the store has when it is asked, in order."""
    return sorted(set(options.memories)) or (QUICK_SIZES if options.quick else SIZES)


def held(folder: Path) -> int:
    """Return how many documents are there already, without what an earlier run remembered beside them."""
    with hexad.open(folder, embedder=WordVectors(), background=False) as hx:
        return hx.count(path="documents-*")


def grow(folder: Path, data: Path, below: int, size: int) -> Grown:
    """Ingest the documents from one number to another and compute their vectors."""
    sentences = Sentences.load(data)
    ingested = ingest_cpu = vectors = 0.0
    for start in range(below, size, STEP):
        stop = min(start + STEP, size)
        documents = write_lines(
            folder.parent / f"documents-{stop}.jsonl", sentences.documents(start=start, stop=stop)
        )
        with hexad.open(folder, embedder=WordVectors(), background=False) as hx:
            cpu, started = time.process_time(), time.perf_counter()
            done = hx.ingest(documents, embed=False)
            now = time.perf_counter()
            ingested, ingest_cpu = ingested + now - started, ingest_cpu + time.process_time() - cpu
            hx.embed_pending()
            vectors += time.perf_counter() - now
        documents.unlink()
        if done.created != stop - start:
            raise SystemExit(
                f"{documents.name}: {done.created} created of {stop - start}: {done.skipped[:3]}"
            )
    return Grown(
        memories=size,
        ingest_seconds=ingested,
        ingest_cpu_seconds=ingest_cpu,
        vectors_seconds=vectors,
        added=size - below,
    )


def ask(
    folder: Path,
    asked: Sequence[str],
    *,
    model: bool = False,
    semantic: bool | None = None,
    space: str | None = None,
) -> dict[str, float]:
    """Return how long `recall` takes, after a warm-up; the first call and the second opening stand apart."""
    with hexad.open(folder, embedder=ModelForQuestions() if model else WordVectors(), background=False) as hx:
        first = Timings()
        with first:
            hx.recall(asked[-1], limit=LIMIT, semantic=semantic, space=space)
        for text in asked[-WARM_UP:]:
            hx.recall(text, limit=LIMIT, semantic=semantic, space=space)
        timings = Timings()
        found = 0
        for text in asked:
            with timings:
                hits = hx.recall(text, limit=LIMIT, semantic=semantic, space=space)
            found += len(hits)
        peak = peak_memory_mb()
    return {**timings.summary(), "first_ms": first.wall_ms[0], "hits": found / len(asked), "peak_mb": peak}


def ask_after_writes(folder: Path, asked: Sequence[str], texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return how long `recall` takes right after a `remember` whose vector was stored, and the same question before it.

    All questions were asked once before, so that what is kept of them is there: what a write costs of it is the
    difference.
    """
    timings = {"warm": Timings(), "after": Timings()}
    with hexad.open(folder, embedder=WordVectors(), background=False) as hx:
        for question in asked:
            hx.recall(question, limit=LIMIT)
        for question in asked:
            with timings["warm"]:
                hx.recall(question, limit=LIMIT)
        for question, text in zip(asked, texts, strict=False):
            hx.remember(text)
            hx.embed_pending()
            with timings["after"]:
                hx.recall(question, limit=LIMIT)
    return {name: each.summary() for name, each in timings.items()}


def floors(folder: Path, asked: Sequence[str], plain: Path) -> dict[str, Any]:
    """Return the times of plain FTS5 and of exact NumPy search over what the store holds."""
    before = peak_memory_mb()
    collection = peers.read_store(folder)
    fts5 = peers.PlainFts5(collection.texts, str(plain))
    vectors = WordVectors()
    any_word, telling, exact = Timings(), Timings(), Timings()
    warmed = [*asked[-WARM_UP:], *asked]
    for text in warmed:
        with any_word:
            fts5.search(text, join=" OR ", limit=LIMIT)
    for text in warmed:
        with telling:
            fts5.search(text, join=" OR ", limit=LIMIT, stop_words=True)
    # Last, because threads of the matrix product spin for a while and would count as CPU of the others.
    for text in warmed:
        question = vectors.embed_query(text)
        with exact:
            cosines = collection.vectors @ question
            best = np.argpartition(-cosines, LIMIT)[:LIMIT]
            best[np.argsort(-cosines[best])]
    for timings in (any_word, telling, exact):
        del timings.wall_ms[:WARM_UP], timings.cpu_ms[:WARM_UP]
    return {
        "any word": any_word.summary(),
        "telling words": telling.summary(),
        "exact": exact.summary(),
        "interpreter_mb": before,
        "fts5_bytes": plain.stat().st_size,
        "text_bytes": sum(len(text.encode()) for text in collection.texts),
    }


def remember(folder: Path, texts: Sequence[str]) -> dict[str, float]:
    """Return how long a durable `remember` takes in a store of this size; the last five are the warm-up."""
    with hexad.open(folder, embedder=WordVectors(), background=False) as hx:
        for text in texts[-5:]:
            hx.remember(text)
        timings = Timings()
        for text in texts[:-5]:
            with timings:
                hx.remember(text)
        hx.embed_pending()
    return timings.summary()


def cold(folder: Path, question: str, *, repeats: int) -> dict[str, float]:
    """Return the least CPU of the whole command, beside an interpreter that does nothing."""
    # Bytecode is there once a package is installed; where the environment forbids to write it, it is kept here.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    recall = [sys.executable, "-m", "hexad", "recall", question]
    nothing = [sys.executable, "-c", "pass"]
    _child_cpu_ms(recall, folder, environment)
    found = {
        "recall_cpu_ms": min(_child_cpu_ms(recall, folder, environment) for _ in range(repeats)),
        "python_cpu_ms": min(_child_cpu_ms(nothing, folder, environment) for _ in range(repeats)),
    }
    shutil.rmtree(folder / "bytecode")
    return found


def _child_cpu_ms(command: list[str], folder: Path, environment: Mapping[str, str]) -> float:
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    words = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}: {words.decode()}")
    return (usage.ru_utime + usage.ru_stime) * 1000


# Reporting ---------------------------------------------------------------------------------------------------------


def _report(measured: Sequence[dict[str, Any]], report: Report) -> None:
    rows: list[Sequence[Any]] = []
    for label, pick in (
        ("**recall**, question embedded already", lambda m: m["recall"]),
        ("recall, with the model", lambda m: m["model"]),
        ("recall, full text alone", lambda m: m["lexical"]),
        ("recall, in one space", lambda m: m["space"]),
        ("recall of what was asked before", lambda m: m["after"]["warm"]),
        ("the same right after a `remember`", lambda m: m["after"]["after"]),
        ("floor: FTS5, any word", lambda m: m["floors"]["any word"]),
        ("floor: FTS5, any telling word", lambda m: m["floors"]["telling words"]),
        ("floor: NumPy float32, exact", lambda m: m["floors"]["exact"]),
        ("remember", lambda m: m["remember"]),
    ):
        for m in measured:
            found = pick(m)
            rows.append(
                (label, m["size"], found["p50_ms"], found["p95_ms"], found["worst_ms"], found["cpu_p50_ms"])
            )
    report.tables.append(
        Table(title="Milliseconds", columns=("", "memories", "p50", "p95", "worst", "CPU p50"), rows=rows)
    )
    report.tables.append(_resources(measured))
    last = measured[-1]
    size = f"{last['size']:,}"
    p50, floor = last["recall"]["p50_ms"], last["floors"]
    many = last["size"] > SIZES[-1]
    for m in measured:
        budget = next((ms for most, ms in P50_MS if m["size"] <= most), MILLION_MS)
        report.at_most(f"recall p50 at {m['size']:,}", m["recall"]["p50_ms"], budget, "ms")
    if many:
        report.at_most(
            f"memory of a process that asks {size}, peak", last["recall"]["peak_mb"], MILLION_MB, "MB"
        )
    else:
        report.at_most(f"recall p95 at {size}", last["recall"]["p95_ms"], P95_MS, "ms")
    for before in measured[-2:-1]:
        growth = p50 / before["recall"]["p50_ms"]
        report.at_most(f"recall p50, growth from {before['size']:,} to {size}", growth, GROWTH, "×")
    both = floor["any word"]["p50_ms"] + floor["exact"]["p50_ms"]
    report.figure(f"recall p50 over both plain floors together (any word + exact) at {size}", p50 / both, "×")
    telling = floor["telling words"]["p50_ms"] + floor["exact"]["p50_ms"]
    report.figure(
        f"recall p50 over both plain floors together (telling words + exact) at {size}", p50 / telling, "×"
    )
    after = last["after"]["after"]["cpu_p50_ms"] / last["after"]["warm"]["cpu_p50_ms"]
    report.figure(f"recall right after a remember over one without, CPU p50 at {size}", after, "×")
    report.at_most(f"remember p50 at {size}", last["remember"]["p50_ms"], 5.0, "ms")
    for m in measured:
        report.at_most(
            f"cold `hexad recall` at {m['size']:,}, CPU", m["cold"]["recall_cpu_ms"], COLD_CPU_MS, "ms"
        )
    report.figure("bare interpreter, CPU", last["cold"]["python_cpu_ms"], "ms")


def _resources(measured: Sequence[dict[str, Any]]) -> Table:
    rows = []
    for m in measured:
        grown: Grown = m["grown"]
        size = m["size"]
        rows.append(
            (
                size,
                *(
                    grown.added / seconds if seconds else "-"  # the store was there
                    for seconds in (grown.ingest_seconds, grown.ingest_cpu_seconds, grown.vectors_seconds)
                ),
                m["fresh"]["first_ms"],
                m["fresh"]["peak_mb"],
                m["recall"]["first_ms"],
                m["recall"]["peak_mb"],
                m["lexical"]["peak_mb"],
                m["disk"] / size,
                m["floors"]["fts5_bytes"] / size,
                m["floors"]["text_bytes"] / size,
                m["recall"]["hits"],
            )
        )
    return Table(
        title="Growing the store, and what it needs",
        columns=(
            "memories",
            "ingested/s",
            "ingested/CPU s",
            "vectors stored/s",
            "first recall after ingest, ms",
            "peak MB",
            "first recall of a later process, ms",
            "peak MB",
            "peak MB, full text",
            "disk bytes each",
            "plain FTS5, bytes each",
            "searched words, bytes each",
            "hits of 10",
        ),
        rows=rows,
    )


def main() -> None:
    """Ask one store, for profiling: `python -m benchmarks.latency STORE [QUESTION...]`."""
    print(json.dumps(ask(Path(sys.argv[1]), sys.argv[2:] or ["what happened with the painting?"]), indent=2))


if __name__ == "__main__":
    main()
