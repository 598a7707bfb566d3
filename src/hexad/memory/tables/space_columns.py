"""What a cached view of a space is made of: the memories that may be seen, without their texts; and their texts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from hexad.core.json_types import JSONValue
from hexad.database.codec import load_objects
from hexad.database.connection import Database, Row, SQLValue
from hexad.memory.tables.rows import batches, load_metadata, seen_by_sql, with_hash
from hexad.text.normalize import slug

_ROWS_AT_ONCE: Final = 8192
_SCAN_SHARE: Final = 4  # from this share of all memories on, one pass over the table beats an index

# Nothing that stands behind the texts of a row is read unless it is needed: SQLite would pass over the texts.
_COLUMNS: Final = (
    "m.no, m.id, m.path, m.kind, m.pinned, m.relevance, m.updated_at, m.tags, g.path, g.short, g.long, g.raw"
)
_WRITTEN: Final = ("project", "space", "hash")
"""Names in metadata that Hexad fills: they name nothing that two memories are about."""
_TEXTS: Final = {
    "short": "coalesce(summary_short, raw)",
    "long": "coalesce(summary_long, raw)",
    "raw": "raw",
}


class ViewColumns(NamedTuple):
    """Memories as a view holds them, a column for each field.

    A signature is None where there is none, and empty where it is that of `raw`.
    """

    nos: tuple[int, ...]
    ids: tuple[str, ...]
    paths: tuple[str, ...]
    kinds: tuple[str, ...]
    pinned: tuple[int, ...]
    relevance: tuple[str, ...]
    updated_at: tuple[int, ...]
    tags: tuple[str, ...]
    path: tuple[bytes | None, ...]
    short: tuple[bytes | None, ...]
    long: tuple[bytes | None, ...]
    raw: tuple[bytes | None, ...]


class EntityRow(NamedTuple):
    """What the entity tokens of a memory are made of, besides its tags: texts that somebody wrote, and Hexad's own."""

    no: int
    texts: Sequence[str]
    ours: Sequence[str]


class Views:
    """Reads for cached views, of what `roles` may see; None sees everything. Read inside `db.read()`."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db = db
        self._roles = roles

    def count(self, space_no: int) -> int:
        """Return how many memories a space holds, whatever their status and whoever may see them."""
        row = self._db.query_one("SELECT count(*) FROM memories WHERE space_no = ?", (space_no,))
        return row[0] if row else 0

    def rows(self, space_no: int) -> Iterator[ViewColumns]:
        """Give all active memories of a space, some thousands at a time."""
        where, params = self._visible()
        hint = "NOT INDEXED" if self._is_large(space_no) else ""
        sql = (
            f"SELECT {_COLUMNS} FROM memories m {hint} LEFT JOIN signatures g ON g.memory_no = m.no"
            f" WHERE m.space_no = ? AND m.status = 'active'{where}"
        )
        with self._db.read() as con:
            rows = iter(con.execute(sql, (space_no, *params)))
            while some := list(islice(rows, _ROWS_AT_ONCE)):
                yield _columns(some)

    def rows_of(self, space_no: int, numbers: Sequence[int]) -> Iterator[ViewColumns]:
        """Give those of these memories that are active in the space."""
        where, params = self._visible()
        sql = (
            f"SELECT {_COLUMNS} FROM memories m LEFT JOIN signatures g ON g.memory_no = m.no"
            " WHERE m.no IN (SELECT value FROM json_each(?)) AND +m.space_no = ? AND +m.status = 'active'"
            f"{where}"
        )
        for batch in batches(numbers):
            some = self._db.query(sql, (json.dumps(list(batch)), space_no, *params))
            if some:
                yield _columns(some)

    def changed(self, space_no: int, *, since: int) -> list[int]:
        """Return the numbers of the memories that changed or went after change `since`, whatever they are now."""
        rows = self._db.query(
            "SELECT no FROM memories WHERE space_no = ?1 AND rev > ?2"
            " UNION SELECT memory_no FROM tombstones WHERE space_no = ?1 AND rev > ?2",
            (space_no, since),
        )
        return [row[0] for row in rows]

    def entities(self, space_no: int) -> Iterator[Sequence[EntityRow]]:
        """Give what the entity tokens of all active memories of a space are made of, some thousands at a time."""
        where, params = self._visible()
        hint = "NOT INDEXED" if self._is_large(space_no) else ""
        sql = (
            f"SELECT m.no, m.path, m.kind, m.metadata, m.content_hash FROM memories m {hint}"
            f" WHERE m.space_no = ? AND m.status = 'active'{where}"
        )
        with self._db.read() as con:
            rows = iter(con.execute(sql, (space_no, *params)))
            while some := list(islice(rows, _ROWS_AT_ONCE)):
                metadata = load_objects([row[3] for row in some])
                yield [
                    EntityRow(row[0], *_texts_of(row[1], row[2], with_hash(each, row[4])))
                    for row, each in zip(some, metadata, strict=True)
                ]

    def entities_of(self, numbers: Sequence[int]) -> list[EntityRow]:
        """Return what the entity tokens of these memories are made of."""
        rows: list[EntityRow] = []
        for batch in batches(numbers):
            sql = (
                "SELECT no, path, kind, metadata, content_hash FROM memories"
                " WHERE no IN (SELECT value FROM json_each(?))"
            )
            rows += map(_entity_row, self._db.query(sql, (json.dumps(list(batch)),)))
        return rows

    def texts(self, numbers: Collection[int], fields: Sequence[str]) -> dict[int, tuple[str, ...]]:
        """Return the texts of memories by number; `fields` of `short`, `long` and `raw`, in that order back."""
        chosen = ", ".join(_TEXTS[name] for name in fields)
        texts: dict[int, tuple[str, ...]] = {}
        for batch in batches(sorted(numbers)):
            marks = ",".join("?" * len(batch))
            for row in self._db.query(f"SELECT no, {chosen} FROM memories WHERE no IN ({marks})", batch):
                texts[row[0]] = row[1:]
        return texts

    def _visible(self) -> tuple[str, Sequence[SQLValue]]:
        if self._roles is None:
            return "", ()
        return f" AND {seen_by_sql('m')}", (json.dumps(list(self._roles)),)

    def _is_large(self, space_no: int) -> bool:
        """Return whether so many of all memories are in the space that reading all of them in a row is faster."""
        row = self._db.query_one("SELECT max(no) FROM memories")
        last = row[0] if row else None
        return last is not None and self.count(space_no) * _SCAN_SHARE >= last


def _columns(rows: Sequence[Row]) -> ViewColumns:
    return ViewColumns(*zip(*rows, strict=True))


def _entity_row(row: Row) -> EntityRow:
    return EntityRow(row[0], *_texts_of(row[1], row[2], load_metadata(row[3], row[4])))


def _texts_of(path: str, kind: str, metadata: Mapping[str, JSONValue]) -> tuple[list[str], list[str]]:
    """Return a memory's path and the texts in its metadata: those that somebody wrote, and those that Hexad did."""
    project = metadata.get("project")
    ours = [value for name in _WRITTEN if isinstance(value := metadata.get(name), str)]
    texts = strings_of({name: value for name, value in metadata.items() if name not in _WRITTEN})
    made = isinstance(project, str) and path.startswith(f"{_place_of(project)}/{kind}/")
    (ours if made else texts).append(path)
    return texts, ours


@lru_cache(maxsize=64)
def _place_of(project: str) -> str:
    """Return how a path begins that was made of a project, a kind and words of the text."""
    return slug(project)


def strings_of(metadata: Mapping[str, JSONValue]) -> list[str]:
    """Return the texts among the values of metadata, and those in lists among them."""
    values: list[str] = []
    for value in metadata.values():
        if isinstance(value, str):
            values.append(value)
        elif value and isinstance(value, list):
            values.extend(item for item in value if isinstance(item, str))
    return values
