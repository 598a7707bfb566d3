"""The tables of the ledger: a file of its own, beside no other data."""

from __future__ import annotations

from typing import Final

from hexad.storage.connection import Connection
from hexad.storage.migrations import Migration

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


def _create(con: Connection) -> None:
    con.execute(DDL)


MIGRATIONS: Final = (Migration(number=1, name="ledger", apply=_create),)
