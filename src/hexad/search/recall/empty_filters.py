"""Why no memory passes the filters of a question, for somebody who expected some."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hexad.memory.query import Filters
from hexad.memory.store import Stores

_SHOWN: Final = 8


def why_none_passes(stores: Stores, filters: Filters) -> str | None:
    """Return what no memory has of what `filters` ask, with what there is instead; None where some memory passes.

    Times, paths and what several filters ask together are named as they are: there is nothing else to offer.
    """
    chosen = replace(filters, spaces=None, roles=None)
    if chosen.empty or stores.memories.numbers(filters, limit=1):
        return None
    if filters.kinds is not None:
        known = stores.memories.kinds()
        if not set(filters.kinds) & set(known):
            return f"No memory is of the kind {_listed(filters.kinds)}; {_instead(filters.kinds, known, 'kinds')}"
    if filters.tags is not None:
        known = stores.memories.tags()
        unknown = [tag for tag in filters.tags if tag not in known]
        if unknown:
            return f"No memory has the tag {_listed(unknown)}; {_instead(unknown, known, 'tags')}"
    return "No memory passes these filters; leave one out."


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return " or ".join(map(repr, names))


def _instead(names: tuple[str, ...] | list[str], known: list[str], what: str) -> str:
    from difflib import get_close_matches

    near = [match for name in names for match in get_close_matches(name, known)]
    shown = list(dict.fromkeys(near)) or known[:_SHOWN]
    if not shown:
        return "there is no memory yet." if what == "kinds" else f"there are no {what} yet."
    more = ", …" if not near and len(known) > len(shown) else ""
    return f"{'near it' if near else what + ' there are'}: {', '.join(shown)}{more}."
