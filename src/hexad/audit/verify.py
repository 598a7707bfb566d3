"""Checking a ledger: every hash anew, in one pass, and with a checkpoint also what a chain alone cannot show."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from hexad.audit.archive_file import ArchivedEntry, ArchiveFile
from hexad.audit.archived_records import (
    ARCHIVE,
    ArchivedRun,
    KeptContents,
    StoredRun,
    owners_digest,
    typed,
)
from hexad.audit.canonical_json import SALTED_END, body_end, body_kind, body_start, body_whose, sealed
from hexad.audit.checkpoint import HASH_BYTES, Checkpoint, Frontier, leaf_hash, root, root_of
from hexad.audit.ledger import ERASURE, EVENTS, Head, Ledger
from hexad.audit.values import GENESIS, Verification
from hexad.database.connection import Database
from hexad.database.meta import GO_ON, LEDGER_ROOT, LEDGER_SIZE, Meta
from hexad.errors import IntegrityError, LedgerBroken

_PAGE: Final = 16_384
_EVERY: Final = 1 << 62
_READ: Final = (
    "SELECT e.seq, e.body, e.hash, e.at, e.kind, e.session, e.tick, e.event_type, e.subject, c.nonce, c.ciphertext"
    " FROM entries e LEFT JOIN contents c ON c.seq = e.seq WHERE e.seq >= ? AND e.seq < ?"
    " ORDER BY e.seq LIMIT ?"
)
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
class _ArchivedRunName:
    """How the record of an archive names a run of records."""

    named_by: int
    commitment: str
    contents: int
    owners: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """What stands beside the records: what was erased or archived, whose contents can be opened, the tree's hashes."""

    erased_seqs: Collection[int]
    erased_subjects: Collection[str]
    subjects: Collection[bytes]
    tiles: Mapping[tuple[int, int], bytes]
    runs: Mapping[tuple[int, int], _ArchivedRunName]

    def is_erased(self, seq: int, subject: str) -> bool:
        """Whether a record of an erasure names the contents of this one."""
        return seq in self.erased_seqs or subject in self.erased_subjects


def verify(
    ledger: Ledger,
    *,
    checkpoints: Sequence[Checkpoint] = (),
    archives: Sequence[ArchiveFile] = (),
    progress: Progress | None = None,
) -> Verification:
    """Check every record, its place in chain and tree, and its contents; compare with checkpoints kept elsewhere.

    Without a checkpoint, what cannot be seen: that the newest records were cut off, and that everything from some
    record on was written anew by somebody who has the key. With one, any change to the records that it covers is found.
    The first record that is wrong is named; where a whole history is a consistent other one, the first that the
    smallest checkpoint that disagrees covers and the largest that agrees does not. Archived records stand for
    themselves by their hashes; those of `archives` are read and compared one by one.
    """
    roots: dict[int, bytes] = {}
    with ledger.db.read() as con:
        whole = typed("size integer, last blob, frontier blob")
        row = con.execute(f"SELECT size, last, frontier FROM state WHERE {whole}").fetchone()
        state = row or (0, b"", b"")
        check = _Check(ledger, roots, archives, lambda done: progress and progress(done, state[0]))
        wrong: _Wrong | None = None
        try:
            for checkpoint in checkpoints:
                if roots.setdefault(checkpoint.size, checkpoint.root) != checkpoint.root:
                    raise _Wrong(0, f"Two checkpoints of {checkpoint.size} records disagree with each other.")
            last = check.run()
            _complete(ledger.db, state, last, check)
            beyond = [size for size in roots if size > check.frontier.size]
            if beyond:
                raise _Wrong(
                    check.frontier.size,
                    f"A checkpoint covers {max(beyond)} records; only {check.frontier.size} are there:"
                    " the newest were cut off.",
                )
        except _Wrong as found:
            wrong = found
    compared = [size for size in roots if size not in check.skipped]
    return Verification(
        records=check.frontier.size,
        root=check.frontier.root().hex(),
        ok=wrong is None,
        first_bad=None if wrong is None else wrong.seq,
        problem=None if wrong is None else wrong.problem,
        checkpoint=max(compared, default=None),
        archived=check.archived,
        read=check.read,
        skipped=tuple(sorted(check.skipped)),
    )


class _Check:
    """Builds the tree of the records anew, a page at a time, and compares it."""

    def __init__(
        self,
        ledger: Ledger,
        roots: Mapping[int, bytes],
        archives: Sequence[ArchiveFile],
        progress: Callable[[int], object],
    ) -> None:
        self._ledger, self._wanted, self._told = ledger, roots, progress
        self._archives = archives
        self.frontier, self._agreed = Frontier(), 0
        self.archived = self.read = self.contents = 0
        self.skipped = set[int]()

    def run(self) -> bytes:
        """Check everything and return the last record's hash."""
        neighbours = self._beside = _beside(self._ledger)
        readers = self._readers()
        last = b""
        while True:
            first = self.frontier.size
            gap = self._ledger.gaps.next(first)
            if gap is not None and gap.first == first:
                last = self._pass(gap, last, readers.get(gap.named_by))
                self._told(self.frontier.size)
                continue
            stop = _EVERY if gap is None else gap.first
            digests, wrong = _page(self._ledger.db, (first, stop), last, neighbours)
            # What is right of a page is compared before what is wrong is said: a checkpoint may disagree earlier.
            self._extend([leaf_hash(digest) for digest in digests])
            if wrong is not None:
                raise wrong
            self._told(self.frontier.size)
            last = digests[-1] if digests else last
            if len(digests) < min(_PAGE, stop - first):
                if gap is None:
                    return last
                raise _Wrong(self.frontier.size, f"Record audit-{self.frontier.size} is missing.")

    def _readers(self) -> dict[int, Iterator[ArchivedEntry]]:
        """Return what reads each archive, by the number of the record that names it."""
        named = {detail.get("sha256"): seq for seq, detail in _details(self._ledger.db, ARCHIVE)}
        readers: dict[int, Iterator[ArchivedEntry]] = {}
        for archive in self._archives:
            if archive.sha256 not in named:
                raise _Wrong(archive.first, f"No record of the ledger names the archive {archive.path}.")
            readers[named[archive.sha256]] = archive.entries()
        return readers

    def _extend(self, leaves: Sequence[bytes]) -> None:
        first = self.frontier.size
        end = first + len(leaves)
        for stop in [*sorted(size for size in self._wanted if first <= size < end), end]:
            self._finished(self.frontier.extend(leaves[self.frontier.size - first : stop - first]))
            self._compare(stop)

    def _finished(self, subtrees: Sequence[tuple[int, int, bytes]]) -> None:
        for level, place, top in subtrees:
            if self._beside.tiles.get((level, place)) != top:
                raise _Wrong(place << level, f"The tree's hash at level {level}, place {place} was changed.")

    def _compare(self, stop: int) -> None:
        if self._wanted.get(stop, self.frontier.root()) != self.frontier.root():
            raise _Wrong(
                self._agreed,
                f"The first {stop} records are not those of the checkpoint: a record from audit-{self._agreed} on was"
                " changed, and all after it were written anew.",
            )
        self._agreed = stop if stop in self._wanted else self._agreed

    # Archived records -------------------------------------------------------------------------------------------

    def _pass(self, stored: StoredRun, before: bytes, reader: Iterator[ArchivedEntry] | None) -> bytes:
        """Go over a run of archived records and return the hash of its last."""
        first, past = stored.first, stored.past
        named = self._beside.runs.get((first, past))
        if named is None or named.named_by != stored.named_by:
            raise _Wrong(
                first, f"Record audit-{first} is missing, and no record names an archive that has it."
            )
        try:
            gap = self._ledger.gaps.whole(stored)
        except LedgerBroken as error:
            raise _Wrong(first, str(error)) from error
        if gap.commitment() != named.commitment:
            raise _Wrong(first, f"What is kept of the archived records from audit-{first} on was changed.")
        if self._ledger.gaps.has_records(first, past):
            raise _Wrong(
                first, f"Of the archived records from audit-{first} on some are in the ledger again."
            )
        try:
            kept_contents = self._ledger.gaps.contents_of_run(first, past)
        except IntegrityError as error:
            raise _Wrong(
                first, f"Whose the archived contents from audit-{first} on are cannot be read: {error}"
            ) from error
        self._compare_keys(kept_contents, first, named)
        self.archived += past - first
        self.contents += len(kept_contents)
        if reader is None:
            self._add_pieces(gap)
        else:
            self._read(
                gap,
                before,
                reader,
                {contents.seq: (contents.ref, contents.nonce) for contents in kept_contents},
            )
        return gap.last

    def _compare_keys(
        self, kept_contents: Sequence[KeptContents], first: int, named: _ArchivedRunName
    ) -> None:
        if len(kept_contents) != named.contents:
            raise _Wrong(first, f"Keys to archived contents are missing or were added from audit-{first} on.")
        if owners_digest(kept_contents) != named.owners or not all(
            contents.is_erasable for contents in kept_contents
        ):
            raise _Wrong(
                first,
                f"Whose the archived contents from audit-{first} on are, or of which ticks, was changed.",
            )
        for seq, ref, nonce, *_ in kept_contents:
            if nonce is None and not self._beside.is_erased(seq, ref.hex()):
                raise _Wrong(seq, f"The key to the archived contents of audit-{seq} is missing.")
            if nonce is not None and ref not in self._beside.subjects:
                raise _Wrong(seq, f"The key to the contents of record audit-{seq} is missing or was changed.")

    def _add_pieces(self, gap: ArchivedRun) -> None:
        inside = {size for size in self._wanted if gap.first < size < gap.past}
        for (level, _), top in zip(gap.places, gap.pieces, strict=True):
            self._finished(self.frontier.add(level, top))
            self._compare(self.frontier.size)
            inside.discard(self.frontier.size)
        self.skipped |= inside

    def _read(
        self,
        gap: ArchivedRun,
        before: bytes,
        reader: Iterator[ArchivedEntry],
        keys: Mapping[int, tuple[bytes, bytes | None]],
    ) -> None:
        leaves, last = list[bytes](), before.hex() or GENESIS
        for record in itertools.islice(reader, gap.past - gap.first):
            entry = json.loads(record.body)
            if entry["seq"] != record.seq or entry["prev"] != last or record.seq != gap.first + len(leaves):
                raise _Wrong(
                    record.seq, f"The archived record audit-{record.seq} does not follow the one before it."
                )
            self._compare_archived(record, entry, keys.get(record.seq))
            last = record.digest.hex()
            leaves.append(leaf_hash(record.digest))
        self.read += len(leaves)
        for (level, place), top in zip(gap.places, gap.pieces, strict=True):
            begin = (place << level) - gap.first
            if root(leaves[begin : begin + (1 << level)]) != top:
                raise _Wrong(place << level, f"The archive has another record than audit-{place << level}.")
        self._extend(leaves)

    def _compare_archived(
        self, record: ArchivedEntry, document: Mapping[str, Any], key: tuple[bytes, bytes | None] | None
    ) -> None:
        subject = document["subject"]
        if key is None or key[1] is None:
            if document["payload"] is not None and not self._beside.is_erased(record.seq, subject):
                raise _Wrong(
                    record.seq, f"The key to the archived contents of audit-{record.seq} is missing."
                )
            return
        ref, nonce = key
        if ref.hex() != subject or record.ciphertext is None or nonce is None:
            raise _Wrong(record.seq, f"The archived contents of audit-{record.seq} are missing or another's.")
        if sha256(nonce + record.ciphertext).hexdigest() != document["payload"]["ciphertext"]:
            raise _Wrong(
                record.seq, f"The archived contents of audit-{record.seq}, or the key to them, were changed."
            )


def _complete(db: Database, state: tuple[int, bytes, bytes], last: bytes, check: _Check) -> None:
    """Compare what the ledger goes on from with the records that were read."""
    size, root, edge = state
    frontier = check.frontier
    if frontier.size < size:
        raise _Wrong(frontier.size, f"Of {size} records {size - frontier.size} are missing at the end.")
    if frontier.size > size or root != last or edge != b"".join(frontier.subtrees):
        raise _Wrong(min(size, frontier.size), "The state of the ledger does not belong to its records.")
    for table, level, place in (
        ("tiles", "level > 0", "(place << level)"), ("contents", "true", "seq"), ("gaps", "true", "past - 1"),
    ):  # fmt: skip
        row = db.query_one(f"SELECT min({place}) FROM {table} WHERE {level} AND {place} >= ?", (size,))
        if row is not None and row[0] is not None:
            raise _Wrong(size, "There are contents or hashes of records that the ledger does not have.")
    row = db.query_one("SELECT count(*) FROM archived")
    if row is not None and row[0] != check.contents:
        raise _Wrong(size, "There are keys to contents that no archive has.")


def _page(
    db: Database, run: tuple[int, int], last: bytes, neighbours: _Beside
) -> tuple[list[bytes], _Wrong | None]:
    """Return the hashes of the run's first records up to one that is not as it was, and what is wrong with that."""
    digests = list[bytes]()
    before, expected = last.hex() or GENESIS, run[0]
    try:
        for row in _rows(db, run):
            if row[0] != expected:
                raise _Wrong(expected, f"Record audit-{expected} is missing.")
            digest = sha256(row[1]).digest()
            if digest != row[2]:
                raise _Wrong(
                    expected,
                    f"Record audit-{expected} was changed: it has another hash than the one it was given.",
                )
            _compare(row, before, neighbours)
            digests.append(digest)
            before = digest.hex()
            expected += 1
    except _Wrong as wrong:
        return digests, wrong
    except (TypeError, AttributeError, IntegrityError):
        problem = f"Record audit-{expected} was changed: it holds a value of a type that no record has."
        return digests, _Wrong(expected, problem)
    return digests, None


def _rows(db: Database, run: tuple[int, int]) -> Iterator[_Row]:
    """Yield a page of a run; where one record cannot be read, those before it."""
    try:
        yield from db.query(_READ, (*run, _PAGE))
    except IntegrityError:
        for seq in range(run[0], min(run[1], run[0] + _PAGE)):
            yield from db.query(_READ, (seq, seq + 1, 1))


def _compare(row: _Row, before: str, neighbours: _Beside) -> None:
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
        expected = of_kind + sealed(nonce, ciphertext)
        if not text.startswith(expected, end - _SEALED_CHARS - len(of_kind)):
            raise _Wrong(seq, f"The contents or the kind of record audit-{seq} were changed.")
        if subject not in neighbours.subjects:
            raise _Wrong(seq, f"The key to the contents of record audit-{seq} is missing or was changed.")
    elif not text.endswith(of_kind + "null", 0, end):
        if not text.startswith(of_kind, end - _SEALED_CHARS - len(of_kind)):
            raise _Wrong(seq, f"The kind of record audit-{seq} was changed.")
        if not neighbours.is_erased(seq, subject.hex()):
            raise _Wrong(
                seq, f"The contents of record audit-{seq} are missing, and no erasure record names it."
            )


def _beside(ledger: Ledger) -> _Beside:
    seqs, refs = set[int](), set[str]()
    runs: dict[tuple[int, int], _ArchivedRunName] = {}
    for _, detail in _details(ledger.db, ERASURE):
        # A record that was changed may say anything: it is named when its turn comes.
        with suppress(TypeError, ValueError, AttributeError):
            for first, end in detail.get("seqs", ()):
                seqs.update(range(first, min(end, first + ledger.size()) + 1))
            refs.update(detail.get("subjects", ()))
    for number, detail in _details(ledger.db, ARCHIVE):
        with suppress(TypeError, ValueError, AttributeError):
            for first, past, commitment, contents, of in detail.get("runs", ()):
                runs[first, past] = _ArchivedRunName(
                    named_by=number, commitment=commitment, contents=contents, owners=of
                )
    tiles = ledger.db.query(f"SELECT level, place, hash FROM tiles WHERE {typed('hash blob')}")
    return _Beside(
        erased_seqs=seqs,
        erased_subjects=refs,
        subjects=ledger.whole_subjects(),
        tiles={(level, place): top for level, place, top in tiles},
        runs=runs,
    )


def _details(db: Database, kind: str) -> Iterator[tuple[int, Any]]:
    rows = db.query(
        f"SELECT seq, body FROM entries WHERE kind = ? AND {EVENTS} AND {typed('body blob')}", (kind,)
    )
    for seq, body in rows:
        with suppress(ValueError, KeyError, TypeError):
            yield seq, json.loads(body)["detail"]


# What a store notes of its ledger, a database of its own, so that one that was cut off or begun anew is missed.

NotedHead = tuple[int, bytes | None]
"""How many records there were, and the hash of their tree; None where an older version noted the number alone."""
_RESTORE: Final = f"Put a backup in its place. {GO_ON}"


def note_head(meta: Meta, head: Head) -> None:
    """Note where the ledger ended when `head` was read; it must be on the disk."""
    with meta.database.joined():
        meta.put(LEDGER_SIZE, str(head.size))
        meta.put(LEDGER_ROOT, f"{head.size} {head.root.hex()}")


def noted_head(meta: Meta) -> NotedHead | None:
    """Return what was noted last; None where nothing was."""
    noted = meta.get(LEDGER_SIZE)
    if noted is None:
        return None
    size, _, root = (meta.get(LEDGER_ROOT) or "").partition(" ")
    return int(noted), bytes.fromhex(root) if size == noted else None


def gone(path: Path, noted: NotedHead) -> str:
    """Return in words that a ledger is not there any more."""
    return f"{path} is gone; it had {noted[0]:,} records. {_RESTORE}"


def loss_of(ledger: Ledger, path: Path, noted: NotedHead | None) -> str | None:
    """Return in words why the ledger in `path` does not go on from what was noted of it before; None where it does."""
    if noted is None:
        return None
    records, root = noted
    there = ledger.size()
    if there < records:
        return (
            f"{path} has {there:,} records and had {records:,}: its end was cut off, or it was begun anew. "
            f"{_RESTORE}"
        )
    if root is not None and root_of(records, ledger.node) != root:
        return (
            f"{path} has other records than before among its first {records:,}: it was begun anew, or it is another "
            f"store's. {_RESTORE}"
        )
    return None
