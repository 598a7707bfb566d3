"""Erasing documents for good: what they say, said, and said before they were removed, and their working copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hexad.core.erasure import ErasureBook, Selection
from hexad.core.json_types import JSONValue
from hexad.database import files
from hexad.database.change_counters import bump
from hexad.database.codec import dump, to_micros
from hexad.database.connection import Database, SQLValue
from hexad.experience.documents.working_copies import unlink_copy
from hexad.experience.values.documents import FOLDERS, DocumentType
from hexad.text.normalize import slug

DOCUMENTS: Final = "documents"
COPIES: Final = "working copies of documents"
_NOT_YET: Final = "not done yet"
_OF_SUBJECT: Final = (
    "(:subject IS NULL OR id IN (SELECT document_id FROM document_subjects WHERE subject = :subject))"
)
_KEPT_TAGS: Final = "json_extract(body, '$.document[13]')"
"""Where the tags stand in what `removed_documents` keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenDocument:
    """A document that goes; `copy` is where its working copy lies below the folder of documents, None without one."""

    id: str
    copy: str | None


class ErasedDocuments:
    """The documents of one store that a selection names, by their subjects and tags; `directory` has the copies."""

    def __init__(self, db: Database, directory: Path) -> None:
        self._db, self._directory = db, directory

    def chosen(self, selection: Selection) -> list[ChosenDocument]:
        """Return the documents that go, those that were removed too."""
        return self._chosen(selection, None)

    def _chosen(self, selection: Selection, through: int | None) -> list[ChosenDocument]:
        given: dict[str, SQLValue] = {
            "subject": selection.subject,
            "tag": None if selection.tag is None else slug(selection.tag),
            "through": through,
        }
        there = self._db.query(
            f"SELECT id, doc_type, path FROM documents WHERE {_OF_SUBJECT} AND (:tag IS NULL OR no IN"
            " (SELECT document_no FROM document_tags WHERE tag = :tag))"
            " AND (:through IS NULL OR created_at <= :through) ORDER BY no",
            given,
        )
        removed = self._db.query(
            f"SELECT id FROM removed_documents WHERE {_OF_SUBJECT} AND (:tag IS NULL OR (body IS NOT NULL AND EXISTS"
            f" (SELECT 1 FROM json_each({_KEPT_TAGS}) t WHERE t.value = :tag)))"
            " AND (:through IS NULL OR removed_at <= :through) ORDER BY no",
            given,
        )
        return [
            *(
                ChosenDocument(
                    id=name,
                    copy=f"{FOLDERS[DocumentType(kind)]}/{path}",
                )
                for name, kind, path in there
            ),
            *(ChosenDocument(id=row[0], copy=None) for row in removed),
        ]

    def copies(self, chosen: Sequence[ChosenDocument]) -> int:
        """Return how many working copies of these documents are there."""
        return sum(
            document.copy is not None and (self._directory / document.copy).is_file() for document in chosen
        )

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove what is selected, working copies too, whatever was written into them by hand."""
        # The copies go first: what is left of a document that is gone would be taken for a new one. A document whose
        # copy is missing is whole, and its copy can be written again.
        removed = [
            self._remove(document.copy)
            for document in self._chosen(selection, to_micros(book.at))
            if document.copy
        ]
        with self._db.transaction() as con:
            chosen = self._chosen(selection, to_micros(book.at))
            ids = (dump([document.id for document in chosen]),)
            among = "IN (SELECT value FROM json_each(?))"
            for table in ("document_versions", "document_tags"):
                con.execute(
                    f"DELETE FROM {table} WHERE document_no IN (SELECT no FROM documents WHERE id {among})",
                    ids,
                )
            con.execute(f"DELETE FROM documents WHERE id {among}", ids)
            con.execute(f"DELETE FROM removed_documents WHERE id {among}", ids)
            con.execute(f"DELETE FROM document_subjects WHERE document_id {among}", ids)
            if chosen:
                bump(con, "documents")
                book.erased(DOCUMENTS, len(chosen))
                book.erased(COPIES, sum(size is not None for size in removed), sum(filter(None, removed)))
            # Another program may have written one again before the document was gone.
            copies: list[JSONValue] = [document.copy for document in chosen if document.copy]
            if copies:
                book.pending(COPIES, _NOT_YET, {"copies": copies})

    def remove_copies(self, work: Mapping[str, JSONValue]) -> None:
        """Remove the working copies that a pending note names, unless another document lies there by now."""
        given = work["copies"]
        for copy in given if isinstance(given, list) else []:
            folder, _, path = str(copy).partition("/")
            taken = self._db.query_one(
                "SELECT 1 FROM documents WHERE path = ? AND doc_type = ?",
                (path, next(kind.value for kind, name in FOLDERS.items() if name == folder)),
            )
            if taken is None:
                self._remove(str(copy))

    def _remove(self, copy: str) -> int | None:
        """Remove a working copy and folders left empty; returns its bytes, None where there was none."""
        file = self._directory / copy
        if file.parent.is_dir():
            files.remove_abandoned(file)
        with files.operation("read", file, "read"):
            size = file.lstat().st_size if file.is_file() or file.is_symlink() else None
        if size is not None:
            unlink_copy(self._directory, file)
        return size
