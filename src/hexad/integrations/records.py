"""Records of a framework as memories: a text that recalls find, and beside it what the framework reads back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from hexad.core.arguments import parse_choice
from hexad.core.json_types import JSONValue
from hexad.engine import Hexad
from hexad.errors import Conflict, InvalidInput, NotFound
from hexad.integrations.open_store import require_open_store
from hexad.memory.draft import Draft
from hexad.memory.memory import Memory, Status, Trust
from hexad.memory.query import Filters
from hexad.search.recall.query_terms import RecallOptions
from hexad.search.vectors.table import Vectors
from hexad.text.paths import PATH_LIMIT, validate_space

if TYPE_CHECKING:
    from hexad.providers.embedders.rows import FloatRows

_NOT_IN_A_PART: Final = re.compile(r"[%/*?\[\]\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|^[\s.]|\s$")
"""What a part of a memory's path may not hold, or means there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkRecord:
    """A text under an id, at a place, with what the framework reads back as JSON."""

    id: str
    text: str
    place: Sequence[str]
    content: Mapping[str, JSONValue]
    valid_to: datetime | None = None
    about: str | None = None
    """Whose data it is."""


class Records:
    """The records of one framework in one space: memories of a `kind`, whose metadata have `content` under `field`.

    What is stored passes redaction and the gate as every memory does; what a review holds back is not read.
    """

    def __init__(self, store: object, *, space: str, kind: str, field: str, trust: str, by: str) -> None:
        self.hx: Hexad = require_open_store(store, by=by)
        self._space, self._kind, self._field = validate_space(space), kind, field
        self._trust = parse_choice(Trust, trust, "trust")
        self._has_new = False
        services = self.hx._services
        if not services.db.readonly and not self._has_space():
            with suppress(Conflict):  # another program was first
                self.hx.spaces.create(space)

    def id_of(self, *names: str) -> str:
        """Return the id of the memory of what has these names: the same ones give the same id."""
        named = json.dumps([self._space, *names]).encode()
        return f"{self._kind}_{blake2b(named, digest_size=16).hexdigest()}"

    def content_of(self, memory: Memory) -> Mapping[str, JSONValue]:
        """Return what the framework reads back."""
        content = memory.metadata[self._field]
        assert isinstance(content, Mapping), memory.id
        return content

    # Writing ----------------------------------------------------------------------------------------------------

    def write(self, records: Iterable[FrameworkRecord]) -> None:
        """Store records in one transaction; one whose id is there takes its place."""
        drafts = [
            Draft(
                id=record.id,
                text=record.text,
                space=self._space,
                kind=self._kind,
                path=path_of(record.place),
                trust=self._trust,
                valid_to=record.valid_to,
                data_subjects=None if record.about is None else (record.about,),
                metadata={self._field: dict(record.content)},
            )
            for record in records
        ]
        if not drafts:
            return
        services = self.hx._services
        services.handouts.flush()
        services.ingest().writer.write(drafts)
        services.wake()
        self._has_new = True

    def archive(self, ids: Iterable[str]) -> None:
        """Take records out of recall; `hx.restore` brings one back. What is not there is no error."""
        for memory in self.get(ids).values():
            with suppress(NotFound):  # somebody purged it meanwhile
                self.hx.forget(memory.id)

    # Reading ----------------------------------------------------------------------------------------------------

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return the memories of these ids, those that are active records of this framework."""
        found: dict[str, Memory] = {}
        for own in ids:
            with suppress(NotFound):
                memory = self.hx.get(own)
                if self._is_record(memory):
                    found[own] = memory
        return found

    def list(self, place: Sequence[str] = ()) -> Iterator[Memory]:
        """Yield the records below a place, the last changed first."""
        if not self._has_space():
            return
        for memory in self.hx.memories(space=self._space, kinds=[self._kind], path=_below(place), limit=None):
            if self._is_record(memory):
                yield memory

    def search(
        self, query: str, *, place: Sequence[str] = (), limit: int, keep: Callable[[Memory], bool]
    ) -> Sequence[tuple[Memory, float | None]]:
        """Return what best answers a question and passes `keep`, with its relevance; then the rest, with None.

        What this object stored is embedded first, so that it is found by its meaning as well.
        """
        if not self._has_space():
            return ()
        if self._has_new and not self.hx._services.db.readonly:
            self.hx.embed_pending()
            self._has_new = False
        found = self._recalled(query, place, limit, keep)
        if len(found) < limit:  # what is left out may have taken the places of others
            passing = {memory.id: memory for memory in self.list(place) if keep(memory)}
            if len(found) < len(passing):
                found = self._recalled_of(query, passing, limit)
            # A recall folds repeats, and leaves out what has nothing in common with the question.
            for id, memory in passing.items():
                found.setdefault(id, (memory, None))
        return tuple(found.values())[:limit]

    def require_embedder(self, call: str, *, instead: str) -> None:
        """Raise `InvalidInput` for a store that makes no vectors; `instead` is the call that needs none."""
        if self.hx._services.search.embedder is None:
            raise InvalidInput(
                f"{call} compares vectors, and this store has no embedder: open it with one, "
                f"hexad.open(path, embedder=…), or call {instead}."
            )

    def vectors(self, query: str, memories: Sequence[Memory]) -> tuple[FloatRows, Sequence[FloatRows]]:
        """Return the vector of a question and those of memories; what has none yet is embedded for this answer."""
        services = self.hx._services
        embedder = services.search.embedder
        assert embedder is not None, "require_embedder was called"
        stored: Mapping[int, FloatRows] = {}
        numbers = services.stores.memories.numbers_named([memory.id for memory in memories])
        if services.search.index() is not None:  # else they are another embedder's
            stored = Vectors(services.db).of_memories(numbers.values())
        rows = {id: stored[no] for id, no in numbers.items() if no in stored}
        if missing := [memory for memory in memories if memory.id not in rows]:
            made = embedder.embed([memory.raw for memory in missing])
            rows.update((memory.id, row) for memory, row in zip(missing, made, strict=True))
        return embedder.embed_query(query), [rows[memory.id] for memory in memories]

    def _recalled_of(
        self, query: str, memories: Mapping[str, Memory], limit: int
    ) -> dict[str, tuple[Memory, float | None]]:
        options = RecallOptions(
            filters=Filters(spaces=(self._space,), ids=tuple(memories), roles=self.hx._services.stores.roles),
            limit=limit,
            min_relevance=0.0,
        )
        hits = self.hx._services.search.recaller.recall(query, options)
        return {hit.id: (hit.memory, hit.relevance) for hit in hits if hit.id in memories}

    def _recalled(
        self, query: str, place: Sequence[str], limit: int, keep: Callable[[Memory], bool]
    ) -> dict[str, tuple[Memory, float | None]]:
        hits = self.hx.recall(
            query, space=self._space, kinds=[self._kind], path=_below(place), limit=limit, min_relevance=0.0
        )
        return {
            hit.id: (hit.memory, hit.relevance)
            for hit in hits
            if self._is_record(hit.memory) and keep(hit.memory)
        }

    def _is_record(self, memory: Memory) -> bool:
        return (
            memory.space == self._space
            and memory.status is Status.ACTIVE
            and isinstance(memory.metadata.get(self._field), Mapping)
        )

    def _has_space(self) -> bool:
        """Whether the space is there: a store that is only read may lack it."""
        return self.hx._services.stores.spaces.find(self._space) is not None


def path_of(place: Sequence[str]) -> str:
    """Return the path of a memory at a place, its last part a hash where it would be too long."""
    parts = [_NOT_IN_A_PART.sub(lambda found: _encoded(found.group()), part) or "%" for part in place]
    path = "/".join(parts)
    if len(path) <= PATH_LIMIT:
        return path
    digest = blake2b(path.encode(), digest_size=16).hexdigest()
    return f"{'/'.join(parts[:-1])[: PATH_LIMIT - len(digest) - 1].rstrip('/')}/{digest}"


def _encoded(character: str) -> str:
    return "%2E" if character == "." else quote(character, safe="", errors="surrogatepass")


def _below(place: Sequence[str]) -> str | None:
    """Return the path that asks for what is below a place; None for all, and where it is too long to ask."""
    path = "/".join(_NOT_IN_A_PART.sub(lambda found: _encoded(found.group()), part) or "%" for part in place)
    return path if place and len(path) < PATH_LIMIT // 2 else None
