"""Which segments there are, which logs they replaced, and how concepts are numbered in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, cast

from hexad.core.lazy import ByteCache
from hexad.database.change_counters import ChangeReader
from hexad.database.codec import dump, to_micros
from hexad.database.connection import Connection, Database
from hexad.database.files import named_below
from hexad.database.meta import ACCEPTED_SEGMENT, Meta
from hexad.errors import Conflict, IntegrityError
from hexad.experience.tables.cold_ranges import DEPARTED

_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRange:
    """What a segment holds of one session."""

    session: int
    rows: int
    ticks: tuple[int, int]
    times: tuple[int, int]

    @property
    def has_all(self) -> bool:
        """Whether it has every tick between its first and its last."""
        return self.rows == self.ticks[1] - self.ticks[0] + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSegment:
    """A sealed file of the stream."""

    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFile:
    """A file beside a segment, derived from it: without it questions are answered as well, but more slowly."""

    kind: str
    name: str
    bytes: int
    sha256: str


_CONCEPTS_BYTES: Final = 2 << 20


class SegmentManifest:
    """The rows that say what the stream consists of."""

    def __init__(self, db: Database) -> None:
        self._db, self._meta, self._changes = db, Meta(db), ChangeReader(db)
        self._numbers, self._ids = ByteCache[str, int](_CONCEPTS_BYTES), ByteCache[int, str](_CONCEPTS_BYTES)
        for cache in (self._numbers, self._ids):
            db.caches.add("concept numbers", cache)

    def register(
        self,
        segment: StreamSegment,
        ranges: Iterable[SessionRange],
        *,
        sides: Iterable[SideFile] = (),
        logs: Iterable[str] = (),
        replaces: Iterable[str] = (),
        at: datetime,
    ) -> None:
        """Take the segment into the stream and out of it the logs and the segments that it is made of, in one step."""
        with self._db.transaction() as con:
            row = con.execute(
                "INSERT INTO stream_segments(name, sealed_at, rows, bytes, sha256) VALUES(?, ?, ?, ?, ?)"
                " RETURNING no",
                (segment.name, to_micros(at), segment.rows, segment.bytes, segment.sha256),
            ).fetchone()
            assert row is not None
            number = row[0]
            for session_range in ranges:
                con.execute(
                    "INSERT INTO stream_segment_sessions VALUES(?, ?, ?, ?, ?, ?, ?)",
                    (
                        number,
                        session_range.session,
                        session_range.rows,
                        *session_range.ticks,
                        *session_range.times,
                    ),
                )
            for side in sides:
                _add_side(con, number, side)
            for name in logs:
                con.execute("INSERT INTO stream_retired_logs VALUES(?, ?)", (name, number))
                self._meta.forget_log(name)
            for name in replaces:
                _remove(con, name, into=number)

    def drop(self, name: str) -> None:
        """Take a segment out of the stream: each of its ticks left for a COLD record."""
        with self._db.transaction() as con:
            _remove(con, name, into=None)

    def add_side(self, segment: str, side: SideFile) -> bool:
        """Note a file beside a segment; False when the segment has been replaced."""
        with self._db.transaction() as con:
            row = con.execute("SELECT no FROM stream_segments WHERE name = ?", (segment,)).fetchone()
            if row is not None:
                con.execute(
                    "DELETE FROM stream_sidecars WHERE segment_no = ? AND kind = ?", (row[0], side.kind)
                )
                _add_side(con, row[0], side)
        return row is not None

    def sides(self, kind: str | None = None) -> dict[str, list[SideFile]]:
        """Return the files beside segments, of one kind or of all, by the segment's name."""
        side_files: dict[str, list[SideFile]] = {}
        for row in self._db.query(
            "SELECT s.name, x.kind, x.name, x.bytes, x.sha256 FROM stream_sidecars x"
            " JOIN stream_segments s ON s.no = x.segment_no WHERE :kind IS NULL OR x.kind = :kind"
            " ORDER BY s.no, x.kind",
            {"kind": kind},
        ):
            segment, what, name, size, sha256 = row
            side_files.setdefault(segment, []).append(
                SideFile(
                    kind=what,
                    name=_own(name),
                    bytes=size,
                    sha256=sha256,
                )
            )
        return side_files

    def state(self) -> tuple[object, ...]:
        """Return what changes whenever a segment comes or ticks leave the stream."""
        with self._db.read():
            row = self._db.query_one("SELECT count(*), max(no) FROM stream_segments")
            return (*(row or ()), self._changes.current(DEPARTED))

    def replaced(self) -> list[str]:
        """Return the segments whose files are of no more use."""
        return [row[0] for row in self._db.query("SELECT name FROM stream_replaced_segments ORDER BY name")]

    def forget_replaced(self, name: str) -> None:
        """Note that the file of a replaced segment has gone."""
        with self._db.transaction() as con:
            con.execute("DELETE FROM stream_replaced_segments WHERE name = ?", (name,))

    def given_up(self) -> set[str]:
        """Return the segments that were given up."""
        return {str(detail["segment"]) for _, detail in self._meta.logged_as(ACCEPTED_SEGMENT)}

    def ranges(self, sessions: Collection[int] | None = None) -> dict[str, list[SessionRange]]:
        """Return what each segment holds of which sessions, of these only, by the segment's name."""
        session_ranges: dict[str, list[SessionRange]] = {}
        for row in self._db.query(
            "SELECT s.name, r.session_no, r.rows, r.first_tick, r.last_tick, r.first_at, r.last_at"
            " FROM stream_segment_sessions r JOIN stream_segments s ON s.no = r.segment_no"
            " WHERE :sessions IS NULL OR r.session_no IN (SELECT value FROM json_each(:sessions))"
            " ORDER BY s.no, r.session_no",
            {"sessions": None if sessions is None else dump(sorted(sessions))},
        ):
            session, rows, first, last, since, until = row[1:]
            session_ranges.setdefault(row[0], []).append(
                SessionRange(session=session, rows=rows, ticks=(first, last), times=(since, until))
            )
        return session_ranges

    def retire(self, log: str) -> None:
        """Take a log that holds no record out of the stream."""
        with self._db.transaction() as con:
            con.execute("INSERT OR IGNORE INTO stream_retired_logs VALUES(?, NULL)", (log,))
            self._meta.forget_log(log)

    def is_noted(self, log: str) -> bool:
        """Whether it is noted how long a log is."""
        return self._meta.is_log_noted(log)

    def note_log(self, log: str, size: int) -> None:
        """Note how long a log is that nobody writes to any more; so much of it must be on the disk."""
        self._meta.note_log(log, size)

    def require_logs(self, directory: Path) -> None:
        """Raise `IntegrityError` where a log of the stream in `directory` is gone, or shorter than it was."""
        for words in self.lost_logs(directory).values():
            raise IntegrityError(words)

    def lost_logs(self, directory: Path) -> dict[Path, str]:
        """Return in words which logs of the stream in `directory` are gone, or shorter than they were."""
        store = directory.parent
        return {store / name: words for name, words in self._meta.lost_files(store).items()}

    def retired(self, names: Sequence[str]) -> set[str]:
        """Return which of these logs are in a segment."""
        retired_names: set[str] = set()
        for at in range(0, len(names), _BATCH):
            some = names[at : at + _BATCH]
            marks = ", ".join("?" * len(some))
            rows = self._db.query(f"SELECT name FROM stream_retired_logs WHERE name IN ({marks})", some)
            retired_names |= {row[0] for row in rows}
        return retired_names

    def segments(
        self,
        *,
        session: int | None = None,
        ticks: tuple[int, int] | None = None,
        times: tuple[int, int] | None = None,
    ) -> list[StreamSegment]:
        """Return the segments that may hold rows of this session, these ticks (inclusive) and times."""
        low, high = ticks or (None, None)
        since, until = times or (None, None)
        rows = self._db.query(
            "SELECT name, rows, bytes, sha256 FROM stream_segments s WHERE EXISTS"
            " (SELECT 1 FROM stream_segment_sessions r WHERE r.segment_no = s.no"
            "  AND (:session IS NULL OR r.session_no = :session)"
            "  AND (:low IS NULL OR (r.last_tick >= :low AND r.first_tick <= :high))"
            "  AND (:since IS NULL OR (r.last_at >= :since AND r.first_at < :until))) ORDER BY no",
            {"session": session, "low": low, "high": high, "since": since, "until": until},
        )
        return [StreamSegment(name=_own(r[0]), rows=r[1], bytes=r[2],
                        sha256=r[3]) for r in rows]  # fmt: skip

    def has_all(self, session: int, tick: int) -> bool:
        """Whether a segment holds this tick for sure: every one between its first and its last of the session."""
        row = self._db.query_one(
            "SELECT 1 FROM stream_segment_sessions WHERE session_no = ?1 AND first_tick <= ?2 AND last_tick >= ?2"
            " AND rows = last_tick - first_tick + 1 LIMIT 1",
            (session, tick),
        )
        return row is not None

    def has(self, name: str) -> bool:
        """Whether the manifest names this segment."""
        return self._db.query_one("SELECT 1 FROM stream_segments WHERE name = ?", (name,)) is not None

    def number_concepts(self, ids: Sequence[str]) -> list[int]:
        """Return the concepts' numbers, giving new ones where there are none yet."""
        missing = [concept for concept in ids if self.concept_number(concept) is None]
        if missing:
            with self._db.transaction() as con:
                for concept in missing:
                    con.execute("INSERT OR IGNORE INTO stream_concepts(id) VALUES(?)", (concept,))
        return [cast("int", self.concept_number(concept)) for concept in ids]

    def concept_number(self, concept: str) -> int | None:
        """Return the number of a concept, None when no segment can hold it."""
        number = self._numbers.get(concept)
        if number is None:
            row = self._db.query_one("SELECT no FROM stream_concepts WHERE id = ?", (concept,))
            if row is None:
                return None
            number = row[0]
            self._numbers.put(concept, cast("int", number))
        return number

    def concept_id(self, number: int) -> str | None:
        """Return the concept of a number."""
        known = self._ids.get(number)
        if known is None:
            row = self._db.query_one("SELECT id FROM stream_concepts WHERE no = ?", (number,))
            return None if row is None else self._ids.put(number, cast("str", row[0]))
        return known


def _own(name: str) -> str:
    """Return the name of a file among the segments; raises `IntegrityError` for one that leads elsewhere."""
    if "/" in name:
        named_below(Path("stream/segments"), name)
    return name


def _add_side(con: Connection, segment: int, side: SideFile) -> None:
    con.execute(
        "INSERT INTO stream_sidecars VALUES(?, ?, ?, ?, ?)",
        (segment, side.kind, side.name, side.bytes, side.sha256),
    )


def _remove(con: Connection, name: str, *, into: int | None) -> None:
    row = con.execute("SELECT no FROM stream_segments WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise Conflict(f"The segment {name} is not in the stream any more.")
    con.execute("UPDATE stream_retired_logs SET segment_no = ? WHERE segment_no = ?", (into, row[0]))
    for table in ("stream_segment_sessions", "stream_sidecars"):
        con.execute(f"DELETE FROM {table} WHERE segment_no = ?", (row[0],))
    con.execute("DELETE FROM stream_segments WHERE no = ?", (row[0],))
    con.execute("INSERT OR IGNORE INTO stream_replaced_segments VALUES(?)", (name,))
