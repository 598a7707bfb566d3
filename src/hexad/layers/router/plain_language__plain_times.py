"""The time in a plain sentence as the two ends of a filter: whole days, what recurs taken as its last occurrence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from hexad.text.dates.calendar_spans import Span, day_span, month_span, unit_span
from hexad.text.dates.date_ranges import DateRange, date_range

_RELATIVE: Final = re.compile(
    r"(?i)(?:the )?(?:last|past|previous|this|current)\b|yesterday|today|the day before|.*\bago$"
)
_ROLLING: Final = re.compile(
    r"(?i)\bpast\b|\bthe last\b|\b(?:last|previous) (?:[\w-]+ ){1,3}(?:day|week|month|year)s?\b"
)
"""Times that end with the present moment, and so have no end: their filter would be another every second."""
_PLACED: Final = re.compile(
    r"(?i)(?:in|on|during|since|starting|from|between|before|after|until|till|up to|prior to|earlier|later|of|over"
    r"|throughout|at)\b"
)
_GOES_ON: Final = re.compile(
    r"(?i)\s*(?:$|[?.!,;)]|(?:about|on|for|in|under|below|tagged|labelled|labeled|with|that|which|we|i|from|of|and"
    r"|regarding|concerning|by|to|were|was|did|what|are)\b)"
)
_TOPIC_BEFORE: Final = re.compile(
    r"(?i)\b(?:about|regarding|concerning|for|by|due|called|named|versus|vs)(?:\s+the)?\s*$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Where a sentence names a time, and the filter that it makes. `of_something`: "the outage of 12 May"."""

    start: int
    end: int
    since: str | None
    until: str | None
    of_something: bool


def times_in(text: str, *, now: datetime) -> Times | None:
    """Return the time that a sentence names, where it says when something was: not in a name, and not to come.

    >>> found = times_in("what did we decide in March", now=datetime(2026, 11, 21, tzinfo=UTC))
    >>> found.since, found.until
    ('2026-03-01', '2026-04-01')
    >>> times_in("the March release", now=datetime(2026, 11, 21, tzinfo=UTC)) is None
    True
    """
    now = now.astimezone(UTC)
    said = date_range(text, now=now)
    if said is None:
        return None
    at = text.find(said.text)
    end = at + len(said.text)
    if at < 0 or not (_PLACED.match(said.text) or _RELATIVE.match(said.text)):
        return None
    if not _GOES_ON.match(text[end:]) or _TOPIC_BEFORE.search(text[:at]):
        return None
    first, last = _ends(said, now)
    if first is not None and first > now:
        return None
    if last is not None and last > now:
        last = None
    if first is None and last is None:
        return None
    return Times(
        start=at,
        end=end,
        since=None if first is None else _day(first),
        until=None if last is None else _day(last),
        of_something=said.text.lower().startswith("of "),
    )


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _ends(said: DateRange, now: datetime) -> Span | tuple[datetime | None, datetime | None]:
    """Return the first moment and the first after it; a year that was left open is the last that has begun."""
    if not said.recurring:
        first, last = said.start, said.end
        rolling = last == now and _ROLLING.search(said.text) is not None
        return first, None if rolling else last
    span = _latest(said, now)
    if span is None:
        return None, None
    first_word = said.text.lower().split()[0]
    if said.direction == "since":
        return (span[1] if first_word in ("after", "later", "following") else span[0]), None
    if said.direction == "before":
        return None, (span[1] if first_word in ("until", "till", "up", "by") else span[0])
    return span


def _latest(said: DateRange, now: datetime) -> Span | None:
    if said.weekday is not None:
        today = unit_span(now, "day")
        back = timedelta(days=(now.weekday() - said.weekday) % 7)
        return today[0] - back, today[1] - back
    for year in (now.year, now.year - 1, *range(now.year - 2, now.year - 9, -1)):
        try:
            span = (
                month_span(year, said.months[0], months=len(said.months))
                if said.day is None
                else day_span(year, said.months[0], said.day)
            )
        except ValueError:  # 29 February
            continue
        if span[0] <= now:
            return span
    return None
