"""Short facts: what plain `remember` and `recall` answer from stores of 15, 60 and 300 sentences, and what they leave empty.

`python -m benchmarks.short_facts` lists the questions of the development half that are not answered first.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

import hexad
from benchmarks.corpora import STOP_WORDS, words
from benchmarks.halves import DEVELOPMENT, halves, records, share
from benchmarks.peers import Bm25
from benchmarks.quality import RememberedVectors
from benchmarks.report import Cell, Options, Report, Table
from hexad import Hexad

NO_SHARED_WORD, EXACT_TOKEN = "no shared word", "exact token"
OWN: Final = ("shared words", NO_SHARED_WORD, EXACT_TOKEN, "first person")
OFF_TOPIC: Final = ("off-topic, far", "off-topic, near")
HEXAD, COSINE, BM25 = "hexad", "cosine", "BM25"
SYSTEMS: Final = (HEXAD, COSINE, BM25)
LIMIT: Final = 5
LOST, ANSWERED = 0.005, 0.05
"""Budgets: own questions whose fact would be among the hits without the default's cut, and off-topic questions that are answered."""
_QUICK_FACTS: Final = 100
_AUXILIARIES: Final = frozenset("may must need needs us would tell me one".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One sentence of a collection."""

    id: str
    store: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to one collection; `right` are the facts that answer it, none for an off-topic one."""

    id: str
    store: str
    kind: str
    text: str
    right: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortFacts:
    """One half: collections of facts, and the questions to them."""

    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]

    @classmethod
    def load(cls, half: str) -> ShortFacts:
        """Return a half; raises `ValueError` where its records contradict each other."""
        lines = records("short_facts", half)
        facts = [
            Fact(id=line["id"], store=line["store"], text=line["text"])
            for line in lines
            if line["record"] == "fact"
        ]
        questions = [
            Question(
                id=line["id"],
                store=line["store"],
                kind=line["kind"],
                text=line["text"],
                right=frozenset(line["right"]),
            )
            for line in lines
            if line["record"] == "question"
        ]
        data = cls(facts=tuple(facts), questions=tuple(questions))
        if problems := list(data.problems()):
            raise ValueError(f"short_facts.{half}.jsonl: {'; '.join(problems)}")
        return data

    def problems(self) -> Iterable[str]:
        """Give what contradicts itself: ids, texts that stand twice, words that should not be shared."""
        facts = {fact.id: fact for fact in self.facts}
        for what, counts in (
            ("id", Counter([*(fact.id for fact in self.facts), *(each.id for each in self.questions)])),
            ("question", Counter(each.text.casefold() for each in self.questions)),
            ("fact", Counter((fact.store, fact.text) for fact in self.facts)),
        ):
            yield from (f"the {what} {value!r} stands twice" for value, count in counts.items() if count > 1)
        for question in self.questions:
            if question.kind not in (*OWN, *OFF_TOPIC):
                yield f"{question.id} is of the unknown kind {question.kind!r}"
            if bool(question.right) != (question.kind in OWN):
                yield f"{question.id} has {len(question.right)} right facts"
            for right in question.right:
                if right not in facts or facts[right].store != question.store:
                    yield f"{question.id} names {right!r}, which is not in {question.store}"
                elif question.kind == NO_SHARED_WORD and (
                    common := content(question.text) & content(facts[right].text)
                ):
                    yield f"{question.id} shares {sorted(common)} with {right}"


def content(text: str) -> set[str]:
    """Return the words of a text that carry meaning, without common endings."""
    return {
        _stem(word)
        for word in words(text)
        if len(word) > 1 and word not in STOP_WORDS and word not in _AUXILIARIES
    }


def _stem(word: str) -> str:
    endings = ("ies", "ing", "ed", "es", "s", "e")
    return next(
        (word.removesuffix(end) for end in endings if word.endswith(end) and len(word) - len(end) >= 3), word
    )


# Asking -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The first five facts that a system answers with, and whether the right one is in its default answer."""

    question: Question
    system: str
    ids: tuple[str, ...]
    lost: bool

    @property
    def is_first(self) -> bool:
        """Whether the right fact came first."""
        return bool(self.question.right & set(self.ids[:1]))

    @property
    def in_five(self) -> bool:
        """Whether the right fact is among the first five."""
        return bool(self.question.right & set(self.ids))


def answers(data: ShortFacts, embedder: RememberedVectors, work: Path) -> list[Answer]:
    """Return what each system answers to each question; every collection is a store of its own."""
    found: list[Answer] = []
    for store in dict.fromkeys(fact.store for fact in data.facts):
        facts = [fact for fact in data.facts if fact.store == store]
        questions = [question for question in data.questions if question.store == store]
        folder = work / store
        folder.mkdir(parents=True)
        with hexad.open(folder, embedder=embedder, background=False, user_dir=folder / "user") as hx:
            found += _of_hexad(hx, facts, questions)
        found += _of_baselines(facts, questions, embedder)
    return found


def _of_hexad(hx: Hexad, facts: Sequence[Fact], questions: Sequence[Question]) -> list[Answer]:
    ids = {hx.remember(fact.text).id: fact.id for fact in facts}
    hx.embed_pending()
    found = []
    for question in questions:
        first = tuple(ids[hit.id] for hit in hx.recall(question.text, limit=LIMIT))
        default = {ids[hit.id] for hit in hx.recall(question.text)}
        everything = {ids[hit.id] for hit in hx.recall(question.text, min_relevance=0)}
        lost = bool(question.right & everything) and not question.right & default
        found.append(Answer(question=question, system=HEXAD, ids=first, lost=lost))
    return found


def _of_baselines(
    facts: Sequence[Fact], questions: Sequence[Question], embedder: RememberedVectors
) -> list[Answer]:
    texts = [fact.text for fact in facts]
    rows, bm25 = embedder.embed(texts), Bm25(texts, stop_words=True)
    found = []
    for question in questions:
        cosine = (rows @ embedder.embed_query(question.text)).astype(np.float64)
        for system, scores in ((COSINE, cosine), (BM25, bm25.scores(question.text))):
            order = [at for at in np.argsort(-scores, kind="stable").tolist() if scores[at] > 0]
            ranked = tuple(facts[at].id for at in order[:10])
            found.append(Answer(question=question, system=system, ids=ranked[:LIMIT], lost=False))
    return found


# Reporting ----------------------------------------------------------------------------------------------------------


def run(options: Options) -> Report:
    """Ask every half and report it by kind and by size of the store."""
    report = Report(name="Short facts")
    embedder = RememberedVectors(keep=options.reuse_vectors)
    for half in halves(quick=options.quick):
        data = ShortFacts.load(half)
        if options.quick:
            data = _small(data)
        found = answers(data, embedder, options.work / half)
        sizes = Counter(fact.store for fact in data.facts)
        own = [each for each in found if each.question.kind in OWN]
        report.tables += [
            _own_table(
                f"{half}: own questions by kind",
                own,
                OWN,
                {each.question.id: each.question.kind for each in own},
            ),
            _own_table(
                f"{half}: own questions by facts in the store",
                own,
                tuple(str(size) for size in sorted(sizes.values())),
                {each.question.id: str(sizes[each.question.store]) for each in own},
            ),
            _off_table(f"{half}: off-topic questions that were answered", found),
        ]
        _budgets(report, half, found)
    embedder.save()
    return report


def _small(data: ShortFacts) -> ShortFacts:
    sizes = Counter(fact.store for fact in data.facts)
    return ShortFacts(
        facts=tuple(fact for fact in data.facts if sizes[fact.store] < _QUICK_FACTS),
        questions=tuple(each for each in data.questions if sizes[each.store] < _QUICK_FACTS),
    )


def _own_table(
    title: str, found: Sequence[Answer], groups: Sequence[str], group_of: Mapping[str, str]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in (*groups, "all"):
        by_system = {
            system: [
                each
                for each in found
                if each.system == system and group in (group_of[each.question.id], "all")
            ]
            for system in SYSTEMS
        }
        count = len(by_system[HEXAD])
        rows.append(
            (
                group,
                count,
                *(share(sum(each.is_first for each in by_system[name]), count) for name in SYSTEMS),
                *(share(sum(each.in_five for each in by_system[name]), count) for name in SYSTEMS),
                *(share(sum(not each.ids for each in by_system[name]), count) for name in (HEXAD, BM25)),
                share(sum(each.lost for each in by_system[HEXAD]), count),
            )
        )
    columns = [
        "",
        "questions",
        *(f"first: {name}" for name in SYSTEMS),
        *(f"in five: {name}" for name in SYSTEMS),
        *(f"empty: {name}" for name in (HEXAD, BM25)),
        f"lost at the default: {HEXAD}",
    ]
    return Table(title=title, columns=columns, rows=rows)


def _off_table(title: str, found: Sequence[Answer]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for kinds in (*((kind,) for kind in OFF_TOPIC), OFF_TOPIC):
        by_system = {
            system: [each for each in found if each.system == system and each.question.kind in kinds]
            for system in SYSTEMS
        }
        count = len(by_system[HEXAD])
        answered = (share(sum(bool(each.ids) for each in by_system[name]), count) for name in SYSTEMS)
        rows.append((kinds[0] if len(kinds) == 1 else "all", count, *answered))
    return Table(title=title, columns=("", "questions", *SYSTEMS), rows=rows)


def _budgets(report: Report, half: str, found: Sequence[Answer]) -> None:
    own = [each for each in found if each.system == HEXAD and each.question.kind in OWN]
    off = [each for each in found if each.system == HEXAD and each.question.kind in OFF_TOPIC]
    report.at_most(f"{half}: own questions lost", sum(each.lost for each in own) / len(own), LOST)
    answered = sum(bool(each.ids) for each in off) / len(off)
    report.at_most(f"{half}: off-topic questions answered", answered, ANSWERED)
    first = Counter(each.system for each in found if each.question.kind == NO_SHARED_WORD and each.is_first)
    ratio = first[HEXAD] / max(first[COSINE], 1)
    report.at_least(f"{half}: no shared word, first, over cosine", ratio, 1.0, "×")


def main() -> int:
    """Print the questions of the development half that are not answered first, and off-topic ones that are answered."""
    data = ShortFacts.load(DEVELOPMENT)
    texts = {fact.id: fact.text for fact in data.facts}
    with tempfile.TemporaryDirectory(prefix="hexad-short-facts-") as work:
        found = answers(data, RememberedVectors(keep=False), Path(work))
    for each in found:
        question = each.question
        if each.system == HEXAD and (bool(each.ids) if question.kind in OFF_TOPIC else not each.is_first):
            first = texts[each.ids[0]] if each.ids else "(nothing)"
            right = " / ".join(texts[right] for right in sorted(question.right)) or "(nothing)"
            print(f"{question.store}\t{question.kind}\t{question.text}\t{first}\t{right}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
