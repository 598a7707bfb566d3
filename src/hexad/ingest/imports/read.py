"""What another memory system holds, as items: one reader for each format, chosen here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Final

from hexad.ingest.imports.claude_mem import count_claude_mem, read_claude_mem
from hexad.ingest.imports.coerce import fitting, fitting_skip
from hexad.ingest.imports.mem0 import read_mem0
from hexad.ingest.imports.memory_md import read_memory_md
from hexad.ingest.imports.mempalace import read_mempalace
from hexad.ingest.imports.records import Placed
from hexad.ingest.imports.server_memory import read_server_memory
from hexad.ingest.sources.detect import ReadOptions, SourceSpec
from hexad.ingest.sources.items import Intake
from hexad.ingest.sources.read import count
from hexad.memory.source import FOREIGN, Item, Skip, SourceKind, Unchanged

_READERS: Final[Mapping[SourceKind, Callable[[Path], Iterator[Placed | Skip]]]] = {
    SourceKind.MEM0: read_mem0,
    SourceKind.CLAUDE_MEM: read_claude_mem,
    SourceKind.MEMPALACE: read_mempalace,
    SourceKind.MEMORY_MD: read_memory_md,
    SourceKind.SERVER_MEMORY: read_server_memory,
}


def read_foreign(path: Path, *, kind: SourceKind, options: ReadOptions) -> Iterator[Item | Skip | Unchanged]:
    """Give the items of an export or a file; raises `InvalidInput` for one that is not of this kind, at once."""
    intake = Intake(limit_bytes=options.max_file_bytes, known=lambda _: None)
    found = _READERS[kind](path)
    first = next(found, None)
    return _items(intake, found if first is None else chain((first,), found))


def _items(intake: Intake, found: Iterator[Placed | Skip]) -> Iterator[Item | Skip | Unchanged]:
    for entry in found:
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
