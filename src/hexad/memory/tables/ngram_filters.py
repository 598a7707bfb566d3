"""Which n-grams the texts of a memory hold: derived, kept beside the memories, rebuilt by `reindex`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.database.change_counters import bump
from hexad.database.connection import Database

REBUILT: Final = "signatures"
"""Family of changes that counts rebuildings. What one memory's change brings along is counted with the memories."""


@dataclass(frozen=True, slots=True)
class TextSignatures:
    """The signatures of one memory's texts; empty bytes stand for those of `raw`, where a summary equals it."""

    path: bytes
    short: bytes
    long: bytes
    raw: bytes


class Signatures:
    """The signatures of one store. A memory without a row may hold anything: answers stay exact, only slower."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, rows: Iterable[tuple[int, TextSignatures]]) -> None:
        """Store the signatures of memories, in place of older ones."""
        with self._db.joined() as con:
            # INSERT OR REPLACE, which may take rows out, makes a journal for the statement: ten times the time.
            con.executemany(
                "INSERT INTO signatures(memory_no, path, short, long, raw) VALUES(?,?,?,?,?) ON CONFLICT(memory_no)"
                " DO UPDATE SET path = excluded.path, short = excluded.short, long = excluded.long, raw = excluded.raw",
                [
                    (no, signatures.path, signatures.short, signatures.long, signatures.raw)
                    for no, signatures in rows
                ],
            )

    def note_rebuilt(self) -> None:
        """Count that all signatures were written anew, so that nobody goes on with older ones."""
        with self._db.joined() as con:
            bump(con, REBUILT)

    def drop(self, no: int) -> None:
        """Remove the signatures of memory `no`."""
        with self._db.joined() as con:
            con.execute("DELETE FROM signatures WHERE memory_no = ?", (no,))

    def get(self, no: int) -> TextSignatures | None:
        """Return the signatures of memory `no`, None where there are none."""
        row = self._db.query_one("SELECT path, short, long, raw FROM signatures WHERE memory_no = ?", (no,))
        return None if row is None else TextSignatures(*row)

    def texts(self, after: int, *, limit: int) -> Sequence[tuple[int, str, str | None, str | None, str]]:
        """Return `(no, path, short, long, raw)` of the next memories by number; None: the summary equals `raw`."""
        rows = self._db.query(
            "SELECT no, path, summary_short, summary_long, raw FROM memories WHERE no > ? ORDER BY no LIMIT ?",
            (after, limit),
        )
        return rows
