"""The tables of the six layers, each part's in a constant of its own; `add_layers` is the migration that runs them."""

from __future__ import annotations

from typing import Final

from hexad.database.connection import Connection
from hexad.lifecycle.schema__consolidation_schema import CONSOLIDATION_DDL

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

DECISION_DDL: Final = """
-- What was decided and why: rows are added, never changed or removed. An erasure empties the texts of a row, once.
CREATE TABLE decision_records (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,                 -- tells nothing of how many there are, nor of a name that a caller gave
  memory_no INTEGER,                       -- of the memory that says it; NULL when it was erased
  project_id TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  rationale TEXT NOT NULL,
  alternatives_json TEXT NOT NULL,
  links_json TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  supersedes INTEGER,                      -- number of the row that this one takes the place of
  erased_at INTEGER,
  receipt TEXT                             -- of the erasure
) STRICT;
CREATE INDEX decision_records_by_memory ON decision_records(memory_no) WHERE memory_no IS NOT NULL;
CREATE INDEX decision_records_by_project ON decision_records(project_id, created_at);
CREATE INDEX decision_records_superseding ON decision_records(supersedes) WHERE supersedes IS NOT NULL;
CREATE TRIGGER decision_records_stay BEFORE DELETE ON decision_records
BEGIN SELECT raise(ABORT, 'decision_records is append-only: a decision is superseded, or its texts are erased'); END;
CREATE TRIGGER decision_records_keep BEFORE UPDATE ON decision_records
WHEN NOT (OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL AND NEW.receipt IS NOT NULL
  AND NEW.no = OLD.no AND NEW.id = OLD.id AND NEW.created_at = OLD.created_at AND NEW.supersedes IS OLD.supersedes
  AND NEW.memory_no IS NULL
  AND NEW.project_id || NEW.title || NEW.description || NEW.rationale || NEW.created_by = ''
  AND NEW.alternatives_json = '[]' AND NEW.links_json = '[]')
BEGIN SELECT raise(ABORT, 'decision_records is append-only: a decision is superseded, or its texts are erased'); END;

-- Document 4, section 2.2.6, for people and tools that read the file.
CREATE VIEW decisions AS
  SELECT id, project_id, title, description, rationale, alternatives_json, links_json, created_by,
         strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1e6, 'unixepoch') AS created_at
  FROM decision_records;
"""

_KNOWN_DECISIONS: Final = """
INSERT INTO decision_records(id, memory_no, project_id, title, description, rationale, alternatives_json, links_json,
    created_by, created_at)
  SELECT 'dec_' || hex(randomblob(13)), no, coalesce(metadata ->> '$.project', ''),
         coalesce(metadata ->> '$.title', summary_micro, raw), raw, '',
         '[]', '[]', trust, created_at
  FROM memories WHERE kind = 'decision' ORDER BY no
"""

FACT_DDL: Final = """
-- Attributes that hold several values at once; all others hold one, and a later value takes the place of the older.
CREATE TABLE fact_attributes (
  look TEXT PRIMARY KEY,                   -- of the attribute: how it is spelled does not matter
  name TEXT NOT NULL,
  declared_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- Document 4, section 2.2.2, for people and tools that read the file.
CREATE VIEW project_facts AS
  SELECT no AS id, metadata ->> '$.project' AS project_id, replace(kind, '-', '_') AS category, attribute AS key,
         coalesce(value, json_quote(raw)) AS value_json, importance,
         strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1e6, 'unixepoch') AS created_at,
         strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1e6, 'unixepoch') AS updated_at
  FROM memories WHERE status = 'active' AND attribute IS NOT NULL
    AND kind IN ('decision', 'pattern', 'todo', 'tech-stack', 'convention');
CREATE INDEX idx_project_facts_proj_cat ON memories(metadata ->> '$.project', replace(kind, '-', '_'))
  WHERE status = 'active' AND attribute IS NOT NULL
    AND kind IN ('decision', 'pattern', 'todo', 'tech-stack', 'convention');
"""

FEEDBACK_DDL: Final = """
-- What was said of answers: one row for each item, question and actor.
CREATE TABLE feedback (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  mark TEXT NOT NULL UNIQUE,               -- keyed hash of actor, item and question: said twice is said once
  memory_no INTEGER,                       -- NULL for what is no memory: it counts for its layer alone
  content_hash TEXT,                       -- of what the memory said then: what was changed since is not meant
  layer TEXT NOT NULL,
  verdict TEXT NOT NULL,
  query TEXT NOT NULL,
  terms TEXT NOT NULL,                     -- the question's telling words, as JSON
  query_class TEXT,                        -- NULL without a question
  note TEXT NOT NULL,
  given_by TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  flagged INTEGER NOT NULL DEFAULT 0,      -- whether it marked the memory for a review
  confidence REAL                          -- of the memory before the first verdict that lowered it
) STRICT;
CREATE INDEX feedback_by_memory ON feedback(memory_no) WHERE memory_no IS NOT NULL;
CREATE INDEX feedback_by_class ON feedback(query_class) WHERE query_class IS NOT NULL;
"""


def add_layers(con: Connection) -> None:
    """Add the tables of all layers."""
    for script in (
        WORKING_SET_DDL,
        DECISION_DDL,
        FACT_DDL,
        FEEDBACK_DDL,
        CONSOLIDATION_DDL,
        _KNOWN_DECISIONS,
    ):
        con.execute(script)
