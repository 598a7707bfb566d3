"""The tables of the experience stream: sessions, the concepts' numbers, and the manifest of sealed segments.

The timesteps themselves are not here: they are in logs and segments below `stream/`.
"""

from __future__ import annotations

from typing import Final

DDL: Final = """
CREATE TABLE sessions (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  max_context_tokens INTEGER NOT NULL,
  next_tick INTEGER NOT NULL               -- the first that no process has reserved
) STRICT;

CREATE TABLE stream_concepts (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE stream_segments (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,               -- of the file below stream/segments/
  sealed_at INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL
) STRICT;

CREATE TABLE stream_segment_sessions (
  segment_no INTEGER NOT NULL REFERENCES stream_segments(no),
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  rows INTEGER NOT NULL,
  first_tick INTEGER NOT NULL,
  last_tick INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (segment_no, session_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX stream_segments_by_session ON stream_segment_sessions(session_no, first_tick);

-- Logs whose rows are in a segment. A name stays: a reader may have listed the file just before it went.
CREATE TABLE stream_retired_logs (
  name TEXT PRIMARY KEY,
  segment_no INTEGER REFERENCES stream_segments(no)   -- NULL: the log held nothing
) WITHOUT ROWID, STRICT;
"""


SIDE_DDL: Final = """
CREATE TABLE stream_sidecars (
  segment_no INTEGER NOT NULL REFERENCES stream_segments(no),
  kind TEXT NOT NULL,
  name TEXT NOT NULL UNIQUE,               -- of the file below stream/segments/
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (segment_no, kind)
) WITHOUT ROWID, STRICT;

-- Segments whose rows are in another one, or left for COLD records. A name stays until its file has gone.
CREATE TABLE stream_replaced_segments (
  name TEXT PRIMARY KEY
) WITHOUT ROWID, STRICT;
"""
