"""Orderings that a program brings along: a graph RAG of its own decides which memories stand first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Final, Protocol

from hexad.core.arguments import quoted, require_function, said_by
from hexad.errors import InvalidInput, ProviderError
from hexad.memory.policy import BACKEND_ALIASES, Backend
from hexad.text.normalize import whole_characters

IDS_MOST: Final = 1_000
"""Ids of one answer that are looked at; more are an error, so that nothing is cut in silence."""


class ExternalOrdering(Protocol):
    """Orders a space's memories for a topic from what it knows itself. Safe to share between threads."""

    def order(self, space: str, topic: str, limit: int) -> Iterable[tuple[str, float]]:
        """Return `(memory id, score)` pairs, best first; ids that are not there are passed over."""


OrderingFunction = Callable[[str, str, int], Iterable[tuple[str, float]]]
OrderingSpec = ExternalOrdering | OrderingFunction


class NamedOrdering:
    """An ordering under the name by which a recall asks for it; whatever it does wrong is a `ProviderError`."""

    def __init__(self, name: str, ordering: OrderingSpec) -> None:
        self.name = name
        if callable(ordering):
            self._order = ordering
        elif callable(getattr(ordering, "order", None)):
            self._order = ordering.order
        else:
            raise InvalidInput(
                f"Ordering {name!r} is {quoted(ordering)}, which cannot be called; give a function of space, topic and "
                "limit, or an object with a method `order`."
            )
        require_function(self._order, f"orderings[{name!r}]", given=("space", "topic", "limit"))

    def order(self, space: str, topic: str, limit: int) -> list[tuple[str, float]]:
        """Return `(memory id, score)` pairs, each id once. Raises `ProviderError` for a failure or a bad answer."""
        try:
            answer = list(islice(self._order(space, topic, limit), IDS_MOST + 1))
            pairs = [_checked(pair) for pair in answer]
        except ProviderError:
            raise
        # Foreign code may raise anything; the recall goes on without it and says so.
        except Exception as error:
            raise ProviderError(f"it raised {said_by(error, (topic,))}") from error
        if len(answer) > IDS_MOST:
            raise ProviderError(f"it named over {IDS_MOST:,} memories; no more are looked at")
        scores: dict[str, float] = {}
        for memory_id, score in pairs:
            scores.setdefault(memory_id, score)
        return list(scores.items())


def _checked(pair: object) -> tuple[str, float]:
    memory_id, score = pair if isinstance(pair, tuple | list) and len(pair) == 2 else (None, None)
    if isinstance(memory_id, str) and isinstance(score, int | float) and not isinstance(score, bool):
        number = float(score)
        if math.isfinite(number):
            return whole_characters(memory_id), number
    raise ProviderError(f"it answered {str(pair)[:80]!r}, which is no pair of an id and a number")


def resolve_orderings(value: Mapping[str, OrderingSpec] | None) -> dict[str, NamedOrdering]:
    """Return the orderings by name, lower-case; raises `InvalidInput` for a name or an object that cannot be used."""
    orderings: dict[str, NamedOrdering] = {}
    if value is not None and not isinstance(value, Mapping):
        raise InvalidInput(
            f"orderings = {quoted(value)} cannot be used; give a mapping of names to orderings.",
            argument="orderings",
        )
    for name, ordering in (value or {}).items():
        key = name.strip().lower() if isinstance(name, str) else ""
        if not key or not key.isprintable():
            raise InvalidInput(f"An ordering cannot be called {name!r}; give a word.")
        if key in BACKEND_ALIASES or key in tuple(Backend):
            raise InvalidInput(f"An ordering cannot be called {name!r}: that is one of Hexad's own.")
        orderings[key] = NamedOrdering(name, ordering)
    return orderings
