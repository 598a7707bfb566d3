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


DOCUMENT_DDL: Final = """
CREATE TABLE documents (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  doc_type TEXT NOT NULL,
  name TEXT NOT NULL,
  path TEXT NOT NULL UNIQUE,
  folded TEXT NOT NULL UNIQUE,             -- the path without its case: a working copy must be one file everywhere
  version TEXT NOT NULL,
  revision INTEGER NOT NULL,
  content TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  source TEXT NOT NULL,
  summary TEXT,
  tags TEXT NOT NULL                       -- JSON: sorted list of slugs
) STRICT;
CREATE INDEX documents_by_type ON documents(doc_type, path);
CREATE TABLE document_tags (
  tag TEXT NOT NULL,
  document_no INTEGER NOT NULL REFERENCES documents(no),
  PRIMARY KEY (tag, document_no)
) WITHOUT ROWID, STRICT;
CREATE TABLE document_versions (
  document_no INTEGER NOT NULL REFERENCES documents(no),
  revision INTEGER NOT NULL,
  version TEXT NOT NULL,
  content TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  replaced_at INTEGER NOT NULL,
  PRIMARY KEY (document_no, revision)
) WITHOUT ROWID, STRICT;

CREATE VIRTUAL TABLE document_fts USING fts5(
  name, path, summary, tags, content,
  content='documents', content_rowid='no', tokenize="porter unicode61 remove_diacritics 2"
);
INSERT INTO document_fts(document_fts, rank) VALUES('secure-delete', 1);
CREATE TRIGGER documents_added AFTER INSERT ON documents BEGIN
  INSERT INTO document_fts(rowid, name, path, summary, tags, content)
    VALUES(new.no, new.name, new.path, new.summary, new.tags, new.content);
END;
CREATE TRIGGER documents_removed AFTER DELETE ON documents BEGIN
  INSERT INTO document_fts(document_fts, rowid, name, path, summary, tags, content)
    VALUES('delete', old.no, old.name, old.path, old.summary, old.tags, old.content);
END;
CREATE TRIGGER documents_changed AFTER UPDATE ON documents BEGIN
  INSERT INTO document_fts(document_fts, rowid, name, path, summary, tags, content)
    VALUES('delete', old.no, old.name, old.path, old.summary, old.tags, old.content);
  INSERT INTO document_fts(rowid, name, path, summary, tags, content)
    VALUES(new.no, new.name, new.path, new.summary, new.tags, new.content);
END;
"""


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


TAG_DDL: Final = """
CREATE TABLE tags (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,                    -- the name without its case
  tag_type TEXT NOT NULL,
  concept_id TEXT UNIQUE,
  entity_type TEXT,
  bud_status TEXT,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  description TEXT
) STRICT;
CREATE INDEX tags_by_name ON tags(folded);
CREATE INDEX tags_by_type ON tags(tag_type, bud_status, folded);
-- Concepts of two packs may share a term; two tags that people made may not.
CREATE UNIQUE INDEX tags_own_names ON tags(tag_type, folded) WHERE concept_id IS NULL;

CREATE TABLE concept_packs (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  version TEXT,
  fingerprint TEXT NOT NULL,               -- of what was loaded: the same again is nothing to do
  loaded_at INTEGER NOT NULL
) STRICT;
-- What a pack says of a concept besides what every tag has. A tag without a row here left its pack.
CREATE TABLE concepts (
  tag_no INTEGER PRIMARY KEY REFERENCES tags(no),
  pack_no INTEGER NOT NULL REFERENCES concept_packs(no),
  layer INTEGER,
  domain TEXT,
  lens INTEGER NOT NULL,                   -- whether there is a lens that sees the concept
  details TEXT NOT NULL                    -- JSON: what else the pack says
) STRICT;
CREATE INDEX concepts_by_pack ON concepts(pack_no);
CREATE TABLE concept_relations (
  from_no INTEGER NOT NULL REFERENCES concepts(tag_no),
  relation TEXT NOT NULL,                  -- `parent`, or how the pack calls it
  target TEXT NOT NULL,                    -- as the pack names it
  to_no INTEGER REFERENCES concepts(tag_no),  -- NULL: no pack that is loaded has it
  PRIMARY KEY (from_no, relation, target)
) WITHOUT ROWID, STRICT;
CREATE INDEX concept_relations_back ON concept_relations(to_no, relation, from_no);
CREATE INDEX concept_relations_open ON concept_relations(target) WHERE to_no IS NULL;
CREATE TABLE concept_aliases (
  folded TEXT NOT NULL,
  tag_no INTEGER NOT NULL REFERENCES concepts(tag_no),
  alias TEXT NOT NULL,
  PRIMARY KEY (folded, tag_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX concept_aliases_by_concept ON concept_aliases(tag_no);

CREATE TABLE bud_concepts (
  bud_no INTEGER NOT NULL REFERENCES tags(no),
  concept_id TEXT NOT NULL,                -- may be of a pack that is not loaded
  PRIMARY KEY (bud_no, concept_id)
) WITHOUT ROWID, STRICT;

CREATE TABLE tag_applications (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tag_no INTEGER NOT NULL REFERENCES tags(no),
  session_id TEXT NOT NULL,
  target_type TEXT NOT NULL,
  event_id TEXT,
  range_start INTEGER,
  range_end INTEGER,
  span INTEGER,
  confidence REAL NOT NULL,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  note TEXT
) STRICT;
CREATE INDEX tag_applications_by_tag ON tag_applications(tag_no, session_id, range_start, range_end, event_id);
CREATE INDEX tag_applications_by_tick ON tag_applications(session_id, span, range_start, range_end, tag_no)
  WHERE span IS NOT NULL;
CREATE INDEX tag_applications_by_event ON tag_applications(session_id, event_id, tag_no) WHERE event_id IS NOT NULL;

CREATE TABLE comments (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL,
  target_type TEXT NOT NULL,
  event_id TEXT,
  range_start INTEGER,
  range_end INTEGER,
  span INTEGER,
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER
) STRICT;
CREATE INDEX comments_by_tick ON comments(session_id, span, range_start, range_end) WHERE span IS NOT NULL;
CREATE INDEX comments_by_event ON comments(session_id, event_id) WHERE event_id IS NOT NULL;
-- What a comment said before it was edited.
CREATE TABLE comment_versions (
  comment_no INTEGER NOT NULL REFERENCES comments(no),
  replaced_at INTEGER NOT NULL,
  version INTEGER NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (comment_no, version)
) WITHOUT ROWID, STRICT;
"""


_SPAN_IS_WRONG: Final = (
    "(range_start IS NULL) <> (range_end IS NULL) OR (range_start IS NULL) <> (span IS NULL)"
    " OR (range_start IS NULL AND target_type <> 'event') OR (event_id IS NULL) <> (target_type <> 'event')"
    " OR range_start < 0 OR range_end < range_start OR (target_type = 'timestep' AND range_end <> range_start)"
    " OR (range_end - range_start) >> span <> 0 OR (span > 0 AND (range_end - range_start) >> (span - 1) = 0)"
)

TAG_PROMISES: Final = (
    (
        f"SELECT id, session_id FROM tag_applications WHERE {_SPAN_IS_WRONG}",
        "The tag application {0!r} in session {1!r} is on ticks that cannot be. Remove it, and tag again.",
    ),
    (
        f"SELECT id, session_id FROM comments WHERE {_SPAN_IS_WRONG}",
        "The comment {0!r} in session {1!r} is on ticks that cannot be. Put a backup in its place.",
    ),
    (
        "SELECT id, confidence FROM tag_applications WHERE NOT confidence BETWEEN 0 AND 1",
        "The tag application {0!r} has the confidence {1}, not one from 0 to 1. Remove it, and tag again.",
    ),
    (
        "SELECT id, tag_type FROM tags WHERE (tag_type = 'bud') <> (bud_status IS NOT NULL)",
        "Tag {0!r} of type {1!r} is half a bud. `update_bud_status` mends it.",
    ),
    (
        "SELECT id, concept_id FROM tags WHERE id <> concept_id OR (tag_type = 'concept' AND concept_id IS NULL)",
        "The concept {1!r} has the id {0!r}; the two must be one. Put a backup in its place.",
    ),
    (
        "SELECT p.id, t.id FROM concepts c JOIN concept_packs p ON p.no = c.pack_no JOIN tags t ON t.no = c.tag_no"
        " WHERE t.concept_id IS NULL",
        "The pack {0!r} has the tag {1!r}, which is no concept. Load the pack again.",
    ),
)


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


RETIRED_LOGS_DDL: Final = """
-- Of the logs that there ever were, those of a segment that goes.
CREATE INDEX stream_retired_logs_back ON stream_retired_logs(segment_no) WHERE segment_no IS NOT NULL;
"""
