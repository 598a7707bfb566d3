"""What recall asks about many memories at once: where they stand, who spoke, how long they are."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from hexad.core.lazy import CountedCache
from hexad.core.tracing import log
from hexad.database.change_counters import ChangeReader, while_unchanged
from hexad.database.codec import from_micros, to_micros
from hexad.database.connection import Database
from hexad.errors import IntegrityError
from hexad.memory.memory import ROLE, TRUST_OF_ROLE, Status, Trust
from hexad.memory.query import Filters
from hexad.memory.tables.rows import filter_sql, seen_sql
from hexad.memory.tables.updates import IS_PLAIN, OF_KIND


class RankingRow(NamedTuple):
    """What is known of a memory without reading its text. The turn's fields are None outside conversations.

    `file` is the id that its source gave it, None for what was told. `is_fact` says that it is the value of a key,
    `is_checked` that it cites what can be held against the working tree, and `is_plain` that it was told as a text.
    """

    no: int
    id: str
    content_hash: str
    words: int
    asks: int
    happened_at: int
    session_no: int | None
    position: int | None
    speaker_no: int | None
    kind: str
    file: str | None
    is_fact: int
    is_checked: int
    is_plain: int


ROWS_KEPT: Final = 16_000
"""So many of these rows are kept until their memories change."""
_ROW_BYTES: Final = 700
FILTERS_KEPT: Final = 64
"""Of so many filters it is known whether any memory passes them."""
FOLLOWED_MOST: Final = 1_000
"""Where more memories changed than this, what is kept of any is read again."""
SPACES_MOST: Final = 256
"""Of so many spaces it is looked up which of their memories changed; with more it is faster to read all again."""
STANDING_MOST: Final = 64
"""Of the turns of conversations that say what holds for answers to come, so many are looked at: the newest."""


_EVERY: Final = "memories m JOIN spaces s ON s.no = m.space_no"
_BY_ORIGIN: Final[Mapping[tuple[str, ...] | None, str]] = {
    ("governance",): "spaces s CROSS JOIN memories m ON m.space_no = s.no AND m.kind = 'decision'",
    ("vector",): f"sources o CROSS JOIN {_EVERY} AND m.source_no = o.no",
}
"""Where memories of a layer alone are looked for by an index: most stores have none of one or the other."""


_RELATIONS_READ: Final = 200
"""Of more relations than this it is taken that one of them is an update."""


class Presence(NamedTuple):
    """What of all that a question may need a store may have at all: what is not there is not looked for."""

    vectors: int
    verdicts: int
    updates: int
    standing: int
    waiting: int

    @classmethod
    def read(cls, db: Database) -> Presence:
        """Return it; all is taken to be there where that cannot be told."""
        try:
            row = db.query_one(
                "SELECT EXISTS (SELECT 1 FROM vectors), EXISTS (SELECT 1 FROM feedback),"
                f" (SELECT count(*) = {_RELATIONS_READ} OR coalesce(sum({OF_KIND}), 0) FROM"
                f" (SELECT kind FROM relations LIMIT {_RELATIONS_READ}) r), EXISTS (SELECT 1 FROM standing),"
                " EXISTS (SELECT 1 FROM tasks)"
            )
        except IntegrityError:  # whoever needs what is damaged says so
            row = None
        return cls(1, 1, 1, 1, 1) if row is None else cls._make(row)


class StandingText(NamedTuple):
    """A turn that says what holds for answers to come, and its conversation: its space and its name."""

    no: int
    text: str
    conversation: tuple[int, str]


class MemoryState(NamedTuple):
    """How often memories and spaces were changed."""

    memories: int
    spaces: int


NEVER: Final = MemoryState(memories=-1, spaces=-1)
"""What a cache looked at that has not looked yet."""


class MemoryChanges:
    """Says which memories changed since a cache looked: what it keeps of others stays."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._changes = ChangeReader(db)

    def now(self) -> MemoryState:
        """Return how often memories and spaces were changed."""
        return MemoryState(self._changes.current("memories"), self._changes.current("spaces"))

    def between(self, before: MemoryState, now: MemoryState) -> list[int] | None:
        """Return the numbers of the memories that changed or went since; None where that is not known, or too many.

        A memory carries the number of the change that wrote it, and what is purged leaves a tombstone. Read in the
        view in which `now` was.
        """
        if before == now:
            return []
        if before.memories > now.memories or before.spaces != now.spaces:
            return None
        spaces = self._db.query("SELECT no FROM spaces LIMIT ?", (SPACES_MOST + 1,))
        if len(spaces) > SPACES_MOST:
            return None
        rows = self._db.query(
            "SELECT m.no FROM json_each(?1) j CROSS JOIN memories m ON m.space_no = j.value AND m.rev > ?2"
            " UNION ALL SELECT t.memory_no FROM json_each(?1) j"
            " CROSS JOIN tombstones t ON t.space_no = j.value AND t.rev > ?2 LIMIT ?3",
            (json.dumps([no for (no,) in spaces]), before.memories, FOLLOWED_MOST + 1),
        )
        return [no for (no,) in rows] if len(rows) <= FOLLOWED_MOST else None


class Places:
    """Looks up many memories by row number, session and position, as far as `roles` may see them."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db = db
        self._roles = roles
        self._changes = ChangeReader(db)
        self.changes = MemoryChanges(db)
        # Tuples, read once each: a thread that still reads an older state must not keep rows for a newer one.
        self._rows: tuple[MemoryState, dict[int, RankingRow | None]] = (NEVER, {})
        self._names: tuple[int, dict[int, str]] = (-1, {})
        self._passed: tuple[tuple[int, int], dict[Filters, bool]] = ((-1, -1), {})
        self._use = CountedCache(ROWS_KEPT * _ROW_BYTES, lambda: len(self._rows[1]) * _ROW_BYTES)
        db.caches.add("ranking rows", self._use)

    def present(self) -> Presence:
        """Return what the store has at all, whoever may see it."""
        return while_unchanged(self._db, "presence", lambda: Presence.read(self._db))

    def of(self, numbers: Collection[int]) -> dict[int, RankingRow]:
        """Return the places of the active ones among these memories."""
        with self._db.read() as con:
            # What may be undone is not kept, nor what some may not see.
            if con.writing or self._roles is not None or len(numbers) > ROWS_KEPT:
                return self._read(numbers)
            now, (kept_at, kept) = self.changes.now(), self._rows
            if now != kept_at or len(kept) + len(numbers) > ROWS_KEPT:
                changed = self.changes.between(kept_at, now)
                kept = {} if changed is None or len(kept) + len(numbers) > ROWS_KEPT else kept.copy()
                for no in changed or ():
                    kept.pop(no, None)
                self._rows = (now, kept)
            missing = [no for no in numbers if no not in kept]
            if missing:
                read = self._read(missing)
                kept.update({no: read.get(no) for no in missing})
            return {no: row for no in sorted(numbers) if (row := kept[no]) is not None}

    def _read(self, numbers: Collection[int]) -> dict[int, RankingRow]:
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.no, m.id, m.content_hash, m.words, m.asks, m.happened_at, t.session_no, t.position,"
            " t.speaker_no, m.kind, iif(m.source_no IS NULL, NULL, m.source_id), m.fact_look IS NOT NULL,"
            """ m.citations LIKE '%"marks":%',"""
            f" {IS_PLAIN} FROM json_each(?) j JOIN memories m ON m.no = j.value"
            f" LEFT JOIN turns t ON t.memory_no = m.no WHERE m.status = 'active'{seen}",
            (json.dumps(sorted(numbers)), *roles),
        )
        # Many rows on the way to every answer: a tuple costs a quarter of a dataclass.
        return {place.no: place for place in map(RankingRow._make, rows)}

    def _seen(self, filters: Filters) -> Filters:
        return filters if self._roles is None else replace(filters, roles=self._roles)

    def listed(self, filters: Filters) -> str:
        """Return the row numbers of the active memories that pass `filters`, with commas and in no order.

        One string, because a hundred thousand numbers cost ten times as much as rows.
        """
        where, params = filter_sql(self._seen(filters))
        row = self._db.query_one(
            "SELECT group_concat(m.no) FROM memories m JOIN spaces s ON s.no = m.space_no"
            f" WHERE {' AND '.join([*where, 'm.status = ?'])}",
            (*params, Status.ACTIVE.value),
        )
        return row[0] or "" if row else ""

    def passing(self, numbers: Collection[int], filters: Filters) -> set[int]:
        """Return those of these active memories that pass `filters`."""
        where, params = filter_sql(self._seen(filters))
        rows = self._db.query(
            "SELECT m.no FROM json_each(?) j JOIN memories m ON m.no = j.value"
            f" JOIN spaces s ON s.no = m.space_no WHERE {' AND '.join([*where, 'm.status = ?'])}",
            (json.dumps(sorted(numbers)), *params, Status.ACTIVE.value),
        )
        return {row[0] for row in rows}

    def any_passes(self, filters: Filters) -> bool:
        """Return whether any active memory passes `filters`."""
        seen = self._seen(filters)
        with self._db.read() as con:
            if con.writing or seen.roles is not None:
                return self._looked_for(seen)
            change = (self._changes.current("memories"), self._changes.current("spaces"))
            known_at, known = self._passed
            if change != known_at or len(known) >= FILTERS_KEPT:
                known = {}
                self._passed = (change, known)
            if seen not in known:
                known[seen] = self._looked_for(seen)
            return known[seen]

    def _looked_for(self, filters: Filters) -> bool:
        where, params = filter_sql(filters)
        row = self._db.query_one(
            f"SELECT 1 FROM {_BY_ORIGIN.get(filters.origins, _EVERY)}"
            f" WHERE {' AND '.join([*where, 'm.status = ?'])} LIMIT 1",
            (*params, Status.ACTIVE.value),
        )
        return row is not None

    def of_project(
        self, project: str, *, space: str | None = None, records: bool = False
    ) -> dict[str, frozenset[int]]:
        """Return the active memories whose `metadata.project` it is, case aside, by space.

        Of one `space` where it is named; `records` are decisions and facts alone. All metadata are looked through.
        """
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT s.name, m.no FROM memories m JOIN spaces s ON s.no = m.space_no"
            f" WHERE m.status = 'active' AND (? IS NULL OR s.name = ?){seen}"
            " AND (NOT ? OR m.kind = 'decision' OR m.attribute IS NOT NULL)"
            " AND lower(m.metadata ->> '$.project') = lower(?)",
            (space, space, *roles, records, project),
        )
        numbers: dict[str, set[int]] = {}
        for name, no in rows:
            numbers.setdefault(name, set()).add(no)
        return {name: frozenset(members) for name, members in numbers.items()}

    def neighbours_of(self, places: Iterable[RankingRow]) -> dict[int, tuple[int, int]]:
        """Return the turns directly before and after these: row number to `(session, position)`."""
        wanted = {
            (place.session_no, place.position + step)
            for place in places
            if place.session_no is not None and place.position is not None
            for step in (-1, 1)
        }
        if not wanted:
            return {}
        seen, roles = seen_sql("m", self._roles)
        visible = f" JOIN memories m ON m.no = t.memory_no{seen}" if seen else ""
        rows = self._db.query(
            "SELECT t.memory_no, t.session_no, t.position FROM json_each(?) j JOIN turns t"
            f" ON t.session_no = j.value ->> 0 AND t.position = j.value ->> 1{visible}",
            (json.dumps(sorted(wanted)), *roles),
        )
        return {no: ((session, position)) for no, session, position in rows}

    def previous(self, numbers: Collection[int]) -> dict[int, tuple[str, str]]:
        """Return speaker and text of the turn directly before each of these turns, where there is one."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT t.memory_no, s.name, m.raw FROM json_each(?) j JOIN turns t ON t.memory_no = j.value"
            " JOIN turns p ON p.session_no = t.session_no AND p.position = t.position - 1"
            f" JOIN memories m ON m.no = p.memory_no{seen} JOIN speakers s ON s.no = p.speaker_no",
            (json.dumps(sorted(numbers)), *roles),
        )
        return {no: ((name, raw)) for no, name, raw in rows}

    def standing_beside(self, numbers: Collection[int]) -> list[StandingText]:
        """Return the newest marked turns of the conversations that these memories are turns of."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "WITH heard AS (SELECT DISTINCT c.space_no, c.conversation FROM json_each(?) j"
            " JOIN turns t ON t.memory_no = j.value JOIN conversation_sessions c ON c.no = t.session_no)"
            " SELECT m.no, m.raw, c.space_no, c.conversation FROM heard h"
            " JOIN conversation_sessions c ON c.space_no = h.space_no AND c.conversation = h.conversation"
            " JOIN turns t ON t.session_no = c.no JOIN standing s ON s.memory_no = t.memory_no"
            f" JOIN memories m ON m.no = s.memory_no WHERE m.status = 'active'{seen}"
            " ORDER BY m.happened_at DESC, m.no DESC LIMIT ?",
            (json.dumps(sorted(numbers)), *roles, STANDING_MOST),
        )
        return [StandingText(no, raw, (space_no, conversation)) for no, raw, space_no, conversation in rows]

    def conversations(self, numbers: Collection[int]) -> set[tuple[int, str]]:
        """Return the conversations that these memories are turns of."""
        rows = self._db.query(
            "SELECT DISTINCT c.space_no, c.conversation FROM json_each(?) j JOIN turns t ON t.memory_no = j.value"
            " JOIN conversation_sessions c ON c.no = t.session_no",
            (json.dumps(sorted(numbers)),),
        )
        return {(space_no, conversation) for space_no, conversation in rows}

    def judged(self, numbers: Collection[int]) -> list[tuple[int, str, str, int]]:
        """Return `(row number, verdict, the question's words as JSON, when)` of what was said of these as they are."""
        try:
            rows = self._db.query(
                "SELECT f.memory_no, f.verdict, f.terms, f.given_at FROM feedback f"
                " JOIN memories m ON m.no = f.memory_no"
                " WHERE f.memory_no IN (SELECT value FROM json_each(?))"
                " AND f.content_hash = m.content_hash ORDER BY f.memory_no, f.no",
                (json.dumps(sorted(numbers)),),
            )
        except IntegrityError as error:  # an answer without it is better than none
            log.warning("What was said of answers cannot be read, and is left out: %s", error)
            return []
        return rows

    def begun(self, numbers: Collection[int], *, now: datetime) -> list[tuple[str, int]]:
        """Return `(look, space number)` of facts among these for which a later active one of the key holds by now."""
        rows = self._db.query(
            "SELECT DISTINCT m.fact_look, m.space_no FROM json_each(?) j CROSS JOIN memories m ON m.no = j.value"
            " JOIN memories n ON n.fact_look = m.fact_look WHERE m.fact_look IS NOT NULL AND +n.space_no = m.space_no"
            " AND +n.status = 'active' AND n.happened_at <= ?"
            " AND (n.happened_at, n.created_at, n.no) > (m.happened_at, m.created_at, m.no) ORDER BY 2, 1",
            (json.dumps(sorted(numbers)), to_micros(now)),
        )
        return rows

    def ended(self, numbers: Collection[int]) -> dict[int, datetime]:
        """Return when another memory took the place of each of these, where one did."""
        rows = self._db.query(
            "SELECT m.no, min(n.happened_at) FROM json_each(?) j CROSS JOIN memories m ON m.no = j.value"
            " JOIN memories n ON n.supersedes = m.id GROUP BY m.no",
            (json.dumps(sorted(numbers)),),
        )
        return {no: from_micros(at) for no, at in rows}

    def speakers(self) -> dict[int, str]:
        """Return all speakers' names, folded, by row number; also of those whose turns nobody may see."""
        change, (kept_at, names) = self._changes.current("speakers"), self._names
        if change == kept_at and not self._db.in_transaction:
            return names
        with self._db.read() as con:
            change, (kept_at, names) = self._changes.current("speakers"), self._names
            if con.writing or change != kept_at:
                names = dict(self._db.query("SELECT no, folded FROM speakers"))
                self._names = (-1 if con.writing else change, names)
            return names

    def users_among(self, numbers: Collection[int]) -> set[int]:
        """Return who speaks as a user under another name in these turns, which the caller may see."""
        users = [role for role, trust in TRUST_OF_ROLE.items() if trust is Trust.USER]
        rows = self._db.query(
            "SELECT DISTINCT t.speaker_no FROM json_each(?) j JOIN turns t ON t.memory_no = j.value"
            " JOIN memories m ON m.no = t.memory_no"
            " WHERE lower(m.metadata ->> ?) IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(numbers)), f"$.{ROLE}", json.dumps(users)),
        )
        return {no for (no,) in rows}

    def speaking_in(self, spaces: Collection[str], speakers: Collection[int]) -> list[int]:
        """Return which of these speakers have turns in any of these spaces."""
        rows = self._db.query(
            "SELECT j.value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM spaces s"
            " JOIN conversation_sessions c ON c.space_no = s.no JOIN turns t ON t.session_no = c.no"
            " WHERE s.name IN (SELECT value FROM json_each(?)) AND t.speaker_no = j.value)",
            (json.dumps(sorted(speakers)), json.dumps(sorted(spaces))),
        )
        return [no for (no,) in rows]
