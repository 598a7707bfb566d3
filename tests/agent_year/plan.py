"""What happens in a year, before it happens: days, sessions, what is said in them. Pure, and the same for a seed."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any, Final

from agent_year.topics import Interests, Part, Topic
from hexad.core.event_types import EventType

TARGET_TOKENS_A_DAY: Final = 150_000_000
"""What document 2 wants to hold; a year is played in proportion to it."""
_HOLIDAYS: Final = ((8, 4), (8, 15))  # two weeks without work, from and to (month, day)
_SECOND_TOPIC: Final = 0.25  # of the sessions turn to another topic
_TOOL_TURNS: Final = 0.4
_STEERED_TURNS: Final = 0.03
_TOKEN_SECONDS: Final = 0.02
_LONG_WORD: Final = 7

_SENTENCES: Final = (
    "The {a} of our {topic} holds for every {b}.",
    "I looked at the {a} first, because the {b} depends on it.",
    "Without its {a} the {b} failed in {n} of {m} runs.",
    "What slows {topic} down is the {a}: it waits {n} ms for each {b}.",
    "We keep the {a} and give up the {b}.",
    "A {b} can never come before its {a}.",
    "After the change the {a} took {n} ms and the {b} {m} ms.",
    "Next I measure how the {a} behaves when a {b} is missing.",
    "That is why {topic} needs one {a} for {n} of them.",
    "The {b} was right all along; the {a} was not.",
    "I wrote down how {topic} treats a {a} so that nobody has to ask again.",
    "With {n} more of them the {a} would no longer fit beside the {b}.",
)
_QUESTIONS: Final = (
    "How does the {a} work in {topic}?",
    "Please mend the {a}: it breaks the {b}.",
    "Why is the {b} so slow when there are {n} of the {a}?",
    "Can {topic} do without the {a}?",
    "Compare the {a} with the {b} and say which one to keep.",
)
_TOKENS = re.compile(r"\s*\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class YearShape:
    """How large a year is: a day of `tokens_a_day`, in replies of about `tokens_a_reply`, on every `stride`th day.

    `window_tokens` None is the contract's window. COLD records may have `max_storage_bytes`. `auto_tag_threshold` is
    what the store's settings say.
    """

    seed: int = 1
    year: int = 2025
    tokens_a_day: int = 6_000
    tokens_a_reply: int = 250
    sessions_a_day: float = 2.0
    working_days: float = 0.9  # of the days from Monday to Friday
    window_tokens: int | None = None
    max_storage_bytes: int = 1 << 20
    auto_tag_threshold: float | None = None
    restart_days: int = 10
    stride: int = 1

    @property
    def days(self) -> Sequence[date]:
        """The days that are lived, and the last of the year."""
        first, last = date(self.year, 1, 1), date(self.year, 12, 31)
        return [first + timedelta(days=at) for at in range(0, (last - first).days, self.stride)] + [last]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One timestep to come. `after_s` is how much time passes before it."""

    event_type: EventType
    content: str
    activations: Mapping[str, float]
    event_id: str | None = None
    event_start: bool = False
    event_end: bool = False
    token_id: int | None = None
    role: str | None = None
    token_count: int = 1
    after_s: float = _TOKEN_SECONDS

    def fields(self) -> dict[str, Any]:
        """Return what `record` takes."""
        return {
            "event_type": self.event_type,
            "content": self.content,
            "concept_activations": self.activations,
            "event_id": self.event_id,
            "event_start": self.event_start,
            "event_end": self.event_end,
            "token_id": self.token_id,
            "role": self.role,
            "token_count": self.token_count,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What is said or done at once, and on which topic."""

    topic: Topic
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan:
    """A session to come; `events` are made when they are asked for."""

    id: str
    begins: datetime
    topics: tuple[Topic, ...]  # in the order of the session
    tokens: int
    shape: YearShape
    interests: Interests

    def events(self) -> Iterator[Event]:
        """Yield everything that is said, until the session's tokens are used up."""
        chance = Random(f"{self.shape.seed}/{self.id}")
        done = turn = 0
        yield _system(self)
        while done < self.tokens:
            turn += 1
            topic = self.topics[min(done * len(self.topics) // self.tokens, len(self.topics) - 1)]
            for event in _turn(chance, topic, self, turn):
                yield event
                done += sum(step.token_count for step in event.steps)


class YearPlan:
    """Which sessions a year has."""

    def __init__(self, shape: YearShape, interests: Interests) -> None:
        self.shape, self.interests = shape, interests

    def sessions(self, day: date) -> list[SessionPlan]:
        """Return the sessions of a day, in their order; none on most weekends and in the holidays."""
        shape = self.shape
        chance = Random(f"{shape.seed}/{day}")
        works = chance.random() < (shape.working_days if day.weekday() < 5 else shape.working_days / 20)
        if not works or _HOLIDAYS[0] <= (day.month, day.day) <= _HOLIDAYS[1]:
            return []
        count = max(1, round(chance.gauss(shape.sessions_a_day, shape.sessions_a_day / 4)))
        shares = self.interests.on(day)
        found = []
        for at in range(count):
            topics = chance.choices(list(shares), list(shares.values()), k=2)
            tokens = chance.lognormvariate(-0.125, 0.5) * shape.tokens_a_day / shape.sessions_a_day
            hour = 9 + at * 9 / count
            found.append(
                SessionPlan(
                    id=f"{day}.{at + 1}",
                    begins=datetime.combine(day, time(), tzinfo=UTC) + timedelta(hours=hour),
                    topics=tuple(dict.fromkeys(topics if chance.random() < _SECOND_TOPIC else topics[:1])),
                    tokens=max(20, round(tokens)),
                    shape=shape,
                    interests=self.interests,
                )
            )
        return found


def tokens(text: str) -> list[str]:
    """Return a text as a model would give it, piece by piece; joined they are the text.

    >>> tokens("The tokenizer works.")
    ['The', ' token', 'izer', ' works.']
    """
    found: list[str] = []
    for piece in _TOKENS.findall(text):
        if len(piece) > _LONG_WORD + 2:
            found += [piece[:6], piece[6:]]
        else:
            found.append(piece)
    return found


def count_tokens(text: str) -> int:
    """Return how many tokens a text that comes at once counts for."""
    return max(1, len(text) // 4)


# What is said ---------------------------------------------------------------------------------------------------


def _system(plan: SessionPlan) -> Event:
    words = " and ".join(topic.word for topic in plan.topics)
    text = f"Session of {plan.begins:%d %B %Y}. Work on {words}."
    step = Step(
        event_type=EventType.SYSTEM,
        content=text,
        activations={topic.concept: 0.3 for topic in plan.topics},
        role="system",
        token_count=count_tokens(text),
    )
    return Event(topic=plan.topics[0], steps=(step,))


def _turn(chance: Random, topic: Topic, plan: SessionPlan, turn: int) -> Iterator[Event]:
    """Yield a question, perhaps a tool's answer, and the reply, token by token."""
    question, active = _sentence(chance, topic, _QUESTIONS, plan.interests)
    yield _at_once(topic, EventType.INPUT, "user", question, active, after_s=chance.uniform(30, 240))
    if chance.random() < _TOOL_TURNS:
        part = chance.choice(topic.parts).word
        name = f"call-{turn}"
        call = f'search({{"query": "{part}", "within": "{topic.word}"}})'
        yield _at_once(topic, EventType.TOOL_CALL, "assistant", call, active, event_id=name)
        answer, active = _sentence(chance, topic, _SENTENCES, plan.interests)
        yield _at_once(topic, EventType.TOOL_RESPONSE, "tool", answer, active, event_id=name, after_s=1.5)
    if chance.random() < _STEERED_TURNS:
        text = "Stay with what was asked."
        yield _at_once(topic, EventType.STEERING, "system", text, {topic.concept: 0.4})
    yield Event(topic=topic, steps=tuple(_reply(chance, topic, plan, turn)))


def _at_once(
    topic: Topic,
    event_type: EventType,
    role: str,
    text: str,
    active: Mapping[str, float],
    *,
    event_id: str | None = None,
    after_s: float = 0.5,
) -> Event:
    step = Step(
        event_type=event_type,
        content=text,
        activations=active,
        event_id=event_id,
        event_start=event_id is not None,
        event_end=event_id is not None,
        role=role,
        token_count=count_tokens(text),
        after_s=after_s,
    )
    return Event(topic=topic, steps=(step,))


def _reply(chance: Random, topic: Topic, plan: SessionPlan, turn: int) -> Iterator[Step]:
    wanted = max(6, round(chance.lognormvariate(-0.125, 0.5) * plan.shape.tokens_a_reply))
    said: list[tuple[str, Mapping[str, float]]] = []
    while len(said) < wanted:
        text, active = _sentence(chance, topic, _SENTENCES, plan.interests)
        said += [(token, active) for token in tokens(f" {text}" if said else text)]
    for at, (token, active) in enumerate(said):
        yield Step(
            event_type=EventType.OUTPUT,
            content=token,
            activations=active,
            event_id=f"reply-{turn}",
            event_start=at == 0,
            event_end=at == len(said) - 1,
            token_id=zlib.crc32(token.encode()) % 50_000,
            role="assistant",
        )


def _sentence(
    chance: Random, topic: Topic, forms: Sequence[str], interests: Interests
) -> tuple[str, Mapping[str, float]]:
    """Return a sentence, and what is active in it: the topic, what it names, a neighbour, and weakly another."""
    a, b = chance.sample(topic.parts, 2)
    text = chance.choice(forms).format(
        a=a.word, b=b.word, topic=topic.word, n=chance.randrange(2, 60), m=chance.randrange(60, 400)
    )
    other: Part = chance.choice(chance.choice(interests.topics).parts)
    active = {other.concept: round(chance.uniform(0.02, 0.12), 3)}
    active[topic.concept] = round(chance.uniform(0.6, 0.95), 3)
    active[chance.choice(topic.parts).concept] = round(chance.uniform(0.1, 0.25), 3)
    for part in (a, b):
        if part.word in text:
            active[part.concept] = round(chance.uniform(0.3, 0.6), 3)
    return text, active
