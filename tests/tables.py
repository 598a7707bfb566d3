"""What a store's tables hold, for tests that look for what must not be there."""

from __future__ import annotations

from hexad import Hexad

BEFORE_CODE_GRAPH = """
    DROP INDEX stream_retired_logs_back; DROP INDEX memories_by_change;
    DROP TABLE key_values;
    DROP TABLE checkpoint_writes; DROP TABLE checkpoint_pieces; DROP TABLE checkpoints; DROP TABLE threads;
    DROP TRIGGER code_space_gone;
    DROP TABLE code_missing; DROP TABLE code_calls_by_name; DROP TABLE code_edges; DROP TABLE code_files;
    DROP TABLE code_nodes; DROP TABLE code_roots;
"""
"""Takes away what the migrations from 19 on make, for a store of before them; where no code was looked at."""


def everything_stored(hx: Hexad) -> str:
    """Return every value of every table, the shadow tables of full text among them, as one text."""
    db = hx._services.stores.db
    names = db.query(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
    )
    return "\n".join(
        f"{name}: {value!r}"
        for (name,) in names
        for row in db.query(f'SELECT * FROM "{name}"')
        for value in row
    )
