"""What is typed into the browser's filter line, understood: words, and `name:value` pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hexad import Status, parse_query_text

ANY_STATUS: Final = "any"
STATUSES: Final = (*(status.value for status in Status), ANY_STATUS)
SYNTAX: Final = "words  kind:decision  tag:release  path:shop/billing  status:archived  is:pinned"
_NAMES: Final = ("kind", "tag", "path", "space", "status", "is")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which memories the filter line asks for; `problem` says which part of it cannot be understood (yet)."""

    words: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str | None = None
    space: str | None = None
    status: str = Status.ACTIVE.value
    pinned: bool | None = None
    problem: str | None = None

    def options(self) -> dict[str, Any]:
        """Return the arguments for `Hexad.memories` and `Hexad.count`."""
        return {
            "text": " ".join(self.words) or None,
            "kinds": self.kinds or None,
            "tags": self.tags or None,
            "path": self.path,
            **({"space": self.space} if self.space is not None else {}),
            "status": None if self.status == ANY_STATUS else self.status,
            "pinned": self.pinned,
        }


def understand(typed: str) -> Wanted:
    """Return what a filter line asks for. What cannot be understood is left out and named in `problem`.

    >>> wanted = understand("refund kind:decision is:pinned")
    >>> wanted.words, wanted.kinds, wanted.pinned
    (('refund',), ('decision',), True)
    >>> understand("status:lost").problem
    'status:lost is none of active, superseded, archived, quarantined, any'
    """
    found = parse_query_text(typed, names=_NAMES)
    path = found.path
    if path is not None and not any(mark in path for mark in "*?["):
        path += "*"  # while it is being typed, a path is the beginning of one
    return Wanted(
        words=(*found.words, *(word for phrase in found.phrases for word in phrase.split())),
        kinds=found.kinds,
        tags=found.tags,
        path=path,
        space=found.space,
        status=found.status or Status.ACTIVE.value,
        pinned=found.pinned,
        problem=next(iter(found.problems), None),
    )
