"""Whether the stream is whole: files against the manifest, and every log that is still there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hexad.errors import IntegrityError
from hexad.storage.connection import Database
from hexad.storage.segments import file_hash
from hexad.storage.stream_log import list_logs, read_log
from hexad.storage.stream_manifest import Manifest

_EXPECTED = frozenset({"log", "segments", "seal.lock"})


def check_stream(db: Database, directory: Path) -> Iterator[str]:
    """Yield in words what is wrong with the files below `stream/`; nothing when all is well.

    A torn end of a log is none of it: those records were never acknowledged.
    """
    yield from _strangers(directory)
    for segment in Manifest(db).segments():
        path = directory / "segments" / segment.name
        try:
            whole = path.stat().st_size == segment.bytes and file_hash(path) == segment.sha256
        except FileNotFoundError:
            yield f"{path} with {segment.rows:,} timesteps is not there. Put a backup in its place."
            continue
        if not whole:
            yield f"{path} was changed or damaged: it does not match its hash. Put a backup in its place."
    logs = {path.name: path for path in list_logs(directory / "log")}
    retired = Manifest(db).retired(list(logs))
    if not set(logs) - set(retired):  # with logs left, it may be what an interrupted sealing made of them
        for path in sorted((directory / "segments").glob("*.parquet")):
            if not Manifest(db).has(path.name):
                yield (
                    f"{path} holds what this memory.db does not know of. Put back the memory.db that belongs to it, "
                    "or move the file away if it is yours."
                )
    for name, path in logs.items():
        if name not in retired:
            try:
                read_log(path)
            except IntegrityError as error:
                yield str(error)


def _strangers(directory: Path) -> Iterator[str]:
    for folder, suffixes in (
        (directory, ()),
        (directory / "log", (".log",)),
        (directory / "segments", (".parquet", ".tmp")),
    ):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            known = path.name in _EXPECTED if folder == directory else path.name.endswith(suffixes)
            if not known and not path.name.startswith("."):
                yield f"{path} is not part of a store; nothing reads it. Move it away if it is yours."
