"""Turns in which a user said what holds for answers to come: marked when they are written."""

from __future__ import annotations

from typing import Final

from hexad.database.connection import Connection, Database
from hexad.memory.memory import ROLE, Memory
from hexad.text.standing import ASKING, standing_sentences

_DDL: Final = """
CREATE TABLE standing (
  memory_no INTEGER PRIMARY KEY REFERENCES memories(no)
) STRICT;
"""


def add_standing(con: Connection) -> None:
    """Add the table, and fill it with the turns that are there."""
    con.execute(_DDL)
    speakers = ",".join("?" * len(ASKING))
    turns = con.execute(
        "SELECT m.no, m.raw FROM speakers s JOIN turns t ON t.speaker_no = s.no JOIN memories m ON m.no = t.memory_no"
        f" WHERE s.folded IN ({speakers})",
        tuple(sorted(ASKING)),
    ).fetchall()
    for no, raw in turns:
        if any(standing_sentences(raw)):
            con.execute("INSERT INTO standing(memory_no) VALUES(?)", (no,))


class Standing:
    """The marks of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def mark(self, no: int, memory: Memory, *, new: bool = False) -> None:
        """Note whether a memory, as it is now, says what holds for answers to come; a `new` one has no mark yet."""
        turn = memory.turn
        named = set() if turn is None else {turn.speaker, str(memory.metadata.get(ROLE, ""))}
        spoken = not ASKING.isdisjoint(name.casefold() for name in named)
        holds = spoken and any(standing_sentences(memory.raw))
        if new and not holds:
            return
        with self._db.joined() as con:
            if holds:
                con.execute("INSERT OR IGNORE INTO standing(memory_no) VALUES(?)", (no,))
            else:
                con.execute("DELETE FROM standing WHERE memory_no = ?", (no,))
