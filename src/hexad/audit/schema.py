"""The tables of the ledger: a file of its own, beside no other data."""

from __future__ import annotations

from typing import Final

from hexad.database.connection import Connection
from hexad.database.migrations import Migration

DDL: Final = """
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY,
  body BLOB NOT NULL,                      -- the canonical JSON that is hashed
  hash BLOB NOT NULL,
  at INTEGER NOT NULL,                     -- these repeat what the body says, to be asked by; a check compares
  kind TEXT NOT NULL,
  session TEXT,
  tick INTEGER,
  event_type TEXT,
  subject BLOB NOT NULL
) STRICT;
CREATE INDEX entries_by_session ON entries(session, tick);
CREATE INDEX entries_by_time ON entries(at);
CREATE INDEX entries_by_kind ON entries(kind);
CREATE INDEX entries_by_subject ON entries(subject);
CREATE TABLE contents (
  seq INTEGER PRIMARY KEY REFERENCES entries(seq),
  nonce BLOB NOT NULL,                     -- key and salt come from it and the subject's key
  ciphertext BLOB NOT NULL
) STRICT;
CREATE TABLE subjects (
  ref BLOB PRIMARY KEY,                    -- all that records say of whose data they are
  name BLOB NOT NULL,                      -- encrypted, as is the key
  lookup BLOB NOT NULL UNIQUE,             -- an HMAC of the name
  key BLOB NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE tiles (
  level INTEGER NOT NULL,
  place INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (level, place)
) WITHOUT ROWID, STRICT;
-- Up to which row of another store's outbox records were taken.
CREATE TABLE taken (
  source TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE state (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  size INTEGER NOT NULL,
  last BLOB NOT NULL,                      -- the last record's hash, or nothing
  frontier BLOB NOT NULL
) STRICT;
INSERT INTO state VALUES(1, 0, x'', x'');
"""


ARCHIVES: Final = """
-- Runs of records that are in an archive: what the tree and the chain need of them. A record of the kind `archive`
-- names each with a hash of all that; `edges` are the hashes of its subtrees below those that `tiles` has.
CREATE TABLE gaps (
  first INTEGER PRIMARY KEY,
  past INTEGER NOT NULL,
  last BLOB NOT NULL,                      -- the hash of its last record, which the next record follows
  edges BLOB NOT NULL,
  named_by INTEGER NOT NULL                -- the record that says which archive
) STRICT;
-- The contents of archived records: their nonces stay here, so that erasing reaches what is in archives. Erased: NULL.
CREATE TABLE archived (
  seq INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL REFERENCES archived_owners(id),
  tick INTEGER,
  nonce BLOB
) STRICT;
CREATE TABLE archived_owners (
  id INTEGER PRIMARY KEY,
  ref BLOB NOT NULL,                       -- the subject
  session TEXT,
  first INTEGER NOT NULL,                  -- between these records stand all of both that one archive has
  last INTEGER NOT NULL
) STRICT;
CREATE INDEX archived_owners_by_ref ON archived_owners(ref);
CREATE INDEX archived_owners_by_session ON archived_owners(session);
-- Nearly all records are timesteps, and nobody looks for them by that alone.
DROP INDEX entries_by_kind;
CREATE INDEX entries_by_kind ON entries(kind) WHERE kind <> 'timestep';
"""


def _create(con: Connection) -> None:
    con.execute(DDL)


def _add_archives(con: Connection) -> None:
    con.execute(ARCHIVES)


MIGRATIONS: Final = (
    Migration(number=1, name="ledger", apply=_create),
    Migration(number=2, name="archives of the ledger", apply=_add_archives),
)
