"""What callers of `hx.xdb` give, checked: texts, counts, ranges of ticks and times, types of events."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from hexad.core.arguments import is_whole, join_pairs, parse_choice, parse_time, quoted, require_encodable
from hexad.core.event_types import EventType
from hexad.errors import InvalidInput, LimitExceeded
from hexad.experience.values.levels import CompressionLevel
from hexad.experience.values.names import check_name
from hexad.experience.values.records import TICK_LIMIT

RECALL_LIMIT: Final = 100_000
_SINGLE_LIMIT: Final = 3.4e38
_EARLIEST, _LATEST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)

_MARKS: Final = "'\""


def text_of(value: str | None, what: str) -> str | None:
    """Return a text to look for, None for none; raises `InvalidInput` for what can be in no text."""
    if value is not None:
        value = join_pairs(value)
        require_encodable(value, what)
    return value


def match_of(value: str) -> bool:
    """Return whether any of the tags is enough; raises `InvalidInput`."""
    if value not in ("all", "any"):
        raise InvalidInput(f"match = {quoted(value)} is neither 'all' nor 'any'.", argument="match")
    return value == "any"


def whole_number(value: int, what: str, *, low: int) -> int:
    """Return a whole number from `low` on; raises `InvalidInput`, or `LimitExceeded` for a limit that is too large."""
    if not is_whole(value, low, TICK_LIMIT):
        raise InvalidInput(f"{what} = {quoted(value)} is no whole number from {low} on.", argument=what)
    if what == "limit" and value > RECALL_LIMIT:
        raise LimitExceeded(
            f"limit = {quoted(value)} is more than {RECALL_LIMIT:,}; ask again with an offset.",
            argument="limit",
        )
    return value


def tick_range_of(value: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return a range of ticks, both ends included; raises `InvalidInput`."""
    if value is None:
        return None
    pair = _is_pair(value) and all(isinstance(tick, int) and abs(tick) <= TICK_LIMIT for tick in value)
    if not pair or value[0] > value[1]:
        raise InvalidInput(
            f"tick_range = {quoted(value)} is no range; give (first, last).", argument="tick_range"
        )
    return value[0], value[1]


def time_range_of(
    value: tuple[datetime | str | None, datetime | str | None] | None,
) -> tuple[datetime, datetime] | None:
    """Return a range of times, the end left out, None at either end for none; raises `InvalidInput`."""
    if value is None:
        return None
    if not _is_pair(value):
        raise InvalidInput(
            f"time_range = {quoted(value)} is no range; give (since, until).", argument="time_range"
        )
    since, until = (parse_time(time, f"time_range[{at}]") for at, time in enumerate(value))
    since, until = since or _EARLIEST, until or _LATEST
    if since > until:
        raise InvalidInput(
            f"time_range = {quoted(value)} is no range; give (since, until), the earlier first.",
            argument="time_range",
        )
    return since, until


def event_types_of(value: Sequence[EventType | str] | None) -> list[EventType] | None:
    """Return types of events; raises `InvalidInput`."""
    if value is None:
        return None
    if not _is_list(value):
        word = quoted(value)
        raise InvalidInput(
            f'event_types = {word} must be a list; write ["{word.strip(_MARKS)}"].', argument="event_types"
        )
    return [parse_choice(EventType, event_type, "event_types") for event_type in value]


def level_of(value: CompressionLevel | str) -> CompressionLevel:
    """Return a level by its name or its number; raises `InvalidInput`."""
    try:
        level = CompressionLevel[value.upper()] if isinstance(value, str) else CompressionLevel(value)
    except (KeyError, ValueError):
        level = CompressionLevel.TOKEN
    if level is CompressionLevel.TOKEN:
        words = ", ".join(level.name for level in CompressionLevel if level is not CompressionLevel.TOKEN)
        raise InvalidInput(
            f"level = {quoted(value)} is no level of COLD records; give one of {words}.", argument="level"
        )
    return level


MIN_ACTIVATION: Final = 0.5
"""From this score on a concept that is asked for by name alone counts as active (document 2, section 8)."""


def activation_ranges(
    value: Mapping[str, tuple[float, float]] | Sequence[str] | None,
) -> dict[str, tuple[float, float]]:
    """Return what `recall` asks of concepts: by name alone, that they were strongly active."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) and not _is_list(value):
        word = quoted(value)
        raise InvalidInput(
            f'concepts = {word} must be a list of concepts; write ["{word.strip(_MARKS)}"].',
            argument="concepts",
        )
    if not isinstance(value, Mapping):
        return {check_name(concept, "a concept"): (MIN_ACTIVATION, float("inf")) for concept in value}
    ranges = {}
    for concept, bounds in value.items():
        try:
            low, high = (_bound(bound) for bound in bounds)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInput(
                f"The range of {quoted(concept)} is {quoted(bounds)}; give (lowest, highest)."
            ) from error
        if math.isnan(low) or math.isnan(high):
            raise InvalidInput(
                f"The range of {quoted(concept)} is {quoted(bounds)}; give (lowest, highest) as numbers."
            )
        if low > high:
            raise InvalidInput(
                f"The range of {quoted(concept)} is {quoted(bounds)}: the lowest score is above the highest; "
                "give (low, high)."
            )
        ranges[check_name(concept, "a concept")] = (_single(low), _single(high))
    return ranges


def _is_pair(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _bound(value: object) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)  # type: ignore[arg-type]


def _single(bound: float) -> float:
    """Return the bound, infinite where single precision, in which scores are kept, does not reach it."""
    return bound if abs(bound) <= _SINGLE_LIMIT else math.copysign(math.inf, bound)
