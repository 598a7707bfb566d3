"""The words inside identifiers, for the second indexed column of the full text."""

from __future__ import annotations

import re
from typing import Final

from hexad.text.normalize import kinds_of_characters

WORD_LIMIT: Final = 80
"""Longest compound word that is split, in characters; what is longer is data."""
DIGIT_RUNS_LIMIT: Final = 3
"""A word with more runs of digits than this is a hash, a key or an id, and has no words inside."""

# The tokenizer of the full text (FTS5's unicode61) splits at everything that is no letter and no digit, `_`
# included; what is left for us is `camelCase`, `HTTPServer` and `utf8Decode`. No alternative can match the
# same characters in two ways, so the scan is linear.
_PART = re.compile(
    r"[A-Z]{2,}s(?![a-z])"  # URLs in getURLsFor
    r"|[A-Z]+(?![a-z])"  # HTTP in HTTPServer: all capitals but the one that begins the next word
    r"|[A-Z][a-z]+"
    r"|[a-z]+"
    r"|[0-9]+"
)
_COMPOUND = re.compile(r"[^\W_]{3,}")
_BOUNDARY = re.compile(r"[^\W\d_A-Z][^\W\d_a-z]|[A-Z]{2}[a-z]|[^\W\d_]\d|\d[^\W\d_]")
# The same of ASCII, of the kinds of its characters (`kinds_of_characters`): ten times as fast.
_ASCII_BOUNDARIES: Final = (b"aA", b"AAa", b"a0", b"A0", b"0a", b"0A")
_DIGITS = re.compile(r"\d+")


def split_identifiers(text: str) -> list[str]:
    """Return the parts of the compound words in `text`, in order and as they are written.

    Only words that the full text would not split itself: changes of case and borders of letters and digits. A
    plain word, `snake_case` and `kebab-case` give nothing; a part of one letter is left out.

    >>> split_identifiers("parseJSONFile calls HTTPServer2.do_get")
    ['parse', 'JSON', 'File', 'HTTP', 'Server', '2']
    """
    if not _has_boundary(text):
        return []
    parts: list[str] = []
    for word in _COMPOUND.findall(text):
        if len(word) > WORD_LIMIT:
            continue
        if word.isalpha() and (word.islower() or word[1:].islower() or word.isupper()):
            continue
        words = _PART.findall(word) if word.isascii() else _parts_of_any_script(word)
        if len(words) > 1 and len(_DIGITS.findall(word)) <= DIGIT_RUNS_LIMIT:
            parts += [part for part in words if len(part) > 1 or part.isdigit()]
    return parts


def _has_boundary(text: str) -> bool:
    if not text.isascii():
        return _BOUNDARY.search(text) is not None
    kinds = kinds_of_characters(text)
    return any(boundary in kinds for boundary in _ASCII_BOUNDARIES)


def _parts_of_any_script(word: str) -> list[str]:
    """Split where lower case turns upper and letters meet digits; an acronym stays with what follows."""
    starts = [0]
    for at in range(1, len(word)):
        before, after = word[at - 1], word[at]
        if (before.islower() and after.isupper()) or before.isdigit() != after.isdigit():
            starts.append(at)
    return [word[start:end] for start, end in zip(starts, [*starts[1:], len(word)], strict=True)]
