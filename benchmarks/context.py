"""How long a context of all layers takes, how well it uses its tokens, and what its notation and its fusion save.

A store of ingested documents also gets remembered notes, decisions, facts, a working set and preferences, so that every
layer but the code graph has something to say. Questions are asked one after the other in a fresh process.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import hexad
from benchmarks.child import in_child
from benchmarks.corpora import Sentences, WordVectors, write_lines
from benchmarks.report import Options, Report, Table, Timings
from hexad import Hexad, MemoryItem, MemoryLayer, MemoryQuery, SystemClock
from hexad.facade.context import Contexts, Narrowed
from hexad.recall.route import Wanted
from hexad.text.tokens import estimate_tokens

SIZES = (10_000, 100_000)
QUICK_SIZES = (1_000, 10_000)
P95_MS: Final = 200.0
SLOW_S: Final = 0.2
WARM_UP: Final = 5
REMEMBERED: Final = 10
"""One of so many texts is remembered and not ingested; one of ten of those is a decision."""


def run(options: Options) -> Report:
    """Measure contexts at each size."""
    report = Report(name="Contexts of all layers")
    if options.data is None:
        report.skipped = "the development data is not there (give --data DIR)."
        return report
    sentences = Sentences.load(options.data)
    step = max(1, len(sentences.questions) // (40 if options.quick else 200))
    asked = list(sentences.questions[::step])
    folder = options.work / "store"
    folder.mkdir()
    measured: list[dict[str, Any]] = []
    below = 0
    for size in QUICK_SIZES if options.quick else SIZES:
        texts = list(sentences.texts(start=below, stop=size))
        documents = options.work / f"documents-{size}.jsonl"
        write_lines(documents, sentences.documents(start=below, stop=size))
        in_child(grow, folder, documents, texts[::REMEMBERED])
        below = size
        measured.append({"size": size, **in_child(ask, folder, asked)})
    _report(measured, report)
    return report


def grow(folder: Path, documents: Path, texts: Sequence[str]) -> None:
    """Ingest documents, remember some texts besides, and leave something in every layer."""
    with hexad.open(folder, embedder=WordVectors(), background=False, user_dir=folder / "user") as hx:
        hx.ingest(documents, embed=False)
        for at, text in enumerate(texts):
            if at % 10:
                hx.remember("Noted: " + text)
            else:
                hx.remember("Decided: " + text, kind="decision")
        hx.session.start("Find out what happened with the painting")
        hx.user.update_preference(key="answers", value="short, with ids", source="explicit")
        hx.embed_pending()


class _Slow:
    """A layer that answers after its deadline."""

    name = MemoryLayer.GRAPH

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return nothing, late."""
        del query, limit
        time.sleep(SLOW_S)
        return ()


def ask(folder: Path, asked: Sequence[str]) -> dict[str, Any]:
    """Return times, tokens and savings of contexts for these questions."""
    with hexad.open(folder, embedder=WordVectors(), background=False, user_dir=folder / "user") as hx:
        found: dict[str, Any] = {"first_ms": _first(hx, asked[-1])}
        for name, alone in (("deterministic", True), ("deadlines", False)):
            for text in asked[-WARM_UP:]:
                hx.context(text, deterministic=alone)
            timings, late = Timings(), 0
            for text in asked:
                with timings:
                    context = hx.context(text, deterministic=alone)
                late += bool(context.late)
            found[name] = {**timings.summary(), "cpu_p95_ms": _p95(timings.cpu_ms), "late": late / len(asked)}
        found["slow"] = _slow(hx, asked[:20])
        seen = [hx.context(text, deterministic=True) for text in asked]
        found["used"] = sum(one.tokens for one in seen) / sum(one.max_tokens for one in seen)
        found["toon"] = 1 - _sum(seen, "toon") / _sum(seen, "json")
        found["markdown"] = 1 - _sum(seen, "toon") / _sum(seen, "markdown")
        found["fusion"] = _fusion(hx, asked[:60])
        found["same"] = _same_order(hx, asked[:60])
    return found


def _first(hx: Hexad, question: str) -> float:
    first = Timings()
    with first:
        hx.context(question)
    return first.wall_ms[0]


def _slow(hx: Hexad, asked: Sequence[str]) -> dict[str, float]:
    needs = hx._parts.router._needs
    sources = {**needs.sources, MemoryLayer.GRAPH: _Slow}
    contexts = Contexts(replace(needs, sources=sources, clock=SystemClock()))
    timings, named = Timings(), 0
    try:
        for text in asked:
            with timings:
                context = contexts.context(
                    f"how is it structured: {text}", wanted=Wanted(), narrowed=Narrowed()
                )
            named += MemoryLayer.GRAPH in context.late
            time.sleep(SLOW_S)
    finally:
        contexts.close()
    return {**timings.summary(), "named": named / len(asked)}


def _fusion(hx: Hexad, asked: Sequence[str]) -> float:
    """Return what fusion saves at equal evidence: beside all items of all layers as they are, nothing lost."""
    fused = plain = 0
    for text in asked:
        context = hx.context(text, 1_000_000, deterministic=True, details=False)
        blocks = (*context.system_items, *context.evidence_blocks)
        texts = [block.item.text for block in blocks]
        texts += [
            hx.expand(left.id).text for left in context.dropped if left.layer is not MemoryLayer.SESSION
        ]
        fused += sum(estimate_tokens(block.text) for block in blocks)
        plain += sum(map(estimate_tokens, texts))
    return 1 - fused / plain if plain else 0.0


def _same_order(hx: Hexad, asked: Sequence[str]) -> float:
    """Return which share of a recall's first five ingested memories the vector layer also has among its first five."""
    shares: list[float] = []
    for text in asked:
        hits = (hit.id for hit in hx.recall(text, limit=60) if hit.layer == "vector")
        wanted = list(islice(hits, 5))
        got = [one.item.memory_id for one in hx.query(text, layers=["vector"], limit=5, deterministic=True)]
        if wanted:
            shares.append(len(set(wanted) & set(got)) / len(wanted))
    return sum(shares) / len(shares)


def _sum(contexts: Sequence[hexad.FusedContext], form: str) -> int:
    return sum(context.tokens_by_format[form] for context in contexts)


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


def _report(measured: Sequence[dict[str, Any]], report: Report) -> None:
    rows = [
        (label, m["size"], m[key]["p50_ms"], m[key]["p95_ms"], m[key]["worst_ms"], m[key]["cpu_p50_ms"])
        for key, label in (
            ("deterministic", "every layer waited for, one after the other"),
            ("deadlines", "side by side, 50 ms each"),
            ("slow", f"side by side, one layer asleep for {SLOW_S:g} s"),
        )
        for m in measured
    ]
    report.tables.append(
        Table(title="Milliseconds", columns=("", "memories", "p50", "p95", "worst", "CPU p50"), rows=rows)
    )
    for m in measured:
        size = f"{m['size']:,}"
        report.at_most(
            f"context p95 at {size}, every layer waited for", m["deterministic"]["p95_ms"], P95_MS, "ms"
        )
        report.at_most(f"context p95 at {size}, CPU", m["deterministic"]["cpu_p95_ms"], P95_MS, "ms")
        report.figure(f"first context of a process at {size}", m["first_ms"], "ms")
        report.figure(f"contexts at {size} in which a layer was late", m["deadlines"]["late"])
        report.at_least(f"slow layer named as late at {size}", m["slow"]["named"], 1.0)
        report.figure(f"tokens used of the budget at {size}", m["used"])
        report.figure(f"tokens saved by TOON beside compact JSON at {size}", m["toon"])
        report.figure(f"tokens saved by TOON beside Markdown at {size}", m["markdown"])
        report.figure(f"tokens saved by fusion at equal evidence, at {size}", m["fusion"])
        report.at_least(f"first five of the vector layer that a recall has too, at {size}", m["same"], 0.95)
