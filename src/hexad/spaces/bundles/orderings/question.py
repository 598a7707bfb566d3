"""What an ordering is asked, taken apart once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hexad.core.tracing import log
from hexad.database.codec import to_micros
from hexad.errors import InvalidSpace
from hexad.memory.policy import Backend, parse_backend
from hexad.spaces.bundles.bundle import BundleOptions
from hexad.spaces.bundles.orderings.entity_map import split_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


Slots: TypeAlias = "NDArray[np.int64] | slice"
"""Some slots by number, or all as a slice: picking from every column by number is what takes the time."""


@dataclass(frozen=True, slots=True, eq=False)
class ContainmentQuery:
    """That `needle` stands in a text (`path`, `short`, `long`, `raw`) of a memory, lower-cased.

    `maybe` says by slot where signatures do not rule it out.
    """

    text: str
    needle: str
    maybe: NDArray[np.bool_]


class Scorer(Protocol):
    """One ordering, for one question, over one view. A claim that holds never lowers a score."""

    @property
    def claims(self) -> Sequence[ContainmentQuery]:
        """What scores depend on and only texts can tell."""

    def scores(self, slots: Slots, holds: Sequence[NDArray[np.bool_]]) -> NDArray[np.float64]:
        """Return the scores of slots; `holds` says of each claim for which of them it is taken to be true."""


def resolve_backend(
    per_call: Backend | str | None, space_policy: Backend | str | None, setting: Backend | str | None
) -> tuple[Backend, str | None]:
    """Return the ordering to use and, where its name is unknown, a note that says what was done about it.

    What the call names goes first, then the space's policy, then the setting `memory_backend`
    (`HEXAD_MEMORY_BACKEND`), then `basic`. An unknown name does not fall through to the next: it is logged as a
    warning and `basic` orders instead. Case does not count, and aliases are known (`graphrag`, `memtree`).

    >>> resolve_backend("GraphRAG", None, "basic")
    (<Backend.HYBRID: 'hybrid'>, None)
    """
    name = next((name for name in (per_call, space_policy, setting) if name is not None), Backend.BASIC)
    try:
        return parse_backend(name), None
    except InvalidSpace:
        note = f"Unknown backend {name!r}: ordered by 'basic' instead; known are {', '.join(Backend)}."
        log.warning("Unknown backend: ordered by 'basic' instead; the notes of the answer name it.")
        return Backend.BASIC, note
