"""The documents of a store: what they say now, what they said before, and which of them hold some words."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from hexad.core.ids import content_hash
from hexad.database.change_counters import bump, count_purge
from hexad.database.codec import dump, from_micros, load_strings, optional_time, to_micros
from hexad.database.connection import Database, Row, SQLValue
from hexad.errors import Conflict, IntegrityError, NotFound
from hexad.experience.values.documents import (
    FOLDERS,
    Document,
    DocumentType,
    DocumentVersion,
    RemovedDocument,
)
from hexad.experience.values.tags import folded_name

_COLUMNS = ", ".join(
    f"d.{column}"
    for column in (
        "id", "doc_type", "name", "path", "version", "content", "content_hash", "created_at", "updated_at", "source",
        "summary", "tags", "revision",
    )
)  # fmt: skip
_COLUMNS += (
    ", (SELECT json_group_array(subject ORDER BY subject) FROM document_subjects WHERE document_id = d.id)"
)
_WORD: Final = re.compile(r"\w+")
_WEIGHTS: Final = "8.0, 4.0, 4.0, 4.0, 1.0"  # of name, path, summary, tags and content
_LISTED: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilter:
    """Which documents to find; None lets everything pass."""

    doc_type: DocumentType | None = None
    tags: Sequence[str] | None = None
    match: Literal["all", "any"] = "all"


class Documents:
    """The documents of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # Reading -----------------------------------------------------------------------------------------------------

    def get(self, document_id: str) -> Document | None:
        """Return the document with this id, None when there is none."""
        row = self._db.query_one(f"SELECT {_COLUMNS} FROM documents d WHERE d.id = ?", (document_id,))
        return None if row is None else _document(row)

    def require(self, document_id: str) -> Document:
        """Return the document with this id; raises `NotFound`."""
        document = self.get(document_id)
        if document is None:
            raise NotFound(
                f"Document {document_id!r} is not there;", remedy="`{list_documents}` names what there is."
            )
        return document

    def by_path(self, path: str) -> Document | None:
        """Return the document at this logical path, None when there is none."""
        row = self._db.query_one(f"SELECT {_COLUMNS} FROM documents d WHERE d.path = ?", (path,))
        return None if row is None else _document(row)

    def find(self, wanted: DocumentFilter, *, limit: int = -1, offset: int = 0) -> list[Document]:
        """Return the documents that pass, by path."""
        where, params = _conditions(wanted)
        rows = self._db.query(
            f"SELECT {_COLUMNS} FROM documents d WHERE {where} ORDER BY d.path LIMIT ? OFFSET ?",
            (*params, limit, offset),
        )
        return [_document(row) for row in rows]

    def search(
        self, text: str, wanted: DocumentFilter, *, limit: int = -1, offset: int = 0
    ) -> list[Document]:
        """Return the documents that hold all words of `text`, or where none does, those that hold any; best first.

        In any form of the words, in name, path, summary, tags and content. Nothing else in `text` has a meaning.
        """
        words = [f'"{word}"' for word in _WORD.findall(text)]
        if not words:
            return []
        where, params = _conditions(wanted)
        sql = (
            f"SELECT {_COLUMNS} FROM document_fts JOIN documents d ON d.no = document_fts.rowid"
            f" WHERE document_fts MATCH ? AND {where}"
            f" ORDER BY bm25(document_fts, {_WEIGHTS}), d.path LIMIT ? OFFSET ?"
        )
        for joined in (" AND ", " OR "):
            match = joined.join(words)
            if self._db.query_one(sql, (match, *params, 1, 0)) is not None:
                return [_document(row) for row in self._db.query(sql, (match, *params, limit, offset))]
        return []

    def versions(self, document_id: str) -> list[DocumentVersion]:
        """Return what a document said, oldest first, what it says now last; raises `NotFound`."""
        with self._db.read():
            now = self.require(document_id)
            rows = self._db.query(
                "SELECT v.revision, v.version, v.content, v.content_hash, v.replaced_at FROM documents d"
                " JOIN document_versions v ON v.document_no = d.no WHERE d.id = ? ORDER BY v.revision",
                (document_id,),
            )
        current = (now.revision, now.version, now.content, now.content_hash, None)
        return [
            DocumentVersion(
                revision=row[0],
                version=row[1],
                content=row[2],
                content_hash=row[3],
                replaced_at=optional_time(row[4]),
            )
            for row in (*rows, current)
        ]

    def said_before(self, document_id: str, hash_: str) -> bool:
        """Return whether an earlier content of the document had this hash."""
        row = self._db.query_one(
            "SELECT 1 FROM documents d JOIN document_versions v ON v.document_no = d.no"
            " WHERE d.id = ? AND v.content_hash = ?",
            (document_id, hash_),
        )
        return row is not None

    def count(self, doc_type: DocumentType | None = None) -> int:
        """Return how many documents there are, of one type or of all."""
        row = self._db.query_one(
            "SELECT count(*) FROM documents WHERE ?1 IS NULL OR doc_type = ?1", (doc_type,)
        )
        return row[0] if row else 0

    # Writing: in the caller's transaction -------------------------------------------------------------------------

    def insert(self, document: Document) -> None:
        """Store a new document; raises `Conflict` when its path is taken, or is a folder of another one's."""
        folded = folded_name(document.path)
        with self._db.joined() as con:
            self.refuse_taken(document.path, folded)
            con.execute(
                "INSERT INTO documents(id, doc_type, name, path, folded, version, revision, content, content_hash,"
                " created_at, updated_at, source, summary, tags) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    document.id,
                    document.doc_type,
                    document.name,
                    document.path,
                    folded,
                    document.version,
                    document.revision,
                    document.content,
                    document.content_hash,
                    to_micros(document.created_at),
                    to_micros(document.updated_at),
                    document.source,
                    document.summary,
                    dump(list(document.tags)),
                ),
            )
            self._put_tags(con.last_insert_rowid, document.tags)
            self._put_subjects(document)
            bump(con, "documents")

    def free_path(self, path: str, doc_type: DocumentType) -> str:
        """Return a path that a name stands for: with the folder of the type before it where another type has it."""
        row = self._db.query_one("SELECT doc_type FROM documents WHERE folded = ?", (folded_name(path),))
        return path if row is None or row[0] == doc_type.value else f"{FOLDERS[doc_type]}/{path}"

    def refuse_taken(self, path: str, folded: str) -> None:
        """Raise `Conflict` when a path is taken, or is a folder of another document's."""
        taken = self._db.query_one(
            "SELECT path FROM documents WHERE folded = ?1 OR substr(folded, 1, length(?1) + 1) = ?1 || '/'"
            " OR substr(?1, 1, length(folded) + 1) = folded || '/' LIMIT 1",
            (folded,),
        )
        if taken is not None:
            if taken[0] == path:
                raise Conflict(
                    f"A document is at {path!r} already;",
                    remedy="`{update_document}` gives it a new text, or give another path.",
                )
            raise Conflict(
                f"A document is at {taken[0]!r}, which leaves no room for {path!r}; update that one, or give another "
                "path."
            )

    def replace(self, document: Document, *, at: datetime) -> None:
        """Store a changed document over the one with its id; the content that it replaces becomes a version."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO document_versions(document_no, revision, version, content, content_hash, replaced_at)"
                " SELECT no, revision, version, content, content_hash, ? FROM documents"
                " WHERE id = ? AND revision < ?",
                (to_micros(at), document.id, document.revision),
            )
            row = con.execute(
                "UPDATE documents SET name = ?, version = ?, revision = ?, content = ?, content_hash = ?,"
                " updated_at = ?, source = ?, summary = ?, tags = ? WHERE id = ? RETURNING no",
                (
                    document.name,
                    document.version,
                    document.revision,
                    document.content,
                    document.content_hash,
                    to_micros(document.updated_at),
                    document.source,
                    document.summary,
                    dump(list(document.tags)),
                    document.id,
                ),
            ).fetchall()
            no = row[0][0]
            con.execute("DELETE FROM document_tags WHERE document_no = ?", (no,))
            self._put_tags(no, document.tags)
            self._put_subjects(document)
            bump(con, "documents")

    def _put_tags(self, no: int, tags: Sequence[str]) -> None:
        with self._db.joined() as con:
            con.executemany(
                "INSERT INTO document_tags(tag, document_no) VALUES(?,?)", [(tag, no) for tag in tags]
            )

    def _put_subjects(self, document: Document) -> None:
        with self._db.joined() as con:
            con.execute("DELETE FROM document_subjects WHERE document_id = ?", (document.id,))
            con.executemany(
                "INSERT INTO document_subjects(document_id, subject) VALUES(?,?)",
                [(document.id, data_subject) for data_subject in document.data_subjects],
            )


def _conditions(document_filter: DocumentFilter) -> tuple[str, list[SQLValue]]:
    where, params = ["1"], list[SQLValue]()
    if document_filter.doc_type is not None:
        where.append("d.doc_type = ?")
        params.append(document_filter.doc_type)
    if document_filter.tags:
        tags = sorted(set(document_filter.tags))
        where.append(
            "(SELECT count(*) FROM document_tags t WHERE t.document_no = d.no"
            " AND t.tag IN (SELECT value FROM json_each(?))) >= ?"
        )
        params += [dump(tags), len(tags) if document_filter.match == "all" else 1]
    return " AND ".join(where), params


def _document(row: Row) -> Document:
    return Document(
        id=row[0],
        doc_type=DocumentType(row[1]),
        name=row[2],
        path=row[3],
        version=row[4],
        content=row[5],
        content_hash=row[6],
        created_at=from_micros(row[7]),
        updated_at=from_micros(row[8]),
        source=row[9],
        summary=row[10],
        tags=load_strings(row[11]),
        revision=row[12],
        data_subjects=load_strings(row[13]),
    )


def check_documents(db: Database) -> Iterator[str]:
    """Yield in words what is wrong with the rows of the documents; nothing when all is well."""
    rows = db.query(
        "SELECT id, revision, content, content_hash FROM documents"
        " UNION ALL SELECT d.id, v.revision, v.content, v.content_hash FROM document_versions v"
        " JOIN documents d ON d.no = v.document_no"
    )
    for document_id, revision, content, expected in rows:
        if content_hash(content) != expected:
            yield (
                f"Revision {revision} of document {document_id!r} does not match its hash {expected}: it was "
                "changed or damaged. Put a backup in its place."
            )
    gaps = db.query(
        "SELECT d.id FROM documents d WHERE d.revision <> 1 + (SELECT count(*) FROM document_versions v"
        f" WHERE v.document_no = d.no) LIMIT {_LISTED}"
    )
    for (document_id,) in gaps:
        yield f"Document {document_id!r} lacks some of its earlier versions. Put a backup in its place."
    kept = db.query(
        "SELECT r.id FROM removed_documents r WHERE EXISTS (SELECT 1 FROM documents d WHERE d.id = r.id)"
        f" OR iif(r.body IS NULL, r.content_mac IS NULL, NOT json_valid(r.body)) LIMIT {_LISTED}"
    )
    for (document_id,) in kept:
        yield (
            f"What is kept of the removed document {document_id!r} cannot be brought back. Put a backup in its place, "
            "or purge it."
        )
    if not db.readonly:
        try:
            with db.joined() as con:
                con.execute("INSERT INTO document_fts(document_fts, rank) VALUES('integrity-check', 1)")
        except IntegrityError as error:
            yield f"The full text of the documents disagrees with them ({error}). Put a backup in its place."


_KEPT: Final = (
    "id", "doc_type", "name", "path", "folded", "version", "revision", "content", "content_hash", "created_at",
    "updated_at", "source", "summary", "tags",
)  # fmt: skip
_VERSION: Final = ("revision", "version", "content", "content_hash", "replaced_at")
_REMOVED_COLUMNS: Final = "id, doc_type, path, removed_at, body IS NULL"


class RemovedDocuments:
    """The documents that a store no longer has."""

    def __init__(self, db: Database, documents: Documents) -> None:
        self._db = db
        self._documents = documents

    def list(self) -> list[RemovedDocument]:
        """Return them all, the last removed first."""
        rows = self._db.query(
            f"SELECT {_REMOVED_COLUMNS} FROM removed_documents ORDER BY removed_at DESC, no DESC"
        )
        return [_removed_document(row) for row in rows]

    def find(self, path_or_id: str) -> RemovedDocument | None:
        """Return the one with this id, else the last that was at this path; None when there is none."""
        row = self._db.query_one(
            f"SELECT {_REMOVED_COLUMNS} FROM removed_documents WHERE id = ?1 OR path = ?1"
            " ORDER BY id = ?1 DESC, removed_at DESC, no DESC LIMIT 1",
            (path_or_id,),
        )
        return None if row is None else _removed_document(row)

    # Writing: in the caller's transaction -------------------------------------------------------------------------

    def archive(self, document_id: str, *, at: datetime) -> None:
        """Take a document and its versions out of the repository, and keep them; raises `NotFound`."""
        document = self._documents.require(document_id)
        with self._db.joined() as con:
            kept_row = con.execute(
                f"SELECT {', '.join(_KEPT)}, no FROM documents WHERE id = ?", (document_id,)
            ).fetchone()
            assert kept_row is not None
            no = kept_row[-1]
            versions = con.execute(
                f"SELECT {', '.join(_VERSION)} FROM document_versions WHERE document_no = ? ORDER BY revision",
                (no,),
            ).fetchall()
            body = json.dumps({"document": kept_row[:-1], "versions": versions}, ensure_ascii=False)
            for table in ("document_versions", "document_tags"):
                con.execute(f"DELETE FROM {table} WHERE document_no = ?", (no,))
            con.execute("DELETE FROM documents WHERE no = ?", (no,))
            con.execute(
                "INSERT INTO removed_documents(id, doc_type, path, removed_at, body) VALUES(?, ?, ?, ?, ?)",
                (document_id, document.doc_type, document.path, to_micros(at), body),
            )
            bump(con, "documents")

    def purge(self, document_id: str, *, at: datetime, key: bytes) -> None:
        """Let go of what an archived document said, but for a keyed hash; purged ones stay as they are."""
        with self._db.joined() as con:
            row = con.execute("SELECT body FROM removed_documents WHERE id = ?", (document_id,)).fetchone()
            if row is None:
                raise NotFound(
                    f"Document {document_id!r} was not removed;",
                    remedy="`{remove_document}` does that first.",
                )
            if row[0] is None:
                return
            count_purge(con)
            document = dict(zip(_KEPT, json.loads(str(row[0]))["document"], strict=True))
            mac = hmac.new(key, str(document["content_hash"]).encode("ascii"), "sha256").hexdigest()
            con.execute(
                "UPDATE removed_documents SET body = NULL, content_mac = ?, removed_at = ? WHERE id = ?",
                (mac, to_micros(at), document_id),
            )

    def restore(self, document_id: str) -> None:
        """Bring a document back with all its versions; raises `Conflict` when its path is taken or it was purged."""
        with self._db.joined() as con:
            row = con.execute("SELECT body FROM removed_documents WHERE id = ?", (document_id,)).fetchone()
            if row is None:
                raise NotFound(f"Document {document_id!r} was not removed, or is not known.")
            if row[0] is None:
                raise Conflict(f"Document {document_id!r} was purged: nothing is left of what it said.")
            body = json.loads(str(row[0]))
            document = dict(zip(_KEPT, body["document"], strict=True))
            self._documents.refuse_taken(str(document["path"]), str(document["folded"]))
            con.execute(
                f"INSERT INTO documents({', '.join(_KEPT)}) VALUES({','.join('?' * len(_KEPT))})",
                body["document"],
            )
            no = con.last_insert_rowid
            con.executemany(
                f"INSERT INTO document_versions(document_no, {', '.join(_VERSION)}) VALUES(?,?,?,?,?,?)",
                [(no, *version) for version in body["versions"]],
            )
            con.execute(
                "INSERT INTO document_tags(tag, document_no) SELECT value, ? FROM json_each(?)",
                (no, str(document["tags"])),
            )
            con.execute("DELETE FROM removed_documents WHERE id = ?", (document_id,))
            bump(con, "documents")


def _removed_document(row: Row) -> RemovedDocument:
    return RemovedDocument(
        id=row[0],
        doc_type=DocumentType(row[1]),
        path=row[2],
        removed_at=from_micros(row[3]),
        purged=bool(row[4]),
    )
