"""What an embedder is given to read of a memory: each chunk, and the beginning of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hexad.memory.memory import Memory
from hexad.memory.tables.memories import StoredChunk
from hexad.text.tokens import CHARACTERS_PER_TOKEN

BEGINNING_TOKENS: Final = 256
"""How much of a memory its own vector reads: as much as the default embedder can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One text to embed; `chunk_no` None is the beginning of the whole memory.

    Several passages of one chunk make one vector, their mean.
    """

    memory_no: int
    chunk_no: int | None
    text: str


def passages(
    no: int, memory: Memory, chunks: Sequence[StoredChunk], *, before: tuple[str, str] | None = None
) -> list[Passage]:
    """Return what to embed of a memory: one passage a chunk, and one of the whole where there are several.

    A turn of a conversation has two passages for its one vector, which is their mean: what is said, and the same
    after what was said before it (`before`: speaker and text), for "Yes, on Tuesday" means nothing alone. Either
    alone finds less: turn R@10 .795 and .807 against .813. A later turn changes no vector.
    """
    title = str(memory.metadata.get("title", ""))
    if memory.turn is not None and len(chunks) == 1:
        spoken = [memory.raw, _exchange(memory, before)]
        return [Passage(memory_no=no, chunk_no=chunks[0].no, text=text) for text in spoken]
    found = [
        Passage(
            memory_no=no,
            chunk_no=stored.no,
            text=_titled(stored.chunk.heading or title, memory.chunk_text(stored.chunk)),
        )
        for stored in chunks
    ]
    if len(found) > 1:
        beginning = memory.raw[: BEGINNING_TOKENS * CHARACTERS_PER_TOKEN]
        found.append(Passage(memory_no=no, chunk_no=None, text=_titled(title, beginning)))
    return found


def _exchange(memory: Memory, before: tuple[str, str] | None) -> str:
    assert memory.turn is not None
    said = f"{memory.turn.speaker}: {memory.raw}"
    return said if before is None else f"{before[0]}: {before[1]}\n{said}"


def _titled(heading: str, text: str) -> str:
    """A heading says what a span is about, who said it and when; it is read first, unless the text has it."""
    return text if not heading or text.startswith(heading) else f"{heading}: {text}"
