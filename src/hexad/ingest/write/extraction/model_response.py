"""What a model answered, checked: the fields that were asked for, in their shapes and bounds, and nothing else."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hexad.errors import InvalidMemory
from hexad.memory.memory import Relevance
from hexad.text.normalize import clean, slug
from hexad.text.paths import normalize_path
from hexad.text.summary.summarize import LONG_LIMIT, MICRO_LIMIT, SHORT_LIMIT, Summaries, clamp

ANSWER_BYTES_LIMIT: Final = 64 << 10
"""A longer answer is not looked at."""
TAGS_LIMIT: Final = 12
"""Tags of a memory that a model may bring it to."""
PATH_PARTS_LIMIT: Final = 6
_ANSWERED_TAGS_LIMIT: Final = 100

_JOINERS: Final = frozenset("\u061c\u200c\u200d\u200e\u200f")
"""Characters without a form of their own that scripts and emoji need."""
_FENCED = re.compile(r"\s*```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)


class UnusableAnswer(Exception):
    """The answer is not what was asked for; the message says what is wrong, in our words alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer that has the asked-for shape. `path` and `tags` are still whatever the model said."""

    path: str
    summaries: Summaries
    tags: tuple[str, ...]
    relevance: Relevance
    pin: bool


def parse_answer(text: str) -> Answer:
    """Return what a model answered; raises `UnusableAnswer`. Fields that nobody asked for are not looked at."""
    if len(text.encode("utf-8", "replace")) > ANSWER_BYTES_LIMIT:
        raise UnusableAnswer(f"the answer is longer than {ANSWER_BYTES_LIMIT:,} bytes")
    text = text.removeprefix("\ufeff")
    fenced = _FENCED.fullmatch(text)
    try:
        value = json.loads(fenced[1] if fenced is not None else text)
    except (ValueError, RecursionError) as error:
        where = (
            f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        )
        raise UnusableAnswer(f"the answer is not one JSON object{where}") from error
    if not isinstance(value, Mapping):
        raise UnusableAnswer("the answer is not a JSON object")
    relevance = _text(value, "relevance").strip().lower()
    if relevance not in tuple(Relevance):
        raise UnusableAnswer("relevance is not high, medium or low")
    pin = value.get("pin", False)
    return Answer(
        path=_text(value, "path"),
        summaries=Summaries(
            micro=_summary(value, "summary_micro", MICRO_LIMIT, one_line=True),
            short=_summary(value, "summary_short", SHORT_LIMIT),
            long=_summary(value, "summary_long", LONG_LIMIT),
        ),
        tags=_tags(value.get("tags")),
        relevance=Relevance(relevance),
        pin=pin is True,
    )


def _text(value: Mapping[str, object], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str):
        raise UnusableAnswer(f"{name} is {'missing' if name not in value else 'not a string'}")
    return text


def _summary(value: Mapping[str, object], name: str, limit: int, *, one_line: bool = False) -> str:
    text = _printable(_text(value, name))
    text = " ".join(text.split()) if one_line else text.strip()
    if not any(map(str.isalnum, text)):
        raise UnusableAnswer(f"{name} says nothing")
    return clamp(text, limit)


def _printable(text: str) -> str:
    """Return a text without characters that steer a terminal, hide words, or turn their order round."""
    return "".join(map(_shown, clean(text)))


def _shown(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Cf":
        return char if char in _JOINERS or "\u0600" <= char <= "\u06dd" else ""
    return char if char in "\n\t" or category not in ("Cc", "Cs", "Zl", "Zp") else " "


def _tags(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise UnusableAnswer("tags is not a list of strings")
    return tuple(value[:_ANSWERED_TAGS_LIMIT])


def joined_tags(
    given: tuple[str, ...], found: tuple[str, ...], *, limit: int = TAGS_LIMIT
) -> tuple[str, ...]:
    """Return the caller's tags, all of them, and of those found as many as there is room for; sorted."""
    more = [tag for tag in found if tag not in given]
    return tuple(sorted((*given, *more[: max(limit - len(given), 0)])))


def placed(path: str, *, hint: str | None, project: str) -> str | None:
    """Return where the model put the text, as slugs under the caller's hint or project; None for no usable path.

    >>> placed("Shop/Billing/Refund Rules", hint=None, project="shop")
    'shop/billing/refund-rules'
    >>> placed("elsewhere/rules", hint="docs/Refunds.md", project="shop")
    'docs/Refunds.md'
    """
    root = normalize_path(hint) if hint is not None else slug(project)
    try:
        given = normalize_path(path)
    except InvalidMemory:
        return None
    if hint is not None and given != root and not given.startswith(root + "/"):
        return root
    rest = given[len(root) + 1 :] if given == root or given.startswith(root + "/") else given
    parts = [part for part in map(slug, rest.split("/")) if part]
    if hint is None and parts and parts[0] == root:
        parts = parts[1:]
    whole = "/".join([root, *parts[: PATH_PARTS_LIMIT - 1]]) if root else "/".join(parts[:PATH_PARTS_LIMIT])
    if hint is None and not parts:
        return None
    try:
        return normalize_path(whole)
    except InvalidMemory:
        return None
