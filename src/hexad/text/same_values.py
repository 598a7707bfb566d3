"""Whether two values say the same: `pytest` and `pytest 8` do, and so do Postgres and PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.text.normalize import fold

_OTHER_NAMES: Final[Mapping[str, str]] = {
    "postgresql": "postgres psql pg",
    "kubernetes": "k8s",
    "mongodb": "mongo",
    "javascript": "js",
    "typescript": "ts",
    "golang": "go",
    "node.js": "node nodejs",
    "next.js": "nextjs",
    "pytest": "py.test",
    "scikit-learn": "sklearn",
}
_NAME: Final = {other: name for name, others in _OTHER_NAMES.items() for other in others.split()}
_WORD: Final = re.compile(r"[^\s,;:()\"'“”`]+")
VERSION: Final = re.compile(r"[v~^<>=]*\d[\w.*+-]*|lts|latest")
_DETAIL: Final = frozenset("with on via for in using by at through as version since".split())
"""What may stand between a value and a detail of it: `Postgres on RDS` is Postgres."""
_REJECTS: Final = frozenset(
    "not no never without avoid avoiding drop dropping dropped replace replacing replaced remove removing removed over"
    " than instead leave leaving against stop stopping abandon abandoning retire retiring rather from".split()
)
_LEADS: Final = frozenset("of using with the any our".split())
"""Words between such a one and what it rejects: `instead of Prisma`, `stop using Prisma`."""
_NAMED: Final = ("name", "value")


def words_of(text: str) -> list[str]:
    """Return the words of a value as they are compared: folded, under one name of a technology.

    >>> words_of("Postgres 16 (on RDS)")
    ['postgresql', '16', 'on', 'rds']
    """
    words = (word.rstrip(".!?") for word in _WORD.findall(fold(text)))
    return [_NAME.get(word, word) for word in words if word]


def same_text(text: str, other: str) -> bool:
    """Whether two values are the same, or the same with a detail: a version, or where and with what it is used.

    >>> same_text("pytest", "Pytest 8"), same_text("Postgres on RDS", "PostgreSQL"), same_text("2 spaces", "2 tabs")
    (True, True, False)
    >>> same_text("Redis", "Redis 6 without persistence"), same_text("pytest 7", "pytest 8")
    (False, False)
    """
    short, long = sorted((words_of(text), words_of(other)), key=len)
    rest = long[len(short) :]
    if long[: len(short)] != short:
        return False
    if not rest:
        return True
    if not short or not short[0][0].isalpha() or not _REJECTS.isdisjoint(rest):
        return False
    return bool(VERSION.fullmatch(rest[0])) or rest[0] in _DETAIL


def same_value(value: JSONValue, other: JSONValue) -> bool:
    """Whether two values say the same; a plain one and a list do where it is in the list.

    >>> same_value(["pytest", "Hypothesis"], "pytest 8"), same_value({"name": "Redis", "version": 7}, "redis")
    (True, True)
    >>> same_value(["a", "b"], ["a"]), same_value(80, "80"), same_value(True, 1)
    (False, True, False)
    """
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return [*map(plain_text, value)] == [*map(plain_text, other)]
    if isinstance(value, list | tuple):
        return any(same_value(item, other) for item in value)
    if isinstance(other, list | tuple):
        return same_value(other, value)
    mine, its = plain_text(value), plain_text(other)
    return value == other if not (mine and its) else same_text(mine, its)


def plain_text(value: JSONValue) -> str:
    """Return a value as text; of an object its name and version, empty for one without.

    >>> plain_text({"name": "PostgreSQL", "version": 16}), plain_text(2.0), plain_text({"a": 1, "b": 2})
    ('PostgreSQL 16', '2', '')
    """
    if isinstance(value, Mapping):
        name = next((value[key] for key in _NAMED if isinstance(value.get(key), str | int | float)), None)
        return "" if name is None else f"{name} {value.get('version') or ''}".strip()
    if value is None or isinstance(value, list | tuple):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def names(text: str, value: str) -> bool:
    """Whether a text chooses what a value names: it stands there, and nothing before it turns it down.

    >>> names("Use Prisma for orders", "prisma 5"), names("Use Drizzle instead of Prisma", "Prisma")
    (True, False)
    """
    words, wanted = words_of(text), without_version(words_of(value))
    return bool(wanted) and any(not _rejected(words, at) for at in _places(words, wanted))


def without_version(words: list[str]) -> list[str]:
    """Return the words of a value without the version at its end."""
    end = len(words)
    while end > 1 and VERSION.fullmatch(words[end - 1]):
        end -= 1
    return words[:end]


def same_version(version: list[str], other: list[str]) -> bool:
    """Whether versions are one, as far as both are told: `8` is `8.2`, and none is any.

    >>> same_version(["16"], ["16.2"]), same_version(["15"], ["16"]), same_version([], ["3"])
    (True, False, True)
    """
    mine, its = (".".join(words).lstrip("v=~^").split(".") for words in (version, other))
    return not version or not other or all(a == b for a, b in zip(mine, its, strict=False))


def _places(words: list[str], wanted: list[str]) -> Iterator[int]:
    return (at for at in range(len(words)) if words[at : at + len(wanted)] == wanted)


def _rejected(words: list[str], at: int) -> bool:
    before = words[:at]
    while before and before[-1] in _LEADS:
        before.pop()
    return bool(before) and before[-1] in _REJECTS
