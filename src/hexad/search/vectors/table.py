"""Vectors as stored: float16 blobs, one per chunk and one per memory of several chunks.

A turn's vector has those of its sentences beside it, in half-bytes: they are compared and neither searched nor added
up, so that their directions are enough.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hexad.database.change_counters import bump
from hexad.database.connection import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_READ_AT_ONCE: Final = 8_192
SENTENCES_DDL: Final = "ALTER TABLE vectors ADD COLUMN sentences BLOB"
"""NULL where a text has none of its own, or was embedded before there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVector:
    """A vector to store; `chunk_no` None means the beginning of the whole memory.

    `sentences` are those of the text's sentences.
    """

    memory_no: int
    chunk_no: int | None
    vector: NDArray[np.float32]
    sentences: Sequence[NDArray[np.float32]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRows:
    """Vectors as read: parallel columns; `chunk_no` is 0 for the whole memory."""

    no: NDArray[np.int64]
    memory_no: NDArray[np.int64]
    chunk_no: NDArray[np.int64]
    matrix: NDArray[np.float16]


class Vectors:
    """The vectors of one store. `removals` lets caches follow without reading everything again."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, vectors: Sequence[NewVector]) -> None:
        """Store vectors in the caller's transaction."""
        with self._db.joined() as con:
            con.executemany(
                "INSERT INTO vectors(memory_no, chunk_no, vector, sentences) VALUES(?,?,?,?)",
                [
                    (
                        v.memory_no,
                        v.chunk_no,
                        v.vector.astype("<f2").tobytes(),
                        half_bytes(v.sentences) or None,
                    )
                    for v in vectors
                ],
            )
            bump(con, "vectors")

    def remove_memory(self, memory_no: int) -> None:
        """Remove the vectors of a memory."""
        self.remove_memories([memory_no])

    def remove_memories(self, numbers: Sequence[int]) -> None:
        """Remove the vectors of memories."""
        with self._db.joined() as con:
            listed = (json.dumps(list(numbers)),)
            con.execute(
                "INSERT INTO vector_removals(vector_no) SELECT v.no FROM json_each(?) j CROSS JOIN vectors v"
                " ON v.memory_no = j.value",
                listed,
            )
            con.execute("DELETE FROM vectors WHERE memory_no IN (SELECT value FROM json_each(?))", listed)
            bump(con, "vectors")

    def remove_all(self) -> None:
        """Remove every vector, before they are computed anew."""
        with self._db.joined() as con:
            con.execute("INSERT INTO vector_removals(vector_no) SELECT no FROM vectors")
            con.execute("DELETE FROM vectors")
            bump(con, "vectors")

    def count(self) -> int:
        """Return how many vectors there are."""
        row = self._db.query_one("SELECT count(*) FROM vectors")
        return row[0] if row else 0

    def last_no(self) -> int:
        """Return the number of the last vector, 0 where there is none; numbers are not given twice."""
        row = self._db.query_one("SELECT max(no) FROM vectors")
        return (row[0] or 0) if row else 0

    def empty(self) -> bool:
        """Return whether there is no vector at all."""
        return self._db.query_one("SELECT 1 FROM vectors LIMIT 1") is None

    def after(self, vector_no: int, *, dimensions: int, limit: int | None = None) -> VectorRows:
        """Return the vectors with a higher number, in order: `limit` of them at most."""
        import numpy as np

        asked = _READ_AT_ONCE if limit is None else limit
        block, last_no, length = self._block(vector_no, asked, dimensions)
        if limit is not None or length < asked:
            return block
        # Of many there is one copy: no more than a block is there as rows of SQLite, too.
        most = len(block.no) + self.count()
        matrix = np.empty((most, dimensions), dtype="<f2")
        columns, filled = [], 0
        while filled + len(block.no) <= most:  # what others add meanwhile is read the next time
            matrix[filled : filled + len(block.no)] = block.matrix
            columns.append((block.no, block.memory_no, block.chunk_no))
            filled += len(block.no)
            if length < asked:
                break
            block, last_no, length = self._block(last_no, asked, dimensions)
        no, memory_no, chunk_no = (np.concatenate(column) for column in zip(*columns, strict=True))
        return VectorRows(no=no, memory_no=memory_no, chunk_no=chunk_no, matrix=matrix[:filled])

    def _block(self, vector_no: int, limit: int, dimensions: int) -> tuple[VectorRows, int, int]:
        """Return vectors with a higher number, the last number that was read, and of how many."""
        import numpy as np

        rows = self._db.query(
            "SELECT no, memory_no, coalesce(chunk_no, 0), vector FROM vectors WHERE no > ? ORDER BY no LIMIT ?",
            (vector_no, limit),
        )
        width = 2 * dimensions
        keep = [row for row in rows if len(row[3]) == width]
        no, memory_no, chunk_no, blobs = zip(*keep, strict=True) if keep else ((), (), (), ())
        block = VectorRows(
            no=np.array(no, dtype=np.int64),
            memory_no=np.array(memory_no, dtype=np.int64),
            chunk_no=np.array(chunk_no, dtype=np.int64),
            matrix=np.frombuffer(b"".join(blobs), dtype="<f2").reshape(len(keep), dimensions),
        )
        return block, rows[-1][0] if rows else vector_no, len(rows)

    def awaited(self, kind: str, *, long_chunks: int) -> dict[int, tuple[str, int, int]]:
        """Return the active memories without a vector that a task of this kind waits for, as answers need them: the
        newest first, after all others what has more chunks. With each the state of its text, to tell it from a later
        one: its hash, its last chunk, how many there are.
        """
        rows = self._db.query(
            "SELECT m.no, m.content_hash, max(c.no), count(*) FROM tasks t JOIN memories m ON m.no = t.memory_no"
            " JOIN chunks c ON c.memory_no = m.no WHERE t.kind = ? AND m.status = 'active'"
            " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory_no = m.no)"
            " GROUP BY m.no ORDER BY count(*) > ?, m.no DESC",
            (kind, long_chunks),
        )
        return {no: (content_hash, chunk_no, count) for no, content_hash, chunk_no, count in rows}

    def of_memories(self, numbers: Collection[int]) -> dict[int, NDArray[np.float32]]:
        """Return each memory's own vector: of its beginning, or of its only chunk; those without are left out."""
        import numpy as np

        rows = self._db.query(
            "SELECT v.memory_no, v.vector, min(coalesce(v.chunk_no, 0)) FROM vectors v"
            " WHERE v.memory_no IN (SELECT value FROM json_each(?)) GROUP BY v.memory_no",
            (json.dumps(sorted(numbers)),),
        )
        if len({len(row[1]) for row in rows}) != 1:
            return {row[0]: np.frombuffer(row[1], dtype="<f2").astype(np.float32) for row in rows}
        matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f2").reshape(len(rows), -1)
        return dict(zip((row[0] for row in rows), matrix.astype(np.float32), strict=True))

    def of_chunks(self, memory_no: int, *, dimensions: int) -> list[tuple[int, NDArray[np.float32]]]:
        """Return the numbers of a memory's chunks and their vectors of this length, in order."""
        import numpy as np

        rows = self._db.query(
            "SELECT chunk_no, vector FROM vectors WHERE memory_no = ? AND chunk_no IS NOT NULL AND length(vector) = ?"
            " ORDER BY chunk_no",
            (memory_no, 2 * dimensions),
        )
        return [(row[0], np.frombuffer(row[1], dtype="<f2").astype(np.float32)) for row in rows]

    def of_sentences(
        self, numbers: Collection[int], *, dimensions: int
    ) -> tuple[list[int], NDArray[np.float32]]:
        """Return the vectors of the sentences of these memories as rows of length one, and whose each row is."""
        rows = self._db.query(
            "SELECT memory_no, sentences FROM vectors WHERE memory_no IN (SELECT value FROM json_each(?))"
            " AND sentences IS NOT NULL",
            (json.dumps(sorted(numbers)),),
        )
        width = (dimensions + 1) // 2
        whole = [(no, blob) for no, blob in rows if len(blob) % width == 0]
        owners = [no for no, blob in whole for _ in range(len(blob) // width)]
        return owners, of_half_bytes(b"".join(blob for _, blob in whole), dimensions=dimensions)

    def blob(self, vector_no: int) -> bytes | None:
        """Return a vector as it is stored, None when it is gone."""
        row = self._db.query_one("SELECT vector FROM vectors WHERE no = ?", (vector_no,))
        return row[0] if row else None

    def removed_after(self, removal_no: int) -> list[tuple[int, int]]:
        """Return `(removal's number, vector's number)` of later removals."""
        rows = self._db.query(
            "SELECT no, vector_no FROM vector_removals WHERE no > ? ORDER BY no", (removal_no,)
        )
        return [(no, vector_no) for no, vector_no in rows]

    def last_removal(self) -> int:
        """Return the number of the newest removal, 0 when there was none."""
        row = self._db.query_one("SELECT coalesce(max(no), 0) FROM vector_removals")
        return row[0] if row else 0


_HALF_BYTE: Final = 7
"""A half-byte is a number from -7 to 7; of two in a byte, the first is the higher one."""


def half_bytes(rows: Sequence[NDArray[np.float32]]) -> bytes:
    """Return vectors as half a byte a number, each scaled by its largest one: their directions are left."""
    import numpy as np

    if not len(rows):
        return b""
    exact = np.stack(rows)
    most = np.maximum(np.abs(exact).max(axis=1, keepdims=True), np.finfo(np.float32).tiny)
    steps = (np.rint(exact / most * _HALF_BYTE) + _HALF_BYTE + 1).astype(np.uint8)
    if steps.shape[1] % 2:
        steps = np.pad(steps, ((0, 0), (0, 1)))
    packed: NDArray[np.uint8] = steps[:, ::2] << 4 | steps[:, 1::2]
    return packed.tobytes()


def of_half_bytes(data: bytes, *, dimensions: int) -> NDArray[np.float32]:
    """Return vectors of length one with the directions of what `half_bytes` was given."""
    import numpy as np

    pairs = np.frombuffer(data, dtype=np.uint8).reshape(-1, (dimensions + 1) // 2)
    steps = np.empty((len(pairs), 2 * pairs.shape[1]), dtype=np.float32)
    steps[:, ::2], steps[:, 1::2] = pairs >> 4, pairs & 15
    rows = steps[:, :dimensions] - np.float32(_HALF_BYTE + 1)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    unit: NDArray[np.float32] = rows / np.maximum(lengths, 1.0)[:, None]
    return unit
