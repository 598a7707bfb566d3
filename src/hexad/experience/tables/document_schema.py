"""The tables of the document repository; full text follows by triggers, so that no writer can forget it."""

from __future__ import annotations

from typing import Final

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
