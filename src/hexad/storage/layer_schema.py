"""The tables of the six layers, each part's in a constant of its own; `add_layers` is the migration that runs them."""

from __future__ import annotations

from typing import Final

from hexad.storage.connection import Connection

WORKING_SET_DDL: Final = """
-- What a session is about right now: one row for each, its state as JSON.
CREATE TABLE working_sets (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  repository TEXT NOT NULL,
  worktree TEXT NOT NULL,
  branch TEXT,
  state TEXT NOT NULL,
  data_subjects TEXT NOT NULL DEFAULT '[]',
  started_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ended_at INTEGER,
  boundary TEXT,                           -- what ended it, or let it rest
  owner TEXT,                              -- identity of the open store that works on it
  rev INTEGER NOT NULL DEFAULT 1           -- counts snapshots: who writes sees whether somebody else did
) STRICT;
CREATE INDEX working_sets_by_place ON working_sets(repository, worktree, updated_at);

-- Document 4, section 2.2.1: the session that was changed last, for people and tools that read the file.
CREATE VIEW session_state AS
  SELECT 1 AS id, repository AS project_id, state ->> '$.task' AS active_task, state ->> '$.ticket' AS active_ticket,
         (SELECT json_group_array(value ->> '$.path') FROM json_each(state, '$.open_files')) AS files_open,
         state ->> '$.edits[#-1].path' AS last_edit_file, state ->> '$.edits[#-1].line' AS last_edit_line,
         state ->> '$.conversation_summary' AS conversation_summary,
         strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1e6, 'unixepoch') AS last_updated
  FROM working_sets ORDER BY ended_at IS NULL DESC, updated_at DESC, no DESC LIMIT 1;
"""


def add_layers(con: Connection) -> None:
    """Add the tables of all layers."""
    for script in (WORKING_SET_DDL,):
        con.execute(script)
