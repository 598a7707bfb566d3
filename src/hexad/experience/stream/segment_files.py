"""The files of a segment: written under a temporary name, synced, named; what they are is for the manifest to say."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.core.clock import Clock
from hexad.database import files
from hexad.database.codec import to_micros
from hexad.database.connection import Database
from hexad.database.encryption.cipher import FileCipher
from hexad.errors import IntegrityError, StorageFailure
from hexad.experience.stream.duckdb_engine import DuckDbEngine, quoted
from hexad.experience.stream.frames import ENDS, STARTS
from hexad.experience.stream.log import list_logs, read_log
from hexad.experience.stream.manifest import SegmentManifest, SessionRange, SideFile, StreamSegment
from hexad.experience.stream.rows import JOINED, KEYED

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray


TOPS: Final = "tops"
TOP_ROWS: Final = 100
"""What `recall_by_concept` gives unless told otherwise."""
SIDE_ROWS: Final = 50_000
"""A smaller segment is read as a whole in a few milliseconds."""
_SHARE: Final = 5
_BINS: Final = 1 << 22


def write_tops(cursor: duckdb.DuckDBPyConnection, segment: str, to: str) -> None:
    """Write the strongest timesteps of each concept: by concept, score (the highest first), session and tick.

    The files are given by their names for DuckDB.

    The columns are those of the segment, and `concept`, `score`, and `more`: whether the segment has others of it.
    """
    rows = cursor.execute(
        "SELECT unnest(concepts) AS concept, unnest(scores) AS score, file_row_number AS row"
        " FROM read_parquet(?, hive_partitioning = false, file_row_number = true)",
        [segment],
    ).fetchnumpy()
    ((total,),) = cursor.execute(
        "SELECT count(*) FROM read_parquet(?, hive_partitioning = false)", [segment]
    ).fetchall()
    cursor.register("tops", _strongest(rows["concept"], rows["score"], rows["row"], total=total))
    cursor.execute(
        "COPY (SELECT tops.concept, tops.score, tops.more, steps.* EXCLUDE (file_row_number)"
        f" FROM read_parquet('{quoted(segment)}', hive_partitioning = false, file_row_number = true) steps"
        " JOIN tops ON steps.file_row_number = tops.row"
        f" ORDER BY tops.concept, tops.score DESC, session, tick) TO '{quoted(to)}' ({_SIDE_PARQUET})"
    )


def _strongest(
    concepts: NDArray[np.uint32], scores: NDArray[np.float32], rows: NDArray[np.int64], *, total: int
) -> dict[str, NDArray[Any]]:
    """Return of each concept the strongest rows; of equals the first, as rows are in the order of the stream."""
    import numpy as np

    if not len(concepts):
        return {"concept": concepts, "score": scores, "more": np.zeros(0, np.bool_), "row": rows}
    present = np.flatnonzero(np.bincount(concepts))
    numbers = np.zeros(int(present[-1]) + 1, np.int64)
    numbers[present] = np.arange(len(present))
    own = numbers[concepts]
    counts = np.bincount(own)
    strongest = _rows_per_concept(counts, total // _SHARE)
    # Sorting all would cost as much as sealing does: a rough count says below which score nothing can be kept.
    bins = int(np.clip(_BINS // len(present), 2, 256))
    low, high = float(scores.min()), float(scores.max())
    rough = ((scores.astype(np.float64) - low) * ((bins - 1) / max(high - low, 1e-300))).astype(np.int64)
    rough = np.clip(rough, 0, bins - 1)
    histogram = np.bincount(own * bins + rough, minlength=len(present) * bins).reshape(len(present), bins)
    reached = histogram[:, ::-1].cumsum(axis=1)[:, ::-1] >= strongest
    lowest = np.maximum(reached.sum(axis=1) - 1, 0)
    chosen = np.flatnonzero(rough >= lowest[own])
    chosen = chosen[np.lexsort((rows[chosen], -scores[chosen], own[chosen]))]
    sorted_own = own[chosen]
    rank = np.arange(len(chosen)) - np.searchsorted(sorted_own, np.arange(len(present)))[sorted_own]
    chosen = chosen[rank < strongest]
    return {
        "concept": concepts[chosen],
        "score": scores[chosen],
        "more": counts[own[chosen]] > strongest,
        "row": rows[chosen],
    }


def _rows_per_concept(counts: NDArray[np.intp], allowed: int) -> int:
    """Return how many rows of each concept make at most `allowed` together; at least one."""
    import numpy as np

    low, high = 1, TOP_ROWS
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(counts, middle).sum()) <= allowed:
            low = middle
        else:
            high = middle - 1
    return low


EVENTS: Final = "events"
PIECE_COLUMNS: Final = (
    "session, event, kind, last_kind, role, first_tick, last_tick, first_at, last_at, content, tokens, timesteps,"
    " starts, ends"
)
_PIECES: Final = (
    "SELECT session, event, arg_min(kind, tick) AS kind, arg_max(kind, tick) AS last_kind,"
    " first(role ORDER BY tick) AS role,"
    " min(tick) AS first_tick, max(tick) AS last_tick, min(ts) AS first_at, max(ts) AS last_at,"
    f" {JOINED.format(tick='tick')} AS content, sum(tokens)::BIGINT AS tokens, count(*) AS timesteps,"
    f" arg_min(flags, tick) & {STARTS} <> 0 AS starts, arg_max(flags, tick) & {ENDS} <> 0 AS ends"
)
_NEEDED: Final = "session, tick, ts, kind, flags, tokens, role, event, content"
_SIDE_PARQUET: Final = (
    "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, PARQUET_VERSION V2, ROW_GROUP_SIZE 8192"
)


def pieces(steps: str) -> str:
    """Return the statement that joins timesteps to pieces of events; `steps` is a relation with a segment's columns."""
    keyed = KEYED.format(steps=f"FROM (SELECT {_NEEDED} FROM {steps})")
    query = (
        f"SELECT *, lag(kind) OVER (PARTITION BY session, event, run ORDER BY tick) AS before FROM ({keyed})"
    )
    return f"{_PIECES} FROM ({query}) GROUP BY session, event, run"


def write_events(cursor: duckdb.DuckDBPyConnection, segment: str, to: str) -> None:
    """Write the events of a segment, by session and first tick: of one that goes on elsewhere what is in it.

    The files are given by their names for DuckDB.
    """
    steps = f"read_parquet('{quoted(segment)}', hive_partitioning = false)"
    cursor.execute(f"COPY ({pieces(steps)} ORDER BY session, first_tick) TO '{quoted(to)}' ({_SIDE_PARQUET})")


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
class NewSegment:
    """A segment that has its name and is not registered yet."""

    segment: StreamSegment
    ranges: Sequence[SessionRange]
    sides: Sequence[SideFile]


class SegmentFiles:
    """Writes the files below `stream/segments/`."""

    def __init__(self, directory: Path, engine: DuckDbEngine, *, clock: Clock) -> None:
        self.directory = directory
        self._engine = engine
        self._clock = clock

    def write(
        self,
        select: str,
        *,
        made_of: tuple[str, Sequence[str]],
        table: Mapping[str, object] | None = None,
        departed: Mapping[str, object] | None = None,
    ) -> NewSegment:
        """Write the rows that `select` gives as a segment, and what belongs beside it.

        It may name `rows` (`table`) and `gone`. Raises `StorageFailure` when the disk refuses: nothing is left then.
        """
        key, names = made_of
        # Names of ours: digits, a hyphen, hexadecimal digits.
        stem = f"{to_micros(self._clock.now())}-{secrets.token_hex(6)}"
        path = self.directory / f"{stem}{SUFFIX}"
        temporary = _temporary(path)
        with self._removed_on_failure(temporary):
            with self._engine.cursor(temporary, table) as cursor:
                if departed is not None:
                    cursor.register("gone", departed)
                with files.operation("write", temporary, "write"):
                    cursor.execute(
                        f"COPY ({select} ORDER BY session, tick) TO '{quoted(self._engine.name(temporary))}'"
                        f" ({_PARQUET}, KV_METADATA {{{key}: '{' '.join(names)}'}})"
                    )
                ranges = _ranges(cursor, self._engine.name(temporary))
            rows = sum(session_range.rows for session_range in ranges)
            sides = [self.write_side(kind, stem, temporary) for kind in side_kinds(rows)]
            files.publish(temporary, path)
        segment = StreamSegment(name=path.name, rows=rows, bytes=path.stat().st_size, sha256=file_hash(path))
        return NewSegment(segment=segment, ranges=ranges, sides=sides)

    def write_side(self, kind: str, stem: str, segment: Path) -> SideFile:
        """Write what is derived from a segment beside it: its events, or its concepts' strongest timesteps."""
        path = self.directory / f"{stem}{SIDE_SUFFIXES[kind]}"
        temporary = _temporary(path)
        with self._removed_on_failure(temporary):
            with self._engine.cursor(segment) as cursor, files.operation("write", temporary, "write"):
                _WRITERS[kind](cursor, self._engine.name(segment), self._engine.name(temporary))
            files.publish(temporary, path)
        return SideFile(kind=kind, name=path.name, bytes=path.stat().st_size, sha256=file_hash(path))

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
            files.unlink(files.named_below(self.directory, f"{stem}{suffix}"))


def leftover(path: Path, engine: DuckDbEngine, manifest: SegmentManifest, logs: Sequence[str]) -> bool:
    """Whether a segment that is not registered may go: everything that it was made of is there still.

    It is not when an older `memory.db` was put back: then the segment is all that is left of it.
    """
    try:
        with engine.cursor(path) as cursor:
            rows = cursor.execute(
                "SELECT decode(key), decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) IN (?, ?)",
                [engine.name(path), LOGS, SEGMENTS],
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


def without_it(segment: str) -> str:
    """Return what to do where there is no backup of a segment."""
    return f"If there is none, `hexad xdb accept-lost {segment}` goes on without what it held."


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_HASH_CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()


_EXPECTED = frozenset({"log", "segments", "seal.lock", "compress.lock"})


def check_stream(db: Database, directory: Path, cipher: FileCipher | None = None) -> Iterator[str]:
    """Yield in words what is wrong with the files below `stream/`; nothing when all is well. `cipher` is that of an
    encrypted store.

    A torn end of a log is none of it: those records were never acknowledged.
    """
    for folder in (directory / "log", directory / "segments"):
        if folder.is_file():
            yield f"{folder} is a file, where a store has a folder. Move it away, and put a backup of the folder there."
            return
    yield from _strangers(directory)
    manifest = SegmentManifest(db)
    yield from _damaged_segments(manifest, directory / "segments")
    logs = {path.name: path for path in list_logs(directory / "log")}
    retired = manifest.retired(list(logs))
    yield from _unknown(manifest, directory / "segments", list(logs), cipher)
    for name, path in logs.items():
        if name not in retired:
            try:
                read_log(path, cipher=cipher)
            except IntegrityError as error:
                yield str(error)


def _damaged_segments(manifest: SegmentManifest, directory: Path) -> Iterator[str]:
    for segment in manifest.segments():
        path = directory / segment.name
        try:
            whole = path.stat().st_size == segment.bytes and file_hash(path) == segment.sha256
        except FileNotFoundError:
            # Since it was listed, upkeep may have put another one in its place.
            if manifest.has(segment.name):
                words = f"{path} with {segment.rows:,} timesteps is not there."
                yield f"{words} Put a backup in its place. {without_it(segment.name)}"
            continue
        if not whole:
            words = f"{path} was changed or damaged: it does not match its hash."
            yield f"{words} Put a backup in its place. {without_it(segment.name)}"
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
    manifest: SegmentManifest, directory: Path, logs: Sequence[str], cipher: FileCipher | None
) -> Iterator[str]:
    """Yield what no manifest knows and no interrupted run explains."""
    unknown = [path for path in sorted(directory.glob(f"*{SUFFIX}")) if not manifest.has(path.name)]
    if not unknown:
        return
    replaced, given_up = set(manifest.replaced()), manifest.given_up()
    engine = DuckDbEngine(cipher)
    try:
        for path in unknown:
            if path.name in replaced or leftover(path, engine, manifest, logs) or manifest.has(path.name):
                continue
            if path.name in given_up:
                yield f"{path} was given up, and nothing reads it. Remove it, or move it away."
                continue
            yield (
                f"{path} holds what this memory.db does not know of. Put back the memory.db that belongs to it, "
                "or move the file away if it is yours."
            )
    finally:
        engine.close()


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
