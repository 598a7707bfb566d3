"""Of texts of which one took the place of another: the current one first, the older one left out or marked.

Contexts and bundles pass through here; a recall marks its own hits, and leaves none out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.memory.query import Successor
from hexad.memory.store import Stores
from hexad.redaction.injection.detector import safe_line
from hexad.search.recall.query_terms import understand
from hexad.search.recall.successors import successors
from hexad.text.claims.likelihood import Wording

_SHOWN: Final = 120
_PAST: Final = frozenset(
    """
    before did has have been already longer previous former past history historical old older earlier ever first last
    since changed replaced superseded
    moved yesterday decided chose became began started stopped happened went
    """.split()
)
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Only dates in words depend on it."""


def asks_past(question: str) -> bool:
    """Whether a question is about what was, so that what was superseded may answer it.

    >>> asks_past("what did we use before?"), asks_past("what do we use?")
    (True, False)
    """
    wording = Wording(question)
    return wording.tells_past or not wording.lows.isdisjoint(_PAST)


def names_literally(question: str, old: str, new: str) -> bool:
    """Whether a question names something as it is written, as a version or a file, that only the older text has.

    >>> names_literally("what changed in 8.2.0?", "We ship 8.2.0.", "We ship 8.3.0 now.")
    True
    """
    terms = understand(question, now=_ANY_TIME)
    literals = [literal.casefold() for literal in (*terms.phrases, *terms.tokens) if not literal.isdigit()]
    return any(literal in old.casefold() and literal not in new.casefold() for literal in literals)


def successors_of(
    stores: Stores, numbers: Collection[int], *, until: datetime | None = None
) -> Mapping[int, Successor]:
    """Return, by row number, what surely took the place of these memories, with `until` by then."""
    links = stores.updates.of(numbers, until=until)
    return successors(stores, links, numbers) if links else {}


def mark_of(successor: Mapping[str, JSONValue]) -> str:
    """Return what a reader is told of a memory that was superseded, in a line of bounded length.

    >>> mark_of({"id": "mem_1", "since": "2026-11-22T10:00:00Z", "text": "We use Postgres."})
    'superseded by mem_1 (since 2026-11-22): We use Postgres.'
    """
    text = safe_line(str(successor["text"]), _SHOWN)
    return f"superseded by {successor['id']} (since {str(successor['since'])[:10]}): {text}"
