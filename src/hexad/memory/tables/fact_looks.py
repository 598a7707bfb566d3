"""The column under which facts are held against each other: what their keys look like, not how they are spelled."""

from __future__ import annotations

from typing import Final

from hexad.database.connection import Connection
from hexad.text.similarity.lookalikes import look_of_fact

_DDL: Final = """
ALTER TABLE memories ADD COLUMN fact_look TEXT;   -- of subject and attribute; NULL: no fact
DROP INDEX memories_by_fact;
CREATE INDEX memories_by_fact ON memories(fact_look) WHERE fact_look IS NOT NULL;
"""


def add_fact_looks(con: Connection) -> None:
    """Add the column, and fill it for the facts that are there."""
    con.execute(_DDL)
    facts = con.execute(
        "SELECT no, subject, attribute FROM memories WHERE subject IS NOT NULL OR attribute IS NOT NULL"
    ).fetchall()
    for no, subject, attribute in facts:
        look = look_of_fact(subject, attribute)
        con.execute("UPDATE memories SET fact_look = ? WHERE no = ?", (look, no))
