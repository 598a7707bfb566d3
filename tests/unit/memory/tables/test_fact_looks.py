"""Facts that were stored before their keys were compared by their look."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from hexad.core.clock import FrozenClock, SystemClock
from hexad.database.connection import Database
from hexad.database.migrations import apply
from hexad.lifecycle.schema import migrations as store_migrations
from hexad.memory.store import Stores

BEFORE = 11


def test_facts_of_an_older_store_are_known_by_their_look_too(tmp_path: Path) -> None:
    with closing(Database.open(tmp_path / "memory.db", clock=SystemClock())) as db:
        apply(db, store_migrations()[:BEFORE], FrozenClock())
        values = {
            "subject": "?1",
            "attribute": "?2",
            "status": "'active'",
            "space_no": "1",
            "metadata": "'{}'",
        }
        for _, name, kind, required, _, primary in db.query("PRAGMA table_info(memories)"):
            if required and not primary:
                values.setdefault(str(name), "0" if kind in {"INTEGER", "REAL"} else "coalesce(?1, 'none')")
        with db.transaction() as con:
            con.execute(
                "INSERT INTO spaces(name, folded, created_at, updated_at) VALUES('default', 'default', 0, 0)"
            )
            con.executemany(
                f"INSERT INTO memories({','.join(values)}) VALUES({','.join(values.values())})",
                [("GRÖSSE", "Preis"), (None, None)],
            )

        apply(db, store_migrations(), FrozenClock())

        assert ["GRÖSSE"] == [row[0] for row in Stores(db).memories.facts_about(1, "grösse.preis")]
        assert [(None,)] == db.query("SELECT fact_look FROM memories WHERE subject IS NULL")
