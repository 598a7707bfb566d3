"""When a question is about: the date phrases of English.

Numeric dates are day first (07/05/2023 is the seventh of May) unless that is impossible. A month, a day of a
month, a season or a weekday without a year is not guessed at: it comes back as recurring.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final, Literal

from hexad.core.lazy import lazy_pattern

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
    return lazy_pattern(rf"(?i)(?<![\w./])(?<![0-9]-)(?:{pattern})")


LEFT_CHARACTERS: Final = 48
"""Characters before a phrase that may belong to it."""
ORDINALS: Final = {"first": 0, "second": 1, "third": 2, "fourth": 3}

Precision = Literal["day", "week", "month", "quarter", "season", "year", "range"]


@dataclass(frozen=True, slots=True)
class DatePhrase:
    """A date phrase at a place of the text: a span, or what recurs."""

    at: tuple[int, int]
    precision: Precision
    span: Span | None = None
    months: tuple[int, ...] = ()
    day: int | None = None
    weekday: int | None = None
    relative: bool = False


@cache
def _dates() -> re.Pattern[str]:
    # Compiled when a question first mentions a time: it takes 20 ms, as much as a whole answer.
    return compile_dates(
        r"(?P<i_y>{YEAR})(?P<i_s>[-/])(?P<i_m>0?[1-9]|1[0-2])(?:(?P=i_s)(?P<i_d>[0-9]{1,2}))?"
        r"(?:T[0-9:.]{4,12}Z?)?(?![\w/-]|\.[0-9])",
        r"(?<!version )(?<!release )(?P<n_a>[0-9]{1,2})(?P<n_s>[/.-])(?P<n_b>[0-9]{1,2})(?P=n_s)(?P<n_y>{YEAR})"
        r"(?![\w/-]|\.[0-9])",
        r"(?P<d_d>[0-9]{1,2})(?P<d_o>{TH})?(?:\s?[-\u2013]\s?(?P<d_e>[0-9]{1,2}){TH}?)?{S}(?:of{S})?"
        r"(?P<d_m>{MONTH})\b\.?(?:,?\s{0,3}(?P<d_y>{YEAR})\b)?",
        r"(?P<m_m>{MONTH})\b\.?{S}(?P<m_d>[0-9]{1,2})(?P<m_o>{TH})?(?:\s?[-\u2013]\s?(?P<m_e>[0-9]{1,2}){TH}?)?"
        r"(?![\w:%]|\.[0-9])(?:,?\s{0,3}(?P<m_y>{YEAR})\b)?",
        r"(?P<y_m>{MONTH})\b\.?,?(?:{S}of)?{S}(?P<y_y>{YEAR})\b",
        r"(?P<b_m>{MONTH})\b",
        r"(?:q(?P<q_q>[1-4])(?:\s{0,3}|[-/])|(?P<q_o>first|second|third|fourth){S}quarter{S})(?:of{S})?(?P<q_y>{YEAR})\b",
        r"(?P<s_s>{SEASON})\b(?:{S}(?:of{S})?(?P<s_y>{YEAR})\b)?",
        r"(?P<w_w>the day before yesterday|yesterday|today|tonight|tomorrow|last night"
        r"|this (?:morning|afternoon|evening))\b",
        r"(?P<u_w>last|past|previous|this|current|next){S}"
        r"(?P<u_u>weekend|week|month|year|quarter|{SEASON}|{WEEKDAY}|{MONTH})\b",
        r"(?:last|past|previous){S}(?P<p_n>{NUM}|couple of|few){S}(?P<p_u>day|week|month|year)s?\b",
        r"(?P<a_n>{NUM}|(?:a )?couple of|(?:a )?few|several){S}(?P<a_u>day|week|month|year)s?{S}ago\b",
        r"on{S}(?P<k_k>{WEEKDAY})\b",
        r"(?P<v_v>{WEEKDAY})\b",
        r"(?P<j_y>{YEAR})\b(?![%:/-]|\.[0-9]|\s?(?:lines?|rows?|items?|characters?|tokens?|words?|users?|people"
        r"|requests?|ms|seconds?|steps?|files?|bytes?|times|tests?|points?|memories)\b)",
    )


# What must stand before a month, a season or a year that stands alone: without it, "may" is a verb, "June"
# a person and "2077" a number.
_PREPOSITION = lazy_pattern(
    r"(?i)(?:^|[\s(,-])(in|during|since|before|after|until|till|by|of|from|between|through|throughout|around|early"
    r"|mid|late|every|over|as of|up to|prior to|for(?=\s{1,3}the\b))"
    r"(?:\s{1,3}(?:the|early|mid|late|year|about|around))?[\s-]{1,3}$"
)
_BEFORE_DAY = lazy_pattern(
    r"(?i)\b(?:on|since|before|after|until|till|by|from|between|and|around|of)\s{1,3}(?:the\s{1,3})?$"
)
_SINCE = lazy_pattern(r"(?i)\bsince\s{1,3}$")
_BARE_ARTICLE = lazy_pattern(r"(?i)\bthe\s{1,3}$")
_WORD: Final = lazy_pattern(r"[a-z]+")
_CUES: Final = frozenset(
    {
        *MONTHS,
        *(name.lower() for name in MONTH_NAMES),
        *WEEKDAYS,
        *(name.lower() for name in WEEKDAY_NAMES),
        *("sept tues thur thurs fall").split(),
        *SEASONS,
        *("yesterday today tonight tomorrow night morning afternoon evening").split(),
        *("last past previous this current next ago quarter").split(),
    }
)
"""Without one of these words or a digit, a text says nothing about time."""
_NAMES_OF_PEOPLE: Final = frozenset({"april", "may", "june", "august", "jan"})
_VERBS: Final = frozenset({"may", "march", "mar"})


def _may_tell_time(text: str) -> bool:
    return any(char.isdecimal() for char in text) or not _CUES.isdisjoint(_WORD.findall(text.lower()))


def find_phrases(text: str, *, now: datetime) -> list[DatePhrase]:
    """Return the date phrases of `text`, in order; days that no calendar has are passed over."""
    if not _may_tell_time(text):
        return []
    phrases: list[DatePhrase] = []
    for match in _dates().finditer(text):
        # The first letter of the group that took part names the form.
        form = next(group for group, value in match.groupdict().items() if value is not None)[0]
        try:
            phrase = _READERS[form](match, text, now)
        except (ValueError, OverflowError):  # the calendar has no such day, or no such year
            continue
        if phrase is not None:
            phrases.append(phrase)
    return phrases


def _iso(match: re.Match[str], _text: str, _now: datetime) -> DatePhrase:
    year, month = int(match["i_y"]), int(match["i_m"])
    if match["i_d"] is None:
        return DatePhrase(match.span(), "month", month_span(year, month))
    return DatePhrase(match.span(), "day", day_span(year, month, int(match["i_d"])))


def _numeric(match: re.Match[str], _text: str, _now: datetime) -> DatePhrase:
    day, month = int(match["n_a"]), int(match["n_b"])
    if month > 12:
        day, month = month, day
    return DatePhrase(match.span(), "day", day_span(int(match["n_y"]), month, day))


def _day_of_month(match: re.Match[str], text: str, _now: datetime) -> DatePhrase | None:
    key = "d" if match["d_m"] else "m"
    name, year = match[f"{key}_m"], match[f"{key}_y"]
    month, day = month_number(name), int(match[f"{key}_d"])
    last = match[f"{key}_e"]
    if (
        year is None
        and match[f"{key}_o"] is None
        and name in _VERBS
        and not _BEFORE_DAY.search(_text_before(match, text))
    ):
        return None  # "up to 5 may join", "march 5 miles"
    if year is None:
        day_span(2024, month, day)  # a leap year: raises when no year has the day
        return DatePhrase(match.span(), "day", months=(month,), day=day)
    start, end = day_span(int(year), month, day)
    if last is not None:
        end = max(day_span(int(year), month, int(last))[1], end)
        return DatePhrase(match.span(), "range", (start, end))
    return DatePhrase(match.span(), "day", (start, end))


def _month_of_year(match: re.Match[str], _text: str, _now: datetime) -> DatePhrase:
    return DatePhrase(match.span(), "month", month_span(int(match["y_y"]), month_number(match["y_m"])))


def _bare_month(match: re.Match[str], text: str, _now: datetime) -> DatePhrase | None:
    name = match["b_m"]
    left = _text_before(match, text)
    before = _PREPOSITION.search(left)
    if before is None:
        # "and June" ends a range; "the June meeting" is a date, "the march" and "June" alone are not.
        ends_range = re.search(r"(?i)(?:between|from)\s.{3,20}\s(?:and|to|until|through)\s{1,3}$", left)
        if not ends_range and not (
            _BARE_ARTICLE.search(left) and name[0].isupper() and name not in ("March", "May")
        ):
            return None
    elif before[1].lower() == "by" and name.lower() in _NAMES_OF_PEOPLE:
        return None
    return DatePhrase(match.span(), "month", months=(month_number(name),))


def _quarter(match: re.Match[str], _text: str, _now: datetime) -> DatePhrase:
    index = int(match["q_q"]) - 1 if match["q_q"] else ORDINALS[match["q_o"].lower()]
    return DatePhrase(match.span(), "quarter", month_span(int(match["q_y"]), 3 * index + 1, months=3))


def _season(match: re.Match[str], text: str, _now: datetime) -> DatePhrase | None:
    name = match["s_s"].lower().replace("fall", "autumn")
    if match["s_y"] is not None:
        return DatePhrase(match.span(), "season", season_span(int(match["s_y"]), name))
    is_title = match["s_s"][0].isupper() and text[match.end() : match.end() + 2].strip().isupper()
    if is_title or not _after_preposition(match, text):
        return None  # "Spring Boot", "fall off his bike"
    return DatePhrase(match.span(), "season", months=SEASONS[name])


def _word(match: re.Match[str], _text: str, now: datetime) -> DatePhrase:
    word = match["w_w"].lower()
    days = {"the day before yesterday": -2, "yesterday": -1, "last night": -1, "tomorrow": 1}.get(word, 0)
    return DatePhrase(match.span(), "day", unit_span(shift(now, "day", days), "day"), relative=True)


def _which_unit(match: re.Match[str], text: str, now: datetime) -> DatePhrase | None:
    which, unit = match["u_w"].lower(), match["u_u"].lower()
    step = {"this": 0, "current": 0, "next": 1}.get(which, -1)
    span: Span
    if unit in ("week", "weekend", "month", "year", "quarter"):
        rolling = which == "past" or (which == "last" and _BARE_ARTICLE.search(text[: match.start()][-8:]))
        if rolling and unit != "weekend":
            span = (shift(now, unit, -1), now)
        else:
            span = unit_span(shift(unit_span(now, unit)[0], unit, step), unit)
        precision: Precision = "week" if unit in ("week", "weekend") else PRECISIONS[unit]
        return DatePhrase(match.span(), precision, span, relative=True)
    if unit[-3:] == "day":
        return DatePhrase(
            match.span(), "day", _weekday_near(now, WEEKDAYS.index(unit[:3]), step), relative=True
        )
    if unit in SEASONS or unit == "fall":
        name = unit.replace("fall", "autumn")
        spans = [season_span(now.year + offset, name) for offset in (-2, -1, 0, 1)]
        return DatePhrase(match.span(), "season", _nearest(spans, now, step), relative=True)
    if unit in _VERBS and match["u_u"].islower() and which in ("this", "current"):
        return None  # "this may help"
    spans = [month_span(now.year + offset, month_number(unit)) for offset in (-2, -1, 0, 1)]
    return DatePhrase(match.span(), "month", _nearest(spans, now, step), relative=True)


PRECISIONS: Final[dict[str, Precision]] = {
    "day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year",
}  # fmt: skip


def _nearest(spans: list[Span], now: datetime, step: int) -> Span:
    """Return the last span that is over, the first to come, or for "this" the one of the current year."""
    if step < 0:
        return [span for span in spans if span[1] <= now][-1]
    if step > 0:
        return next((span for span in spans if span[0] > now), spans[-1])
    return next((span for span in spans if span[0] <= now < span[1]), spans[2])


def _weekday_near(now: datetime, weekday: int, step: int) -> Span:
    """Return the day of this week, or the first of that name before or after today."""
    if step == 0:
        return unit_span(shift(now, "day", weekday - now.weekday()), "day")
    distance = (now.weekday() - weekday) % 7 or 7 if step < 0 else (weekday - now.weekday()) % 7 or 7
    return unit_span(shift(now, "day", step * distance), "day")


def _last_units(match: re.Match[str], _text: str, now: datetime) -> DatePhrase:
    count = {"couple of": 2, "few": 3}.get(match["p_n"].lower()) or number(match["p_n"].lower())
    return DatePhrase(match.span(), "range", (shift(now, match["p_u"].lower(), -count), now), relative=True)


def _units_ago(match: re.Match[str], _text: str, now: datetime) -> DatePhrase:
    amount, unit = match["a_n"].lower().removeprefix("a "), match["a_u"].lower()
    vague = {"few": (5, 2), "several": (8, 3)}.get(amount)
    if vague:
        span = (shift(now, unit, -vague[0]), shift(now, unit, -vague[1]))
        return DatePhrase(match.span(), "range", span, relative=True)
    moment = shift(now, unit, -(2 if amount == "couple of" else number(amount)))
    return DatePhrase(match.span(), PRECISIONS[unit], span_about(moment, unit), relative=True)


def span_about(moment: datetime, unit: str) -> Span:
    """Return the span that "two weeks ago" means: a week about the day, else the unit that holds it."""
    if unit != "week":
        return unit_span(moment, unit)
    start, _ = unit_span(moment, "day")
    return start - timedelta(days=3), start + timedelta(days=4)


def _weekday(match: re.Match[str], _text: str, _now: datetime) -> DatePhrase:
    return DatePhrase(match.span(), "day", weekday=WEEKDAYS.index(match["k_k"][:3].lower()))


def _weekday_since(match: re.Match[str], text: str, now: datetime) -> DatePhrase | None:
    if _SINCE.search(_text_before(match, text)) is None:
        return None  # "the Monday meeting"
    back = (now.weekday() - WEEKDAYS.index(match["v_v"][:3].lower())) % 7
    return DatePhrase(match.span(), "day", unit_span(shift(now, "day", -back), "day"), relative=True)


def _year(match: re.Match[str], text: str, _now: datetime) -> DatePhrase | None:
    if not _after_preposition(match, text):
        return None
    return DatePhrase(match.span(), "year", month_span(int(match["j_y"]), 1, months=12))


def _text_before(match: re.Match[str], text: str) -> str:
    return text[max(match.start() - LEFT_CHARACTERS, 0) : match.start()]


def _after_preposition(match: re.Match[str], text: str) -> bool:
    left = _text_before(match, text)
    return (
        _PREPOSITION.search(left) is not None or re.search(r"(?i)\b(?:on|and|to)\s{1,3}$", left) is not None
    )


_READERS: Final[dict[str, Callable[[re.Match[str], str, datetime], DatePhrase | None]]] = {
    "i": _iso, "n": _numeric, "d": _day_of_month, "m": _day_of_month, "y": _month_of_year, "b": _bare_month,
    "q": _quarter, "s": _season, "w": _word, "u": _which_unit, "p": _last_units, "a": _units_ago, "k": _weekday,
    "v": _weekday_since, "j": _year,
}  # fmt: skip


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


_OFFSET = lazy_pattern(
    r"(?i)(?:(?P<n>[0-9]{1,3}|a|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)|the|last)\s{1,3}"
    r"(?P<unit>day|weekend|week|month|year)s?\s{1,3}(?P<side>before|after)\s{1,3}$"
)
_AROUND = lazy_pattern(r"(?i)\b(?P<unit>weekend|week)\s{1,3}of\s{1,3}(?:the\s{1,3})?$")
_PART = lazy_pattern(
    r"(?i)\b(?P<part>first|second|third|fourth|last)\s{1,3}(?P<unit>week)\s{1,3}(?:of|in)\s{1,3}$"
    r"|\b(?P<share>early|beginning|start|first half|mid|middle|late|end|second half)"
    r"(?:\s{1,3}of)?[\s-]{1,3}(?:the\s{1,3})?$"
)
_SIDE = lazy_pattern(
    r"(?i)\b(?:(?P<since>since|starting(?:\s{1,3}(?:in|from|on))?)|(?P<after>after|later than|following)"
    r"|(?P<before>before|prior to|earlier than)|(?P<until>until|till|up to|by)|in|on|during|from|of|at|between|over"
    r"|as of|throughout|around)\s{1,3}(?:the\s{1,3})?$"
)
_BETWEEN = lazy_pattern(
    r"(?i)\s{0,3}(?:(?P<word>and|to|until|till|through)\b|[-\u2013\u2014])\s{0,3}(?:the\s)?"
)
_OPENS_RANGE = lazy_pattern(r"(?i)\b(?:between|from)\s{1,3}(?:the\s{1,3})?$")
_ONWARDS = lazy_pattern(r"(?i)\s{1,3}(?:onwards?|on(?=\s*(?:[?.,!]|$)))")


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
    phrases = find_phrases(text, now=now)
    if not phrases:
        return None
    best = min(range(len(phrases)), key=lambda at: (phrases[at].span is None, phrases[at].relative, at))
    try:
        return _joined(text, phrases, best) or _directed(text, phrases[best])
    except (ValueError, OverflowError):  # before the year 1 or after 9999
        return None


def date_words(time: datetime) -> str:
    """Return the words under which an item of that time is found: `2023-05-08 8 May 2023 Monday`."""
    month, weekday = MONTH_NAMES[time.month - 1], WEEKDAY_NAMES[time.weekday()]
    return f"{time.date().isoformat()} {time.day} {month} {time.year} {weekday}"


def _joined(text: str, phrases: list[DatePhrase], best: int) -> DateRange | None:
    """Return the range that two neighbouring phrases make: "between March and June 2022"."""
    for first, last in ((best, best + 1), (best - 1, best)):
        if first < 0 or last >= len(phrases):
            continue
        left, right = phrases[first], phrases[last]
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


def _with_year_before(phrase: DatePhrase, span: Span) -> DatePhrase:
    """Return a recurring phrase in the year that puts it before `span`."""
    year = span[0].year if phrase.months[0] <= span[0].month else span[0].year - 1
    try:
        if phrase.day is not None:
            return replace(phrase, span=day_span(year, phrase.months[0], phrase.day))
    except ValueError:  # 29 February
        return phrase
    return replace(phrase, span=month_span(year, phrase.months[0], months=len(phrase.months)))


def _directed(text: str, phrase: DatePhrase) -> DateRange:
    """Return the phrase with what stands around it: "since", "the week before", "the end of"."""
    start, end = phrase.at
    span, precision = phrase.span, phrase.precision
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
        months=() if span else phrase.months,
        day=None if span else phrase.day,
        weekday=None if span else phrase.weekday,
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
