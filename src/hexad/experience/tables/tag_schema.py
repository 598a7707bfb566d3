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
