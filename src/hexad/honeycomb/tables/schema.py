"""The tables of the honeycomb: nodes, edges in rings of six, and who looked at what.

A node is a memory, whose row number is its id, or a text of its own, whose id is taken from the same sequence: one
id never means two things. Rings are compact: a node's edges fill seats 0 to 5 of ring 0 (the main ring), then of
ring 1, 2, …, so that `main` and `overflow` say where the next edge belongs.
"""

from __future__ import annotations

from typing import Final

SEATS: Final = 6
EDGE_RELATION, EDGE_RENEWED = "coalesce(e.relation, 'similar')", "coalesce(e.renewed_at, e.created_at)"
"""Nearly all edges are of the commonest type and were never renewed: that takes no room."""
EDGE_COLUMNS: Final = (
    f"e.from_id, e.ring, e.seat, e.to_id, e.score, {EDGE_RELATION}, e.is_auto, e.created_at, {EDGE_RENEWED}"
)

HONEYCOMB_DDL: Final = """
CREATE TABLE honeycomb_nodes (
  id INTEGER PRIMARY KEY,
  is_memory INTEGER NOT NULL,
  active INTEGER NOT NULL,                 -- of a memory's node, besides the memory's own status
  linked INTEGER NOT NULL,                 -- whether links of a memory's node have been derived
  mark INTEGER NOT NULL DEFAULT 0,         -- of what they were derived from: another one changes those of others too
  reach REAL,                              -- product of vectors with the last of its nearest; NULL: it has not enough
  main INTEGER NOT NULL CHECK (main BETWEEN 0 AND 6),
  overflow INTEGER NOT NULL CHECK (overflow >= 0 AND (overflow = 0 OR main = 6)),
  created_at INTEGER NOT NULL,
  rev INTEGER NOT NULL                     -- the change of the family `honeycomb` that touched it last
) STRICT;
CREATE INDEX honeycomb_nodes_by_rev ON honeycomb_nodes(rev);
CREATE INDEX honeycomb_nodes_linked ON honeycomb_nodes(id) WHERE linked;

-- What nodes hold that are no memories.
CREATE TABLE honeycomb_contents (
  node_id INTEGER PRIMARY KEY REFERENCES honeycomb_nodes(id),
  data TEXT NOT NULL,
  dimensions INTEGER NOT NULL,             -- 0: no embedding
  format TEXT NOT NULL,                    -- float32, float16 or int8, little-endian
  scale REAL NOT NULL,                     -- an int8 of 1 stands for this much
  embedding BLOB NOT NULL
) STRICT;
CREATE INDEX honeycomb_contents_by_dimensions ON honeycomb_contents(dimensions, node_id);
CREATE TABLE honeycomb_counts (
  name TEXT PRIMARY KEY,
  n INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE honeycomb_edges (
  from_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id),
  ring INTEGER NOT NULL CHECK (ring >= 0), -- 0: main; from 1 on: overflow
  seat INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 5),
  to_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id),
  score REAL NOT NULL CHECK (score BETWEEN 0.0 AND 1.0),
  relation TEXT NOT NULL,
  is_auto INTEGER NOT NULL,                -- derived from memories; `reindex` derives it anew
  created_at INTEGER NOT NULL,
  renewed_at INTEGER NOT NULL,             -- when it was made, strengthened or inserted again last
  PRIMARY KEY (from_id, ring, seat),
  CHECK (from_id <> to_id)
) WITHOUT ROWID, STRICT;
CREATE UNIQUE INDEX honeycomb_edges_by_pair ON honeycomb_edges(from_id, to_id);
CREATE INDEX honeycomb_edges_back ON honeycomb_edges(to_id);

CREATE TABLE honeycomb_removals (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  node_id INTEGER NOT NULL
) STRICT;

-- Words that name what a memory is about: its path, tags and metadata; for links between those that share rare ones.
CREATE TABLE honeycomb_entities (
  space_no INTEGER NOT NULL,
  token TEXT NOT NULL,
  node_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id),
  PRIMARY KEY (space_no, token, node_id)
) WITHOUT ROWID, STRICT;
CREATE INDEX honeycomb_entities_by_node ON honeycomb_entities(node_id);

CREATE TABLE honeycomb_sessions (
  session TEXT PRIMARY KEY,
  started_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE honeycomb_accesses (
  session TEXT NOT NULL,                   -- '' for all sessions together
  node_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id),
  count INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  recent TEXT NOT NULL,                    -- JSON: the latest times, newest last, as many as the loop breaker asks for
  PRIMARY KEY (session, node_id)
) WITHOUT ROWID, STRICT;
CREATE INDEX honeycomb_accesses_by_node ON honeycomb_accesses(node_id);

-- What links are derived from: where it changes, they are looked at again, be it while they are derived.
CREATE TRIGGER honeycomb_memory_changed
AFTER UPDATE OF space_no, path, status, happened_at, source_no, source_id, tags, metadata ON memories
WHEN (old.space_no, old.path, old.status, old.happened_at, old.source_no, old.source_id, old.tags, old.metadata)
  IS NOT (new.space_no, new.path, new.status, new.happened_at, new.source_no, new.source_id, new.tags, new.metadata)
  AND (EXISTS (SELECT 1 FROM honeycomb_nodes WHERE id = new.no)
    OR EXISTS (SELECT 1 FROM tasks WHERE kind = 'link' AND memory_no = new.no))
BEGIN
  DELETE FROM tasks WHERE kind = 'link' AND memory_no = new.no;
  INSERT INTO tasks(kind, memory_no) VALUES('link', new.no);
END;
CREATE TRIGGER honeycomb_turn_put AFTER INSERT ON turns
WHEN EXISTS (SELECT 1 FROM honeycomb_nodes WHERE id = new.memory_no)
  OR EXISTS (SELECT 1 FROM tasks WHERE kind = 'link' AND memory_no = new.memory_no)
BEGIN
  DELETE FROM tasks WHERE kind = 'link' AND memory_no = new.memory_no;
  INSERT INTO tasks(kind, memory_no) VALUES('link', new.memory_no);
END;
-- A pair is derived with the later of the two.
CREATE TRIGGER honeycomb_relation_put AFTER INSERT ON relations
WHEN EXISTS (SELECT 1 FROM honeycomb_nodes WHERE id = max(new.from_no, new.to_no))
  OR EXISTS (SELECT 1 FROM tasks WHERE kind = 'link' AND memory_no = max(new.from_no, new.to_no))
BEGIN
  DELETE FROM tasks WHERE kind = 'link' AND memory_no = max(new.from_no, new.to_no);
  INSERT INTO tasks(kind, memory_no) VALUES('link', max(new.from_no, new.to_no));
END;
CREATE TRIGGER honeycomb_relation_dropped AFTER DELETE ON relations
WHEN EXISTS (SELECT 1 FROM honeycomb_nodes WHERE id = max(old.from_no, old.to_no))
  OR EXISTS (SELECT 1 FROM tasks WHERE kind = 'link' AND memory_no = max(old.from_no, old.to_no))
BEGIN
  DELETE FROM tasks WHERE kind = 'link' AND memory_no = max(old.from_no, old.to_no);
  INSERT INTO tasks(kind, memory_no) VALUES('link', max(old.from_no, old.to_no));
END;

-- Memories that had vectors before there was a honeycomb.
INSERT INTO tasks(kind, memory_no) SELECT DISTINCT 'link', memory_no FROM vectors;
"""

SMALLER_EDGES: Final = """
CREATE TABLE edges (
  from_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id),
  ring INTEGER NOT NULL CHECK (ring >= 0), -- 0: main; from 1 on: overflow
  seat INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 5),
  to_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id),
  score REAL NOT NULL CHECK (score BETWEEN 0.0 AND 1.0),
  relation TEXT,                           -- NULL: similar
  is_auto INTEGER NOT NULL,                -- derived from memories; `reindex` derives it anew
  created_at INTEGER NOT NULL,
  renewed_at INTEGER,                      -- when it was strengthened or inserted again last; NULL: never
  PRIMARY KEY (from_id, ring, seat),
  CHECK (from_id <> to_id)
) WITHOUT ROWID, STRICT;
INSERT INTO edges SELECT from_id, ring, seat, to_id, score, nullif(relation, 'similar'), is_auto, created_at,
  nullif(renewed_at, created_at) FROM honeycomb_edges ORDER BY from_id, ring, seat;
DROP TABLE honeycomb_edges;
ALTER TABLE edges RENAME TO honeycomb_edges;
CREATE UNIQUE INDEX honeycomb_edges_back ON honeycomb_edges(to_id, from_id);
"""
"""One index answers what leads to a node and whether there is an edge between two."""

NARROW_EDGES: Final = """
CREATE TABLE edges (
  from_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id),
  place INTEGER NOT NULL CHECK (place >= 0), -- 0 to 5: the main ring; from 6 on: overflow, six a ring
  to_id INTEGER NOT NULL REFERENCES honeycomb_nodes(id),
  score REAL NOT NULL CHECK (score BETWEEN 0.0 AND 1.0),
  created_at INTEGER NOT NULL,
  more TEXT,                               -- JSON: relation, is_auto, renewed_at; NULL where all are the usual ones
  ring INTEGER AS (place / 6),             -- 0: main; from 1 on: overflow
  seat INTEGER AS (place % 6),
  relation TEXT AS (more ->> 0),           -- NULL: similar
  is_auto INTEGER AS (coalesce(more ->> 1, 1)), -- derived from memories; `reindex` derives it anew
  renewed_at INTEGER AS (more ->> 2),      -- when it was strengthened or inserted again last; NULL: never
  PRIMARY KEY (from_id, place),
  CHECK (from_id <> to_id)
) WITHOUT ROWID, STRICT;
INSERT INTO edges(from_id, place, to_id, score, created_at, more) SELECT from_id, 6 * ring + seat, to_id, score,
  created_at, iif(relation IS NULL AND is_auto AND renewed_at IS NULL, NULL, json_array(relation, is_auto, renewed_at))
  FROM honeycomb_edges ORDER BY from_id, ring, seat;
DROP TABLE honeycomb_edges;
ALTER TABLE edges RENAME TO honeycomb_edges;
CREATE UNIQUE INDEX honeycomb_edges_back ON honeycomb_edges(to_id, from_id);
"""
"""Each column takes a byte of every row's head, whatever it holds."""


_REMEDY: Final = "Run `hexad reindex` for links of memories; else put a backup in its place."

HONEYCOMB_PROMISES: Final = (
    (
        "SELECT n.id FROM honeycomb_nodes n WHERE n.is_memory AND NOT EXISTS"
        " (SELECT 1 FROM memories m WHERE m.no = n.id)",
        f"Node {{0}} of the honeycomb is a memory that is not there. {_REMEDY}",
    ),
    (
        "SELECT n.id FROM honeycomb_nodes n LEFT JOIN honeycomb_contents c ON c.node_id = n.id"
        " WHERE n.is_memory <> (c.node_id IS NULL)",
        f"Node {{0}} of the honeycomb has a text though it is a memory, or none though it is not. {_REMEDY}",
    ),
    (
        "SELECT n.id, n.main, n.overflow, count(e.ring) FROM honeycomb_nodes n LEFT JOIN honeycomb_edges e"
        " ON e.from_id = n.id GROUP BY n.id HAVING n.main <> count(*) FILTER (WHERE e.ring = 0)"
        " OR n.overflow <> count(*) FILTER (WHERE e.ring > 0)",
        f"Node {{0}} of the honeycomb should have {{1}} and {{2}} edges, and has {{3}}. {_REMEDY}",
    ),
    (
        "SELECT e.from_id, e.ring, e.seat FROM honeycomb_edges e JOIN honeycomb_nodes n ON n.id = e.from_id"
        " WHERE iif(e.ring = 0, e.seat >= n.main, (e.ring - 1) * 6 + e.seat >= n.overflow)",
        f"An edge of node {{0}} sits in ring {{1}}, seat {{2}}, behind a gap. {_REMEDY}",
    ),
    (
        "SELECT o.from_id, o.to_id FROM honeycomb_edges o JOIN honeycomb_edges e ON e.from_id = o.from_id"
        " WHERE o.ring > 0 AND e.ring = 0 AND (e.score < o.score OR e.score = o.score AND e.to_id > o.to_id)"
        " GROUP BY o.from_id, o.to_id",
        f"The edge from node {{0}} to {{1}} is in overflow though it is stronger than one in the main ring. {_REMEDY}",
    ),
)
"""Degrees, scores and self-edges need no look: the schema refuses them."""
