"""What an agent may work on: concepts of a pack that have parts, and how much of each a day holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Final, Protocol

from hexad.errors import InvalidInput
from hexad.experience.values.tags import Tag

QUARTERS: Final = 4
MAIN_TOPICS: Final = 3
"""A quarter's work; each quarter keeps the least of the one before as its most."""
TOPICS: Final = QUARTERS * (MAIN_TOPICS - 1) + 2
"""With one that is there all the year."""
SHARES: Final = (0.5, 0.3, 0.2)
DAILY_SHARE: Final = 0.1
LEFT_OVER_SHARE: Final = 0.4
"""At a quarter's beginning so much is still the last one's; after a month nothing."""
LEFT_OVER_DAYS: Final = 30
_LEAST_PARTS: Final = 3
_MOST_PARTS: Final = 8
_CONCEPTS_SEEN: Final = 2_000

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")


class Browser(Protocol):
    """What shows the concepts below one: `hx.xdb`."""

    def browse_concepts(self, parent_concept_id: str | None = None) -> list[Tag]:
        """Return the concepts below one, or those without a parent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A concept below a topic, and the word for it in a text."""

    concept: str
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What an agent works on for some weeks."""

    concept: str
    word: str
    parts: tuple[Part, ...]


def spoken(name: str) -> str:
    """Return a concept's name as a text has it.

    >>> spoken("KeyRotation")
    'key rotation'
    """
    return " ".join(_WORDS.findall(name)).lower() or name


def find_topics(browser: Browser, *, seed: int, count: int = TOPICS) -> tuple[Topic, ...]:
    """Return some of the concepts that have parts, none of them below another; the same for a seed.

    Raises `InvalidInput` where the store's packs have too few.
    """
    level = sorted(browser.browse_concepts(), key=lambda browse_concept: browse_concept.id)
    best: list[Topic] = []
    seen: set[str] = set()
    while level and len(seen) < _CONCEPTS_SEEN:
        found: list[Topic] = []
        below: list[Tag] = []
        for tag in level:
            if tag.id in seen or len(seen) >= _CONCEPTS_SEEN:
                continue
            seen.add(tag.id)
            children = sorted(browser.browse_concepts(tag.id), key=lambda browse_concept: browse_concept.id)
            below += children
            if len(children) >= _LEAST_PARTS:
                parts = [Part(concept=child.id, word=spoken(child.name)) for child in children[:_MOST_PARTS]]
                found.append(Topic(concept=tag.id, word=spoken(tag.name), parts=tuple(parts)))
        if len(found) > len(best):
            best = found
        level = below
    apart = _apart(best)
    if len(apart) < count:
        raise InvalidInput(
            f"The concepts of this store have {len(apart)} topics beside each other with {_LEAST_PARTS} parts or more; "
            f"load a pack that has at least {count}."
        )
    return tuple(Random(f"{seed}/topics").sample(apart, count))


def _apart(topics: Sequence[Topic]) -> list[Topic]:
    """Return the topics of which no part is another's, or a topic itself: what is active then says which it was."""
    taken = {topic.concept for topic in topics}
    found = []
    for topic in topics:
        own = {part.concept for part in topic.parts}
        if not own & taken:
            taken |= own
            found.append(topic)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Interests:
    """Which topics have how much of a day: those of the quarter, what is left of the last one, and the daily one."""

    topics: tuple[Topic, ...]

    @property
    def daily(self) -> Topic:
        """What has a small part of every day."""
        return self.topics[-1]

    def main(self, quarter: int) -> tuple[Topic, ...]:
        """Return what a quarter (1 to 4) is mainly about, the most first."""
        first = (quarter - 1) * (MAIN_TOPICS - 1)
        return self.topics[first : first + MAIN_TOPICS]

    def on(self, day: date) -> Mapping[Topic, float]:
        """Return each topic's share of a day; they add up to one."""
        quarter = quarter_of(day)
        into = (day - date(day.year, 3 * quarter - 2, 1)).days
        left = LEFT_OVER_SHARE * max(0.0, 1 - into / LEFT_OVER_DAYS) if quarter > 1 else 0.0
        shares: dict[Topic, float] = {self.daily: DAILY_SHARE}
        for topic, share in zip(self.main(quarter), SHARES, strict=True):
            shares[topic] = share * (1 - DAILY_SHARE) * (1 - left)
        if left:
            for topic, share in zip(self.main(quarter - 1), SHARES, strict=True):
                shares[topic] = shares.get(topic, 0.0) + share * (1 - DAILY_SHARE) * left
        return shares


def quarter_of(day: date) -> int:
    """Return the quarter of a day, 1 to 4."""
    return (day.month + 2) // 3
