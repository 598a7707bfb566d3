"""What consolidation does to size and to recall: conversations, and what piles up beside them in a year.

Beside the turns of real conversations, which hold the evidence of questions, a seeded plan plants notes that say the same as
a turn and as each other, chatter that hardly matters and nobody reads, facts that are said again and changed, copies of
documents with an edit, and look-alikes that say something else and must stay. Recall is measured without them, with them,
and after `hx.consolidate("project")`, each time read-only, so that asking leaves no trace.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

import hexad
from benchmarks import peers
from benchmarks.corpora import Question, questions, read_lines, write_lines
from benchmarks.quality import DEPTH, RememberedVectors, metrics
from benchmarks.report import Options, Report, Table, disk_bytes
from hexad import ConsolidationReport, FrozenClock, Hexad

SEED: Final = 20260302
STARTED: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
UNREAD_DAYS: Final = 45
COPIED, CHATTER, READ, LOOKALIKES, FACTS, DOCUMENTS = 80, 120, 10, 20, 30, 10
"""So many of each are planted in a conversation; a copied turn has three notes, a document three versions."""
METRICS: Final = ("R@1", "R@5", "R@10", "MRR", "all in 10")
_NUMBER = re.compile(r"\b\d+\b")
_NEGATED = re.compile(r"\b(is|was|are|were|have|had|can|will)\b")


@dataclass(slots=True, kw_only=True)
class Planted:
    """What was planted, by ids of memories. `copies` maps a note to the turn whose words it repeats."""

    copies: dict[str, str] = field(default_factory=dict)
    chatter: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    lookalikes: set[str] = field(default_factory=set)
    facts: int = 0
    documents: int = 0


def run(options: Options) -> Report:
    """Measure before and after."""
    report = Report(name="Consolidation")
    if options.data is None:
        report.skipped = "the development data is not there (give --data DIR)."
        return report
    turns = read_lines(options.data / "conversations" / "items.jsonl")
    asked = questions(options.data / "conversations" / "questions.jsonl")
    names = sorted({turn["conversation"] for turn in turns})[: 2 if options.quick else None]
    turns = [turn for turn in turns if turn["conversation"] in names]
    asked = [question for question in asked if question.conversation in names][:: 3 if options.quick else 1]
    bench = _Bench(options.work, RememberedVectors(keep=options.reuse_vectors), asked)
    with bench.opened() as hx:
        for name in names:
            lines = [turn for turn in turns if turn["conversation"] == name]
            hx.ingest(write_lines(options.work / f"{name}.jsonl", lines), space=name, embed=False)
        bench.embed(hx)
    states = [("nothing planted", bench.measured({}))]
    with bench.opened() as hx:
        planted = plant(hx, turns, options.work / "documents")
        bench.embed(hx)
    bench.embedder.save()
    states.append(("planted", bench.measured(planted.copies)))
    _consolidated(bench, planted, states, report)
    _tables(states, report)
    return report


class _Bench:
    """The store that is measured."""

    def __init__(self, work: Path, embedder: RememberedVectors, asked: Sequence[Question]) -> None:
        self.folder, self.embedder, self._asked = work / "store", embedder, asked
        self.folder.mkdir()
        self.clock = FrozenClock(STARTED)

    def opened(self, *, readonly: bool = False) -> Hexad:
        """Open it."""
        return hexad.open(
            self.folder,
            embedder=self.embedder,
            clock=self.clock,
            background=False,
            readonly=readonly,
            user_dir=self.folder / "user",
        )

    def embed(self, hx: Hexad) -> None:
        """Compute the vectors that are missing; links are not asked for."""
        embedding = hx._services.search.job
        assert embedding is not None
        embedding.run()

    def measured(self, copies: dict[str, str]) -> dict[str, float]:
        """Return the metrics of all questions, and sizes."""
        with self.opened(readonly=True) as hx:
            found = [
                metrics(self._ranking(hx, question, copies), question.evidence, session_of={})
                for question in self._asked
            ]
            strict = [
                metrics(self._ranking(hx, question, {}), question.evidence, session_of={})
                for question in self._asked
            ]
        held = peers.read_store(self.folder)
        return {
            **{name: float(np.mean([row[name] for row in found])) for name in METRICS},
            "turns": float(np.mean([entry["R@10"] for entry in strict])),
            "memories": len(held.ids),
            "vectors": len(held.owner),
            "bytes": sum(len(text.encode()) for text in held.texts),
            "disk": disk_bytes(self.folder / ".hexad"),
        }

    def _ranking(self, hx: Hexad, asked: Question, copies: dict[str, str]) -> list[str]:
        """Return the turns that a recall finds; a note in a turn's words stands for it, once."""
        seen: set[str] = set()
        ranking = []
        for hit in hx.recall(asked.text, space=asked.conversation, limit=DEPTH):
            name = copies.get(hit.id) or hit.source_id or hit.id
            ranking.append(f"{name} again {hit.id}" if name in seen else name)
            seen.add(name)
        return ranking


# Planting -----------------------------------------------------------------------------------------------------------


def plant(hx: Hexad, turns: Sequence[dict[str, Any]], folder: Path) -> Planted:
    """Plant beside conversations what piles up; the same turns always give the same."""
    pick = random.Random(f"consolidation {SEED}")
    found = Planted()
    for name in sorted({turn["conversation"] for turn in turns}):
        mine = [turn for turn in turns if turn["conversation"] == name]
        long = [turn for turn in mine if len(turn["text"].split()) >= 18]
        chosen = pick.sample(long, min(len(long), COPIED + LOOKALIKES + DOCUMENTS))
        for turn in chosen[:COPIED]:
            for text in said_again(turn["text"]):
                found.copies[hx.remember(text, space=name).id] = turn["id"]
        _chatter(hx, mine, name, pick, found)
        for turn in chosen[COPIED : COPIED + LOOKALIKES]:
            for text in look_alikes(turn["text"]):
                found.lookalikes.add(hx.remember(text, space=name).id)
        _facts(hx, name, pick, found)
        _documents(hx, mine, folder / name, pick, found)
    return found


def said_again(text: str) -> tuple[str, str, str]:
    """Return a text in three ways that say the same."""
    return text, text.lower().rstrip(".!?"), f"{text.rstrip('.!?')}!"


def look_alikes(text: str) -> Iterator[str]:
    """Give a text, and one that differs from it in a number or in a "not"."""
    yield text
    if _NUMBER.search(text):
        yield _NUMBER.sub(lambda found: str(int(found[0]) + 1), text, count=1)
    elif _NEGATED.search(text):
        yield _NEGATED.sub(r"\1 not", text, count=1)


def _chatter(
    hx: Hexad, turns: Sequence[dict[str, Any]], name: str, pick: random.Random, found: Planted
) -> None:
    """Remember sentences of the conversation without sense, as something that hardly matters."""
    parts = [part for turn in turns for part in re.split(r"(?<=[.!?])\s+", turn["text"]) if len(part) > 20]
    for at in range(CHATTER):
        text = f"{' '.join(pick.sample(parts, 2))} (scribble {at})"
        found.chatter.add(hx.remember(text, space=name, importance=0.1).id)


def _facts(hx: Hexad, name: str, pick: random.Random, found: Planted) -> None:
    """State facts, change them, and say the new value twice more in other words."""
    for at in range(FACTS):
        old, new = pick.sample(range(100, 999), 2)
        key = {"subject": f"shelf {at} of {name}", "attribute": "boxes"}
        for value, text in (
            (old, f"Shelf {at} has {old} boxes."),
            (new, f"Shelf {at} was filled up and has {new} boxes."),
            (new, f"We counted again: {new} boxes on shelf {at}."),
            (new, f"On shelf {at} there are {new} boxes."),
        ):
            hx.remember(text, space=name, value=value, **key)
            found.facts += 1


def _documents(
    hx: Hexad, turns: Sequence[dict[str, Any]], folder: Path, pick: random.Random, found: Planted
) -> None:
    """Ingest documents, each with two copies: one set in other letters, one without the last sentence."""
    folder.mkdir(parents=True)
    for at in range(DOCUMENTS):
        parts = [turn["text"] for turn in pick.sample(turns, 8)]
        shorter = " ".join(parts)[: -len(parts[-1].rpartition(". ")[2])]
        for name, text in (("", " ".join(parts)), ("copy", " ".join(parts).upper()), ("older", shorter)):
            page = f"# Page {at} of the minutes\n\n{text}\n"
            (folder / f"page_{at}{name}.md").write_text(page, encoding="utf-8")
            found.documents += 1
    hx.ingest(folder, space=turns[0]["conversation"], embed=False)


# Consolidating ------------------------------------------------------------------------------------------------------


def _consolidated(
    bench: _Bench, planted: Planted, states: list[tuple[str, dict[str, float]]], report: Report
) -> None:
    with bench.opened() as hx:
        bench.clock.advance(days=UNREAD_DAYS - 5)
        for memory_id in sorted(planted.chatter)[::READ]:
            planted.read.update(hit.id for hit in hx.recall(hx.get(memory_id).raw, limit=1))
        bench.clock.advance(days=5)
        known = _known(hx)
        dry = hx.consolidate("project", dry_run=True)
        wall, cpu = time.perf_counter(), time.process_time()
        done = hx.consolidate("project")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        again = hx.consolidate("project")
        states.append(("consolidated", bench.measured(planted.copies)))
        lost = _lost(bench, planted, done)
        report.at_most("evidence of questions that is gone", lost["evidence"], 0)
        report.at_most("look-alikes that say something else, merged", lost["lookalikes"], 0)
        report.at_most("what was read of late, dropped", lost["read"], 0)
        report.at_most("values of facts that are told otherwise", len(known ^ _known(hx)), 0)
    report.at_most("changes of a second run", len(again.changes), 0)
    report.at_most("changes that a dry run did not tell", abs(len(dry.changes) - len(done.changes)), 0)
    report.figure("consolidation", wall, "s")
    report.figure("consolidation, CPU", cpu, "s")
    _changes(planted, done, report)


def _known(hx: Hexad) -> set[tuple[str | None, str | None, str, str]]:
    told = [("now", fact) for fact in hx.facts.current()]
    told += [("ever", fact) for fact in hx.facts.history(attribute="boxes")]
    return {(fact.subject, fact.attribute, str(fact.value), when) for when, fact in told}


def _lost(bench: _Bench, planted: Planted, done: ConsolidationReport) -> dict[str, int]:
    gone = {name for change in done.changes if change.action != "rescored" for name in change.ids}
    there = set(peers.read_store(bench.folder).ids)
    evidence = {name for question in bench._asked for name in question.evidence}
    return {
        "evidence": len(evidence - there),
        "lookalikes": len(gone & planted.lookalikes),
        "read": len(gone & planted.read),
    }


def _changes(planted: Planted, done: ConsolidationReport, report: Report) -> None:
    counts = done.counts
    copies = sum(name in planted.copies for change in done.changes for name in change.ids)
    dropped = sum(name in planted.chatter for change in done.changes for name in change.ids)
    rows = [
        ("notes in a turn's words", len(planted.copies), copies),
        ("chatter of no importance", len(planted.chatter), dropped),
        ("of it, read of late", len(planted.read & planted.chatter), 0),
        (
            "facts, said again and changed",
            planted.facts,
            counts.get("merged", 0) - copies - _of(done, "vector"),
        ),
        ("versions of documents", planted.documents, _of(done, "vector")),
        ("look-alikes that say something else", len(planted.lookalikes), 0),
    ]
    report.tables.append(
        Table(
            title="What was planted, and what consolidation took of it",
            columns=("", "planted", "taken"),
            rows=rows,
        )
    )
    for what, count in counts.items():
        report.figure(f"memories that were {what}", count)


def _of(done: ConsolidationReport, layer: str) -> int:
    return sum(change.layer == layer for change in done.changes)


def _tables(states: Sequence[tuple[str, dict[str, float]]], report: Report) -> None:
    report.tables.append(
        Table(
            title="Recall, a note in a turn's words counting as the turn",
            columns=("", *METRICS, "R@10 of the turns themselves"),
            rows=[(name, *(found[column] for column in METRICS), found["turns"]) for name, found in states],
        )
    )
    report.tables.append(
        Table(
            title="Size",
            columns=("", "memories", "vectors", "kB of searched text", "MB on disk"),
            rows=[
                (
                    name,
                    int(entry["memories"]),
                    int(entry["vectors"]),
                    entry["bytes"] / 1e3,
                    entry["disk"] / 1e6,
                )
                for name, entry in states
            ],
        )
    )
    clean, before, after = (found for _, found in states)
    report.figure("memories after over before", after["memories"] / before["memories"], "×")
    report.figure("vectors after over before", after["vectors"] / before["vectors"], "×")
    report.figure("searched text after over before", after["bytes"] / before["bytes"], "×")
    report.at_least("R@10 after over before", after["R@10"] / before["R@10"], 1.0, "×")
    report.figure("R@10 after over that with nothing planted", after["R@10"] / clean["R@10"], "×")
