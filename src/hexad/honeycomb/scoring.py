"""How strongly two texts belong together: the three functions of document 3, pure and reproducible.

Sums are exact (`math.fsum`) and lengths are scaled (`math.hypot`), so that another implementation gets the same
numbers to the last digits, and values near the ends of the range of a float neither overflow nor vanish.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from hexad.core.arguments import finite_numbers, quoted, real_number
from hexad.errors import InvalidInput

HALF_LIFE: Final = timedelta(hours=24)
COSINE_WEIGHT: Final = 0.7
DECAY_WEIGHT: Final = 0.3
DECAY_MODES: Final = ("half-life", "tau")
_WEIGHTS_APART: Final = 1e-9
_SECONDS_MOST: Final = 1e300

Moment = datetime | float
"""A point in time: an aware datetime, or seconds since any fixed moment."""


def cosine_similarity(vec_a: Iterable[float], vec_b: Iterable[float]) -> float:
    """Return how alike two vectors point, from 0 to 1: opposite ones are as unlike as orthogonal ones.

    0 for an empty vector and for one of zeros. Raises `InvalidInput` for vectors of different lengths and for
    values that are no finite numbers.

    >>> cosine_similarity([1.0, 0.0], [1.0, 1.0])
    0.7071067811865475
    >>> cosine_similarity([1.0, 0.0], [-1.0, 0.0]), cosine_similarity([], []), cosine_similarity([0.0], [1.0])
    (0.0, 0.0, 0.0)
    """
    first, second = finite_numbers(vec_a, "vec_a"), finite_numbers(vec_b, "vec_b")
    if not first or not second:
        return 0.0
    if len(first) != len(second):
        raise InvalidInput(
            f"vec_a has {len(first)} numbers and vec_b {len(second)}; only vectors of one length can be compared."
        )
    # Brought near 1 first: squares of very small or very large numbers leave the range of a float.
    first, second = _scaled(first), _scaled(second)
    lengths = math.hypot(*first) * math.hypot(*second)
    if not lengths:
        return 0.0
    return _clamped(math.fsum(a * b for a, b in zip(first, second, strict=True)) / lengths)


def temporal_decay(
    created_time: Moment,
    current_time: Moment,
    *,
    half_life: timedelta | float = HALF_LIFE,
    mode: str = "half-life",
) -> float:
    """Return what time has left of 1: 0.5 after one `half_life`, 1 for what is from the future.

    Times are datetimes, or seconds; `half_life` is a timedelta, or seconds. `mode="tau"` gives document 3's formula
    as it is written, exp(-age / half_life), which is 0.37 after 24 hours where its text says 0.5.
    Raises `InvalidInput` for times of two kinds, a half-life that is not positive, and another mode.

    >>> day = 24 * 3600.0
    >>> temporal_decay(0.0, day), round(temporal_decay(0.0, 7 * day), 4), temporal_decay(day, 0.0)
    (0.5, 0.0078, 1.0)
    >>> round(temporal_decay(0.0, day, mode="tau"), 4)
    0.3679
    """
    if not isinstance(mode, str) or mode not in DECAY_MODES:
        raise InvalidInput(
            f"mode = {quoted(mode)} is not known; choose one of {', '.join(DECAY_MODES)}.", argument="mode"
        )
    life_s = half_life.total_seconds() if isinstance(half_life, timedelta) else real_number(half_life)
    if life_s is None or not 0 < life_s <= _SECONDS_MOST:
        raise InvalidInput(
            f"half_life = {quoted(half_life)} cannot be used; give a positive time.", argument="half_life"
        )
    age_s = _age_s(created_time, current_time)
    if mode == "tau" and age_s > 0:
        return _clamped(math.exp(-(age_s / life_s)))
    return decay_after(age_s, half_life_s=life_s)


def decay_after(age_s: float, *, half_life_s: float) -> float:
    """Return `temporal_decay` of an age and a half-life that are known to be good: nothing is checked."""
    turns = age_s / half_life_s
    return 1.0 if turns <= 0 else _clamped(0.5**turns)


def calculate_relevance(
    vec_a: Iterable[float],
    vec_b: Iterable[float],
    created_time: Moment,
    current_time: Moment,
    *,
    cosine_weight: float = COSINE_WEIGHT,
    decay_weight: float = DECAY_WEIGHT,
    half_life: timedelta | float = HALF_LIFE,
    mode: str = "half-life",
) -> float:
    """Return 0.7 × cosine + 0.3 × decay, from 0 to 1; the weights are settable and add up to 1.

    Raises `InvalidInput` as `cosine_similarity` and `temporal_decay` do, and for other weights.

    >>> calculate_relevance([1.0, 0.0], [1.0, 0.0], 0.0, 24 * 3600.0)
    0.85
    >>> round(combined_relevance(0.95, 1.0), 3), round(combined_relevance(0.95, 0.2), 3)
    (0.965, 0.725)
    """
    check_weights(cosine_weight, decay_weight)
    return combined_relevance(
        cosine_similarity(vec_a, vec_b),
        temporal_decay(created_time, current_time, half_life=half_life, mode=mode),
        cosine_weight=float(cosine_weight),
        decay_weight=float(decay_weight),
    )


def combined_relevance(
    cosine: float,
    decay: float,
    *,
    cosine_weight: float = COSINE_WEIGHT,
    decay_weight: float = DECAY_WEIGHT,
) -> float:
    """Return what `calculate_relevance` makes of a cosine and a decay that are known; the weights are checked."""
    return _clamped(cosine * cosine_weight + decay * decay_weight)


def check_weights(cosine_weight: float, decay_weight: float) -> None:
    """Raise `InvalidInput` for weights that are no shares of a whole."""
    for name, weight in (("cosine_weight", cosine_weight), ("decay_weight", decay_weight)):
        number = real_number(weight)
        if number is None or not 0 <= number <= 1:
            raise InvalidInput(
                f"{name} = {quoted(weight)} cannot be used; give a number from 0 to 1.", argument=name
            )
    if abs(cosine_weight + decay_weight - 1) > _WEIGHTS_APART:
        raise InvalidInput(
            f"cosine_weight = {quoted(cosine_weight)} and decay_weight = {quoted(decay_weight)} add up to "
            f"{cosine_weight + decay_weight:g}; they must add up to 1, as 0.7 and 0.3 do.",
            argument="cosine_weight",
        )


def _age_s(created: Moment, current: Moment) -> float:
    if isinstance(created, datetime) and isinstance(current, datetime):
        if (created.tzinfo is None) != (current.tzinfo is None):
            raise InvalidInput(
                f"created_time = {created} and current_time = {current}: only one of them has a time zone.",
                argument="created_time",
            )
        return (current - created).total_seconds()
    return _seconds(current, "current_time") - _seconds(created, "created_time")


def _seconds(moment: Moment, name: str) -> float:
    seconds = real_number(moment)
    if seconds is not None and abs(seconds) <= _SECONDS_MOST:
        return seconds
    raise InvalidInput(
        f"{name} = {quoted(moment)} is not a time; give two datetimes, or two numbers of seconds.",
        argument=name,
    )


def _scaled(vector: list[float]) -> list[float]:
    largest = max(map(abs, vector))
    if not largest:
        return vector
    _, exponent = math.frexp(largest)
    return [math.ldexp(value, -exponent) for value in vector]  # exact: only exponents change


def _clamped(value: float) -> float:
    return min(max(value, 0.0), 1.0)
