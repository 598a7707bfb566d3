"""The document repository: reference texts with versions, and working copies of them as files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from hexad.core.arguments import (
    all_texts_checked,
    is_whole,
    parse_choice,
    parse_offset,
    parse_text,
    quoted,
    require_question_length,
    subject_list,
    word_list,
)
from hexad.core.ids import content_hash
from hexad.core.tracing import log
from hexad.database import files
from hexad.database.encryption.cipher import DOCUMENTS
from hexad.database.encryption.store_files import StoreFiles, own_files
from hexad.database.store_context import StoreContext
from hexad.errors import Conflict, HexadError, IntegrityError, InvalidInput, NotFound, StorageFailure
from hexad.experience.arguments import match_of
from hexad.experience.tables.documents import DocumentFilter, Documents, RemovedDocuments
from hexad.experience.values.documents import (
    DOCUMENT_BYTES_LIMIT,
    FOLDERS,
    CopiesReport,
    CopyState,
    Document,
    DocumentType,
    DocumentVersion,
    RemovedDocument,
    WorkingCopy,
    check_document_path,
)
from hexad.experience.values.tags import NOTE_BYTES_LIMIT, check_size, check_tag_name
from hexad.redaction.masking import Masking
from hexad.text.normalize import slugs

_TRIES: Final = 100
_BY_ITSELF: Final = "`hexad maintain` writes it."
_REMEDIES: Final = {
    CopyState.MISSING: _BY_ITSELF,
    CopyState.OUTDATED: _BY_ITSELF,
    CopyState.CHANGED: (
        "`hx.xdb.documents.read_copies()` takes in what was changed by hand, `write_copies()` writes it anew."
    ),
}


class WorkingCopies:
    """The files of one store's documents. The documents are the truth; a file can be written again from them."""

    def __init__(self, directory: Path, documents: Documents, own: StoreFiles) -> None:
        self.directory = directory
        self._documents, self._own = documents, own

    def file(self, document: Document) -> Path:
        """Return where a document's copy is, or will be."""
        return files.named_below(self.directory / FOLDERS[document.doc_type], document.path)

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
        latest = self._documents.get(document.id)
        if latest is not None and latest.revision != document.revision:
            return self.state(latest)  # another process gave it a new text meanwhile, and wrote its copy
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

    def remove(self, document: Document, hashes: Collection[str]) -> None:
        """Remove a document's copy if it says something of which `hashes` has the hash, and folders left empty."""
        file = self.file(document)
        text = self.read(file)
        if text is None or content_hash(text) not in hashes:
            return
        unlink_copy(self.directory, file)

    def list(self) -> Iterator[WorkingCopy]:
        """Yield every copy, those of documents by path, then files without a document."""
        known_paths: set[Path] = set()
        for document in self._documents.find(DocumentFilter()):
            file = self.file(document)
            known_paths.add(file)
            yield WorkingCopy(
                path=file.relative_to(self.directory).as_posix(),
                document_id=document.id,
                state=self.state(document),
            )
        for folder in sorted(_TYPES):
            for file in sorted((self.directory / folder).rglob("*")):
                hidden = any(part.startswith(".") for part in file.relative_to(self.directory).parts)
                if file not in known_paths and not hidden and (file.is_file() or file.is_symlink()):
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
                f"{error} Add or update the document with its text instead, or write the copies anew."
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


def _of_birth(document: Document, stored: Document) -> Document:
    """Return a new document with what a stored one was given when it was stored."""
    return replace(document, id=stored.id, created_at=stored.created_at, updated_at=stored.updated_at)


def check_copies(directory: Path, documents: Documents, own: StoreFiles) -> Iterator[str]:
    """Yield in words what is wrong with the working copies; files without a document are the user's own affair."""
    for copy in WorkingCopies(directory, documents, own).list():
        if copy.state not in (CopyState.SAME, CopyState.UNKNOWN):
            yield (f"The working copy documents/{copy.path} is {copy.state.value}. {_REMEDIES[copy.state]}")


def heal_copies(directory: Path, documents: Documents, own: StoreFiles) -> int:
    """Write the copies anew that are missing or outdated, and return how many; what was changed by hand stays.

    That is what a kill or a full disk between a document and its copy leaves, and nobody has to decide anything.
    """
    copies = WorkingCopies(directory, documents, own)
    healed = 0
    for copy in copies.list():
        if copy.document_id is not None and copy.state in (CopyState.MISSING, CopyState.OUTDATED):
            try:
                copies.write(copy.document_id)
            except (StorageFailure, NotFound) as error:  # the disk is full still, or the document was removed
                log.warning("The working copy documents/%s could not be written: %s", copy.path, error)
            else:
                healed += 1
    return healed


SEARCH_LIMIT: Final = 10_000
_TYPES: Final = {folder: doc_type for doc_type, folder in FOLDERS.items()}


@all_texts_checked
class DocumentRepository:
    """Reference documents, as document 2 names their calls. Safe to share between threads and processes."""

    def __init__(self, context: StoreContext, *, masking: Masking) -> None:
        """`masking` takes secrets out of texts, and refuses names with one: a person's may be an address."""
        self._context, self._db, self._masking = context, context.db, masking
        self._author = context.actor.agent or context.actor.describe()
        self._documents = Documents(context.db)
        self._removed = RemovedDocuments(context.db, self._documents)
        own = own_files(context.directory, context.crypt, DOCUMENTS)
        self._copies = WorkingCopies(self.copies_directory, self._documents, own)

    @property
    def copies_directory(self) -> Path:
        """Where the working copies lie."""
        return self._context.directory / "documents"

    # Writing ----------------------------------------------------------------------------------------------------

    def add_document(
        self,
        name: str,
        content: str,
        doc_type: DocumentType | str,
        *,
        path: str | None = None,
        tags: Iterable[str] = (),
        version: str | None = None,
        source: str | None = None,
        summary: str | None = None,
        data_subjects: Iterable[str] = (),
    ) -> Document:
        """Store a new document, write its working copy, and return it; without a `path` its name is the path, below
        the folder of its type where a document of another type is there.

        `data_subjects` are the people whose data it is, so that it can be erased with all that is theirs.
        Secrets are taken out of the content and the summary. `version` is a word of your own, else the number of the
        revision. The same document once more, in all that is given, is the one that is there: whoever was killed may
        try again. A copy that cannot be written is said in the log, and `maintain` writes it. Raises `Conflict` for a
        path that is taken, `InvalidInput` and `LimitExceeded` (8 MiB) for what cannot be stored; then nothing was.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     doc = hx.xdb.documents.add_document("tone.md", "Answer briefly.", "system_instruction")
        ...     doc = hx.xdb.documents.update_document(doc.id, "Answer briefly and kindly.")
        ...     doc.version, [version.content for version in hx.xdb.documents.versions(doc.id)]
        ('2', ['Answer briefly.', 'Answer briefly and kindly.'])
        """
        kind = parse_choice(DocumentType, doc_type, "doc_type")
        shown = self._name_without_secrets(check_tag_name(name, "The name {} of a document"), "name")
        if path is None:
            path = self._documents.free_path(check_document_path(shown), kind)
        text, now = self._content(content), self._db.clock.now()
        document = Document(
            id=self._context.ids.new("doc"),
            doc_type=kind,
            name=shown,
            path=self._name_without_secrets(check_document_path(path), "path"),
            version="1" if version is None else self._version(version),
            content=text,
            content_hash=content_hash(text),
            created_at=now,
            updated_at=now,
            source=self._author if source is None else self._text(source, "source"),
            summary=None if summary is None else self._text(summary, "summary"),
            tags=self._tags(tags),
            data_subjects=self._subjects(data_subjects),
        )
        with self._db.transaction():
            before = self._documents.by_path(document.path)
            if before is not None and before == _of_birth(document, before):
                document = before
            else:
                self._documents.insert(document)
        self._write_copy(document.id)
        return document

    def _write_copy(self, doc_id: str) -> None:
        """Write the copy of what is stored by now, whatever becomes of the copy."""
        try:
            self._copies.write(doc_id)
        except StorageFailure as error:
            log.warning(
                "The document is stored, and its working copy is not; `maintain` writes it. %s", error
            )

    def update_document(
        self,
        doc_id: str,
        content: str,
        *,
        version: str | None = None,
        summary: str | None = None,
        tags: Iterable[str] | None = None,
        source: str | None = None,
        data_subjects: Iterable[str] | None = None,
    ) -> Document:
        """Give a document a new content, and return it; what it said stays a version. The same content is none.

        What is not given stays, but for `version`, which counts on. A working copy that was changed by hand is not
        written over: raises `Conflict` until `read_copies` or `write_copies` settled it. Raises `NotFound`.
        """
        text = self._content(content)
        before = self._documents.require(doc_id)
        changed = self._copies.state(before) is CopyState.CHANGED
        if changed and self._copies.read(self._copies.file(before)) != text:
            raise Conflict(
                f"The working copy of {before.path!r} was changed by hand;",
                remedy="`{read_copies}` takes it in, `{write_copies}` throws it away.",
            )
        return self._update(
            doc_id,
            text,
            version=version,
            summary=summary,
            tags=tags,
            source=source,
            data_subjects=data_subjects,
        )

    def _update(
        self,
        doc_id: str,
        text: str,
        *,
        version: str | None = None,
        summary: str | None = None,
        tags: Iterable[str] | None = None,
        source: str | None = None,
        data_subjects: Iterable[str] | None = None,
    ) -> Document:
        subjects = None if data_subjects is None else self._subjects(data_subjects)
        with self._db.transaction():
            before = self._documents.require(doc_id)
            after = self._changed(before, text, version=version, summary=summary, tags=tags, source=source)
            after = after if subjects is None else replace(after, data_subjects=subjects)
            if after != before:
                self._documents.replace(after, at=after.updated_at)
        self._write_copy(doc_id)
        return after

    def _changed(
        self,
        before: Document,
        text: str,
        *,
        version: str | None,
        summary: str | None,
        tags: Iterable[str] | None,
        source: str | None,
    ) -> Document:
        new = text != before.content
        revision = before.revision + new
        label = str(revision) if new else before.version
        after = replace(
            before,
            content=text,
            content_hash=content_hash(text),
            revision=revision,
            version=label if version is None else self._version(version),
            summary=before.summary if summary is None else self._text(summary, "summary"),
            tags=before.tags if tags is None else self._tags(tags),
            source=before.source if source is None else self._text(source, "source"),
        )
        return after if after == before else replace(after, updated_at=self._db.clock.now())

    # Taking away ------------------------------------------------------------------------------------------------

    def remove_document(self, path_or_id: str, *, purge: bool = False) -> RemovedDocument:
        """Take a document and its working copy away, and return what is known of it then.

        It is kept with all its versions, and `restore_document` brings it back. With `purge` it is not: what is left
        is a keyed hash; that also goes for one that was removed before. `path_or_id` is an id, else a logical path.

        Raises `NotFound`, and `Conflict` for a working copy that was changed by hand, until `read_copies` or
        `write_copies` settled it.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.xdb.documents.add_document("tone.md", "Answer briefly.", "system_instruction")
        ...     gone = hx.xdb.documents.remove_document("tone.md")
        ...     back = hx.xdb.documents.restore_document("tone.md")
        ...     gone.purged, back.content
        (False, 'Answer briefly.')
        """
        document = self._documents.get(path_or_id) or self._documents.by_path(path_or_id)
        if document is None:
            return self._purged(path_or_id, purge=purge)
        if self._copies.state(document) is CopyState.CHANGED:
            raise Conflict(
                f"The working copy of {document.path!r} was changed by hand;",
                remedy="`{read_copies}` takes it in, `{write_copies}` throws it away.",
            )
        self._db.require_writable()
        # The copy goes first: a program that is killed in between leaves a document whose copy is missing, and not a
        # copy that `read_copies` would take for a new document.
        content_hashes = {version.content_hash for version in self._documents.versions(document.id)}
        self._copies.remove(document, content_hashes)
        with self._db.transaction():
            content_hashes |= {version.content_hash for version in self._documents.versions(document.id)}
            self._removed.archive(document.id, at=self._db.clock.now())
            if purge:
                self._removed.purge(document.id, at=self._db.clock.now(), key=self._context.salt())
        try:
            self._copies.remove(document, content_hashes)
        except StorageFailure as error:  # of a copy that somebody wrote again meanwhile
            log.warning("The document was removed, and its working copy was not. %s", error)
        removed_document = self._removed.find(document.id)
        assert removed_document is not None
        return removed_document

    def _purged(self, path_or_id: str, *, purge: bool) -> RemovedDocument:
        departed = self._removed.find(path_or_id) if purge else None
        if departed is None:
            raise NotFound(
                f"Document {path_or_id!r} is not there;", remedy="`{list_documents}` names what there is."
            )
        with self._db.transaction():
            self._removed.purge(departed.id, at=self._db.clock.now(), key=self._context.salt())
        return replace(departed, purged=True)

    def restore_document(self, path_or_id: str) -> Document:
        """Bring back a document that was removed, the last one where a path names several, and write its copy.

        Raises `NotFound`, and `Conflict` when it was purged or its path is taken by another one.
        """
        departed = self._removed.find(path_or_id)
        if departed is None:
            raise NotFound(
                f"Document {path_or_id!r} was not removed;",
                remedy="`{removed_documents}` names those that were.",
            )
        with self._db.transaction():
            self._removed.restore(departed.id)
        self._write_copy(departed.id)
        return self._documents.require(departed.id)

    def removed_documents(self) -> list[RemovedDocument]:
        """Return the documents that were removed, purged ones too, the last first."""
        return self._removed.list()

    # Reading ----------------------------------------------------------------------------------------------------

    def get_document(self, doc_id: str) -> Document | None:
        """Return the document with this id, None when there is none."""
        return self._documents.get(doc_id)

    def get_by_path(self, path: str) -> Document | None:
        """Return the document at this logical path, None when there is none."""
        return self._documents.by_path(path)

    def versions(self, doc_id: str) -> list[DocumentVersion]:
        """Return what a document said, oldest first, what it says now last; raises `NotFound`."""
        return self._documents.versions(doc_id)

    def search(
        self,
        *,
        text_query: str | None = None,
        doc_type: DocumentType | str | None = None,
        tags: Iterable[str] | None = None,
        match: Literal["all", "any"] = "all",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Document]:
        """Return the documents for which everything given holds: by path, or with `text_query` best first.

        A text finds the documents with all of its words, in any form, or where there is none, with any of them.
        `tags` must all be there, or with `match="any"` one of them.
        """
        match_of(match)
        if not is_whole(limit, 1, SEARCH_LIMIT):
            raise InvalidInput(f"limit = {quoted(limit)} is not from 1 to {SEARCH_LIMIT}.", argument="limit")
        document_filter = DocumentFilter(
            doc_type=None if doc_type is None else parse_choice(DocumentType, doc_type, "doc_type"),
            tags=None if tags is None else slugs(word_list(tags, "tags")),
            match=match,
        )
        require_question_length(parse_text(text_query, "text_query") or "", "text_query")
        if text_query is not None and not text_query.strip():
            raise InvalidInput(
                f"text_query = {quoted(text_query)} says nothing to look for; give words, or leave it out for all "
                "documents by path.",
                argument="text_query",
            )
        if text_query is None:
            return self._documents.find(document_filter, limit=limit, offset=parse_offset(offset))
        return self._documents.search(text_query, document_filter, limit=limit, offset=parse_offset(offset))

    def list_by_type(self, doc_type: DocumentType | str) -> list[Document]:
        """Return all documents of a type, by path."""
        return self._documents.find(DocumentFilter(doc_type=parse_choice(DocumentType, doc_type, "doc_type")))

    def all(self) -> list[Document]:
        """Return all documents, by path."""
        return self._documents.find(DocumentFilter())

    def count(self) -> int:
        """Return how many documents there are."""
        return self._documents.count()

    # Working copies ---------------------------------------------------------------------------------------------

    def file(self, doc_id: str) -> Path:
        """Return where a document's working copy is; raises `NotFound`."""
        return self._copies.file(self._documents.require(doc_id))

    def copies(self) -> list[WorkingCopy]:
        """Return every working copy with its state, then files that no document has."""
        return [*self._copies.list()]

    def write_copies(self) -> list[str]:
        """Write every copy that is missing, outdated, changed or damaged anew; return their paths."""
        wrong = [copy for copy in self.copies() if copy.document_id and copy.state is not CopyState.SAME]
        for copy in wrong:
            assert copy.document_id is not None
            self._copies.write(copy.document_id)
        return [copy.path for copy in wrong]

    def read_copies(self) -> CopiesReport:
        """Take in what was done by hand: changed copies become versions, new files documents, missing copies are
        written again. What cannot be taken in is listed with the reason, and stays as it is.
        """
        created, updated, restored, skipped = [], [], [], []
        for copy in self.copies():
            file, document_id = self.copies_directory / copy.path, copy.document_id or ""
            try:
                if copy.state in (CopyState.MISSING, CopyState.OUTDATED):
                    self._copies.write(document_id)
                    restored.append(copy.path)
                elif copy.state is CopyState.CHANGED:
                    updated.append(self._update(document_id, self._content(self._read(file))).path)
                elif copy.state is CopyState.UNKNOWN:
                    folder, _, path = copy.path.partition("/")
                    text = self._read(file)
                    added = self.add_document(
                        file.name, text, _TYPES[folder], path=path, source=f"documents/{copy.path}"
                    )
                    created.append(added.path)
            except HexadError as error:
                skipped.append((copy.path, str(error)))
        return CopiesReport(
            created=tuple(created), updated=tuple(updated), restored=tuple(restored), skipped=tuple(skipped)
        )

    def _read(self, file: Path) -> str:
        text = self._copies.require_own(file)
        if not text:
            raise InvalidInput(
                f"{file.name} is empty, or no plain file of UTF-8 of at most {DOCUMENT_BYTES_LIMIT} bytes; "
                "writing the copies makes it anew."
            )
        return text

    # Texts ------------------------------------------------------------------------------------------------------

    def _content(self, content: str) -> str:
        text = check_size(content, "document", limit_bytes=DOCUMENT_BYTES_LIMIT)
        if "\0" in text:
            raise InvalidInput("The document holds a NUL: it is no text.")
        return self._masking.text(text)

    def _text(self, text: str, what: str) -> str:
        return self._masking.text(check_size(text, what, limit_bytes=NOTE_BYTES_LIMIT))

    def _name_without_secrets(self, name: str, what: str, *, personal: bool = False) -> str:
        if self._masking.secret_in(name) if personal else self._masking.text(name) != name:
            raise InvalidInput(f"The {what} of the document holds what looks like a secret; give another.")
        return name

    def _version(self, version: str) -> str:
        return self._name_without_secrets(check_tag_name(version, "The name {} of a version"), "version")

    def _subjects(self, subjects: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            self._name_without_secrets(subject, "data subject", personal=True)
            for subject in sorted(subject_list(subjects))
        )

    def _tags(self, tags: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._name_without_secrets(tag, "tag") for tag in slugs(word_list(tags, "tags")))
