"""Chats of a user with an assistant, and claims about documents: made from seeded facts, templates and real long texts.

Ten conversations of 200 turns and 300 questions in each half: other subjects, other wordings, other questions, other texts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

from benchmarks.assistant_chats_words import WORDS, Words
from benchmarks.corpora import Question
from benchmarks.long_texts import LongText, of_numpy, of_python

EXCHANGES: Final = 100
_PER_SESSION: Final = 10
_FACTS, _UPDATES, _CONTRADICTIONS, _STANDING, _SERIES, _TWO_FACTS, _BETWEEN, _ADVICE = 7, 3, 2, 3, 3, 2, 2, 2
KINDS: Final = (
    "fact", "reply", "update", "contradiction", "instruction", "preference", "two facts", "time between", "ordering",
    "aggregation", "summary",
)  # fmt: skip
_USER, _ASSISTANT = "user", "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chats:
    """One half: turns as JSON lines for `ingest`, and questions with their kind (`category`) and evidence."""

    turns: tuple[dict[str, Any], ...]
    questions: tuple[dict[str, Any], ...]

    def of_kind(self, kind: str) -> list[Question]:
        """Return the questions of one kind."""
        return [
            Question(
                text=each["question"],
                conversation=each["conversation"],
                evidence=frozenset(each["evidence"]),
            )
            for each in self.questions
            if each["category"] == kind
        ]

    def all_questions(self) -> list[Question]:
        """Return the questions of all kinds."""
        return [question for kind in KINDS for question in self.of_kind(kind)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """One half of a collection of claims: what a text is about in a sentence, which is taken out of the text."""

    texts: tuple[dict[str, Any], ...]
    questions: tuple[Question, ...]


@cache
def chats(half: str) -> Chats:
    """Return the conversations of one half."""
    words, sections = WORDS[half], of_python(half)
    turns: list[dict[str, Any]] = []
    asked: list[dict[str, Any]] = []
    for number, (project, what, parts) in enumerate(words.projects):
        writer = _Conversation(words, f"{half[:3]}-{number:02}", project, sections)
        writer.plan(what, parts, number)
        turns += writer.turns()
        asked += writer.questions()
    return Chats(turns=tuple(turns), questions=tuple(asked))


@cache
def documents(half: str) -> Documents:
    """Return docstrings of NumPy without their first sentence, and these sentences as questions."""
    texts, asked = [], []
    for text in of_numpy(half):
        first, _, rest = "\n\n".join(text.passages).partition("\n\n")
        claim = " ".join(first.split())
        if 5 <= len(claim.split()) <= 40 and len(rest) >= 200:
            texts.append({"id": text.title, "text": rest})
            asked.append(Question(text=claim, conversation=None, evidence=frozenset({text.title})))
    return Documents(texts=tuple(texts), questions=tuple(asked))


# Generating ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Said:
    """A statement of the user, where it stands, and what the reply to it advises."""

    text: str
    advice: str = ""
    exchange: int = -1


@dataclass(slots=True)
class _Asked:
    kind: str
    text: str
    of: Sequence[_Said]


@dataclass(slots=True)
class _Conversation:
    words: Words
    name: str
    project: str
    sections: Sequence[LongText]
    _source: random.Random = field(init=False)
    _asked: list[_Asked] = field(default_factory=list)
    _groups: list[list[_Said]] = field(default_factory=list)
    """Statements of a group keep their order; groups are mixed."""

    def __post_init__(self) -> None:
        self._source = random.Random(f"assistant chats {self.name}")

    def plan(self, what: str, parts: Sequence[str], number: int) -> None:
        """Choose what is said and asked."""
        words, source = self.words, self._source
        self._groups.append([_Said(self._filled("{project}, {value}.", what) + " " + self._begin())])
        chosen = source.sample(words.attributes, _FACTS + _UPDATES)
        facts: list[tuple[_Said, str]] = []
        for at, attribute in enumerate(chosen):
            values = [attribute.values[(number + step) % len(attribute.values)] for step in (0, 5)]
            said = _Said(self._filled(source.choice(attribute.says), values[0]))
            question = self._filled(source.choice(attribute.asks))
            if at < _FACTS:
                self._say([said], "fact", question)
                facts.append((said, question))
            else:
                changed = _Said(self._filled(source.choice(attribute.changes), values[1]))
                self._groups.append([said, changed])
                self._asked.append(_Asked("update", question, [changed]))
        for first, second in zip(facts[:_TWO_FACTS], facts[_TWO_FACTS : 2 * _TWO_FACTS], strict=True):
            text = source.choice(words.pairs).format(value=first[1], other=_lower(second[1]))
            self._asked.append(_Asked("two facts", text, [first[0], second[0]]))
        for before, after, question in source.sample(words.contradictions, _CONTRADICTIONS):
            said = [_Said(self._filled(before)), _Said(self._filled(after))]
            self._say(said, "contradiction", self._filled(question))
        for kind, standing in (("instruction", words.instructions), ("preference", words.preferences)):
            for order, questions in source.sample(standing, _STANDING):
                self._say([_Said(order)], kind, self._filled(source.choice(questions)))
        for template, questions, values in source.sample(words.series, _SERIES):
            said = [
                _Said(_upper(self._filled(template, value)))
                for value in source.sample(values, source.randint(3, 5))
            ]
            self._say(said, "aggregation", self._filled(source.choice(questions)))
        self._plan_events(parts)
        for question, later, options in source.sample(words.advice, _ADVICE):
            said = _Said(self._filled(question), advice=source.choice(options))
            self._say([said], "reply", self._filled(later))
        self._groups += [[_Said(each)] for each in source.sample(words.near, 6)]

    def _plan_events(self, parts: Sequence[str]) -> None:
        words, source = self.words, self._source
        begun = [
            _Said(_upper(self._filled(source.choice(words.begun), part)))
            for part in source.sample(parts, source.randint(5, 6))
        ]
        self._say(begun, "ordering", self._filled(source.choice(words.orders)))
        events = source.sample(words.events, 3)
        days = source.sample(_event_days(words), 3)
        told = [_Said(_upper(self._filled(event, day))) for (event, _), day in zip(events, days, strict=True)]
        names = [self._filled(name) for _, name in events]
        self._groups += [[each] for each in told]
        for first, second in ((0, 1), (1, 2)):
            text = source.choice(words.between).format(value=names[first], other=names[second])
            self._asked.append(_Asked("time between", text, [told[first], told[second]]))
        listed = f"{names[2]}, {names[0]} and {names[1]}"
        self._asked.append(_Asked("ordering", self._filled(source.choice(words.event_orders), listed), told))
        self._asked.append(_Asked("summary", self._filled(source.choice(words.summaries)), [*begun, *told]))

    def _begin(self) -> str:
        return self._source.choice(self.words.asked_for).format(title="this")

    def _say(self, said: list[_Said], kind: str, question: str) -> None:
        self._groups.append(said)
        self._asked.append(_Asked(kind, question, said))

    def _filled(self, template: str, value: str = "") -> str:
        return template.format(project=self.project, value=value)

    # Writing --------------------------------------------------------------------------------------------------------

    def turns(self) -> Iterator[dict[str, Any]]:
        """Give the turns; what is said is dealt to exchanges, and the others ask for something."""
        source = self._source
        order = [group for group in self._groups[1:] for _ in group]
        source.shuffle(order)
        places = [0, *sorted(source.sample(range(1, EXCHANGES), len(order)))]
        used: dict[int, int] = {}
        at_place: dict[int, _Said] = {}
        for place, group in zip(places, [self._groups[0], *order], strict=True):
            taken = used.get(id(group), 0)
            used[id(group)] = taken + 1
            group[taken].exchange = place
            at_place[place] = group[taken]
        sections = source.sample(self.sections, len(self.sections))
        time = datetime(2024, source.randint(1, 6), source.randint(1, 28), 9, 30, tzinfo=UTC)
        for exchange in range(EXCHANGES):
            if exchange and exchange % _PER_SESSION == 0:
                time = (time + timedelta(days=source.randint(3, 14))).replace(hour=source.randint(8, 20))
            section = sections[exchange]
            said = at_place.get(exchange)
            for speaker, text in (
                (_USER, self._question(said, section)),
                (_ASSISTANT, self._reply(said, section)),
            ):
                time += timedelta(seconds=source.randint(40, 400))
                yield self._turn(exchange, speaker, text, time)

    def _turn(self, exchange: int, speaker: str, text: str, time: datetime) -> dict[str, Any]:
        return {
            "id": self._id(exchange, speaker),
            "conversation": self.name,
            "session": f"{self.name}/S{exchange // _PER_SESSION + 1}",
            "time": time.isoformat(),
            "speaker": speaker,
            "text": text,
        }

    def _id(self, exchange: int, speaker: str) -> str:
        return f"{self.name}/{2 * exchange + (speaker == _ASSISTANT)}"

    def _question(self, said: _Said | None, section: LongText) -> str:
        source = self._source
        ask = source.choice(self.words.asked_for).format(title=section.title)
        asides = source.sample(self.words.asides, source.choice((0, 0, 1, 1, 2, 3)))
        ask = " ".join([ask, *map(self._filled, asides)])
        if source.random() < 0.15:
            ask = f"{ask} This is what I have:\n\n{source.choice(section.passages)}"
        if said is None:
            return ask
        if said.advice or source.random() < 0.3:
            return said.text
        return f"{said.text} {ask}" if source.random() < 0.7 else f"{ask}\n\n{said.text}"

    def _reply(self, said: _Said | None, section: LongText) -> str:
        source, words = self._source, self.words
        topic = section.title if said is None else self.project
        pieces = [
            source.choice(words.openings).format(title=section.title, topic=topic),
            f"### {section.title}",
        ]
        first = source.randrange(max(1, len(section.passages) - 2))
        passages = list(section.passages[first : first + source.randint(1, 4)])
        while sum(map(len, passages)) < source.randint(500, 1_600):
            passages.append(source.choice(source.choice(self.sections).passages))
        if said is not None and said.advice:
            advice = source.choice(words.advised).format(topic=self.project, value=said.advice)
            passages.insert(len(passages) // 2, advice)
        return "\n\n".join([*pieces, *passages, source.choice(words.closings)])

    def questions(self) -> Iterator[dict[str, Any]]:
        """Give the questions; to be called after `turns`, which says where everything stands."""
        for number, asked in enumerate(self._asked):
            speaker = _ASSISTANT if asked.kind == "reply" else _USER
            yield {
                "id": f"{self.name}_q{number}",
                "conversation": self.name,
                "question": asked.text,
                "category": asked.kind,
                "evidence": [self._id(said.exchange, speaker) for said in asked.of],
            }


def _event_days(words: Words) -> tuple[str, ...]:
    return words.attributes[0].values


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
