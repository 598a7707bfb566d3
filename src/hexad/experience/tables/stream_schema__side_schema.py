"""The tables of what lies beside a segment: files that are derived from it, and segments that others replaced."""

from __future__ import annotations

from typing import Final

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
