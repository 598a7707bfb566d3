"""The files of an evidence package: the manifest and the hashes that it keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hexad.errors import IntegrityError
from hexad.model.memory import JSONValue
from hexad.storage import files
from hexad.storage.segment_files import file_hash

FORMAT: Final = "hexad.evidence"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
_SHA256: Final = "sha256"
_CHANGING: Final = ("created_at", "hexad_version", _SHA256)
_JSON_BYTES_LIMIT: Final = 1 << 30


def write_json(path: Path, value: Mapping[str, JSONValue]) -> None:
    """Write an object as a file, durably."""
    files.atomic_write(path, json_bytes(value))


def json_bytes(value: Mapping[str, JSONValue]) -> bytes:
    """Return the bytes that an object is written as."""
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "surrogatepass")


def sealed(manifest: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """Return a manifest with the SHA-256 of its text as it would be without it."""
    told = {key: value for key, value in manifest.items() if key != _SHA256}
    return {**told, _SHA256: hashlib.sha256(json_bytes(told)).hexdigest()}


def read_json(path: Path) -> dict[str, JSONValue]:
    """Return the object in a file; raises `IntegrityError` for a file that holds none."""
    try:
        if path.stat().st_size > _JSON_BYTES_LIMIT:
            raise IntegrityError(f"{path.name} has {path.stat().st_size:,} bytes; no package's has so many.")
        found = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise IntegrityError(f"{path.name} is missing.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise IntegrityError(f"{path.name} cannot be read: {error}.") from error
    if not isinstance(found, dict):
        raise IntegrityError(f"{path.name} holds no object.")
    return found


def read_manifest(path: Path) -> dict[str, JSONValue]:
    """Return the manifest in a folder; raises `IntegrityError` where there is none of this version."""
    manifest = read_json(path / MANIFEST)
    if manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
        raise IntegrityError(f"{MANIFEST} is of no evidence package that this version can read.")
    return manifest


def manifest_problems(path: Path, manifest: Mapping[str, JSONValue]) -> list[str]:
    """Return what is wrong with the text of a manifest, every byte of it; empty when nothing is."""
    if (path / MANIFEST).read_bytes() == json_bytes(sealed(manifest)):
        return []
    return [f"{MANIFEST} was changed: its SHA-256 is not that of what it says."]


def entry_of(path: Path) -> dict[str, JSONValue]:
    """Return what a manifest says of a file."""
    return {"bytes": path.stat().st_size, "sha256": file_hash(path)}


def file_problems(path: Path, told: JSONValue) -> list[str]:
    """Return what is wrong with a file, by what a manifest told of it."""
    if not isinstance(told, dict):
        return [f"{MANIFEST} says nothing of {path.name}."]
    if path.is_symlink() or not path.is_file():
        return [f"{path.name} is missing."]
    try:
        found = entry_of(path)
    except OSError as error:
        return [f"{path.name} cannot be read: {error.strerror}."]
    if found != told:
        return [f"{path.name} was changed: its SHA-256 or its size is not that of {MANIFEST}."]
    return []


def says_the_same(new: Path, old: Path) -> bool:
    """Whether two packages tell the same, whenever and by whichever version they were written."""
    try:
        mine, theirs = read_manifest(new), read_manifest(old)
    except IntegrityError:
        return False
    return all(mine.get(key) == theirs.get(key) for key in {*mine, *theirs} - {*_CHANGING})
