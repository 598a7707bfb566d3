"""The files of an evidence package: the manifest and the hashes that it keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.database.encryption.store_files import OwnFiles
from hexad.errors import IntegrityError, StorageFailure

FORMAT: Final = "hexad.evidence"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
_SHA256: Final = "sha256"
_CHANGING: Final = ("created_at", "hexad_version", _SHA256)
_JSON_BYTES_LIMIT: Final = 1 << 30


def write_json(path: Path, value: Mapping[str, JSONValue], own: OwnFiles) -> None:
    """Write an object as a file, durably; what `own` says of its place, it is sealed or not."""
    own.write(path, json_bytes(value))


def json_bytes(value: Mapping[str, JSONValue]) -> bytes:
    """Return the bytes that an object is written as."""
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "surrogatepass")


def sealed(manifest: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """Return a manifest with the SHA-256 of its text as it would be without it."""
    told = {key: value for key, value in manifest.items() if key != _SHA256}
    return {**told, _SHA256: hashlib.sha256(json_bytes(told)).hexdigest()}


def read_json(path: Path, own: OwnFiles) -> dict[str, JSONValue]:
    """Return the object in a file; raises `IntegrityError` for a file that holds none."""
    if not path.exists():
        raise IntegrityError(f"{path.name} is missing.")
    try:
        if own.size(path) > _JSON_BYTES_LIMIT:
            raise IntegrityError(f"{path.name} has {own.size(path):,} bytes; no package's has so many.")
        found = json.loads(own.read(path))
    except (OSError, StorageFailure, ValueError, RecursionError) as error:
        raise IntegrityError(f"{path.name} cannot be read: {error}.") from error
    if not isinstance(found, dict):
        raise IntegrityError(f"{path.name} holds no object.")
    return found


def read_manifest(path: Path, own: OwnFiles) -> dict[str, JSONValue]:
    """Return the manifest in a folder; raises `IntegrityError` where there is none of this version."""
    manifest = read_json(path / MANIFEST, own)
    if manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
        raise IntegrityError(f"{MANIFEST} is of no evidence package that this version can read.")
    return manifest


def manifest_problems(path: Path, manifest: Mapping[str, JSONValue], own: OwnFiles) -> list[str]:
    """Return what is wrong with the text of a manifest, every byte of it; empty when nothing is."""
    if own.read(path / MANIFEST) == json_bytes(sealed(manifest)):
        return []
    return [f"{MANIFEST} was changed: its SHA-256 is not that of what it says."]


def entry_of(path: Path, own: OwnFiles) -> dict[str, JSONValue]:
    """Return what a manifest says of a file: of its content, whether it is sealed or not."""
    return {"bytes": own.size(path), "sha256": own.sha256(path)}


def file_problems(path: Path, told: JSONValue, own: OwnFiles) -> list[str]:
    """Return what is wrong with a file, by what a manifest told of it."""
    if not isinstance(told, dict):
        return [f"{MANIFEST} says nothing of {path.name}."]
    if path.is_symlink() or not path.is_file():
        return [f"{path.name} is missing."]
    try:
        found = entry_of(path, own)
    except (IntegrityError, StorageFailure) as error:
        return [f"{path.name} cannot be read: {error}"]
    if found != told:
        return [f"{path.name} was changed: its SHA-256 or its size is not that of {MANIFEST}."]
    return []


def says_the_same(new: Path, old: Path, own: OwnFiles) -> bool:
    """Whether two packages tell the same, whenever and by whichever version they were written."""
    try:
        mine, theirs = read_manifest(new, own), read_manifest(old, own)
    except IntegrityError:
        return False
    return all(mine.get(key) == theirs.get(key) for key in {*mine, *theirs} - {*_CHANGING})
