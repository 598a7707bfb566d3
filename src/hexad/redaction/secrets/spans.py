"""What every detector yields: a place in a text and the rule that wants it gone."""

from __future__ import annotations

from typing import Final, NamedTuple

FROM_ENV_FILE: Final = 0
FROM_NAME: Final = 1
FROM_STRUCTURE: Final = 2
FROM_SHAPE: Final = 3
"""Ranks: of two findings of equal length the one with the higher rank names the placeholder."""


class SecretSpan(NamedTuple):
    """The characters `start` to `end` of a text, the rule that found them, and how specific it is."""

    rule: str
    start: int
    end: int
    rank: int
