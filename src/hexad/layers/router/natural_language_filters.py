"""Filters that a plain sentence carries: "decisions about auth since last week" asks for `kind:decision since:…`.

Only a sentence that asks for records can narrow them: its head is a noun for records ("show me the todos …", "which
decisions did we make …", "pinned conventions"), or a verb that says what was decided or noted. Then what stands in that
noun's phrase counts: tags, a space, a path, times. A word that is the topic does not: in "How do decision trees work?",
"release notes" and "the March release" nobody asks for records. Where it is not clear, nothing is narrowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.layers.contract import TaskType
from hexad.layers.router.classify import classify
from hexad.layers.router.query_language import QueryText
from hexad.text.dates import DateRange, Span, date_range, day_span, month_span, unit_span
from hexad.text.normalize import slug

_RELATIVE: Final = lazy_pattern(
    r"(?i)(?:the )?(?:last|past|previous|this|current)\b|yesterday|today|the day before|.*\bago$"
)
_ROLLING: Final = lazy_pattern(
    r"(?i)\bpast\b|\bthe last\b|\b(?:last|previous) (?:[\w-]+ ){1,3}(?:day|week|month|year)s?\b"
)
"""Times that end with the present moment, and so have no end: their filter would be another every second."""
_PLACED: Final = lazy_pattern(
    r"(?i)(?:in|on|during|since|starting|from|between|before|after|until|till|up to|prior to|earlier|later|of|over"
    r"|throughout|at)\b"
)
_GOES_ON: Final = lazy_pattern(
    r"(?i)\s*(?:$|[?.!,;)]|(?:about|on|for|in|under|below|tagged|labelled|labeled|with|that|which|we|i|from|of|and"
    r"|regarding|concerning|by|to|were|was|did|what|are)\b)"
)
_TOPIC_BEFORE: Final = lazy_pattern(
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
    bounds = date_range(text, now=now)
    if bounds is None:
        return None
    at = text.find(bounds.text)
    end = at + len(bounds.text)
    if at < 0 or not (_PLACED.match(bounds.text) or _RELATIVE.match(bounds.text)):
        return None
    if not _GOES_ON.match(text[end:]) or _TOPIC_BEFORE.search(text[:at]):
        return None
    first, last = _bounds(bounds, now)
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
        of_something=bounds.text.lower().startswith("of "),
    )


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _bounds(date_range: DateRange, now: datetime) -> Span | tuple[datetime | None, datetime | None]:
    """Return the first moment and the first after it; a year that was left open is the last that has begun."""
    if not date_range.recurring:
        first, last = date_range.start, date_range.end
        rolling = last == now and _ROLLING.search(date_range.text) is not None
        return first, None if rolling else last
    span = _latest(date_range, now)
    if span is None:
        return None, None
    first_word = date_range.text.lower().split()[0]
    if date_range.direction == "since":
        return (span[1] if first_word in ("after", "later", "following") else span[0]), None
    if date_range.direction == "before":
        return None, (span[1] if first_word in ("until", "till", "up", "by") else span[0])
    return span


def _latest(date_range: DateRange, now: datetime) -> Span | None:
    if date_range.weekday is not None:
        today = unit_span(now, "day")
        back = timedelta(days=(now.weekday() - date_range.weekday) % 7)
        return today[0] - back, today[1] - back
    for year in (now.year, now.year - 1, *range(now.year - 2, now.year - 9, -1)):
        try:
            span = (
                month_span(year, date_range.months[0], months=len(date_range.months))
                if date_range.day is None
                else day_span(year, date_range.months[0], date_range.day)
            )
        except ValueError:  # 29 February
            continue
        if span[0] <= now:
            return span
    return None


READ_CHARACTERS: Final = 400
"""A longer text is a task, not a request for records."""
_WORD: Final = lazy_pattern(r"[\w#./'-]*\w|\S")
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


def parse_sentence(sentence: str, *, now: datetime, known_space: Callable[[str], bool]) -> QueryText | None:
    """Return the filters of a sentence, and in `words` what is asked for within them; None where it has none.

    `known_space` says whether there is a space of a name: only those narrow anything. Times count from `now`; all are
    whole days, so that the same sentence means the same all day.

    >>> from datetime import UTC
    >>> now = datetime(2026, 11, 21, tzinfo=UTC)
    >>> found = parse_sentence("decisions about auth since last week", now=now, known_space=lambda name: False)
    >>> in_query_language(found)
    'kind:decision since:2026-11-09 auth'
    >>> parse_sentence("How do decision trees work?", now=now, known_space=lambda name: False) is None
    True
    """
    text = " ".join(sentence.replace("\u2019", "'").split())
    if not text or len(text) > READ_CHARACTERS:
        return None
    text = text.rstrip("?.! ")
    if ANOTHER_ORDER.search(text):
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


def in_query_language(query: QueryText) -> str:
    """Return filters and words in the query language; `parse_query_text` reads the same from it.

    >>> in_query_language(QueryText(kinds=("todo",), tags=("urgent",), words=("login",)))
    'kind:todo tag:urgent login'
    """
    pairs = [
        ("layer", ",".join(query.layers)),
        ("kind", ",".join(query.kinds)),
        ("tag", ",".join(query.tags)),
        ("path", query.path),
        ("space", query.space),
        ("is", None if query.pinned is None else "pinned" if query.pinned else "unpinned"),
        ("since", query.since),
        ("until", query.until),
    ]
    return " ".join([*(f"{name}:{value}" for name, value in pairs if value), *query.words])


def _opening(text: str, times: Times | None) -> int:
    """Return where the request begins: after a time that stands before it, as in "In March, what did we decide?"."""
    if times is not None and times.start == 0 and (comma := re.match(r",?\s+", text[times.end :])):
        rest = text[times.end + comma.end() :]
        if HEADS.match(rest) or DECIDED.match(rest) or NOTED.match(rest):
            return times.end + comma.end()
    return 0


def _records(reading: _Reading, at: int) -> int | None:
    """Return where the phrase that names the records ends, with what it says taken; None where there is none."""
    for pattern in (DECIDED, NOTED, PINNED, TAGGED):
        match = pattern.match(reading.text, at)
        if match is None:
            continue
        more: dict[str, object] = {}
        if pattern is DECIDED:
            more = {"kinds": ("decision",)}
        elif pattern is NOTED and match["noted"]:
            more = {"kinds": ("note",)}
        elif pattern is PINNED:
            more = {"pinned": True}
        reading.take(match.start(), match.end(), **more)
        return match.end()
    return _noun(reading, at)


def _noun(reading: _Reading, at: int) -> int | None:
    """Read `show me the pinned auth decisions`: a head, then one phrase whose noun names records."""
    text = reading.text
    if LEFT_OPEN.search(text):
        return None
    head = HEADS.match(text, at)
    how = "" if head is None else next(name for name, value in head.groupdict().items() if value)
    if head is None and classify(text[at:]).task_type in _MAKING:
        return None
    begins = at if head is None else head.end()
    topic: list[str] = []
    words: set[str] = set()
    own = False
    for match in _WORD.finditer(text, begins):
        word = match[0].lower()
        ends, neighbours = _neighbouring_kinds(text, match.end()) if word in KIND_OF else (match.end(), ())
        after = text[ends:]
        if re.fullmatch(r"(?i)what (?:is|are)\s*", text[at : match.start()]) and not after.strip():
            return None  # "What are notes?" asks what notes are
        name = word in KIND_OF or word in ANY_KIND or word in PREFERENCES
        if (name and _ends(word, after, how, topic)) or (
            word in ALL_OF_THEM and _narrowed(after) and not topic
        ):
            more = _meaning(word, words, own=own or word not in PREFERENCES)
            if more is None:
                return None
            kept_terms = [
                term for term in topic if term not in PLAIN_ADJECTIVES and term not in ("pinned", "unpinned")
            ]
            if neighbours:
                more["kinds"] = tuple(dict.fromkeys((KIND_OF[word], *neighbours)))
            reading.take(at, ends, **more, words=tuple(kept_terms))
            return ends
        if word in DETERMINERS or word.isdigit():
            own = own or word == "my"
            if topic:
                return None
        elif word in ADJECTIVES:
            words.add(word)
            topic.append(word)
        elif word in FUNCTION_WORDS or name or not re.fullmatch(r"[\w-]+", word):
            return None
        else:
            topic.append(word)
        if sum(term not in ADJECTIVES for term in topic) > _TOPIC_WORDS_MOST:
            return None
    return None


def _neighbouring_kinds(text: str, at: int) -> tuple[int, tuple[str, ...]]:
    """Return where a list of nouns for records ends that goes on at a place, and the kinds that it adds."""
    kinds: list[str] = []
    while more := AND_MORE.match(text, at):
        kinds.append(KIND_OF[more["noun"].lower()])
        at = more.end()
    return at, tuple(kinds)


def _ends(word: str, after: str, how: str, topic: list[str]) -> bool:
    """Whether a noun ends its phrase, so that it is what is asked for, and not part of another's name."""
    if any(term in OTHER_NOTES for term in topic):
        return False
    rest = after.split()
    following = rest[0].lower().strip(",") if rest else ""
    if word in SINGULAR and following not in TOPICAL | {"tagged", "with"}:
        return False
    if not how and word in NO_TITLES:
        return False
    if (
        after.startswith(",")
        and not how
        and following != "please"
        and not after.lower().startswith(", please")
    ):
        return False
    if not following or after.startswith(","):
        return how != "shown" or word in KIND_OF
    if not how:
        loose = re.sub(r"\b(?:that|which)?\s*(?:we|i|you|they)\s+\w+(?:\s+\w+ed)?", "", after)
        return following in FOLLOWS and FINITE.search(loose) is None
    if how == "shown":
        return following in AFTER_SHOWN or SPACES.match(after.lstrip()) is not None
    if how in ("which", "are") and following in IN_QUESTIONS:
        return ASKED_OF.match(after) is not None
    return following in FOLLOWS


def _narrowed(after: str) -> bool:
    """Whether what narrows "everything" stands next to it."""
    after = after.lstrip()
    if after.lower().startswith(("tagged", "labelled", "labeled", "with the tag", "with tag")):
        return True
    return any(pattern.match(after) for pattern in (SPACES, PATHS, LAYERS)) or bool(
        re.match(r"(?i)(?:since|from|before|after)\b", after)
    )


def _meaning(word: str, words: set[str], *, own: bool) -> dict[str, object] | None:
    """Return what a noun with its adjectives asks for; None for preferences that are not somebody's own."""
    more: dict[str, object] = {}
    if word in PREFERENCES:
        if not own:
            return None
        more["layers"] = ("user",)
    elif word in KIND_OF:
        more["kinds"] = (KIND_OF[word],)
    if words & {"pinned", "unpinned"}:
        more["pinned"] = "pinned" in words
    return more


def _attached(reading: _Reading, head: int, known_space: Callable[[str], bool]) -> None:
    """Take what narrows the records after their noun: tags, a space, a path, a layer, whether they are pinned."""
    text = reading.text
    if tags := TAGS.search(text, head):
        named = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", tags["tags"])
        values = tuple(tag.strip("\"'#").lower() for tag in named)
        if not any(tag in FUNCTION_WORDS for tag in values) and all(map(slug, values)):
            reading.take(*tags.span(), tags=tuple(map(slug, values)))
    if space := SPACES.search(text, head):
        name = space["named"] or space["before"]
        if name.lower() not in FUNCTION_WORDS and known_space(name):
            reading.take(*space.span(), space=name)
    if path := PATHS.search(text, head):
        value = next(value for value in path.groupdict().values() if value)
        reading.take(*path.span(), path=value.rstrip("/"))
    if (layer := LAYERS.search(text, head)) and not reading.found.layers:
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
    left_words = re.findall(r"\S+", "".join(text[head:]))
    left_words = [word for word in (part.strip(",;:") for part in left_words) if word]
    joining = FUNCTION_WORDS | {
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
    while left_words and left_words[0].lower() in joining:
        left_words.pop(0)
    while left_words and left_words[-1].lower() in joining:
        left_words.pop()
    return (*reading.found.words, *(word.replace(":", " ").replace('"', "") for word in left_words))


KIND_OF: Final[Mapping[str, str]] = {
    "decision": "decision",
    "decisions": "decision",
    "todo": "todo",
    "todos": "todo",
    "to-do": "todo",
    "to-dos": "todo",
    "convention": "convention",
    "conventions": "convention",
    "note": "note",
    "notes": "note",
}
"""Nouns that name a kind of memory. Patterns are left out: of most patterns one speaks as of a topic."""
ANY_KIND: Final = frozenset({"memories"})
ALL_OF_THEM: Final = frozenset({"everything", "anything", "all", "things"})
"""Nouns for records of any kind: the second only where what narrows them stands next to them."""
PREFERENCES: Final = frozenset({"preference", "preferences"})
SINGULAR: Final = frozenset({"decision", "todo", "to-do", "convention", "note", "preference"})
NO_TITLES: Final = frozenset({"todo", "to-do", "note", "preference"})
"""In the singular these ask for records only after a head: "the note on the door" is a note on a door."""
DETERMINERS: Final = frozenset("the all of our my your any every some these those a an each".split())
PLAIN_ADJECTIVES: Final = frozenset(
    "recent latest last newest new past previous old older earlier existing current known other stored".split()
)
"""What says nothing of the topic; other words before a noun stay words to be looked for."""
ADJECTIVES: Final = PLAIN_ADJECTIVES | frozenset(
    "open pending unresolved unfinished finished done important critical urgent pinned unpinned personal".split()
)
OTHER_NOTES: Final = frozenset(
    """
    release patch meeting speaker field lecture sticky delivery credit bank upgrade migration promissory side
    technical program liner cliff sample dummy demo example test user users default api
    """.split()
)
"""With one of these before it, a noun names something else: release notes, sample todos, user preferences."""
FUNCTION_WORDS: Final = frozenset(
    """
    a an the this that these those and or but not no nor if then so as at by for from in into of off on onto out over
    per since than through to under until up via with within without about above after against along among around
    before behind below between during regarding concerning is are am was were be been being do does did has have had
    can could shall should will would may might must i we you he she it they me us him her them my our your his its
    their what which who whom whose when where why how there here just only also
    """.split()
)
TOPICAL: Final = frozenset("about on for regarding concerning around of".split())
FOLLOWS: Final = TOPICAL | frozenset(
    """
    in from since before after until till between during within over under below with tagged labelled labeled pinned
    made taken written recorded noted stored related that which we i you last this yesterday today at by dated
    """.split()
)
"""After a noun these go on with its phrase; any other word makes a compound of it, or a sentence about it."""
AFTER_SHOWN: Final = frozenset(
    "about regarding concerning tagged labelled labeled since under below from".split()
)
"""`show notes …` is an order to a program's author as often; only these go on as one speaks of records."""
IN_QUESTIONS: Final = frozenset("did do have has had were was are is exist".split())

_NOUN: Final = "|".join(sorted(KIND_OF, key=len, reverse=True))
AND_MORE: Final = lazy_pattern(
    rf"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+)(?:(?:the|my|our|all|any)\s+)*(?P<noun>{_NOUN})\b",
    re.IGNORECASE,
)
"""Another noun for records beside one: "decisions, notes and todos"."""
ASKED_OF: Final = lazy_pattern(
    r"\s*(?:(?:did|do|have|had|has)\s+(?:we|i|you|they|the team)\b|exist\b"
    r"|(?:were|was|have been|has been|are|is)\s+(?:\w+ly\s+)?"
    r"(?:made|taken|written|tagged|pinned|open|left|recorded|there|noted|known|pending|labell?ed)\b)",
    re.IGNORECASE,
)
"""How a question goes on after `which decisions`: with who made them, or that they are there."""

HEADS: Final = lazy_pattern(
    r"(?:(?:please|kindly|now|ok|okay|hey|hi|so|and|just),?\s+)*"
    r"(?:(?:can|could|would|will) you (?:please |kindly )?|(?:i|we)(?:'d| would) like to (?=see|read|know)"
    r"|(?:i|we) (?:want|need) to (?=see|read|know)|let me (?=see|read))?"
    r"(?:please\s+)?"
    r"(?:(?P<given>(?:show|give|tell|get|find|fetch|bring|send|list|read) (?:me|us)(?: again)?)"
    r"|(?P<listed>list|find|get|fetch|look up|pull up|bring up|recall|search(?: for| through)?|go through|see|read"
    r"|summari[sz]e|recap|remind (?:me|us) of)"
    r"|(?P<shown>show|display|print)"
    r"|(?P<which>(?:which|what|how many)(?: of (?=(?:the|our|my)\b))?(?! (?:is|are|was|were|do|does|did|have|has)\b))"
    r"|(?P<are>what (?:are|were|is|was)|where are|(?:are|were|is) there|(?:do|did) (?:we|i|you) (?:already )?have"
    r"|have (?:we|i) (?:got )?(?=any\b|some\b|no\b|a\b)))\b\s*",
    re.IGNORECASE,
)
"""How a request for records begins: with whoever is given them, a verb that lists, or a question for what there is."""

_WHO: Final = r"(?:(?i:we|i|you|they|(?:the|our) team|everybody|everyone)|[A-Z][a-z]+)"
_OFTEN: Final = r"(?:\s+(?:already|ever|finally|just|last|actually|all))?"
_TOLD: Final = (
    r"(?i:(?:(?:show|tell|remind)\s+(?:me|us)(?:\s+again)?|do\s+you\s+(?:remember|know)|i\s+forgot)\s+)?"
)
DECIDED: Final = lazy_pattern(
    rf"(?:{_TOLD}(?i:what(?: all)?)\s+"
    rf"(?:(?:did|have|had|has)\s+{_WHO}{_OFTEN}\s+(?:decided?|agreed?|settled?)"
    rf"|{_WHO}(?:\s+(?:have|had|has))?{_OFTEN}\s+(?:decided|agreed|settled)"
    rf"|(?:was|were|has been|have been|had been){_OFTEN}\s+(?:decided|agreed|settled))"
    rf"|(?i:did|have|had)\s+{_WHO}{_OFTEN}\s+(?:decided?|agreed?|settled?)"
    r"(?=\s+(?:on|about|whether|anything|something)\b))\b"
    r"(?=\s*$|\s*[,?.!]|\s+(?:on|about|for|regarding|concerning|to|with|in|at|since|before|after|until|during|last"
    r"|this|yesterday|today|whether|anything|something|between|from|over|within)\b)"
)
NOTED: Final = lazy_pattern(
    rf"(?i:what(?: all)?)\s+(?:did|have|had)\s+{_WHO}{_OFTEN}\s+"
    r"(?:(?P<noted>noted?(?: down)?|jot(?:ted)? down|wr(?:ite|itten) down)|remember(?:ed)?|record(?:ed)?)\b"
    r"(?=\s*$|\s*[,?.!]|\s+(?:on|about|for|regarding|concerning|in|from|since|before|after|until|during|last|this"
    r"|yesterday|today|between|under|within|over)\b)"
)
PINNED: Final = lazy_pattern(
    rf"(?i:what\s+(?:is|are)|what\s+(?:did|have)\s+{_WHO}|everything|anything|all)\s+"
    r"(?:that\s+(?:is|are)\s+|(?:we|i)\s+have\s+)?pin(?:ned)?\b"
    r"(?=\s*$|\s*[,?.!]|\s+(?:about|on|regarding|concerning|tagged|since|from|in\s+(?:the\s+)?space)\b)"
)
TAGGED: Final = lazy_pattern(
    rf"(?i:what\s+is|what\s+(?:did|have)\s+{_WHO}|everything|anything|all)\s+"
    r"(?:that\s+(?:is|are)\s+|(?:we|i)\s+have\s+)?(?=(?:tag(?:ged)?|labell?ed)\b)"
)
"""Verbs that ask for records: what was decided, noted, pinned, tagged. What follows must go on as a request."""
_TAG: Final = r"(?:\"[^\"]+\"|'[^']+'|#?[\w][\w./-]*[\w]|#?\w)"
TAGS: Final = lazy_pattern(
    r"(?<!\babout )(?<!\bon )(?<!\bfor )(?<!\bof )(?<!\bregarding )"
    r"\b(?:(?:that|which|and)\s+)?(?:(?:is|are|were|was)\s+)?(?:(?:tag(?:ged)?|labell?ed)(?:\s+(?:as|with))?"
    r"|(?:with|under)\s+(?:the\s+)?(?:tags?|labels?)|having\s+the\s+tags?)"
    rf"\s+(?:the\s+tags?\s+)?(?P<tags>{_TAG}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+){_TAG})*)",
    re.IGNORECASE,
)
SPACES: Final = lazy_pattern(
    r"\b(?:in|from|of|within|inside)\s+(?:(?:the\s+|our\s+|my\s+)?space\s+(?:called\s+|named\s+)?[\"']?(?P<named>[\w][\w./-]*)[\"']?"
    r"|(?:the|our|my)\s+[\"']?(?P<before>[\w][\w./-]*)[\"']?\s+space\b)",
    re.IGNORECASE,
)
LAYERS: Final = lazy_pattern(
    r"\b(?:in|from|of)\s+(?:the|our|my)\s+(?P<layer>session|project|user|governance|vector)\s+layer\b",
    re.IGNORECASE,
)
_ROOTS: Final = (
    r"(?:src|docs?|libs?|tests?|apps?|packages|scripts|examples|include|cmd|internal|config|tools|benchmarks)"
)
_PATH: Final = r"[\w.*@~+-]*(?:/[\w.*@~+-]+)*/?"
PATHS: Final = lazy_pattern(
    r"\b(?:"
    rf"(?:under|below|beneath)\s+(?:the\s+path\s+)?[`\"']?(?P<under>(?=[\w.*@~+-]*/){_PATH})"
    rf"|(?:in|from|of|under|below|inside)\s+(?:the\s+)?(?:folder|directory|file|path)\s+[`\"']?(?P<called>(?=[\w.]){_PATH})"
    rf"|(?:in|from|of|under|below|inside)\s+(?:the\s+)[`\"']?(?P<folder>(?=[\w.]){_PATH})[`\"']?\s+(?:folder|directory)\b"
    rf"|(?:in|from|inside|of)\s+[`\"']?(?P<file>(?=[\w.*@~+-]*/)(?:{_ROOTS}/{_PATH}|(?:[\w.@~+-]+/)+[\w.*@~+-]+\.[a-z]\w{{0,4}}"
    rf"|[\w.@~+-]+/(?:[\w.@~+-]+/)+[\w.@~+-]*|[\w.@~+-]+/(?=\s|$)))"
    r")[`\"']?(?=[\s,?.!]|$)",
    re.IGNORECASE,
)
"""A path is what looks like one: with a slash and a place before it, or called a folder or a file."""
ANOTHER_ORDER: Final = lazy_pattern(
    r"\band\s+(?:then\s+|also\s+|please\s+)?\w+\s+(?:them|it|those|these|each|every|all|one)\b", re.IGNORECASE
)
"""More is to be done with them: that is a task."""
LEFT_OPEN: Final = lazy_pattern(
    r"(?<!\S)(?:in|about|on|for|to|with|of|from|by|at|under|as|into)$", re.IGNORECASE
)
"""A question for what stands after its last word: "What are my notes written in?"."""
FINITE: Final = lazy_pattern(
    r"\b(?<!that )(?<!which )(?<!we )(?<!i )(?<!you )(?<!they )"
    r"(?:is|are|was|were|does|did|do|has|have|had|should|must|can|cannot|could|will|would|may|might|crash(?:es)?"
    r"|fails?|breaks?|need|needs|take|takes|get|gets|seem|seems|look|looks)\b",
    re.IGNORECASE,
)
"""A verb of its own makes a statement of what begins like a list."""
