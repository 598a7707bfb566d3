"""Sealing: logs that nobody writes to any more become one Parquet file, sorted by session and tick.

The order is what makes it safe to be killed at any point: write the file under a temporary name, sync it, name
it, then register it and retire its logs in one transaction, and only then remove the logs. Before the
transaction the logs are the stream and the file is nothing; after it the file is. One process seals at a time;
whoever comes next removes what an interrupted one left.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.clock import Clock
from hexad.errors import IntegrityError, StorageFailure
from hexad.model.experience import EventType, StreamReport
from hexad.storage import files
from hexad.storage.codec import to_micros
from hexad.storage.connection import Database
from hexad.storage.duck import Duck
from hexad.storage.leases import Lease
from hexad.storage.stream_frames import HAS_EVENT, KIND_CODES, Frames
from hexad.storage.stream_log import LOG_BYTES, LOG_ROWS, begun_at, list_logs, lock_if_left, read_log
from hexad.storage.stream_manifest import Manifest, Segment, SessionRange
from hexad.storage.stream_rows import RELATION, flat

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

SEAL_AGE_S: Final = 3_600.0
"""A log is not left for longer. Shorter was no gain: every segment costs each query a file to open."""
_PARQUET: Final = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 122880"
_MADE_OF: Final = "hexad_logs"
"""Under this name a segment's file says which logs it was made of."""
_SUFFIX: Final = ".parquet"
_HASH_CHUNK_BYTES: Final = 1 << 20

Mask = Callable[[list[list[str]]], Iterable[tuple[int, list[str]]]]
"""From answers, as tokens, to those of them that may not be stored as they are: which it is, and its new tokens."""


class Sealer:
    """Turns the logs of a store into segments."""

    def __init__(self, db: Database, directory: Path, duck: Duck, *, clock: Clock, mask: Mask) -> None:
        self.manifest = Manifest(db)
        self.logs, self.segments = directory / "log", directory / "segments"
        self._lease = Lease(directory / "seal.lock", clock=clock, purpose="sealing")
        self._turn = threading.Lock()  # the lease is the process's, so threads need one of their own
        self._duck = duck
        self._clock = clock
        self._mask = mask

    def seal(self, *, all: bool = False, stop: Callable[[], bool] = lambda: False) -> StreamReport:
        """Seal the logs that no process writes to, when together they are large or one is old; or `all`.

        What another process is sealing is left to it. A log that is damaged stays, and is named in the report.
        """
        if not list_logs(self.logs):
            return StreamReport()
        files.ensure_dir(self.segments)
        with self._turn, self._lease.held_for() as mine:
            if not mine:
                return StreamReport()
            self._sweep()
            return self._seal(all=all, stop=stop)

    def _sweep(self) -> None:
        """Remove what an interrupted sealing left: files that were never registered, logs that were retired."""
        for path in sorted(self.segments.iterdir()):
            if path.name.endswith(f"{_SUFFIX}.tmp") or (
                path.name.endswith(_SUFFIX)
                and not self.manifest.has(path.name)
                and self._is_in_the_logs(path)
            ):
                files.unlink(path)
        left = list_logs(self.logs)
        for name in self.manifest.retired([path.name for path in left]):
            files.unlink(self.logs / name)

    def _is_in_the_logs(self, segment: Path) -> bool:
        """Whether the logs that a segment was made of are all there still, so that nothing goes with it.

        They are not when an older `memory.db` was put back: then the segment is all that is left of them.
        """
        try:
            with self._duck.cursor(segment) as cursor:
                row = cursor.execute(
                    "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = ?",
                    [str(segment), _MADE_OF],
                ).fetchone()
        except IntegrityError:
            return False  # no segment of ours: it holds up no sealing, and `check` names it
        names = str(row[0]).split() if row else []
        present = {path.name for path in list_logs(self.logs)}
        return bool(names) and present.issuperset(names)

    def _seal(self, *, all: bool, stop: Callable[[], bool]) -> StreamReport:
        problems: list[str] = []
        done_logs = done_rows = segments = 0
        with contextlib.ExitStack() as locks:
            left = list(self._left(locks))
            if not (all or self._due(left)):
                return StreamReport()
            found = list(_readable(left, problems))
            for group in _groups(found):
                if stop():
                    break
                done_rows += self._write(group)
                done_logs += len(group)
                segments += 1
            for path, log in found:
                if not log.frames:
                    self.manifest.retire(path.name)
                    files.unlink(path)
        return StreamReport(logs=done_logs, rows=done_rows, segments=segments, problems=tuple(problems))

    def _left(self, locks: contextlib.ExitStack) -> Iterator[Path]:
        """Yield the logs that no process writes to; they stay locked until `locks` is closed."""
        for path in list_logs(self.logs):
            fd = lock_if_left(path)
            if fd is not None:
                locks.callback(os.close, fd)
                yield path

    def _due(self, left: Sequence[Path]) -> bool:
        """Whether the logs are together large, or one is old; they are not read for that."""
        if sum(path.stat().st_size for path in left) >= LOG_BYTES:
            return True
        oldest = to_micros(self._clock.now()) - round(SEAL_AGE_S * 1e6)
        return any(begun_at(path) <= oldest for path in left)

    def _write(self, group: Sequence[tuple[Path, Frames]]) -> int:
        table = flat([log for _, log in group], concept_numbers=self.manifest.number_concepts)
        assert table is not None
        self._mask_outputs(table)
        # Names of ours: digits, a hyphen, hexadecimal digits.
        made_of = " ".join(log.name for log, _ in group)
        name = f"{to_micros(self._clock.now())}-{secrets.token_hex(6)}{_SUFFIX}"
        path, temporary = self.segments / name, self.segments / f"{name}.tmp"
        try:
            with self._duck.cursor(temporary, table) as cursor:
                with files.operation("write", temporary, "write"):
                    cursor.execute(
                        f"COPY ({RELATION} ORDER BY session, tick) TO '{_quoted(temporary)}'"
                        f" ({_PARQUET}, KV_METADATA {{{_MADE_OF}: '{made_of}'}})"
                    )
            files.publish(temporary, path)
        except StorageFailure:
            # Half a file is of no use, and on a full disk in the way; what cannot be removed is swept later.
            with contextlib.suppress(StorageFailure):
                files.unlink(temporary)
            raise
        with self._duck.cursor(path) as cursor:
            ranges = _ranges(cursor, path)
        segment = Segment(
            name=name, rows=len(table["tick"]), bytes=path.stat().st_size, sha256=file_hash(path)
        )
        logs = [log.name for log, _ in group]
        self.manifest.register(segment, ranges, logs=logs, at=self._clock.now())
        for log, _ in group:
            files.unlink(log)
        return segment.rows

    def _mask_outputs(self, table: dict[str, NDArray[Any]]) -> None:
        """Take secrets out of answers: one may be spread over several tokens, so an event is looked at as a whole."""
        import numpy as np

        chosen: NDArray[np.intp] = np.flatnonzero(table["kind"] == KIND_CODES[EventType.OUTPUT])
        if not len(chosen):
            return
        chosen = chosen[np.lexsort((table["tick"][chosen], table["session"][chosen]))]
        groups: dict[tuple[int, str], list[int]] = {}
        sessions, flags, events = (table[name][chosen].tolist() for name in ("session", "flags", "event"))
        for at, session, flag, event in zip(chosen.tolist(), sessions, flags, events, strict=True):
            groups.setdefault((session, event if flag & HAS_EVENT else ""), []).append(at)
        contents = table["content"]
        places = list(groups.values())
        for which, tokens in self._mask([[contents[at] for at in rows] for rows in places]):
            for at, token in zip(places[which], tokens, strict=True):
                contents[at] = token


def _readable(left: Sequence[Path], problems: list[str]) -> Iterator[tuple[Path, Frames]]:
    for path in left:
        try:
            log = read_log(path)
        except IntegrityError as error:
            problems.append(str(error))
        else:
            if log is not None:
                yield path, log


def _groups(found: Sequence[tuple[Path, Frames]]) -> Iterator[list[tuple[Path, Frames]]]:
    """Yield the logs with records, about as many together as fill one log."""
    group: list[tuple[Path, Frames]] = []
    rows = size = 0
    for path, log in found:
        count = sum(map(len, log.frames))
        if not count:
            continue
        if group and (rows + count > LOG_ROWS or size + log.offset > LOG_BYTES):
            yield group
            group, rows, size = [], 0, 0
        group.append((path, log))
        rows, size = rows + count, size + log.offset
    if group:
        yield group


def _ranges(cursor: duckdb.DuckDBPyConnection, path: Path) -> list[SessionRange]:
    rows = cursor.execute(
        "SELECT session, count(*), min(tick), max(tick), min(ts), max(ts)"
        " FROM read_parquet(?, hive_partitioning = false)"
        " GROUP BY session ORDER BY session",
        [str(path)],
    ).fetchall()
    return [
        SessionRange(session=row[0], rows=row[1], ticks=(row[2], row[3]), times=(row[4], row[5]))
        for row in rows
    ]


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_HASH_CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()
