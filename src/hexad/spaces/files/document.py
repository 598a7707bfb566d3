"""A space as one portable JSON file: document 1's MemorySpaceFile, written as it is read.

The same state gives the same bytes. A file that was read, and of which nothing changed since, is given back as it
was: its own keys, its own order. An object that does not say all that another store would need is written in full
where its memory would come back as another one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.database.codec import dump
from hexad.database.encryption.store_files import StoreFiles
from hexad.database.files import ensure_dir
from hexad.memory.memory import QUARANTINE, Memory, Status
from hexad.memory.policy import KNOWN as KNOWN_POLICIES
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.memory.tables.file_origins import Origin, fingerprint, space_fingerprint
from hexad.memory.tables.rows import batches
from hexad.memory.tables.spaces import Space
from hexad.spaces.files.fields import KNOWN, made_id, object_of
from hexad.text.paths import space_file_name

KEYS: Final = ("name", "created_at", "updated_at", "metadata", "policies", "objects")
"""Keys of a space file, in document 1's order."""
OBJECTS: Final = "objects"
_TIMES: Final = ("created_at", "updated_at")
_NEEDED: Final = ("id", "path", "kind", "raw", "summary_micro", "summary_short", "summary_long", *_TIMES)
"""Keys of an object without which another store makes up something of its own."""

Step = Callable[[int], None]
"""Is told how many objects are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceDocument:
    """A space's file before it is bytes. It reads the store as it goes: use it inside one `db.read()`.

    `head` holds all keys of the file in order; `objects` stands there for the list that `objects()` gives. With
    `alone`, what an object leaves to the store that reads it is said.
    """

    stores: Stores
    head: Mapping[str, JSONValue]
    numbers: Sequence[int]
    keep: Callable[[Memory], bool]
    alone: bool = False

    def objects(self) -> Iterator[Mapping[str, JSONValue]]:
        """Yield the objects in the file's order, some hundred in memory at a time."""
        for batch in batches(self.numbers):
            memories = self.stores.memories.by_no(batch)
            origins = self.stores.origins.get(batch)
            for no in batch:
                if self.keep(memories[no]):
                    yield written_object(memories[no], origins.get(no), alone=self.alone)

    def text(self, *, indent: int = 0, step: Step | None = None) -> Iterator[str]:
        """Yield the document as indented JSON, in pieces; `indent` is the depth at which it stands."""
        pad = "  " * (indent + 1)
        yield "{"
        for at, (key, value) in enumerate(self.head.items()):
            yield f"{',' if at else ''}\n{pad}{json.dumps(key, ensure_ascii=False)}: "
            if key == OBJECTS:
                yield from self._list(indent + 1, step)
            else:
                yield pretty(value, indent + 1)
        yield f"\n{'  ' * indent}}}"

    def _list(self, indent: int, step: Step | None) -> Iterator[str]:
        done = 0
        for done, entry in enumerate(self.objects(), start=1):
            yield f"{'[' if done == 1 else ','}\n{'  ' * (indent + 1)}{pretty(entry, indent + 1)}"
            if step is not None:
                step(done)
        yield f"\n{'  ' * indent}]" if done else "[]"

    def content_hash(self) -> tuple[str, int]:
        """Return the SHA-256 of the document's canonical JSON (keys sorted, no blanks), and how many objects it has."""
        digest, count = hashlib.sha256(b"{"), 0
        for at, key in enumerate(sorted(self.head)):
            digest.update(f"{',' if at else ''}{dump(key)}:".encode())
            if key != OBJECTS:
                digest.update(dump(self.head[key]).encode())
                continue
            digest.update(b"[")
            for entry in self.objects():
                digest.update((b"," if count else b"") + dump(entry).encode())
                count += 1
            digest.update(b"]")
        digest.update(b"}")
        return "sha256:" + digest.hexdigest(), count


def pretty(value: JSONValue, indent: int) -> str:
    """Return indented JSON whose first line stands where the caller is and whose others are `indent` deep."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return text.replace("\n", "\n" + "  " * indent) if indent else text


def canonical_hash(document: Mapping[str, JSONValue]) -> str:
    """Return what `SpaceDocument.content_hash` gives for the same document after it was read."""
    return "sha256:" + hashlib.sha256(dump(document).encode()).hexdigest()


def written_object(memory: Memory, origin: Origin | None, *, alone: bool) -> Mapping[str, JSONValue]:
    """Return the object that stands for a memory: the one it was read from as long as that still says it all.

    With `alone` nothing is left to the store that reads it, or to the rest of the file.
    """
    if origin is None or origin.full or not stands(memory, origin):
        return full_object(memory, origin)
    document = origin.object
    if (alone and not _is_whole(document)) or not _comes_back(memory, document):
        return full_object(memory, origin)
    return document


def stands(memory: Memory, origin: Origin) -> bool:
    """Whether the memory is what it was when its object was read."""
    return origin.fingerprint == fingerprint(memory)


def full_object(memory: Memory, origin: Origin | None) -> Mapping[str, JSONValue]:
    """Return all of a memory, with what the object that it was read from has besides."""
    unknown = {} if origin is None else {k: value for k, value in origin.object.items() if k not in KNOWN}
    return {**object_of(memory), **unknown}


def _is_whole(document: Mapping[str, JSONValue]) -> bool:
    metadata = document.get("metadata")
    return all(map(document.get, _NEEDED)) and isinstance(metadata, Mapping) and bool(metadata.get("project"))


def _comes_back(memory: Memory, document: Mapping[str, JSONValue]) -> bool:
    """Whether an object, read again, gets the id of its memory, and still says what was taken out of it."""
    metadata = document.get("metadata")
    stored_flags = metadata.get("pii_flags") if isinstance(metadata, Mapping) else None
    stored_flags = stored_flags if isinstance(stored_flags, Sequence) else ()
    flags = memory.metadata.get("pii_flags")
    if isinstance(flags, Sequence) and any(flag not in stored_flags for flag in flags):
        return False
    return bool(document.get("id")) or made_id(memory.space, document) == memory.id


def space_document(
    stores: Stores, space: Space, *, include_archived: bool = True, alone: bool = False
) -> SpaceDocument:
    """Return the document of a space, sorted by the time of the last change, newest first, then path, then id.

    A space of which nothing changed since its file was read keeps that file's order instead, and its objects
    where they left something open; with `alone` they say all that another store needs.
    """
    numbers = stores.memories.numbers(Filters(spaces=(space.name,)), status=None, order="updated")
    newest = stores.memories.by_no(numbers[:1])
    updated_at = max([space.updated_at, *(memory.updated_at for memory in newest.values())])
    placed = _file_order(stores, space, numbers)
    return SpaceDocument(
        stores=stores,
        head=_head(stores, space, updated_at, as_read=placed is not None, alone=alone),
        numbers=numbers if placed is None else placed,
        alone=alone or placed is None,
        keep=lambda memory: not _waits(memory) and (include_archived or memory.status is not Status.ARCHIVED),
    )


def _waits(memory: Memory) -> bool:
    """Whether a memory waits for a review: it leaves the store when somebody let it in."""
    return memory.status is Status.QUARANTINED and QUARANTINE in memory.metadata


def _file_order(stores: Stores, space: Space, numbers: Sequence[int]) -> list[int] | None:
    """Return the memories in the order of the file that they are from, None when one is new, gone or changed."""
    origin = stores.origins.of_space(space.no)
    if origin is None or origin.objects != len(numbers):
        return None
    placed = list(stores.origins.in_file_order(space.no))
    if len(placed) != len(numbers):
        return None
    for batch in batches(placed):
        memories, origins = stores.memories.by_no(batch), stores.origins.get(batch)
        if not all(stands(memories[no], origins[no]) for no in batch):
            return None
    return placed


def record_head(space: Space, updated_at: datetime) -> dict[str, JSONValue]:
    """Return a file's keys for a space that was read from none; the objects follow where None stands."""
    return {
        "name": space.name,
        "created_at": format_time(space.created_at),
        "updated_at": format_time(updated_at),
        "metadata": dict(space.metadata),
        "policies": dict(space.policies),
        OBJECTS: None,
    }


def _head(
    stores: Stores, space: Space, updated_at: datetime, *, as_read: bool, alone: bool
) -> Mapping[str, JSONValue]:
    record = record_head(space, updated_at)
    origin = stores.origins.of_space(space.no)
    if origin is None:
        return record
    if origin.fingerprint == space_fingerprint(space):
        head = dict(origin.file)
        if not as_read:
            head["updated_at"] = record["updated_at"]
        if alone:
            head |= {key: record[key] for key in _TIMES if not head.get(key)}
            head |= _policies_in_force(head, space)
        return head if as_read or OBJECTS in head else {**head, OBJECTS: None}
    policies = origin.file.get("policies")
    if isinstance(policies, Mapping):
        unknown = {key: policy for key, policy in policies.items() if key not in KNOWN_POLICIES}
        record["policies"] = {**dict(space.policies), **unknown}
    return {**record, **{key: value for key, value in origin.file.items() if key not in KEYS}}


def _policies_in_force(head: Mapping[str, JSONValue], space: Space) -> dict[str, JSONValue]:
    """Return the policies that an export has of a file's: those that the space took, and those that are not known.

    The store signs an export and takes it at its word later; what was left out would come into force by that.
    """
    policies = head.get("policies")
    if not isinstance(policies, Mapping):
        return {}
    return {
        "policies": {
            name: policy
            for name, policy in policies.items()
            if name in space.policies or name not in KNOWN_POLICIES
        }
    }


def places(stores: Stores, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Return row number and space of the memories with these ids, whoever may see them; an id is taken once."""
    rows = stores.db.query(
        "SELECT m.id, m.no, s.name FROM json_each(?) j JOIN memories m ON m.id = j.value"
        " JOIN spaces s ON s.no = m.space_no",
        (json.dumps(list(ids)),),
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def count_purged(stores: Stores, ids: Sequence[str]) -> int:
    """Return how many of these ids were purged from the store and are not there now."""
    row = stores.db.query_one(
        "SELECT count(*) FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM tombstones t WHERE t.id = j.value)"
        " AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.id = j.value)",
        (json.dumps(list(ids)),),
    )
    return row[0] if row else 0


def space_file(directory: Path, name: str) -> Path:
    """Return the path of a space's file in `directory`; names map to files one to one."""
    return directory / f"{space_file_name(name)}.json"


def write_space_file(
    path: Path, document: SpaceDocument, *, own: StoreFiles, step: Step | None = None
) -> Path:
    """Write the document to `path` atomically, a piece at a time, and return the path; `own` says how."""
    ensure_dir(path.parent)
    own.stream(path, _encoded(document.text(step=step)))
    return path


def _encoded(pieces: Iterator[str]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece.encode()
    yield b"\n"
