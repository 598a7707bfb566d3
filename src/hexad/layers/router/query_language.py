"""The memory query language as one types it: words, "phrases" and `name:value` pairs, understood in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hexad.core.arguments import is_text, quoted, require_question_length, value_list
from hexad.errors import InvalidInput
from hexad.memory.memory import Status

ANY_STATUS: Final = "any"
STATUSES: Final = (*(status.value for status in Status), ANY_STATUS)
LAYERS: Final = ("session", "project", "user", "governance", "graph", "vector")
_QUOTED: Final = r'"(?:\\.|[^"\\])*"'
_TOKEN: Final = re.compile(rf"[A-Za-z]+:{_QUOTED}|{_QUOTED}|\S+", re.DOTALL)
_ESCAPED: Final = re.compile(r'\\(["\\])')
_AGE: Final = re.compile(r"(?P<number>[0-9]{1,5})(?P<unit>min|h|d|w|mo|m|y)", re.IGNORECASE)
_UNITS: Final = {
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "mo": timedelta(days=30),
    "m": timedelta(days=30),
    "y": timedelta(days=365),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryText:
    """What somebody typed, taken apart.

    `words` are looked for, `phrases` must stand there as they are; everything else narrows what may answer. `since`
    and `until` are as they were typed: an age such as `2w`, or a date; `moment` tells their time. `problems` say
    which parts cannot be understood (yet), in the order of the text; `refused` those of them whose value is none.
    """

    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str | None = None
    space: str | None = None
    status: str | None = None
    pinned: bool | None = None
    since: str | None = None
    until: str | None = None
    problems: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is asked, without what only narrows it."""
        return " ".join([*self.words, *self.phrases])

    @property
    def narrows(self) -> bool:
        """Whether it is written in the language: it has a pair, or is nothing but phrases. Else it is a sentence."""
        pairs = replace(self, words=(), phrases=(), problems=(), refused=()) != QueryText()
        return pairs or (bool(self.phrases) and not self.words)


def parse_query_text(typed: str, *, names: Collection[str] | None = None) -> QueryText:
    """Return what a text asks for. `names` are the pairs that count, None all; the others stay words.

    What cannot be understood is left out and named in `problems`: half a text is what somebody is still typing.
    Raises `InvalidInput` for what is no text, or no list of names.

    >>> found = parse_query_text('layer:project kind:decision since:2w "auth flow" tokens')
    >>> found.layers, found.kinds, found.since, found.phrases, found.words
    (('project',), ('decision',), '2w', ('auth flow',), ('tokens',))
    >>> parse_query_text("status:lost").problems
    ('status:lost is none of active, superseded, archived, quarantined, any',)
    """
    if not is_text(typed):
        raise InvalidInput(f"The query must be a string, not {quoted(typed)}.")
    require_question_length(typed, "typed")
    chosen = None if names is None else value_list(names, "names", of="names of parts")
    known_parts_by_name = {name: part for name, part in _PARTS.items() if chosen is None or name in chosen}
    query = QueryText()
    words: list[str] = []
    phrases: list[str] = []
    for token in _TOKEN.findall(typed):
        if token.startswith('"'):
            phrase = _bare(token).strip()
            if phrase:
                (phrases if token.endswith('"') and len(token) > 1 else words).append(phrase)
            continue
        name, colon, value = token.partition(":")
        value = _bare(value)
        part = known_parts_by_name.get(name.lower()) if colon else None
        if part is None:
            words.append(token)
            if name.isalpha() and value and not value.startswith(("/", ":")):  # no address, no `std::io`
                names_of_parts = ", ".join(known_parts_by_name)
                problem = f"{name}: is no filter, so {token} is looked for as it stands; {names_of_parts} are"
                query = replace(query, problems=(*query.problems, problem))
        elif value:
            query = part(query, value)
        else:
            query = replace(query, problems=(*query.problems, f"{name}: has no value"))
    return replace(query, words=tuple(words), phrases=tuple(phrases))


def _bare(token: str) -> str:
    r"""Return what stands between quotation marks, where `\"` is one of them; a text without them as it is."""
    if len(token) > 1 and token.startswith('"') and token.endswith('"'):
        return _ESCAPED.sub(r"\1", token[1:-1])
    return token.strip('"')


def moment(text: str, name: str, *, now: datetime) -> datetime:
    """Return the time that `since:` or `until:` names: an age before `now`, or a date.

    Raises `InvalidInput` for neither.

    >>> moment("2w", "since", now=datetime(2026, 1, 15, tzinfo=UTC)).isoformat()
    '2026-01-01T00:00:00+00:00'
    """
    age = _AGE.fullmatch(text)
    try:
        if age is not None:
            return now - int(age["number"]) * _UNITS[age["unit"].lower()]
        time = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{name}:{text} is not a time; give an age (30min, 12h, 3d, 2w, 6m, 1y) or a date such as 2026-01-31."
        ) from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _listed(value: str) -> tuple[str, ...]:
    return tuple(filter(None, value.split(",")))


def _kind(query: QueryText, value: str) -> QueryText:
    return replace(query, kinds=(*query.kinds, *_listed(value)))


def _tag(query: QueryText, value: str) -> QueryText:
    return replace(query, tags=(*query.tags, *_listed(value)))


def _path(query: QueryText, value: str) -> QueryText:
    return _once(query, "path", value)


def _space(query: QueryText, value: str) -> QueryText:
    return _once(query, "space", value)


def _status(query: QueryText, value: str) -> QueryText:
    if value.lower() not in STATUSES:
        return _problem(query, f"status:{value} is none of {', '.join(STATUSES)}")
    return _once(query, "status", value.lower())


def _is(query: QueryText, value: str) -> QueryText:
    chosen = {"pinned": True, "unpinned": False}.get(value.lower())
    if chosen is None:
        return _problem(query, f"is:{value} is neither is:pinned nor is:unpinned")
    if query.pinned is not None and query.pinned != chosen:
        return _problem(query, "is:pinned and is:unpinned are asked for at once")
    return replace(query, pinned=chosen)


def _layer(query: QueryText, value: str) -> QueryText:
    names = tuple(name.lower() for name in _listed(value))
    for name in names:
        if name not in LAYERS:
            return _problem(query, f"layer:{name} is none of {', '.join(LAYERS)}")
    return replace(query, layers=(*query.layers, *names))


def _since(query: QueryText, value: str) -> QueryText:
    return _once(query, "since", value)


def _until(query: QueryText, value: str) -> QueryText:
    return _once(query, "until", value)


def _once(query: QueryText, name: str, value: str) -> QueryText:
    """Return it with the value of a pair of which there is one; another value for the same is a problem."""
    earlier = getattr(query, name)
    if earlier is not None and earlier != value:
        return _problem(query, f"{name}: is given twice, as {earlier} and as {value}")
    changed: dict[str, Any] = {name: value}
    return replace(query, **changed)


def _problem(query: QueryText, message: str) -> QueryText:
    return replace(query, problems=(*query.problems, message), refused=(*query.refused, message))


_PARTS: Final[dict[str, Callable[[QueryText, str], QueryText]]] = {
    "kind": _kind,
    "tag": _tag,
    "path": _path,
    "space": _space,
    "status": _status,
    "is": _is,
    "layer": _layer,
    "since": _since,
    "until": _until,
}
