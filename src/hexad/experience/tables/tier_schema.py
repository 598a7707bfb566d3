"""The tables of what becomes of experience: windows, submissions, COLD records, compactions (document 2, section 11.1).

A timestep is in the stream, or its tick is in `stream_cold` and a COLD record stands for it; the transaction that
writes the record takes the tick out. Fidelity is a question of ranges, never a column written for each row.
"""

from __future__ import annotations

from typing import Final

TIER_DDL: Final = """
ALTER TABLE sessions ADD COLUMN auto_compact INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sessions ADD COLUMN compacted_through INTEGER NOT NULL DEFAULT 0;   -- the last tick that left the context
ALTER TABLE sessions ADD COLUMN context_summary TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN context_summary_tokens INTEGER NOT NULL DEFAULT 0;

-- Ticks that left the stream: disjoint ranges, both ends included, of such as were there.
CREATE TABLE stream_cold (
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  first_tick INTEGER NOT NULL,
  last_tick INTEGER NOT NULL,
  PRIMARY KEY (session_no, first_tick)
) WITHOUT ROWID, STRICT;

CREATE TABLE compressed_records (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  level INTEGER NOT NULL,
  start_at INTEGER NOT NULL,
  end_at INTEGER NOT NULL,
  session_no INTEGER REFERENCES sessions(no),   -- of a reply or a session
  first_tick INTEGER,                           -- of a reply, as are the next four
  last_tick INTEGER,
  event_id TEXT,
  kind INTEGER,                                 -- the event type's code
  role TEXT,
  summary TEXT NOT NULL,
  top_k_activations TEXT NOT NULL,              -- JSON: concept to summed score
  significant_tags TEXT NOT NULL,               -- JSON: tags' ids
  sources TEXT NOT NULL,                        -- JSON: of a reply ranges of ticks, else ids of records
  token_count INTEGER NOT NULL,
  record_count INTEGER NOT NULL,
  timesteps INTEGER NOT NULL,
  bytes INTEGER NOT NULL                        -- what the row takes, about
) STRICT;
-- With all that is counted of a level, so that counting reads no record.
CREATE INDEX compressed_by_level_time ON compressed_records(level, start_at, bytes, timesteps, token_count);
CREATE INDEX compressed_by_session ON compressed_records(session_no, level, first_tick);
CREATE INDEX compressed_by_event ON compressed_records(session_no, event_id) WHERE event_id IS NOT NULL;

-- The highest scores of a record's concepts.
CREATE TABLE compressed_concepts (
  record_no INTEGER NOT NULL REFERENCES compressed_records(no) ON DELETE CASCADE,
  concept_no INTEGER NOT NULL REFERENCES stream_concepts(no),
  peak REAL NOT NULL,
  PRIMARY KEY (record_no, concept_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX compressed_by_concept ON compressed_concepts(concept_no, peak);

-- The significant tags of records without ticks; those of a reply are found by its ticks.
CREATE TABLE compressed_tags (
  tag_id TEXT NOT NULL,
  record_no INTEGER NOT NULL REFERENCES compressed_records(no) ON DELETE CASCADE,
  PRIMARY KEY (tag_id, record_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX compressed_tags_by_record ON compressed_tags(record_no);

CREATE VIRTUAL TABLE compressed_fts USING fts5(
  summary, content='compressed_records', content_rowid='no', tokenize="porter unicode61 remove_diacritics 2"
);
INSERT INTO compressed_fts(compressed_fts, rank) VALUES('secure-delete', 1);
CREATE TRIGGER compressed_added AFTER INSERT ON compressed_records BEGIN
  INSERT INTO compressed_fts(rowid, summary) VALUES(new.no, new.summary);
END;
CREATE TRIGGER compressed_removed AFTER DELETE ON compressed_records BEGIN
  INSERT INTO compressed_fts(compressed_fts, rowid, summary) VALUES('delete', old.no, old.summary);
END;
CREATE TRIGGER compressed_changed AFTER UPDATE OF summary ON compressed_records BEGIN
  INSERT INTO compressed_fts(compressed_fts, rowid, summary) VALUES('delete', old.no, old.summary);
  INSERT INTO compressed_fts(rowid, summary) VALUES(new.no, new.summary);
END;

-- Which sessions a record of a day or more covers.
CREATE TABLE compressed_record_sessions (
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  record_no INTEGER NOT NULL REFERENCES compressed_records(no) ON DELETE CASCADE,
  PRIMARY KEY (session_no, record_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX compressed_sessions_by_record ON compressed_record_sessions(record_no);

CREATE TABLE compaction_records (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  at INTEGER NOT NULL,
  range_start INTEGER NOT NULL,
  range_end INTEGER NOT NULL,
  timesteps INTEGER NOT NULL,
  tokens_before INTEGER NOT NULL,
  tokens_after INTEGER NOT NULL,
  summary TEXT NOT NULL,
  concept_tags TEXT NOT NULL,                   -- JSON: concepts
  top_k_activations TEXT NOT NULL,              -- JSON: concept to summed score
  trigger TEXT NOT NULL,
  result_level INTEGER NOT NULL,
  generated_by TEXT NOT NULL,
  bytes INTEGER AS (140 + octet_length(id) + octet_length(summary) + octet_length(concept_tags)
    + octet_length(top_k_activations)) VIRTUAL  -- what the row takes, about
) STRICT;
CREATE INDEX compactions_by_session ON compaction_records(session_no, range_start, bytes);

CREATE TABLE time_windows (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  first_tick INTEGER NOT NULL,
  last_tick INTEGER NOT NULL,
  start_at INTEGER NOT NULL,
  end_at INTEGER NOT NULL,
  fidelity TEXT NOT NULL,
  compression_level INTEGER NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0,
  pinned_reason TEXT,
  token_count INTEGER NOT NULL,
  grace_until INTEGER,                          -- after a rejection: WARM until then
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX windows_by_fidelity ON time_windows(fidelity, compression_level);
CREATE INDEX windows_by_session ON time_windows(session_no, first_tick);

CREATE TABLE submissions (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  bud_tag_id TEXT NOT NULL,
  status TEXT NOT NULL,
  submitted_at INTEGER NOT NULL,
  resolved_at INTEGER
) STRICT;
CREATE TABLE window_submissions (
  window_no INTEGER NOT NULL REFERENCES time_windows(no),
  submission_no INTEGER NOT NULL REFERENCES submissions(no),
  PRIMARY KEY (window_no, submission_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX window_submissions_back ON window_submissions(submission_no);
"""
