"""Which lenses an agent may see, as the setting `lenses` says it (document 2, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hexad.errors import InvalidInput
from hexad.experience.values.names import NAME_CHARS_LIMIT

_PACK: Final = "::*"
_BELOW: Final = "/**"


@dataclass(frozen=True, slots=True, kw_only=True)
class LensRules:
    """The concepts that may be seen: single ones, all whose id begins so, and some with everything below them."""

    concepts: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    below: frozenset[str] = frozenset()


def parse_lenses(entries: Iterable[str]) -> LensRules:
    """Return what a list of lenses permits; an empty one permits nothing.

    `pack::Term` is a concept, `pack::*` a whole pack, `pack::Term/**` a concept with everything below it, `*` all.
    Raises `InvalidInput` for any other use of `*`.

    >>> sorted(parse_lenses(["people::*", "mind::Emotion/**"]).below)
    ['mind::Emotion']
    """
    concepts, beginnings, below = set[str](), set[str](), set[str]()
    for entry in entries:
        if entry == "*":
            beginnings.add("")
        elif entry.endswith(_PACK):
            beginnings.add(_concept(entry, entry.removesuffix("*"), least=len(_PACK)))
        elif entry.endswith(_BELOW):
            below.add(_concept(entry, entry.removesuffix(_BELOW)))
        else:
            concepts.add(_concept(entry, entry))
    return LensRules(
        concepts=frozenset(concepts | below), beginnings=tuple(sorted(beginnings)), below=frozenset(below)
    )


def _concept(entry: str, named: str, *, least: int = 1) -> str:
    if not least <= len(named) <= NAME_CHARS_LIMIT or "*" in named:
        raise InvalidInput(
            f"{entry[:80]!r} names no lens; give a concept such as 'pack::Term', a pack as 'pack::*', a concept with "
            "everything below it as 'pack::Term/**', or '*'."
        )
    return named
