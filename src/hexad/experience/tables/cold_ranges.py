"""Which ticks left the stream: because a COLD record stands for them, or because an erasure names them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal

from hexad.core.tick_ranges import Ranges, difference, union
from hexad.database.change_counters import bump
from hexad.database.connection import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


DEPARTED: Final = "stream_departed"
"""Counts, among the change counters, how often ticks left the stream."""
_COLD: Final = "stream_cold"
_ERASED: Final = "stream_erased"
_ERASING: Final = "stream_erasing"
_Table = Literal["stream_cold", "stream_erased", "stream_erasing"]


class ColdRanges:
    """Ticks that were there and left: `stream_cold` and `stream_erased`, both disjoint ranges with both ends included.

    No tick is in both. What asks the stream leaves out all of them.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, session: int, ranges: Iterable[tuple[int, int]]) -> None:
        """Take ticks out of the stream, in the caller's transaction: COLD records stand for them."""
        self._add(_COLD, session, union(ranges))

    def erase(self, session: int, ranges: Iterable[tuple[int, int]]) -> None:
        """Take ticks out of the stream or from under their COLD records for good, in the caller's transaction.

        Which of them files still hold is looked for by whoever goes through `erasing`.
        """
        ranges_left = union(ranges)
        if not ranges_left:
            return
        hull = (ranges_left[0][0], ranges_left[-1][1])
        ranges_left = difference(ranges_left, self.erased(session, hull))
        cold = self.cold(session, hull)
        left = difference(cold, ranges_left)
        if left != cold:
            self._remove(_COLD, session, hull)
            self._add(_COLD, session, left)
        self._add(_ERASED, session, ranges_left)
        self._add(_ERASING, session, ranges_left)

    def _add(self, table: _Table, session: int, new: Ranges) -> None:
        """Add ranges, joined to those that they touch."""
        if not new:
            return
        self._count_change(table)
        hull = (new[0][0] - 1, new[-1][1] + 1)
        known = self._by_session(table, session, hull).get(session, ())
        self._remove(table, session, hull)
        with self._db.joined() as con:
            con.executemany(
                f"INSERT INTO {table} VALUES(?, ?, ?)",
                [(session, first, last) for first, last in union([*known, *new])],
            )

    def _count_change(self, table: _Table) -> None:
        if table != _ERASING:
            with self._db.joined() as con:
                bump(con, DEPARTED)

    def _remove(self, table: _Table, session: int, hull: tuple[int, int]) -> None:
        self._count_change(table)
        with self._db.joined() as con:
            con.execute(
                f"DELETE FROM {table} WHERE session_no = ? AND first_tick <= ? AND last_tick >= ?",
                (session, hull[1], hull[0]),
            )

    def erasing(self) -> dict[int, Ranges]:
        """Return the erased ticks that files may still hold, by the session's number."""
        return self._by_session(_ERASING)

    def erased_from_files(self, done: Mapping[int, Ranges]) -> None:
        """Note that no file holds these ticks any more, in the caller's transaction."""
        for session, ranges in done.items():
            if not ranges:
                continue
            hull = (ranges[0][0], ranges[-1][1])
            known = self._by_session(_ERASING, session, hull).get(session, ())
            self._remove(_ERASING, session, hull)
            self._add(_ERASING, session, difference(known, ranges))

    def ranges(self, session: int, ticks: tuple[int, int] | None = None) -> Ranges:
        """Return the ticks of a session that left, or of those the ranges that share a tick with `ticks`."""
        with self._db.read():
            both = [*self.cold(session, ticks), *self.erased(session, ticks)]
        return union(both) if both else ()

    def cold(self, session: int, ticks: tuple[int, int] | None = None) -> Ranges:
        """Return what `ranges` does, but only what COLD records stand for."""
        return self._by_session(_COLD, session, ticks).get(session, ())

    def erased(self, session: int, ticks: tuple[int, int] | None = None) -> Ranges:
        """Return what `ranges` does, but only what was erased."""
        return self._by_session(_ERASED, session, ticks).get(session, ())

    def in_files(
        self,
        logged: Callable[[], Collection[int]] = tuple,
        *,
        session: int | None = None,
        ticks: tuple[int, int] | None = None,
    ) -> dict[int, Ranges]:
        """Return the ticks that left and that files may still hold, by the session's number, of one session or all.

        A segment holds erased ticks as long as they stand in `stream_erasing`. A program that had an erased session
        open may write some to a log at any time after: `logged` returns the sessions that logs have. All that was ever
        erased, which only grows, is not looked at.
        """
        if session is not None:
            ranges = self.ranges(session, ticks)
            return {session: ranges} if ranges else {}
        with self._db.read():
            departed = self._by_session(_COLD, ticks=ticks)
            parts = [self._by_session(_ERASING, ticks=ticks)]
            if self._db.query_one("SELECT 1 FROM stream_erased LIMIT 1") is not None:
                parts += [self._by_session(_ERASED, number, ticks) for number in sorted(logged())]
        for part in parts:
            for number, some in part.items():
                departed[number] = union([*departed.get(number, ()), *some])
        return departed

    def _by_session(
        self, table: _Table, session: int | None = None, ticks: tuple[int, int] | None = None
    ) -> dict[int, Ranges]:
        first, last = ticks or (None, None)
        rows = self._db.query(
            f"SELECT session_no, first_tick, last_tick FROM {table}"
            f" WHERE {':session IS NULL' if session is None else 'session_no = :session'}"
            " AND (:first IS NULL OR (first_tick <= :last AND last_tick >= :first)) ORDER BY session_no, first_tick",
            {"session": session, "first": first, "last": last},
        )
        ranges: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, start, end in rows:
            ranges[number].append((start, end))
        return {number: tuple(ranges) for number, ranges in ranges.items()}


def range_columns(ranges: dict[int, Ranges]) -> dict[str, NDArray[np.int64]]:
    """Return ranges by session as the columns `session`, `first_tick` and `last_tick`."""
    import numpy as np

    rows = [(session, first, last) for session, some in ranges.items() for first, last in some]
    columns = np.array(rows, np.int64).reshape(len(rows), 3)
    names = ("session", "first_tick", "last_tick")
    return {name: np.ascontiguousarray(columns[:, at]) for at, name in enumerate(names)}


def erased_ticks(db: Database) -> int:
    """Return how many ticks were ever erased: while that is the same, nothing that was read of the stream is gone."""
    row = db.query_one("SELECT coalesce(sum(last_tick - first_tick + 1), 0) FROM stream_erased")
    return row[0] if row else 0


_LISTED: Final = 20


def check_cold(db: Database) -> Iterator[str]:
    """Yield in words where COLD records and the ticks that left the stream contradict each other."""
    with db.read():
        row = db.query_one(
            "SELECT (SELECT coalesce(sum(last_tick - first_tick + 1), 0) FROM stream_cold),"
            " (SELECT coalesce(sum(timesteps), 0) FROM compressed_records)"
        )
        assert row is not None
        left, text = row
        if left != text:
            yield (
                f"COLD records stand for {text:,} timesteps, and {left:,} left the stream: the database is damaged. "
                "Put a backup in its place."
            )
        overlapping = db.query(
            "SELECT s.id, count(*) FROM stream_erased e JOIN stream_cold c ON c.session_no = e.session_no"
            " AND c.first_tick <= e.last_tick AND c.last_tick >= e.first_tick JOIN sessions s ON s.no = e.session_no"
            f" GROUP BY s.no LIMIT {_LISTED}"
        )
        for session, count in overlapping:
            yield (
                f"Session {session!r} has {count} ranges of ticks that were erased and that COLD records stand for:"
                " the database is damaged. Put a backup in its place."
            )
        homeless = db.query(
            "SELECT id FROM compressed_records r WHERE CASE WHEN level <= 2 THEN session_no IS NULL ELSE NOT EXISTS"
            f" (SELECT 1 FROM compressed_record_sessions s WHERE s.record_no = r.no) END ORDER BY no LIMIT {_LISTED}"
        )
        for (record_id,) in homeless:
            yield f"The COLD record {record_id!r} is of no session: the database is damaged. Put a backup in its place."
