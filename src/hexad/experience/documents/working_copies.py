"""Working copies: each document as a file below `documents/`, laid out by type; sealed in an encrypted store."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from hexad.core.ids import content_hash
from hexad.database import files
from hexad.database.encryption.store_files import OwnFiles
from hexad.errors import IntegrityError, InvalidInput
from hexad.experience.tables.documents import DocumentFilter, Documents
from hexad.experience.values.documents import (
    DOCUMENT_BYTES_LIMIT,
    FOLDERS,
    CopyState,
    Document,
    WorkingCopy,
)

_TRIES: Final = 100
_TYPES: Final = {folder: doc_type for doc_type, folder in FOLDERS.items()}


class WorkingCopies:
    """The files of one store's documents. The documents are the truth; a file can be written again from them."""

    def __init__(self, directory: Path, documents: Documents, own: OwnFiles) -> None:
        self.directory = directory
        self._documents, self._own = documents, own

    def file(self, document: Document) -> Path:
        """Return where a document's copy is, or will be."""
        return self.directory / FOLDERS[document.doc_type] / document.path

    def state(self, document: Document) -> CopyState:
        """Return how a document's copy compares with it."""
        file = self.file(document)
        if not file.is_file() or file.is_symlink():
            return CopyState.CHANGED if file.is_symlink() or file.exists() else CopyState.MISSING
        text = self.read(file)
        if text == document.content:
            return CopyState.SAME
        if text is not None and self._documents.said_before(document.id, content_hash(text)):
            return CopyState.OUTDATED
        return CopyState.CHANGED

    def write(self, document_id: str) -> None:
        """Make a document's copy what the document says, durably; whoever writes last writes the newest."""
        seen, written = -1, None
        for _ in range(_TRIES):
            document = self._documents.get(document_id)
            if document is None:
                if written is not None:  # it was removed meanwhile
                    self.remove(written, {written.content_hash})
                    return
                document = self._documents.require(document_id)
            if document.revision == seen:
                return
            file = self.file(document)
            files.ensure_dir(file.parent)
            self._own.write(file, document.content.encode())
            # Another process may have changed the document meanwhile, and have written its copy before this one.
            seen, written = document.revision, document

    def remove(self, document: Document, said: Collection[str]) -> None:
        """Remove a document's copy if it says something of which `said` has the hash, and folders left empty."""
        file = self.file(document)
        text = self.read(file)
        if text is None or content_hash(text) not in said:
            return
        unlink_copy(self.directory, file)

    def list(self) -> Iterator[WorkingCopy]:
        """Yield every copy, those of documents by path, then files without a document."""
        known: set[Path] = set()
        for document in self._documents.find(DocumentFilter()):
            file = self.file(document)
            known.add(file)
            yield WorkingCopy(
                path=file.relative_to(self.directory).as_posix(),
                document_id=document.id,
                state=self.state(document),
            )
        for folder in sorted(_TYPES):
            for file in sorted((self.directory / folder).rglob("*")):
                hidden = any(part.startswith(".") for part in file.relative_to(self.directory).parts)
                if file not in known and not hidden and (file.is_file() or file.is_symlink()):
                    yield WorkingCopy(
                        path=file.relative_to(self.directory).as_posix(),
                        document_id=None,
                        state=CopyState.UNKNOWN,
                    )

    def read(self, file: Path) -> str | None:
        """Return the text of a copy; None when it is no plain file, too long, no UTF-8, or not the store's own."""
        with files.operation("read", file, "read"):
            if file.is_symlink() or not file.is_file():
                return None
        try:
            if self._own.size(file) > DOCUMENT_BYTES_LIMIT:
                return None
            return self._own.read(file).decode()
        except (IntegrityError, UnicodeDecodeError):
            return None

    def require_own(self, file: Path) -> str | None:
        """Return what `read` does; raises `InvalidInput` for a file that is plain in an encrypted store, or sealed in
        a plain one.
        """  # fmt: skip
        try:
            self._own.opens(file)
        except IntegrityError as error:
            raise InvalidInput(
                f"{error} Give its text to `update_document` or `add_document`; write_copies writes a document anew."
            ) from error
        return self.read(file)


def unlink_copy(directory: Path, file: Path) -> None:
    """Remove a file below the folder of copies, and folders that this leaves empty."""
    files.unlink(file)
    for folder in file.relative_to(directory).parents:
        if folder == Path("."):
            break
        try:
            (directory / folder).rmdir()
        except OSError:  # not empty
            break


def check_copies(directory: Path, documents: Documents, own: OwnFiles) -> Iterator[str]:
    """Yield in words what is wrong with the working copies; files without a document are the user's own affair."""
    for copy in WorkingCopies(directory, documents, own).list():
        if copy.state not in (CopyState.SAME, CopyState.UNKNOWN):
            yield (
                f"The working copy documents/{copy.path} is {copy.state.value}. `hx.xdb.documents.read_copies()` takes "
                "in what was changed by hand, `write_copies()` writes it anew."
            )
