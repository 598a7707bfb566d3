"""The tables of what was erased from experience, and of whose data sessions and documents are.

With them the rule of the stream is: a tick is in the stream, or it is in `stream_cold` and a COLD record stands for it,
or it is in `stream_erased`. The transaction that erases takes it out of the first two.
"""

from __future__ import annotations

from typing import Final

STREAM_ERASURE_DDL: Final = """
-- Ticks that were there and were erased for good: disjoint ranges, both ends included, none of them in `stream_cold`.
CREATE TABLE stream_erased (
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  first_tick INTEGER NOT NULL,
  last_tick INTEGER NOT NULL,
  PRIMARY KEY (session_no, first_tick)
) WITHOUT ROWID, STRICT;

-- Those of them that a log or a segment may still hold: no answer has them, and they go when no file does.
CREATE TABLE stream_erasing (
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  first_tick INTEGER NOT NULL,
  last_tick INTEGER NOT NULL,
  PRIMARY KEY (session_no, first_tick)
) WITHOUT ROWID, STRICT;

-- Sessions of which nothing is left but the number: it is not given again, nor are their ticks.
CREATE TABLE erased_sessions (
  session_no INTEGER PRIMARY KEY REFERENCES sessions(no),
  erasure TEXT NOT NULL
) STRICT;

-- The people whose data it is.
CREATE TABLE session_subjects (
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  subject TEXT NOT NULL,
  PRIMARY KEY (session_no, subject)
) WITHOUT ROWID, STRICT;
CREATE INDEX session_subjects_back ON session_subjects(subject);
CREATE TABLE document_subjects (
  document_id TEXT NOT NULL,               -- also of one that was removed and may be brought back
  subject TEXT NOT NULL,
  PRIMARY KEY (document_id, subject)
) WITHOUT ROWID, STRICT;
CREATE INDEX document_subjects_back ON document_subjects(subject);
"""
