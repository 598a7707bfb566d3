"""What an ordering is asked, taken apart once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hexad.database.codec import to_micros
from hexad.spaces.bundles.bundle import BundleOptions
from hexad.spaces.bundles.orderings.entity_map import split_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQuestion:
    """A topic in lower case without outer white space, what is preferred, and when it is asked.

    Preferences are compared in lower case and without outer white space; one that is named twice counts once.
    """

    topic: str
    words: tuple[str, ...]  # split at white space, each once
    parts: tuple[str, ...]  # split at white space and `/`
    tokens: tuple[str, ...]  # split at white space, `/`, `_` and `-`, each once
    prefer_kinds: tuple[str, ...]
    prefer_tags: tuple[str, ...]
    now: datetime
    now_micros: int


def ask(topic: str, options: BundleOptions, *, now: datetime) -> TopicQuestion:
    """Return the question of a topic, empty for orderings of a kind."""
    topic = topic.strip().lower()
    return TopicQuestion(
        topic=topic,
        words=tuple(dict.fromkeys(topic.split())),
        parts=tuple(topic.replace("/", " ").split()),
        tokens=tuple(dict.fromkeys(split_tokens(topic))),
        prefer_kinds=_distinct(options.prefer_kinds),
        prefer_tags=_distinct(options.prefer_tags),
        now=now,
        now_micros=to_micros(now),
    )


def _distinct(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for word in words if (name := word.strip().lower())))
