"""Checkpoints as rows: the state of a graph after each of its steps, in the bytes that the program made of it.

A thread is a conversation or a job of a graph, a namespace one of its subgraphs. What a checkpoint holds is a head,
and values in pieces; a piece is stored once in a thread, under the hash of its bytes, so that a list that only grows
is not written anew with each step. What the bytes mean, the program knows alone: nothing here reads or changes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from hexad.core.erasure import ErasureBook, Realm, Selection
from hexad.core.json_types import JSONValue
from hexad.database.codec import to_micros
from hexad.database.connection import Connection, Database, SQLValue
from hexad.database.store_context import StoreContext

PLACE: Final = "checkpoints"
"""What a receipt of an erasure calls them."""
_DIGEST_BYTES: Final = 16

CHECKPOINTS_DDL: Final = """
-- The state of graphs that agents run: threads, and their states one after another.
CREATE TABLE threads (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE checkpoints (
  no INTEGER PRIMARY KEY,
  thread_no INTEGER NOT NULL REFERENCES threads(no),
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  parent_id TEXT,
  run_id TEXT,
  encoding TEXT NOT NULL,                  -- of the head
  head BLOB NOT NULL,
  layout TEXT NOT NULL,                    -- values in pieces: {name: {"encoding", "count", "pieces": [digest]}}
  metadata TEXT NOT NULL,
  UNIQUE (thread_no, namespace, id)
) STRICT;
CREATE INDEX checkpoints_of_runs ON checkpoints(run_id) WHERE run_id IS NOT NULL;
CREATE TABLE checkpoint_pieces (
  no INTEGER PRIMARY KEY,
  thread_no INTEGER NOT NULL REFERENCES threads(no),
  digest BLOB NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (thread_no, digest)
) STRICT;
CREATE TABLE checkpoint_writes (
  thread_no INTEGER NOT NULL REFERENCES threads(no),
  namespace TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,             -- may come before its checkpoint
  task_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  task_path TEXT NOT NULL,
  channel TEXT NOT NULL,
  encoding TEXT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (thread_no, namespace, checkpoint_id, task_id, position)
) STRICT, WITHOUT ROWID;
"""

CHECKPOINT_PROMISES: Final = (
    (
        "SELECT t.id, c.id, v.key FROM checkpoints c JOIN threads t ON t.no = c.thread_no, json_each(c.layout) v,"
        " json_each(v.value, '$.pieces') p WHERE NOT EXISTS (SELECT 1 FROM checkpoint_pieces x"
        " WHERE x.thread_no = c.thread_no AND x.digest = unhex(p.value))",
        "Checkpoint {1} of thread {0!r} lacks a piece of {2!r}. Go back to an older checkpoint of the thread, or "
        "delete the thread.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointKey:
    """Names a checkpoint: its thread, its namespace, which is empty for the graph itself, and its id."""

    thread: str
    namespace: str = ""
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateValue:
    """A value of a checkpoint, as bytes in pieces; `count` is how many items a list has whose pieces are its items."""

    encoding: str
    pieces: tuple[bytes, ...]
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingWrite:
    """What a task of a graph wrote after a checkpoint; `position` orders the writes of one task."""

    task_id: str
    task_path: str = ""
    position: int
    channel: str
    encoding: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    """A checkpoint as it was stored; `metadata` is JSON, ids of one thread and namespace grow with time."""

    key: CheckpointKey
    parent_id: str | None = None
    run_id: str | None = None
    encoding: str
    head: bytes
    values: Mapping[str, StateValue] = field(default_factory=dict)
    metadata: str
    writes: tuple[PendingWrite, ...] = ()


class Checkpoints:
    """The checkpoints of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # Writing ----------------------------------------------------------------------------------------------------

    def put(self, checkpoint: StoredCheckpoint) -> None:
        """Store a checkpoint; one of the same key is replaced. Its `writes` are not stored."""
        layout: dict[str, dict[str, JSONValue]] = {}
        pieces: dict[bytes, bytes] = {}
        for name, value in checkpoint.values.items():
            digests = [blake2b(piece, digest_size=_DIGEST_BYTES).digest() for piece in value.pieces]
            pieces.update(zip(digests, value.pieces, strict=True))
            layout[name] = {
                "encoding": value.encoding,
                "count": value.count,
                "pieces": [digest.hex() for digest in digests],
            }
        key = checkpoint.key
        with self._db.transaction() as con:
            thread_no = self._thread_for(con, key.thread)
            con.executemany(
                "INSERT INTO checkpoint_pieces(thread_no, digest, data) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
                [(thread_no, digest, data) for digest, data in pieces.items()],
            )
            con.execute(
                "INSERT INTO checkpoints(thread_no, namespace, id, parent_id, run_id, encoding, head, layout, metadata)"
                " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(thread_no, namespace, id) DO UPDATE SET"
                " parent_id = excluded.parent_id, run_id = excluded.run_id, encoding = excluded.encoding,"
                " head = excluded.head, layout = excluded.layout, metadata = excluded.metadata",
                (
                    thread_no, key.namespace, key.id, checkpoint.parent_id, checkpoint.run_id, checkpoint.encoding,
                    checkpoint.head, json.dumps(layout, separators=(",", ":")), checkpoint.metadata,
                ),
            )  # fmt: skip

    def put_writes(
        self, key: CheckpointKey, writes: Iterable[PendingWrite], *, replace: bool, durable: bool = True
    ) -> None:
        """Store what a task wrote; what is there already stays, unless `replace`.

        With `durable=False` it is on the disk with the next checkpoint at the latest.
        """
        verb = "REPLACE" if replace else "INSERT OR IGNORE"
        with self._db.transaction(durable=durable) as con:
            thread_no = self._thread_for(con, key.thread)
            con.executemany(
                f"{verb} INTO checkpoint_writes(thread_no, namespace, checkpoint_id, task_id, position, task_path,"
                " channel, encoding, data) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        thread_no, key.namespace, key.id, write.task_id, write.position, write.task_path,
                        write.channel, write.encoding, write.data,
                    )
                    for write in writes
                ],
            )  # fmt: skip

    def _thread_for(self, con: Connection, thread: str) -> int:
        now = to_micros(self._db.clock.now())
        row = con.execute(
            "INSERT INTO threads(id, created_at, updated_at) VALUES(?, ?, ?)"
            " ON CONFLICT(id) DO UPDATE SET updated_at = excluded.updated_at RETURNING no",
            (thread, now, now),
        ).fetchall()
        return int(row[0][0])

    # Reading ----------------------------------------------------------------------------------------------------

    def has(self, thread: str) -> bool:
        """Whether there is a thread of this id."""
        return self._db.query_one("SELECT 1 FROM threads WHERE id = ?", (thread,)) is not None

    def latest(self, thread: str, namespace: str) -> StoredCheckpoint | None:
        """Return the newest checkpoint of a namespace, None where there is none."""
        return self._read("t.id = ? AND c.namespace = ? ORDER BY c.id DESC LIMIT 1", (thread, namespace))

    def get(self, key: CheckpointKey) -> StoredCheckpoint | None:
        """Return a checkpoint with what was written after it, ordered by path, task and position; None if not there."""
        return self._read("t.id = ? AND c.namespace = ? AND c.id = ?", (key.thread, key.namespace, key.id))

    def _read(self, where: str, params: Sequence[SQLValue]) -> StoredCheckpoint | None:
        with self._db.read() as con:
            row = con.execute(
                "SELECT t.no, t.id, c.namespace, c.id, c.parent_id, c.run_id, c.encoding, c.head, c.layout, c.metadata"
                f" FROM checkpoints c JOIN threads t ON t.no = c.thread_no WHERE {where}",
                params,
            ).fetchone()
            if row is None:
                return None
            thread_no, thread, namespace, own, parent_id, run_id, encoding, head, layout, metadata = row
            writes = con.execute(
                "SELECT task_id, task_path, position, channel, encoding, data FROM checkpoint_writes"
                " WHERE thread_no = ? AND namespace = ? AND checkpoint_id = ? ORDER BY task_path, task_id, position",
                (thread_no, namespace, own),
            ).fetchall()
            return StoredCheckpoint(
                key=CheckpointKey(thread=thread, namespace=namespace, id=own),
                parent_id=parent_id,
                run_id=run_id,
                encoding=encoding,
                head=head,
                values=_values(con, thread_no, layout),
                metadata=metadata,
                writes=tuple(
                    PendingWrite(
                        task_id=task,
                        task_path=path,
                        position=position,
                        channel=channel,
                        encoding=form,
                        data=data,
                    )
                    for task, path, position, channel, form, data in writes
                ),
            )

    def find(
        self,
        thread: str | None = None,
        *,
        namespace: str | None = None,
        id: str | None = None,
        before: str | None = None,
    ) -> list[tuple[CheckpointKey, str]]:
        """Return keys and metadata, the highest ids first; what is None narrows nothing. `before` is an id."""
        rows = self._db.query(
            "SELECT t.id, c.namespace, c.id, c.metadata FROM checkpoints c JOIN threads t ON t.no = c.thread_no"
            " WHERE (:thread IS NULL OR t.id = :thread) AND (:namespace IS NULL OR c.namespace = :namespace)"
            " AND (:id IS NULL OR c.id = :id) AND (:before IS NULL OR c.id < :before) ORDER BY c.id DESC, c.no DESC",
            {"thread": thread, "namespace": namespace, "id": id, "before": before},
        )
        return [
            (CheckpointKey(thread=name, namespace=within, id=own), metadata)
            for name, within, own, metadata in rows
        ]

    # Removing ---------------------------------------------------------------------------------------------------

    def delete_threads(self, threads: Sequence[str]) -> None:
        """Remove all of these threads; what is not there is no error."""
        with self._db.transaction() as con:
            _remove_threads(
                con, "id IN (SELECT value FROM json_each(:threads))", {"threads": json.dumps([*threads])}
            )

    def delete_runs(self, runs: Sequence[str]) -> None:
        """Remove the checkpoints of these runs and what was written after them."""
        with self._db.transaction() as con:
            numbers = con.execute(
                "SELECT no FROM checkpoints WHERE run_id IN (SELECT value FROM json_each(?))",
                (json.dumps([*runs]),),
            ).fetchall()
            _remove(con, [int(no) for (no,) in numbers])

    def delete(self, keys: Iterable[CheckpointKey]) -> None:
        """Remove checkpoints and what was written after them; what is not there is no error."""
        with self._db.transaction() as con:
            rows = (
                con.execute(
                    "SELECT c.no FROM checkpoints c JOIN threads t ON t.no = c.thread_no"
                    " WHERE t.id = ? AND c.namespace = ? AND c.id = ?",
                    (key.thread, key.namespace, key.id),
                ).fetchone()
                for key in keys
            )
            _remove(con, [int(row[0]) for row in rows if row is not None])

    def copy(self, source: str, target: str) -> None:
        """Store all of a thread under another id as well; checkpoints of the same key are replaced."""
        if source == target or not self.has(source):
            return
        with self._db.transaction() as con:
            params: dict[str, SQLValue] = {"source": source, "target": self._thread_for(con, target)}
            for table, columns in (
                ("checkpoints", "namespace, id, parent_id, run_id, encoding, head, layout, metadata"),
                ("checkpoint_pieces", "digest, data"),
                (
                    "checkpoint_writes",
                    "namespace, checkpoint_id, task_id, position, task_path, channel, encoding, data",
                ),
            ):
                con.execute(
                    f"REPLACE INTO {table}(thread_no, {columns}) SELECT :target, {columns} FROM {table}"
                    " WHERE thread_no = (SELECT no FROM threads WHERE id = :source)",
                    params,
                )


def _values(con: Connection, thread_no: int, layout: str) -> dict[str, StateValue]:
    """Return values of a layout, their pieces read in one statement."""
    shapes = json.loads(layout)
    digests = {digest for shape in shapes.values() for digest in shape["pieces"]}
    if not digests:
        return {}
    pieces = {
        bytes(digest).hex(): data
        for digest, data in con.execute(
            "SELECT x.digest, x.data FROM json_each(?) d CROSS JOIN checkpoint_pieces x"
            " ON x.thread_no = ? AND x.digest = unhex(d.value)",
            (json.dumps([*digests]), thread_no),
        )
    }
    return {
        name: StateValue(
            encoding=shape["encoding"],
            count=shape["count"],
            pieces=tuple(pieces[digest] for digest in shape["pieces"]),
        )
        for name, shape in shapes.items()
    }


def _remove(con: Connection, numbers: Sequence[int]) -> None:
    """Remove checkpoints by number, what was written after them, and pieces and threads that nothing needs then."""
    chosen: dict[str, SQLValue] = {"numbers": json.dumps([*numbers])}
    among = "SELECT value FROM json_each(:numbers)"
    threads = [
        int(no)
        for (no,) in con.execute(f"SELECT DISTINCT thread_no FROM checkpoints WHERE no IN ({among})", chosen)
    ]
    con.execute(
        "DELETE FROM checkpoint_writes WHERE (thread_no, namespace, checkpoint_id) IN"
        f" (SELECT thread_no, namespace, id FROM checkpoints WHERE no IN ({among}))",
        chosen,
    )
    con.execute(f"DELETE FROM checkpoints WHERE no IN ({among})", chosen)
    for thread_no in threads:
        con.execute(
            "DELETE FROM checkpoint_pieces WHERE thread_no = :no AND digest NOT IN (SELECT unhex(p.value)"
            " FROM checkpoints c, json_each(c.layout) v, json_each(v.value, '$.pieces') p WHERE c.thread_no = :no)",
            {"no": thread_no},
        )
        _remove_threads(
            con,
            "no = :no AND NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.thread_no = threads.no)",
            {"no": thread_no},
        )


def _remove_threads(con: Connection, where: str, params: dict[str, SQLValue]) -> tuple[int, int]:
    """Remove threads with all that is theirs; returns how many checkpoints went, and bytes of theirs."""
    numbers = [int(no) for (no,) in con.execute(f"SELECT no FROM threads WHERE {where}", params)]
    chosen: dict[str, SQLValue] = {"numbers": json.dumps(numbers)}
    among = "thread_no IN (SELECT value FROM json_each(:numbers))"
    count = size = 0
    for table, column in (
        ("checkpoint_writes", "data"), ("checkpoints", "head"), ("checkpoint_pieces", "data"),
    ):  # fmt: skip
        rows, held = con.execute(
            f"SELECT count(*), coalesce(sum(length({column})), 0) FROM {table} WHERE {among}", chosen
        ).fetchall()[0]
        con.execute(f"DELETE FROM {table} WHERE {among}", chosen)
        count, size = (int(rows) if table == "checkpoints" else count), size + int(held)
    con.execute("DELETE FROM threads WHERE no IN (SELECT value FROM json_each(:numbers))", chosen)
    return count, size


USER_OF: Final = "CAST(c.metadata ->> '$.user_id' AS TEXT)"
"""Whose data a checkpoint says it is: LangGraph stores what else a run is configured with in its metadata."""
_ERASED: Final = f"""
 (:everything OR ((:session IS NULL OR id = :session)
   AND (:subject IS NULL OR id IN (SELECT s.id FROM session_subjects u JOIN sessions s ON s.no = u.session_no
                                   WHERE u.subject = :subject)
        OR no IN (SELECT c.thread_no FROM checkpoints c WHERE {USER_OF} = :subject))
   AND (:before IS NULL OR updated_at < :before)))
 AND (created_at <= :at OR created_at > :now)
"""
"""Whose data a thread is says the recorded session of its name, and the `user_id` with which its graph was run.
What was begun since an erasure that was interrupted stays; what is dated ahead of the clock was begun before."""


class CheckpointEraser:
    """Erases threads of a session, about a person, not touched since a moment, or all."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove them and note how many checkpoints went."""
        given = set(selection.to_dict())
        if not selection.project and (
            Realm.STREAM not in selection.realms or not given <= {"session", "subject", "before"}
        ):
            return
        params: dict[str, SQLValue] = {
            "everything": int(selection.project),
            "session": selection.session,
            "subject": selection.subject,
            "before": None if selection.before is None else to_micros(selection.before),
            "at": to_micros(book.at),
            "now": to_micros(self._db.clock.now()),
        }
        with self._db.transaction() as con:
            count, size = _remove_threads(con, _ERASED, params)
            book.erased(PLACE, count, size)


def check_checkpoints(context: StoreContext) -> Iterator[str]:
    """Yield in words which pieces are not the bytes that were stored."""
    with context.db.read() as con:
        for thread, digest, data in con.execute(
            "SELECT t.id, p.digest, p.data FROM checkpoint_pieces p JOIN threads t ON t.no = p.thread_no ORDER BY p.no"
        ):
            if blake2b(data, digest_size=_DIGEST_BYTES).digest() != digest:
                yield (
                    f"A piece of the checkpoints of thread {thread!r} is not what was stored ({len(data)} bytes). "
                    "Put a backup in its place, or delete the thread."
                )
