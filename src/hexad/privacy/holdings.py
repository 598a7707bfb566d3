"""Everything that a store holds of a project, a session or a person, page by page: what an export is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.database.codec import dump, from_micros, parse
from hexad.database.component import Component, ExportSection
from hexad.database.connection import Database, SQLValue
from hexad.memory.component import OF_MEMORIES
from hexad.memory.memory import Memory
from hexad.memory.tables.memories import Memories

PAGE: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOwner:
    """Whose data is asked for: `sessions` by id and a person, `subject`; everything where both are None."""

    sessions: tuple[str, ...] | None = None
    subject: str | None = None

    @property
    def whole(self) -> bool:
        """Whether it is all of the store."""
        return self.sessions is None and self.subject is None


class Holdings:
    """Reads what is held. Each page is a look of its own: what changes meanwhile may be told or not."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._memories = Memories(db)

    def sessions_of(self, subject: str) -> tuple[str, ...]:
        """Return the recorded sessions that are said to be about a person."""
        rows = self._db.query(
            "SELECT s.id FROM session_subjects u JOIN sessions s ON s.no = u.session_no WHERE u.subject = ?"
            " ORDER BY s.no",
            (subject,),
        )
        return tuple(row[0] for row in rows)

    def section(self, section: ExportSection, held: DataOwner) -> Iterator[dict[str, JSONValue]]:
        """Yield the rows of a section that are about what is asked for."""
        if section.whole_only and not held.whole:
            return
        sql = (
            f"SELECT {section.key} AS page_key, {section.columns} FROM {section.source}"
            f" WHERE {section.key} > :after AND {section.where} ORDER BY {section.key} LIMIT {PAGE}"
        )
        names = _names(section.columns)
        sessions = None if held.whole else dump(list(held.sessions or ()))
        after: SQLValue = 0
        while rows := self._db.query(sql, {**_asked(held, after), "sessions": sessions}):
            for row in rows:
                yield dict(_told(name, value) for name, value in zip(names, row[1:], strict=True))
            after = rows[-1][0]

    def memories(self, held: DataOwner) -> Iterator[dict[str, JSONValue]]:
        """Yield memories whatever their status, each with its earlier versions and what is known of its use."""
        after = 0
        while numbers := self._numbers(held, after):
            memories = self._memories.by_no(numbers)
            more = self._more(numbers)
            for no in numbers:
                if no in memories:  # it may have been purged since its number was read
                    yield {**memories[no].to_dict(), **more.get(no, {})}
            after = numbers[-1]

    def links(self, held: DataOwner) -> Iterator[dict[str, JSONValue]]:
        """Yield the links that begin or end at these memories, drawn or found, each once."""
        after = 0
        while numbers := self._numbers(held, after):
            yield from self._links(numbers, held)
            after = numbers[-1]

    def numbers(self, held: DataOwner) -> int:
        """Return how many memories there are."""
        row = self._db.query_one(f"SELECT count(*) FROM memories m WHERE {_MEMORIES}", _asked(held, 0))
        return row[0] if row else 0

    def page(self, held: DataOwner, *, limit: int, offset: int) -> list[Memory]:
        """Return memories whatever their status, the last changed first."""
        rows = self._db.query(
            f"SELECT m.no FROM memories m WHERE {_MEMORIES} ORDER BY m.updated_at DESC, m.no DESC"
            " LIMIT :limit OFFSET :offset",
            {**_asked(held, 0), "limit": limit, "offset": offset},
        )
        memories = self._memories.by_no([row[0] for row in rows])
        return [memories[row[0]] for row in rows if row[0] in memories]

    def _numbers(self, owner: DataOwner, after: int) -> list[int]:
        rows = self._db.query(
            f"SELECT m.no FROM memories m WHERE {_MEMORIES} ORDER BY m.no LIMIT {PAGE}", _asked(owner, after)
        )
        return [row[0] for row in rows]

    def _more(self, numbers: Sequence[int]) -> dict[int, dict[str, JSONValue]]:
        """Return of each memory what its record does not say: earlier texts, evidence, uses, who may see it."""
        rows = self._db.query(
            "SELECT m.no,"
            " (SELECT json_group_array(json_object('version', v.version, 'replaced_at', v.replaced_at, 'raw', v.raw,"
            "   'metadata', iif(v.metadata ->> '$.hash' = '', json_set(v.metadata, '$.hash', v.content_hash),"
            "   json(v.metadata))) ORDER BY v.version) FROM memory_versions v WHERE v.memory_no = m.no),"
            " (SELECT json_group_array(json_object('seen_at', e.seen_at, 'trust', e.trust, 'note', e.note)"
            "   ORDER BY e.no) FROM evidence e WHERE e.memory_no = m.no),"
            " (SELECT u.uses FROM usage u WHERE u.memory_no = m.no),"
            " (SELECT a.roles FROM audiences a WHERE a.no = m.audience_no),"
            " (SELECT o.object FROM memory_origins o WHERE o.memory_no = m.no),"
            " (SELECT json_group_array(d.source_id ORDER BY d.source_id) FROM derivations d"
            "   WHERE d.memory_no = m.no AND d.source_id <> '')"
            " FROM json_each(?) j JOIN memories m ON m.no = j.value",
            (dump(list(numbers)),),
        )
        return {
            no: {
                "earlier_versions": _timed(versions),
                "seen": _timed(seen),
                "uses": (uses or 0),
                "visible_to_roles": None if roles is None else parse(roles),
                "as_its_file_said": None if origin is None else parse(origin),
                "derived_from": parse(sources),
            }
            for no, versions, seen, uses, roles, origin, sources in rows
        }

    def _links(self, numbers: Sequence[int], owner: DataOwner) -> Iterator[dict[str, JSONValue]]:
        rows = self._db.query(
            "WITH chosen AS (SELECT value AS no FROM json_each(:numbers))"
            " SELECT f.id, t.id, r.kind, r.score, r.created_at, 1 AS part, r.to_no, r.from_no"
            " FROM chosen JOIN relations r ON r.from_no = chosen.no"
            " JOIN memories f ON f.no = r.from_no JOIN memories t ON t.no = r.to_no"
            " UNION ALL"
            " SELECT f.id, t.id, r.kind, r.score, r.created_at, 2, r.to_no, r.from_no"
            " FROM chosen JOIN relations r ON r.to_no = chosen.no"
            " JOIN memories f ON f.no = r.from_no JOIN memories t ON t.no = r.to_no"
            f" WHERE NOT :whole AND f.no NOT IN (SELECT m.no FROM memories m WHERE {_MEMORIES})"
            " ORDER BY part, r.to_no, r.kind, r.from_no",
            {**_asked(owner, 0), "numbers": dump(list(numbers))},
        )
        for source, target, kind, score, at, *_ in rows:
            yield {
                "source": source,
                "target": target,
                "kind": kind,
                "score": score,
                "created_at": format_time(from_micros(at)),
            }


def has_session(db: Database, components: Sequence[Component], session: str) -> bool:
    """Whether any system has something of a session that is no memory, and was not recorded."""
    return any(look(db, session) for component in components for look in component.session_looks)


_MEMORIES: Final = f"m.no > :after AND {OF_MEMORIES}"


def _asked(owner: DataOwner, after: SQLValue) -> dict[str, SQLValue]:
    return {
        "after": after,
        "whole": int(owner.whole),
        "subject": owner.subject,
        "sessions": dump(list(owner.sessions or ())),
    }


def _names(columns: str) -> list[str]:
    """Return what the columns of a section are called: what comes last in each, outside of parentheses."""
    names, depth, word = [], 0, ""
    for char in f"{columns},":
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            names.append(word.rsplit(maxsplit=1)[-1].rpartition(".")[2])
            word = ""
        else:
            word += char
    return names


def _told(name: str, value: SQLValue) -> tuple[str, JSONValue]:
    if name.startswith("json_"):
        return name.removeprefix("json_"), None if value is None else parse(value)
    if name.startswith("timed_"):
        return name.removeprefix("timed_"), _timed(value)
    if name.startswith("is_"):
        return name.removeprefix("is_"), bool(value)
    if (name == "at" or name.endswith("_at")) and isinstance(value, int):
        return name, format_time(from_micros(value))
    return name, value


def _timed(text: SQLValue) -> JSONValue:
    rows = parse(text)
    return [
        {
            **row,
            **{key: format_time(from_micros(row[key])) for key in row if key.endswith("_at")},
        }
        for row in rows
    ]
