"""Files beside the database that hold what an erasure takes: space files, exports, vector caches."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from hexad.database.encryption.store_files import StoreFiles
from hexad.database.files import remove_abandoned, unlink
from hexad.errors import IntegrityError
from hexad.memory.store import Stores
from hexad.spaces.files.document import space_document, space_file, write_space_file
from hexad.spaces.files.signed_export import space_of_export

_ID: Final = re.compile(rb'"id": ("(?:[^"\\]|\\.)*")')


def write_again(
    stores: Stores, directory: Path, space: str, own: StoreFiles, *, trial: bool
) -> tuple[int, int]:
    """Write the file of a space anew, if it is there; returns how many were and how many bytes.

    A `trial` of this or of what else is here only counts.
    """
    path = space_file(directory / "spaces", space)
    if trial:
        return int(path.is_file()), 0
    remove_abandoned(path)
    if not path.is_file():
        return 0, 0
    with stores.db.read():
        there = stores.spaces.find(space)
        if there is not None:
            write_space_file(path, space_document(stores, there), own=own)
            return 1, path.stat().st_size
    size = path.stat().st_size
    unlink(path)
    return 1, size


def exports_of(
    directory: Path, spaces: Collection[str], ids: Collection[str] | None, own: StoreFiles
) -> Iterator[Path]:
    """Yield the exports in the store's own folder that hold memories with these ids, None: any of these spaces."""
    folder = directory / "exports"
    if not folder.is_dir():
        return
    written = (
        None if ids is None else {json.dumps(memory_id, ensure_ascii=False).encode() for memory_id in ids}
    )
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or _space_of(path, own) not in spaces:
            continue
        if written is None or not written.isdisjoint(_ID.findall(own.read(path))):
            yield path


def _space_of(path: Path, own: StoreFiles) -> str | None:
    try:
        return space_of_export(path, own)
    except IntegrityError:
        return None  # of another store, or put there by somebody: not made by us


def remove_exports(
    directory: Path, spaces: Collection[str], ids: Collection[str] | None, own: StoreFiles, *, trial: bool
) -> tuple[list[Path], int]:
    """Remove those exports: a signature cannot be kept over other contents. Returns which and how many bytes."""
    if trial:
        return list(exports_of(directory, spaces, ids, own)), 0
    removed, size = list[Path](), 0
    for name in spaces:
        remove_abandoned(space_file(directory / "exports", name))
    for path in exports_of(directory, spaces, ids, own):
        size += path.stat().st_size
        unlink(path)
        removed.append(path)
    return removed, size


def vector_caches(directory: Path) -> list[Path]:
    """Return the files of vectors that are derived from the database, those half written among them."""
    folder = directory / "cache"
    return sorted(path for path in folder.glob("*") if path.is_file() and "vectors-" in path.name)


def remove_vector_caches(directory: Path, *, trial: bool) -> tuple[int, int]:
    """Remove those files; the next search writes one anew. Returns how many and how many bytes."""
    if trial:
        return len(vector_caches(directory)), 0
    count = size = 0
    for path in vector_caches(directory):
        size += path.stat().st_size
        unlink(path)
        count += 1
    return count, size
