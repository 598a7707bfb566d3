"""Whether the stream is whole: files against the manifest, and every log that is still there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from hexad.database.connection import Database
from hexad.database.encryption.cipher import FileCipher
from hexad.errors import IntegrityError
from hexad.experience.stream.duckdb_engine import Duck
from hexad.experience.stream.log import list_logs, read_log
from hexad.experience.stream.manifest import Manifest
from hexad.experience.stream.segment_files import SIDE_SUFFIXES, SUFFIX, TEMPORARY, file_hash, leftover

_EXPECTED = frozenset({"log", "segments", "seal.lock", "compress.lock"})


def check_stream(db: Database, directory: Path, cipher: FileCipher | None = None) -> Iterator[str]:
    """Yield in words what is wrong with the files below `stream/`; nothing when all is well. `cipher` is that of an
    encrypted store.

    A torn end of a log is none of it: those records were never acknowledged.
    """
    yield from _strangers(directory)
    manifest = Manifest(db)
    yield from _registered(manifest, directory / "segments")
    logs = {path.name: path for path in list_logs(directory / "log")}
    retired = manifest.retired(list(logs))
    yield from _unknown(manifest, directory / "segments", list(logs), cipher)
    for name, path in logs.items():
        if name not in retired:
            try:
                read_log(path, cipher=cipher)
            except IntegrityError as error:
                yield str(error)


def _registered(manifest: Manifest, directory: Path) -> Iterator[str]:
    for segment in manifest.segments():
        path = directory / segment.name
        try:
            whole = path.stat().st_size == segment.bytes and file_hash(path) == segment.sha256
        except FileNotFoundError:
            # Since it was listed, upkeep may have put another one in its place.
            if manifest.has(segment.name):
                yield f"{path} with {segment.rows:,} timesteps is not there. Put a backup in its place."
            continue
        if not whole:
            yield f"{path} was changed or damaged: it does not match its hash. Put a backup in its place."
    for segment_name, sides in manifest.sides().items():
        for side in sides:
            path = directory / side.name
            # One that is not there is no loss: without it the segment is asked.
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_size != side.bytes or file_hash(path) != side.sha256:
                    yield (
                        f"{path} was changed or damaged: it does not match its hash. Remove it: all that it holds is "
                        f"in {segment_name}, and `maintain` makes it again."
                    )


def _unknown(
    manifest: Manifest, directory: Path, logs: Sequence[str], cipher: FileCipher | None
) -> Iterator[str]:
    """Yield what no manifest knows and no interrupted run explains."""
    unknown = [path for path in sorted(directory.glob(f"*{SUFFIX}")) if not manifest.has(path.name)]
    if not unknown:
        return
    replaced = set(manifest.replaced())
    duck = Duck(cipher)
    try:
        for path in unknown:
            if path.name in replaced or leftover(path, duck, manifest, logs) or manifest.has(path.name):
                continue
            yield (
                f"{path} holds what this memory.db does not know of. Put back the memory.db that belongs to it, "
                "or move the file away if it is yours."
            )
    finally:
        duck.close()


def _strangers(directory: Path) -> Iterator[str]:
    for folder, suffixes in (
        (directory, ()),
        (directory / "log", (".log",)),
        (directory / "segments", (SUFFIX, *SIDE_SUFFIXES.values(), TEMPORARY)),
    ):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            known = path.name in _EXPECTED if folder == directory else path.name.endswith(suffixes)
            if not known and not path.name.startswith("."):
                yield f"{path} is not part of a store; nothing reads it. Move it away if it is yours."
