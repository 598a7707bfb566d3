"""How long document 1's calls take as a space grows: `recall_context` by each ordering, `remember_structured`, a first call.

One space grows from 1,000 to 100,000 memories of realistic length; at each size fresh processes ask it the same topics.
The floor does what document 1's original does, over the same memories in the same run: the whole space is one JSON file,
loaded and scored memory by memory for a topic, and written anew for every change.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import hexad
from benchmarks.child import in_child
from benchmarks.corpora import Sentences
from benchmarks.report import Options, Report, Table, Timings, percentile
from hexad.memory.draft import Draft
from hexad.memory.memory import Relevance
from hexad.memory.policy import Backend
from hexad.spaces.bundles.bundle import BundleOptions

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (1_000, 5_000)
SPACE = "bench"
LIMIT = 5
BATCH = 500
NOW = datetime(2026, 1, 1, tzinfo=UTC)
START = datetime(2025, 1, 1, tzinfo=UTC)
ORDERING_MS, REFRESH_MS, COLD_MS, REMEMBER_MS = 10.0, 5.0, 1_000.0, 5.0
WORDS = (
    "runtime parser storage telemetry release billing search auth editor network cache deploy docs config queue worker"
).split()
PREFER = {"prefer_tags": ["release", "search"], "prefer_kinds": ["guide"]}


def run(options: Options) -> Report:
    """Measure bundles at each size."""
    report = Report(name="Context bundles")
    if options.data is None:
        report.skipped = "the development data is not there (give --data DIR)."
        return report
    folder = options.work / "store"
    folder.mkdir()
    topics = _topics(Sentences.load(options.data), 20 if options.quick else 60)
    measured: list[dict[str, Any]] = []
    below = 0
    for size in QUICK_SIZES if options.quick else SIZES:
        in_child(grow, folder, options.data, below, size)
        below = size
        measured.append(
            {
                "size": size,
                "cold": {
                    backend.value: in_child(cold, folder, topics[0], backend.value) for backend in Backend
                },
                "ask": in_child(ask, folder, topics, size),
                "floor": in_child(
                    floor, folder, topics, options.work / "space.json", 2 if options.quick else 3
                ),
                "remember": in_child(remember, folder, size, 30 if options.quick else 100),
            }
        )
    _report(measured, report)
    return report


def _topics(sentences: Sentences, count: int) -> list[str]:
    """Return single words, paths, pairs of words, phrases that are somewhere, and phrases that are nowhere."""
    source = random.Random(11)
    topics: list[str] = []
    while len(topics) < count:
        a, b = source.sample(WORDS, 2)
        words = source.choice(sentences.sentences).split()
        at = source.randrange(max(1, len(words) - 3))
        topics += [a, f"lexon/{a}", f"{a} {b}", " ".join(words[at : at + 3]), f"{words[0]} {b} {a}"]
    return topics[:count]


def _drafts(sentences: Sentences, start: int, stop: int) -> Iterator[Draft]:
    for number in range(start, stop):
        source = random.Random(f"bundles {number}")
        if number % 4 == 0:
            kind, text = "code", source.choice(sentences.functions)
        else:
            kind = source.choice(["guide", "decision", "log", "note", "config"])
            text = " ".join(source.choices(sentences.sentences, k=source.randint(5, 15)))
        a, b, c = source.choices(WORDS, k=3)
        yield Draft(
            text=f"{text}\n# {number:x}",
            space=SPACE,
            kind=kind,
            id=f"mem_{number:06d}",
            path=f"lexon/{a}/{b}-{c}/{kind}_{number:x}",
            tags=(a, c),
            pinned=source.random() < 0.02,
            relevance=source.choice([Relevance.HIGH, Relevance.MEDIUM, Relevance.MEDIUM, Relevance.LOW]),
            metadata={"owner": source.choice(["ann", "bob", "cy"]), "components": [a, b]},
            now=START + timedelta(seconds=number * 300),
        )


# What each child process does --------------------------------------------------------------------------------------


def grow(folder: Path, data: Path, start: int, stop: int) -> float:
    """Add memories to the space; returns how many a second."""
    sentences = Sentences.load(data)
    began = time.perf_counter()
    with hexad.open(folder, embedder=None, background=False) as hx:
        for first in range(start, stop, BATCH):
            hx._services.ingest().writer.write(list(_drafts(sentences, first, min(first + BATCH, stop))))
    return (stop - start) / (time.perf_counter() - began)


def cold(folder: Path, topic: str, backend: str) -> dict[str, float]:
    """Return what the first bundle of a process costs: time, and resident memory that stays."""
    with hexad.open(folder, embedder=None, background=False) as hx:
        before = _resident_mb()
        timings = Timings()
        with timings:
            hx.recall_context(SPACE, topic, limit=LIMIT, backend=backend, freeze_clock=NOW)
        return {"ms": timings.wall_ms[0], "cpu_ms": timings.cpu_ms[0], "view_mb": _resident_mb() - before}


def ask(folder: Path, topics: Sequence[str], size: int) -> dict[str, Any]:
    """Return the times of bundles and of bare orderings, once the views are there, and of following a change."""
    found: dict[str, Any] = {}
    options = BundleOptions(
        prefer_tags=tuple(PREFER["prefer_tags"]), prefer_kinds=tuple(PREFER["prefer_kinds"])
    )
    with hexad.open(folder, embedder=None, background=False) as hx:
        orderings, no = hx._services.orderings(), hx._services.stores.spaces.get(SPACE).no
        for backend in Backend:
            bundles, bare, kinds = Timings(), Timings(), Timings()
            sizes = []
            hx.recall_context(SPACE, topics[-1], limit=LIMIT, backend=backend.value, freeze_clock=NOW)
            for topic in topics:
                with bundles:
                    bundle = hx.recall_context(
                        SPACE,
                        topic,
                        limit=LIMIT,
                        backend=backend.value,
                        freeze_clock=NOW,
                        include_raw=True,
                        **PREFER,
                    )
                sizes.append(len(bundle.to_json().encode()))
                with bare:
                    orderings.topic(no, topic, options, backend=backend, now=NOW, limit=LIMIT)
                with kinds:
                    orderings.kind(no, "guide", options, backend=backend, now=NOW, limit=LIMIT)
            found[backend.value] = {
                "bundle": bundles.summary(),
                "topic": bare.summary(),
                "kind": kinds.summary(),
                "bytes": percentile(sizes, 0.5),
            }
        new, pinned = Timings(), Timings()
        for number in range(20):
            memory = hx.remember_structured(
                SPACE, {"raw": f"A late note, {size}-{number}.", "path": "lexon/late", "tags": ["late"]}
            )
            with new:
                orderings.under(no, "nowhere")
            hx.pin(memory.id)
            with pinned:
                orderings.under(no, "nowhere")
        found["follow"] = {"new": new.summary(), "pin": pinned.summary()}
    return found


def remember(folder: Path, size: int, calls: int) -> dict[str, float]:
    """Return how long a durable `remember_structured` takes in a space of this size."""
    timings = Timings()
    with hexad.open(folder, embedder=None, background=False) as hx:
        for number in range(calls + 5):
            payload = {
                "raw": f"Release {size}.{number} ships when telemetry is quiet for a day; the worker queue is drained first. "
                * 5,
                "path": f"lexon/release/{size}-{number}",
                "kind": "decision",
                "tags": ["release", "telemetry"],
            }
            with timings:
                hx.remember_structured(SPACE, payload)
    del timings.wall_ms[:5], timings.cpu_ms[:5]
    return timings.summary()


def floor(folder: Path, topics: Sequence[str], file: Path, repeats: int) -> dict[str, Any]:
    """Return what one JSON file for the whole space costs: for a topic, and for a change."""
    with hexad.open(folder, embedder=None, background=False) as hx:
        objects = [memory.to_dict() for memory in hx.memories(space=SPACE, limit=None)]
    _write(file, objects)
    load, score, change = Timings(), Timings(), Timings()
    for topic in topics[:repeats]:
        with load:
            held = json.loads(file.read_text(encoding="utf-8"))["objects"]
            _scan(held, topic)
        with score:
            _scan(held, topic)
        with change:
            held.append({**held[0], "id": f"late {topic}"})
            _write(file, held)
    return {
        "load and score": load.summary(),
        "score": score.summary(),
        "rewrite": change.summary(),
        "bytes": file.stat().st_size,
    }


def _scan(objects: list[dict[str, Any]], topic: str) -> list[dict[str, Any]]:
    """Score every memory as `basic` does, and sort all of them."""
    topic = topic.strip().lower()

    def scored(entry: dict[str, Any]) -> float:
        total = {"high": 5.0, "medium": 2.5}.get(entry["relevance"], 1.0) + (4.0 if entry["pinned"] else 0.0)
        if topic in entry["path"].lower():
            total += 3.0
        if topic in entry["summary_short"].lower():
            total += 2.0
        if topic in entry["raw"].lower():
            total += 1.5
        total += 1.0 if entry["kind"] in PREFER["prefer_kinds"] else 0.0
        return total + 0.8 * sum(tag in entry["tags"] for tag in PREFER["prefer_tags"])

    return sorted(objects, key=scored, reverse=True)[:LIMIT]


def _write(file: Path, objects: list[dict[str, Any]]) -> None:
    objects.sort(key=lambda entry: entry["updated_at"])
    temporary = file.with_suffix(".new")
    with temporary.open("w", encoding="utf-8") as out:
        json.dump({"name": SPACE, "objects": objects}, out, ensure_ascii=False)
        out.flush()
        os.fsync(out.fileno())
    temporary.replace(file)


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# Reporting ---------------------------------------------------------------------------------------------------------


def _report(measured: Sequence[dict[str, Any]], report: Report) -> None:
    rows: list[Sequence[Any]] = []
    for backend in Backend:
        for what, key in (
            ("recall_context", "bundle"),
            ("ordering alone", "topic"),
            ("kind ordering alone", "kind"),
        ):
            for m in measured:
                found = m["ask"][backend.value][key]
                rows.append(
                    (
                        f"{backend.value}: {what}",
                        m["size"],
                        found["p50_ms"],
                        found["p95_ms"],
                        found["worst_ms"],
                    )
                )
    for label, pick in (
        ("remember_structured", lambda m: m["remember"]),
        ("view follows a new memory", lambda m: m["ask"]["follow"]["new"]),
        ("view follows a pin", lambda m: m["ask"]["follow"]["pin"]),
        ("floor: load the JSON file, score all, sort", lambda m: m["floor"]["load and score"]),
        ("floor: score all and sort, loaded already", lambda m: m["floor"]["score"]),
        ("floor: write the JSON file anew", lambda m: m["floor"]["rewrite"]),
    ):
        rows.extend(
            (label, m["size"], pick(m)["p50_ms"], pick(m)["p95_ms"], pick(m)["worst_ms"]) for m in measured
        )
    report.tables.append(
        Table(title="Milliseconds", columns=("", "memories", "p50", "p95", "worst"), rows=rows)
    )
    report.tables.append(
        Table(
            title="First bundle of a process, and what stays in memory",
            columns=("ordering", "memories", "ms", "CPU ms", "MB", "bundle bytes, p50", "JSON file, bytes"),
            rows=[
                (
                    backend.value,
                    m["size"],
                    m["cold"][backend.value]["ms"],
                    m["cold"][backend.value]["cpu_ms"],
                    m["cold"][backend.value]["view_mb"],
                    m["ask"][backend.value]["bytes"],
                    m["floor"]["bytes"],
                )
                for backend in Backend
                for m in measured
            ],
        )
    )
    _figures(measured, report)


def _figures(measured: Sequence[dict[str, Any]], report: Report) -> None:
    last, before = measured[-1], measured[-2]
    size = f"{last['size']:,}"
    for backend in Backend:
        p50 = last["ask"][backend.value]["topic"]["p50_ms"]
        report.at_most(f"{backend.value}: topic ordering p50 at {size}", p50, ORDERING_MS, "ms")
        growth = p50 / before["ask"][backend.value]["topic"]["p50_ms"]
        report.figure(f"{backend.value}: its growth from {before['size']:,} to {size}", growth, "×")
    report.at_most(
        f"view follows a new memory, p50 at {size}", last["ask"]["follow"]["new"]["p50_ms"], REFRESH_MS, "ms"
    )
    report.at_most(
        f"view follows a pin, p50 at {size}", last["ask"]["follow"]["pin"]["p50_ms"], REFRESH_MS, "ms"
    )
    report.at_most(
        f"first basic bundle of a process at {size}, CPU", last["cold"]["basic"]["cpu_ms"], COLD_MS, "ms"
    )
    report.at_most(f"remember_structured p50 at {size}", last["remember"]["p50_ms"], REMEMBER_MS, "ms")
    grown = last["remember"]["p50_ms"] / before["remember"]["p50_ms"]
    report.figure(f"remember_structured, growth from {before['size']:,} to {size}", grown, "×")
    bundle, floor = last["ask"]["basic"]["bundle"]["p50_ms"], last["floor"]
    report.figure(
        f"basic bundle at {size} over the floor's load and score",
        bundle / floor["load and score"]["p50_ms"],
        "×",
    )
    report.figure(
        f"basic bundle at {size} over the floor's score alone", bundle / floor["score"]["p50_ms"], "×"
    )
    report.figure(
        f"remember_structured at {size} over the floor's rewrite",
        last["remember"]["p50_ms"] / floor["rewrite"]["p50_ms"],
        "×",
    )
