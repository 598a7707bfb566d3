"""How sure a memory is: how confidence falls with age and rises with evidence."""

from __future__ import annotations

import math
from typing import Final


def decayed(base: float, *, days: float, half_life_days: float, least: float = 0.0) -> float:
    """Return `base · exp(−λ·days)` with λ = ln 2 / half-life, never below `least` nor above `base`.

    >>> decayed(0.8, days=90, half_life_days=90), decayed(0.8, days=9_000, half_life_days=90, least=0.05)
    (0.4, 0.05)
    """
    weight = base * math.exp(-math.log(2) / half_life_days * max(days, 0.0))
    return round(min(base, max(weight, least)), 6)


DRAFT: Final = "draft"


SURE_MOST: Final = 0.9


_RISE: Final = 0.25


def risen(confidence: float) -> float:
    """Return how sure an inferred fact is when it is seen once more: a quarter of the way to 0.9 further.

    >>> [round(risen(sure), 3) for sure in (0.4, 0.6, 0.9)]
    [0.525, 0.675, 0.9]
    """
    return round(max(confidence, confidence + (SURE_MOST - confidence) * _RISE), 4)
