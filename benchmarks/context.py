"""How long a context of all layers takes, how well it uses its tokens, and what its notation and its fusion save.

A store of ingested documents also gets remembered notes, decisions, facts, a working set with what was recorded of it, and
preferences, so that every layer but the code graph has something to say. Questions are asked one after the other in a fresh
process. Stores are kept in the folder that `--store` names, and used again from there: building the larger one is most of
the time. Vectors are computed, links of the honeycomb are not: contexts do not ask for them.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import hexad
from benchmarks.child import in_child
from benchmarks.corpora import Sentences, WordVectors, questions, read_lines, write_lines
from benchmarks.quality import RememberedVectors
from benchmarks.report import Options, Report, Table, Timings, percentile
from hexad import FusedContext, Hexad, Hit, MemoryItem, MemoryLayer, MemoryQuery, SystemClock
from hexad.layers.context.api import ContextFilters, Contexts
from hexad.layers.contract import LayerSource
from hexad.layers.router.plan import RouteRequest
from hexad.text.tokens import CharacterCounter

SIZES = (10_000, 100_000)
QUICK_SIZES = (1_000, 10_000)
P95_MS: Final = 200.0
TOTAL_MS: Final = 150.0
SLOW_S: Final = 0.2
WARM_UP: Final = 5
REMEMBERED: Final = 10
"""One of so many texts is remembered besides being ingested; one of ten of those is a decision."""
RECORDED: Final = 500
"""One of so many texts is recorded as something that was said in a session."""
BUDGETS: Final = (500, 2_000, 8_000)
PLENTY: Final = 1_000_000
LAYERS: Final = tuple(layer for layer in MemoryLayer if layer is not MemoryLayer.GRAPH)
FORMAT: Final = 2
"""Of the stores that are kept: another one is built anew."""


def run(options: Options) -> Report:
    """Measure contexts at each size."""
    report = Report(name="Contexts of all layers")
    if options.data is None:
        report.skipped = "the development data is not there (give --data DIR)."
        return report
    sentences = Sentences.load(options.data)
    step = max(1, len(sentences.questions) // (40 if options.quick else 200))
    asked = _asked(sentences.questions[::step])
    measured: list[dict[str, Any]] = []
    for size, folder, seconds in _stores(options, sentences):
        if seconds:
            report.figure(f"building the store of {size:,}, and its vectors", seconds, "s")
        measured.append({"size": size, **in_child(ask, folder, asked)})
    _report(measured, report)
    report.tables.append(_evidence(options, options.data))
    return report


# Evidence ---------------------------------------------------------------------------------------------------------

EVIDENCE_BUDGETS: Final = (500, 1_000, 2_000)


def _evidence(options: Options, data: Path) -> Table:
    """Return what of the evidence for a question a context shows, and how much of it whole, by half; and plain recall.

    Three conversations and functions of which a fifth are asked about; the constants of packing were chosen on the
    development half, every other question. Recall gives its hits as lines with id, speaker and date, while they fit.
    """
    embedder = RememberedVectors(keep=options.reuse_vectors)
    turns = read_lines(data / "conversations" / "items.jsonl")
    functions = read_lines(data / "code_questions" / "corpus.jsonl")
    asked = questions(data / "code_questions" / "questions.jsonl")[:120]
    needed = {name for question in asked for name in question.evidence}
    kept = [line for number, line in enumerate(functions) if number % 6 == 0 or line["id"] in needed]
    stores = [("code", kept, asked)]
    for name in sorted({turn["conversation"] for turn in turns})[:3]:
        about = questions(data / "conversations" / "questions.jsonl")
        own = [question for question in about if question.conversation == name]
        stores.append(("conversations", [turn for turn in turns if turn["conversation"] == name], own))
    shown: dict[tuple[str, str, int], list[_Shown]] = {}
    for number, (name, lines, own) in enumerate(stores):
        folder = options.work / f"evidence-{number}"
        folder.mkdir(parents=True)
        write_lines(folder / "source.jsonl", lines)
        with hexad.open(folder, embedder=embedder, background=False, user_dir=folder / "user") as hx:
            hx.ingest(folder / "source.jsonl", embed=True)
            sources = {memory.id: memory.source_id for memory in hx.memories(limit=None)}
            for at, question in enumerate(own):
                right = {no for no, source in sources.items() if source in question.evidence}
                half = "unseen" if at % 2 else "development"
                hits = hx.recall(question.text, limit=60) if right else ()
                for budget in EVIDENCE_BUDGETS if right else ():
                    context = hx.context(question.text, budget, deterministic=True)
                    recalled = right <= _recalled(hits, budget)
                    shown.setdefault((name, half, budget), []).append(_Shown.of(context, right, recalled))
    embedder.save()
    return Table(
        title="Evidence in a context",
        columns=(
            "", "half", "budget", "questions", "all shown", "all in plain recall", "evidence shown", "shown whole",
            "rows cut", "rows",
        ),
        rows=[
            (
                *key,
                len(found),
                sum(each.evidence == 1.0 for each in found) / len(found),
                sum(each.recalled for each in found) / len(found),
                sum(each.evidence for each in found) / len(found),
                sum(each.whole for each in found) / len(found),
                sum(each.cut for each in found) / max(1, sum(each.rows for each in found)),
                sum(each.rows for each in found) / len(found),
            )
            for key, found in sorted(shown.items())
        ],
    )  # fmt: skip


def _recalled(hits: Iterable[Hit], budget: int) -> set[str]:
    """Return which of the best hits fit into a budget as lines."""
    counter, there, left = CharacterCounter(), set(), budget
    for hit in hits:
        turn = hit.memory.turn
        who = f"{turn.speaker}, " if turn is not None and turn.speaker else ""
        at = hit.memory.valid_from or hit.memory.created_at
        left -= counter.count(f"[{hit.id}] {who}{at:%Y-%m-%d}: {hit.text}\n")
        if left < 0:
            break
        there.add(hit.id)
    return there


@dataclass(frozen=True, slots=True)
class _Shown:
    """Of one context: the share of the evidence that it shows, and whole; its rows, and how many of them are cut.

    `recalled` says whether plain recall has all of it in as many tokens.
    """

    evidence: float
    whole: float
    rows: int
    cut: int
    recalled: bool

    @classmethod
    def of(cls, context: FusedContext, right: set[str], recalled: bool) -> _Shown:
        """Return what a context shows of the memories that are right."""
        blocks = (*context.system_items, *context.evidence_blocks)
        cut = [block for block in blocks if block.text != block.item.text]
        named = {block.item.memory_id for block in blocks}
        whole = {block.item.memory_id for block in blocks if block.text == block.item.text}
        return cls(
            len(named & right) / len(right), len(whole & right) / len(right), len(blocks), len(cut), recalled
        )


def _asked(questions: Sequence[str]) -> list[str]:
    """Return the questions, a fifth of them as one for a decision, a fifth as one about the person who asks."""
    forms = (
        "{0}",
        "why did we decide this: {0}",
        "{0}",
        "which tests and which editor do I prefer? {0}",
        "{0}",
    )
    return [forms[at % len(forms)].format(question) for at, question in enumerate(questions)]


# Building ---------------------------------------------------------------------------------------------------------


def _stores(options: Options, sentences: Sentences) -> Sequence[tuple[int, Path, float]]:
    """Return each size, its store, and how long it took to build; each is the one before, and more."""
    below = 0
    before: Path | None = None
    found = []
    for size in QUICK_SIZES if options.quick else SIZES:
        folder = (options.store or options.work) / f"context-{size}"
        seconds = 0.0
        if not _is_built(folder, size):
            started = time.perf_counter()
            shutil.rmtree(folder, ignore_errors=True)
            if before is None:
                folder.mkdir(parents=True)
            else:
                shutil.copytree(before, folder)
                (folder / "built.json").unlink()
            documents = options.work / f"documents-{size}.jsonl"
            write_lines(documents, sentences.documents(start=below, stop=size))
            in_child(grow, folder, documents, list(sentences.texts(start=below, stop=size)))
            (folder / "built.json").write_text(json.dumps({"format": FORMAT, "size": size}), encoding="utf-8")
            seconds = time.perf_counter() - started
        found.append((size, folder, seconds))
        below, before = size, folder
    return found


def _is_built(folder: Path, size: int) -> bool:
    mark = folder / "built.json"
    return mark.exists() and json.loads(mark.read_text(encoding="utf-8")) == {"format": FORMAT, "size": size}


def grow(folder: Path, documents: Path, texts: Sequence[str]) -> None:
    """Ingest documents, remember some texts besides, and leave something in every layer."""
    with _opened(folder) as hx:
        hx.ingest(documents, embed=False)
        for at, text in enumerate(texts[::REMEMBERED]):
            if at % 10:
                hx.remember("Noted: " + text)
            else:
                hx.remember("Decided: " + text, kind="decision")
        _now(hx, texts)
        embedding = hx._services.search.job
        assert embedding is not None
        embedding.run()


def _now(hx: Hexad, texts: Sequence[str]) -> None:
    """Leave a working set, what was recorded of sessions, facts that changed, and preferences."""
    for at, text in enumerate(texts[: 40 * RECORDED : RECORDED]):
        hx.project.remember(category="convention", key=f"topic_{at % 20}", value=text[:200])
    for key, value in (
        ("answers", "short, with ids"),
        ("tests", "pytest"),
        ("editor", "Helix"),
        ("db", "SQLite"),
    ):
        hx.user.update_preference(key=key, value=value, source="explicit")
    said = texts[::RECORDED]
    session = f"told-{len(texts)}"
    hx.xdb.start_session(session, compaction=False)
    hx.xdb.record_many(
        {
            "event_type": ["input" if at % 2 else "output" for at in range(len(said))],
            "content": list(said),
            "event_start": [True] * len(said),
            "event_end": [True] * len(said),
        },
        session_id=session,
    )
    hx.xdb.end_session(session_id=session)
    hx.session.start("Find out what happened with the painting", steps=["ask around", "write it down"])
    for at, text in enumerate(texts[:20]):
        hx.session.note(text[:300])
        hx.session.add_turn("user", text[:300])
        hx.session.record_edit(f"notes/page_{at}.md", line=at + 1, summary=text[:80])


def _opened(folder: Path) -> Hexad:
    return hexad.open(folder, embedder=WordVectors(), background=False, user_dir=folder / "user")


# Asking -----------------------------------------------------------------------------------------------------------


class _Slow:
    """A layer that answers after its deadline: nothing, or what the layer that it stands for says."""

    def __init__(self, layer: MemoryLayer, inner: LayerSource | None) -> None:
        self.name, self._inner = layer, inner

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return what there is, late."""
        time.sleep(SLOW_S)
        return () if self._inner is None else self._inner.items(query, limit=limit)

    def item(self, item_id: str, **_: object) -> MemoryItem | None:
        """Return nothing: nobody asks for single items here."""
        del item_id

    def warm(self) -> None:
        """Load what the first answer would wait for."""
        if self._inner is not None:
            self._inner.warm()  # type: ignore[attr-defined]


def ask(folder: Path, asked: Sequence[str]) -> dict[str, Any]:
    """Return times, tokens and savings of contexts for these questions."""
    with _opened(folder) as hx:
        found: dict[str, Any] = {"first_ms": _first(hx, asked[-1])}
        for name, alone in (("deterministic", True), ("deadlines", False)):
            for text in asked[-WARM_UP:]:
                hx.context(text, deterministic=alone)
            timings, late = Timings(), 0
            for text in asked:
                with timings:
                    context = hx.context(text, deterministic=alone)
                late += bool(context.late)
            found[name] = {**_summary(timings), "late": late / len(asked)}
        found["slow"] = {
            layer.value: _slow(hx, asked[:20], layer) for layer in (MemoryLayer.GRAPH, MemoryLayer.VECTOR)
        }
        found["budgets"] = [_spent(hx, asked, budget) for budget in BUDGETS]
        found["layers"] = _shares(hx, asked)
        found["saved"] = _saved(hx, asked[:60])
        found["same"] = _same_order(hx, asked[:60])
    return found


def _summary(timings: Timings) -> dict[str, float]:
    return {**timings.summary(), "cpu_p95_ms": percentile(timings.cpu_ms, 0.95)}


def _first(hx: Hexad, question: str) -> float:
    first = Timings()
    with first:
        hx.context(question)
    return first.wall_ms[0]


def _slow(hx: Hexad, asked: Sequence[str], layer: MemoryLayer) -> dict[str, float]:
    """Ask with one layer that sleeps; say how often it is named, and how often all others answered as they do alone."""
    services, known = hx._services, hx._services.contexts()._sources()
    inner = known[layer]() if layer in known else None
    contexts = Contexts(
        replace(services.context, clock=SystemClock()),
        services.stores,
        {**known, layer: lambda: _Slow(layer, inner)},
        counter=CharacterCounter(),
        handouts=services.handouts,
        generator_for=lambda _name: None,
        factors=lambda _class: {},
    )
    others = [item for item in LAYERS if item is not layer]
    timings, planned, named, whole = Timings(), 0, 0, 0
    try:
        contexts.context(asked[0], wanted=RouteRequest(), narrowed=ContextFilters())  # what is loaded once
        time.sleep(SLOW_S)
        for text in asked:
            question = f"how is it structured: {text}"
            with timings:
                context = contexts.context(question, wanted=RouteRequest(), narrowed=ContextFilters())
            planned += layer in {plan.layer for plan in context.plan.layers}
            named += layer in context.late
            without = hx.context(question, layers=others, deterministic=True)
            whole += _answered(context) == _answered(without)
            time.sleep(SLOW_S)
    finally:
        contexts.close()
    return {**_summary(timings), "named": named / planned, "whole": whole / len(asked)}


def _answered(context: FusedContext) -> set[MemoryLayer]:
    return {block.item.layer for block in (*context.system_items, *context.evidence_blocks)}


def _spent(hx: Hexad, asked: Sequence[str], budget: int) -> dict[str, float]:
    seen = [hx.context(text, budget, deterministic=True) for text in asked]
    same = [hx.context(text, PLENTY, deterministic=True) for text in asked]  # in every form the same rows
    return {
        "budget": budget,
        "used": sum(context.tokens for context in seen) / (budget * len(seen)),
        "most": max(context.tokens for context in seen) / budget,
        "toon": 1 - _sum(same, "toon") / _sum(same, "json"),
        "markdown": 1 - _sum(same, "toon") / _sum(same, "markdown"),
        "chosen": sum(context.format == "toon" for context in seen) / len(seen),
        "items": sum(len(context.system_items) + len(context.evidence_blocks) for context in seen)
        / len(seen),
        "named": sum(len(context.dropped) for context in seen) / len(seen),
    }


def _shares(hx: Hexad, asked: Sequence[str]) -> dict[str, float]:
    """Return in which share of the contexts each layer has something."""
    seen = [_answered(hx.context(text, deterministic=True)) for text in asked]
    return {layer.value: sum(layer in layers for layers in seen) / len(seen) for layer in LAYERS}


def _saved(hx: Hexad, asked: Sequence[str]) -> dict[str, float]:
    """Return what fusion saves at equal evidence, beside the answers of all layers one after the other as JSON rows."""
    apart = fused = short = toon = json_ = missing = 0
    for text in asked:
        whole = hx.context(text, PLENTY, deterministic=True, format="json")
        alone = [
            hx.context(text, PLENTY, layers=[layer.layer], deterministic=True, format="json")
            for layer in whole.plan.layers
            if layer.share > 0  # decisions that nobody asked for are few by intent, not by fusion
        ]
        first = hx.context(text, PLENTY, deterministic=True, details=False, format="json")
        apart += sum(map(_rows, alone))
        fused += _rows(whole)
        short += _rows(first)
        toon += whole.tokens_by_format["toon"]
        json_ += whole.tokens_by_format["json"]
        told = {block.item.id for block in (*whole.system_items, *whole.evidence_blocks)}
        told |= {left.id for left in whole.dropped}
        missing += sum(
            block.item.id not in told
            for context in alone
            for block in (*context.system_items, *context.evidence_blocks)
        )
    return {
        "fusion": 1 - fused / apart,
        "summaries": 1 - short / apart,
        "toon": 1 - toon / json_,
        "missing": missing,
    }


def _rows(context: FusedContext) -> int:
    return sum(block.tokens for block in (*context.system_items, *context.evidence_blocks))


def _same_order(hx: Hexad, asked: Sequence[str]) -> float:
    """Return which share of a recall's first five ingested memories the vector layer also has among its first five."""
    shares: list[float] = []
    for text in asked:
        hits = (hit.id for hit in hx.recall(text, limit=60) if hit.layer == "vector")
        wanted = list(islice(hits, 5))
        got = [
            scored_item.item.memory_id
            for scored_item in hx.query(text, layers=["vector"], limit=5, deterministic=True)
        ]
        if wanted:
            shares.append(len(set(wanted) & set(got)) / len(wanted))
    return sum(shares) / len(shares)


def _sum(contexts: Sequence[FusedContext], form: str) -> int:
    return sum(context.tokens_by_format[form] for context in contexts)


# Reporting --------------------------------------------------------------------------------------------------------

_TIMES: Final = ("p50_ms", "p95_ms", "worst_ms", "cpu_p50_ms", "cpu_p95_ms")


def _report(measured: Sequence[dict[str, Any]], report: Report) -> None:
    def row(label: str, size: int, found: dict[str, float]) -> tuple[str | int | float, ...]:
        return (label, size, *(found[name] for name in _TIMES))

    rows = [
        row("every layer waited for, one after the other", m["size"], m["deterministic"]) for m in measured
    ]
    rows += [row("side by side, 50 ms each", m["size"], m["deadlines"]) for m in measured]
    for layer, told in (("graph", "one more layer"), ("vector", "the vector layer")):
        rows += [
            row(f"side by side, {told} asleep for {SLOW_S:g} s", m["size"], m["slow"][layer])
            for m in measured
        ]
    report.tables.append(
        Table(
            title="Milliseconds",
            columns=("", "memories", "p50", "p95", "worst", "CPU p50", "CPU p95"),
            rows=rows,
        )
    )
    names = ("budget", "used", "most", "toon", "markdown", "chosen", "items", "named")
    report.tables.append(
        Table(
            title="Tokens",
            columns=(
                "memories", "budget", "used, share", "the fullest", "saved by TOON beside compact JSON",
                "beside Markdown", "TOON chosen", "items shown", "items left out, each named",
            ),
            rows=[(m["size"], *(budget[name] for name in names)) for m in measured for budget in m["budgets"]],
        )
    )  # fmt: skip
    for m in measured:
        _figures(m, report)
    report.notes.append(
        f"One in {REMEMBERED} texts is both ingested and remembered, so that layers repeat each other that often: what fusion "
        "saves follows from it. Saved by fusion: rows of compact JSON, whole texts, beside those of each layer asked by "
        "itself; what is not shown has given way to a duplicate or to what contradicts it, and is named."
    )


def _figures(m: dict[str, Any], report: Report) -> None:
    size, saved, slow = f"{m['size']:,}", m["saved"], m["slow"]["vector"]
    report.at_most(
        f"context p95 at {size}, every layer waited for", m["deterministic"]["p95_ms"], P95_MS, "ms"
    )
    report.at_most(f"context p95 at {size}, CPU", m["deterministic"]["cpu_p95_ms"], P95_MS, "ms")
    report.figure(f"first context of a process at {size}", m["first_ms"], "ms")
    report.figure(f"contexts at {size} in which a layer was late", m["deadlines"]["late"])
    report.at_least(
        f"slow layer named as late at {size}", min(entry["named"] for entry in m["slow"].values()), 1.0
    )
    report.figure(f"all other layers answered in spite of the slow one at {size}", slow["whole"])
    report.figure(
        f"context p50 with the slow layer, over {TOTAL_MS:g} ms, at {size}", slow["p50_ms"] / TOTAL_MS, "×"
    )
    for layer, share in m["layers"].items():
        report.figure(f"contexts at {size} with something of the {layer} layer", share)
    report.at_most(
        f"fullest context over its budget at {size}", max(budget["most"] for budget in m["budgets"]), 1.0, "×"
    )
    report.figure(f"tokens saved by fusion at equal evidence, at {size}", saved["fusion"])
    report.figure(f"tokens saved by fusion and summaries first, at {size}", saved["summaries"])
    report.figure(f"tokens saved by TOON where all fits, at {size}", saved["toon"])
    report.at_most(f"items of a layer that are neither shown nor named at {size}", saved["missing"], 0)
    report.at_least(f"first five of the vector layer that a recall has too, at {size}", m["same"], 0.95)
