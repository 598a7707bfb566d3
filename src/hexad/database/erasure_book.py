"""The book of erasures: what went by count, what waits, and the note that reaches the ledger."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from hexad.core.clock import format_time
from hexad.core.erasure import MANY, Erased, ErasureReceipt, Pending, Selection, ledger_work, parse_selection
from hexad.core.json_types import JSONValue
from hexad.database.change_counters import count_purge
from hexad.database.codec import dump, from_micros, parse, to_micros
from hexad.database.connection import Database, Row
from hexad.database.meta import Meta

ERASURE: Final = "erasure"
"""The kind of the note, and of the record that the ledger makes of it."""
ARCHIVE: Final = "archive"
"""That of a selection that was archived: it can be restored."""
MEMORIES: Final = "memories"
REMEMBERED: Final = "memories of experience"
LEDGER: Final = "ledger"
"""The place of what the ledger has to destroy; it does so in the transaction that takes the note."""
LEDGER_CONTENTS: Final = "contents of the ledger"
"""What it destroyed, in the counts of the erasure."""
_NEWEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _ErasureRow:
    no: int
    id: str
    at: datetime
    last_memory: int
    roles: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun(_ErasureRow):
    """An erasure that is under way, or was when its process ended; `roles` are those of whoever asked."""

    purge: bool
    actor: str
    selection: Selection


class Book:
    """Implements `ErasureBook` for one erasure."""

    trial = False

    def __init__(
        self, db: Database, begun: _ErasureRow, *, progress: Callable[[int], None] | None = None
    ) -> None:
        self._db, self._no, self._known, self._progress = db, begun.no, begun, progress
        self._done = 0

    @property
    def id(self) -> str:
        """The erasure's id."""
        return self._known.id

    @property
    def at(self) -> datetime:
        """When it was asked for."""
        return self._known.at

    @property
    def last_memory(self) -> int:
        """The row of the newest memory then."""
        return self._known.last_memory

    @property
    def roles(self) -> tuple[str, ...] | None:
        """The roles of whoever asked, None for the owner."""
        return self._known.roles

    def erased(self, place: str, count: int, bytes: int = 0) -> None:
        """Add to what went from a place."""
        if not count and not bytes:
            return
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO erasure_counts(erasure_no, place, count, bytes) VALUES(?,?,?,?)"
                " ON CONFLICT(erasure_no, place) DO UPDATE SET count = count + excluded.count,"
                " bytes = bytes + excluded.bytes",
                (self._no, place, count, bytes),
            )
        if self._progress is not None and place == MEMORIES:
            self._done += count
            self._progress(self._done)

    def pending(self, place: str, reason: str, work: Mapping[str, JSONValue]) -> None:
        """Note what is left to do; the same twice is one."""
        values = (self._no, place, reason, dump(work))
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO erasure_pending(erasure_no, place, reason, work) SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS"
                " (SELECT 1 FROM erasure_pending WHERE erasure_no = ?1 AND place = ?2 AND work = ?4)",
                values,
            )

    def flag(self, memory_id: str) -> None:
        """Name a memory that rests on what went."""
        with self._db.joined() as con:
            con.execute("INSERT OR IGNORE INTO erasure_flags VALUES(?,?)", (self._no, memory_id))

    def on_ledger(
        self,
        *,
        session: str | None = None,
        ticks: Sequence[tuple[int, int]] | None = None,
        subject: str | None = None,
        everything: bool = False,
    ) -> None:
        """Have contents of the ledger go, when it takes the erasure's note."""
        work = ledger_work(session=session, ticks=ticks, subject=subject, everything=everything)
        self.pending(LEDGER, "the ledger has not taken it yet", work)

    def memories_of(self, records: Sequence[str], *, times: tuple[datetime, datetime] | None = None) -> None:
        """Have the memories of compactions and COLD records go; the eraser of memories does it."""
        between = None if times is None else [format_time(times[0]), format_time(times[1])]
        if records or between:
            self.pending(REMEMBERED, "not done yet", {"records": sorted(set(records)), "between": between})


class TrialBook(Book):
    """Notes in memory what an erasure would do, for a trial; nothing of it is in the store.

    `left` are memories that were counted and not removed: there were too many for one transaction. `files` are such as
    would be removed, and count once.
    """

    trial = True

    def __init__(self, db: Database, *, at: datetime, roles: tuple[str, ...] | None) -> None:
        # Nobody else writes meanwhile: no memory comes later.
        super().__init__(db, _ErasureRow(no=0, id="dry-run", at=at, last_memory=_NEWEST, roles=roles))
        self.counts: Counter[str] = Counter()
        self.waiting: list[Pending] = []
        self.flags: set[str] = set()
        self.left: list[int] = []
        self.files: list[Path] = []

    def erased(self, place: str, count: int, bytes: int = 0) -> None:  # noqa: ARG002
        """Add to what would go from a place; how many bytes is known by the run alone."""
        self.counts[place] += count

    def pending(self, place: str, reason: str, work: Mapping[str, JSONValue]) -> None:
        """Note what would be left to do; the same twice is one."""
        waiting = Pending(place=place, reason=reason, work=work)
        if waiting not in self.waiting:
            self.waiting.append(waiting)

    def flag(self, memory_id: str) -> None:
        """Name a memory that rests on what would go."""
        self.flags.add(memory_id)

    def entries(self) -> list[Erased]:
        """Return the counts, in the order in which places were first noted."""
        return [Erased(place=place, count=count) for place, count in self.counts.items() if count]

    def take(self, place: str) -> list[Pending]:
        """Return what waits at a place, which does not wait any more."""
        taken = [waiting for waiting in self.waiting if waiting.place == place]
        self.waiting = [waiting for waiting in self.waiting if waiting.place != place]
        return taken


class Erasures:
    """All erasures of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._meta = Meta(db)

    def begin(
        self,
        erasure: str,
        selection: Selection,
        *,
        at: datetime,
        actor: str,
        roles: tuple[str, ...] | None,
        mac: str,
        purge: bool,
    ) -> Begun:
        """Note an erasure before anything of it is done; from here on it is carried through, a kill or not."""
        fields: dict[str, JSONValue] = {"given": selection.to_dict(), "roles": roles}
        with self._db.joined() as con:
            row = con.execute("SELECT coalesce(max(no), 0) FROM memories").fetchone()
            last = row[0] if row else 0
            con.execute(
                "INSERT INTO erasures(id, at, actor, purge, selection_mac, selection, last_memory)"
                " VALUES(?,?,?,?,?,?,?)",
                (erasure, to_micros(at), actor, int(purge), mac, dump(fields), last),
            )
            no = con.last_insert_rowid
        return Begun(
            no=no,
            id=erasure,
            at=at,
            purge=purge,
            actor=actor,
            selection=selection,
            last_memory=last,
            roles=roles,
        )

    def under_way(self) -> list[Begun]:
        """Return the erasures that were begun and not finished, the oldest first."""
        rows = self._db.query(
            "SELECT no, id, at, purge, actor, selection, last_memory FROM erasures WHERE selection IS NOT NULL"
            " ORDER BY no"
        )
        return [self._begun(row) for row in rows]

    @staticmethod
    def _begun(row: Row) -> Begun:
        no, erasure, at, purge, actor, selection, last = row
        fields = parse(selection)
        return Begun(
            no=no,
            id=erasure,
            at=from_micros(at),
            purge=bool(purge),
            actor=actor,
            selection=parse_selection(fields["given"]),
            last_memory=last,
            roles=None if fields["roles"] is None else tuple(fields["roles"]),
        )

    def book(self, begun: Begun, *, progress: Callable[[int], None] | None = None) -> Book:
        """Return where the work of an erasure is noted; `progress` is told how many memories are done."""
        return Book(self._db, begun, progress=progress)

    def waiting(self, *, erasure_no: int | None = None) -> list[tuple[Book, Pending]]:
        """Return what is left to do, of one erasure or of all, the oldest first; not what the ledger has to do."""
        rows = self._db.query(
            "SELECT e.no, e.id, e.at, e.last_memory, p.no, p.place, p.reason, p.work FROM erasure_pending p"
            " JOIN erasures e ON e.no = p.erasure_no WHERE p.place <> ?1 AND (?2 IS NULL OR e.no = ?2) ORDER BY p.no",
            (LEDGER, erasure_no),
        )
        return [
            (
                Book(
                    self._db,
                    _ErasureRow(
                        no=no,
                        id=erasure,
                        at=from_micros(at),
                        last_memory=last,
                    ),
                ),
                Pending(
                    no=number,
                    place=place,
                    reason=reason,
                    work=parse(work),
                ),
            )
            for no, erasure, at, last, number, place, reason, work in rows
        ]

    def settle(self, pending: Pending) -> None:
        """Strike out what was left to do."""
        with self._db.joined() as con:
            con.execute("DELETE FROM erasure_pending WHERE no = ?", (pending.no,))

    def postpone(self, pending: Pending, reason: str) -> None:
        """Say why something still waits."""
        with self._db.joined() as con:
            con.execute("UPDATE erasure_pending SET reason = ? WHERE no = ?", (reason, pending.no))

    def ledger_waits(self, erasure: str) -> bool:
        """Whether the ledger has yet to destroy something of an erasure."""
        row = self._db.query_one(
            "SELECT EXISTS (SELECT 1 FROM erasure_pending p JOIN erasures e ON e.no = p.erasure_no"
            " WHERE e.id = ? AND p.place = ?)",
            (erasure, LEDGER),
        )
        return row is not None and bool(row[0])

    def log(self, begun: Begun, *, at: datetime) -> int:
        """Write the note that reaches the ledger and forget the selection: from here on the erasure is done.

        In one transaction with the last of the work. The note holds counts and places, and nothing that was erased.
        """
        with self._db.joined() as con:
            receipt = self._receipt(begun.no)
            self._meta.log(
                ERASURE if begun.purge else ARCHIVE,
                {
                    "by": begun.actor,
                    "id": receipt.id,
                    "purge": receipt.purge,
                    "places": {entry.place: entry.count for entry in receipt.erased},
                    "flagged": len(receipt.flagged),
                    "selection_mac": receipt.selection_mac,
                },
                at=at,
            )
            number = con.last_insert_rowid
            con.execute("UPDATE erasures SET selection = NULL, log_no = ? WHERE no = ?", (number, begun.no))
            if begun.purge:
                count_purge(con)  # what was erased besides memories
        return number

    def reopen(self, pending: Pending) -> None:
        """Take an erasure for one that is under way, by the selection in what waited; what it did is not done again.

        Once it is done the ledger gets another record of it.
        """
        fields: dict[str, JSONValue] = {"given": pending.work["selection"], "roles": None}
        with self._db.joined() as con:
            con.execute(
                "UPDATE erasures SET selection = ?, log_no = NULL, ledger_seq = NULL"
                " WHERE no = (SELECT erasure_no FROM erasure_pending WHERE no = ?)",
                (dump(fields), pending.no),
            )

    def sign(self, no: int, mac: str) -> None:
        """Keep the HMAC of the receipt that is given out."""
        with self._db.joined() as con:
            con.execute("UPDATE erasures SET mac = ? WHERE no = ?", (mac, no))

    def receipt(self, erasure: str) -> ErasureReceipt | None:
        """Return what is known of an erasure."""
        row = self._db.query_one("SELECT no FROM erasures WHERE id = ?", (erasure,))
        return None if row is None else self._receipt(row[0])

    def receipts(self, *, limit: int = -1) -> list[ErasureReceipt]:
        """Return what is known of all erasures, the newest first."""
        rows = self._db.query("SELECT no FROM erasures ORDER BY no DESC LIMIT ?", (limit,))
        return [self._receipt(row[0]) for row in rows]

    def _receipt(self, no: int) -> ErasureReceipt:
        with self._db.read():
            row = self._db.query_one(
                "SELECT id, at, actor, purge, selection_mac, mac, ledger_seq FROM erasures WHERE no = ?",
                (no,),
            )
            assert row is not None
            counts = self._db.query(
                "SELECT place, count, bytes FROM erasure_counts WHERE erasure_no = ? ORDER BY place", (no,)
            )
            flags = self._db.query(
                "SELECT memory_id FROM erasure_flags WHERE erasure_no = ? ORDER BY memory_id LIMIT ?",
                (no, MANY),
            )
            waiting = self._db.query(
                "SELECT place, reason FROM erasure_pending WHERE erasure_no = ? ORDER BY no", (no,)
            )
        return ErasureReceipt(
            id=row[0],
            at=from_micros(row[1]),
            actor=row[2],
            purge=bool(row[3]),
            selection=None,
            selection_mac=row[4],
            mac=row[5],
            ledger_seq=row[6],
            erased=tuple(Erased(place=place, count=count, bytes=size) for place, count, size in counts),
            pending=_distinct(waiting),
            flagged=tuple(flag[0] for flag in flags),
        )

    # What the ledger has to do ----------------------------------------------------------------------------------

    def for_ledger(self, log_numbers: Collection[int]) -> dict[int, list[Mapping[str, JSONValue]]]:
        """Return what the ledger destroys with each of these notes, by the note's number."""
        rows = self._db.query(
            "SELECT e.log_no, p.work FROM erasure_pending p JOIN erasures e ON e.no = p.erasure_no"
            " WHERE p.place = ? AND e.log_no IN (SELECT value FROM json_each(?)) ORDER BY p.no",
            (LEDGER, json.dumps(sorted(log_numbers))),
        )
        entries_by_erasure: dict[int, list[Mapping[str, JSONValue]]] = {}
        for number, work in rows:
            entries_by_erasure.setdefault(number, []).append(parse(work))
        return entries_by_erasure

    def noted(self, after: int, through: int) -> dict[str, tuple[int, int]]:
        """Return the numbers of the erasures that this part of the log notes, with how often, by id."""
        rows = self._db.query(
            "SELECT e.id, e.no, count(*) FROM maintenance_log l CROSS JOIN erasures e ON e.id = l.detail ->> '$.id'"
            " WHERE l.no > ? AND l.no <= ? AND l.what = ? GROUP BY e.no",
            (after, through, ERASURE),
        )
        return {erasure: (no, count) for erasure, no, count in rows}

    def ledger_took(self, through: int, records: Mapping[int, tuple[int, int]]) -> None:
        """Strike out what the ledger did with the notes up to this one.

        `records` are the erasures' by number, each with how many contents it destroyed.
        """
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM erasure_pending WHERE place = ?"
                " AND (SELECT log_no FROM erasures WHERE no = erasure_no) <= ?",
                (LEDGER, through),
            )
            con.executemany(
                # One that is under way again gets its record when it is done.
                "UPDATE erasures SET ledger_seq = ? WHERE no = ? AND log_no IS NOT NULL",
                [(seq, no) for no, (seq, _) in records.items()],
            )
            con.executemany(
                "INSERT INTO erasure_counts(erasure_no, place, count, bytes) VALUES(?,?,?,0)"
                " ON CONFLICT(erasure_no, place) DO UPDATE SET count = count + excluded.count",
                [(no, LEDGER_CONTENTS, gone) for no, (_, gone) in records.items() if gone],
            )


def _distinct(rows: Sequence[Row]) -> tuple[Pending, ...]:
    reasons = dict.fromkeys((place, reason) for place, reason in rows)
    return tuple(Pending(place=place, reason=reason) for place, reason in reasons)


ERASURE_DDL: Final = """
CREATE TABLE erasures (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  purge INTEGER NOT NULL,
  selection_mac TEXT NOT NULL,
  mac TEXT,                                -- of the receipt that was given out; NULL where none was
  selection TEXT,                          -- JSON while it is under way, to go on after a kill; NULL once it is done
  last_memory INTEGER NOT NULL,            -- memories with higher numbers came later and are not meant
  log_no INTEGER,                          -- its note in `maintenance_log`; NULL while it is under way
  ledger_seq INTEGER                       -- its record on the ledger; NULL while it is not there
) STRICT;
CREATE INDEX erasures_under_way ON erasures(no) WHERE selection IS NOT NULL;

CREATE TABLE erasure_counts (
  erasure_no INTEGER NOT NULL REFERENCES erasures(no),
  place TEXT NOT NULL,
  count INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (erasure_no, place)
) WITHOUT ROWID, STRICT;

-- Memories that rest on what went and stay.
CREATE TABLE erasure_flags (
  erasure_no INTEGER NOT NULL REFERENCES erasures(no),
  memory_id TEXT NOT NULL,
  PRIMARY KEY (erasure_no, memory_id)
) WITHOUT ROWID, STRICT;

-- What is left to do, with what is needed to do it; the row goes when it is done.
CREATE TABLE erasure_pending (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  erasure_no INTEGER NOT NULL REFERENCES erasures(no),
  place TEXT NOT NULL,
  reason TEXT NOT NULL,
  work TEXT NOT NULL                       -- JSON
) STRICT;
CREATE INDEX erasure_pending_by_erasure ON erasure_pending(erasure_no);

-- What an erasure looks for among all memories; most have neither.
CREATE INDEX memories_by_data_subject ON memories(data_subjects) WHERE data_subjects <> '[]';
CREATE INDEX memories_superseding ON memories(supersedes) WHERE supersedes IS NOT NULL;

-- A store that was never written without `secure_delete` has nothing to clean up before its first purge.
INSERT INTO meta(key, value) SELECT 'cleaned_free_pages', 'new' WHERE NOT EXISTS (SELECT 1 FROM memories)
  AND NOT EXISTS (SELECT 1 FROM tombstones) AND NOT EXISTS (SELECT 1 FROM sessions)
  AND NOT EXISTS (SELECT 1 FROM documents);
"""

NAMING_DDL: Final = """
-- Memories whose notes name another one, which an erasure may take; few do.
CREATE INDEX memories_judged_of ON memories(metadata ->> '$.quarantine.of')
  WHERE metadata ->> '$.quarantine.of' IS NOT NULL;
CREATE INDEX memories_beside ON memories(metadata ->> '$.beside') WHERE metadata ->> '$.beside' IS NOT NULL;
CREATE INDEX memory_versions_judged_of ON memory_versions(metadata ->> '$.quarantine.of')
  WHERE metadata ->> '$.quarantine.of' IS NOT NULL;
CREATE INDEX memory_versions_beside ON memory_versions(metadata ->> '$.beside')
  WHERE metadata ->> '$.beside' IS NOT NULL;
"""
