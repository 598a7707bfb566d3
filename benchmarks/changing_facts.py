"""Facts that change: what is answered with the value that holds, and what with nothing, beside plain top-k retrieval.

The suite (`facts_suite`) is stored the way a user would, in the order and at the times in which it was said. How an answer is
read without a model is written in benchmarks/README.md and, function by function, in `facts_readers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np

import hexad
from benchmarks import peers
from benchmarks.facts_readers import Answer, Known, Shown, judge, judge_known, kinds_of
from benchmarks.facts_suite import ASKED_FIRST, ASKED_LAST, FIRST, Forgotten, Question, Said, Suite, make
from benchmarks.quality import RememberedVectors
from benchmarks.report import Options, Report, Table
from hexad import FusedContext, Hexad
from hexad.text.tokens import estimate_tokens

BUDGET_TOKENS: Final = 400
"""What every answer may take."""
LIMIT: Final = 50
CONTEXT, RECALL, UNKEYED = "hexad, context", "**hexad, recall**", "hexad, recall, the same texts without keys"
LARGE_CONTEXT, LARGE_TOKENS = "hexad, context of 2,000 tokens: five times the others' budget", 2_000
QUICK: Final = 0.15

Verdicts = dict[str, list[tuple[Question, Mapping[str, bool]]]]


def run(options: Options) -> Report:
    """Store the suite, ask its questions of every system, and judge the answers."""
    report = Report(name="Facts that change")
    suite = make(share=QUICK if options.quick else 1.0)
    embedder = RememberedVectors(keep=options.reuse_vectors)
    plain, typed = measure(suite, options.work, embedder)
    embedder.save()
    said = [event for event in suite.events if isinstance(event, Said)]
    report.figure("texts stored", len(said))
    report.figure("texts forgotten", len(suite.events) - len(said))
    report.figure("questions", len(suite.questions))
    _plain_tables(plain, report)
    _typed_table(typed, report)
    _budgets(plain, typed, report)
    return report


def measure(suite: Suite, work: Path, embedder: RememberedVectors) -> tuple[Verdicts, Verdicts]:
    """Return what each system made of each question: asked in plain words, and asked by key."""
    plain: Verdicts = {}
    typed: Verdicts = {}
    clocks = [hexad.FrozenClock(FIRST) for _ in range(2)]
    folders = [work / "keyed", work / "unkeyed"]
    for folder in folders:
        folder.mkdir()
    keyed, unkeyed = (
        hexad.open(folder, embedder=embedder, clock=clock, background=False, user_dir=folder / "user")
        for folder, clock in zip(folders, clocks, strict=True)
    )
    with keyed, unkeyed:
        for name in suite.several:
            keyed.facts.declare(name)
        ours, bare = Stored(keyed, clocks[0]), Stored(unkeyed, clocks[1])
        book = LastWrite(several=suite.several)
        for event in suite.events:
            ours.take(event, keyed=True)
            bare.take(event, keyed=False)
            book.take(event)
        ours.hx.embed_pending()
        bare.hx.embed_pending()
        baselines = _Baselines(suite, embedder)
        for at in (ASKED_FIRST, ASKED_LAST):
            for stored in (ours, bare):
                stored.until(at)
                stored.hx.maintain()
            asked = [question for question in suite.questions if question.at == at]
            ways: dict[str, Callable[[Question], Answer]] = {
                RECALL: ours.recall,
                CONTEXT: ours.context,
                LARGE_CONTEXT: lambda question: ours.context(question, LARGE_TOKENS),
                UNKEYED: bare.recall,
                "cosine, top k": baselines.cosine,
                "BM25, top k": baselines.bm25,
            }
            for name, way in ways.items():
                plain.setdefault(name, []).extend(
                    (question, judge(question, way(question))) for question in asked
                )
            known: dict[str, Callable[[Question], Known]] = {
                "**hexad, facts**": ours.facts,
                "a dictionary, last write wins": book.facts,
            }
            for name, tell in known.items():
                typed.setdefault(name, []).extend(
                    (question, judge_known(question, tell(question))) for question in asked
                )
    return plain, typed


# Ours ---------------------------------------------------------------------------------------------------------------


class Stored:
    """A store of Hexad, filled with the suite; answers as what its calls returned, text by text."""

    def __init__(self, hx: Hexad, clock: hexad.FrozenClock) -> None:
        self.hx, self._clock = hx, clock
        self.said: dict[str, Said] = {}
        """By id of the memory: the last text that is stored there."""
        self._memories: dict[str, str] = {}

    def until(self, at: datetime) -> None:
        """Let the time pass."""
        self._clock.advance(seconds=(at - self._clock.now()).total_seconds())

    def take(self, event: Said | Forgotten, *, keyed: bool) -> None:
        """Store or forget, as a user does."""
        self.until(event.at)
        if isinstance(event, Forgotten):
            memory_id = self._memories[event.id]
            if event.purge:
                self.hx.forget(memory_id, purge=True, confirm=True)
            else:
                self.hx.forget(memory_id)
            return
        memory_id = self._remember(event) if keyed else self.hx.remember(event.text).id
        self.said[memory_id] = event
        self._memories[event.id] = memory_id
        if keyed and event.rests_on is not None:
            self.hx.link(memory_id, self._memories[event.rests_on], kind="depends-on")

    def _remember(self, event: Said) -> str:
        since = event.since if event.given else None
        if event.category is not None:
            assert event.attribute is not None
            fact = self.hx.project.remember(
                category=event.category,
                key=event.attribute,
                value=event.value,
                component=event.subject,
                valid_from=since,
            )
            if fact.text != event.text:
                raise SystemExit(f"The suite expects {event.text!r}; what was stored is {fact.text!r}.")
            return fact.memory_id
        if event.subject is None:
            return self.hx.remember(event.text).id
        return self.hx.remember(
            event.text,
            subject=event.subject,
            attribute=event.attribute,
            value=event.value,
            valid_from=since,
        ).id

    def recall(self, question: Question) -> Answer:
        """Ask in plain words; a time that is asked about is given as `as_of`."""
        hits = self.hx.recall(question.text, limit=LIMIT, max_tokens=BUDGET_TOKENS, as_of=question.when)
        return Answer(
            shown=tuple(
                Shown(
                    said=self.said[hit.id],
                    past=hit.memory.valid_to is not None
                    and hit.memory.valid_to <= (question.when or question.at),
                    before=() if hit.replaced is None else (self.said[hit.replaced.id],),
                    review=hit.memory.metadata.get("needs_review") is True,
                )
                for hit in hits
            )
        )

    def context(self, question: Question, tokens: int = BUDGET_TOKENS) -> Answer:
        """Ask all layers, in plain words; a time that is asked about is given as `as_of`."""
        found: FusedContext = self.hx.context(question.text, tokens, deterministic=True, as_of=question.when)
        shown = []
        for block in (*found.system_items, *found.evidence_blocks):
            if block.item.memory_id is None:
                continue
            notes = " ".join((*block.item.notes, *block.scored.notes))
            said = self.said[block.item.memory_id]
            before = tuple(
                self.said[memory_id]
                for memory_id in self.said
                if f"({memory_id})" in notes and "before it was" in notes
            )
            shown.append(
                Shown(said=said, past="It was so until" in notes, before=before, review="review it" in notes)
            )
        return Answer(shown=tuple(shown))

    def facts(self, question: Question) -> Known:
        """Ask by subject and attribute."""
        key = (question.subject, question.attribute)
        current = (
            self.hx.facts.current(*key) if question.when is None else self.hx.facts.as_of(question.when, *key)
        )
        history = self.hx.facts.history(*key) if question.history else []
        return Known(
            values=tuple(str(fact.value) for fact in current),
            history=tuple((str(fact.value), f"{fact.valid_from:%Y-%m-%d}") for fact in history),
            review=question.dependent is not None
            and self._memories[question.dependent]
            in {review.memory_id for review in self.hx.facts.needs_review()},
        )


# Baselines --------------------------------------------------------------------------------------------------------


class _Baselines:
    """The same texts, ranked for a question and taken in order until the tokens are spent; forgotten ones are deleted."""

    def __init__(self, suite: Suite, embedder: RememberedVectors) -> None:
        gone = {event.id for event in suite.events if isinstance(event, Forgotten)}
        said = [event for event in suite.events if isinstance(event, Said) and event.id not in gone]
        # A text that was said twice stands there once, with the date of the second time.
        self._said = list({statement.text: statement for statement in said}.values())
        texts = [statement.text for statement in self._said]
        self._bm25 = peers.Bm25(texts, stop_words=True)
        self._rows = embedder.embed(texts)
        self._embedder = embedder

    def bm25(self, question: Question) -> Answer:
        """By words."""
        return self._taken(self._bm25.scores(question.text))

    def cosine(self, question: Question) -> Answer:
        """By meaning."""
        scores = self._rows @ self._embedder.embed_query(question.text)
        return self._taken(scores.astype(np.float64))

    def _taken(self, scores: peers.Scores) -> Answer:
        order = [at for at in np.argsort(-scores, kind="stable")[:LIMIT].tolist() if scores[at] > 0]
        shown: list[Shown] = []
        spent = 0
        for at in order:
            cost = estimate_tokens(self._said[at].text)
            if spent + cost <= BUDGET_TOKENS:
                spent += cost
                shown.append(Shown(said=self._said[at]))
        return Answer(shown=tuple(shown))


@dataclass(slots=True, kw_only=True)
class LastWrite:
    """What a program does that keeps facts in a dictionary: the last one that was said counts, deleting deletes."""

    several: Sequence[str]
    _said: dict[tuple[str, str], list[Said]] = field(default_factory=dict)

    def take(self, event: Said | Forgotten) -> None:
        """Note or delete."""
        if isinstance(event, Forgotten):
            for line in self._said.values():
                line[:] = [statement for statement in line if statement.id != event.id]
        elif event.subject is not None and event.attribute is not None:
            self._said.setdefault((event.subject, event.attribute), []).append(event)

    def facts(self, question: Question) -> Known:
        """Look it up."""
        line = self._said.get((question.subject, question.attribute), [])
        line = [statement for statement in line if question.when is None or statement.at <= question.when]
        taken = line if question.attribute in self.several else line[-1:]
        return Known(
            values=tuple(str(statement.value) for statement in taken),
            history=tuple((str(statement.value), f"{statement.at:%Y-%m-%d}") for statement in line),
            review=False,
        )


# Reporting ----------------------------------------------------------------------------------------------------------

CURRENT = ("stable", "updated", "reverted", "late", "announced, not yet", "announced, come")
UNKNOWN = ("forgotten", "last forgotten", "never said", "never heard of")
RESTING = ("resting", "resting twice", "resting, premise forgotten", "resting, unchanged")


def share(verdicts: Sequence[tuple[Question, Mapping[str, bool]]], kinds: Sequence[str], name: str) -> float:
    """Return the share of the questions of these kinds for which a verdict is true."""
    found = [right[name] for question, right in verdicts if question.kind in kinds and name in right]
    return sum(found) / len(found) if found else float("nan")


def _plain_tables(plain: Verdicts, report: Report) -> None:
    _table(
        plain,
        report,
        "Asked in plain words for what holds now: the first text about it has the current value",
        CURRENT,
        "first",
    )
    _table(plain, report, "The same, and no older value stands beside it as if it held", CURRENT, "clean")
    _table(
        plain,
        report,
        "The same, read by somebody who knows when each text began to hold, and takes the latest",
        CURRENT,
        "dated",
    )
    rows = []
    for name, verdicts in plain.items():
        rows.append(
            (
                name,
                *(share(verdicts, ("then",), what) for what in ("first", "dated")),
                *(share(verdicts, ("history",), what) for what in ("before", "history")),
                share(verdicts, ("several",), "all"),
            )
        )
    report.tables.append(
        Table(
            title="What held at a time, what held before, and attributes that hold several values",
            columns=(
                "",
                "at a time: first text",
                "at a time, dates known",
                "the value before",
                "whole history in order",
                "all of several, none retracted",
            ),
            rows=rows,
        )
    )
    _table(plain, report, "Nothing is known: nothing at all was returned", UNKNOWN, "nothing")
    _table(
        plain,
        report,
        "Nothing is known: no text says a value of it as if it held (a careful reader says: nothing known)",
        UNKNOWN,
        "unsaid",
    )
    rows = [
        (name, *(share(verdicts, (kind,), "marked") for kind in RESTING))
        for name, verdicts in plain.items()
        if name in (RECALL, CONTEXT, LARGE_CONTEXT)
    ]
    report.tables.append(
        Table(
            title="What rests on something that changed is found and marked; what rests on what stands is not marked",
            columns=("", *RESTING),
            rows=rows,
        )
    )


def _table(plain: Verdicts, report: Report, title: str, kinds: Sequence[str], what: str) -> None:
    counts = kinds_of(next(iter(plain.values())))
    report.tables.append(
        Table(
            title=title,
            columns=("", *(f"{kind} ({counts[kind]})" for kind in kinds), "all"),
            rows=[
                (
                    name,
                    *(share(verdicts, (kind,), what) for kind in kinds),
                    share(verdicts, kinds, what),
                )
                for name, verdicts in plain.items()
            ],
        )
    )


def _typed_table(typed: Verdicts, report: Report) -> None:
    counts = kinds_of(next(iter(typed.values())))
    report.tables.append(
        Table(
            title="Asked by subject and attribute",
            columns=("kind", "questions", *typed),
            rows=[
                (kind, count, *(share(verdicts, (kind,), "right") for verdicts in typed.values()))
                for kind, count in counts.items()
            ],
        )
    )


def _budgets(plain: Verdicts, typed: Verdicts, report: Report) -> None:
    everything = tuple(kinds_of(plain[RECALL]))
    report.at_least(
        "asked by key: share answered right", share(typed["**hexad, facts**"], everything, "right"), 1.0
    )
    others = [name for name in plain if name not in (RECALL, CONTEXT, LARGE_CONTEXT)]
    for what, kinds, name in (
        ("first", CURRENT, "current value first"),
        ("clean", CURRENT, "current value first, nothing stale beside it"),
        ("unsaid", UNKNOWN, "nothing known, and nothing said"),
    ):
        best = max(share(plain[other], kinds, what) for other in others)
        for ours in (RECALL, CONTEXT):
            value = share(plain[ours], kinds, what)
            label = f"{ours.strip('*')}: {name}"
            report.figure(label, value)
            report.at_least(f"{label}, over the best of the others", value / max(best, 1e-9), 1.0, "×")
