"""Few timesteps of logs joined to events without DuckDB, whose one statement takes longer than all of this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from hexad.experience.stream.frames import ENDS, HAS_EVENT, HAS_ROLE, STARTS
from hexad.experience.stream.grouping_sql import BREAK, OUTPUT

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW: Final = 2_000
_COLUMNS: Final = ("tick", "ts", "kind", "flags", "tokens", "role", "event", "content")
_LAST, _FIRST_AT, _LAST_AT, _CONTENT, _TOKENS, _TIMESTEPS = 5, 6, 7, 8, 9, 10


def joined(table: Mapping[str, NDArray[Any]], session: int) -> list[tuple[Any, ...]]:
    """Return the events of a session's rows as the relation of events has them, by first tick.

    What belongs together is what the statements of `stream_keys` say.
    """
    steps = sorted(zip(*(table[name].tolist() for name in _COLUMNS), strict=True), key=lambda step: step[0])
    found: dict[tuple[str | None, int], list[Any]] = {}
    kinds: dict[tuple[str | None, int], int] = {}
    run = 0
    before: tuple[int, str | None, str | None, int] = (-1, None, None, 0)
    for tick, at, kind, flags, tokens, role_there, event_there, content in steps:
        role = role_there if flags & HAS_ROLE else None
        event = event_there if flags & HAS_EVENT else None
        goes_on = kind == OUTPUT and (kind, event, role) == before[:3] and event is None
        if not goes_on or flags & STARTS or before[3] & ENDS:
            run += 1
        before = (kind, event, role, flags)
        key = (event, run if event is None else 0)
        one = found.get(key)
        if one is None:
            found[key] = [session, event, kind, role, tick, tick, at, at, [content], tokens, 1]
        else:
            one[_LAST] = tick
            one[_FIRST_AT], one[_LAST_AT] = min(one[_FIRST_AT], at), max(one[_LAST_AT], at)
            one[_CONTENT].append(content if kinds[key] == kind else BREAK + content)
            one[_TOKENS] += tokens
            one[_TIMESTEPS] += 1
        kinds[key] = kind
    return [(*one[:_CONTENT], "".join(one[_CONTENT]), *one[_TOKENS:]) for one in found.values()]
