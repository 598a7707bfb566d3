"""The tables of the user layer: a file of its own, shared by all projects of one person."""

from __future__ import annotations

from typing import Final

from hexad.database.connection import Connection
from hexad.database.migrations import Migration

DDL: Final = """
-- Times are microseconds since 1970. `look` is how a value is compared: without case and repeated white space.
CREATE TABLE user_preferences (
  id INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  look TEXT NOT NULL,
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  source TEXT NOT NULL CHECK (source IN ('explicit', 'inferred')),
  evidence_count INTEGER NOT NULL DEFAULT 1,
  accepted INTEGER NOT NULL DEFAULT 0,
  rejected INTEGER NOT NULL DEFAULT 0,
  projects INTEGER NOT NULL DEFAULT 0,     -- how many published it when learning last looked
  support REAL,                            -- which part of them, where it was mined
  base REAL,                               -- the confidence that this support stands for
  drifted INTEGER NOT NULL DEFAULT 0,      -- for how many projects without it the confidence was lowered
  origin TEXT NOT NULL DEFAULT '',         -- 'file' where the user's own file says it, 'mined' where nobody did
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  UNIQUE (user_id, key, look)
) STRICT;
CREATE TABLE user_patterns (
  id INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL,
  pattern_type TEXT NOT NULL CHECK (pattern_type IN ('pattern', 'antipattern')),
  description TEXT NOT NULL,
  look TEXT NOT NULL,
  evidence_count INTEGER NOT NULL,
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  UNIQUE (user_id, pattern_type, look)
) STRICT;
CREATE TABLE user_expertise (
  id INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL,
  area TEXT NOT NULL,
  look TEXT NOT NULL,
  level TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('explicit', 'inferred')),
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  last_seen INTEGER NOT NULL,
  UNIQUE (user_id, look)
) STRICT;
CREATE TABLE user_rules (
  id INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL,
  text TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('explicit', 'inferred')),
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  evidence_count INTEGER NOT NULL,
  key TEXT,
  value TEXT,
  given_key TEXT,
  given_value TEXT,
  last_seen INTEGER NOT NULL,
  UNIQUE (user_id, text)
) STRICT;
CREATE TABLE user_exceptions (
  id INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  usual TEXT,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, project_id, key)
) STRICT;
CREATE TABLE user_suppressions (
  id INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL,
  value TEXT NOT NULL,
  look TEXT NOT NULL,
  key TEXT NOT NULL DEFAULT '',            -- empty: of any key
  project_id TEXT NOT NULL DEFAULT '',     -- empty: in every project
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, look, key, project_id)
) STRICT;
-- What projects that take part in learning have; leaving takes their rows away.
CREATE TABLE project_values (
  user_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  attribute TEXT NOT NULL,
  look TEXT NOT NULL,
  value TEXT NOT NULL,
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  PRIMARY KEY (user_id, project_id, attribute, look)
) WITHOUT ROWID, STRICT;
-- Where a project is in which repository, as a hash: worktrees of one are one project, each with a store of its own.
CREATE TABLE project_places (
  user_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  place TEXT NOT NULL,
  PRIMARY KEY (user_id, project_id)
) WITHOUT ROWID, STRICT;
-- What was said of preferences; a key that is there has been counted.
CREATE TABLE feedback (
  user_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  project_id TEXT,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  verdict TEXT NOT NULL,
  delta INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (user_id, idempotency_key)
) WITHOUT ROWID, STRICT;
CREATE TABLE user_state (
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (user_id, name)
) WITHOUT ROWID, STRICT;
"""

TABLES: Final = (
    "user_preferences",
    "user_patterns",
    "user_expertise",
    "user_rules",
    "user_exceptions",
    "user_suppressions",
    "project_values",
    "project_places",
    "feedback",
    "user_state",
)
"""Those that hold what is known of somebody: what a wipe empties and an export shows."""


_SAYING: Final = (
    "user_preferences", "user_patterns", "user_expertise", "user_rules", "user_exceptions", "user_suppressions",
    "project_values", "project_places",
)  # fmt: skip
"""Tables of which anything is said to a model: each change of one of them is counted, whoever makes it."""


def _create(con: Connection) -> None:
    con.execute(DDL)
    con.execute(
        "CREATE TABLE user_changes (n INTEGER NOT NULL) STRICT; INSERT INTO user_changes(n) VALUES(0)"
    )
    for table in _SAYING:
        for change in ("insert", "update", "delete"):
            con.execute(
                f"CREATE TRIGGER {table}_{change} AFTER {change.upper()} ON {table}"
                " BEGIN UPDATE user_changes SET n = n + 1; END"
            )


MIGRATIONS: Final = (Migration(number=1, name="user layer", apply=_create),)
