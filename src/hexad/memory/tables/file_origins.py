"""What a space file said, as it said it: kept beside the memory, so that an unchanged one is written back as it was.

An origin is an object of the file, its place among the file's objects, and the fingerprint that the memory had when
the object was read. As long as the memory still has that fingerprint, the object says all there is to say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from hexad.core.json_types import JSONValue
from hexad.database.codec import dump, parse
from hexad.database.connection import Database
from hexad.memory.memory import Memory
from hexad.memory.tables.rows import batches
from hexad.memory.tables.spaces import Space

_VOLATILE = ("chunks", "last_used_at", "evidence")
"""Fields that reading, counting a repeat, or another way of cutting a text changes: not the memory itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """One object as a file gave it. `position` is None where nobody asked for the file's order.

    `full` says that the file that was read last had the whole memory in place of the object.
    """

    fingerprint: str
    object: Mapping[str, JSONValue]
    position: int | None = None
    full: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceOrigin:
    """A file's own keys without its objects, how many of those there were, and the space's fingerprint then."""

    fingerprint: str
    file: Mapping[str, JSONValue]
    objects: int


def fingerprint(memory: Memory) -> str:
    """Return a hash of what a memory says of itself: reading it, or recalling it, does not change it."""
    record = {name: value for name, value in memory.to_dict().items() if name not in _VOLATILE}
    return hashlib.sha256(dump(record).encode("utf-8", "surrogatepass")).hexdigest()


def space_fingerprint(space: Space) -> str:
    """Return a hash of a space's name, metadata, policies and time of making."""
    record: list[JSONValue] = [
        space.name,
        dict(space.metadata),
        dict(space.policies),
        space.created_at.isoformat(),
    ]
    return hashlib.sha256(dump(record).encode("utf-8", "surrogatepass")).hexdigest()


class Origins:
    """The origins of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(
        self,
        no: int,
        mark: str,
        origin: Mapping[str, JSONValue],
        *,
        position: int | None = None,
        full: bool = False,
    ) -> None:
        """Keep `origin` as the object that memory `no` was read from; `mark` is its `fingerprint` now."""
        document = {"position": position, "object": origin, **({"full": True} if full else {})}
        # The order of the keys is kept: a file that is read and written back should not differ without need.
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO memory_origins(memory_no, fingerprint, object) VALUES(?,?,?)"
                " ON CONFLICT(memory_no) DO UPDATE SET fingerprint = excluded.fingerprint, object = excluded.object",
                (no, mark, text),
            )

    def drop(self, no: int) -> None:
        """Forget where memory `no` was read from."""
        with self._db.joined() as con:
            con.execute("DELETE FROM memory_origins WHERE memory_no = ?", (no,))

    def get(self, numbers: Collection[int]) -> dict[int, Origin]:
        """Return the origins of these memories by row number; most have none."""
        origins: dict[int, Origin] = {}
        for batch in batches(sorted(set(numbers))):
            marks = ",".join("?" * len(batch))
            rows = self._db.query(
                f"SELECT memory_no, fingerprint, object FROM memory_origins WHERE memory_no IN ({marks})",
                batch,
            )
            for no, mark, text in rows:
                document = parse(text)
                origins[no] = Origin(
                    fingerprint=mark,
                    object=document["object"],
                    position=document["position"],
                    full=document.get("full", False),
                )
        return origins

    def in_file_order(self, space_no: int) -> Iterator[int]:
        """Yield the row numbers of a space's memories that have a place in a file, by that place."""
        rows = self._db.query(
            "SELECT o.memory_no FROM memory_origins o JOIN memories m ON m.no = o.memory_no WHERE m.space_no = ?"
            " AND o.object ->> '$.position' IS NOT NULL ORDER BY o.object ->> '$.position'",
            (space_no,),
        )
        return (row[0] for row in rows)

    def put_space(self, space_no: int, origin: SpaceOrigin) -> None:
        """Keep what the file of a space said besides its objects."""
        text = json.dumps(
            {"fingerprint": origin.fingerprint, "file": origin.file, "objects": origin.objects},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        with self._db.joined() as con:
            con.execute("UPDATE spaces SET origin = ? WHERE no = ?", (text, space_no))

    def drop_space(self, space_no: int) -> None:
        """Forget which file a space was read from."""
        with self._db.joined() as con:
            con.execute("UPDATE spaces SET origin = NULL WHERE no = ?", (space_no,))

    def of_space(self, space_no: int) -> SpaceOrigin | None:
        """Return what the file of a space said, None when it was read from none."""
        row = self._db.query_one("SELECT origin FROM spaces WHERE no = ?", (space_no,))
        if row is None or row[0] is None:
            return None
        document = parse(row[0])
        return SpaceOrigin(
            fingerprint=document["fingerprint"], file=document["file"], objects=document["objects"]
        )
