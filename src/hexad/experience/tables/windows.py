"""Windows of time: ranges of ticks, and the fidelity that they keep them at (document 2, sections 3.5 and 11.1).

The stored fidelity is what protects: a tick is SUBMITTED or WARM exactly while a window that is stored so holds it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hexad.core.tick_ranges import Ranges, difference, union
from hexad.database.codec import dump, from_micros, optional_time, to_micros
from hexad.database.connection import Database, Row, SQLValue
from hexad.errors import NotFound
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.tags import TICK_LIMIT
from hexad.experience.values.tiers import Submission, SubmissionStatus

PROTECTING: Final = (Fidelity.SUBMITTED, Fidelity.WARM)
"""The strongest first: of windows that overlap it counts."""

_COLUMNS: Final = (
    "w.no, w.id, w.session_no, s.id, w.first_tick, w.last_tick, w.start_at, w.end_at, w.fidelity,"
    " w.compression_level, w.pinned, w.pinned_reason, w.token_count, w.grace_until, w.created_at"
)
_FROM: Final = "FROM time_windows w JOIN sessions s ON s.no = w.session_no"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRow:
    """A row of `time_windows`; `fidelity` HOT and COLD protect nothing."""

    no: int
    id: str
    session_no: int
    session_id: str
    ticks: tuple[int, int]
    start_time: datetime
    end_time: datetime
    fidelity: Fidelity
    level: CompressionLevel
    pinned: bool
    pinned_reason: str | None
    token_count: int
    grace_until: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FullDetail:
    """What is in full detail of a window when somebody wants it kept."""

    start_time: datetime
    end_time: datetime
    token_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWindow:
    """What a window is made of."""

    id: str
    session_no: int
    ticks: tuple[int, int]
    holds: FullDetail
    fidelity: Fidelity
    pinned: bool = False
    pinned_reason: str | None = None


class Windows:
    """The windows of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # What is protected ------------------------------------------------------------------------------------------

    def protected(self, session_no: int, ticks: tuple[int, int] | None = None) -> dict[Fidelity, Ranges]:
        """Return the ticks of a session that must stay in the stream, by `SUBMITTED` and `WARM`; with `ticks` the
        ranges that share one with those. No tick is in both: the strongest counts.

        A window may hold ticks that were never recorded, and such as left before it was made.
        """  # fmt: skip
        return self.protected_by_session(session_no, ticks).get(session_no, dict.fromkeys(PROTECTING, ()))

    def protected_by_session(
        self, session_no: int | None = None, ticks: tuple[int, int] | None = None
    ) -> dict[int, dict[Fidelity, Ranges]]:
        """Return what `protected` does for each session that has any, by the session's number."""
        first, last = ticks or (0, TICK_LIMIT)
        rows = self._db.query(
            "SELECT session_no, fidelity, first_tick, last_tick FROM time_windows"
            " WHERE fidelity IN ('submitted', 'warm') AND (:session IS NULL OR session_no = :session)"
            " AND first_tick <= :last AND last_tick >= :first ORDER BY session_no, first_tick",
            {"session": session_no, "first": first, "last": last},
        )
        ranges: dict[int, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
        for number, fidelity, start, end in rows:
            ranges[number][fidelity].append((start, end))
        return {number: _by_strength(ranges) for number, ranges in ranges.items()}

    # Questions --------------------------------------------------------------------------------------------------

    def get(self, window_id: str) -> WindowRow:
        """Return one window; raises `NotFound`."""
        rows = self._read("w.id = :id", {"id": window_id})
        if not rows:
            raise NotFound(
                f"Window {window_id!r} is not there;", remedy="`{windows()}` lists those that there are."
            )
        return rows[0]

    def find(
        self,
        *,
        session_no: int | None = None,
        ticks: tuple[int, int] | None = None,
        fidelities: Collection[Fidelity] | None = None,
        pinned: bool | None = None,
    ) -> list[WindowRow]:
        """Return the windows that pass, by session and first tick; with `ticks` those that share one with them.

        `fidelities` are those stored.
        """
        first, last = ticks or (0, TICK_LIMIT)
        where = ["w.first_tick <= :last", "w.last_tick >= :first"]
        if session_no is not None:
            where.append("w.session_no = :session")
        if fidelities is not None:
            where.append("w.fidelity IN (SELECT value FROM json_each(:fidelities))")
        if pinned is not None:
            where.append("w.pinned = :pinned")
        return self._read(
            " AND ".join(where),
            {
                "first": first,
                "last": last,
                "session": session_no,
                "fidelities": dump(sorted(fidelities or ())),
                "pinned": pinned,
            },
        )

    def by_numbers(self, numbers: Collection[int]) -> list[WindowRow]:
        """Return these windows, by session and first tick."""
        return self._read(
            "w.no IN (SELECT value FROM json_each(:numbers))", {"numbers": dump(sorted(numbers))}
        )

    def grace_ended(self, at: datetime) -> list[WindowRow]:
        """Return the windows whose grace was over at `at`."""
        return self._read("w.grace_until <= :at AND w.fidelity = 'warm'", {"at": to_micros(at)})

    def exactly(self, session_no: int, ticks: tuple[int, int]) -> list[WindowRow]:
        """Return the windows with just these ticks, the oldest first."""
        return self._read(
            "w.session_no = :session AND w.first_tick = :first AND w.last_tick = :last",
            {"session": session_no, "first": ticks[0], "last": ticks[1]},
        )

    def unprotected(
        self, *, session_no: int | None = None, ticks: tuple[int, int] | None = None
    ) -> list[WindowRow]:
        """Return the windows that protect nothing and are not noted as wholly COLD, by session and first tick."""
        first, last = ticks or (0, TICK_LIMIT)
        return self._read(
            "(w.fidelity, w.compression_level) IN (VALUES ('hot', 0), ('cold', 0))"
            " AND (:session IS NULL OR w.session_no = :session)"
            " AND w.first_tick <= :last AND w.last_tick >= :first",
            {"session": session_no, "first": first, "last": last},
        )

    def _read(self, where: str, params: Mapping[str, SQLValue]) -> list[WindowRow]:
        rows = self._db.query(
            f"SELECT {_COLUMNS} {_FROM} WHERE {where} ORDER BY w.session_no, w.first_tick, w.last_tick, w.no",
            dict(params),
        )
        return [_row(row) for row in rows]

    # Changes, in the caller's transaction -----------------------------------------------------------------------

    def insert(self, window: NewWindow, *, at: datetime) -> int:
        """Store a new window and return its number."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO time_windows(id, session_no, first_tick, last_tick, start_at, end_at, fidelity, pinned,"
                " pinned_reason, token_count, created_at) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
                (
                    window.id,
                    window.session_no,
                    *window.ticks,
                    to_micros(window.holds.start_time),
                    to_micros(window.holds.end_time),
                    window.fidelity.value,
                    window.pinned,
                    window.pinned_reason,
                    window.holds.token_count,
                    to_micros(at),
                ),
            )
            return con.last_insert_rowid

    def pin(self, number: int, holds: FullDetail, *, reason: str | None) -> None:
        """Keep a window WARM for as long as it stays pinned; without a `reason` the one that it has stays."""
        self._change(
            number,
            "fidelity = 'warm', pinned = 1, grace_until = NULL, pinned_reason = coalesce(?, pinned_reason)",
            reason,
            holds=holds,
        )

    def submit(self, number: int, holds: FullDetail) -> None:
        """Keep a window SUBMITTED; whether it is pinned is for the submission's end to say."""
        self._change(number, "fidelity = 'submitted', grace_until = NULL", holds=holds)

    def warm(self, number: int, *, until: datetime) -> None:
        """Keep a window WARM and unpinned until its grace is over."""
        self._change(number, "fidelity = 'warm', pinned = 0, grace_until = ?", to_micros(until))

    def release(self, number: int, fidelity: Fidelity, level: CompressionLevel) -> None:
        """Let a window protect nothing any more."""
        self._change(
            number,
            "fidelity = ?, compression_level = ?, pinned = 0, grace_until = NULL",
            fidelity.value,
            int(level),
        )

    def _change(
        self, number: int, assignments: str, *values: SQLValue, holds: FullDetail | None = None
    ) -> None:
        if holds is not None:
            assignments = f"{assignments}, token_count = ?, start_at = ?, end_at = ?"
            values += (holds.token_count, to_micros(holds.start_time), to_micros(holds.end_time))
        with self._db.joined() as con:
            con.execute(f"UPDATE time_windows SET {assignments} WHERE no = ?", (*values, number))


def _by_strength(ranges: Mapping[str, Sequence[tuple[int, int]]]) -> dict[Fidelity, Ranges]:
    taken: Ranges = ()
    ranges_by_fidelity: dict[Fidelity, Ranges] = {}
    for fidelity in PROTECTING:
        mine = union(ranges.get(fidelity.value, ()))
        ranges_by_fidelity[fidelity] = difference(mine, taken)
        taken = union([*taken, *mine])
    return ranges_by_fidelity


def _row(row: Row) -> WindowRow:
    return WindowRow(
        no=row[0],
        id=row[1],
        session_no=row[2],
        session_id=row[3],
        ticks=(row[4], row[5]),
        start_time=from_micros(row[6]),
        end_time=from_micros(row[7]),
        fidelity=Fidelity(row[8]),
        level=CompressionLevel(row[9]),
        pinned=bool(row[10]),
        pinned_reason=row[11],
        token_count=row[12],
        grace_until=optional_time(row[13]),
        created_at=from_micros(row[14]),
    )


_NAMED: Final = (
    "EXISTS (SELECT 1 FROM window_submissions ws JOIN submissions s ON s.no = ws.submission_no"
    " WHERE ws.window_no = w.no AND s.status = 'open')"
)

WINDOW_PROMISES: Final = (
    (
        f"SELECT w.id FROM time_windows w WHERE (w.fidelity = 'submitted') <> {_NAMED}",
        "Window {0!r} is evidence of no open submission, or is named by one and not kept. Put a backup in its place.",
    ),
    (
        "SELECT w.id FROM time_windows w WHERE w.fidelity = 'warm' AND w.pinned = (w.grace_until IS NOT NULL)",
        "Window {0!r} is kept for no reason, or for two. `unpin_window` lets go of it.",
    ),
    (
        "SELECT w.id, s.id FROM time_windows w JOIN sessions s ON s.no = w.session_no"
        " WHERE w.first_tick < 0 OR w.last_tick < w.first_tick",
        "Window {0!r} of session {1!r} is on ticks that cannot be. Put a backup in its place.",
    ),
    (
        "SELECT s.id, s.status FROM submissions s WHERE (s.status = 'open') <> (s.resolved_at IS NULL)",
        "Submission {0!r} is {1!r}, and the time of its answer says otherwise. Put a backup in its place.",
    ),
)


_SUBMISSION_COLUMNS: Final = "no, id, bud_tag_id, status, submitted_at, resolved_at"


class SubmissionTable:
    """The submissions of one store. A window stays named after a submission is resolved; it protects no more."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, submission_id: str) -> Submission | None:
        """Return one submission, None when there is none of this id."""
        submissions = self._read("WHERE id = ?", (submission_id,))
        return submissions[0] if submissions else None

    def require(self, submission_id: str) -> Submission:
        """Return one submission; raises `NotFound`."""
        submission = self.get(submission_id)
        if submission is None:
            raise NotFound(
                f"Submission {submission_id!r} is not there;", remedy="`{submissions()}` lists what there is."
            )
        return submission

    def find(
        self, *, status: SubmissionStatus | None = None, bud_tag_id: str | None = None
    ) -> list[Submission]:
        """Return the submissions that pass, in the order in which they were made."""
        return self._read(
            "WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR bud_tag_id = ?2)",
            (None if status is None else status.value, bud_tag_id),
        )

    def ids(self) -> list[str]:
        """Return the ids of all submissions."""
        return [row[0] for row in self._db.query("SELECT id FROM submissions ORDER BY no")]

    def window_numbers(self, submission_id: str) -> list[int]:
        """Return the numbers of the windows that a submission names."""
        rows = self._db.query(
            "SELECT ws.window_no FROM submissions s JOIN window_submissions ws ON ws.submission_no = s.no"
            " WHERE s.id = ? ORDER BY 1",
            (submission_id,),
        )
        return [row[0] for row in rows]

    def unresolved(self, windows: Collection[int]) -> dict[int, list[str]]:
        """Return by window the unresolved submissions that name it; windows without any are left out."""
        rows = self._db.query(
            "SELECT ws.window_no, s.id FROM json_each(?) j CROSS JOIN window_submissions ws ON ws.window_no = j.value"
            " CROSS JOIN submissions s ON s.no = ws.submission_no WHERE s.status = ? ORDER BY ws.window_no, s.no",
            (dump(sorted(windows)), SubmissionStatus.OPEN.value),
        )
        ids_by_session: dict[int, list[str]] = defaultdict(list)
        for window, submission in rows:
            ids_by_session[window].append(submission)
        return dict(ids_by_session)

    # Changes, in the caller's transaction -----------------------------------------------------------------------

    def add(self, submission_id: str, bud_tag_id: str, windows: Sequence[int], *, at: datetime) -> None:
        """Store an unresolved submission that names these windows."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO submissions(id, bud_tag_id, status, submitted_at) VALUES(?,?,?,?)",
                (submission_id, bud_tag_id, SubmissionStatus.OPEN.value, to_micros(at)),
            )
            number = con.last_insert_rowid
            con.executemany(
                "INSERT INTO window_submissions(window_no, submission_no) VALUES(?,?)",
                [(window, number) for window in dict.fromkeys(windows)],
            )

    def resolve(self, submission_id: str, status: SubmissionStatus, *, at: datetime) -> None:
        """Note what became of a submission."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE submissions SET status = ?, resolved_at = ? WHERE id = ?",
                (status.value, to_micros(at), submission_id),
            )

    def _read(self, where: str, params: tuple[SQLValue, ...]) -> list[Submission]:
        with self._db.read():
            rows = self._db.query(
                f"SELECT {_SUBMISSION_COLUMNS} FROM submissions {where} ORDER BY no", params
            )
            named = self._window_ids([row[0] for row in rows])
        return [
            Submission(
                id=row[1],
                bud_tag_id=row[2],
                status=SubmissionStatus(row[3]),
                submitted_at=from_micros(row[4]),
                resolved_at=optional_time(row[5]),
                window_ids=tuple(named.get(row[0], ())),
            )
            for row in rows
        ]

    def _window_ids(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        rows = self._db.query(
            "SELECT ws.submission_no, w.id FROM json_each(?) j"
            " CROSS JOIN window_submissions ws ON ws.submission_no = j.value"
            " CROSS JOIN time_windows w ON w.no = ws.window_no"
            " ORDER BY ws.submission_no, w.session_no, w.first_tick, w.last_tick, w.no",
            (dump(list(numbers)),),
        )
        window_ids: dict[int, list[str]] = defaultdict(list)
        for number, window in rows:
            window_ids[number].append(window)
        return window_ids
