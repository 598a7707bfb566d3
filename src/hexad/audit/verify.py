"""Checking a ledger: every hash anew, in one pass, and with a checkpoint also what a chain alone cannot show."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, cast

from hexad.audit.asking import EVENTS
from hexad.audit.canonical import SALTED_END, body_end, body_kind, body_start, body_whose, sealed
from hexad.audit.checkpoint import Checkpoint
from hexad.audit.ledger import ERASURE, Ledger
from hexad.audit.merkle import HASH_BYTES, Frontier, leaf_hash
from hexad.model.audit import GENESIS, Verification
from hexad.storage.connection import Database

_PAGE: Final = 16_384
_SALTED_CHARS: Final = 2 * HASH_BYTES
_SEALED_CHARS: Final = len(sealed(b"", b"")) + _SALTED_CHARS + len(SALTED_END)
_Row = tuple[
    int, bytes, bytes, int, str, str | None, int | None, str | None, bytes, bytes | None, bytes | None
]
Progress = Callable[[int, int], None]


class _Wrong(Exception):
    """What is wrong, and the first record that is."""

    def __init__(self, seq: int, problem: str) -> None:
        super().__init__(problem)
        self.seq, self.problem = seq, problem


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """What stands beside the records: what was erased, whose contents can be opened, the tree's hashes."""

    erased_seqs: Collection[int]
    erased_subjects: Collection[str]
    subjects: Collection[bytes]
    tiles: Mapping[tuple[int, int], bytes]


def verify(
    ledger: Ledger, *, checkpoints: Sequence[Checkpoint] = (), progress: Progress | None = None
) -> Verification:
    """Check every record, its place in chain and tree, and its contents; compare with checkpoints kept elsewhere.

    Without a checkpoint, what cannot be seen: that the newest records were cut off, and that everything from some
    record on was written anew by somebody who has the key. With one, any change to the records that it covers is found.
    The first record that is wrong is named; where a whole history is a consistent other one, the first that the
    smallest checkpoint that disagrees covers and the largest that agrees does not.
    """
    frontier = Frontier()
    wanted: dict[int, bytes] = {}
    with ledger.db.read() as con:
        row = con.execute("SELECT size, last, frontier FROM state").fetchone()
        state = cast("tuple[int, bytes, bytes]", row or (0, b"", b""))
        wrong: _Wrong | None = None
        try:
            for one in checkpoints:
                if wanted.setdefault(one.size, one.root) != one.root:
                    raise _Wrong(
                        0,
                        f"Two checkpoints of {one.size} records disagree: the ledger was written anew in between.",
                    )
            last = _grow(ledger, frontier, wanted, lambda done: progress and progress(done, state[0]))
            _complete(ledger.db, state, last, frontier)
            if max(wanted, default=0) > state[0]:
                raise _Wrong(
                    state[0],
                    f"The checkpoint covers {max(wanted)} records, the ledger has {state[0]}: its end was cut off.",
                )
        except _Wrong as found:
            wrong = found
    return Verification(
        records=state[0],
        root=frontier.root().hex(),
        ok=wrong is None,
        first_bad=None if wrong is None else wrong.seq,
        problem=None if wrong is None else wrong.problem,
        checkpoint=max(wanted, default=None),
    )


def _grow(
    ledger: Ledger, frontier: Frontier, wanted: Mapping[int, bytes], told: Callable[[int], object]
) -> bytes:
    """Build the tree of the records anew, a page at a time, and compare it; return the last record's hash."""
    beside = _beside(ledger)
    last, agreed = b"", 0
    while True:
        first = frontier.size
        digests, wrong = _page(ledger.db, first, last, beside)
        end = first + len(digests)
        # What is right of a page is compared before it is said what is wrong: a checkpoint may disagree earlier.
        for stop in [*sorted(one for one in wanted if first <= one < end), end]:
            leaves = [leaf_hash(one) for one in digests[frontier.size - first : stop - first]]
            for level, place, top in frontier.extend(leaves):
                if beside.tiles.get((level, place)) != top:
                    raise _Wrong(
                        place << level, f"The tree's hash at level {level}, place {place} was changed."
                    )
            if wanted.get(stop, frontier.root()) != frontier.root():
                raise _Wrong(
                    agreed,
                    f"The first {stop} records are not those of the checkpoint: a record from audit-{agreed} on was"
                    " changed, and all after it were written anew.",
                )
            agreed = stop if stop in wanted else agreed
        if wrong is not None:
            raise wrong
        told(end)
        if len(digests) < _PAGE:
            return digests[-1] if digests else last
        last = digests[-1]


def _complete(db: Database, state: tuple[int, bytes, bytes], last: bytes, frontier: Frontier) -> None:
    """Compare what the ledger goes on from with the records that were read."""
    size, said, edge = state
    if frontier.size < size:
        raise _Wrong(frontier.size, f"Of {size} records {size - frontier.size} are missing at the end.")
    if frontier.size > size or said != last or edge != b"".join(frontier.subtrees):
        raise _Wrong(min(size, frontier.size), "The state of the ledger does not belong to its records.")
    for table, level in (("tiles", "level > 0"), ("contents", "true")):
        place = "(place << level)" if table == "tiles" else "seq"
        row = db.query_one(f"SELECT min({place}) FROM {table} WHERE {level} AND {place} >= ?", (size,))
        if row is not None and row[0] is not None:
            raise _Wrong(size, "There are contents or hashes of records that the ledger does not have.")


def _page(db: Database, first: int, last: bytes, beside: _Beside) -> tuple[list[bytes], _Wrong | None]:
    """Return the hashes of the next records up to the first that is not as it was, and what is wrong with that."""
    rows = db.query(
        "SELECT e.seq, e.body, e.hash, e.at, e.kind, e.session, e.tick, e.event_type, e.subject, c.nonce, c.ciphertext"
        " FROM entries e LEFT JOIN contents c ON c.seq = e.seq WHERE e.seq >= ? ORDER BY e.seq LIMIT ?",
        (first, _PAGE),
    )
    digests = list[bytes]()
    before, expected = last.hex() or GENESIS, first
    try:
        for row in cast("list[_Row]", rows):
            if row[0] != expected:
                raise _Wrong(expected, f"Record audit-{expected} is missing.")
            digest = sha256(row[1]).digest()
            if digest != row[2]:
                raise _Wrong(
                    expected,
                    f"Record audit-{expected} was changed: it has another hash than the one it was given.",
                )
            _compare(row, before, beside)
            digests.append(digest)
            before = digest.hex()
            expected += 1
    except _Wrong as wrong:
        return digests, wrong
    return digests, None


def _compare(row: _Row, before: str, beside: _Beside) -> None:
    """Compare a record's bytes with what stands beside them, without taking them apart."""
    seq, data, _, at, kind, session, tick, event_type, subject, nonce, ciphertext = row
    text = data.decode("utf-8", "replace")
    tail = body_end(before, seq, body_whose(session, subject), tick)
    if not text.endswith(tail):
        raise _Wrong(
            seq, f"Record audit-{seq} does not follow the one before it, or its columns were changed."
        )
    if not text.startswith(body_start(at)):
        raise _Wrong(seq, f"The time of record audit-{seq} was changed.")
    of_kind, end = body_kind(kind, event_type), len(text) - len(tail)
    if ciphertext is not None and nonce is not None:
        said = of_kind + sealed(nonce, ciphertext)
        if not text.startswith(said, end - _SEALED_CHARS - len(of_kind)):
            raise _Wrong(seq, f"The contents or the kind of record audit-{seq} were changed.")
        if subject not in beside.subjects:
            raise _Wrong(seq, f"The key to the contents of record audit-{seq} is missing or was changed.")
    elif not text.endswith(of_kind + "null", 0, end):
        if not text.startswith(of_kind, end - _SEALED_CHARS - len(of_kind)):
            raise _Wrong(seq, f"The kind of record audit-{seq} was changed.")
        if seq not in beside.erased_seqs and subject.hex() not in beside.erased_subjects:
            raise _Wrong(
                seq, f"The contents of record audit-{seq} are missing, and no erasure record names it."
            )


def _beside(ledger: Ledger) -> _Beside:
    seqs, refs = set[int](), set[str]()
    for detail in _erasures(ledger.db):
        # A record that was changed may say anything: it is named when its turn comes.
        with suppress(TypeError, ValueError, AttributeError):
            for first, end in detail.get("seqs", ()):
                seqs.update(range(first, min(end, first + ledger.size()) + 1))
            refs.update(detail.get("subjects", ()))
    tiles = ledger.db.query("SELECT level, place, hash FROM tiles")
    return _Beside(
        erased_seqs=seqs,
        erased_subjects=refs,
        subjects=ledger.whole_subjects(),
        tiles={(level, place): top for level, place, top in cast("list[tuple[int, int, bytes]]", tiles)},
    )


def _erasures(db: Database) -> Iterator[Any]:
    for (body,) in db.query(f"SELECT body FROM entries WHERE kind = ? AND {EVENTS}", (ERASURE,)):
        with suppress(ValueError, KeyError, TypeError):
            yield json.loads(cast("bytes", body))["detail"]
