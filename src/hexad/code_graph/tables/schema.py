"""The tables of the code graph: roots, files, nodes, edges, and the names that lead to nothing yet."""

from __future__ import annotations

from typing import Final

CODE_GRAPH_DDL: Final = """
-- A folder whose code was looked at, for one space.
CREATE TABLE code_roots (
  no INTEGER PRIMARY KEY,
  space_no INTEGER NOT NULL REFERENCES spaces(no),
  uri TEXT NOT NULL,                       -- an absolute path
  unfinished INTEGER NOT NULL DEFAULT 0,   -- a run wrote files and did not come to its end: all edges are made anew
  indexed_at INTEGER,
  UNIQUE (space_no, uri)
) STRICT;

CREATE TABLE code_nodes (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  root_no INTEGER NOT NULL REFERENCES code_roots(no),
  file_no INTEGER REFERENCES code_nodes(no), -- the file that it is, or stands in; NULL of a slice and of a library
  node_type TEXT NOT NULL CHECK (node_type IN ('file', 'symbol', 'slice', 'library')),
  kind TEXT NOT NULL,                      -- of a symbol: function, method, class, constant, …; of a file its language
  name TEXT NOT NULL,                      -- of a file without its folders, of a symbol without what it stands in
  qualified TEXT NOT NULL,                 -- of a file its path below the root, of a symbol with what it stands in
  line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  signature TEXT NOT NULL,                 -- without what parameters are by default
  is_test INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX code_nodes_by_file ON code_nodes(file_no, node_type, qualified);
CREATE UNIQUE INDEX code_nodes_files ON code_nodes(root_no, qualified) WHERE node_type = 'file';
CREATE UNIQUE INDEX code_nodes_others ON code_nodes(root_no, node_type, qualified)
  WHERE node_type IN ('slice', 'library');
CREATE INDEX code_nodes_by_name ON code_nodes(name);
CREATE INDEX code_nodes_by_folded_name ON code_nodes(name COLLATE NOCASE);

CREATE TABLE code_files (
  file_no INTEGER PRIMARY KEY REFERENCES code_nodes(no),
  memory_no INTEGER,                       -- of the memory that has its text, where there is one
  memory_mark TEXT NOT NULL,               -- the content hash of the memory from which it was read; empty for none
  mark TEXT NOT NULL,                      -- a keyed hash of its text, by which a change and a new name are known
  fingerprint TEXT NOT NULL,               -- size and time, as a source's items have it; empty where none was seen
  bytes INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  problem TEXT NOT NULL,                   -- why not all of it could be read
  facts TEXT NOT NULL,                     -- JSON: what it says by itself, from which edges are made
  indexed_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX code_files_by_memory ON code_files(memory_no) WHERE memory_no IS NOT NULL;

CREATE TABLE code_edges (
  from_no INTEGER NOT NULL REFERENCES code_nodes(no),
  to_no INTEGER NOT NULL REFERENCES code_nodes(no),
  edge_type TEXT NOT NULL,                 -- imports, calls, references, belongs_to, tests
  weight REAL NOT NULL,                    -- how often
  line INTEGER NOT NULL,                   -- where first; 0 where nowhere
  confidence REAL NOT NULL,
  file_no INTEGER NOT NULL,                -- the file that says so
  PRIMARY KEY (from_no, to_no, edge_type)
) WITHOUT ROWID, STRICT;
CREATE INDEX code_edges_back ON code_edges(to_no, edge_type);
CREATE INDEX code_edges_by_file ON code_edges(file_no);

-- Calls of which only the last name is known: who asks is shown them where few things have that name.
CREATE TABLE code_calls_by_name (
  name TEXT NOT NULL,
  from_no INTEGER NOT NULL REFERENCES code_nodes(no),
  weight REAL NOT NULL,
  line INTEGER NOT NULL,
  file_no INTEGER NOT NULL,
  PRIMARY KEY (name, from_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX code_calls_by_file ON code_calls_by_name(file_no);
CREATE INDEX code_calls_by_caller ON code_calls_by_name(from_no);

-- Names that would lead somewhere, were they defined: when they are, the file is looked at again.
CREATE TABLE code_missing (
  name TEXT NOT NULL,
  file_no INTEGER NOT NULL,
  PRIMARY KEY (name, file_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX code_missing_by_file ON code_missing(file_no);

-- Whatever takes a file away takes away what stands in it.
CREATE TRIGGER code_file_gone AFTER DELETE ON code_files
BEGIN
  DELETE FROM code_edges WHERE from_no IN (SELECT no FROM code_nodes WHERE file_no = OLD.file_no)
    OR to_no IN (SELECT no FROM code_nodes WHERE file_no = OLD.file_no) OR file_no = OLD.file_no;
  DELETE FROM code_calls_by_name WHERE file_no = OLD.file_no;
  DELETE FROM code_missing WHERE file_no = OLD.file_no;
  DELETE FROM code_nodes WHERE file_no = OLD.file_no AND no <> OLD.file_no;
  DELETE FROM code_nodes WHERE no = OLD.file_no;
END;
CREATE TRIGGER code_root_gone AFTER DELETE ON code_roots
BEGIN
  DELETE FROM code_files WHERE file_no IN
    (SELECT no FROM code_nodes WHERE root_no = OLD.no AND node_type = 'file');
  DELETE FROM code_edges WHERE to_no IN (SELECT no FROM code_nodes WHERE root_no = OLD.no);
  DELETE FROM code_nodes WHERE root_no = OLD.no;
END;
CREATE TRIGGER code_space_gone AFTER DELETE ON spaces
BEGIN
  DELETE FROM code_roots WHERE space_no = OLD.no;
END;
"""

CODE_GRAPH_PROMISES: Final = (
    (
        "SELECT n.no FROM code_nodes n LEFT JOIN code_files f ON f.file_no = n.file_no"
        " WHERE n.node_type IN ('file', 'symbol') AND f.file_no IS NULL",
        "Node {0} of the code graph stands in a file that is not there. Run `hexad graph index`.",
    ),
    (
        "SELECT e.from_no, e.to_no FROM code_edges e LEFT JOIN code_nodes a ON a.no = e.from_no"
        " LEFT JOIN code_nodes b ON b.no = e.to_no WHERE a.no IS NULL OR b.no IS NULL",
        "An edge of the code graph leads from node {0} to {1}, and one of them is not there. Run `hexad graph index`.",
    ),
    (
        "SELECT f.file_no, f.memory_no FROM code_files f WHERE f.memory_no IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.no = f.memory_no)",
        "File {0} of the code graph is memory {1}, which is not there. Run `hexad graph index`.",
    ),
)
