"""What callers of `hx.xdb` give, checked: counts, ranges of ticks and times, types of events."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from hexad.errors import InvalidInput, LimitExceeded
from hexad.experience.intake import name
from hexad.model.experience import TICK_LIMIT, EventType
from hexad.model.parse import parse_choice, parse_time

RECALL_LIMIT: Final = 100_000
_SINGLE_LIMIT: Final = 3.4e38


def whole_number(value: int, what: str, *, low: int) -> int:
    """Return a whole number from `low` on; raises `InvalidInput`, or `LimitExceeded` for a limit that is too large."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= TICK_LIMIT:
        raise InvalidInput(f"{what} = {value!r} is no whole number from {low} on.")
    if what == "limit" and value > RECALL_LIMIT:
        raise LimitExceeded(f"limit = {value!r} is more than {RECALL_LIMIT:,}; ask again with an offset.")
    return value


def tick_range_of(given: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return a range of ticks, both ends included; raises `InvalidInput`."""
    if given is None:
        return None
    whole = len(given) == 2 and all(isinstance(one, int) and abs(one) <= TICK_LIMIT for one in given)
    if not whole or given[0] > given[1]:
        raise InvalidInput(f"tick_range = {given!r} is no range; give (first, last).")
    return given[0], given[1]


def time_range_of(given: tuple[datetime | str, datetime | str] | None) -> tuple[datetime, datetime] | None:
    """Return a range of times, the end left out; raises `InvalidInput`."""
    if given is None:
        return None
    if isinstance(given, str) or len(given) != 2:
        raise InvalidInput(f"time_range = {given!r} is no range; give (since, until).")
    since, until = (parse_time(one, "time_range") for one in given)
    if since is None or until is None or since > until:
        raise InvalidInput(f"time_range = {given!r} is no range; give (since, until), the earlier first.")
    return since, until


def event_types_of(given: Sequence[EventType | str] | None) -> list[EventType] | None:
    """Return types of events; raises `InvalidInput`."""
    if given is None:
        return None
    if isinstance(given, str):
        raise InvalidInput(f'event_types = {given!r} must be a list; write ["{given}"].')
    return [parse_choice(EventType, one, "event_types") for one in given]


def activation_ranges(
    given: Mapping[str, tuple[float, float]] | Sequence[str] | None,
) -> dict[str, tuple[float, float]]:
    """Return what `recall` asks of concepts: by name alone, any activation will do."""
    if given is None:
        return {}
    if isinstance(given, str):
        raise InvalidInput(f'concepts = {given!r} must be a list of concepts; write ["{given}"].')
    if not isinstance(given, Mapping):
        return {name(one, "a concept"): (float("-inf"), float("inf")) for one in given}
    ranges = {}
    for concept, bounds in given.items():
        try:
            low, high = (float(one) for one in bounds)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"The range of {concept!r} is {bounds!r}; give (lowest, highest).") from error
        if math.isnan(low) or math.isnan(high):
            raise InvalidInput(f"The range of {concept!r} is {bounds!r}; give (lowest, highest) as numbers.")
        ranges[name(concept, "a concept")] = (_single(low), _single(high))
    return ranges


def _single(bound: float) -> float:
    """Return the bound, infinite where single precision, in which scores are kept, does not reach it."""
    return bound if abs(bound) <= _SINGLE_LIMIT else math.copysign(math.inf, bound)
