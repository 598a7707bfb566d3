"""What a recall is asked for, checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from hexad.core.arguments import is_text, quoted
from hexad.errors import InvalidInput, LimitExceeded
from hexad.memory.query import Filters

LIMIT_MOST: Final = 1_000
QUERY_CHARACTERS_MOST: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How a recall answers. `max_tokens` bounds the texts of the hits together; `semantic` None decides itself.

    `folds` leaves out what says word for word the same as a better hit; `feedback` heeds what was said of answers:
    to `asked`, where that is a sentence of which the question is only what its filters left.
    """

    filters: Filters = field(default_factory=Filters)
    limit: int = 10
    max_tokens: int | None = None
    explain: bool = False
    semantic: bool | None = None
    follow_links: bool = False
    folds: bool = True
    feedback: bool = True
    asked: str | None = None
    association: float = 0.0  # what of its neighbours' scores in the honeycomb a memory's own gains

    def __post_init__(self) -> None:
        if not _whole(self.limit) or not 1 <= self.limit <= LIMIT_MOST:
            raise InvalidInput(f"limit = {self.limit!r} is not a whole number from 1 to {LIMIT_MOST}.")
        if self.max_tokens is not None and (not _whole(self.max_tokens) or self.max_tokens < 1):
            raise InvalidInput(f"max_tokens = {self.max_tokens!r} must be a whole number, at least 1.")
        share = self.association
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise InvalidInput(f"association = {quoted(share)} cannot be used; give a number from 0 to 1.")


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def check_query(query: str) -> str:
    """Return the question; raises `InvalidInput` for an empty one and `LimitExceeded` for one too long."""
    if not is_text(query):
        raise InvalidInput(f"The question {quoted(query)} is no text; give a string.")
    if not query.strip():
        raise InvalidInput("The question is empty; say what to recall. `hexad memory list` shows everything.")
    if len(query) > QUERY_CHARACTERS_MOST:
        raise LimitExceeded(
            f"The question has {len(query):,} characters; at most {QUERY_CHARACTERS_MOST:,} are read."
        )
    return query
