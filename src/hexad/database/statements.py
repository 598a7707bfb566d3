"""Running SQL on one connection: the only place that hands a statement to the driver."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import apsw

from hexad.core.clock import Clock
from hexad.database.sqlite_errors import FOREIGN, translated_error
from hexad.errors import HexadError

SQLValue = str | int | float | bytes | None
Row = tuple[Any, ...]
"""What a column holds is known where the value of a row is built, and nowhere below."""
Tracer = Callable[[str, float], None]


class Rows:
    """The rows of one statement, read as they are asked for.

    A cursor is let go and never closed: what apsw 3.54.0 is told to close it keeps for good, an object of some 200
    bytes each, and so it does with a cursor that outlives a later one. The last reference to a cursor ends its
    statement as well; it goes with the last row.
    """

    __slots__ = ("_cursor", "_path")

    def __init__(self, cursor: apsw.Cursor, path: Path) -> None:
        self._cursor: apsw.Cursor | None = cursor
        self._path = path

    def __iter__(self) -> Iterator[Row]:
        try:
            # Through `chain`, which has no `close`: `yield from` would call the cursor's where somebody stops half-way.
            yield from chain(self._cursor or ())
            self._cursor = None
        except FOREIGN as error:
            raise self._translated(error) from error

    def fetchall(self) -> list[Row]:
        """Return the rows that are left."""
        try:
            rows: list[Row] = list(chain(self._cursor or ()))
            self._cursor = None
        except FOREIGN as error:
            raise self._translated(error) from error
        return rows

    def fetchone(self) -> Row | None:
        """Return the next row and end the statement; None when there is none."""
        try:
            row: Row | None = None if self._cursor is None else self._cursor.fetchone()
        except FOREIGN as error:
            raise self._translated(error) from error
        finally:
            self._cursor = None
        return row

    def _translated(self, error: apsw.Error | UnicodeError) -> HexadError:
        return translated_error(error, self._path, None if self._cursor is None else self._cursor.connection)


@dataclass(slots=True)
class SeenState:
    """What one connection saw of the store last: its `stamp`, in which `view`, the change counters then, and what was
    read since and holds until something is committed; `purges` is what it saw of their counter, None before.
    """

    stamp: tuple[int, int] | None = None
    view: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    kept: dict[Hashable, object] = field(default_factory=dict)
    purges: int | None = None


@dataclass(slots=True)
class Tracing:
    """Who wants to know about every statement of a database, and the clock that times them."""

    clock: Clock
    tracer: Tracer | None = None


class Connection:
    """One thread's way to run SQL; handed out by `Database.read` and `Database.transaction`.

    `counts` are the change counters that the open transaction moved, `unwritten` those that are not in the table,
    `purged` tells whether it removed something for good;
    `view` is another number for each block of reading, and `seen` what was read of the counters last.
    """

    __slots__ = (
        "_sqlite",
        "_tracing",
        "_writable",
        "counts",
        "counts_frames",
        "depth",
        "path",
        "purged",
        "seen",
        "trials",
        "unwritten",
        "view",
        "wal_frames",
        "writing",
    )

    def __init__(self, sqlite: apsw.Connection, path: Path, tracing: Tracing) -> None:
        self._sqlite = sqlite
        self._tracing = tracing
        self.path = path
        self.depth = 0
        self.view = 0
        self.writing = False
        self.trials = 0
        self.wal_frames = 0
        self.counts_frames = False
        self._writable = False
        self.seen = SeenState()
        self.purged = False
        self.counts: dict[str, int] = {}
        self.unwritten: set[str] = set()

    def __enter__(self) -> Connection:
        """Begin a block that is a part of the transaction that is open."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End such a block; what it raised goes to whoever opened the transaction."""

    def execute(self, sql: str, params: Sequence[SQLValue] | dict[str, SQLValue] = ()) -> Rows:
        """Run one statement; iterate over the result for its rows, as tuples."""
        tracer = self._tracing.tracer
        start = self._tracing.clock.monotonic() if tracer else 0.0
        try:
            cursor = self._sqlite.execute(sql, params)
        except FOREIGN as error:
            raise translated_error(error, self.path, self._sqlite) from error
        if tracer:
            tracer(sql, self._tracing.clock.monotonic() - start)
        return Rows(cursor, self.path)

    def executemany(self, sql: str, rows: Iterable[Sequence[SQLValue]]) -> None:
        """Run one statement once per row."""
        tracer = self._tracing.tracer
        start = self._tracing.clock.monotonic() if tracer else 0.0
        try:
            for _ in self._sqlite.executemany(sql, rows):
                pass
        except FOREIGN as error:
            raise translated_error(error, self.path, self._sqlite) from error
        if tracer:
            tracer(sql, self._tracing.clock.monotonic() - start)

    def begin_counts(self) -> None:
        """Forget what an earlier transaction, or a part of this one that is undone, counted."""
        self.counts.clear()
        self.unwritten.clear()

    def write_counts(self) -> None:
        """Write to the table what the open transaction counted: before it is read, kept, or may be undone in part."""
        for family in sorted(self.unwritten):
            self.execute("UPDATE changes SET n = ? WHERE family = ?", (self.counts[family], family))
        self.unwritten.clear()

    def allow_writes(self) -> None:
        """End `query_only` for good; what would be committed while `writing` is not set is refused from now on."""
        if not self._writable:
            self.execute("PRAGMA query_only = OFF")
            self._sqlite.set_commit_hook(self._refuses_commit)
            self._writable = True

    def _refuses_commit(self) -> bool:
        return not self.writing

    def note_frames(self, _sqlite: apsw.Connection, _name: str, frames: int) -> int:
        """SQLite's WAL hook: remember how many frames the WAL has after a commit of this connection."""
        self.wal_frames, self.counts_frames = frames, True
        return apsw.SQLITE_OK

    @property
    def last_insert_rowid(self) -> int:
        """The rowid of this connection's latest INSERT."""
        return self._sqlite.last_insert_rowid()

    @property
    def changes(self) -> int:
        """How many rows the latest INSERT, UPDATE or DELETE changed."""
        return self._sqlite.changes()

    @property
    def total_changes(self) -> int:
        """How many rows this connection has changed since it was opened."""
        return self._sqlite.total_changes()

    def stamp(self) -> tuple[int, int]:
        """Return numbers that change whenever something is committed; those of another connection say nothing here."""
        row = self.execute("PRAGMA data_version").fetchone()
        # It is deaf to this connection's own changes, which `total_changes` counts.
        return (int(row[0]) if row and isinstance(row[0], int) else 0, self.total_changes)

    @property
    def in_transaction(self) -> bool:
        """Whether SQLite has a transaction open; False after it rolled one back by itself."""
        return self._sqlite.in_transaction

    @property
    def sqlite(self) -> apsw.Connection:
        """The driver's connection, for the modules of `storage` that need more than SQL."""
        return self._sqlite
