"""Bytes under keys, in named collections: caches and other things of programs that say nothing to a recall."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from hexad.core.erasure import ErasureBook, Realm, Selection
from hexad.database.codec import to_micros
from hexad.database.connection import Database, SQLValue

PLACE: Final = "values under keys"
"""What a receipt of an erasure calls them."""
_PAGE: Final = 500

KEY_VALUES_DDL: Final = """
-- What programs keep as bytes under keys.
CREATE TABLE key_values (
  no INTEGER PRIMARY KEY,
  collection TEXT NOT NULL,
  key TEXT NOT NULL,
  data BLOB NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (collection, key)
) STRICT;
"""


class KeyValues:
    """One collection of a store: other collections' keys are others."""

    def __init__(self, db: Database, collection: str) -> None:
        self._db, self._collection = db, collection

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the values of those keys that are there."""
        rows = self._db.query(
            "SELECT v.key, v.data FROM json_each(?) k CROSS JOIN key_values v"
            " ON v.collection = ? AND v.key = k.value",
            (json.dumps([*keys]), self._collection),
        )
        return {key: bytes(data) for key, data in rows}

    def put(self, values: Mapping[str, bytes]) -> None:
        """Store values durably, all or none; one whose key is there takes its place."""
        now = to_micros(self._db.clock.now())
        with self._db.transaction() as con:
            con.executemany(
                "INSERT INTO key_values(collection, key, data, updated_at) VALUES(?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET data = excluded.data, updated_at = excluded.updated_at",
                [(self._collection, key, data, now) for key, data in values.items()],
            )

    def delete(self, keys: Iterable[str] | None = None) -> None:
        """Remove values, all of the collection where no keys are given; what is not there is no error."""
        with self._db.transaction() as con:
            con.execute(
                "DELETE FROM key_values WHERE collection = ?"
                " AND (? IS NULL OR key IN (SELECT value FROM json_each(?)))",
                (self._collection, *[None if keys is None else json.dumps([*keys])] * 2),
            )

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with `prefix`, in their order, page by page."""
        after: str | None = None
        while True:
            rows = self._db.query(
                "SELECT key FROM key_values WHERE collection = :collection AND (:after IS NULL OR key > :after)"
                " AND key >= :prefix AND substr(key, 1, length(:prefix)) = :prefix ORDER BY key LIMIT :page",
                {"collection": self._collection, "after": after, "prefix": prefix, "page": _PAGE},
            )
            yield from (str(key) for (key,) in rows)
            if len(rows) < _PAGE:
                return
            after = str(rows[-1][0])


class KeyValueEraser:
    """Erases values for good: those not written since a moment, or all with the project."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove them, and note how many. They belong to no session and name no person."""
        given = set(selection.to_dict())
        if not selection.project and (given != {"before"} or Realm.STREAM not in selection.realms):
            return
        params: dict[str, SQLValue] = {
            "everything": int(selection.project),
            "before": None if selection.before is None else to_micros(selection.before),
            "at": to_micros(book.at),
            "now": to_micros(self._db.clock.now()),
        }
        with self._db.transaction() as con:
            sizes = con.execute(
                "DELETE FROM key_values WHERE (:everything OR updated_at < :before)"
                " AND (updated_at <= :at OR updated_at > :now) RETURNING length(data)",
                params,
            ).fetchall()
            book.erased(PLACE, len(sizes), sum(int(size) for (size,) in sizes))
