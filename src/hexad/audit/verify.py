"""Checking a ledger: every hash anew, in one pass, and with a checkpoint also what a chain alone cannot show."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from hexad.audit.canonical import body_end, text_of
from hexad.audit.checkpoint import Checkpoint
from hexad.audit.ledger import ERASURE
from hexad.audit.merkle import Frontier, leaf_hash
from hexad.model.audit import Verification
from hexad.storage.connection import Database

_PAGE: Final = 20_000
_Row = tuple[int, bytes, bytes, int, str, str | None, int | None, str | None, bytes, bytes | None]
Progress = Callable[[int, int], None]


class _Wrong(Exception):
    """What is wrong with a record."""

    def __init__(self, seq: int, problem: str) -> None:
        super().__init__(problem)
        self.seq, self.problem = seq, problem


@dataclass(slots=True)
class _Erased:
    """What erasure records name."""

    seqs: set[int]
    refs: set[str]


def verify(
    db: Database, *, checkpoints: Sequence[Checkpoint] = (), progress: Progress | None = None
) -> Verification:
    """Check every record, its place in chain and tree, and its contents; compare with checkpoints kept elsewhere.

    Without a checkpoint, what cannot be seen: that the newest records were cut off, and that everything from some
    record on was written anew by somebody who has the key. With one, any change to the records that it covers is found.
    The first record that is wrong is named; where a whole history is a consistent other one, the first that the
    smallest checkpoint that disagrees covers and the largest that agrees does not.
    """
    with db.read() as con:
        row = con.execute("SELECT size, frontier FROM state").fetchone()
        size, edge = cast("tuple[int, bytes]", row or (0, b""))
        frontier = Frontier()
        wanted = {one.size: one for one in sorted(checkpoints, key=lambda one: one.size)}
        agreed = 0
        try:
            _agree(wanted.get(0), frontier, agreed)
            for seq, digest in _checked(db, size, progress):
                frontier.append(leaf_hash(digest))
                if seq + 1 in wanted:
                    _agree(wanted[seq + 1], frontier, agreed)
                    agreed = seq + 1
            _complete(size, edge, frontier, wanted)
        except _Wrong as wrong:
            return Verification(
                records=size,
                root=frontier.root().hex(),
                ok=False,
                first_bad=wrong.seq,
                problem=wrong.problem,
                checkpoint=max(wanted, default=None),
            )
    return Verification(
        records=size, root=frontier.root().hex(), ok=True, checkpoint=max(wanted, default=None)
    )


def _agree(checkpoint: Checkpoint | None, frontier: Frontier, agreed: int) -> None:
    if checkpoint is not None and checkpoint.root != frontier.root():
        raise _Wrong(
            agreed,
            f"The first {checkpoint.size} records are not those of the checkpoint: a record from audit-{agreed} on was"
            " changed, and all after it were written anew.",
        )


def _complete(size: int, edge: bytes, frontier: Frontier, wanted: dict[int, Checkpoint]) -> None:
    if frontier.size != size:
        raise _Wrong(frontier.size, f"Of {size} records {size - frontier.size} are missing at the end.")
    if b"".join(frontier.subtrees) != edge:
        raise _Wrong(size, "The state of the ledger does not belong to its records.")
    if max(wanted, default=0) > size:
        raise _Wrong(
            size, f"The checkpoint covers {max(wanted)} records, the ledger has {size}: its end was cut off."
        )


def _checked(db: Database, size: int, progress: Progress | None) -> Iterator[tuple[int, bytes]]:
    """Yield number and hash of the records in their order; raises `_Wrong` at the first that is not as it was."""
    erased = _erased(db)
    before = b""
    expected = 0
    while True:
        rows = db.query(
            "SELECT e.seq, e.body, e.hash, e.at, e.kind, e.session, e.tick, e.event_type, e.subject, c.ciphertext"
            " FROM entries e LEFT JOIN contents c ON c.seq = e.seq WHERE e.seq >= ? ORDER BY e.seq LIMIT ?",
            (expected, _PAGE),
        )
        for row in cast("list[_Row]", rows):
            seq = row[0]
            if seq != expected:
                raise _Wrong(expected, f"Record audit-{expected} is missing.")
            digest = hashlib.sha256(row[1]).digest()
            if digest != row[2]:
                raise _Wrong(
                    seq, f"Record audit-{seq} was changed: it has another hash than the one it was given."
                )
            _compare(row, before, erased)
            before = digest
            expected += 1
            yield seq, digest
        if progress is not None:
            progress(expected, size)
        if len(rows) < _PAGE:
            return


def _compare(row: _Row, before: bytes, erased: _Erased) -> None:
    """Compare a record's bytes with what stands beside them, without taking them apart."""
    seq, data, _, at, kind, session, tick, event_type, subject, ciphertext = row
    text, ref = data.decode("utf-8", "replace"), subject.hex()
    tail = body_end(prev=before, seq=seq, session=session, subject=ref, tick=tick)
    if not text.endswith(tail):
        raise _Wrong(
            seq, f"Record audit-{seq} does not follow the one before it, or its columns were changed."
        )
    if not text.startswith(f'{{"at":{at},"detail":'):
        raise _Wrong(seq, f"The time of record audit-{seq} was changed.")
    payload = text.rfind(',"payload":', 0, len(text) - len(tail))
    if payload < 0 or not text.endswith(
        f',"event_type":{text_of(event_type)},"kind":{text_of(kind)}', 0, payload
    ):
        raise _Wrong(seq, f"The kind of record audit-{seq} was changed.")
    said = text[payload + 11 : len(text) - len(tail)]
    if ciphertext is not None:
        if f'"ciphertext":"{hashlib.sha256(ciphertext).hexdigest()}"' not in said:
            raise _Wrong(seq, f"The contents of record audit-{seq} were changed.")
    elif said != "null" and seq not in erased.seqs and ref not in erased.refs:
        raise _Wrong(seq, f"The contents of record audit-{seq} are missing, and no erasure record names it.")


def _erased(db: Database) -> _Erased:
    found = _Erased(seqs=set(), refs=set())
    for (body,) in db.query("SELECT body FROM entries WHERE kind = ?", (ERASURE,)):
        try:
            detail = json.loads(cast("bytes", body))["detail"]
        except ValueError:
            continue  # a record that was changed: it is named when its turn comes
        for first, end in detail.get("seqs", ()):
            found.seqs.update(range(first, end + 1))
        found.refs.update(detail.get("subjects", ()))
    return found
