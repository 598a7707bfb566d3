"""Records that are in archives: what the ledger keeps of them, so that chain and tree still hold, and how they leave.

Of a run of archived records stay the hashes of its subtrees, of which tiles are some, the hash of its last record, and
for each content its nonce: without that nobody decrypts it, so that erasing reaches what is in archives, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, cast

from hexad.audit.checkpoint import HASH_BYTES, TILE_LEVEL, Frontier, cover, fold, leaf_hash, node_hash
from hexad.database.codec import to_micros
from hexad.database.connection import Connection, Database
from hexad.errors import Conflict, LedgerBroken, NotFound

ARCHIVE: Final = "archive"
_PAGE: Final = 4_096
_AT: Final = (
    "(?2 IS NULL OR EXISTS (SELECT 1 FROM json_each(?2) r WHERE {} BETWEEN r.value ->> 0 AND r.value ->> 1))"
)


def typed(columns: str) -> str:
    """Return the condition under which columns hold what their table says, as in `"seq integer, body blob"`.

    A file whose schema somebody changed holds other types, too: such a row is as good as none, which a check finds.
    """
    pairs = [column.split(maxsplit=1) for column in columns.split(", ")]
    return " AND ".join(
        f"typeof({name}) IN ({', '.join(map(repr, kinds.split('|')))})" for name, kinds in pairs
    )


_RUN: Final = typed("past integer, last blob, edges blob, named_by integer")
_KEPT: Final = typed("a.nonce blob|null, a.tick integer|null") + (
    f" AND (o.id IS NULL OR {typed('o.ref blob, o.session text|null, o.first integer, o.last integer')})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """What the ledger says of a run of archived records; nothing of it was compared yet."""

    first: int
    past: int
    last: bytes
    edges: bytes
    named_by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedRun:
    """A run of archived records: those from `first` to before `past`."""

    first: int
    past: int
    last: bytes
    pieces: tuple[bytes, ...]
    """The hashes of the subtrees that it is made of, none larger than a tile."""
    named_by: int

    @property
    def places(self) -> Iterator[tuple[int, int]]:
        """The levels and places of the pieces."""
        return cover(self.first, self.past, highest=TILE_LEVEL)

    def commitment(self) -> str:
        """Return the hash by which the record of an archive names the run."""
        return hashlib.sha256(self.last + b"".join(self.pieces)).hexdigest()


class KeptContents(NamedTuple):
    """What is kept of an archived record's contents: whose they are, and what opens them unless they were erased."""

    seq: int
    ref: bytes
    nonce: bytes | None
    session: str | None
    tick: int | None
    is_erasable: bool
    """Whether an erasure that goes by subject or session comes upon it."""


def owners_digest(kept_contents: Sequence[KeptContents]) -> str:
    """Return the hash by which the record of an archive says whose the contents of a run are; erasing changes nothing
    of it.
    """  # fmt: skip
    digest = hashlib.sha256()
    for contents in kept_contents:
        digest.update(
            json.dumps([contents.seq, contents.ref.hex(), contents.session, contents.tick]).encode() + b"\n"
        )
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveCandidate:
    """A timestep that may be archived, as far as incidents look at it."""

    seq: int
    session: str | None
    tick: int | None
    at: int


class Gaps:
    """The archived runs of one ledger."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # Reading ----------------------------------------------------------------------------------------------------

    def next(self, after: int) -> StoredRun | None:
        """Return the first run that begins at `after` or later."""
        return next(iter(self._stored("first >= ? ORDER BY first LIMIT 1", after)), None)

    def _stored(self, where: str, *params: int) -> list[StoredRun]:
        rows = self._db.query(
            f"SELECT first, past, last, edges, named_by FROM gaps WHERE {_RUN} AND {where}", params
        )
        return [
            StoredRun(first=first, past=past, last=last, edges=edges, named_by=named_by)
            for first, past, last, edges, named_by in rows
        ]

    def whole(self, stored: StoredRun) -> ArchivedRun:
        """Return a run with the hashes of all its pieces; raises `LedgerBroken` where some are missing."""
        first, past, edges = stored.first, stored.past, stored.edges
        begin, end = -(-first >> TILE_LEVEL), past >> TILE_LEVEL
        rows = self._db.query(
            f"SELECT place, hash FROM tiles WHERE level = ? AND place >= ? AND place < ? AND {typed('hash blob')}",
            (TILE_LEVEL, begin, end),
        )
        tiles = dict(cast("list[tuple[int, bytes]]", rows))
        pieces, at = list[bytes](), 0
        if 0 <= first < past and len(tiles) == max(0, end - begin):
            for level, place in cover(first, past, highest=TILE_LEVEL):
                if level == TILE_LEVEL:
                    pieces.append(tiles[place])
                else:
                    pieces.append(edges[at : at + HASH_BYTES])
                    at += HASH_BYTES
        if not pieces or at != len(edges):
            raise LedgerBroken(f"What is kept of the archived records from audit-{first} on was changed.")
        return ArchivedRun(
            first=first, past=past, last=stored.last, pieces=tuple(pieces), named_by=stored.named_by
        )

    def contents(self, first: int, past: int) -> int:
        """Return how many records of a run in the ledger have contents."""
        row = self._db.query_one("SELECT count(*) FROM contents WHERE seq >= ? AND seq < ?", (first, past))
        return 0 if row is None else row[0]

    def has_records(self, first: int, past: int) -> bool:
        """Whether a record of a run is in the ledger."""
        return any(
            self._db.query_one(f"SELECT 1 FROM {table} WHERE seq >= ? AND seq < ? LIMIT 1", (first, past))
            for table in ("entries", "contents")
        )

    def nonce(self, seq: int) -> bytes | None:
        """Return what opens the contents of an archived record; None for one without any, or erased."""
        row = self._db.query_one("SELECT nonce FROM archived WHERE seq = ?", (seq,))
        return None if row is None else row[0]

    def with_contents(self, session: str, ticks: Sequence[Sequence[int]] | None) -> list[int]:
        """Return the numbers of a session's records whose contents are there, archived or not."""
        rows = self._db.query(
            f"SELECT e.seq FROM entries e JOIN contents c ON c.seq = e.seq"
            f" WHERE e.session = ?1 AND {_AT.format('e.tick')} UNION ALL"
            " SELECT a.seq FROM archived_owners o JOIN archived a ON a.owner = o.id"
            " AND a.seq BETWEEN o.first AND o.last"
            f" WHERE o.session = ?1 AND a.nonce IS NOT NULL AND {_AT.format('a.tick')} ORDER BY 1",
            (session, None if ticks is None else json.dumps(ticks)),
        )
        return [row[0] for row in rows]

    def contents_of(self, ref: bytes) -> list[int]:
        """Return the numbers of a subject's records whose contents are there, archived or not."""
        rows = self._db.query(
            "SELECT e.seq FROM entries e JOIN contents c ON c.seq = e.seq WHERE e.subject = ?1 UNION ALL"
            " SELECT a.seq FROM archived_owners o JOIN archived a ON a.owner = o.id"
            " AND a.seq BETWEEN o.first AND o.last WHERE o.ref = ?1 AND a.nonce IS NOT NULL",
            (ref,),
        )
        return [row[0] for row in rows]

    def all_contents(self) -> list[int]:
        """Return the numbers of all records whose contents are there, archived or not."""
        rows = self._db.query(
            "SELECT seq FROM contents UNION ALL SELECT seq FROM archived WHERE nonce IS NOT NULL"
        )
        return [row[0] for row in rows]

    def contents_of_run(self, first: int, past: int) -> list[KeptContents]:
        """Return what is kept of the contents of a run's archived records."""
        rows = self._db.query(
            "SELECT a.seq, coalesce(o.ref, x''), a.nonce, o.session, a.tick,"
            " coalesce(a.seq BETWEEN o.first AND o.last, 0) FROM archived a LEFT JOIN archived_owners o"
            f" ON o.id = a.owner WHERE a.seq >= ? AND a.seq < ? AND {_KEPT} ORDER BY a.seq",
            (first, past),
        )
        return [KeptContents(*row) for row in rows]

    def subtree(self, level: int, place: int, leaves: Mapping[int, bytes]) -> bytes:
        """Return the hash of a subtree below a tile's level, some records of which are archived, perhaps with `leaves`.

        Raises `NotFound` where only the archive knows it, `LedgerBroken` where a record is missing.
        """
        first, end = place << level, (place + 1) << level
        known: dict[tuple[int, int], bytes] = {}
        for stored in self._stored("first < ? AND past > ? ORDER BY first", end, first):
            gap = self.whole(stored)
            known |= dict(zip(gap.places, gap.pieces, strict=True))
        live = self._db.query("SELECT seq, hash FROM entries WHERE seq >= ? AND seq < ?", (first, end))
        known |= {(0, seq): leaf_hash(record) for seq, record in live}
        known |= {(0, seq): leaves[seq] for seq in range(first, end) if seq in leaves}
        for above in range(level + 1, TILE_LEVEL + 1):
            if (above, place >> (above - level)) in known and first not in leaves:
                raise _in_archive(first, end)
        return _built(level, place, known)

    # Leaving ----------------------------------------------------------------------------------------------------

    def candidates(
        self, *, before: datetime | None = None, first: int = 0, past: int
    ) -> Iterator[ArchiveCandidate]:
        """Yield the timesteps of a run, older than `before`, that are in the ledger, in their order."""
        until = 1 << 62 if before is None else to_micros(before)
        while True:
            rows = self._db.query(
                "SELECT seq, session, tick, at FROM entries WHERE seq >= ? AND seq < ? AND at < ?"
                " AND kind = 'timestep' ORDER BY seq LIMIT ?",
                (first, past, until, _PAGE),
            )
            for seq, session, tick, at in rows:
                yield ArchiveCandidate(seq=seq, session=session, tick=tick, at=at)
                first = seq + 1
            if len(rows) < _PAGE:
                return

    def leaving(
        self, first: int, past: int
    ) -> Iterator[tuple[int, bytes, bytes, bytes | None, bytes | None]]:
        """Yield the records of a run that are in the ledger: number, bytes, hash, nonce and ciphertext."""
        while first < past:
            rows = self._db.query(
                "SELECT e.seq, e.body, e.hash, c.nonce, c.ciphertext FROM entries e"
                " LEFT JOIN contents c ON c.seq = e.seq"
                " WHERE e.seq >= ? AND e.seq < ? ORDER BY e.seq",
                (first, min(first + _PAGE, past)),
            )
            yield from rows
            first += _PAGE

    def gap_of(self, first: int, past: int, *, named_by: int) -> ArchivedRun:
        """Return what stays of a run; raises `Conflict` where not all of its records are in the ledger."""
        rows = self._db.query(
            "SELECT hash FROM entries WHERE seq >= ? AND seq < ? ORDER BY seq", (first, past)
        )
        hashes = [row[0] for row in rows]
        if len(hashes) != past - first:
            raise _elsewhere(first, past)
        pieces = []
        for level, place in cover(first, past, highest=TILE_LEVEL):
            begin = (place << level) - first
            frontier = Frontier()
            frontier.extend([leaf_hash(digest) for digest in hashes[begin : begin + (1 << level)]])
            pieces.append(fold(frontier.subtrees))
        return ArchivedRun(first=first, past=past, last=hashes[-1], pieces=tuple(pieces), named_by=named_by)

    def take_out(self, gaps: Sequence[ArchivedRun], expected: Callable[[], object]) -> None:
        """Put these runs in the place of their records. In a transaction.

        `expected` is asked when nothing was changed yet.
        """
        with self._db.joined() as con:
            expected()
            for gap in gaps:
                places = gap.places
                edges = b"".join(
                    piece for (level, _), piece in zip(places, gap.pieces, strict=True) if level < TILE_LEVEL
                )
                con.execute(
                    "INSERT INTO gaps VALUES(?,?,?,?,?)", (gap.first, gap.past, gap.last, edges, gap.named_by)
                )
            self._own(con, gaps)
            for gap in gaps:
                run = (gap.first, gap.past)
                con.execute("DELETE FROM contents WHERE seq >= ? AND seq < ?", run)
                con.execute("DELETE FROM entries WHERE seq >= ? AND seq < ?", run)
                if con.changes != gap.past - gap.first:
                    raise _elsewhere(*run)

    def _own(self, con: Connection, gaps: Sequence[ArchivedRun]) -> None:
        """Keep the nonces of the contents that leave, under whose they are."""
        owners: dict[tuple[bytes, str | None], tuple[int, int, int]] = {}
        (top,) = cast(
            "tuple[int]", con.execute("SELECT coalesce(max(id), 0) FROM archived_owners").fetchone()
        )
        entries = list[tuple[int, int, int | None, bytes]]()
        for gap in gaps:
            rows = con.execute(
                "SELECT c.seq, e.subject, e.session, e.tick, c.nonce FROM contents c JOIN entries e ON e.seq = c.seq"
                " WHERE c.seq >= ? AND c.seq < ? ORDER BY c.seq",
                (gap.first, gap.past),
            ).fetchall()
            for seq, ref, session, tick, nonce in rows:
                number, first, _ = owners.get((ref, session), (top + 1 + len(owners), seq, seq))
                owners[ref, session] = number, first, seq
                entries.append((seq, number, tick, nonce))
        con.executemany(
            "INSERT INTO archived_owners VALUES(?,?,?,?,?)",
            [(number, *owner, first, last) for owner, (number, first, last) in owners.items()],
        )
        con.executemany("INSERT INTO archived VALUES(?,?,?,?)", entries)


def erase_archived(
    con: Connection, seqs: Sequence[int], *, ref: bytes | None = None, everything: bool = False
) -> int:
    """Destroy the nonces of archived contents, of these records, of a subject or of all; returns how many.

    In a transaction.
    """
    count = 0
    if everything:
        con.execute("UPDATE archived SET nonce = NULL WHERE nonce IS NOT NULL")
        return con.changes
    if ref is not None:
        owners = con.execute("SELECT id, first, last FROM archived_owners WHERE ref = ?", (ref,)).fetchall()
        for number, first, last in owners:
            con.execute(
                "UPDATE archived SET nonce = NULL WHERE owner = ? AND seq >= ? AND seq <= ? AND nonce IS NOT NULL",
                (number, first, last),
            )
            count += con.changes
    for seq in seqs:
        con.execute("UPDATE archived SET nonce = NULL WHERE seq = ? AND nonce IS NOT NULL", (seq,))
        count += con.changes
    return count


def _built(level: int, place: int, known: Mapping[tuple[int, int], bytes]) -> bytes:
    digest = known.get((level, place))
    if digest is not None:
        return digest
    if not level:
        raise LedgerBroken(f"Record audit-{place} is not there. Run `hexad audit verify`.")
    return node_hash(_built(level - 1, 2 * place, known), _built(level - 1, 2 * place + 1, known))


def _in_archive(first: int, end: int) -> NotFound:
    which = f"audit-{first}" if end - first == 1 else f"audit-{first} to audit-{end - 1}"
    return NotFound(f"This needs what {which} was, and that is in an archive; only the archive can show it.")


def _elsewhere(first: int, past: int) -> Conflict:
    return Conflict(f"Of the records audit-{first} to audit-{past - 1} some are in another archive by now.")
