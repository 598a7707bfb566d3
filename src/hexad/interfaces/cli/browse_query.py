"""What is typed into the browser's filter line, understood: words, and `name:value` pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from hexad import Status

ANY_STATUS: Final = "any"
STATUSES: Final = (*(status.value for status in Status), ANY_STATUS)
SYNTAX: Final = "words  kind:decision  tag:release  path:shop/billing  status:archived  is:pinned"


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
    wanted = Wanted()
    for word in typed.split():
        name, colon, value = word.partition(":")
        part = _PARTS.get(name.lower()) if colon else None
        if part is None:
            wanted = replace(wanted, words=(*wanted.words, word))
            if name.isalpha() and value and not value.startswith(("/", ":")):  # no address, no `std::io`
                told = f"{name}: is no filter, so {word} is looked for as it stands; {', '.join(_PARTS)} are"
                wanted = replace(wanted, problem=wanted.problem or told)
        elif value:
            wanted = part(wanted, value)
    return wanted


def _kind(wanted: Wanted, value: str) -> Wanted:
    return replace(wanted, kinds=(*wanted.kinds, *filter(None, value.split(","))))


def _tag(wanted: Wanted, value: str) -> Wanted:
    return replace(wanted, tags=(*wanted.tags, *filter(None, value.split(","))))


def _path(wanted: Wanted, value: str) -> Wanted:
    # While it is being typed, a path is the beginning of one.
    return replace(wanted, path=value if any(mark in value for mark in "*?[") else value + "*")


def _space(wanted: Wanted, value: str) -> Wanted:
    return replace(wanted, space=value)


def _status(wanted: Wanted, value: str) -> Wanted:
    if value.lower() not in STATUSES:
        return replace(wanted, problem=f"status:{value} is none of {', '.join(STATUSES)}")
    return replace(wanted, status=value.lower())


def _is(wanted: Wanted, value: str) -> Wanted:
    chosen = {"pinned": True, "unpinned": False}.get(value.lower())
    if chosen is None:
        return replace(wanted, problem=f"is:{value} is neither is:pinned nor is:unpinned")
    return replace(wanted, pinned=chosen)


_PARTS: Final[dict[str, Callable[[Wanted, str], Wanted]]] = {
    "kind": _kind,
    "tag": _tag,
    "path": _path,
    "space": _space,
    "status": _status,
    "is": _is,
}
