"""Where a text may be cut without breaking what a reader sees as one character."""

from __future__ import annotations

import unicodedata
from typing import Final

_ZERO_WIDTH_JOINER: Final = "\u200d"
_REGIONAL_FIRST: Final = "\U0001f1e6"
_REGIONAL_LAST: Final = "\U0001f1ff"
_CLUSTER_LIMIT: Final = 64
"""Characters looked back at most: twice what the stream-safe format of UAX 15 allows in one cluster."""


def cut(text: str, limit: int) -> str:
    """Return the longest beginning of `text` of at most `limit` characters that ends between graphemes.

    The rules of UAX 29 that matter for prose: marks, joiners, variation selectors, skin tones, flags, tag
    sequences, CR LF and Hangul jamo. A cluster of over 64 characters is cut inside, since it is no letter.
    """
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    lowest = max(limit - _CLUSTER_LIMIT, 0)
    at = limit
    while at > lowest and _joined(text, at):
        at -= 1
    return text[: at if at > lowest or lowest == 0 else limit]


def beginning(text: str, limit: int) -> str:
    r"""Return the beginning of a text on one line, of at most `limit` characters, with "…" where more follows.

    >>> beginning("Deploys are\\non Friday.", 12)
    'Deploys are…'
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else cut(line, limit - 1).rstrip() + "…"


def _joined(text: str, at: int) -> bool:
    """Return whether the characters before and at `at` belong to one grapheme."""
    before, after = text[at - 1], text[at]
    if before == _ZERO_WIDTH_JOINER or (before == "\r" and after == "\n"):
        return True
    if _extends(after):
        return True
    if _REGIONAL_FIRST <= after <= _REGIONAL_LAST:
        return _flags_before(text, at) % 2 == 1
    return False


def _extends(character: str) -> bool:
    code = ord(character)
    return (
        code in (0x200C, 0x200D, 0xFF9E, 0xFF9F)
        or 0x1160 <= code <= 0x11FF  # Hangul vowels and final consonants
        or 0xD7B0 <= code <= 0xD7FB
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xE0020 <= code <= 0xE007F  # tags: the flags of Scotland, Wales and England
        or unicodedata.category(character)[0] == "M"
    )


def _flags_before(text: str, at: int) -> int:
    """Return how many regional indicators stand directly before `at`: two make one flag."""
    start = at
    while start > 0 and _REGIONAL_FIRST <= text[start - 1] <= _REGIONAL_LAST and at - start < _CLUSTER_LIMIT:
        start -= 1
    return at - start
