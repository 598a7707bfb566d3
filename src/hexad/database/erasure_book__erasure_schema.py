"""The tables of erasures: what went by count, what is still to do, and nothing of what it said."""

from __future__ import annotations

from typing import Final

ERASURE_DDL: Final = """
CREATE TABLE erasures (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  purge INTEGER NOT NULL,
  selection_mac TEXT NOT NULL,
  mac TEXT,                                -- of the receipt that was given out; NULL where none was
  selection TEXT,                          -- JSON while it is under way, to go on after a kill; NULL once it is done
  last_memory INTEGER NOT NULL,            -- memories with higher numbers came later and are not meant
  log_no INTEGER,                          -- its note in `maintenance_log`; NULL while it is under way
  ledger_seq INTEGER                       -- its record on the ledger; NULL while it is not there
) STRICT;
CREATE INDEX erasures_under_way ON erasures(no) WHERE selection IS NOT NULL;

CREATE TABLE erasure_counts (
  erasure_no INTEGER NOT NULL REFERENCES erasures(no),
  place TEXT NOT NULL,
  count INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (erasure_no, place)
) WITHOUT ROWID, STRICT;

-- Memories that rest on what went and stay.
CREATE TABLE erasure_flags (
  erasure_no INTEGER NOT NULL REFERENCES erasures(no),
  memory_id TEXT NOT NULL,
  PRIMARY KEY (erasure_no, memory_id)
) WITHOUT ROWID, STRICT;

-- What is left to do, with what is needed to do it; the row goes when it is done.
CREATE TABLE erasure_pending (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  erasure_no INTEGER NOT NULL REFERENCES erasures(no),
  place TEXT NOT NULL,
  reason TEXT NOT NULL,
  work TEXT NOT NULL                       -- JSON
) STRICT;
CREATE INDEX erasure_pending_by_erasure ON erasure_pending(erasure_no);

-- What an erasure looks for among all memories; most have neither.
CREATE INDEX memories_by_data_subject ON memories(data_subjects) WHERE data_subjects <> '[]';
CREATE INDEX memories_superseding ON memories(supersedes) WHERE supersedes IS NOT NULL;

-- A store that was never written without `secure_delete` has nothing to clean up before its first purge.
INSERT INTO meta(key, value) SELECT 'cleaned_free_pages', 'new' WHERE NOT EXISTS (SELECT 1 FROM memories)
  AND NOT EXISTS (SELECT 1 FROM tombstones) AND NOT EXISTS (SELECT 1 FROM sessions)
  AND NOT EXISTS (SELECT 1 FROM documents);
"""

NAMING_DDL: Final = """
-- Memories whose notes name another one, which an erasure may take; few do.
CREATE INDEX memories_judged_of ON memories(metadata ->> '$.quarantine.of')
  WHERE metadata ->> '$.quarantine.of' IS NOT NULL;
CREATE INDEX memories_beside ON memories(metadata ->> '$.beside') WHERE metadata ->> '$.beside' IS NOT NULL;
CREATE INDEX memory_versions_judged_of ON memory_versions(metadata ->> '$.quarantine.of')
  WHERE metadata ->> '$.quarantine.of' IS NOT NULL;
CREATE INDEX memory_versions_beside ON memory_versions(metadata ->> '$.beside')
  WHERE metadata ->> '$.beside' IS NOT NULL;
"""
