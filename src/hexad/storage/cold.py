"""Which ticks left the stream because a COLD record stands for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from hexad.model.ticks import Ranges, union
from hexad.storage.connection import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ColdRanges:
    """The rows of `stream_cold`: disjoint ranges of ticks that were there, both ends included."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, session: int, ranges: Iterable[tuple[int, int]]) -> None:
        """Take ticks out of the stream, in the caller's transaction; ranges that touch become one."""
        new = union(ranges)
        if not new:
            return
        with self._db.joined() as con:
            around = (session, new[-1][1] + 1, new[0][0] - 1)
            near = con.execute(
                "SELECT first_tick, last_tick FROM stream_cold"
                " WHERE session_no = ? AND first_tick <= ? AND last_tick >= ?",
                around,
            ).fetchall()
            con.execute(
                "DELETE FROM stream_cold WHERE session_no = ? AND first_tick <= ? AND last_tick >= ?", around
            )
            known = [(cast("int", row[0]), cast("int", row[1])) for row in near]
            con.executemany(
                "INSERT INTO stream_cold VALUES(?, ?, ?)",
                [(session, first, last) for first, last in union([*known, *new])],
            )

    def ranges(self, session: int, ticks: tuple[int, int] | None = None) -> Ranges:
        """Return the ticks of a session that left, or of those the ranges that share a tick with `ticks`."""
        return self.by_session(session, ticks).get(session, ())

    def by_session(
        self, session: int | None = None, ticks: tuple[int, int] | None = None
    ) -> dict[int, Ranges]:
        """Return the ticks that left, by the session's number: of one or of all."""
        first, last = ticks or (None, None)
        rows = self._db.query(
            "SELECT session_no, first_tick, last_tick FROM stream_cold"
            " WHERE (:session IS NULL OR session_no = :session)"
            " AND (:first IS NULL OR (first_tick <= :last AND last_tick >= :first)) ORDER BY session_no, first_tick",
            {"session": session, "first": first, "last": last},
        )
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, start, end in rows:
            found[cast("int", number)].append((cast("int", start), cast("int", end)))
        return {number: tuple(ranges) for number, ranges in found.items()}


def range_columns(ranges: dict[int, Ranges]) -> dict[str, NDArray[np.int64]]:
    """Return ranges by session as the columns `session`, `first_tick` and `last_tick`."""
    import numpy as np

    rows = [(session, first, last) for session, some in ranges.items() for first, last in some]
    columns = np.array(rows, np.int64).reshape(len(rows), 3)
    names = ("session", "first_tick", "last_tick")
    return {name: np.ascontiguousarray(columns[:, at]) for at, name in enumerate(names)}
