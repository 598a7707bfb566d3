"""The ledger's records: appended, hashed into one chain and one tree, read, checked, and their contents erased.

A record's bytes are canonical JSON of all its fields and the hash before it; its contents stand in them as the hash
of their ciphertext and a salted hash of themselves. Erasing destroys what the key and the salt are made of: the chain
stays and verifies, and a contents that is missing without a record that says so is `LedgerBroken`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from hexad.audit.archived_records import Gaps, erase_archived, typed
from hexad.audit.canonical_json import SALTED_END, body, canonical, four_field_hash, sealed
from hexad.audit.checkpoint import TILE_LEVEL, Frontier, fold, leaf_hash
from hexad.audit.values import GENESIS, AuditRecord, NewAuditRecord
from hexad.core.event_types import EventType
from hexad.core.json_types import JSONValue
from hexad.database.codec import from_micros, to_micros
from hexad.database.connection import Connection, Database, Row, SQLValue
from hexad.database.encryption.secrets_file import KeyStore
from hexad.database.meta import GO_ON
from hexad.errors import IntegrityError, LedgerBroken

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM


TIMESTEP: Final = "timestep"
EVENTS: Final = "kind <> 'timestep'"
"""What the index of kinds holds, as it must stand in a statement that is to use it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerQuery:
    """Which records are asked for; everything given must hold. Ticks include both ends, times leave out theirs."""

    sessions: Sequence[str] | None = None
    ticks: tuple[int, int] | None = None
    times: tuple[datetime, datetime] | None = None
    event_types: Sequence[EventType] | None = None
    kinds: Sequence[str] | None = None
    after: int = -1
    before: int | None = None  # numbers of records, both left out
    limit: int = 100
    offset: int = 0


def conditions(query: LedgerQuery) -> tuple[str, dict[str, SQLValue]]:
    """Return the conditions of a statement over `entries e`, and their values."""
    where = ["e.seq > :after"]
    params = dict[str, SQLValue](after=query.after, limit=query.limit, offset=query.offset)
    if query.before is not None:
        where.append("e.seq < :before")
        params["before"] = query.before
    for column, values in (
        ("session", query.sessions),
        ("kind", query.kinds),
        (
            "event_type",
            None if query.event_types is None else [event_type.value for event_type in query.event_types],
        ),
    ):
        if values is not None:
            where.append(f"e.{column} IN (SELECT value FROM json_each(:{column}))")
            params[column] = json.dumps(list(values))
    if query.kinds is not None and TIMESTEP not in query.kinds:
        where.append(f"e.{EVENTS}")
    if query.ticks is not None:
        where.append("e.tick BETWEEN :first AND :last")
        params |= {"first": query.ticks[0], "last": query.ticks[1]}
    if query.times is not None:
        where.append("e.at >= :since AND e.at < :until")
        params |= {"since": to_micros(query.times[0]), "until": to_micros(query.times[1])}
    return " AND ".join(where), params


def holds(query: LedgerQuery, record: dict[str, Any]) -> bool:
    """Whether a record that says this is asked for; limit and offset left aside."""
    types = None if query.event_types is None else [event_type.value for event_type in query.event_types]
    return (
        record["seq"] > query.after
        and (query.before is None or record["seq"] < query.before)
        and (query.sessions is None or record["session"] in query.sessions)
        and (query.kinds is None or record["kind"] in query.kinds)
        and (types is None or record["event_type"] in types)
        and (
            query.ticks is None
            or (record["tick"] is not None and query.ticks[0] <= record["tick"] <= query.ticks[1])
        )
        and (query.times is None or to_micros(query.times[0]) <= record["at"] < to_micros(query.times[1]))
    )


_PAGE: Final = 32
_REF_BYTES: Final = 16
_IPAD, _OPAD = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))
ONE_USE: Final = bytes(12)  # a key encrypts one contents, so its nonce may stand still


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose data a record is: how records name it, and its key."""

    ref: bytes
    key: bytes

    def keyed(self) -> Callable[[bytes], bytes]:
        """Return HMAC-SHA-512 (RFC 2104) under the key, begun once for many: half of what each costs by itself."""
        key = self.key.ljust(128, b"\0")
        inner, outer = hashlib.sha512(key.translate(_IPAD)), hashlib.sha512(key.translate(_OPAD))

        def digest(message: bytes) -> bytes:
            inner_hash, other = inner.copy(), outer.copy()
            inner_hash.update(message)
            other.update(inner_hash.digest())
            return other.digest()

        return digest


def seal(
    payload: Mapping[str, JSONValue], keyed: Callable[[bytes], bytes], seq: int, nonce: bytes
) -> tuple[str, bytes]:
    """Return how contents stand in the record's bytes, and their ciphertext."""
    plain = canonical(payload)
    both = keyed(nonce + seq.to_bytes(8, "big"))
    salt = both[:32]
    ciphertext = _aesgcm()(both[32:]).encrypt(ONE_USE, plain, None)
    salted = hashlib.sha256(salt + plain).hexdigest()
    return f"{sealed(nonce, ciphertext)}{salted}{SALTED_END}", ciphertext


def ref_of(key: bytes) -> bytes:
    """Return how records name the subject of a key: made of it, so that no other key can take its place."""
    return hashlib.sha256(b"hexad subject\0" + key).digest()[:_REF_BYTES]


def secrets_of(subject_key: bytes, nonce: bytes, seq: int) -> tuple[bytes, AESGCM]:
    """Return the salt and the cipher of one record's contents; without the nonce nobody can."""
    both = hmac.digest(subject_key, nonce + seq.to_bytes(8, "big"), "sha512")
    return both[:32], _aesgcm()(both[32:])


@cache
def _aesgcm() -> type[AESGCM]:
    # Once, not for each record: even an import of what is there takes a microsecond.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM


ERASURE: Final = "erasure"
KEY_FIELDS: Final = ("wrapping_key", "signing_seed")
_NONCE_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where the ledger ends: how many records, the hash of the last, the hash of the tree."""

    size: int
    last: bytes
    root: bytes


class Ledger:
    """The records of one ledger. Safe to share between threads and processes."""

    def __init__(self, db: Database, keys: KeyStore) -> None:
        self.db, self._keys, self._key_opens = db, keys, False
        self.gaps = Gaps(db)
        self._subjects: dict[str, Subject] = {}

    # Writing ----------------------------------------------------------------------------------------------------

    def append(self, records: Sequence[NewAuditRecord]) -> list[int]:
        """Append records in this order, in one transaction, and return their numbers: they are on the disk."""
        with self.db.transaction() as con:
            size, last, frontier = _state(con)
            first, nonces = size, secrets.token_bytes(_NONCE_BYTES * len(records))
            entries, contents = list[tuple[SQLValue, ...]](), list[tuple[SQLValue, ...]]()
            leaves = list[bytes]()
            known: dict[str, tuple[Subject, Callable[[bytes], bytes]]] = {}
            when, at = None, 0
            for record in records:
                if record.at is not when:  # a batch shares its time, and turning it into a number has a price
                    when, at = record.at, to_micros(record.at)
                known_subject = known.get(record.subject)
                if known_subject is None:
                    new_subject = self._subject(con, record.subject)
                    known_subject = known[record.subject] = new_subject, new_subject.keyed()
                subject, keyed = known_subject
                payload = "null"
                if record.payload is not None:
                    nonce = nonces[(size - first) * _NONCE_BYTES :][:_NONCE_BYTES]
                    payload, ciphertext = seal(record.payload, keyed, size, nonce)
                    contents.append((size, nonce, ciphertext))
                data = body(record, size, at, last.hex() or GENESIS, subject.ref, payload)
                last = hashlib.sha256(data).digest()
                entries.append(
                    (
                        size, data, last, at, record.kind, record.session_id, record.tick,
                        None if record.event_type is None else record.event_type._value_, subject.ref,
                    )
                )  # fmt: skip
                leaves.append(leaf_hash(last))
                size += 1
            tiles = frontier.extend(leaves)
            con.executemany("INSERT INTO entries VALUES(?,?,?,?,?,?,?,?,?)", entries)
            con.executemany("INSERT INTO contents VALUES(?,?,?)", contents)
            con.executemany("INSERT INTO tiles VALUES(?,?,?)", tiles)
            con.execute(
                "UPDATE state SET size = ?, last = ?, frontier = ?", (size, last, b"".join(frontier.subtrees))
            )
        return list(range(size - len(records), size))

    def taken(self, source: str) -> int:
        """Return up to which row of an outbox records were taken; 0 before the first."""
        row = self.db.query_one("SELECT last FROM taken WHERE source = ?", (source,))
        return 0 if row is None else row[0]

    def take(self, source: str, rows: Sequence[tuple[int, NewAuditRecord]]) -> int:
        """Append what stands in an outbox, each row once however often it is offered; returns how many were new."""
        with self.db.transaction() as con:
            last = self.taken(source)
            new = [(no, record) for no, record in rows if no > last]
            if new:
                self.append([record for _, record in new])
                con.execute("INSERT OR REPLACE INTO taken VALUES(?, ?)", (source, new[-1][0]))
        return len(new)

    def erase(self, seqs: Sequence[int], *, subject: str | None = None) -> tuple[int, str | None]:
        """Destroy the contents of these records, or all of a subject with its key, in the caller's transaction.

        Returns how many contents went and the subject's reference; the caller appends the record that says so.
        """
        with self.db.joined() as con:
            ref = None
            if subject is not None:
                row = con.execute(
                    "SELECT ref FROM subjects WHERE lookup = ?", (self._lookup(subject),)
                ).fetchone()
                if row is not None:
                    ref = row[0]
                    con.execute(
                        "DELETE FROM contents WHERE seq IN (SELECT seq FROM entries WHERE subject = ?)",
                        (ref,),
                    )
                    count = con.changes + erase_archived(con, (), ref=ref)
                    con.execute("DELETE FROM subjects WHERE ref = ?", (ref,))
                    self._subjects.pop(subject, None)
                    return count, ref.hex()
                return 0, None
            count = 0
            for seq in seqs:
                con.execute("DELETE FROM contents WHERE seq = ?", (seq,))
                count += con.changes
            return count + erase_archived(con, seqs), None

    def erase_all(self) -> tuple[int, list[str]]:
        """Destroy all contents with the keys of all subjects, in the caller's transaction; as `erase` otherwise."""
        with self.db.joined() as con:
            refs = con.execute("SELECT ref FROM subjects ORDER BY ref").fetchall()
            con.execute("DELETE FROM contents WHERE true")
            count = con.changes + erase_archived(con, (), everything=True)
            con.execute("DELETE FROM subjects WHERE true")
            self._subjects.clear()
        return count, [ref.hex() for (ref,) in refs]

    def contents_of(self, subject: str) -> list[int]:
        """Return the numbers of a subject's records with contents, archived ones too."""
        row = self.db.query_one("SELECT ref FROM subjects WHERE lookup = ?", (self._lookup(subject),))
        return [] if row is None else self.gaps.contents_of(row[0])

    def with_contents(self, session: str, ticks: Sequence[tuple[int, int]] | None = None) -> list[int]:
        """Return the numbers of a session's records with contents, None: at whatever tick; archived ones too."""
        return self.gaps.with_contents(session, None if ticks is None else [list(tick) for tick in ticks])

    def _subject(self, con: Connection, name: str) -> Subject:
        """Return the subject of this name, made where there is none; asked for anew in each transaction."""
        lookup = self._lookup(name)
        row = con.execute("SELECT ref, key FROM subjects WHERE lookup = ?", (lookup,)).fetchone()
        if row is not None:
            known_subject = self._subjects.get(name)
            if known_subject is None or known_subject.ref != row[0]:
                ref = row[0]
                known_subject = self._subjects[name] = Subject(ref, self._unwrap(row[1], ref))
            return known_subject
        key = secrets.token_bytes(32)
        subject = Subject(ref_of(key), key)
        con.execute(
            "INSERT INTO subjects VALUES(?,?,?,?)",
            (
                subject.ref,
                self._wrap(name.encode("utf-8", "replace"), subject.ref),
                lookup,
                self._wrap(subject.key, subject.ref),
            ),
        )
        # Kept for later only when the transaction holds: a reference that was rolled back is looked up again.
        return subject

    def _lookup(self, name: str) -> bytes:
        if not self._key_opens:  # by another key nobody of the ledger would be found
            self.require_key()
            self._key_opens = True
        return self._keyed(name)

    def _keyed(self, name: str) -> bytes:
        return hmac.digest(
            self._keys.secret("wrapping_key"), b"subject\0" + name.encode("utf-8", "replace"), "sha256"
        )

    def _wrap(self, plain: bytes, ref: bytes) -> bytes:
        nonce = secrets.token_bytes(12)
        return nonce + self._wrapper().encrypt(nonce, plain, ref)

    def _unwrap(self, wrapped: bytes, ref: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        try:
            return self._wrapper().decrypt(wrapped[:12], wrapped[12:], ref)
        except (InvalidTag, ValueError) as error:  # ValueError: shorter than any that was wrapped
            raise IntegrityError(
                f"The key file {self._keys.path} does not open this ledger. Put the one back that belongs to it. "
                f"{GO_ON}"
            ) from error

    def require_key(self) -> None:
        """Raise `IntegrityError` where the key file is lost, damaged or another ledger's, and contents need it.

        One that opens any subject is the ledger's: that another was changed, `verify` says.
        """
        rows = self.db.query("SELECT ref, key FROM subjects ORDER BY ref")
        for at, (ref, key) in enumerate(rows, 1):
            try:
                self._unwrap(key, ref)
            except IntegrityError:
                if at == len(rows):
                    raise
            else:
                return

    def _wrapper(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._keys.secret("wrapping_key"))

    # Reading ----------------------------------------------------------------------------------------------------

    def size(self) -> int:
        """Return how many records there are."""
        row = self.db.query_one("SELECT size FROM state")
        return 0 if row is None else row[0]

    def head(self) -> Head:
        """Return where the ledger ends."""
        with self.db.read() as con:
            size, last, frontier = _state(con)
        return Head(size=size, last=last, root=frontier.root())

    def query(self, asked: LedgerQuery) -> list[AuditRecord]:
        """Return the records that hold, in their order, with contents that were not erased."""
        where, params = conditions(asked)
        with self.db.read() as con:
            rows = con.execute(
                "SELECT e.seq, e.body, e.hash, c.nonce, c.ciphertext, s.key, s.name, s.ref FROM entries e"
                " LEFT JOIN contents c ON c.seq = e.seq LEFT JOIN subjects s ON s.ref = e.subject"
                f" WHERE {where} ORDER BY e.seq LIMIT :limit OFFSET :offset",
                params,
            ).fetchall()
        return [self._record(row) for row in rows]

    def count(self, asked: LedgerQuery) -> int:
        """Return how many records hold, without limit and offset."""
        where, params = conditions(asked)
        named = {name: parameter for name, parameter in params.items() if name not in ("limit", "offset")}
        row = self.db.query_one(f"SELECT count(*) FROM entries e WHERE {where}", named)
        return 0 if row is None else row[0]

    def numbers(self, asked: LedgerQuery) -> list[int]:
        """Return the numbers of all records that hold, without limit and offset."""
        where, params = conditions(asked)
        named = {name: parameter for name, parameter in params.items() if name not in ("limit", "offset")}
        rows = self.db.query(f"SELECT e.seq FROM entries e WHERE {where} ORDER BY e.seq", named)
        return [row[0] for row in rows]

    def stored(self, seq: int) -> list[tuple[int, bytes, bytes | None, bytes | None]]:
        """Return number, bytes, nonce and ciphertext of a record; nothing for one that is not in the ledger."""
        return [
            (number, body, nonce, ciphertext)
            for number, body, _, nonce, ciphertext in self.gaps.leaving(seq, seq + 1)
        ]

    def details(self, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield number and details of the records of a kind."""
        rows = self.db.query(
            f"SELECT seq, body FROM entries WHERE kind = ? AND {EVENTS} ORDER BY seq", (kind,)
        )
        for seq, data in rows:
            yield seq, _detail(seq, data)

    def newest_details(self, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield what `details` does, the newest first, and read no more than is asked for."""
        before = self.size()
        while rows := self.db.query(
            f"SELECT seq, body FROM entries WHERE kind = ? AND {EVENTS} AND seq < ? ORDER BY seq DESC LIMIT ?",
            (kind, before, _PAGE),
        ):
            for seq, data in rows:
                yield seq, _detail(seq, data)
            before = rows[-1][0]

    def time_of(self, seq: int) -> datetime:
        """Return when a record was made."""
        row = self.db.query_one("SELECT at FROM entries WHERE seq = ?", (seq,))
        if row is None:
            raise LedgerBroken(f"Record audit-{seq} is missing. Run `hexad audit verify`.")
        return from_micros(row[0])

    def revealed(self, seq: int, data: bytes, nonce: bytes | None, ciphertext: bytes | None) -> AuditRecord:
        """Return a record of which the bytes and the ciphertext are in an archive."""
        ref = bytes.fromhex(json.loads(data)["subject"])
        row = self.db.query_one("SELECT key, name FROM subjects WHERE ref = ?", (ref,)) or (None, None)
        digest = hashlib.sha256(data).digest()
        return self._record((seq, data, digest, nonce, ciphertext if nonce else None, row[0], row[1], ref))

    def _record(self, row: Row) -> AuditRecord:
        data, digest, nonce, ciphertext, key, name, ref = row[1:]
        seq = row[0]
        record = json.loads(data)
        payload: dict[str, Any] = {}
        if ciphertext is not None and key is not None:
            payload = self._opened(
                seq, record, nonce, ciphertext,
                self._unwrap(key, ref),
            )  # fmt: skip
        known = None if name is None else self._unwrap(name, ref).decode()
        return AuditRecord(
            id=f"audit-{seq}",
            seq=seq,
            timestamp=from_micros(record["at"]),
            kind=record["kind"],
            session_id=record["session"],
            tick=record["tick"],
            event_type=None if record["event_type"] is None else EventType(record["event_type"]),
            subject=known or record["subject"],
            lens_activations=payload.get("lens_activations"),
            steering_applied=payload.get("steering_applied"),
            raw_content=payload.get("raw_content"),
            detail={**record["detail"], **payload.get("detail", {})},
            erased=record["payload"] is not None and not payload,
            prev_record_hash=record["prev"],
            record_hash=digest.hex(),
            four_field_hash=None
            if "raw_content" not in payload
            else four_field_hash(record["prev"], record["session"], record["tick"], payload["raw_content"]),
        )

    def _opened(
        self, seq: int, record: Mapping[str, Any], nonce: bytes, ciphertext: bytes, key: bytes
    ) -> dict[str, Any]:
        from cryptography.exceptions import InvalidTag

        salt, cipher = secrets_of(key, nonce, seq)
        try:
            plain = cipher.decrypt(ONE_USE, ciphertext, None)
        except InvalidTag as error:
            raise LedgerBroken(
                f"The contents of record audit-{seq} were changed. Run `hexad audit verify`."
            ) from error
        if hashlib.sha256(salt + plain).hexdigest() != record["payload"]["salted"]:
            raise LedgerBroken(f"The contents of record audit-{seq} are not those that it was made with.")
        return cast("dict[str, Any]", json.loads(plain))

    def shown(self, seq: int, nonce: bytes, ciphertext: bytes, ref: bytes) -> tuple[bytes, bytes] | None:
        """Return the salt and the text of a record's contents, which stand hashed in its bytes; None if erased."""
        row = self.db.query_one("SELECT key FROM subjects WHERE ref = ?", (ref,))
        if row is None:
            return None
        salt, cipher = secrets_of(self._unwrap(row[0], ref), nonce, seq)
        return salt, cipher.decrypt(ONE_USE, ciphertext, None)

    def whole_subjects(self) -> set[bytes]:
        """Return the references of the subjects whose name and key are those that they were made with."""
        whole = typed("ref blob, name blob, lookup blob, key blob")
        rows = self.db.query(f"SELECT ref, name, lookup, key FROM subjects WHERE {whole}")
        return {row[0] for row in rows if self._is_subject(*row)}

    def _is_subject(self, ref: bytes, name: bytes, lookup: bytes, key: bytes) -> bool:
        try:
            unwrapped = self._unwrap(name, ref).decode("utf-8", "replace")
            return ref_of(self._unwrap(key, ref)) == ref and self._keyed(unwrapped) == lookup
        except IntegrityError:
            return False

    def node(self, level: int, place: int, leaves: Mapping[int, bytes] | None = None) -> bytes:
        """Return the hash of a whole subtree (`checkpoint.Node`); raises `NotFound` where only an archive knows it.

        `leaves` are hashes of archived records, by their number, for whoever has the archive.
        """
        if level and not level % TILE_LEVEL:
            row = self.db.query_one("SELECT hash FROM tiles WHERE level = ? AND place = ?", (level, place))
            if row is None:
                raise LedgerBroken(f"The ledger's tree has no hash at level {level}, place {place}.")
            return bytes(row[0])
        below = level - level % TILE_LEVEL
        first, end = place << (level - below), (place + 1) << (level - below)
        if below:
            rows = self.db.query(
                "SELECT hash FROM tiles WHERE level = ? AND place >= ? AND place < ? ORDER BY place",
                (below, first, end),
            )
            hashes = [row[0] for row in rows]
            if len(hashes) != end - first:
                raise LedgerBroken(f"The ledger's tree has not all hashes of level {below} from {first} on.")
        else:
            rows = self.db.query(
                "SELECT hash FROM entries WHERE seq >= ? AND seq < ? ORDER BY seq", (first, end)
            )
            hashes = [leaf_hash(row[0]) for row in rows]
            if len(hashes) != end - first:
                return self.gaps.subtree(level, place, leaves or {})
        frontier = Frontier()
        for digest in hashes:
            frontier.append(digest)
        return fold(frontier.subtrees)


def _state(con: Connection) -> tuple[int, bytes, Frontier]:
    row = con.execute("SELECT size, last, frontier FROM state").fetchone()
    if row is None:
        raise LedgerBroken("The ledger has lost its state. Put a backup in its place.")
    size, last, edge = row
    return size, last, Frontier(size, [edge[at : at + 32] for at in range(0, len(edge), 32)])


def _detail(seq: int, body: bytes) -> dict[str, Any]:
    """Return what a record says in particular; raises `LedgerBroken` where it cannot be read."""
    try:
        detail: dict[str, Any] = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError) as error:
        raise LedgerBroken(f"Record audit-{seq} was changed. Run `hexad audit verify`.") from error
    return detail
