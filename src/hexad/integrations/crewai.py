"""A storage for CrewAI's memory over a Hexad store (extra `crewai`)."""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from hashlib import blake2b
from math import hypot, isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Final

from hexad.core.arguments import (
    is_real,
    is_whole,
    parse_name,
    parse_text,
    parse_whole,
    quoted,
    word_list,
)
from hexad.errors import InvalidInput
from hexad.integrations.open_store import in_thread, values_of
from hexad.integrations.records import FrameworkRecord, Records
from hexad.memory.memory import Memory

try:
    from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
    from crewai.memory.types import MemoryRecord, ScopeInfo
except ModuleNotFoundError as error:
    raise ImportError(
        f"hexad.integrations.crewai needs the package {error.name!r}; install the extra: pip install 'hexad[crewai]'."
    ) from error

if TYPE_CHECKING:
    from hexad.engine import Hexad

__all__ = ["HexadStorage"]

_FIELD: Final = "crewai"
_VECTOR: Final = "embedding"
_TEXTS_LIMIT: Final = 4_096
"""So many of the newest texts are known by their vectors: those of one save or recall are some dozen."""
_HASH_DIMENSIONS: Final = 32


class HexadStorage:
    """What a crew remembers: `Memory(storage=storage, embedder=storage.embed)`.

    A record is a memory of the kind `record` in `space`, at the path of its scope and id; `trust` says who vouches for
    it. With `embedder=storage.embed` searches are the store's own recall, of words and meaning, and scores its
    relevance. With another embedder the vectors are kept with the records and compared one by one: meant for thousands
    of records. Deleted records are archived.

    Raises `InvalidInput` for anything but an open store. Safe to share between threads.
    """

    def __init__(self, store: Hexad, *, space: str = "default", trust: str = "agent") -> None:
        self._records = Records(
            store, space=space, kind="record", field=_FIELD, trust=trust, by="HexadStorage"
        )
        self._texts: OrderedDict[bytes, str] = OrderedDict()

    def __deepcopy__(self, memo: dict[int, Any]) -> HexadStorage:
        """Return itself: copies of a crew remember in the same store."""
        return self

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors by which this storage knows texts: those of the store's embedder where it has one."""
        texts = word_list(texts, "texts")
        embedder = self._records.hx._services.search.embedder
        rows = map(_hashed, texts) if embedder is None else embedder.embed([*texts])
        vectors = [[float(number) for number in row] for row in rows]
        for text, vector in zip(texts, vectors, strict=True):
            key = _key(vector)
            self._texts[key] = text
            self._texts.move_to_end(key)
        while len(self._texts) > _TEXTS_LIMIT:
            self._texts.popitem(last=False)
        return vectors

    # Writing ----------------------------------------------------------------------------------------------------

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records durably, all or none; one whose id is there takes its place."""
        such_as = "CrewAI, such as MemoryRecord(content='…')"
        listed = values_of(MemoryRecord, records, name="records", such_as=such_as)
        self._records.write({record.id: self._written(record) for record in listed}.values())

    def update(self, record: MemoryRecord) -> None:
        """Store a record in the place of the one of its id."""
        self.save([record])

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Archive the records that are all of this, and return how many; without any condition, all."""
        if older_than is not None and not isinstance(older_than, datetime):
            raise InvalidInput(
                f"older_than = {quoted(older_than)} must be a datetime.", argument="older_than"
            )
        _require_conditions(categories, metadata_filter)
        if record_ids is not None:
            record_ids = [*word_list(record_ids, "record_ids")]
        before = None if older_than is None else _time(older_than)
        chosen = [
            record.id
            for record in self._list(scope_prefix)
            if (record_ids is None or record.id in record_ids)
            and (before is None or _time(record.created_at) < before)
            and _is_of(record, categories, metadata_filter)
        ]
        self._records.archive(map(self._id, chosen))
        return len(chosen)

    def reset(self, scope_prefix: str | None = None) -> None:
        """Archive all records of a scope, or all."""
        self.delete(scope_prefix)

    # Reading ----------------------------------------------------------------------------------------------------

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return what answers best, with scores from 0 to 1, best first; nothing that has nothing in common."""
        if not _is_vector(query_embedding):
            raise InvalidInput(
                f"query_embedding = {quoted(query_embedding)} must be a list of numbers.",
                argument="query_embedding",
            )
        if not is_whole(limit):
            raise InvalidInput(f"limit = {quoted(limit)} must be a whole number.", argument="limit")
        if not is_real(min_score):
            raise InvalidInput(f"min_score = {quoted(min_score)} must be a number.", argument="min_score")
        _require_conditions(categories, metadata_filter)
        text = self._texts.get(_key(query_embedding))
        found = (
            self._nearest(query_embedding, scope_prefix)
            if text is None
            else self._recalled(text, scope_prefix, limit, categories, metadata_filter)
        )
        kept = [
            (record, score)
            for record, score in found
            if score >= min_score and _is_of(record, categories, metadata_filter)
        ]
        return kept[: max(0, limit)]

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return the record of this id, None where there is none."""
        own = self._id(parse_name(record_id, "record_id"))
        memory = self._records.get([own]).get(own)
        return None if memory is None else self._read(memory)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return the records of a scope, the newest first."""
        parse_whole(limit, "limit", least=0)
        parse_whole(offset, "offset", least=0)
        records = sorted(self._list(scope_prefix), key=lambda record: _time(record.created_at), reverse=True)
        return records[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return what there is in a scope and below it."""
        if not isinstance(scope, str):
            raise InvalidInput(f"scope = {quoted(scope)} must be a string, such as '/'.", argument="scope")
        records = [*self._list(scope)]
        times = sorted((record.created_at for record in records), key=_time)
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=sorted({category for record in records for category in record.categories}),
            oldest_record=times[0] if times else None,
            newest_record=times[-1] if times else None,
            child_scopes=_children(scope, records),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes directly below one."""
        return _children(parent, self._list(parent))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return the categories of a scope and how many records have each."""
        return dict(
            Counter(category for record in self._list(scope_prefix) for category in record.categories)
        )

    def count(self, scope_prefix: str | None = None) -> int:
        """Return how many records a scope has."""
        return sum(1 for _ in self._list(scope_prefix))

    # The same for coroutines, in a thread ------------------------------------------------------------------------

    async def asave(self, records: list[MemoryRecord]) -> None:
        """As `save`."""
        await in_thread(lambda: self.save(records))

    async def asearch(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """As `search`."""
        return await in_thread(
            lambda: self.search(query_embedding, scope_prefix, categories, metadata_filter, limit, min_score)
        )

    async def adelete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """As `delete`."""
        return await in_thread(
            lambda: self.delete(scope_prefix, categories, record_ids, older_than, metadata_filter)
        )

    # Records as memories ----------------------------------------------------------------------------------------

    def _id(self, record_id: str) -> str:
        return self._records.id_of(record_id)

    def _written(self, record: MemoryRecord) -> FrameworkRecord:
        content = record.model_dump(mode="json", exclude={"content", _VECTOR})
        text = record.content
        if not text.strip():
            content["content"], text = text, record.id
        if record.embedding and _key(record.embedding) not in self._texts:
            content[_VECTOR] = [float(f"{number:.6g}") for number in record.embedding]
        return FrameworkRecord(
            id=self._id(record.id), text=text, place=[*_parts(record.scope), record.id], content=content
        )

    def _read(self, memory: Memory) -> MemoryRecord:
        return MemoryRecord.model_validate({"content": memory.raw, **self._records.content_of(memory)})

    def _list(self, scope: str | None) -> Iterator[MemoryRecord]:
        parts = _parts(scope)
        for memory in self._records.list(parts):
            record = self._read(memory)
            if _parts(record.scope)[: len(parts)] == parts:
                yield record

    def _recalled(
        self,
        text: str,
        scope: str | None,
        limit: int,
        categories: Collection[str] | None,
        metadata: Mapping[str, Any] | None,
    ) -> list[tuple[MemoryRecord, float]]:
        parts = _parts(scope)

        def keep(memory: Memory) -> bool:
            record = self._read(memory)
            return _parts(record.scope)[: len(parts)] == parts and _is_of(record, categories, metadata)

        found = self._records.search(text, place=parts, limit=max(1, limit), keep=keep)
        return [(self._read(memory), score) for memory, score in found if score is not None]

    def _nearest(self, vector: Sequence[float], scope: str | None) -> list[tuple[MemoryRecord, float]]:
        """Return records by the cosine of their own vectors with one that this storage did not make."""
        import numpy as np

        records = [*self._list(scope)]
        own = [(record, record.embedding) for record in records if record.embedding]
        if records and not own:
            raise InvalidInput(
                "The records were stored with the embedder of the storage, and the question with another; give Memory "
                "the same one: embedder=storage.embed.",
                argument="embedder",
            )
        for _, values in own:
            if len(values) != len(vector):
                raise EmbeddingDimensionMismatchError(len(values), len(vector))
        rows, asked = np.array([values for _, values in own]).reshape(-1, len(vector)), np.array(vector)
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
        scores = np.clip(rows @ asked / np.where(lengths == 0, 1, lengths), 0, 1)
        return [(own[at][0], float(scores[at])) for at in np.argsort(-scores, kind="stable")]


def _key(vector: Sequence[float]) -> bytes:
    return array("f", vector).tobytes()


def _hashed(text: str) -> list[float]:
    """Return a vector that tells a text from others, and nothing more."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_DIMENSIONS).digest()
    row = [byte - 127.5 for byte in digest]
    return [number / hypot(*row) for number in row]


def _is_vector(values: object) -> bool:
    """Whether these are numbers, NumPy's too."""
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable):
        return False
    return all(isinstance(value, Real) and isfinite(value) for value in values)


def _require_conditions(categories: object, metadata: object) -> None:
    """Raise `InvalidInput` for conditions that are none: what is blank would pass for no condition at all."""
    if categories is not None:
        word_list(categories, "categories")  # type: ignore[arg-type]  # what is no list is refused there
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput(
            f"metadata_filter = {quoted(metadata)} must be a dictionary of values.",
            argument="metadata_filter",
        )


def _parts(scope: str | None) -> list[str]:
    parse_text(scope, "scope_prefix")
    return [part for part in (scope or "").split("/") if part]


def _children(parent: str, records: Iterable[MemoryRecord]) -> list[str]:
    above = _parts(parent)
    below = (_parts(record.scope)[: len(above) + 1] for record in records)
    return sorted({"/" + "/".join(parts) for parts in below if len(parts) > len(above)})


def _is_of(
    record: MemoryRecord, categories: Collection[str] | None, metadata: Mapping[str, Any] | None
) -> bool:
    return (not categories or any(category in record.categories for category in categories)) and all(
        name in record.metadata and record.metadata[name] == value for name, value in (metadata or {}).items()
    )


def _time(at: datetime) -> datetime:
    """Return a time that can be compared: CrewAI's have no zone and are UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
