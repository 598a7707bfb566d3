"""When a question is about: the date phrases of English.

Numeric dates are day first (07/05/2023 is the seventh of May) unless that is impossible. A month, a day of a
month, a season or a weekday without a year is not guessed at: it comes back as recurring.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from hexad.text.dates.calendar_spans import (
    MONTH_NAMES,
    WEEKDAY_NAMES,
    Span,
    day_span,
    month_span,
    number,
    shift,
    unit_span,
)
from hexad.text.dates.date_phrases import (
    LEFT_CHARACTERS,
    ORDINALS,
    PRECISIONS,
    Found,
    Precision,
    find_phrases,
    span_about,
)

CONSIDERED_CHARACTERS: Final = 4_000
"""Characters of a question that are read."""

Direction = Literal["in", "since", "before"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRange:
    """What a question says about time.

    `start` and `end` are half-open and in UTC; `since` has no end and `before` no start. A recurring date has
    neither, but `months`, `day` and `weekday` (0 is Monday) instead. `text` is the phrase as it was written.
    """

    text: str
    direction: Direction
    precision: Precision
    start: datetime | None = None
    end: datetime | None = None
    months: tuple[int, ...] = ()
    day: int | None = None
    weekday: int | None = None

    @property
    def recurring(self) -> bool:
        """Whether the year was left open."""
        return self.start is None and self.end is None

    @property
    def month(self) -> int | None:
        """The month of a recurring date, where it is one."""
        return self.months[0] if len(self.months) == 1 else None

    def covers(self, time: datetime) -> bool:
        """Return whether an aware `time` lies inside; for a recurring date, in any year."""
        time = time.astimezone(UTC)
        if not self.recurring:
            return (self.start is None or self.start <= time) and (self.end is None or time < self.end)
        return (
            (not self.months or time.month in self.months)
            and (self.day is None or time.day == self.day)
            and (self.weekday is None or time.weekday() == self.weekday)
        )


_OFFSET = re.compile(
    r"(?i)(?:(?P<n>[0-9]{1,3}|a|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)|the|last)\s{1,3}"
    r"(?P<unit>day|weekend|week|month|year)s?\s{1,3}(?P<side>before|after)\s{1,3}$"
)
_AROUND = re.compile(r"(?i)\b(?P<unit>weekend|week)\s{1,3}of\s{1,3}(?:the\s{1,3})?$")
_PART = re.compile(
    r"(?i)\b(?P<part>first|second|third|fourth|last)\s{1,3}(?P<unit>week)\s{1,3}(?:of|in)\s{1,3}$"
    r"|\b(?P<share>early|beginning|start|first half|mid|middle|late|end|second half)"
    r"(?:\s{1,3}of)?[\s-]{1,3}(?:the\s{1,3})?$"
)
_SIDE = re.compile(
    r"(?i)\b(?:(?P<since>since|starting(?:\s{1,3}(?:in|from|on))?)|(?P<after>after|later than|following)"
    r"|(?P<before>before|prior to|earlier than)|(?P<until>until|till|up to|by)|in|on|during|from|of|at|between|over"
    r"|as of|throughout|around)\s{1,3}(?:the\s{1,3})?$"
)
_BETWEEN = re.compile(
    r"(?i)\s{0,3}(?:(?P<word>and|to|until|till|through)\b|[-\u2013\u2014])\s{0,3}(?:the\s)?"
)
_OPENS_RANGE = re.compile(r"(?i)\b(?:between|from)\s{1,3}(?:the\s{1,3})?$")
_ONWARDS = re.compile(r"(?i)\s{1,3}(?:onwards?|on(?=\s*(?:[?.,!]|$)))")


def date_range(text: str, *, now: datetime) -> DateRange | None:
    """Return what a question says about time, or None when it says nothing.

    `now` is aware; relative phrases ("last week") count from it, in UTC. Of several phrases, a date of its
    own comes before one that counts from now, and both before a recurring one; of equals, the first.

    >>> found = date_range("What did we decide in May 2023?", now=datetime(2024, 1, 1, tzinfo=UTC))
    >>> found.text, found.precision, found.start.date().isoformat(), found.end.date().isoformat()
    ('in May 2023', 'month', '2023-05-01', '2023-06-01')
    """
    text = text[:CONSIDERED_CHARACTERS]
    now = now.astimezone(UTC)
    found = find_phrases(text, now=now)
    if not found:
        return None
    best = min(range(len(found)), key=lambda at: (found[at].span is None, found[at].relative, at))
    try:
        return _joined(text, found, best) or _directed(text, found[best])
    except (ValueError, OverflowError):  # before the year 1 or after 9999
        return None


def date_words(time: datetime) -> str:
    """Return the words under which an item of that time is found: `2023-05-08 8 May 2023 Monday`."""
    month, weekday = MONTH_NAMES[time.month - 1], WEEKDAY_NAMES[time.weekday()]
    return f"{time.date().isoformat()} {time.day} {month} {time.year} {weekday}"


def _joined(text: str, found: list[Found], best: int) -> DateRange | None:
    """Return the range that two neighbouring phrases make: "between March and June 2022"."""
    for first, last in ((best, best + 1), (best - 1, best)):
        if first < 0 or last >= len(found):
            continue
        left, right = found[first], found[last]
        connector = _BETWEEN.fullmatch(text, left.at[1], right.at[0])
        opens = _OPENS_RANGE.search(text[max(left.at[0] - 16, 0) : left.at[0]])
        if connector is None or ((connector["word"] or "").lower() == "and" and not opens):
            continue
        start = left.at[0] - (len(opens.group()) if opens else 0)
        phrase = text[start : right.at[1]]
        if left.span is None and right.span is not None and left.months:
            left = _with_year_before(left, right.span)
        if left.span and right.span and left.span[0] < right.span[1]:
            return DateRange(
                text=phrase, direction="in", precision="range", start=left.span[0], end=right.span[1]
            )
        if left.months and right.months and left.day is None and right.day is None:
            count = (right.months[-1] - left.months[0]) % 12 + 1
            months = tuple((left.months[0] - 1 + at) % 12 + 1 for at in range(count))
            return DateRange(text=phrase, direction="in", precision="range", months=months)
    return None


def _with_year_before(found: Found, span: Span) -> Found:
    """Return a recurring phrase in the year that puts it before `span`."""
    year = span[0].year if found.months[0] <= span[0].month else span[0].year - 1
    try:
        if found.day is not None:
            return replace(found, span=day_span(year, found.months[0], found.day))
    except ValueError:  # 29 February
        return found
    return replace(found, span=month_span(year, found.months[0], months=len(found.months)))


def _directed(text: str, found: Found) -> DateRange:
    """Return the phrase with what stands around it: "since", "the week before", "the end of"."""
    start, end = found.at
    span, precision = found.span, found.precision
    left = text[max(start - LEFT_CHARACTERS, 0) : start]
    if span is not None and (offset := _OFFSET.search(left)):
        span, precision = _offset(span, offset)
        start -= len(left) - offset.start()
    elif span is not None and precision == "day" and (around := _AROUND.search(left)):
        span, precision = unit_span(span[0], around["unit"].lower()), "week"
        start -= len(left) - around.start()
    elif part := _PART.search(left):
        if span is not None:
            span, precision = _part(span, part, precision)
        start -= len(left) - part.start()
    left = text[max(start - LEFT_CHARACTERS, 0) : start]
    side = _SIDE.search(left)
    direction: Direction = "in"
    if side is not None:
        start -= len(left) - side.start()
    if onwards := _ONWARDS.match(text, end):
        end = onwards.end()
    first, last = span or (None, None)
    if (side and side["since"]) or onwards:
        direction, last = "since", None
    elif side and side["after"]:
        direction, first, last = "since", last, None
    elif side and (side["before"] or side["until"]):
        direction, first, last = "before", None, first if side["before"] else last
    return DateRange(
        text=text[start:end],
        direction=direction,
        precision=precision,
        start=first,
        end=last,
        months=() if span else found.months,
        day=None if span else found.day,
        weekday=None if span else found.weekday,
    )


def _offset(span: Span, offset: re.Match[str]) -> tuple[Span, Precision]:
    """Return "two weeks before 11 August" (a span about a day) or "the week before" (a span that touches)."""
    unit = offset["unit"].lower()
    before = offset["side"].lower() == "before"
    sign = -1 if before else 1
    if offset["n"] is not None:
        moment = shift(span[0], unit, sign * number(offset["n"].lower()))
        return span_about(moment, unit), PRECISIONS[unit]
    if unit == "weekend":
        saturday = unit_span(
            span[0] - timedelta(days=7) if before and span[0].weekday() < 6 else span[0], unit
        )[0]
        saturday += timedelta(days=0 if before else 7 * (saturday < span[1]))
        return (saturday, saturday + timedelta(days=2)), "week"
    if before:
        return (shift(span[0], unit, -1), span[0]), PRECISIONS[unit]
    return (span[1], shift(span[1], unit, 1)), PRECISIONS[unit]


def _part(span: Span, part: re.Match[str], precision: Precision) -> tuple[Span, Precision]:
    """Return a numbered week of a month, or the early, middle or late part of a span."""
    start, end = span
    if part["unit"]:
        if part["part"].lower() == "last":
            return (end - timedelta(days=7), end), "week"
        start += timedelta(days=7 * ORDINALS[part["part"].lower()])
        return (start, min(start + timedelta(days=7), end)), "week"
    if precision == "day":
        return span, precision
    share = part["share"].lower()
    third = timedelta(days=round((end - start).days / 3))
    if share in ("early", "beginning", "start"):
        return (start, start + third), "range"
    if share in ("mid", "middle"):
        return (start + third, end - third), "range"
    if share in ("late", "end"):
        return (end - third, end), "range"
    half = start + timedelta(days=round((end - start).days / 2))
    return ((start, half) if share == "first half" else (half, end)), "range"
