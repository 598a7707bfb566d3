"""One recall for all kinds of stores: short chats, chats with an assistant, code, documents and short facts.

Each kind is asked in a store of its own, in a space of a store that has all of them, and in one space that has all of
them. With `--quick` a part of the development half: three chats of each kind and every third question, and of the
functions every sixth and those that answer. BM25 and cosine rank whole texts, each embedded by itself. The kinds of which there are two halves are asked
with both; of short chats and code the development half is all there is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import hexad
from benchmarks.assistant_chats_data import chats, documents
from benchmarks.corpora import Question, questions, read_lines, write_lines
from benchmarks.halves import DEVELOPMENT, halves
from benchmarks.peers import Bm25
from benchmarks.quality import RememberedVectors, metrics
from benchmarks.report import Options, Report, Table
from benchmarks.short_facts import OWN, ShortFacts

DEPTH: Final = 100
METRICS: Final = ("R@1", "R@5", "R@10", "NDCG@10", "all in 10")
EMPTY: Final = "empty"
SHORT_CHATS, ASSISTANT_CHATS, CODE, DOCUMENTS, SHORT_FACTS = (
    "short chats", "assistant chats", "code", "documents", "short facts",
)  # fmt: skip
HEXAD, BM25, COSINE = "hexad", "BM25", "cosine of whole texts"
QUICK_SPACES, QUICK_QUESTIONS, QUICK_FUNCTIONS = 3, 3, 6
_MIXED, _SPACES = "hexad, one space for all kinds", "hexad, a store of many spaces"
FROM_SEPARATE: Final = 0.01
"""So much less than separate stores may one space for all kinds have, at R@10."""

Ranker = Callable[[Question], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of collection: records by space, and questions, each asked in the space that it names."""

    name: str
    records: Mapping[str, Sequence[Mapping[str, Any]]]
    questions: Sequence[Question]

    def only(self, asked: Sequence[Question]) -> Kind:
        """Return the same collection with some of its questions."""
        return Kind(name=self.name, records=self.records, questions=asked)


def run(options: Options) -> Report:
    """Measure every half."""
    report = Report(name="Kinds of stores")
    if options.data is None:
        report.skipped = "the development data is not there (give --data DIR)."
        return report
    embedder = RememberedVectors(keep=options.reuse_vectors)
    for half in halves(quick=options.quick):
        parts = kinds(half, options.data)
        if options.quick:
            parts = [_fewer(part) for part in parts]
        _measure(half, parts, embedder, options.work / half, report)
    embedder.save()
    report.notes.append(
        "Every question has an answer: *empty* is the share that got none at all. *all in 10*: share of questions whose "
        "whole evidence is among the first ten. BM25 (k1 1.2, b 0.75) and cosine search what the separate store holds."
    )
    return report


def kinds(half: str, data: Path) -> list[Kind]:
    """Return the kinds of which there is this half."""
    spoken, written = chats(half), documents(half)
    facts = ShortFacts.load(half)
    found = [
        Kind(
            name=ASSISTANT_CHATS,
            records=_by_space(spoken.turns, "conversation"),
            questions=spoken.all_questions(),
        ),
        _in_one_space(DOCUMENTS, written.texts, written.questions),
        Kind(
            name=SHORT_FACTS,
            records=_by_space(
                [{"id": fact.id, "text": fact.text, "store": fact.store} for fact in facts.facts], "store"
            ),
            questions=[
                Question(text=each.text, conversation=each.store, evidence=each.right)
                for each in facts.questions
                if each.kind in OWN
            ],
        ),
    ]
    if half == DEVELOPMENT:
        found += [
            Kind(
                name=SHORT_CHATS,
                records=_by_space(read_lines(data / "conversations" / "items.jsonl"), "conversation"),
                questions=questions(data / "conversations" / "questions.jsonl"),
            ),
            _in_one_space(
                CODE,
                read_lines(data / "code_questions" / "corpus.jsonl"),
                questions(data / "code_questions" / "questions.jsonl"),
            ),
        ]
    return found


def _fewer(part: Kind) -> Kind:
    """Return a part of a collection, with every question's evidence."""
    spaces = list(part.records)[: len(part.records) if part.name == SHORT_FACTS else QUICK_SPACES]
    asked = [question for question in part.questions if question.conversation in spaces][::QUICK_QUESTIONS]
    needed = {name for question in asked for name in question.evidence}
    step = QUICK_FUNCTIONS if part.name == CODE else 1
    records = {
        space: [line for at, line in enumerate(part.records[space]) if at % step == 0 or line["id"] in needed]
        for space in spaces
    }
    return Kind(name=part.name, records=records, questions=asked)


def _by_space(records: Sequence[dict[str, Any]], name: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        found.setdefault(record[name], []).append(record)
    return found


def _in_one_space(name: str, records: Sequence[dict[str, Any]], asked: Sequence[Question]) -> Kind:
    placed = [Question(text=each.text, conversation=name, evidence=each.evidence) for each in asked]
    return Kind(name=name, records={name: records}, questions=placed)


# Stores -------------------------------------------------------------------------------------------------------------


def build(folder: Path, parts: Sequence[Kind], embedder: RememberedVectors, *, space: str | None) -> None:
    """Ingest and embed collections, each in its spaces; all in one where `space` is named."""
    (folder / "source").mkdir(parents=True)
    with hexad.open(folder, embedder=embedder, background=False, user_dir=folder / "user") as hx:
        for part in parts:
            for name, records in part.records.items():
                place = write_lines(folder / "source" / f"{name.replace(' ', '-')}.jsonl", list(records))
                ingested = hx.ingest(place, space=space or name.replace(" ", "-"), embed=True)
                if ingested.skips:
                    raise SystemExit(f"{place.name}: {ingested.skipped[:3]}")


def ask(
    folder: Path, part: Kind, embedder: RememberedVectors, *, space: str | None = None
) -> dict[str, list[str]]:
    """Return what a store answers to the questions of a collection, by the question's text and space."""
    with hexad.open(folder, embedder=embedder, background=False, user_dir=folder / "user") as hx:
        return {
            _key(question): [
                hit.source_id or hit.id
                for hit in hx.recall(
                    question.text,
                    space=space or (question.conversation or "").replace(" ", "-"),
                    limit=DEPTH,
                )
            ]
            for question in part.questions
        }


def _key(question: Question) -> str:
    return f"{question.conversation}\0{question.text}"


def baselines(part: Kind, embedder: RememberedVectors) -> dict[str, dict[str, list[str]]]:
    """Return what BM25 and cosine over whole texts answer."""
    found: dict[str, dict[str, list[str]]] = {BM25: {}, COSINE: {}}
    for space, records in part.records.items():
        asked = [question for question in part.questions if question.conversation == space]
        if not asked:
            continue
        texts = [str(record["text"]) for record in records]
        rows, bm25 = embedder.embed(texts), Bm25(texts, stop_words=False)
        for question in asked:
            cosine = (rows @ embedder.embed_query(question.text)).astype(np.float64)
            for name, scores in ((BM25, bm25.scores(question.text)), (COSINE, cosine)):
                order = np.argsort(-scores, kind="stable")[:DEPTH].tolist()
                found[name][_key(question)] = [records[at]["id"] for at in order if scores[at] > 0]
    return found


def evaluate(part: Kind, answers: Mapping[str, Sequence[str]]) -> tuple[float, ...]:
    """Return the means of the metrics, and the share of empty answers."""
    found = [metrics(answers[_key(each)], each.evidence, {}) for each in part.questions]
    means = [float(np.mean([row[name] for row in found])) for name in METRICS]
    return (*means, float(np.mean([not answers[_key(each)] for each in part.questions])))


def _measure(
    half: str, parts: Sequence[Kind], embedder: RememberedVectors, work: Path, report: Report
) -> None:
    build(work / "spaces", parts, embedder, space=None)
    build(work / "mixed", parts, embedder, space="mixed")
    for part in parts:
        build(work / part.name, [part], embedder, space=None)
        answers = {
            f"**{HEXAD}**": ask(work / part.name, part, embedder),
            _SPACES: ask(work / "spaces", part, embedder),
            _MIXED: ask(work / "mixed", part, embedder, space="mixed"),
            **baselines(part, embedder),
        }
        rows = [(name, *evaluate(part, answer)) for name, answer in answers.items()]
        report.tables.append(
            Table(
                title=f"{half}: {part.name}, {len(part.questions)} questions",
                columns=("", *METRICS, EMPTY),
                rows=rows,
            )
        )
        at = 1 + METRICS.index("R@10")
        own, spaces, mixed, *others = (row[at] for row in rows)
        report.at_least(f"{half}: {part.name}: R@10 over the best baseline", own / max(others), 1.0, "×")
        report.at_least(f"{half}: {part.name}: one space less separate stores", mixed - own, -FROM_SEPARATE)
        report.at_least(f"{half}: {part.name}: spaces less separate stores", spaces - own, -FROM_SEPARATE)
