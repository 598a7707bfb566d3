"""What a question is, by rules that look at what its words do in it, not at which letters it contains.

First its shape: politeness is taken off, then either a question word, a helping verb or a verb that orders something
stands at the head of a clause. A word that can be a verb and a noun (fix, update, address, design) is a verb only
where it stands as one: at the head, with something after it that can be its object. Then each class has patterns for
where in that shape its words stand, and the weightiest wins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.layers.contract import TaskType
from hexad.layers.router.question_words import (
    CARRIED_ON,
    CONTRACTIONS,
    DECISION,
    DESIGN_ASKED,
    DID,
    EMBEDDED,
    GENERAL_HEADS,
    HARDLY,
    HELPING,
    LAST_CLAUSE,
    NEGATED,
    NOUN_FOLLOWS,
    NOUNS_TOO,
    OBJECT_BEGINS,
    OUT_OF,
    PLAIN_REFACTOR,
    POLITE,
    PREPOSITIONS,
    QUESTION,
    RESEARCH_ASKED,
    SWITCHED,
    TOLD_OF,
    UNKNOWN_VERB,
    VERBS,
    WH,
    WHY,
    WISHED,
)
from hexad.memory.layer_names import QueryClass

_NAME: Final = re.compile(r"([A-Z_]+) = (.+)")
_HEAD: Final = re.compile(r"\[([a-z]+) ([0-9.]+)\] (.+)")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern on the question without its politeness, what it speaks for, how much, and in words why."""

    query_class: QueryClass
    weight: float
    pattern: re.Pattern[str]
    reason: str


@cache
def read_rules() -> tuple[Rule, ...]:
    """Return the rules in the order in which they stand; read once, and only where a question is classified."""
    text = Path(__file__).with_name("question_rules.txt").read_text(encoding="utf-8")
    names = {"{WH}": WH}
    rules: list[tuple[re.Match[str], list[str]]] = []
    for line in text.replace("\n    ", "").splitlines():
        for name in re.findall(r"\{[A-Z_]+\}", line):
            line = line.replace(name, names[name])
        if named := _NAME.fullmatch(line):
            names[f"{{{named[1]}}}"] = named[2]
        elif head := _HEAD.fullmatch(line):
            rules.append((head, []))
        elif line and not line.startswith("#"):
            rules[-1][1].append(line)
    return tuple(
        Rule(QueryClass(head[1]), float(head[2]), lazy_pattern("|".join(patterns)), head[3])
        for head, patterns in rules
    )


READ_CHARACTERS: Final = 2_000
"""Of a question, so much is looked at: what it asks stands at its beginning or at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """What a question is, and in words why."""

    task_type: TaskType
    query_class: QueryClass
    asks_why: bool
    reasons: tuple[str, ...]


def classify(question: str) -> Classified:
    """Return what a question is: what is to be done, what kind of thing is asked about, whether for a reason.

    >>> asked = classify("How is the address book structured?")
    >>> asked.query_class.value, asked.task_type.value
    ('architectural', 'explain')
    >>> classify("What is my preferred testing framework?").query_class.value
    'user'
    """
    text = _plain(question)
    bare = POLITE.sub("", text)
    ordered, reason = _ordered(bare)
    asks = ordered is None and (QUESTION.match(bare) is not None or text.endswith("?"))
    task, why_task = _task(bare, ordered, reason)
    query_class, why_class = _class(bare, task, asks=asks)
    if query_class is QueryClass.GENERAL and task is TaskType.EXPLAIN and (told := EMBEDDED.match(bare)):
        query_class, why_class = _class(_direct(bare[told.end() :]), task, asks=True)
    asks_why = WHY.search(bare) is not None or DECISION.search(bare) is not None
    return Classified(
        task_type=task,
        query_class=query_class,
        asks_why=asks_why,
        reasons=tuple(filter(None, (why_task, why_class))),
    )


def _plain(question: str) -> str:
    if len(question) > READ_CHARACTERS:
        half = READ_CHARACTERS // 2
        question = f"{question[:half]} {question[-half:]}"
    text = " ".join(question.lower().replace("\u2019", "'").replace("\u2018", "'").split())
    for pattern, whole in CONTRACTIONS:
        text = pattern.sub(whole, text)
    return text


def _direct(clause: str) -> str:
    """Return an indirect question as a direct one: "how the schema evolved" as "how did the schema evolved".

    The verb keeps its form: rules look for its stem, and for its past.
    """
    asking, _, rest = clause.partition(" ")
    helping = HELPING.search(rest)
    if asking in ("who", "what", "which") and helping is not None and not rest[: helping.start()].strip():
        return clause
    if helping is not None:
        return f"{asking} {helping[1]} {rest[: helping.start()]}{rest[helping.end() :].lstrip()}"
    first = rest.partition(" ")[0]
    if rest.startswith("to "):
        return clause
    did = "did" if DID.search(rest) else "do" if first in ("we", "you", "i", "they", "people") else "does"
    return f"{asking} {did} {rest}"


def _ordered(bare: str) -> tuple[TaskType | None, str]:
    """Return what a text orders, by the verb at the head of it or of its last clause, and that verb."""
    if QUESTION.match(bare):
        last = LAST_CLAUSE.split(bare.replace("?", ";"))[-1]
        return (None, "") if QUESTION.match(last) else _head(POLITE.sub("", last))
    if WISHED.match(bare) and not bare.endswith("?"):
        return TaskType.EDIT, "should"
    head = _head(bare)
    if head[0] is None:
        clauses = LAST_CLAUSE.split(bare)
        for clause in clauses[1:]:
            last = _head(POLITE.sub("", clause))
            if last[0] is not None and not QUESTION.match(clause):
                return last
    return head


def _head(clause: str) -> tuple[TaskType | None, str]:
    words = re.findall(r"[\w'./#+-]+", clause)
    if not words:
        return None, ""
    verb, *rest = (word.strip(".,'") for word in words)
    if NEGATED.match(clause):
        return TaskType.EDIT, "not"
    if SWITCHED.match(clause) and not clause.endswith("?"):
        return TaskType.EDIT, verb
    if OUT_OF.match(clause):
        return TaskType.REFACTOR, "out of"
    if CARRIED_ON.match(clause):
        return TaskType.EDIT, verb
    if verb in ("give", "show", "tell", "send", "bring") and rest[:1] in (["me"], ["us"]):
        return TaskType.EXPLAIN, verb
    if verb == "get" and rest[:2] == ["rid", "of"]:
        return TaskType.REFACTOR if "duplicat" in clause else TaskType.EDIT, "get rid of"
    if verb == "turn" and "into" in rest:
        return TaskType.REFACTOR, verb
    for task, verbs in VERBS.items():
        if verb in verbs and (verb not in NOUNS_TOO or _has_object(rest)):
            return task, verb
    if UNKNOWN_VERB.match(clause) and not clause.endswith("?"):
        return TaskType.EDIT, verb
    return None, ""


def _has_object(rest: Sequence[str]) -> bool:
    """Whether what follows a word can be its object, so that the word is a verb there."""
    if not rest:
        return False
    first = rest[0]
    if first in NOUN_FOLLOWS:
        return False
    if first in PREPOSITIONS and first not in OBJECT_BEGINS:
        return False
    return (
        first in OBJECT_BEGINS
        or len(rest) > 2
        or any(sign in first for sign in "_./#")
        or first[:1].isdigit()
    )


def _task(bare: str, ordered: TaskType | None, verb: str) -> tuple[TaskType, str]:
    if DESIGN_ASKED.search(bare):
        return TaskType.DESIGN, "it asks for a design"
    if RESEARCH_ASKED.search(bare) and ordered not in (TaskType.EDIT, TaskType.REFACTOR):
        return TaskType.RESEARCH, "it asks for what there is elsewhere"
    if (
        ordered is TaskType.DESIGN
        and re.match(r"(?:plan|outline|draft|sketch|model|specify)\b", bare)
        and re.search(r"\b(?:summary|history)\b", bare)
    ):
        return TaskType.EXPLAIN, ""
    if ordered is TaskType.EDIT and PLAIN_REFACTOR.search(bare):
        return TaskType.REFACTOR, "what it does is to stay as it is"
    if ordered is not None:
        return ordered, f"it says {verb!r} as an order" if ordered is not TaskType.EXPLAIN else ""
    return TaskType.EXPLAIN, ""


def _class(bare: str, task: TaskType, *, asks: bool) -> tuple[QueryClass, str]:
    scores: dict[QueryClass, float] = {}
    reasons: dict[QueryClass, str] = {}
    if task in (TaskType.EDIT, TaskType.REFACTOR):
        return QueryClass.PROCEDURAL, "something is to be changed"
    if task is TaskType.DESIGN:
        return QueryClass.ARCHITECTURAL, "something is to be designed"
    if task is TaskType.RESEARCH:
        return QueryClass.GENERAL, "something is to be found out"
    for rule in read_rules():
        if rule.weight > scores.get(rule.query_class, 0.0) and rule.pattern.search(bare):
            scores[rule.query_class] = rule.weight
            reasons[rule.query_class] = rule.reason
    told_of = TOLD_OF.match(bare) is not None and EMBEDDED.match(bare) is None
    if told_of or (asks and not GENERAL_HEADS.match(bare)):
        scores.setdefault(QueryClass.FACTUAL, HARDLY)
        reasons.setdefault(QueryClass.FACTUAL, "it asks for a fact")
    if not scores:
        return QueryClass.GENERAL, "nothing in it asks for a certain kind of answer"
    best = max(scores, key=lambda kind: (scores[kind], -_FIRST.index(kind)))
    return best, reasons[best]


_FIRST: Final = (
    QueryClass.USER,
    QueryClass.HISTORICAL,
    QueryClass.ARCHITECTURAL,
    QueryClass.PROCEDURAL,
    QueryClass.FACTUAL,
    QueryClass.GENERAL,
)
"""Which class counts where two are as likely."""
