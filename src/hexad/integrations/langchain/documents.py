"""`HexadVectorStore`, whose documents are memories, and `HexadRetriever`, whose documents are what a recall finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar, cast
from uuid import uuid4

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from pydantic import BeforeValidator, model_validator

from hexad.core.arguments import is_number, parse_name, parse_whole, quoted, value_list
from hexad.core.json_types import JSONValue
from hexad.engine import Hexad
from hexad.errors import InvalidInput
from hexad.integrations.open_store import values_of
from hexad.integrations.records import FrameworkRecord, Records
from hexad.integrations.value_filters import matches, require_filter
from hexad.memory.memory import Memory
from hexad.memory.query import Hit

_FIELD: Final = "langchain"
_ID, _METADATA = "id", "metadata"
_T = TypeVar("_T")
_DOCUMENTS: Final = 4
"""So many documents an answer has where nobody says otherwise, as in LangChain."""
_FETCHED: Final = 20
"""So many of the best documents are compared with each other where nobody says otherwise, as in LangChain."""
_BY_VECTOR: Final = (
    "{}: the store makes the vectors itself and is asked with a text; call {} with the question."
)

DocumentFilter = Mapping[str, Any] | Callable[[Document], bool]
"""What documents have to be like: values that their metadata have, comparisons of these, or a function."""


class HexadVectorStore(VectorStore):
    """A LangChain vector store over an open Hexad store: a document is a memory, governed as any other.

    Documents lie in `space`, below the path `collection`. Searches are the store's own recalls, of words and meaning,
    with its embedder: `hexad.open(path, embedder=embeddings.embed_documents)` takes one of LangChain. `trust` says who
    vouches for the documents: user, agent, tool, web or unknown. A deleted document is archived.
    """

    def __init__(
        self, store: Hexad, *, space: str = "default", collection: str = "documents", trust: str = "user"
    ) -> None:
        self._records = Records(
            store, space=space, kind="document", field=_FIELD, trust=trust, by="HexadVectorStore"
        )
        self._collection = parse_name(collection, "collection")

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,  # noqa: ARG002 - what other vector stores take
    ) -> list[str]:
        """Store texts in one transaction and return their ids; a text whose id is there takes its place.

        Raises `InvalidInput` where one id stands for two texts that differ: only the last would be kept.
        """
        listed = value_list(texts, "texts", of="texts")
        described = _one_each(metadatas, "metadatas", "dictionary", Mapping, count=len(listed))
        own_ids = _one_each(ids, "ids", "string", str, count=len(listed))
        names = [str(uuid4()) if own is None else _named(own) for own in own_ids]
        _require_one_document_each(names, listed, described)
        self._records.write(
            FrameworkRecord(
                id=self._id(name),
                text=text,
                place=[self._collection, name],
                content={_ID: name, _METADATA: cast(JSONValue, metadata or {})},
            )
            for name, text, metadata in zip(names, listed, described, strict=True)
        )
        return names

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """Store documents in one transaction and return their ids; one whose id is there takes its place."""
        return super().add_documents(_documents(documents), **kwargs)

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool | None:  # noqa: ARG002
        """Archive the documents of these ids, all of the collection where none are given; returns True."""
        if ids is None:
            self._records.archive([memory.id for memory in self._records.list([self._collection])])
        else:
            self._records.archive([self._id(own) for own in _ids(ids)])
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents of these ids; what is not there is left out."""
        found = self._records.get([self._id(own) for own in _ids(ids)])
        return [self._document(memory) for memory in found.values()]

    def similarity_search(
        self, query: str, k: int = _DOCUMENTS, filter: DocumentFilter | None = None, **kwargs: Any
    ) -> list[Document]:
        """Return the `k` documents that answer best, best first."""
        return [document for document, _ in self.similarity_search_with_score(query, k, filter, **kwargs)]

    def similarity_search_with_score(  # type: ignore[override]
        self,
        query: str,
        k: int = _DOCUMENTS,
        filter: DocumentFilter | None = None,
        **kwargs: Any,  # noqa: ARG002 - what other vector stores take
    ) -> list[tuple[Document, float]]:
        """Return the `k` documents that answer best, each with how likely it does, 0 to 1."""
        found = self._found(query, parse_whole(k, "k", least=0), filter)
        return [(self._document(memory), relevance or 0.0) for memory, relevance in found]

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = _DOCUMENTS, **kwargs: Any
    ) -> list[Document]:
        """Raise `NotImplementedError`, as LangChain has it, with what to call instead."""
        raise NotImplementedError(_BY_VECTOR.format("similarity_search_by_vector", "similarity_search"))

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = _DOCUMENTS,
        fetch_k: int = _FETCHED,
        lambda_mult: float = 0.5,
        filter: DocumentFilter | None = None,
        **kwargs: Any,  # noqa: ARG002 - what other vector stores take
    ) -> list[Document]:
        """Return `k` of the `fetch_k` best documents that answer and differ from each other, the best first; no more
        than `fetch_k`.

        `lambda_mult` is 1 for those that answer best, 0 for those that differ most. What is compared are the vectors of
        the store's embedder; raises `InvalidInput` for a store without one.
        """
        if not is_number(lambda_mult, 0, 1):
            raise InvalidInput(
                f"lambda_mult = {quoted(lambda_mult)} must be a number from 0 to 1.", argument="lambda_mult"
            )
        limit, fetched = parse_whole(k, "k", least=0), parse_whole(fetch_k, "fetch_k", least=0)
        self._records.require_embedder("max_marginal_relevance_search", instead="similarity_search")
        memories = [memory for memory, _ in self._found(query, fetched, filter)]
        asked, rows = self._records.vectors(query, memories)
        chosen = maximal_marginal_relevance(asked, cast("list[list[float]]", rows), lambda_mult, limit)
        return [self._document(memories[at]) for at in chosen]

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = _DOCUMENTS,
        fetch_k: int = _FETCHED,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """Raise `NotImplementedError`, as LangChain has it, with what to call instead."""
        raise NotImplementedError(
            _BY_VECTOR.format("max_marginal_relevance_search_by_vector", "max_marginal_relevance_search")
        )

    def _found(
        self, query: str, limit: int, wanted: DocumentFilter | None
    ) -> Sequence[tuple[Memory, float | None]]:
        if wanted is not None and not callable(wanted):
            require_filter(wanted)
        return self._records.search(
            query,
            place=[self._collection],
            limit=limit,
            keep=lambda memory: wanted is None or _passes(self._document(memory), wanted),
        )

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = _DOCUMENTS, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        return self.similarity_search_with_score(query, k, **kwargs)

    @classmethod
    def from_documents(
        cls, documents: list[Document], embedding: Embeddings | None = None, **kwargs: Any
    ) -> HexadVectorStore:
        """Return a vector store with these documents, as `from_texts` does of texts."""
        return super().from_documents(_documents(documents), cast(Embeddings, embedding), **kwargs)

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        store: Hexad | None = None,
        **kwargs: Any,
    ) -> HexadVectorStore:
        """Return a vector store over `store` with these texts. Raises `InvalidInput` for an embedding of its own."""
        if embedding is not None:
            raise InvalidInput(
                "Vectors are made by the store's embedder: hexad.open(path, embedder=embedding.embed_documents), and "
                "leave embedding out.",
                argument="embedding",
            )
        made = cls(cast(Hexad, store), **kwargs)  # what is no store is refused there
        made.add_texts(texts, metadatas, ids=ids)
        return made

    def _id(self, name: str) -> str:
        return self._records.id_of(self._collection, name)

    def _document(self, memory: Memory) -> Document:
        content = self._records.content_of(memory)
        return Document(
            page_content=memory.raw,
            id=str(content[_ID]),
            metadata=dict(cast(Mapping[str, Any], content[_METADATA])),
        )


def _documents(documents: Iterable[Document]) -> list[Document]:
    """Return documents; raises `InvalidInput` for what is none of LangChain's."""
    such_as = "LangChain, such as Document(page_content='…')"
    return [*values_of(Document, documents, name="documents", such_as=such_as)]


def _ids(ids: Iterable[str]) -> list[str]:
    return [_named(own) for own in value_list(ids, "ids", of="ids")]


def _named(own: object) -> str:
    """Return an id; raises `InvalidInput` for a blank one, under which nothing would be found again."""
    if not isinstance(own, str) or not own.strip():
        raise InvalidInput(f"ids has {quoted(own)}; an id is a string that is not blank.", argument="ids")
    return own


def _require_one_document_each(
    ids: Iterable[str], texts: Iterable[object], metadatas: Iterable[Mapping[str, Any] | None]
) -> None:
    """Raise `InvalidInput` where one id stands for texts that differ, or for one text with other metadata."""
    documents: dict[str, tuple[object, Mapping[str, Any]]] = {}
    for own, text, metadata in zip(ids, texts, metadatas, strict=True):
        document = (text, metadata or {})
        if documents.setdefault(own, document) != document:
            raise InvalidInput(
                f"ids has {quoted(own)} for two texts that differ; give each text an id of its own.",
                argument="ids",
            )


def _one_each(
    given: Iterable[_T | None] | None, name: str, what: str, kind: type, *, count: int
) -> Sequence[_T | None]:
    """Return what goes with each of `count` texts, None where nothing is given; raises `InvalidInput`."""
    if given is None:
        return [None] * count
    values = value_list(given, name, of=name)
    if len(values) != count:
        raise InvalidInput(f"{count} texts have {len(values)} {name}; give one for each.", argument=name)
    for value in values:
        if value is not None and not isinstance(value, kind):
            raise InvalidInput(f"{name} has {quoted(value)}; give a {what} for each text.", argument=name)
    return values


def _store(store: object) -> object:
    """Refuse what is no store when the retriever is made; pydantic passes errors on that are no `ValueError`."""
    if not callable(getattr(store, "recall", None)):
        raise InvalidInput(
            f"store = {quoted(store)} must be an open store or a `hexad.connect`.", argument="store"
        )
    return store


class HexadRetriever(BaseRetriever):
    """A LangChain retriever over a Hexad store, open or connected: what `hx.recall` finds, whoever stored it.

    `k` documents at most, of `space`, of `kinds`, with at least `min_relevance`; each is the passage that answers, with
    id, path, relevance and where it is from in its metadata, and what has taken its place since.
    """

    store: Annotated[Any, BeforeValidator(_store)]
    k: int = _DOCUMENTS
    space: str | list[str] | None = None
    kinds: list[str] | None = None
    min_relevance: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _require_known(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Raise `InvalidInput` for a field that is none: without the one that was meant, all is searched."""
        if unknown := fields.keys() - cls.model_fields.keys():
            raise InvalidInput(
                f"{min(unknown)!r} is no field of the retriever; it has {', '.join(cls.model_fields)}."
            )
        parse_whole(fields.get("k", _DOCUMENTS), "k", least=1)
        for name in ("space", "kinds"):
            given = fields.get(name)
            listed = isinstance(given, list | tuple) and all(isinstance(each, str) for each in given)
            if not (given is None or listed or (name == "space" and isinstance(given, str))):
                raise InvalidInput(f"{name} = {quoted(given)} must be a list of names.", argument=name)
        least = fields.get("min_relevance")
        if least is not None and not is_number(least, 0, 1):
            raise InvalidInput(
                f"min_relevance = {quoted(least)} must be a number from 0 to 1.", argument="min_relevance"
            )
        return fields

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - for retrievers that call others
        k: int | None = None,
    ) -> list[Document]:
        hits = self.store.recall(
            query,
            space=self.space,
            kinds=self.kinds,
            limit=self.k if k is None else k,
            min_relevance=self.min_relevance,
        )
        return [_passage(hit) for hit in hits]


def _passage(hit: Hit) -> Document:
    memory, successor = hit.memory, hit.superseded_by
    metadata: dict[str, Any] = {
        "path": memory.path,
        "space": memory.space,
        "kind": memory.kind,
        "relevance": hit.relevance,
        "source": memory.source_id or memory.path,
        "updated_at": memory.updated_at.isoformat(),
        **memory.provenance(),
    }
    if successor is not None:
        metadata["superseded_by"] = successor.to_dict()
    if hit.assertion is not None:
        metadata["assertion"] = hit.assertion
    return Document(page_content=hit.text, id=hit.id, metadata=metadata)


def _passes(document: Document, wanted: DocumentFilter) -> bool:
    if callable(wanted):
        return wanted(document)
    return matches(document.metadata, wanted)
