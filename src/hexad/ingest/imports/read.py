"""What another memory system holds, as items: one reader for each format, chosen here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Final, Protocol

from hexad.database.codec import to_micros
from hexad.errors import InvalidInput
from hexad.ingest.imports.claude_mem import count_claude_mem, read_claude_mem
from hexad.ingest.imports.mem0 import read_mem0
from hexad.ingest.imports.memory_md import read_memory_md
from hexad.ingest.imports.mempalace import read_mempalace
from hexad.ingest.imports.records import Placed, fitting, fitting_skip
from hexad.ingest.imports.server_memory import read_server_memory
from hexad.ingest.sources.detect import ReadOptions, SourceSpec
from hexad.ingest.sources.items import ItemIntake
from hexad.ingest.sources.read import count
from hexad.ingest.write.redaction import Redactor
from hexad.memory.draft import Draft
from hexad.memory.memory import Memory, Outcome
from hexad.memory.source import FOREIGN, ImportedFields, Item, Skip, SourceKind, Unchanged
from hexad.memory.store import Stores
from hexad.memory.tables.sources import ItemState

_READERS: Final[Mapping[SourceKind, Callable[[Path], Iterator[Placed | Skip]]]] = {
    SourceKind.MEM0: read_mem0,
    SourceKind.CLAUDE_MEM: read_claude_mem,
    SourceKind.MEMPALACE: read_mempalace,
    SourceKind.MEMORY_MD: read_memory_md,
    SourceKind.SERVER_MEMORY: read_server_memory,
}


def read_foreign(path: Path, *, kind: SourceKind, options: ReadOptions) -> Iterator[Item | Skip | Unchanged]:
    """Give the items of an export or a file; raises `InvalidInput` for one that is not of this kind, at once."""
    intake = ItemIntake(limit_bytes=options.max_file_bytes, known=lambda _: None)
    placed = _READERS[kind](path)
    first = next(placed, None)
    return _items(intake, placed if first is None else chain((first,), placed))


def _items(intake: ItemIntake, placed: Iterator[Placed | Skip]) -> Iterator[Item | Skip | Unchanged]:
    for entry in placed:
        if isinstance(entry, Skip):
            yield fitting_skip(entry)
            continue
        for taken in intake.take(fitting(entry[1]), where=entry[0]):
            yield fitting_skip(taken) if isinstance(taken, Skip) else taken


def count_things(spec: SourceSpec, *, options: ReadOptions) -> int | None:
    """Return about how many items there are, for a progress bar; None where only reading can tell."""
    if spec.kind not in FOREIGN or spec.path is None:
        return count(spec, options=options)
    return count_claude_mem(spec.path) if spec.kind is SourceKind.CLAUDE_MEM else None


_BATCH: Final = 500


def claimed(draft: Draft, claim: ImportedFields) -> Draft:
    """Return a draft with what another system claims of it."""
    return replace(
        draft,
        subject=claim.subject,
        attribute=claim.attribute,
        value=claim.value,
        valid_to=claim.valid_to,
        confidence=claim.confidence,
        data_subjects=claim.data_subjects or None,
    )


def repeats(memory: Memory) -> bool:
    """Whether an item of another system was not stored: what came back is the memory that says so already."""
    assert memory.receipt is not None
    return memory.receipt.outcome in (Outcome.EVIDENCE, Outcome.ECHO)


def said_of(memory: Memory) -> str:
    """Return in words why an item was not stored."""
    assert memory.receipt is not None
    if memory.receipt.outcome is Outcome.ECHO:
        return f"a recall handed it out before, from {memory.id}: it was not stored"
    return f"{memory.id} says so already: counted as evidence for it"


class Relate(Protocol):
    """Lets a link that somebody drew stand in the graph, too."""

    def __call__(self, source: int, target: int, kind: str, /, *, at: int) -> None:
        """Connect two memories that a caller linked."""


class Linking:
    """Draws the links that the items of a run claim, when all of them are stored."""

    def __init__(self, stores: Stores, redactor: Redactor, relate: Relate) -> None:
        self._stores, self._redactor, self._relate = stores, redactor, relate
        self._claimed: dict[str, tuple[tuple[str, str], ...]] = {}

    def note(self, item: Item) -> None:
        """Take note of what an item claims to be linked with."""
        if item.claim is not None and item.claim.links and item.source_id is not None:
            self._claimed[item.source_id] = item.claim.links

    def draw(self, states: Mapping[str, ItemState], *, at: datetime) -> int:
        """Draw what is not there yet; returns how many. What leads to an item without a memory is left out.

        Links that the other system no longer has stay: nothing says that nobody here relies on them.
        """
        pairs = [
            (source, target, kind)
            for name, links in self._claimed.items()
            for kind, to in links
            if (source := _number(states, name)) is not None
            and (target := _number(states, to)) is not None
            and source != target
            and self._speakable(kind)
        ]
        drawn = 0
        for start in range(0, len(pairs), _BATCH):
            with self._stores.db.transaction():
                for source, target, kind in pairs[start : start + _BATCH]:
                    if self._stores.links.put(source, target, kind, at=at):
                        self._relate(source, target, kind, at=to_micros(at))
                        drawn += 1
        return drawn

    def _speakable(self, kind: str) -> bool:
        try:
            self._redactor.refuse_secret_link(kind)
        except InvalidInput:
            return False
        return True


def _number(states: Mapping[str, ItemState], name: str) -> int | None:
    state = states.get(name)
    return None if state is None or state.hidden else state.memory_no
