"""Filters that a plain sentence carries: "decisions about auth since last week" asks for `kind:decision since:…`.

Only a sentence that asks for records can narrow them: its head is a noun for records ("show me the todos …", "which
decisions did we make …", "pinned conventions"), or a verb that says what was decided or noted. Then what stands in that
noun's phrase counts: tags, a space, a path, times. A word that is the topic does not: in "How do decision trees work?",
"release notes" and "the March release" nobody asks for records. Where it is not clear, nothing is narrowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from hexad.layers.contract import TaskType
from hexad.layers.router import plain_words as words
from hexad.layers.router.classify import classify
from hexad.layers.router.query_language import QueryText
from hexad.text.dates.calendar_spans import Span, day_span, month_span, unit_span
from hexad.text.dates.date_ranges import DateRange, date_range
from hexad.text.normalize import slug

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
    first, last = _bounds(said, now)
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


def _bounds(said: DateRange, now: datetime) -> Span | tuple[datetime | None, datetime | None]:
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


READ_CHARACTERS: Final = 400
"""A longer text is a task, not a request for records."""
_WORD: Final = re.compile(r"[\w#./'-]*\w|\S")
_TOPIC_WORDS_MOST: Final = 2
_MAKING: Final = frozenset({TaskType.EDIT, TaskType.REFACTOR, TaskType.DESIGN})
"""What is to be made is not asked for: "Add notes about the flag"."""


@dataclass(slots=True)
class _Reading:
    """A sentence while it is read: the filters so far, and which of its characters they took."""

    text: str
    found: QueryText = field(default_factory=QueryText)
    taken: list[tuple[int, int]] = field(default_factory=list)

    def take(self, start: int, end: int, **more: object) -> None:
        self.found = replace(self.found, **more)  # type: ignore[arg-type]  # fields of `QueryText`
        self.taken.append((start, end))


def understood(sentence: str, *, now: datetime, known_space: Callable[[str], bool]) -> QueryText | None:
    """Return the filters of a sentence, and in `words` what is asked for within them; None where it has none.

    `known_space` says whether there is a space of a name: only those narrow anything. Times count from `now`; all are
    whole days, so that the same sentence means the same all day.

    >>> from datetime import UTC
    >>> now = datetime(2026, 11, 21, tzinfo=UTC)
    >>> found = understood("decisions about auth since last week", now=now, known_space=lambda name: False)
    >>> written(found)
    'kind:decision since:2026-11-09 auth'
    >>> understood("How do decision trees work?", now=now, known_space=lambda name: False) is None
    True
    """
    text = " ".join(sentence.replace("\u2019", "'").split())
    if not text or len(text) > READ_CHARACTERS:
        return None
    text = text.rstrip("?.! ")
    if words.ANOTHER_ORDER.search(text):
        return None
    times = times_in(text, now=now)
    reading = _Reading(text)
    opening = _opening(text, times)
    head = _records(reading, opening)
    if head is None:
        return None
    _attached(reading, head, known_space)
    if times is not None and (times.start < opening or times.start >= head) and _free(reading, times, head):
        reading.take(times.start, times.end, since=times.since, until=times.until)
    if not reading.found.narrows:
        return None
    return replace(reading.found, words=_rest(reading, head))


def written(found: QueryText) -> str:
    """Return filters and words in the query language; `parse_query_text` reads the same from it.

    >>> written(QueryText(kinds=("todo",), tags=("urgent",), words=("login",)))
    'kind:todo tag:urgent login'
    """
    pairs = [
        ("layer", ",".join(found.layers)),
        ("kind", ",".join(found.kinds)),
        ("tag", ",".join(found.tags)),
        ("path", found.path),
        ("space", found.space),
        ("is", None if found.pinned is None else "pinned" if found.pinned else "unpinned"),
        ("since", found.since),
        ("until", found.until),
    ]
    return " ".join([*(f"{name}:{value}" for name, value in pairs if value), *found.words])


def _opening(text: str, times: Times | None) -> int:
    """Return where the request begins: after a time that stands before it, as in "In March, what did we decide?"."""
    if times is not None and times.start == 0 and (comma := re.match(r",?\s+", text[times.end :])):
        rest = text[times.end + comma.end() :]
        if words.HEADS.match(rest) or words.DECIDED.match(rest) or words.NOTED.match(rest):
            return times.end + comma.end()
    return 0


def _records(reading: _Reading, at: int) -> int | None:
    """Return where the phrase that names the records ends, with what it says taken; None where there is none."""
    for pattern in (words.DECIDED, words.NOTED, words.PINNED, words.TAGGED):
        said = pattern.match(reading.text, at)
        if said is None:
            continue
        more: dict[str, object] = {}
        if pattern is words.DECIDED:
            more = {"kinds": ("decision",)}
        elif pattern is words.NOTED and said["noted"]:
            more = {"kinds": ("note",)}
        elif pattern is words.PINNED:
            more = {"pinned": True}
        reading.take(said.start(), said.end(), **more)
        return said.end()
    return _noun(reading, at)


def _noun(reading: _Reading, at: int) -> int | None:
    """Read `show me the pinned auth decisions`: a head, then one phrase whose noun names records."""
    text = reading.text
    if words.LEFT_OPEN.search(text):
        return None
    head = words.HEADS.match(text, at)
    how = "" if head is None else next(name for name, value in head.groupdict().items() if value)
    if head is None and classify(text[at:]).task_type in _MAKING:
        return None
    begins = at if head is None else head.end()
    topic: list[str] = []
    said: set[str] = set()
    own = False
    for match in _WORD.finditer(text, begins):
        word = match[0].lower()
        ends, beside = _beside(text, match.end()) if word in words.KIND_OF else (match.end(), ())
        after = text[ends:]
        if re.fullmatch(r"(?i)what (?:is|are)\s*", text[at : match.start()]) and not after.strip():
            return None  # "What are notes?" asks what notes are
        name = word in words.KIND_OF or word in words.ANY_KIND or word in words.PREFERENCES
        if (name and _ends(word, after, how, topic)) or (
            word in words.ALL_OF_THEM and _narrowed(after) and not topic
        ):
            more = _meaning(word, said, own=own or word not in words.PREFERENCES)
            if more is None:
                return None
            kept = [
                term
                for term in topic
                if term not in words.PLAIN_ADJECTIVES and term not in ("pinned", "unpinned")
            ]
            if beside:
                more["kinds"] = tuple(dict.fromkeys((words.KIND_OF[word], *beside)))
            reading.take(at, ends, **more, words=tuple(kept))
            return ends
        if word in words.DETERMINERS or word.isdigit():
            own = own or word == "my"
            if topic:
                return None
        elif word in words.ADJECTIVES:
            said.add(word)
            topic.append(word)
        elif word in words.FUNCTION_WORDS or name or not re.fullmatch(r"[\w-]+", word):
            return None
        else:
            topic.append(word)
        if sum(term not in words.ADJECTIVES for term in topic) > _TOPIC_WORDS_MOST:
            return None
    return None


def _beside(text: str, at: int) -> tuple[int, tuple[str, ...]]:
    """Return where a list of nouns for records ends that goes on at a place, and the kinds that it adds."""
    kinds: list[str] = []
    while more := words.AND_MORE.match(text, at):
        kinds.append(words.KIND_OF[more["noun"].lower()])
        at = more.end()
    return at, tuple(kinds)


def _ends(word: str, after: str, how: str, topic: list[str]) -> bool:
    """Whether a noun ends its phrase, so that it is what is asked for, and not part of another's name."""
    if any(term in words.OTHER_NOTES for term in topic):
        return False
    rest = after.split()
    following = rest[0].lower().strip(",") if rest else ""
    if word in words.SINGULAR and following not in words.TOPICAL | {"tagged", "with"}:
        return False
    if not how and word in words.NO_TITLES:
        return False
    if (
        after.startswith(",")
        and not how
        and following != "please"
        and not after.lower().startswith(", please")
    ):
        return False
    if not following or after.startswith(","):
        return how != "shown" or word in words.KIND_OF
    if not how:
        loose = re.sub(r"\b(?:that|which)?\s*(?:we|i|you|they)\s+\w+(?:\s+\w+ed)?", "", after)
        return following in words.FOLLOWS and words.FINITE.search(loose) is None
    if how == "shown":
        return following in words.AFTER_SHOWN or words.SPACES.match(after.lstrip()) is not None
    if how in ("which", "are") and following in words.IN_QUESTIONS:
        return words.ASKED_OF.match(after) is not None
    return following in words.FOLLOWS


def _narrowed(after: str) -> bool:
    """Whether what narrows "everything" stands next to it."""
    after = after.lstrip()
    if after.lower().startswith(("tagged", "labelled", "labeled", "with the tag", "with tag")):
        return True
    return any(pattern.match(after) for pattern in (words.SPACES, words.PATHS, words.LAYERS)) or bool(
        re.match(r"(?i)(?:since|from|before|after)\b", after)
    )


def _meaning(word: str, said: set[str], *, own: bool) -> dict[str, object] | None:
    """Return what a noun with its adjectives asks for; None for preferences that are not somebody's own."""
    more: dict[str, object] = {}
    if word in words.PREFERENCES:
        if not own:
            return None
        more["layers"] = ("user",)
    elif word in words.KIND_OF:
        more["kinds"] = (words.KIND_OF[word],)
    if said & {"pinned", "unpinned"}:
        more["pinned"] = "pinned" in said
    return more


def _attached(reading: _Reading, head: int, known_space: Callable[[str], bool]) -> None:
    """Take what narrows the records after their noun: tags, a space, a path, a layer, whether they are pinned."""
    text = reading.text
    if tags := words.TAGS.search(text, head):
        named = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", tags["tags"])
        values = tuple(tag.strip("\"'#").lower() for tag in named)
        if not any(tag in words.FUNCTION_WORDS for tag in values) and all(map(slug, values)):
            reading.take(*tags.span(), tags=tuple(map(slug, values)))
    if space := words.SPACES.search(text, head):
        name = space["named"] or space["before"]
        if name.lower() not in words.FUNCTION_WORDS and known_space(name):
            reading.take(*space.span(), space=name)
    if path := words.PATHS.search(text, head):
        value = next(value for value in path.groupdict().values() if value)
        reading.take(*path.span(), path=value.rstrip("/"))
    if (layer := words.LAYERS.search(text, head)) and not reading.found.layers:
        reading.take(*layer.span(), layers=(layer["layer"].lower(),))
    pinned = re.compile(
        r"(?i)\s+(?:(?:that|which)\s+)?(?:(?:is|are)\s+)?(?P<said>(?:un)?pinned)\b(?!\s+to\b)"
    ).match(text, head)
    if pinned and reading.found.pinned is None:
        reading.take(*pinned.span(), pinned=pinned["said"].lower() == "pinned")


def _free(reading: _Reading, times: Times, head: int) -> bool:
    """Whether a time says when records were made: it is no part of another filter, and of nothing else's name."""
    if any(start < times.end and times.start < end for start, end in reading.taken if end > head):
        return False
    return not times.of_something or not reading.text[head : times.start].strip()


def _rest(reading: _Reading, head: int) -> tuple[str, ...]:
    """Return the words that no filter took, without what joined them to it."""
    text = list(reading.text)
    for start, end in reading.taken:
        text[start:end] = " " * (end - start)
    left = re.findall(r"\S+", "".join(text[head:]))
    left = [word for word in (part.strip(",;:") for part in left) if word]
    joining = words.FUNCTION_WORDS | {
        "made",
        "taken",
        "make",
        "take",
        "tagged",
        "follow",
        "recorded",
        "written",
        "dated",
        "please",
    }
    while left and left[0].lower() in joining:
        left.pop(0)
    while left and left[-1].lower() in joining:
        left.pop()
    return (*reading.found.words, *(word.replace(":", " ").replace('"', "") for word in left))
