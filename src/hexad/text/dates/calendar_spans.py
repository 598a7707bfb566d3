"""Spans of the calendar: half-open, in UTC, by the ISO week and the northern seasons."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

Span = tuple[datetime, datetime]
"""The first moment inside and the first after it."""

MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MONTH_NAMES: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAY_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SEASONS: Final = {"spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11), "winter": (12, 1, 2)}
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip


def day_span(year: int, month: int, day: int) -> Span:
    """Return one day; raises `ValueError` when the calendar has no such day."""
    start = datetime(year, month, day, tzinfo=UTC)
    return start, start + timedelta(days=1)


def month_span(year: int, month: int, *, months: int = 1) -> Span:
    """Return `months` months from the given one on; a month may lie outside 1 to 12."""
    first = year * 12 + month - 1
    last = first + months
    start = datetime(first // 12, first % 12 + 1, 1, tzinfo=UTC)
    return start, datetime(last // 12, last % 12 + 1, 1, tzinfo=UTC)


def season_span(year: int, season: str) -> Span:
    """Return three months; winter begins in December of `year`."""
    return month_span(year, SEASONS[season][0], months=3)


def unit_span(moment: datetime, unit: str) -> Span:
    """Return the day, week (from Monday), weekend, month, quarter or year that `moment` lies in.

    The weekend is that of the moment's week.
    """
    start, end = day_span(moment.year, moment.month, moment.day)
    if unit == "day":
        return start, end
    monday = start - timedelta(days=start.weekday())
    if unit == "week":
        return monday, monday + timedelta(days=7)
    if unit == "weekend":
        return monday + timedelta(days=5), monday + timedelta(days=7)
    if unit == "month":
        return month_span(moment.year, moment.month)
    if unit == "quarter":
        return month_span(moment.year, moment.month - (moment.month - 1) % 3, months=3)
    return month_span(moment.year, 1, months=12)


def shift(moment: datetime, unit: str, count: int) -> datetime:
    """Return the moment `count` units later; a day that the target month lacks becomes its last.

    Raises `ValueError` or `OverflowError` outside the years 1 to 9999.
    """
    if unit in ("day", "week", "weekend"):
        return moment + timedelta(days=count if unit == "day" else 7 * count)
    months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
    start, end = month_span(moment.year, moment.month + months)
    return moment.replace(
        year=start.year, month=start.month, day=min(moment.day, (end - timedelta(days=1)).day)
    )


def number(word: str) -> int:
    """Return the value of digits, of a number word up to twelve, or of an article."""
    return int(word) if word.isdigit() else _NUMBERS[word]


def month_number(name: str) -> int:
    """Return 1 to 12 for an English month or its abbreviation."""
    return MONTHS.index(name[:3].lower()) + 1


def parts_pattern() -> dict[str, str]:
    """Return the pieces of which patterns for English dates are made."""
    return {
        "MONTH": "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
        "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)",
        "WEEKDAY": "(?:mon|tues|wednes|thurs|fri|satur|sun)day",
        "SEASON": "(?:spring|summer|autumn|fall|winter)",
        "YEAR": "(?:19|20)[0-9]{2}",
        "TH": "(?:st|nd|rd|th)",
        "NUM": f"(?:[0-9]{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})",
        "S": r"\s{1,3}",
    }


def compile_dates(*alternatives: str) -> re.Pattern[str]:
    """Compile alternatives in which `{MONTH}` and its like stand for `parts_pattern`."""
    pattern = "|".join(alternatives)
    for name, part in parts_pattern().items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return re.compile(rf"(?i)(?<![\w./])(?<![0-9]-)(?:{pattern})")
