"""Submissions, and the windows that they name as their evidence (document 2, section 4.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from hexad.database.codec import dump, from_micros, optional_time, to_micros
from hexad.database.connection import Database, SQLValue
from hexad.errors import NotFound
from hexad.experience.values.tiers import Submission, SubmissionStatus

_COLUMNS: Final = "no, id, bud_tag_id, status, submitted_at, resolved_at"


class Submissions:
    """The submissions of one store. A window stays named after a submission is resolved; it protects no more."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, submission_id: str) -> Submission | None:
        """Return one submission, None when there is none of this id."""
        found = self._read("WHERE id = ?", (submission_id,))
        return found[0] if found else None

    def require(self, submission_id: str) -> Submission:
        """Return one submission; raises `NotFound`."""
        found = self.get(submission_id)
        if found is None:
            raise NotFound(f"Submission {submission_id!r} is not there; `submissions()` lists what there is.")
        return found

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
        found: dict[int, list[str]] = defaultdict(list)
        for window, submission in rows:
            found[window].append(submission)
        return dict(found)

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
            rows = self._db.query(f"SELECT {_COLUMNS} FROM submissions {where} ORDER BY no", params)
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
        found: dict[int, list[str]] = defaultdict(list)
        for number, window in rows:
            found[number].append(window)
        return found
