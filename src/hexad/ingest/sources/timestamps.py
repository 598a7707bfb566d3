"""When something was said, as sources write it: ISO 8601, Unix times, dates with a month's name or of numbers.

A date such as `03/04/2024` has two readings. It is not guessed: a weekday beside it decides, or the other times of the
same source, and otherwise it is reported as unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Final, Literal

from hexad.core.arguments import quoted
from hexad.core.lazy import lazy_pattern
from hexad.text.dates import month_number

Order = Literal["", "day", "month"]
"""What comes first in a date of numbers; "" where it tells nothing of others."""

MILLISECONDS_FROM: Final = 1e11
"""A number from here on counts milliseconds: as seconds it would lie in the year 5138."""
_LONGEST: Final = 60
_NAME: Final = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY: Final = lazy_pattern(
    r"\(?\b(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?\)?", re.IGNORECASE
)
_CLOCK: Final = lazy_pattern(
    r"(?<![\d:])(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    r"|\s?(?P<alone>[ap])\.?m\b\.?)(?P<zone>\s?(?:z|utc|gmt|[+-]\d\d:?\d\d)\b)?",
    re.IGNORECASE,
)
_DATES: Final = tuple(
    lazy_pattern(form, re.IGNORECASE)
    for form in (
        rf"(?P<month>{_NAME})[\s.-]+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s,-]+(?P<year>\d{{4}})",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s.-]+(?:of\s)?(?P<month>{_NAME})[\s.,-]+(?P<year>\d{{4}})",
        rf"(?P<year>\d{{4}})[\s-](?P<month>{_NAME})[\s-](?P<day>\d{{1,2}})",
        r"(?P<year>\d{4})(?P<sep>[/.-])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})",
        r"(?P<first>\d{1,2})(?P<sep>[/.-])(?P<second>\d{1,2})(?P=sep)(?P<year>\d{4})",
    )
)


def read_time(value: object) -> datetime | None:
    """Return an aware time in UTC; None when the value is none, or one with two readings.

    A time without a zone is taken as UTC, so that no machine's zone decides.

    >>> read_time("March-15-2024").isoformat(), read_time("15/03/2024 10:22").isoformat()
    ('2024-03-15T00:00:00+00:00', '2024-03-15T10:22:00+00:00')
    """
    found = readings(value)
    return next(iter(found.values())) if len(found) == 1 else None


def readings(value: object) -> Mapping[Order, datetime]:
    """Return what a value may mean as a time, by what comes first in its date; empty for none."""
    try:
        if isinstance(value, bool):
            return {}
        if isinstance(value, int | float):
            return {"": _unix(value)}
        if not isinstance(value, str) or not 8 <= len(text := " ".join(value.split())) <= _LONGEST:
            return {}
        if re.fullmatch(r"\d{9,13}(?:\.\d+)?", text):
            return {"": _unix(float(text))}
        return _iso(text) or _written(text)
    except (ValueError, OverflowError, OSError):
        return {}


def _unix(value: float) -> datetime:
    return datetime.fromtimestamp(value / 1000 if abs(value) >= MILLISECONDS_FROM else value, UTC)


def _iso(text: str) -> Mapping[Order, datetime]:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return {}
    return {"": time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)}


def _written(text: str) -> Mapping[Order, datetime]:
    clock = _CLOCK.search(text)
    rest = text if clock is None else f"{text[: clock.start()]} {text[clock.end() :]}"
    weekday = _WEEKDAY.search(rest)
    if weekday is not None:
        rest = f"{rest[: weekday.start()]} {rest[weekday.end() :]}"
    rest = re.sub(r"(?i)\b(?:at|on|of)\b", " ", rest)
    rest = " ".join(rest.split()).strip(" ,;-")
    date = next((match for form in _DATES if (match := form.fullmatch(rest))), None)
    if date is None:
        return {}
    after, zone = _offset(clock) if clock is not None else (timedelta(0), UTC)
    days: dict[Order, datetime] = {}
    for order, (month, day) in _days(date.groupdict()).items():
        try:
            days[order] = datetime(int(date["year"]), month, day, tzinfo=zone)
        except ValueError:  # no calendar has this day
            continue
    if weekday is not None and len(days) > 1:
        number = _WEEKDAYS.index(weekday[1][:3].lower())
        days = {order: day for order, day in days.items() if day.weekday() == number}
    return {order: (day + after).astimezone(UTC) for order, day in days.items()}


def _days(date: Mapping[str, str | None]) -> Mapping[Order, tuple[int, int]]:
    """Return month and day, by what comes first."""
    if date.get("first") is None:
        month, day = str(date["month"]), int(date["day"] or 0)
        return {"": (int(month) if month.isdigit() else month_number(month), day)}
    first, second = int(date["first"] or 0), int(date["second"] or 0)
    return {"": (first, first)} if first == second else {"day": (second, first), "month": (first, second)}


def _offset(clock: re.Match[str]) -> tuple[timedelta, timezone]:
    """Return how far into the day a clock stands, and its zone."""
    hour, half = int(clock["hour"]), (clock["half"] or clock["alone"] or "").lower()
    minute, second = int(clock["minute"] or 0), int(clock["second"] or 0)
    if hour > (12 if half else 23) or minute > 59 or second > 60:
        raise ValueError(clock[0])
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    name = (clock["zone"] or "").strip().replace(":", "")
    zone = UTC
    if name[:1] in ("+", "-"):
        ahead = timedelta(hours=int(name[1:3]), minutes=int(name[3:5]))
        zone = timezone(ahead if name[0] == "+" else -ahead)
    return timedelta(hours=hour, minutes=minute, seconds=second), zone


def two_readings(value: object, found: Mapping[Order, datetime]) -> str:
    """Return in words which days a time may mean."""
    return f"the time {quoted(value)} may be {' or '.join(f'{time.day} {time:%B %Y}' for time in found.values())}"


class SourceTimes:
    """The times of one source; what has two readings is read as the others are."""

    def __init__(self, values: Callable[[], Iterable[object]]) -> None:
        """`values` are all times of the source; they are asked for when one has two readings."""
        self._values = values
        self._order: Order | None = None

    def read(self, value: object) -> tuple[datetime | None, str | None]:
        """Return the time, or None and what is to be said of it."""
        if value is None or (isinstance(value, str) and not value.strip()):
            return None, None
        found = readings(value)
        if len(found) == 1:
            return next(iter(found.values())), None
        if not found:
            return (
                None,
                f"the time {quoted(value)} is in no form that is known; use ISO 8601, as 2024-03-15T10:22",
            )
        if (order := self._other_order()) in found:
            return found[order], None
        return None, f"{two_readings(value, found)}, and no other time of the source tells; use ISO 8601"

    def _other_order(self) -> Order:
        if self._order is None:
            orders = {next(iter(found)) for value in self._values() if len(found := readings(value)) == 1} - {
                ""
            }
            self._order = orders.pop() if len(orders) == 1 else ""
        return self._order
