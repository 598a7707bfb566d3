"""What a question names literally: phrases in quotation marks, versions, ids, numbers, error codes, flags, paths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

LITERALS_MOST: Final = 16
"""More of either kind in one question are not looked for."""

_INSIDE: Final = r"([^\s{0}\x00-\x1f]|[^\s{0}\x00-\x1f][^{0}\x00-\x1f]{{0,198}}[^\s{0}\x00-\x1f])"
# No space beside the marks: those of two phrases are no pair.
_QUOTED: Final = re.compile(
    "|".join(f"{opening}{_INSIDE.format(closing)}{closing}" for opening, closing in ('""', "“”", "«»"))
)
_MARKED: Final = re.compile(f"`{_INSIDE.format('`')}`")
_WORD: Final = re.compile(r"[^\s\x00-\x1f]+")
_TRIMMED: Final = "\"'`“”‘’«»()[]{}<>,;:!?…"
_INNER: Final = re.compile(r"[^\W_](?:[._/\\@#+=]|::|->)[^\W_]|[^\W_]_|_[^\W_]|-\d|\d-")
_NUMBERS: Final = re.compile(r"v?\d+(?:[.:/-]\d+)+", re.IGNORECASE)
_DATE: Final = re.compile(r"(?:1[89]|20)\d\d(?:-\d\d(?:-\d\d)?)?|\d{1,2}(?:st|nd|rd|th)")


def quoted_phrases(text: str) -> tuple[str, ...]:
    """Return what stands in quotation marks, in order, each once.

    >>> quoted_phrases('Who said "ship it" and “not yet”?')
    ('ship it', 'not yet')
    """
    return _inside(_QUOTED, text)


def marked_code(text: str) -> tuple[str, ...]:
    """Return what stands in backticks, in order, each once: it is named as it is written, and not quoted.

    >>> marked_code("Which module helps `Compiler`?")
    ('Compiler',)
    """
    return _inside(_MARKED, text)


def _inside(marks: re.Pattern[str], text: str) -> tuple[str, ...]:
    phrases = (next(filter(None, match.groups()), "").strip() for match in marks.finditer(text))
    return tuple(dict.fromkeys(phrase for phrase in phrases if _has_words(phrase)))[:LITERALS_MOST]


def exact_tokens(text: str, *, dates: bool = True) -> tuple[str, ...]:
    """Return the words that stand for themselves: with a digit, a flag's dashes, or joined by `.`, `_`, `/`, `::`.

    `dates` False leaves out years, dates of ISO 8601 and days like `3rd`, which say when, not what.

    >>> exact_tokens("Does --no-verify skip ERR_42 since v8.2.0? See a.b.c.")
    ('--no-verify', 'ERR_42', 'v8.2.0', 'a.b.c')
    """
    tokens = []
    for word in _WORD.findall(text):
        token = word.strip(_TRIMMED).rstrip(".'’")
        token = token.removesuffix("'s").removesuffix("’s")
        exact = any(sign.isdigit() for sign in token) or (
            _has_words(token) and (token.startswith("-") or _INNER.search(token) is not None)
        )
        if exact and (dates or _DATE.fullmatch(token) is None):
            tokens.append(token)
    return tuple(dict.fromkeys(tokens))[:LITERALS_MOST]


def is_joined_numbers(token: str) -> bool:
    """Return whether a token is numbers joined by signs, which say nothing apart: a version, an address, a date.

    >>> [is_joined_numbers(token) for token in ("v8.2.0", "10.0.3.7", "PROJ-142", "42")]
    [True, True, False, False]
    """
    return _NUMBERS.fullmatch(token) is not None


def literal_pattern(literal: str) -> re.Pattern[str]:
    """Return a pattern that finds the literal as a whole, in any case: `8.2` is neither in `8.2.1` nor in `18.2`."""
    words = r"\s+".join(map(re.escape, literal.split()))
    before = r"(?<![\w-])" if literal.startswith("-") else r"(?<![^\W_])(?<!\d[.])"
    if is_joined_numbers(literal):
        words = "v?" + words.removeprefix("v").removeprefix("V")
    return re.compile(f"{before}{words}(?![^\\W_]|[.]\\d)", re.IGNORECASE)


def match_phrases(literals: Sequence[str]) -> str:
    """Return the FTS5 expression of texts that hold any of these, as phrases of their words; `v8.2` is `8.2`, too."""
    ways = []
    for literal in literals:
        bare = literal.lower().removeprefix("v")
        ways += [bare, "v" + bare] if is_joined_numbers(literal) else [literal]
    return " OR ".join('"' + way.replace('"', '""') + '"' for way in ways)


def _has_words(text: str) -> bool:
    return any(sign.isalnum() for sign in text)
