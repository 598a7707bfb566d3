"""Turns of a conversation, made short: each by itself, and the older ones together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hexad.text.normalize import clean
from hexad.text.summarize import SHORT_LIMIT, extract

CONVERSATION_CHARS: Final = 1_600
"""Characters of the summary of a conversation."""


def compressed(text: str, *, limit: int = SHORT_LIMIT) -> str:
    """Return what a turn or a note says in at most `limit` characters: its own sentences, in their order."""
    return extract(clean(text), limit)


def folded(summary: str, turns: Iterable[tuple[str, str]], *, limit: int = CONVERSATION_CHARS) -> str:
    """Return a summary of what `summary` stands for and of the turns (who, text) after it.

    >>> folded("", [("user", "Move the login to tokens."), ("agent", "Done, tests pass.")])
    'user: Move the login to tokens.\\nagent: Done, tests pass.'
    """
    lines = [summary, *(f"{role}: {' '.join(text.split())}" for role, text in turns)]
    return extract("\n".join(line for line in lines if line), limit)
