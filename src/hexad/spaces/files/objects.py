"""A memory as an object of a space file: document 1's keys, and Hexad's own where they say something.

What reading or recalling changes (`last_used_at`, how often a text was said) is not written, so that the same memories
give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.memory.memory import Chunk, Memory
from hexad.text.chunking import Section

DEFAULTS: Final[Mapping[str, JSONValue]] = {
    "importance": 0.5, "confidence": 1.0, "valid_from": None, "valid_to": None, "supersedes": None, "trust": "user",
    "status": "active", "citations": [], "subject": None, "attribute": None, "value": None, "data_subjects": [],
    "source": None, "source_id": None, "turn": None,
}  # fmt: skip
"""Hexad's own keys, in the order in which they are written, with the values that are not."""
_DOCUMENT_1: Final = (
    "id", "path", "kind", "raw", "summary_micro", "summary_short", "summary_long", "tags", "metadata", "relevance",
    "pinned", "chunks", "created_at", "updated_at",
)  # fmt: skip
KNOWN: Final = frozenset((*_DOCUMENT_1, *DEFAULTS, "space", "last_used_at", "evidence"))
"""Keys that reading understands; any other is kept as it is."""


def object_of(memory: Memory) -> dict[str, JSONValue]:
    """Return the object that stands for a memory; whoever reads it gets all of the memory back."""
    record = memory.to_dict()
    found = {key: record[key] for key in _DOCUMENT_1}
    found["chunks"] = _chunks(memory)
    found.update({key: record[key] for key, default in DEFAULTS.items() if record[key] != default})
    return found


def _chunks(memory: Memory) -> list[JSONValue]:
    """Chunks as document 1 has them, and what a reader could not know: headings, and places not found again."""
    texts = [memory.chunk_text(chunk) for chunk in memory.chunks]
    places = locate(memory.raw, texts)
    return [
        _chunk(memory, chunk, text, None if places is None else places[seq])
        for seq, (chunk, text) in enumerate(zip(memory.chunks, texts, strict=True))
    ]


def _chunk(memory: Memory, chunk: Chunk, text: str, place: Section | None) -> dict[str, JSONValue]:
    found: dict[str, JSONValue] = {"chunk_id": chunk.chunk_id, "text": text}
    if chunk.heading:
        found["heading"] = chunk.heading
    if place is None or place.start != chunk.start:
        found["start"] = chunk.start
    lines = line_span(memory.raw, chunk.start, text)
    if (chunk.first_line, chunk.last_line) != lines:
        found["lines"] = [chunk.first_line, chunk.last_line]
    return found


def line_span(raw: str, start: int, text: str) -> tuple[int, int]:
    """Return the first and last line of a span, where the text's first line is line 1."""
    first = 1 + raw.count("\n", 0, start)
    return first, first + text.count("\n")


def locate(raw: str, texts: Sequence[str]) -> list[Section] | None:
    """Return where the texts stand in `raw`, one after the other; None when one is not found."""
    sections: list[Section] = []
    at = 0
    for text in texts:
        start = raw.find(text, at) if text else -1
        if start < 0:
            return None
        first, last = line_span(raw, start, text)
        at = start + len(text)
        sections.append(Section(start=start, end=at, first_line=first, last_line=last))
    return sections
