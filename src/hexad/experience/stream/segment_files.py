"""The files of a segment: written under a temporary name, synced, named; what they are is for the manifest to say."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.core.clock import Clock
from hexad.database import files
from hexad.database.codec import to_micros
from hexad.errors import IntegrityError, StorageFailure
from hexad.experience.stream.duckdb_engine import Duck, quoted
from hexad.experience.stream.event_texts_file import KIND as EVENTS
from hexad.experience.stream.event_texts_file import write_events
from hexad.experience.stream.manifest import Manifest, Segment, SessionRange, Side
from hexad.experience.stream.top_concepts_file import KIND as TOPS
from hexad.experience.stream.top_concepts_file import SIDE_ROWS, write_tops

if TYPE_CHECKING:
    import duckdb

SUFFIX: Final = ".parquet"
SIDE_SUFFIXES: Final = {TOPS: f".{TOPS}", EVENTS: f".{EVENTS}"}
TEMPORARY: Final = ".tmp"
_PARQUET: Final = (
    "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, PARQUET_VERSION V2, ROW_GROUP_SIZE 122880"
)
LOGS, SEGMENTS = "hexad_logs", "hexad_segments"
"""Under these names a segment's file says which logs or segments it was made of."""
_HASH_CHUNK_BYTES: Final = 1 << 20


_WRITERS: Final = {TOPS: write_tops, EVENTS: write_events}


def side_kinds(rows: int) -> list[str]:
    """Return what belongs beside a segment of so many rows."""
    return [TOPS, EVENTS] if rows >= SIDE_ROWS else [EVENTS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A segment that has its name and is not registered yet."""

    segment: Segment
    ranges: Sequence[SessionRange]
    sides: Sequence[Side]


class SegmentFiles:
    """Writes the files below `stream/segments/`."""

    def __init__(self, directory: Path, duck: Duck, *, clock: Clock) -> None:
        self.directory = directory
        self._duck = duck
        self._clock = clock

    def write(
        self,
        select: str,
        *,
        made_of: tuple[str, Sequence[str]],
        table: Mapping[str, object] | None = None,
        gone: Mapping[str, object] | None = None,
    ) -> Written:
        """Write the rows that `select` gives as a segment, and what belongs beside it.

        It may name `rows` (`table`) and `gone`. Raises `StorageFailure` when the disk refuses: nothing is left then.
        """
        key, names = made_of
        # Names of ours: digits, a hyphen, hexadecimal digits.
        stem = f"{to_micros(self._clock.now())}-{secrets.token_hex(6)}"
        path = self.directory / f"{stem}{SUFFIX}"
        temporary = _temporary(path)
        with self._removed_on_failure(temporary):
            with self._duck.cursor(temporary, table) as cursor:
                if gone is not None:
                    cursor.register("gone", gone)
                with files.operation("write", temporary, "write"):
                    cursor.execute(
                        f"COPY ({select} ORDER BY session, tick) TO '{quoted(self._duck.name(temporary))}'"
                        f" ({_PARQUET}, KV_METADATA {{{key}: '{' '.join(names)}'}})"
                    )
                ranges = _ranges(cursor, self._duck.name(temporary))
            rows = sum(session_range.rows for session_range in ranges)
            sides = [self.write_side(kind, stem, temporary) for kind in side_kinds(rows)]
            files.publish(temporary, path)
        segment = Segment(name=path.name, rows=rows, bytes=path.stat().st_size, sha256=file_hash(path))
        return Written(segment=segment, ranges=ranges, sides=sides)

    def write_side(self, kind: str, stem: str, segment: Path) -> Side:
        """Write what is derived from a segment beside it: its events, or its concepts' strongest timesteps."""
        path = self.directory / f"{stem}{SIDE_SUFFIXES[kind]}"
        temporary = _temporary(path)
        with self._removed_on_failure(temporary):
            with self._duck.cursor(segment) as cursor, files.operation("write", temporary, "write"):
                _WRITERS[kind](cursor, self._duck.name(segment), self._duck.name(temporary))
            files.publish(temporary, path)
        return Side(kind=kind, name=path.name, bytes=path.stat().st_size, sha256=file_hash(path))

    @contextlib.contextmanager
    def _removed_on_failure(self, temporary: Path) -> Any:
        try:
            yield
        except StorageFailure:
            # Half a file is of no use, and on a full disk in the way; what cannot be removed is swept later.
            with contextlib.suppress(StorageFailure):
                files.unlink(temporary)
            raise

    def remove(self, segment: str) -> None:
        """Remove the files of a segment that the stream has no more."""
        stem = segment.removesuffix(SUFFIX)
        for suffix in (*SIDE_SUFFIXES.values(), SUFFIX):
            files.unlink(self.directory / f"{stem}{suffix}")


def leftover(path: Path, duck: Duck, manifest: Manifest, logs: Sequence[str]) -> bool:
    """Whether a segment that is not registered may go: everything that it was made of is there still.

    It is not when an older `memory.db` was put back: then the segment is all that is left of it.
    """
    try:
        with duck.cursor(path) as cursor:
            rows = cursor.execute(
                "SELECT decode(key), decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) IN (?, ?)",
                [duck.name(path), LOGS, SEGMENTS],
            ).fetchall()
    except (IntegrityError, StorageFailure):
        # No segment of ours: it holds up nothing, and `check` names it. Or it went meanwhile.
        return not path.exists()
    for key, value in rows:
        names = str(value).split()
        there = (
            set(logs)
            if key == LOGS
            else {name for name in names if manifest.has(name) and (path.parent / name).exists()}
        )
        return bool(names) and there.issuperset(names)
    return False


def _temporary(path: Path) -> Path:
    return path.with_name(f"{path.name}{TEMPORARY}")


def _ranges(cursor: duckdb.DuckDBPyConnection, name: str) -> list[SessionRange]:
    rows = cursor.execute(
        "SELECT session, count(*), min(tick), max(tick), min(ts), max(ts)"
        " FROM read_parquet(?, hive_partitioning = false)"
        " GROUP BY session ORDER BY session",
        [name],
    ).fetchall()
    return [
        SessionRange(session=row[0], rows=row[1], ticks=(row[2], row[3]), times=(row[4], row[5]))
        for row in rows
    ]


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_HASH_CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()
