"""How an answer is read without a model: what each text states is known from the suite, so a reader cannot misread it.

A text is *about* a question when it states the attribute of the subject that is asked for. A text whose own words say that
it is over ("used to … from March 2024 on") or still to come ("from 3 May 2026 on …") is not taken for what holds, by
whichever system it was returned; nor is what a system marks as over. What only mentions a name and a value says nothing.

Three readers of one answer:

- *first* takes the first text about the question, as somebody does who trusts the order.
- *clean* does, and is content only if no other text about it stands in the answer with an older value, unmarked.
- *dated* reads all texts, knows since when each holds, and takes the latest that had begun by the time that is asked about:
  the best that a model could do with the texts of an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from benchmarks.facts_suite import Question, Said


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A text in an answer: `past` when it is marked as over, `before` what it is said to have replaced, `review` its mark."""

    said: Said
    past: bool = False
    before: tuple[Said, ...] = ()
    review: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The texts of an answer in their order."""

    shown: tuple[Shown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An answer by key."""

    values: tuple[str, ...]
    history: tuple[tuple[str, str], ...]
    review: bool


def judge(question: Question, answer: Answer) -> Mapping[str, bool]:
    """Return what is right about an answer, by what its kind of question asks for."""
    if question.dependent is not None:
        mine = next((item for item in answer.shown if item.said.id == question.dependent), None)
        marked = mine is not None and mine.review
        return {"found": mine is not None, "marked": marked == question.review}
    about = [item for item in answer.shown if _is_about(item.said, question)]
    if question.history:
        return _history(question, about)
    holds = [item for item in about if _may_hold(item, question)]
    if question.kind == "several":
        return {"all": {item.said.value for item in holds} == set(question.values)}
    if not question.values:
        return {"nothing": not answer.shown, "unsaid": not holds}
    right = question.values[0]
    latest = max(
        (item for item in about if _since(item.said) <= _time(question) and not item.past),
        key=lambda item: _since(item.said),
        default=None,
    )
    first = bool(holds) and holds[0].said.value == right
    return {
        "first": first,
        "clean": first and all(item.said.value == right for item in holds),
        "dated": latest is not None and latest.said.value == right,
    }


def judge_known(question: Question, known: Known) -> Mapping[str, bool]:
    """Return whether an answer by key is right."""
    if question.dependent is not None:
        return {"right": known.review == question.review}
    if question.history:
        return {"right": known.history == question.history}
    return {"right": sorted(known.values) == sorted(question.values)}


def kinds_of(verdicts: Sequence[tuple[Question, Mapping[str, bool]]]) -> dict[str, int]:
    """Return how many questions of each kind were asked."""
    return dict(Counter(question.kind for question, _ in verdicts))


def _history(question: Question, about: Sequence[Shown]) -> Mapping[str, bool]:
    """Put everything that is told of it in the order of its times."""
    told = {said.id: said for item in about for said in (item.said, *item.before)}
    values = [str(said.value) for said in sorted(told.values(), key=_since)]
    wanted = [value for value, _ in question.history]
    return {"history": values == wanted, "before": values[-2:] == wanted[-2:]}


def _is_about(said: Said, question: Question) -> bool:
    return said.subject == question.subject and said.attribute == question.attribute


def _may_hold(item: Shown, question: Question) -> bool:
    """Whether a text may be taken for what holds at the time that is asked about, by its words and its marks."""
    if item.said.tells == "future" and _since(item.said) > _time(question):
        return False
    return question.when is not None or not (item.past or item.said.tells == "past")


def _time(question: Question) -> datetime:
    return question.when or question.at


def _since(said: Said) -> datetime:
    return said.since or said.at
