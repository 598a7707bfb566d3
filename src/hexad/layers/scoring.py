"""How items of different layers are weighed against each other: the formula of document 4, section 6.2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import exp, floor, log
from typing import Final

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput
from hexad.layers.contract import MemoryItem, ScoredItem, Weights
from hexad.memory.layer_names import MemoryLayer

HALF_LIFE_DAYS: Final = 30.0
AUTHORITY: Final[Mapping[MemoryLayer, float]] = {
    MemoryLayer.SESSION: 1.0,
    MemoryLayer.PROJECT: 0.85,
    MemoryLayer.USER: 0.7,
    MemoryLayer.GOVERNANCE: 0.55,
    MemoryLayer.GRAPH: 0.4,
    MemoryLayer.VECTOR: 0.25,
}
DEFAULT_WEIGHTS: Final = Weights(
    relevance=0.7,
    recency=0.05,  # what answers better is not to be passed by what is merely younger
    authority=0.15,
    confidence=0.05,
    importance=0.05,
    decay=log(2) / HALF_LIFE_DAYS,
    layer=AUTHORITY,
)
SCALE: Final = 3.0
"""A fused score of so much more is one unit of the logistic curve: those of good answers are some 3 to 12."""
_DAY_S: Final = 86_400
_SLIP: Final = 1e-9
"""What a sum of parts of a day may be short of a whole one: less than a tenth of a millisecond."""
_NAMES: Final = ("relevance", "recency", "authority", "confidence", "importance")


def relevance_of(fused: float) -> float:
    """Return the relevance, 0 to 1, of what a recall scored: the same function for every layer.

    It keeps the order of the scores, so that inside one layer nothing changes places by it.

    >>> relevance_of(0.0), relevance_of(-1e9), relevance_of(1e9)
    (0.5, 0.0, 1.0)
    """
    x = fused / SCALE
    if x >= 0:
        return 1 / (1 + exp(-min(x, 700.0)))
    grown = exp(max(x, -700.0))
    return 0.0 if x < -700.0 else grown / (1 + grown)


def relevance_of_share(share: float) -> float:
    """Return the relevance of an item of which only this is known: the share of the question's words that it has.

    For layers of some dozen items, which need no index. The same curve: no word is about 0.1, all words about 0.9.
    """
    return relevance_of((2 * min(max(share, 0.0), 1.0) - 1) * 2.2 * SCALE)


def normalise(weights: Weights) -> Weights:
    """Return the weights as parts of 1. Raises `InvalidInput` where one is negative, or all are 0."""
    values = {name: float(getattr(weights, name)) for name in _NAMES}
    for name, weight in {**values, "decay": weights.decay}.items():
        if not 0 <= weight < float("inf"):
            raise InvalidInput(
                f"The weight {name} = {quoted(weight)} cannot be used; give a number, 0 or more."
            )
    whole = sum(values.values())
    if whole <= 0:
        raise InvalidInput("All weights of a score are 0; give at least one of them a number above 0.")
    return replace(
        weights,
        relevance=weights.relevance / whole,
        recency=weights.recency / whole,
        authority=weights.authority / whole,
        confidence=weights.confidence / whole,
        importance=weights.importance / whole,
    )


def score(item: MemoryItem, weights: Weights) -> ScoredItem:
    """Return an item with its score and the parts that sum up to it.

    Age counts in days of the calendar (`age_days`), so that an order is the same all day. It hides no
    decision, no pin and nothing that is cited: for them it does not count.
    """
    lasting = item.pinned or bool(item.citations) or item.layer is MemoryLayer.GOVERNANCE
    days = 0 if lasting else age_days(item)
    parts = {
        "relevance": weights.relevance * _unit(item.relevance),
        "recency": weights.recency * exp(-weights.decay * days),
        "authority": weights.authority * weights.layer.get(item.layer, 0.0),
        "confidence": weights.confidence * _unit(item.confidence),
        "importance": weights.importance * _unit(item.importance),
    }
    return ScoredItem(item=item, score=sum(parts.values()), parts=parts)


def age_days(item: MemoryItem) -> int:
    """Return how many days of the calendar (UTC) ago an item is from: all of them grow older at midnight, together.

    An hour at which one is a day old and another is not would change the order of a context in the middle of a day.
    """
    passed = (item.at.timestamp() % _DAY_S) / _DAY_S
    return floor(max(item.recency, 0.0) + passed + _SLIP)


def rank(items: Iterable[MemoryItem], weights: Weights) -> list[ScoredItem]:
    """Return items with their scores, best first; ties by authority, then the younger, then the id."""
    return sorted((score(item, weights) for item in items), key=order)


def order(scored: ScoredItem) -> tuple[float, int, float, str]:
    """Return by what scored items are sorted: never by who wrote first or which layer answered first."""
    item = scored.item
    return (-scored.score, item.layer.rank, -item.at.timestamp(), item.id)


def _unit(value: float | None) -> float:
    return 0.0 if value is None else min(max(value, 0.0), 1.0)
