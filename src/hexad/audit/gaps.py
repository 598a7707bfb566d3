"""Records that are in archives: what the ledger keeps of them, so that chain and tree still hold, and how they leave.

Of a run of archived records stay the hashes of its subtrees, of which tiles are some, the hash of its last record, and
for each content its nonce: without that nobody decrypts it, so that erasing reaches what is in archives, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from hexad.audit.merkle import TILE_LEVEL, Frontier, cover, fold, leaf_hash, node_hash
from hexad.errors import Conflict, LedgerBroken, NotFound
from hexad.storage.codec import to_micros
from hexad.storage.connection import Connection, Database

ARCHIVE: Final = "archive"
_PAGE: Final = 4_096
_EVERY: Final = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
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

    def next(self, after: int) -> Gap | None:
        """Return the first run that begins at `after` or later."""
        row = self._db.query_one(
            "SELECT first, past, last, edges, named_by FROM gaps WHERE first >= ? ORDER BY first LIMIT 1",
            (after,),
        )
        return None if row is None else self._gap(cast("tuple[int, int, bytes, bytes, int]", row))

    def of(self, named_by: int) -> list[Gap]:
        """Return the runs of the archive that this record names."""
        rows = self._db.query(
            "SELECT first, past, last, edges, named_by FROM gaps WHERE named_by = ? ORDER BY first",
            (named_by,),
        )
        return [self._gap(row) for row in cast("list[tuple[int, int, bytes, bytes, int]]", rows)]

    def holds(self, seq: int) -> bool:
        """Whether a record is in an archive."""
        return (
            self._db.query_one("SELECT 1 FROM gaps WHERE first <= ? AND past > ? LIMIT 1", (seq, seq))
            is not None
        )

    def _gap(self, row: tuple[int, int, bytes, bytes, int]) -> Gap:
        first, past, last, edges, named_by = row
        pieces, at = list[bytes](), 0
        if not 0 <= first < past < _EVERY:
            raise LedgerBroken(f"What is said of archived records from audit-{first} on was changed.")
        tiles = self._tiles(first >> TILE_LEVEL, past >> TILE_LEVEL)
        for level, place in cover(first, past, highest=TILE_LEVEL):
            if level == TILE_LEVEL:
                pieces.append(tiles.get(place, b""))
            else:
                pieces.append(edges[at : at + 32])
                at += 32
        if at != len(edges):
            raise LedgerBroken(f"What is said of archived records from audit-{first} on was changed.")
        return Gap(first=first, past=past, last=last, pieces=tuple(pieces), named_by=named_by)

    def _tiles(self, first: int, past: int) -> Mapping[int, bytes]:
        rows = self._db.query(
            "SELECT place, hash FROM tiles WHERE level = ? AND place >= ? AND place <= ?",
            (TILE_LEVEL, first, past),
        )
        return dict(cast("list[tuple[int, bytes]]", rows))

    def kept(self, first: int, past: int) -> list[tuple[int, bytes, bytes | None]]:
        """Return number, subject and nonce of the contents of archived records; the nonce None where it was erased."""
        rows = self._db.query(
            "SELECT a.seq, coalesce(o.ref, x''), a.nonce FROM archived a LEFT JOIN archived_owners o"
            " ON o.id = a.owner WHERE a.seq >= ? AND a.seq < ? ORDER BY a.seq",
            (first, past),
        )
        return cast("list[tuple[int, bytes, bytes | None]]", rows)

    def subtree(self, level: int, place: int) -> bytes:
        """Return the hash of a subtree below a tile's level, some records of which are archived.

        Raises `NotFound` where only the archive knows it, `LedgerBroken` where a record is missing.
        """
        first, end = place << level, (place + 1) << level
        rows = self._db.query(
            "SELECT first, past, last, edges, named_by FROM gaps WHERE first < ? AND past > ? ORDER BY first",
            (end, first),
        )
        known: dict[tuple[int, int], bytes] = {}
        for row in cast("list[tuple[int, int, bytes, bytes, int]]", rows):
            gap = self._gap(row)
            known |= dict(zip(gap.places, gap.pieces, strict=True))
        live = self._db.query("SELECT seq, hash FROM entries WHERE seq >= ? AND seq < ?", (first, end))
        known |= {(0, seq): leaf_hash(one) for seq, one in cast("list[tuple[int, bytes]]", live)}
        for above in range(level + 1, TILE_LEVEL + 1):
            if (above, place >> (above - level)) in known:
                raise _in_archive(first, end)
        return _built(level, place, known)

    # Leaving ----------------------------------------------------------------------------------------------------

    def candidates(self, *, before: datetime, size: int) -> Iterator[Candidate]:
        """Yield the timesteps older than `before` that are in the ledger, in their order."""
        after = -1
        while True:
            rows = self._db.query(
                "SELECT seq, session, tick, at FROM entries WHERE seq > ? AND seq < ? AND at < ?"
                " AND kind = 'timestep' ORDER BY seq LIMIT ?",
                (after, size, to_micros(before), _PAGE),
            )
            for seq, session, tick, at in cast("list[tuple[int, str | None, int | None, int]]", rows):
                yield Candidate(seq=seq, session=session, tick=tick, at=at)
                after = seq
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
            yield from cast("list[tuple[int, bytes, bytes, bytes | None, bytes | None]]", rows)
            first += _PAGE

    def gap_of(self, first: int, past: int, *, named_by: int) -> Gap:
        """Return what stays of a run; raises `Conflict` where not all of its records are in the ledger."""
        rows = self._db.query(
            "SELECT hash FROM entries WHERE seq >= ? AND seq < ? ORDER BY seq", (first, past)
        )
        hashes = [row[0] for row in cast("list[tuple[bytes]]", rows)]
        if len(hashes) != past - first:
            raise _elsewhere(first, past)
        pieces = []
        for level, place in cover(first, past, highest=TILE_LEVEL):
            begin = (place << level) - first
            frontier = Frontier()
            frontier.extend([leaf_hash(one) for one in hashes[begin : begin + (1 << level)]])
            pieces.append(fold(frontier.subtrees))
        return Gap(first=first, past=past, last=hashes[-1], pieces=tuple(pieces), named_by=named_by)

    def take_out(self, gaps: Sequence[Gap], expected: Callable[[], object]) -> int:
        """Put these runs in the place of their records; returns how many contents they have. In a transaction.

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
            contents = self._own(con, gaps)
            for gap in gaps:
                run = (gap.first, gap.past)
                con.execute("DELETE FROM contents WHERE seq >= ? AND seq < ?", run)
                con.execute("DELETE FROM entries WHERE seq >= ? AND seq < ?", run)
                if con.changes != gap.past - gap.first:
                    raise _elsewhere(*run)
            return contents

    def _own(self, con: Connection, gaps: Sequence[Gap]) -> int:
        """Keep the nonces of the contents that leave, under whose they are; returns how many."""
        owners: dict[bytes, tuple[int, int, int]] = {}
        (top,) = cast(
            "tuple[int]", con.execute("SELECT coalesce(max(id), 0) FROM archived_owners").fetchone()
        )
        kept = list[tuple[int, int, bytes]]()
        for gap in gaps:
            rows = con.execute(
                "SELECT c.seq, e.subject, c.nonce FROM contents c JOIN entries e ON e.seq = c.seq"
                " WHERE c.seq >= ? AND c.seq < ? ORDER BY c.seq",
                (gap.first, gap.past),
            ).fetchall()
            for seq, ref, nonce in cast("list[tuple[int, bytes, bytes]]", rows):
                number, first, _ = owners.get(ref, (top + 1 + len(owners), seq, seq))
                owners[ref] = number, first, seq
                kept.append((seq, number, nonce))
        con.executemany(
            "INSERT INTO archived_owners VALUES(?,?,?,?)",
            [(number, ref, first, last) for ref, (number, first, last) in owners.items()],
        )
        con.executemany("INSERT INTO archived VALUES(?,?,?)", kept)
        return len(kept)


def erase_archived(con: Connection, seqs: Sequence[int], *, ref: bytes | None = None) -> int:
    """Destroy the nonces of archived contents, of these records or of a subject; returns how many. In a transaction."""
    gone = 0
    if ref is not None:
        owners = con.execute("SELECT id, first, last FROM archived_owners WHERE ref = ?", (ref,)).fetchall()
        for number, first, last in owners:
            con.execute(
                "UPDATE archived SET nonce = NULL WHERE owner = ? AND seq >= ? AND seq <= ? AND nonce IS NOT NULL",
                (number, first, last),
            )
            gone += con.changes
    for seq in seqs:
        con.execute("UPDATE archived SET nonce = NULL WHERE seq = ? AND nonce IS NOT NULL", (seq,))
        gone += con.changes
    return gone


def _built(level: int, place: int, known: Mapping[tuple[int, int], bytes]) -> bytes:
    found = known.get((level, place))
    if found is not None:
        return found
    if not level:
        raise LedgerBroken(f"Record audit-{place} is not there. Run `hexad audit verify`.")
    return node_hash(_built(level - 1, 2 * place, known), _built(level - 1, 2 * place + 1, known))


def _in_archive(first: int, end: int) -> NotFound:
    which = f"audit-{first}" if end - first == 1 else f"audit-{first} to audit-{end - 1}"
    return NotFound(f"What {which} was is in an archive; only that can show it.")


def _elsewhere(first: int, past: int) -> Conflict:
    return Conflict(f"Of the records audit-{first} to audit-{past - 1} some are in another archive by now.")
