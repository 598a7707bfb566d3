"""What callers of `hx.xdb` give, checked: counts, ranges of ticks and times, types of events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hexad.errors import InvalidInput, LimitExceeded
from hexad.model.experience import TICK_LIMIT, EventType
from hexad.model.parse import parse_choice, parse_time

RECALL_LIMIT: Final = 100_000


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
