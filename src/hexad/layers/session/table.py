"""Working sets as rows: what a session was about when its last snapshot was acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from hexad.core.erasure import ErasureBook, Realm, Selection
from hexad.database.codec import dump, from_micros, load_object, load_strings, optional_time, to_micros
from hexad.database.connection import Connection, Database, Row, SQLValue
from hexad.errors import Conflict, IntegrityError, NotFound
from hexad.ingest.sources.checkout import Workplace
from hexad.layers.session.working_set import Boundary, WorkingSet, state_of, with_state

PLACE: Final = "working sets"
"""What a receipt of an erasure calls them."""
Change = Callable[[WorkingSet], WorkingSet]
"""What is to be changed of a working set; made again on top of what another process wrote in between."""

_COLUMNS: Final = (
    "id, repository, worktree, branch, state, data_subjects, started_at, updated_at, ended_at, boundary, owner,"
    " rev"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnding:
    """What follows a working set that ends, and who works on it."""

    next: WorkingSet | None
    owner: str | None


class WorkingSets:
    """The working sets of one store. `alive` gives the identities of the open stores there are."""

    def __init__(self, db: Database, *, alive: Callable[[], Collection[str]] = tuple) -> None:
        self._db = db
        self._alive = alive

    # Reading ----------------------------------------------------------------------------------------------------

    def get(self, session_id: str) -> WorkingSet:
        """Return one; raises `NotFound`."""
        for working_set in self._read("WHERE id = :id", {"id": session_id}):
            return working_set
        raise NotFound(
            f"There is no working set {session_id!r};", remedy="`{hx.session.list()}` shows those there are."
        )

    def has(self, session_id: str) -> bool:
        """Whether there is one of this session."""
        return self._db.query_one("SELECT 1 FROM working_sets WHERE id = ?", (session_id,)) is not None

    def rev(self, session_id: str) -> int | None:
        """Return how often one was written, None when it is not there."""
        row = self._db.query_one("SELECT rev FROM working_sets WHERE id = ?", (session_id,))
        return None if row is None else row[0]

    def latest(
        self, place: Workplace, *, ticket: str | None = None, left_by: Boundary | None = None, limit: int = 20
    ) -> list[WorkingSet]:
        """Return the working sets of a place and its branch that may be gone on with, the last changed first.

        Those that go on; with `left_by` those that this boundary ended. With `ticket`, of that ticket alone.
        """
        return self._read(
            "WHERE repository = :repository AND worktree = :worktree AND branch IS :branch"
            " AND (:ticket IS NULL OR state ->> '$.ticket' = :ticket)"
            " AND CASE WHEN :left_by IS NULL THEN ended_at IS NULL"
            " ELSE ended_at IS NOT NULL AND boundary = :left_by END"
            " ORDER BY updated_at DESC, no DESC LIMIT :limit",
            {
                "repository": place.repository,
                "worktree": place.worktree,
                "branch": place.branch,
                "ticket": ticket,
                "left_by": None if left_by is None else left_by.value,
                "limit": limit,
            },
        )

    def _read(self, where: str, params: dict[str, SQLValue]) -> list[WorkingSet]:
        rows = self._db.query(f"SELECT {_COLUMNS} FROM working_sets {where}", params)
        alive = set(self._alive()) if any(row[10] is not None for row in rows) else set()
        return [_loaded(row, alive) for row in rows]

    # Writing ----------------------------------------------------------------------------------------------------

    def add(self, working_set: WorkingSet, *, owner: str | None) -> WorkingSet:
        """Store a new one durably; raises `Conflict` for an id that is there."""
        with self._db.transaction() as con:
            if con.execute("SELECT 1 FROM working_sets WHERE id = ?", (working_set.id,)).fetchone():
                raise Conflict(
                    f"There is a working set {working_set.id!r};", remedy="`{resume}` goes on with it."
                )
            con.execute(
                f"INSERT INTO working_sets({_COLUMNS}) VALUES(?,?,?,?,?,?,?,?,?,?,?,1)",
                (*_values(working_set), owner),
            )
        return replace(working_set, rev=1, active=owner is not None)

    def save(
        self,
        working_set: WorkingSet,
        changes: Sequence[Change],
        *,
        owner: str | None,
        guest: bool = False,
        ends: TaskEnding | None = None,
    ) -> WorkingSet:
        """Write a snapshot durably and return the working set as it stands then.

        `working_set` is what `changes` made of the snapshot with its `rev`. Where another process wrote one since, they
        are made again on top of that, so that nothing of either is lost. A `guest` leaves it with whoever has it in
        hand. With `ends` the working set that follows is stored in the same transaction. Raises `NotFound` for one that
        was erased.
        """
        with self._db.transaction() as con:
            saved = self._save(con, working_set, changes, owner=owner, guest=guest)
            if ends is not None and ends.next is not None:
                con.execute(
                    f"INSERT INTO working_sets({_COLUMNS}) VALUES(?,?,?,?,?,?,?,?,?,?,?,1)",
                    (*_values(ends.next), ends.owner),
                )
        return saved

    def _save(
        self,
        con: Connection,
        working_set: WorkingSet,
        changes: Sequence[Change],
        *,
        owner: str | None,
        guest: bool,
    ) -> WorkingSet:
        row = con.execute(f"SELECT {_COLUMNS} FROM working_sets WHERE id = ?", (working_set.id,)).fetchone()
        if row is None:
            raise NotFound(
                f"Session {working_set.id!r} was erased;", remedy="`{hx.session.start()}` begins another."
            )
        if row[11] != working_set.rev:
            there = _loaded(row, set())
            for change in changes:
                there = change(there)
            working_set = there
        rev = row[11] + 1
        con.execute(
            "UPDATE working_sets SET repository = ?2, worktree = ?3, branch = ?4, state = ?5, data_subjects = ?6,"
            " started_at = ?7, updated_at = ?8, ended_at = ?9, boundary = ?10, rev = ?12,"
            " owner = CASE WHEN ?13 THEN owner ELSE ?11 END WHERE id = ?1",
            (*_values(working_set), owner, rev, int(guest)),
        )
        return replace(working_set, rev=rev, active=guest or owner is not None)

    def list(
        self,
        *,
        repository: str | None = None,
        worktree: str | None = None,
        ended: bool | None = None,
        limit: int = -1,
        offset: int = 0,
    ) -> list[WorkingSet]:
        """Return those of a place, or all; the last changed first."""
        return self._read(
            "WHERE (:repository IS NULL OR repository = :repository) AND (:worktree IS NULL OR worktree = :worktree)"
            " AND (:ended IS NULL OR (ended_at IS NOT NULL) = :ended)"
            " ORDER BY updated_at DESC, no DESC LIMIT :limit OFFSET :offset",
            {
                "repository": repository,
                "worktree": worktree,
                "ended": None if ended is None else int(ended),
                "limit": limit,
                "offset": offset,
            },
        )


def _values(working_set: WorkingSet) -> tuple[SQLValue, ...]:
    return (
        working_set.id,
        working_set.place.repository,
        working_set.place.worktree,
        working_set.place.branch,
        dump(state_of(working_set)),
        dump(list(working_set.data_subjects)),
        to_micros(working_set.started_at),
        to_micros(working_set.updated_at),
        None if working_set.ended_at is None else to_micros(working_set.ended_at),
        None if working_set.boundary is None else working_set.boundary.value,
    )


def _loaded(row: Row, alive: Collection[str]) -> WorkingSet:
    return with_state(
        WorkingSet(
            id=row[0],
            place=Workplace(
                repository=row[1],
                worktree=row[2],
                branch=row[3],
            ),
            data_subjects=load_strings(row[5]),
            started_at=from_micros(row[6]),
            updated_at=from_micros(row[7]),
            ended_at=optional_time(row[8]),
            boundary=None if row[9] is None else Boundary(row[9]),
            active=row[10] in alive,
            rev=row[11],
        ),
        load_object(row[4]),
    )


def check_working_sets(db: Database) -> Iterator[str]:
    """Yield which working sets cannot be read."""
    after = ""
    while rows := db.query(
        f"SELECT {_COLUMNS} FROM working_sets WHERE id > ? ORDER BY id LIMIT 100", (after,)
    ):
        for row in rows:
            try:
                _loaded(row, ())
            except (IntegrityError, ValueError) as error:
                yield str(error)
        after = rows[-1][0]


# Erasing --------------------------------------------------------------------------------------------------------

_ERASED: Final = """
 WHERE (:everything OR (
   (:session IS NULL OR id = :session)
   AND (:subject IS NULL OR EXISTS (SELECT 1 FROM json_each(data_subjects) d WHERE d.value = :subject)
        OR id IN (SELECT s.id FROM session_subjects u JOIN sessions s ON s.no = u.session_no
                  WHERE u.subject = :subject))
   AND (:before IS NULL OR updated_at < :before)))
 AND (started_at <= :at OR started_at > :now)
"""
"""What was begun since an erasure that was interrupted stays; what is dated ahead of the clock was begun before."""


class WorkingSetEraser:
    """Erases working sets for good: of a session, of a person, from before a moment, or all with the project."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove them, and note how many, in one transaction. Who has one in hand finds it gone."""
        params = _selection_params(selection, at=book.at, now=self._db.clock.now())
        if params is None:
            return
        with self._db.transaction() as con:
            gone_rows = con.execute(f"DELETE FROM working_sets {_ERASED} RETURNING no", params).fetchall()
            con.execute("DELETE FROM consolidated_tasks WHERE session NOT IN (SELECT id FROM working_sets)")
            book.erased(PLACE, len(gone_rows))


def _selection_params(selection: Selection, *, at: datetime, now: datetime) -> dict[str, SQLValue] | None:
    """Return what a selection asks of working sets; None where it does not reach them."""
    if selection.tag is not None or not (selection.project or Realm.STREAM in selection.realms):
        return None
    return {
        "everything": int(selection.project),
        "session": selection.session,
        "subject": selection.subject,
        "before": None if selection.before is None else to_micros(selection.before),
        "at": to_micros(at),
        "now": to_micros(now),
    }


WORKING_SET_DDL: Final = """
-- What a session is about right now: one row for each, its state as JSON.
CREATE TABLE working_sets (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  repository TEXT NOT NULL,
  worktree TEXT NOT NULL,
  branch TEXT,
  state TEXT NOT NULL,
  data_subjects TEXT NOT NULL DEFAULT '[]',
  started_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ended_at INTEGER,
  boundary TEXT,                           -- what ended it, or let it rest
  owner TEXT,                              -- identity of the open store that works on it
  rev INTEGER NOT NULL DEFAULT 1           -- counts snapshots: who writes sees whether somebody else did
) STRICT;
CREATE INDEX working_sets_by_place ON working_sets(repository, worktree, updated_at);
"""


SESSION_STATE_DDL: Final = """
-- Document 4, section 2.2.1: the session that was changed last, for people and tools that read the file. `project_id`
-- is the project's name, as facts and decisions have it; where it is worked on is in `working_sets`.
DROP VIEW IF EXISTS session_state;
CREATE VIEW session_state AS
  SELECT 1 AS id, (SELECT value FROM meta WHERE key = 'project') AS project_id,
         state ->> '$.task' AS active_task, state ->> '$.ticket' AS active_ticket,
         (SELECT json_group_array(value ->> '$.path') FROM json_each(state, '$.open_files')) AS files_open,
         state ->> '$.edits[#-1].path' AS last_edit_file, state ->> '$.edits[#-1].line' AS last_edit_line,
         state ->> '$.conversation_summary' AS conversation_summary,
         strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1e6, 'unixepoch') AS last_updated
  FROM working_sets ORDER BY ended_at IS NULL DESC, updated_at DESC, no DESC LIMIT 1;
"""
