"""A space as one portable JSON file: document 1's MemorySpaceFile (design section 4)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hexad.model.memory import JSONValue, Memory, format_time
from hexad.storage.files import atomic_write, ensure_dir
from hexad.storage.spaces import Space
from hexad.text.paths import space_file_name


def space_document(space: Space, memories: Sequence[Memory]) -> dict[str, JSONValue]:
    """Return the file's content: objects sorted by `updated_at`, newest first, then by id."""
    ordered = sorted(memories, key=lambda memory: memory.id)
    ordered.sort(key=lambda memory: memory.updated_at, reverse=True)
    return {
        "name": space.name,
        "created_at": format_time(space.created_at),
        "updated_at": format_time(max([space.updated_at, *(m.updated_at for m in memories)])),
        "metadata": dict(space.metadata),
        "policies": dict(space.policies),
        "objects": [memory.to_dict() for memory in ordered],
    }


def write_space_file(directory: Path, space: Space, memories: Sequence[Memory]) -> Path:
    """Write `<directory>/<space>.json` atomically and return its path; names map to files one to one."""
    ensure_dir(directory)
    path = directory / f"{space_file_name(space.name)}.json"
    text = json.dumps(space_document(space, memories), ensure_ascii=False, indent=2, allow_nan=False)
    atomic_write(path, text.encode() + b"\n")
    return path
