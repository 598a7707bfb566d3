"""The stream when its files are written anew under other keys: logs are sealed before, new hashes noted after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hexad.database.component import Execute, HeldStore, KeyChangeHooks, Unprepared
from hexad.database.encryption.cipher import STREAM, is_sealed
from hexad.database.files import operation
from hexad.errors import IntegrityError
from hexad.experience.stream.frames import HEADER_BYTES, SEALED_HEADER_BYTES
from hexad.experience.stream.segment_files import file_hash

_LOGS: Final = "stream/log/"
_SEGMENTS: Final = "stream/segments/"
_TABLES: Final = ("stream_segments", "stream_sidecars")


def _require_sealed_and_whole(store: HeldStore) -> None:
    """Raise `Unprepared` where a log has something in it, `IntegrityError` where a segment is not what the manifest
    says: logs are of one process and are not converted, and new hashes would hide damage.
    """  # fmt: skip
    retired = {name for (name,) in store.execute("SELECT name FROM stream_retired_logs", ())}
    begun = SEALED_HEADER_BYTES if store.encrypted else HEADER_BYTES
    for file in store.files:
        inside = file.name.removeprefix(_LOGS)
        if file.name != inside and file.bytes > begun and inside not in retired:
            raise Unprepared(
                f"{file.name} holds what was recorded and is in no segment yet, or is damaged. `hexad xdb seal` "
                "says which."
            )
    for table in _TABLES:
        for name, digest in list(store.execute(f"SELECT name, sha256 FROM {table}", ())):
            path = store.directory / _SEGMENTS / name
            with operation("read", path, "read"):
                is_whole = not path.exists() or file_hash(path) == digest
            if not is_whole:
                raise IntegrityError(
                    f"{path} is not what was written: its SHA-256 is another one. Put a backup in its place; "
                    "nothing was changed."
                )
    _require_encrypted(store)


def _require_encrypted(store: HeldStore) -> None:
    """Raise `IntegrityError` for a readable file in an encrypted store: nobody but the stream writes here."""
    for file in store.files:
        if store.encrypted and file.purpose == STREAM:
            path = store.directory / file.name
            with operation("read", path, "read"), path.open("rb") as content:
                head = content.read(HEADER_BYTES)
            if not is_sealed(head):
                raise IntegrityError(
                    f"{path} is not encrypted, though its store is. `hexad check` says more; nothing was changed."
                )


def _note_segments(execute: Execute, files: Mapping[str, tuple[int, str]]) -> None:
    """Write down how long the segments' new files are, and what their hashes are."""
    for table in _TABLES:
        for (name,) in list(execute(f"SELECT name FROM {table}", ())):
            segment = files.get(f"{_SEGMENTS}{name}")
            if segment is not None:  # else it is missing before, and stays so: `check` names it
                execute(f"UPDATE {table} SET bytes = ?, sha256 = ? WHERE name = ?", (*segment, name))


STREAM_KEY_CHANGE: Final = KeyChangeHooks(
    folder="stream",
    prepare=lambda hx: hx.xdb.seal(),
    require=_require_sealed_and_whole,
    note=_note_segments,
)
