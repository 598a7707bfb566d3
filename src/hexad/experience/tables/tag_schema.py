"""The tables of the folksonomy: tags, concepts, applications, comments (document 2, sections 3.2 to 3.4 and 11.1).

Ticks are ranges with both ends included; a timestep is a range of one. `span` is how many bits the length of a
range needs, so that "which ranges hold this tick" is one probe per span instead of a walk over all that begin
before it. An event whose ticks nobody told has none of the three; the stream knows them.
"""

from __future__ import annotations

from typing import Final

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
