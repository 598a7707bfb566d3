"""The tables of memories, spaces, sources, facts and decisions, and what their rows promise about each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hexad.database.connection import Connection

DECISION_DDL: Final = """
-- What was decided and why: rows are added, never changed or removed. An erasure empties the texts of a row, once.
CREATE TABLE decision_records (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,                 -- tells nothing of how many there are, nor of a name that a caller gave
  memory_no INTEGER,                       -- of the memory that says it; NULL when it was erased
  project_id TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  rationale TEXT NOT NULL,
  alternatives_json TEXT NOT NULL,
  links_json TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  supersedes INTEGER,                      -- number of the row that this one takes the place of
  erased_at INTEGER,
  receipt TEXT                             -- of the erasure
) STRICT;
CREATE INDEX decision_records_by_memory ON decision_records(memory_no) WHERE memory_no IS NOT NULL;
CREATE INDEX decision_records_by_project ON decision_records(project_id, created_at);
CREATE INDEX decision_records_superseding ON decision_records(supersedes) WHERE supersedes IS NOT NULL;
CREATE TRIGGER decision_records_stay BEFORE DELETE ON decision_records
BEGIN SELECT raise(ABORT, 'decision_records is append-only: a decision is superseded, or its texts are erased'); END;
CREATE TRIGGER decision_records_keep BEFORE UPDATE ON decision_records
WHEN NOT (OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL AND NEW.receipt IS NOT NULL
  AND NEW.no = OLD.no AND NEW.id = OLD.id AND NEW.created_at = OLD.created_at AND NEW.supersedes IS OLD.supersedes
  AND NEW.memory_no IS NULL
  AND NEW.project_id || NEW.title || NEW.description || NEW.rationale || NEW.created_by = ''
  AND NEW.alternatives_json = '[]' AND NEW.links_json = '[]')
BEGIN SELECT raise(ABORT, 'decision_records is append-only: a decision is superseded, or its texts are erased'); END;

-- Document 4, section 2.2.6, for people and tools that read the file.
CREATE VIEW decisions AS
  SELECT id, project_id, title, description, rationale, alternatives_json, links_json, created_by,
         strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1e6, 'unixepoch') AS created_at
  FROM decision_records;
"""


KNOWN_DECISIONS: Final = """
INSERT INTO decision_records(id, memory_no, project_id, title, description, rationale, alternatives_json, links_json,
    created_by, created_at)
  SELECT 'dec_' || hex(randomblob(13)), no, coalesce(metadata ->> '$.project', ''),
         coalesce(metadata ->> '$.title', summary_micro, raw), raw, '',
         '[]', '[]', trust, created_at
  FROM memories WHERE kind = 'decision' ORDER BY no
"""


FACT_DDL: Final = """
-- Attributes that hold several values at once; all others hold one, and a later value takes the place of the older.
CREATE TABLE fact_attributes (
  look TEXT PRIMARY KEY,                   -- of the attribute: how it is spelled does not matter
  name TEXT NOT NULL,
  declared_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- Document 4, section 2.2.2, for people and tools that read the file.
CREATE VIEW project_facts AS
  SELECT no AS id, metadata ->> '$.project' AS project_id, replace(kind, '-', '_') AS category, attribute AS key,
         coalesce(value, json_quote(raw)) AS value_json, importance,
         strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1e6, 'unixepoch') AS created_at,
         strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1e6, 'unixepoch') AS updated_at
  FROM memories WHERE status = 'active' AND attribute IS NOT NULL
    AND kind IN ('decision', 'pattern', 'todo', 'tech-stack', 'convention');
CREATE INDEX idx_project_facts_proj_cat ON memories(metadata ->> '$.project', replace(kind, '-', '_'))
  WHERE status = 'active' AND attribute IS NOT NULL
    AND kind IN ('decision', 'pattern', 'todo', 'tech-stack', 'convention');
"""


FOUNDATION_DDL: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;

CREATE TABLE spaces (
  no INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  folded TEXT NOT NULL UNIQUE,
  metadata TEXT NOT NULL DEFAULT '{}',
  policies TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sources (
  no INTEGER PRIMARY KEY,
  uri TEXT NOT NULL,
  kind TEXT NOT NULL,
  space_no INTEGER NOT NULL REFERENCES spaces(no),
  last_run_at INTEGER,
  UNIQUE (uri, space_no)                   -- one folder may be ingested into several spaces
) STRICT;

CREATE TABLE memories (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_no INTEGER NOT NULL REFERENCES spaces(no),
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  relevance TEXT NOT NULL,
  importance REAL NOT NULL,
  confidence REAL NOT NULL,
  trust TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  words INTEGER NOT NULL,                  -- of the text, and whether it ends as a question: recall weighs both
  asks INTEGER NOT NULL,
  happened_at INTEGER NOT NULL,            -- valid_from, else created_at: what since, until and recency ask
  valid_from INTEGER,
  valid_to INTEGER,
  supersedes TEXT,
  subject TEXT,
  attribute TEXT,
  value TEXT,
  source_no INTEGER REFERENCES sources(no),
  source_id TEXT,
  tags TEXT NOT NULL,
  citations TEXT NOT NULL,
  data_subjects TEXT NOT NULL,
  metadata TEXT NOT NULL,
  summary_micro TEXT,                      -- NULL where it equals `raw`
  summary_short TEXT,
  summary_long TEXT,
  raw TEXT NOT NULL
) STRICT;
CREATE INDEX memories_by_path ON memories(space_no, path);
CREATE INDEX memories_by_hash ON memories(content_hash);
CREATE INDEX memories_by_filter ON memories(space_no, status, kind, happened_at);
CREATE UNIQUE INDEX memories_by_source ON memories(source_no, source_id) WHERE source_no IS NOT NULL;

CREATE TABLE memory_tags (
  tag TEXT NOT NULL,
  memory_no INTEGER NOT NULL REFERENCES memories(no),
  PRIMARY KEY (tag, memory_no)
) WITHOUT ROWID, STRICT;

CREATE TABLE memory_versions (
  memory_no INTEGER NOT NULL REFERENCES memories(no),
  version INTEGER NOT NULL,
  replaced_at INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  metadata TEXT NOT NULL,
  raw TEXT NOT NULL,
  PRIMARY KEY (memory_no, version)
) WITHOUT ROWID, STRICT;

CREATE TABLE evidence (
  no INTEGER PRIMARY KEY,
  memory_no INTEGER NOT NULL REFERENCES memories(no),
  seen_at INTEGER NOT NULL,
  trust TEXT NOT NULL,
  note TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX evidence_by_memory ON evidence(memory_no);

CREATE TABLE usage (
  memory_no INTEGER PRIMARY KEY REFERENCES memories(no),
  last_used_at INTEGER NOT NULL,
  uses INTEGER NOT NULL
) STRICT;

CREATE TABLE handouts (
  hash INTEGER NOT NULL,                   -- of a passage that a recall handed out
  memory_no INTEGER NOT NULL REFERENCES memories(no),
  handed_at INTEGER NOT NULL,
  PRIMARY KEY (hash, memory_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX handouts_by_memory ON handouts(memory_no);

CREATE TABLE relations (
  from_no INTEGER NOT NULL REFERENCES memories(no),
  to_no INTEGER NOT NULL REFERENCES memories(no),
  kind TEXT NOT NULL,
  score REAL NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (from_no, kind, to_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX relations_back ON relations(to_no, kind);

CREATE TABLE speakers (
  no INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  folded TEXT NOT NULL
) STRICT;
CREATE TABLE conversation_sessions (
  no INTEGER PRIMARY KEY,
  space_no INTEGER NOT NULL REFERENCES spaces(no),
  conversation TEXT NOT NULL,
  session TEXT NOT NULL,
  UNIQUE (space_no, conversation, session)
) STRICT;
CREATE TABLE turns (
  memory_no INTEGER PRIMARY KEY REFERENCES memories(no),
  session_no INTEGER NOT NULL REFERENCES conversation_sessions(no),
  position INTEGER NOT NULL,
  speaker_no INTEGER NOT NULL REFERENCES speakers(no)
) STRICT;
CREATE INDEX turns_by_session ON turns(session_no, position);

CREATE TABLE chunks (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_no INTEGER NOT NULL REFERENCES memories(no),
  seq INTEGER NOT NULL,
  start INTEGER NOT NULL,                  -- characters into memories.raw
  end INTEGER NOT NULL,
  first_line INTEGER NOT NULL,             -- from 1, in the source
  last_line INTEGER NOT NULL,
  heading TEXT NOT NULL,
  context TEXT NOT NULL,                   -- words under which the span is also found: path, title, who, when
  identifiers TEXT NOT NULL,               -- the words inside its identifiers
  UNIQUE (memory_no, seq)
) STRICT;
CREATE VIEW chunk_texts AS
  SELECT c.no AS no, substr(m.raw, c.start + 1, c.end - c.start) AS body, c.context AS context,
         c.identifiers AS identifiers
  FROM chunks c JOIN memories m ON m.no = c.memory_no WHERE m.status = 'active';

CREATE TABLE vectors (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_no INTEGER NOT NULL REFERENCES memories(no),
  chunk_no INTEGER REFERENCES chunks(no),  -- NULL: the beginning of the whole memory
  vector BLOB NOT NULL                     -- little-endian float16, of length 1 at most
) STRICT;
CREATE INDEX vectors_by_memory ON vectors(memory_no);
CREATE INDEX vectors_by_chunk ON vectors(chunk_no) WHERE chunk_no IS NOT NULL;
CREATE TABLE vector_removals (no INTEGER PRIMARY KEY AUTOINCREMENT, vector_no INTEGER NOT NULL) STRICT;

CREATE TABLE minhash_bands (
  band INTEGER NOT NULL,
  memory_no INTEGER NOT NULL REFERENCES memories(no),
  PRIMARY KEY (band, memory_no)
) WITHOUT ROWID, STRICT;
CREATE INDEX minhash_by_memory ON minhash_bands(memory_no);

CREATE TABLE source_items (
  source_no INTEGER NOT NULL REFERENCES sources(no),
  source_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL DEFAULT '',
  content_hash TEXT NOT NULL,              -- of what the source holds, before redaction: keyed: it tells nothing
  memory_no INTEGER REFERENCES memories(no),
  run INTEGER NOT NULL,
  PRIMARY KEY (source_no, source_id)
) WITHOUT ROWID, STRICT;

CREATE TABLE tasks (
  kind TEXT NOT NULL,
  memory_no INTEGER NOT NULL REFERENCES memories(no),
  owner TEXT,                              -- process identity of who works on it
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  PRIMARY KEY (kind, memory_no)
) WITHOUT ROWID, STRICT;

CREATE TABLE ingest_queue (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL,
  options TEXT NOT NULL,
  enqueued_at INTEGER NOT NULL,
  owner TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT
) STRICT;
CREATE UNIQUE INDEX ingest_queue_pending ON ingest_queue(source, options) WHERE owner IS NULL AND error IS NULL;

CREATE TABLE maintenance_log (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  what TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
"""


CHANGED_DDL: Final = "CREATE INDEX memories_by_change ON memories(updated_at, status)"
"""Lists begin with what was changed last. With the status first, other questions would take it for a narrow index."""
SMALLER_MARKS: Final = """
CREATE TABLE bands (
  band INTEGER NOT NULL,                   -- the upper half of the text's mark: what shares one is compared anyway
  memory_no INTEGER NOT NULL REFERENCES memories(no),
  PRIMARY KEY (band, memory_no)
) WITHOUT ROWID, STRICT;
INSERT OR IGNORE INTO bands SELECT band >> 32, memory_no FROM minhash_bands ORDER BY band, memory_no;
DROP TABLE minhash_bands;
ALTER TABLE bands RENAME TO minhash_bands;
CREATE INDEX minhash_by_memory ON minhash_bands(memory_no);
DROP INDEX memories_by_hash;
CREATE INDEX memories_by_hash ON memories(substr(content_hash, 8, 12));
UPDATE source_items SET content_hash = substr(content_hash, 1, 32);
"""
VECTOR_CHUNKS_DDL: Final = """
-- Document 4, section 2.2.4: where a vector comes from, for people and tools that read the file. `project_id` is the
-- project's name, as facts and decisions have it.
DROP VIEW IF EXISTS vector_chunks;
CREATE VIEW vector_chunks AS
  SELECT v.no AS id, m.metadata ->> '$.project' AS project_id, v.no AS external_id,
         coalesce(m.source_id, m.path) AS file_path,
         coalesce(c.first_line, (SELECT min(first_line) FROM chunks a WHERE a.memory_no = m.no)) AS start_line,
         coalesce(c.last_line, (SELECT max(last_line) FROM chunks a WHERE a.memory_no = m.no)) AS end_line,
         m.kind AS kind,
         coalesce(nullif(c.heading, ''), m.summary_micro, m.raw) AS summary,
         m.updated_at AS last_indexed
  FROM vectors v JOIN memories m ON m.no = v.memory_no LEFT JOIN chunks c ON c.no = v.chunk_no;
"""


STRUCTURED_DDL: Final = """
-- Who may see a memory, by role; a memory without an audience is seen by all.
CREATE TABLE audiences (
  no INTEGER PRIMARY KEY,
  roles TEXT NOT NULL UNIQUE               -- JSON: sorted list of names; an empty one admits the owner alone
) STRICT;
ALTER TABLE memories ADD COLUMN audience_no INTEGER REFERENCES audiences(no);

-- The change of the family `memories` that wrote the row last: cached views read what is newer than they are.
ALTER TABLE memories ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN archived_at INTEGER;
CREATE INDEX memories_by_rev ON memories(space_no, rev);

-- What is left of a purged memory: that it was, when and why it went, and a keyed hash of what it said.
CREATE TABLE tombstones (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_no INTEGER NOT NULL,
  id TEXT NOT NULL,
  space TEXT NOT NULL,
  space_no INTEGER NOT NULL,
  rev INTEGER NOT NULL,
  content_mac TEXT NOT NULL,
  purged_at INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX tombstones_by_rev ON tombstones(space_no, rev);
CREATE INDEX tombstones_by_id ON tombstones(id);
-- Whoever changes or purges a memory looks here by its number; so does SQLite, for every reference to one.
CREATE INDEX memory_tags_by_memory ON memory_tags(memory_no);
CREATE INDEX source_items_by_memory ON source_items(memory_no) WHERE memory_no IS NOT NULL;
CREATE INDEX tasks_by_memory ON tasks(memory_no);

-- A memory as a space file gave it, so that an unchanged one is written back as it was.
CREATE TABLE memory_origins (
  memory_no INTEGER PRIMARY KEY REFERENCES memories(no),
  fingerprint TEXT NOT NULL,               -- of the memory when it was read
  object TEXT NOT NULL
) STRICT;
ALTER TABLE spaces ADD COLUMN origin TEXT; -- the file's own keys and times, objects left out

-- Derived: which n-grams a memory's texts hold, to rule it out for a topic without reading it.
CREATE TABLE signatures (
  memory_no INTEGER PRIMARY KEY REFERENCES memories(no),
  path BLOB NOT NULL,
  short BLOB NOT NULL,
  long BLOB NOT NULL,
  raw BLOB NOT NULL
) STRICT;

-- What calls to models cost: reserved before, settled after. What a crash leaves reserved counts as spent.
CREATE TABLE spending (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  space TEXT,                              -- NULL: no single space asked
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  operation TEXT NOT NULL,
  settled INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  usd REAL                                 -- NULL: no price is known
) STRICT;
CREATE INDEX spending_open ON spending(at) WHERE settled = 0;

-- The settled calls added up, so that holding a call to a cap costs the same after a million of them.
CREATE TABLE spending_days (
  space TEXT NOT NULL,                     -- '' where no single space asked
  provider TEXT NOT NULL,
  day INTEGER NOT NULL,                    -- since 1970, in UTC
  calls INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  usd REAL NOT NULL,
  unpriced INTEGER NOT NULL,               -- calls without a known price
  PRIMARY KEY (space, provider, day)
) WITHOUT ROWID, STRICT;
"""

MEMORY_PROMISES: Final = (
    (
        "SELECT id FROM memories m WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.memory_no = m.no)",
        "Memory {0!r} has no chunks, so recall cannot find it. "
        "Put a backup in its place, or remember it again under another id.",
    ),
    (
        "SELECT m.id, c.seq FROM chunks c JOIN memories m ON m.no = c.memory_no"
        " WHERE c.start < 0 OR c.end < c.start OR c.end > length(m.raw)",
        "Chunk {0!r}#{1} lies outside its text. Put a backup in its place, or remember it again under another id.",
    ),
    (
        "SELECT m.id, t.tag FROM memory_tags t JOIN memories m ON m.no = t.memory_no"
        " WHERE NOT EXISTS (SELECT 1 FROM json_each(iif(json_valid(m.tags), m.tags, '[]')) j WHERE j.value = t.tag)",
        "Tag {1!r} is indexed for memory {0!r}, which does not carry it. `hexad reindex` mends it.",
    ),
    (
        "SELECT m.id, j.value FROM memories m, json_each(iif(json_valid(m.tags), m.tags, '[]')) j WHERE NOT EXISTS"
        " (SELECT 1 FROM memory_tags t WHERE t.memory_no = m.no AND t.tag = j.value)",
        "Tag {1!r} of memory {0!r} is not indexed. `hexad reindex` mends it.",
    ),
    (
        "SELECT no, substr(roles, 1, 80) FROM audiences WHERE iif(json_valid(roles), json_type(roles), '') <> 'array'",
        "The audience {0} is {1!r} instead of a list of roles. Set the policies of the spaces anew.",
    ),
    (
        "SELECT t.id, t.purged_at FROM tombstones t JOIN memories m ON m.no = t.memory_no",
        "Memory {0!r} is there though it was purged. Purge it again, or put a backup in its place.",
    ),
    (
        "SELECT b.memory_no, count(*) FROM minhash_bands b LEFT JOIN minhash_marks k ON k.memory_no = b.memory_no"
        " WHERE k.memory_no IS NULL GROUP BY 1",
        "{1} marks of near-duplicates are of memory number {0}, which has none. Put a backup in its place.",
    ),
    (
        "SELECT m.id, count(*) FROM memories m JOIN turns t ON t.memory_no = m.no"
        " LEFT JOIN conversation_sessions s ON s.no = t.session_no WHERE s.no IS NULL GROUP BY m.no",
        "Memory {0!r} is a turn of a conversation that is not there. Ingest the conversation again.",
    ),
)


_MARKS_DDL: Final = """
CREATE TABLE bands (
  band INTEGER NOT NULL,                   -- the upper half of the text's mark: what shares one is compared anyway
  memory_no INTEGER NOT NULL,
  PRIMARY KEY (band, memory_no)
) WITHOUT ROWID, STRICT;
-- By memory, to remove those of one: a row takes a third of an index of all marks.
CREATE TABLE minhash_marks (
  memory_no INTEGER PRIMARY KEY REFERENCES memories(no),
  a INTEGER, b INTEGER, c INTEGER, d INTEGER, e INTEGER, f INTEGER, g INTEGER, h INTEGER, i INTEGER, j INTEGER,
  k INTEGER
) STRICT;
CREATE TABLE numbered AS SELECT memory_no, band, row_number() OVER (PARTITION BY memory_no ORDER BY band) AS n
  FROM minhash_bands;
DROP TABLE minhash_bands;
INSERT INTO bands SELECT band, memory_no FROM numbered WHERE n <= 11 ORDER BY band, memory_no;
INSERT INTO minhash_marks SELECT memory_no, max(band) FILTER (WHERE n = 1), max(band) FILTER (WHERE n = 2),
  max(band) FILTER (WHERE n = 3), max(band) FILTER (WHERE n = 4), max(band) FILTER (WHERE n = 5),
  max(band) FILTER (WHERE n = 6), max(band) FILTER (WHERE n = 7), max(band) FILTER (WHERE n = 8),
  max(band) FILTER (WHERE n = 9), max(band) FILTER (WHERE n = 10), max(band) FILTER (WHERE n = 11)
  FROM numbered GROUP BY memory_no ORDER BY memory_no;
DROP TABLE numbered;
ALTER TABLE bands RENAME TO minhash_bands;
CREATE TRIGGER minhash_marks_gone AFTER DELETE ON minhash_marks BEGIN
  DELETE FROM minhash_bands WHERE memory_no = old.memory_no AND band IN
    (old.a, old.b, old.c, old.d, old.e, old.f, old.g, old.h, old.i, old.j, old.k);
END;
"""
_SUMMARY_DDL: Final = """
DROP VIEW vector_chunks;
ALTER TABLE memories RENAME COLUMN summary_micro TO micro_text;
ALTER TABLE memories ADD COLUMN micro_chars INTEGER;
ALTER TABLE memories ADD COLUMN summary_micro TEXT AS (coalesce(micro_text, substr(raw, 1, micro_chars)));
"""
_SHORTER: Final = """
UPDATE memories SET micro_chars = length(micro_text), micro_text = NULL WHERE octet_length(raw) <= 1000
  AND substr(raw, 1, length(micro_text)) = micro_text AND micro_text <> '' AND instr(micro_text, char(0)) = 0;
UPDATE memories SET metadata = json_set(metadata, '$.hash', '')
  WHERE iif(json_valid(metadata), metadata ->> '$.hash', '') = content_hash;
UPDATE memory_versions SET metadata = json_set(metadata, '$.hash', '')
  WHERE iif(json_valid(metadata), metadata ->> '$.hash', '') = content_hash;
"""


def shorten_rows(con: Connection) -> None:
    """Say in fewer bytes what the rows of memories and of their marks say."""
    con.execute(_MARKS_DDL)
    con.execute(_SUMMARY_DDL)
    # Triggers would take this for changes of what the memories say.
    triggers = con.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'memories'"
    ).fetchall()
    for name, _ in triggers:
        con.execute(f'DROP TRIGGER "{name}"')
    con.execute(_SHORTER)
    for _, sql in triggers:
        con.execute(sql)
    con.execute(VECTOR_CHUNKS_DDL)
