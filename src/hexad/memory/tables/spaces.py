"""Spaces: named containers of memories with metadata and policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hexad.core.arguments import is_text
from hexad.core.json_types import JSONValue
from hexad.database.change_counters import ChangeCache, bump
from hexad.database.codec import dump, from_micros, load_object, to_micros
from hexad.database.connection import Database, Row, SQLValue
from hexad.errors import AccessDenied, InvalidSpace, NotFound
from hexad.memory.memory import Status
from hexad.memory.policy import parse_stored
from hexad.memory.tables.rows import seen_sql
from hexad.text.paths import space_key, validate_space


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """One space. `policies` are document 1's `set_memory_policy` values."""

    no: int
    name: str
    metadata: Mapping[str, JSONValue]
    policies: Mapping[str, JSONValue]
    created_at: datetime
    updated_at: datetime


class Spaces:
    """The spaces of one store that admit one of `roles`; None admits to all."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db = db
        self._roles = roles
        self._last: tuple[Row, Space] | None = None

    def ensure(self, name: str, *, at: datetime) -> int:
        """Return the row number of a space, creating it when it is missing; raises `InvalidSpace`."""
        self.admit(name)
        row = self._db.query_one("SELECT no FROM spaces WHERE name = ?", (name,))
        if row is not None:
            return int(row[0])
        validate_space(name)
        with self._db.joined() as con:
            self.refuse_twin(name)
            con.execute(
                "INSERT OR IGNORE INTO spaces(name, folded, created_at, updated_at) VALUES(?,?,?,?)",
                (name, space_key(name), to_micros(at), to_micros(at)),
            )
            bump(con, "spaces")
            found_row = con.execute("SELECT no FROM spaces WHERE name = ?", (name,)).fetchone()
        assert found_row is not None, name
        return int(found_row[0])

    def refuse_twin(self, name: str) -> None:
        """Raise `InvalidSpace` when another space's name differs from this one only in case.

        "Docs" and "docs" would be one file on some disks: the second is refused instead of being mixed in.
        """
        twin = self._db.query_one("SELECT name FROM spaces WHERE folded = ?", (space_key(name),))
        if twin is not None and twin[0] != name:
            raise InvalidSpace(
                f"Invalid space {name!r}: it differs only in case from {twin[0]!r}; use that name where both are the "
                "same, and one that differs by more where they are two."
            )

    def admit(self, name: str) -> None:
        """Raise `AccessDenied` when a space of this name admits other roles only; its name is all that is said."""
        if self._roles is None or self.find(name) is not None:
            return
        if self._db.query_one("SELECT 1 FROM spaces WHERE name = ?", (name,)) is not None:
            raise AccessDenied(
                f"The space {name!r} is not open to {' and '.join(self._roles) or 'an actor without a role'}; "
                "write to another one, or open the store with a role that it admits."
            )

    def get(self, name: str) -> Space:
        """Return the space; raises `NotFound`, and `InvalidSpace` for what is no name."""
        if not is_text(name):
            validate_space(name)
        for space in self._load("WHERE name = ?", (name,)):
            return space
        raise NotFound(f"Space {name!r} not found. `hexad spaces list` shows the spaces there are.")

    def find(self, name: str) -> Space | None:
        """Return the space, or None."""
        return next(iter(self._load("WHERE name = ?", (name,))), None)

    def list(self) -> Sequence[Space]:
        """Return all spaces by name."""
        return self._load("ORDER BY name", ())

    def set_policies(self, name: str, policies: Mapping[str, JSONValue], *, at: datetime) -> None:
        """Replace a space's policies; the caller has validated them."""
        self._set(name, "policies", policies, at=at)

    def set_metadata(self, name: str, metadata: Mapping[str, JSONValue], *, at: datetime) -> None:
        """Replace a space's metadata."""
        self._set(name, "metadata", metadata, at=at)

    def restart(self, name: str, *, at: datetime) -> None:
        """Give a space the age of a new one; its metadata and policies stay."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE spaces SET created_at = ?1, updated_at = ?1, origin = NULL WHERE name = ?2",
                (to_micros(at), name),
            )
            bump(con, "spaces")

    def restore(
        self,
        name: str,
        *,
        metadata: Mapping[str, JSONValue],
        policies: Mapping[str, JSONValue],
        created_at: datetime,
        updated_at: datetime,
    ) -> None:
        """Make a space what a file says of it; the caller has validated the policies."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE spaces SET metadata = ?, policies = ?, created_at = ?, updated_at = ? WHERE no = ?",
                (
                    dump(metadata),
                    dump(policies),
                    to_micros(created_at),
                    to_micros(updated_at),
                    self.get(name).no,
                ),
            )
            bump(con, "spaces")

    def _set(self, name: str, column: str, value: Mapping[str, JSONValue], *, at: datetime) -> None:
        space = self.get(name)
        with self._db.joined() as con:
            con.execute(
                f"UPDATE spaces SET {column} = ?, updated_at = ? WHERE no = ?",
                (dump(value), to_micros(at), space.no),
            )
            bump(con, "spaces")

    def _load(self, rest: str, params: tuple[SQLValue, ...]) -> Sequence[Space]:
        rows = self._db.query(
            f"SELECT no, name, metadata, policies, created_at, updated_at FROM spaces {rest}", params
        )
        spaces = [self._space_of(row) for row in rows]
        return spaces if self._roles is None else [space for space in spaces if self._admits(space)]

    def _space_of(self, row: Row) -> Space:
        """Return the space of a row. A text that is remembered asks for its own twice: the last one is kept."""
        last = self._last
        if last is None or last[0] != row:
            no, name, metadata, policies, created, updated = row
            space = Space(
                no=no,
                name=name,
                metadata=load_object(metadata),
                policies=load_object(policies),
                created_at=from_micros(created),
                updated_at=from_micros(updated),
            )
            last = self._last = row, space
        return last[1]

    def _admits(self, space: Space) -> bool:
        admitted = parse_stored(space.policies).roles
        return admitted is None or not admitted.isdisjoint(self._roles or ())


@dataclass(slots=True)
class SpaceSummary:
    """What is in a space: active memories by kind, and of those that are kept the archived ones."""

    active: int = 0
    archived: int = 0
    pinned: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    newest: datetime | None = None
    text_bytes: int = 0


class SpaceSummaries:
    """Counts what `roles` may see."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None) -> None:
        self._db = db
        self._roles = roles
        self._kept = ChangeCache[dict[int, SpaceSummary]](db, "memories")

    def of(self, space_no: int | None = None) -> dict[int, SpaceSummary]:
        """Return the summaries of all spaces that hold something, or of one, by row number."""
        return self._kept.get(space_no, lambda: self._counted(space_no))

    def _counted(self, space_no: int | None) -> dict[int, SpaceSummary]:
        seen, roles = seen_sql("m", self._roles)
        condition = "m.space_no = ?" if space_no is not None else "1"
        rows = self._db.query(
            # The size of a text is known without reading it.
            "SELECT m.space_no, m.status, m.kind, count(*), sum(m.pinned), max(m.updated_at), sum(octet_length(m.raw))"
            f" FROM memories m WHERE {condition}{seen} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            (*(() if space_no is None else (space_no,)), *roles),
        )
        summaries: dict[int, SpaceSummary] = {}
        for no, status, kind, count, pinned, newest, size in rows:
            summary = summaries.setdefault(no, SpaceSummary())
            many = count
            if status == Status.ACTIVE:
                summary.active += many
                summary.pinned += pinned
                summary.kinds[kind] = many
            elif status == Status.ARCHIVED:
                summary.archived += many
            last = from_micros(newest)
            summary.newest = last if summary.newest is None else max(summary.newest, last)
            summary.text_bytes += size
        return summaries
