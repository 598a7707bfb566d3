"""Documents that were taken away: all that they said, to bring them back, or a keyed hash of one that was purged."""

from __future__ import annotations

import hmac
import json
from datetime import datetime
from typing import Final

from hexad.database.change_counters import bump
from hexad.database.codec import from_micros, to_micros
from hexad.database.connection import Database, Row
from hexad.errors import Conflict, NotFound
from hexad.experience.tables.documents import Documents
from hexad.experience.values.documents import DocumentType, RemovedDocument

_KEPT: Final = (
    "id", "doc_type", "name", "path", "folded", "version", "revision", "content", "content_hash", "created_at",
    "updated_at", "source", "summary", "tags",
)  # fmt: skip
_VERSION: Final = ("revision", "version", "content", "content_hash", "replaced_at")
_COLUMNS: Final = "id, doc_type, path, removed_at, body IS NULL"


class RemovedDocuments:
    """The documents that a store no longer has."""

    def __init__(self, db: Database, documents: Documents) -> None:
        self._db = db
        self._documents = documents

    def list(self) -> list[RemovedDocument]:
        """Return them all, the last removed first."""
        rows = self._db.query(f"SELECT {_COLUMNS} FROM removed_documents ORDER BY removed_at DESC, no DESC")
        return [_removed(row) for row in rows]

    def find(self, path_or_id: str) -> RemovedDocument | None:
        """Return the one with this id, else the last that was at this path; None when there is none."""
        row = self._db.query_one(
            f"SELECT {_COLUMNS} FROM removed_documents WHERE id = ?1 OR path = ?1"
            " ORDER BY id = ?1 DESC, removed_at DESC, no DESC LIMIT 1",
            (path_or_id,),
        )
        return None if row is None else _removed(row)

    # Writing: in the caller's transaction -------------------------------------------------------------------------

    def archive(self, document_id: str, *, at: datetime) -> None:
        """Take a document and its versions out of the repository, and keep them; raises `NotFound`."""
        document = self._documents.require(document_id)
        with self._db.joined() as con:
            kept = con.execute(
                f"SELECT {', '.join(_KEPT)}, no FROM documents WHERE id = ?", (document_id,)
            ).fetchone()
            assert kept is not None
            no = kept[-1]
            versions = con.execute(
                f"SELECT {', '.join(_VERSION)} FROM document_versions WHERE document_no = ? ORDER BY revision",
                (no,),
            ).fetchall()
            body = json.dumps({"document": kept[:-1], "versions": versions}, ensure_ascii=False)
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
                    f"Document {document_id!r} was not removed; `remove_document` does that first."
                )
            if row[0] is None:
                return
            said = dict(zip(_KEPT, json.loads(str(row[0]))["document"], strict=True))
            mac = hmac.new(key, str(said["content_hash"]).encode("ascii"), "sha256").hexdigest()
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
            said = dict(zip(_KEPT, body["document"], strict=True))
            self._documents.refuse_taken(str(said["path"]), str(said["folded"]))
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
                (no, str(said["tags"])),
            )
            con.execute("DELETE FROM removed_documents WHERE id = ?", (document_id,))
            bump(con, "documents")


def _removed(row: Row) -> RemovedDocument:
    return RemovedDocument(
        id=row[0],
        doc_type=DocumentType(row[1]),
        path=row[2],
        removed_at=from_micros(row[3]),
        purged=bool(row[4]),
    )
