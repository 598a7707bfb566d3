"""What a store's tables hold, for tests that look for what must not be there."""

from __future__ import annotations

from hexad import Hexad
from hexad.honeycomb.tables.schema import HONEYCOMB_DDL
from hexad.memory.tables.schema import VECTOR_CHUNKS_DDL

_TRIGGER = "CREATE TRIGGER honeycomb_"
BEFORE_SHORTER_ROWS = f"""
    CREATE TABLE edges (
      from_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id), ring INTEGER NOT NULL, seat INTEGER NOT NULL,
      to_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id), score REAL NOT NULL, relation TEXT,
      is_auto INTEGER NOT NULL, created_at INTEGER NOT NULL, renewed_at INTEGER, PRIMARY KEY (from_id, ring, seat)
    ) WITHOUT ROWID, STRICT;
    INSERT INTO edges SELECT from_id, ring, seat, to_id, score, relation, is_auto, created_at, renewed_at
      FROM honeycomb_edges;
    DROP TABLE honeycomb_edges;
    ALTER TABLE edges RENAME TO honeycomb_edges;
    CREATE UNIQUE INDEX honeycomb_edges_back ON honeycomb_edges(to_id, from_id);
    DROP TABLE minhash_marks;
    CREATE INDEX minhash_by_memory ON minhash_bands(memory_no);
    DROP VIEW vector_chunks;
    DROP TRIGGER honeycomb_memory_changed;
    UPDATE memories SET micro_text = summary_micro;
    UPDATE memories SET metadata = json_set(metadata, '$.hash', content_hash) WHERE metadata ->> '$.hash' = '';
    UPDATE memory_versions SET metadata = json_set(metadata, '$.hash', content_hash) WHERE metadata ->> '$.hash' = '';
    {_TRIGGER}{HONEYCOMB_DDL.split(_TRIGGER)[1]};
    ALTER TABLE memories DROP COLUMN summary_micro;
    ALTER TABLE memories DROP COLUMN micro_chars;
    ALTER TABLE memories RENAME COLUMN micro_text TO summary_micro;
    {VECTOR_CHUNKS_DDL};
"""
"""Makes the tables of the migration before 25 of those of today."""
BEFORE_SMALLER_TABLES = f"""{BEFORE_SHORTER_ROWS}
    CREATE TABLE edges (
      from_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id), ring INTEGER NOT NULL, seat INTEGER NOT NULL,
      to_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id), score REAL NOT NULL, relation TEXT NOT NULL,
      is_auto INTEGER NOT NULL, created_at INTEGER NOT NULL, renewed_at INTEGER NOT NULL,
      PRIMARY KEY (from_id, ring, seat)
    ) WITHOUT ROWID, STRICT;
    INSERT INTO edges SELECT from_id, ring, seat, to_id, score, coalesce(relation, 'similar'), is_auto, created_at,
      coalesce(renewed_at, created_at) FROM honeycomb_edges;
    DROP TABLE honeycomb_edges;
    ALTER TABLE edges RENAME TO honeycomb_edges;
    CREATE UNIQUE INDEX honeycomb_edges_by_pair ON honeycomb_edges(from_id, to_id);
    CREATE INDEX honeycomb_edges_back ON honeycomb_edges(to_id);
    UPDATE minhash_bands SET band = band << 32 | 3735928559;
    DROP INDEX memories_by_hash;
    CREATE INDEX memories_by_hash ON memories(content_hash);
    UPDATE source_items SET content_hash = content_hash || '0123456789abcdef0123456789abcdef';
"""
"""Makes the tables of the migration before 24 of those of today."""
BEFORE_CODE_GRAPH = (
    """
    DROP INDEX stream_retired_logs_back; DROP INDEX memories_by_change;
    DROP TABLE key_values;
    DROP TABLE checkpoint_writes; DROP TABLE checkpoint_pieces; DROP TABLE checkpoints; DROP TABLE threads;
    DROP TRIGGER code_space_gone;
    DROP TABLE code_missing; DROP TABLE code_calls_by_name; DROP TABLE code_edges; DROP TABLE code_files;
    DROP TABLE code_nodes; DROP TABLE code_roots;
"""
    + BEFORE_SMALLER_TABLES
)
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
