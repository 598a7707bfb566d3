"""Turns of a conversation, made short: each by itself, and the older ones together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hexad.text.normalize import clean
from hexad.text.summary.lexrank import most_central
from hexad.text.summary.summarize import MICRO_LIMIT, SHORT_LIMIT, extract

_NEWEST: Final = 5
CONVERSATION_CHARS: Final = 1_600
"""Characters of the summary of a conversation."""


def compressed(text: str, *, limit: int = SHORT_LIMIT) -> str:
    """Return what a turn or a note says in at most `limit` characters: its own sentences, in their order."""
    return extract(clean(text), limit)


def folded(summary: str, turns: Iterable[tuple[str, str]], *, limit: int = CONVERSATION_CHARS) -> str:
    """Return a summary of what `summary` stands for and of the turns (who, text) after it: a line for a turn.

    Each turn says what it says in 160 characters; where there are too many, the last five stay, and of the others those
    that have most in common with the rest, in their order.

    >>> folded("", [("user", "Move the login to tokens."), ("agent", "Done, tests pass.")])
    'user: Move the login to tokens.\\nagent: Done, tests pass.'
    """
    said = (f"{role}: {' '.join(extract(text, MICRO_LIMIT).split())}" for role, text in turns)
    lines = [line for line in (*summary.splitlines(), *said) if line]
    room = limit
    chosen: list[int] = []
    if sum(map(len, lines)) + len(lines) <= limit:
        return "\n".join(lines)
    for at in dict.fromkeys(
        (*range(len(lines) - 1, max(-1, len(lines) - 1 - _NEWEST), -1), *most_central(lines))
    ):
        if len(lines[at]) + 1 <= room:
            chosen.append(at)
            room -= len(lines[at]) + 1
    return "\n".join(lines[at] for at in sorted(chosen))
