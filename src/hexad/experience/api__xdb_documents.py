"""The calls of `hx.xdb` on reference documents, as document 2, section 8, names them."""

from __future__ import annotations

from hexad.experience.documents.repository import DocumentRepository
from hexad.experience.values.documents import Document, DocumentType, RemovedDocument


class DocumentCalls:
    """The part of `Xdb` that is about documents."""

    _documents: DocumentRepository

    @property
    def documents(self) -> DocumentRepository:
        """The document repository: adding, updating, versions, working copies."""
        return self._documents

    def get_document(self, path: str) -> Document | None:
        """Return the document at a logical path, None when there is none."""
        return self._documents.get_by_path(path)

    def remove_document(self, path_or_id: str, *, purge: bool = False) -> RemovedDocument:
        """Take a document away, to be brought back or for good, as `DocumentRepository.remove_document`."""
        return self._documents.remove_document(path_or_id, purge=purge)

    def restore_document(self, path_or_id: str) -> Document:
        """Bring back a document that was removed, as `DocumentRepository.restore_document`."""
        return self._documents.restore_document(path_or_id)

    def search_documents(
        self, query: str, *, doc_type: DocumentType | str | None = None, limit: int = 100
    ) -> list[Document]:
        """Return the documents that hold the words of `query`, best first, as `DocumentRepository.search`."""
        return self._documents.search(text_query=query, doc_type=doc_type, limit=limit)

    def list_documents(self, doc_type: DocumentType | str | None = None) -> list[Document]:
        """Return the documents, of one type or of all, by path."""
        return self._documents.all() if doc_type is None else self._documents.list_by_type(doc_type)
