"""Which parts of segments a question about tagged ranges has to read: its cost follows the ranges, not the stream.

What is kept of the rows is decided by `TickRanges`; here stands what a segment's statistics can be held against. Each
part is read by a statement of its own, whose condition is about one session, or about neighbouring ones together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hexad.experience.stream.manifest import SessionRange

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_APART: Final = 20_000
"""Ranges with fewer ticks between them are read as one: they are mostly in the same group of rows of a file."""
_SPANS_LIMIT: Final = 64
_PARTS_LIMIT: Final = 16
_ROWS_A_PART: Final = 500_000
"""A statement costs some milliseconds for itself, about as much as it takes to read so many rows of two columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Files, and the condition under which their rows may be wanted: numbers only, so it has no parameters."""

    paths: Sequence[str]
    condition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spans:
    """Stretches of ticks of the sessions from the first to the last, all of them of each."""

    sessions: tuple[int, int]
    ticks: Sequence[tuple[int, int]]

    def meets(self, held: SessionRange) -> bool:
        inside = self.sessions[0] <= held.session <= self.sessions[1]
        return inside and any(first <= held.ticks[1] and last >= held.ticks[0] for first, last in self.ticks)

    @property
    def condition(self) -> str:
        ticks = " OR ".join(f"tick BETWEEN {first} AND {last}" for first, last in self.ticks)
        return "session BETWEEN {} AND {} AND ({})".format(*self.sessions, ticks)


def parts_of(
    places: Mapping[str, NDArray[np.int64]], held: Mapping[str, Sequence[SessionRange]]
) -> list[Part]:
    """Return what to read of segments for ranges that are sorted and apart in each session, each row at most once.

    `held` says by the path of each segment which ticks it has of the sessions of `places`.
    """
    rows = sum(session_range.rows for some in held.values() for session_range in some)
    found = []
    for spans in _spans(places, most=min(_PARTS_LIMIT, 1 + rows // _ROWS_A_PART)):
        wanted = [path for path, some in held.items() if any(map(spans.meets, some))]
        if wanted:
            found.append(Part(paths=wanted, condition=spans.condition))
    return found


def _spans(places: Mapping[str, NDArray[np.int64]], *, most: int) -> list[_Spans]:
    import numpy as np

    order = np.lexsort((places["first_tick"], places["session"]))
    sessions, first, last = (places[name][order] for name in ("session", "first_tick", "last_tick"))
    if not len(sessions):
        return []
    changes = np.flatnonzero(np.diff(sessions)) + 1
    starts, ends = np.append(0, changes), np.append(changes, len(sessions))
    together = -(-len(starts) // most)
    found = []
    for at in range(0, len(starts), together):
        begin, end = starts[at], ends[min(at + together, len(ends)) - 1]
        is_single = sessions[begin] == sessions[end - 1]
        ticks = (
            _stretches(first[begin:end], last[begin:end])
            if is_single
            else [(int(first[begin:end].min()), int(last[begin:end].max()))]
        )
        found.append(_Spans(sessions=(int(sessions[begin]), int(sessions[end - 1])), ticks=ticks))
    return found


def _stretches(first: NDArray[Any], last: NDArray[Any]) -> list[tuple[int, int]]:
    """Return sorted ranges joined where little is between them, and where there would be too many of them."""
    import numpy as np

    gaps = first[1:] - last[:-1]
    apart = np.flatnonzero(gaps > _APART)
    if len(apart) >= _SPANS_LIMIT:
        widest = np.argpartition(gaps, -(_SPANS_LIMIT - 1))[-(_SPANS_LIMIT - 1) :]
        apart = np.sort(widest)
    starts, ends = np.append(0, apart + 1), np.append(apart, len(first) - 1)
    return list(zip(first[starts].tolist(), last[ends].tolist(), strict=True))
