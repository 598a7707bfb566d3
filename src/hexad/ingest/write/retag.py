"""A change of a memory's tags alone: its text, summaries, chunks, pin and vectors stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime

from hexad.ingest.write.merge import with_flags
from hexad.ingest.write.redaction import Redactor
from hexad.memory.draft import Draft
from hexad.memory.memory import Memory
from hexad.memory.policy import audience, parse_stored
from hexad.memory.store import Stores
from hexad.memory.tables.memories import MemoryTags, StoredChunk
from hexad.redaction.redact import RedactionRules
from hexad.search.indexer import Indexer
from hexad.text.normalize import slugs


class Retagger:
    """Adds and takes away tags; what a tag decides (full text, who may see the memory) follows in one transaction."""

    def __init__(
        self,
        stores: Stores,
        catalog: Indexer,
        redactor: Redactor,
        *,
        rules: Callable[[str], RedactionRules],
    ) -> None:
        self._stores = stores
        self._catalog = catalog
        self._redactor = redactor
        self._rules = rules
        self._tags = MemoryTags(stores.db)

    def change(self, no: int, *, add: Collection[str], remove: Collection[str], at: datetime) -> None:
        """Change the tags of memory `no`, in the caller's transaction; what is there or gone already is no error,
        and a tag that is added and taken away stays. What was taken out of a new tag leaves its hash.

        Raises `InvalidInput` for a tag without a letter or digit.
        """
        memory = self._stores.memories.by_no([no])[no]
        draft = Draft(text="", space=memory.space, tags=tuple(add))
        clean = self._redactor.clean(draft, self._rules(memory.space))
        tags = tuple(sorted(({*memory.tags} - {*slugs(remove)}) | {*slugs(clean.draft.tags or ())}))
        metadata = with_flags(memory.metadata, clean.flags)
        if tags == memory.tags and metadata == memory.metadata:
            return
        chunks = self._stores.memories.chunks_of([no]).get(no, [])
        contexts = {stored.no: _context(stored, memory, tags) for stored in chunks}
        with self._catalog.rewritten(no):
            self._tags.replace(no, tags, contexts, metadata=metadata, at=at)
        policies = parse_stored(self._stores.spaces.get(memory.space).policies)
        self._stores.audiences.assign(no, audience(policies, replace(memory, tags=tags)))


def _context(stored: StoredChunk, memory: Memory, tags: Sequence[str]) -> str:
    """Return the words under which a chunk is found, a line for each tag; full text does not mind their order."""
    lines = stored.context.split("\n") if stored.context else []
    for spoken in _spoken(memory.tags):
        if spoken in lines:
            lines.remove(spoken)
    return "\n".join([*lines, *_spoken(tags)])


def _spoken(tags: Sequence[str]) -> list[str]:
    return [tag.replace("-", " ") for tag in tags]
