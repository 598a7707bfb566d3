"""The tables of consolidation."""

from __future__ import annotations

from typing import Final

CONSOLIDATION_DDL: Final = """
-- Of which tasks of which working sets what they left was promoted; as the working set stood at that snapshot.
CREATE TABLE consolidated_tasks (
  session TEXT NOT NULL,
  task TEXT NOT NULL,                      -- a keyed hash: what it was, the working set says
  rev INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (session, task)
) WITHOUT ROWID, STRICT;
-- Memories whose notes name what remains of them.
CREATE INDEX memories_consolidated ON memories(metadata ->> '$.consolidated.remains')
  WHERE metadata ->> '$.consolidated.remains' IS NOT NULL;
CREATE INDEX memory_versions_consolidated ON memory_versions(metadata ->> '$.consolidated.remains')
  WHERE metadata ->> '$.consolidated.remains' IS NOT NULL;
"""
