"""What rules about instructions are made of: words that must be there, and a shape around them.

A rule is tried only where one word of each of its groups is in the text; most texts have none, and cost one pass.
Latin letters are without accents here, as the detector makes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hexad.core.lazy import lazy_pattern

GAP: Final = r"[\W_]{1,40}"


def some(least: int, most: int) -> str:
    """A gap with so many words in it, as few as will do."""
    return rf"(?:{GAP}[^\W_]+){{{least},{most}}}?{GAP}"


def one_of(words: str) -> str:
    """Return a pattern for one of these words."""
    return "(?:" + "|".join(words.split()) + ")"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionRule:
    """A shape, and the words without which it cannot be there: one of each group.

    `spoken` rules are not about a text that speaks of such words: in quotation marks, or with a "never" before.
    """

    kind: str
    groups: tuple[frozenset[str], ...]
    pattern: re.Pattern[str]
    spoken: bool = True


def rule_of(kind: str, groups: tuple[str, ...], pattern: str, *, spoken: bool = True) -> InjectionRule:
    """Return a rule; each group is a list of words with blanks between them."""
    return InjectionRule(
        kind=kind,
        groups=tuple(frozenset(group.split()) for group in groups),
        pattern=lazy_pattern(pattern),
        spoken=spoken,
    )
