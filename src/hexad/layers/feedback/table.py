"""What was said of answers: one row for each item, question and actor, and what it did to the memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from hexad.core.erasure import ErasureBook, Selection
from hexad.database.change_counters import bump
from hexad.database.codec import dump, from_micros, to_micros
from hexad.database.connection import Connection, Database, Row, SQLValue
from hexad.memory.confidence import DRAFT, SURE_MOST
from hexad.memory.feedback import Feedback, Verdict
from hexad.memory.layer_names import MemoryLayer, QueryClass
from hexad.memory.tables.rows import seen_sql

PLACE: Final = "feedback"
"""What a receipt of an erasure calls it."""
LOWERED: Final = 0.8
"""What a `wrong` leaves of the confidence of something inferred."""
LEAST: Final = 0.1
"""Below this no `wrong` takes it, however many there are."""
_COLUMNS: Final = (
    "f.id, m.id, f.layer, f.verdict, f.query, f.query_class, f.note, f.given_by, f.given_at, f.flagged,"
    " f.confidence"
)
_FROM: Final = "FROM feedback f LEFT JOIN memories m ON m.no = f.memory_no"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFeedback:
    """What is stored of a verdict. `mark` is the same for the same actor, item and question, and tells none of them."""

    id: str
    mark: str
    memory_no: int | None
    layer: MemoryLayer
    verdict: Verdict
    query: str
    terms: Sequence[str]
    query_class: QueryClass | None
    note: str
    given_by: str
    at: datetime


class VerdictCount(NamedTuple):
    """A verdict as it counts for a layer."""

    layer: str
    verdict: str
    given_at: int


class Feedbacks:
    """The verdicts of one store, as far as `roles` may see them; whoever has a role sees its own alone."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None, actor: str) -> None:
        self._db, self._roles, self._actor = db, roles, actor

    def verdicts(self, *, memory_no: int | None = None, limit: int | None = None) -> list[Feedback]:
        """Return verdicts, the last given first."""
        where, params = self._visibility_sql()
        rows = self._db.query(
            f"SELECT {_COLUMNS} {_FROM} WHERE (? IS NULL OR f.memory_no = ?){where} ORDER BY f.no DESC LIMIT ?",
            (memory_no, memory_no, *params, -1 if limit is None else limit),
        )
        return [_feedback(row) for row in rows]

    def find(self, feedback_id: str) -> Feedback | None:
        """Return the verdict with an id; None where there is none that may be seen."""
        return self._first("f.id = ?", feedback_id)

    def marked(self, mark: str) -> Feedback | None:
        """Return the verdict that an actor gave on an item as the answer to a question."""
        return self._first("f.mark = ?", mark)

    def counted(self, query_class: QueryClass) -> list[VerdictCount]:
        """Return the verdicts on answers to questions of a class: of memories that may be seen, and one's own."""
        where, params = self._counts()
        rows = self._db.query(
            f"SELECT f.layer, f.verdict, f.given_at {_FROM} WHERE f.query_class = ?{where}",
            (query_class.value, *params),
        )
        return [VerdictCount._make(row) for row in rows]

    # Writing: always inside the caller's transaction ------------------------------------------------------------

    def put(self, new: NewFeedback) -> None:
        """Store a verdict, and let the memory know of a `wrong`."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO feedback(id, mark, memory_no, content_hash, layer, verdict, query, terms, query_class,"
                " note, given_by, given_at) VALUES(?1,?2,?3,(SELECT content_hash FROM memories WHERE no = ?3),"
                "?4,?5,?6,?7,?8,?9,?10,?11)",
                (
                    new.id,
                    new.mark,
                    new.memory_no,
                    new.layer.value,
                    new.verdict.value,
                    new.query,
                    dump(list(new.terms)),
                    None if new.query_class is None else new.query_class.value,
                    new.note,
                    new.given_by,
                    to_micros(new.at),
                ),
            )
            if new.memory_no is not None and new.verdict is Verdict.WRONG:
                _doubt(con, new.id, new.memory_no)

    def remove(self, feedback_id: str) -> None:
        """Take a verdict back, with what it did to its memory."""
        with self._db.joined() as con:
            row = con.execute(
                "SELECT memory_no, flagged, confidence, no FROM feedback WHERE id = ?", (feedback_id,)
            ).fetchone()
            if row is None:
                return
            con.execute("DELETE FROM feedback WHERE id = ?", (feedback_id,))
            no = row[0]
            if no is None:
                return
            if row[1]:
                _unflag(con, no)
            if row[2] is not None:
                _believe(con, no, float(row[2]))

    # Inside -----------------------------------------------------------------------------------------------------

    def _first(self, where: str, value: str) -> Feedback | None:
        more, params = self._visibility_sql()
        row = self._db.query_one(f"SELECT {_COLUMNS} {_FROM} WHERE {where}{more}", (value, *params))
        return None if row is None else _feedback(row)

    def _visibility_sql(self) -> tuple[str, tuple[SQLValue, ...]]:
        """A question may tell of what is hidden from others: whoever has a role is told its own."""
        where, params = self._counts()
        return (
            (where, params)
            if self._roles is None
            else (f"{where} AND f.given_by = ?", (*params, self._actor))
        )

    def _counts(self) -> tuple[str, tuple[SQLValue, ...]]:
        if self._roles is None:
            return "", ()
        seen, params = seen_sql("m", self._roles)
        return f" AND iif(f.memory_no IS NULL, f.given_by = ?, 1{seen})", (self._actor, *params)


def _doubt(con: Connection, feedback_id: str, no: int) -> None:
    """Let a memory that was called wrong be less sure where it was inferred, else be marked for a review."""
    row = con.execute(
        f"SELECT metadata ->> '$.{DRAFT}' = 1, metadata ->> '$.needs_review' IS NOT NULL, confidence"
        " FROM memories WHERE no = ?",
        (no,),
    ).fetchone()
    if row is None:
        return
    inferred, flagged, confidence = row
    if inferred:
        base = con.execute(
            "SELECT confidence FROM feedback WHERE memory_no = ? AND confidence IS NOT NULL ORDER BY no LIMIT 1",
            (no,),
        ).fetchone()
        first = float(base[0] if base is not None else confidence)
        con.execute("UPDATE feedback SET confidence = ? WHERE id = ?", (first, feedback_id))
        con.execute(
            "UPDATE memories SET confidence = max(confidence * ?, min(confidence, ?)), rev = ? WHERE no = ?",
            (LOWERED, LEAST, bump(con, "memories"), no),
        )
    elif not flagged:
        con.execute("UPDATE feedback SET flagged = 1 WHERE id = ?", (feedback_id,))
        con.execute(
            "UPDATE memories SET metadata = json_set(metadata, '$.needs_review', json('true')), rev = ? WHERE no = ?",
            (bump(con, "memories"), no),
        )


def _unflag(con: Connection, no: int) -> None:
    """Take the mark off a memory, unless somebody else called it wrong, or what it rests on has fallen."""
    con.execute(
        "UPDATE feedback SET flagged = 1 WHERE no = (SELECT min(no) FROM feedback WHERE memory_no = ? AND verdict = ?)",
        (no, Verdict.WRONG.value),
    )
    if con.changes:
        return
    con.execute(
        "UPDATE memories SET metadata = json_remove(metadata, '$.needs_review'), rev = ?2 WHERE no = ?1"
        " AND metadata ->> '$.needs_review' IS NOT NULL AND NOT EXISTS (SELECT 1 FROM relations r"
        "  LEFT JOIN memories p ON p.no = r.to_no WHERE r.from_no = ?1 AND r.kind IN"
        "  ('link:depends-on', 'link:depends_on', 'link:based-on', 'link:based_on')"
        "  AND (p.no IS NULL OR p.status <> 'active' OR p.metadata ->> '$.needs_review' = 1))",
        (no, bump(con, "memories")),
    )


def _believe(con: Connection, no: int, first: float) -> None:
    """Give back what one `wrong` took of a memory's confidence; as it was before, where that was the only one."""
    left_row = con.execute(
        "SELECT count(*) FROM feedback WHERE memory_no = ? AND confidence IS NOT NULL", (no,)
    ).fetchone()
    row = con.execute("SELECT confidence FROM memories WHERE no = ?", (no,)).fetchone()
    if left_row is None or row is None:
        return
    many, now = left_row[0], float(row[0])
    after, before = _lowered(first, many + 1), _lowered(first, many)
    if abs(now - after) < 1e-9:  # nobody else has changed it since
        back = before
    else:  # in proportion, and never more than was taken, nor than evidence alone would have made of it
        back = min(now * before / after, now + before - after, max(first, now, SURE_MOST))
    con.execute("UPDATE memories SET confidence = ?, rev = ? WHERE no = ?", (back, bump(con, "memories"), no))


def _lowered(first: float, times: int) -> float:
    """Return what so many `wrong` make of a confidence."""
    confidence = first
    for _ in range(times):
        confidence = max(confidence * LOWERED, min(confidence, LEAST))
    return confidence


def _feedback(row: Row) -> Feedback:
    wrong = row[3] == Verdict.WRONG
    effect = (
        "marked for a review" if row[9] else "less sure than before" if row[10] is not None and wrong else ""
    )
    return Feedback(
        id=row[0],
        memory_id=row[1],
        layer=MemoryLayer(row[2]),
        verdict=Verdict(row[3]),
        query=row[4],
        query_class=None if row[5] is None else QueryClass(row[5]),
        note=row[6],
        given_by=row[7],
        given_at=from_micros(row[8]),
        effect=effect,
    )


# Erasing --------------------------------------------------------------------------------------------------------

GIVEN_BY: Final = (
    "substr(f.given_by || ', ', 1, length('user ' || :subject || ', ')) = 'user ' || :subject || ', '"
)
_ERASED: Final = (
    "(:everything OR (:subject IS NOT NULL AND (:before IS NULL OR f.given_at < :before)"
    f" AND {GIVEN_BY})) AND f.given_at <= :at"
)


class FeedbackEraser:
    """Erases verdicts for good that a person gave, or all with the project; those on a memory go with it."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove them, and note how many, in one transaction. What they did to memories stays."""
        params = _selection_params(selection, book.at)
        if params is None:
            return
        with self._db.transaction() as con:
            gone_rows = con.execute(
                f"DELETE FROM feedback WHERE no IN (SELECT f.no FROM feedback f WHERE {_ERASED}) RETURNING no",
                params,
            ).fetchall()
            book.erased(PLACE, len(gone_rows))


def _selection_params(selection: Selection, at: datetime) -> dict[str, SQLValue] | None:
    """Return what a selection asks of feedback; None where it does not reach it."""
    others = (
        selection.id,
        selection.space,
        selection.source,
        selection.tag,
        selection.path,
        selection.session,
    )
    if not (selection.project or (selection.subject is not None and others == (None,) * len(others))):
        return None
    return {
        "everything": int(selection.project),
        "subject": selection.subject,
        "before": None if selection.before is None else to_micros(selection.before),
        "at": to_micros(at),
    }


FEEDBACK_DDL: Final = """
-- What was said of answers: one row for each item, question and actor.
CREATE TABLE feedback (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  mark TEXT NOT NULL UNIQUE,               -- keyed hash of actor, item and question: said twice is said once
  memory_no INTEGER,                       -- NULL for what is no memory: it counts for its layer alone
  content_hash TEXT,                       -- of what the memory said then: what was changed since is not meant
  layer TEXT NOT NULL,
  verdict TEXT NOT NULL,
  query TEXT NOT NULL,
  terms TEXT NOT NULL,                     -- the question's telling words, as JSON
  query_class TEXT,                        -- NULL without a question
  note TEXT NOT NULL,
  given_by TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  flagged INTEGER NOT NULL DEFAULT 0,      -- whether it marked the memory for a review
  confidence REAL                          -- of the memory before the first verdict that lowered it
) STRICT;
CREATE INDEX feedback_by_memory ON feedback(memory_no) WHERE memory_no IS NOT NULL;
CREATE INDEX feedback_by_class ON feedback(query_class) WHERE query_class IS NOT NULL;
"""
