"""From records to items: ids that are used once, texts that fit a memory, and what the store has already."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from io import StringIO
from typing import Final

from hexad.core.arguments import is_whole
from hexad.core.clock import format_time
from hexad.core.ids import content_hash, hash64
from hexad.core.json_types import JSONValue
from hexad.ingest.sources.files import parts_of
from hexad.memory.source import Item, KnownItem, Skip, Unchanged

_NAME_LIMIT: Final = 512

_ENCODER: Final = json.JSONEncoder(sort_keys=True)
"""Made once: `json.dumps` makes another one for each item."""

Lookup = Callable[[str], KnownItem | None]


class ItemIntake:
    """Checks items of one source as they come."""

    def __init__(self, *, limit_bytes: int, known: Lookup) -> None:
        self._limit_bytes = limit_bytes
        self._known = known
        # Hashes: a source of a million turns costs some tens of megabytes.
        self._used: set[int] = set()

    def take(self, item: Item, *, where: str, named: bool = True) -> Iterator[Item | Skip | Unchanged]:
        """Give the item, its parts, or why it is not given; `where` names its place for a reader.

        `named` says whether the source gave it its id, or its place did.
        """
        assert item.source_id is not None
        if (mark := hash64(item.source_id)) in self._used:
            reason = f"the id {item.source_id!r} was used before in this source"
            if not named:
                reason = f"it has no id, and the name of its place, {item.source_id!r}, is another's id; give it an id"
            yield Skip(source_id=where, reason=f"{where}: {reason}")
            return
        self._used.add(mark)
        if not item.text.strip():
            yield Skip(source_id=item.source_id, reason=f"{where}: it has no text")
            return
        item = replace(item, content_hash=_item_hash(item))
        if len(item.text) * 4 <= self._limit_bytes or len(item.text.encode()) <= self._limit_bytes:
            yield self._or_unchanged(item)
            return
        for part in parts_of(StringIO(item.text), limit=self._limit_bytes):
            metadata = {**item.metadata, "part": part.number}
            yield self._or_unchanged(
                replace(
                    item,
                    source_id=f"{item.source_id}#part-{part.number}" if part.number > 1 else item.source_id,
                    text=part.text,
                    first_line=part.first_line,
                    sections=(),
                    metadata=metadata,
                )
            )

    def _or_unchanged(self, item: Item) -> Item | Unchanged:
        assert item.source_id is not None
        before = self._known(item.source_id)
        if before is not None and before.content_hash == item.content_hash:
            return Unchanged(source_id=item.source_id, fingerprint=item.fingerprint)
        return item


def _item_hash(item: Item) -> str:
    """Return the hash of all that the record says: a changed time or tag makes it another."""
    turn = item.turn
    values = [
        *(item.text, item.kind, item.path, item.title, format_time(item.time) if item.time else None),
        *(list(item.tags), [turn.conversation, turn.session, turn.position, turn.speaker] if turn else None),
    ]
    if item.claim is not None:
        values.append(repr(item.claim))
    return content_hash(_ENCODER.encode([*values, dict(item.metadata)]))


def text_field(record: Mapping[str, object], *names: str) -> str | None:
    """Return the first of the fields that is there as text or a number; None when there is none."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()[:_NAME_LIMIT]
        if is_whole(value):
            return str(value)
    return None


def other_fields(record: Mapping[str, object], taken: frozenset[str]) -> dict[str, JSONValue]:
    """Return what else the record holds; the values came from JSON and are JSON."""
    return {name: value for name, value in record.items() if name not in taken}  # type: ignore[misc]
