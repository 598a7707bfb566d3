"""The tables of what tags timesteps by itself, and of documents that were taken away."""

from __future__ import annotations

from typing import Final

AUTO_TAG_DDL: Final = """
-- How many timesteps of a log of the stream were looked at by the rule; a log without a row, none.
CREATE TABLE auto_tagged_logs (
  log TEXT PRIMARY KEY,
  rows INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
"""

REMOVED_DOCUMENT_DDL: Final = """
CREATE TABLE removed_documents (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  doc_type TEXT NOT NULL,
  path TEXT NOT NULL,
  removed_at INTEGER NOT NULL,
  body TEXT,                               -- JSON: all that it said, to bring it back; NULL once it is purged
  content_mac TEXT                         -- of a purged one: a keyed hash of what it said last
) STRICT;
CREATE INDEX removed_documents_by_path ON removed_documents(path);
"""
