"""Incidents: spans of the ledger that somebody marked. Marks are records, and what they mark is never archived."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.audit.archived_records import ArchiveCandidate
from hexad.audit.checkpoint import Checkpoint, Verifier, leaf_hash, read_signed, verify_inclusion
from hexad.audit.ledger import Ledger, LedgerQuery
from hexad.audit.reviewers import SYSTEM
from hexad.audit.values import AuditRecord, Incident, IncidentExport, Mark, NewAuditRecord, Span
from hexad.core.arguments import parse_time, quoted
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.database import files
from hexad.database.codec import from_micros, to_micros
from hexad.errors import HexadError, IntegrityError, InvalidInput, NotFound

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


INCIDENT: Final = "incident"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_REASON_CHARS: Final = 10_000


def span_of(
    session: str | None,
    ticks: tuple[int, int] | None,
    times: tuple[datetime | str, datetime | str] | None,
    seqs: tuple[int, int] | None,
) -> Span:
    """Return a span of what was given; raises `InvalidInput` for one that marks nothing in particular."""
    if session is not None and (not isinstance(session, str) or not session):
        raise InvalidInput(f"session = {quoted(session)} is no session; give its id.", argument="session")
    for name, pair in (("ticks", ticks), ("seqs", seqs)):
        if pair is not None and not _is_range(pair):
            raise InvalidInput(
                f"{name} = {quoted(pair)} is no range; give (first, last), both from 0 on.", argument=name
            )
    if ticks is not None and session is None:
        raise InvalidInput("Ticks are counted in each session by itself: give the session, too.")
    if session is None and times is None and seqs is None:
        raise InvalidInput("An incident marks a session, times or records: give one of them.")
    return Span(
        session=session,
        ticks=None if ticks is None else (ticks[0], ticks[1]),
        times=times_of(times),
        seqs=None if seqs is None else (seqs[0], seqs[1]),
    )


def times_of(time_range: tuple[datetime | str, datetime | str] | None) -> tuple[datetime, datetime] | None:
    """Return two times in their order; raises `InvalidInput`."""
    if time_range is None:
        return None
    if not isinstance(time_range, tuple | list) or len(time_range) != 2:
        raise InvalidInput(
            f"time_range = {quoted(time_range)} is no range; give (since, until).", argument="time_range"
        )
    since, until = (parse_time(time, f"time_range[{at}]") for at, time in enumerate(time_range))
    if since is None or until is None or since > until:
        raise InvalidInput(
            f"time_range = {time_range!r} is no range; give (since, until), the earlier first.",
            argument="time_range",
        )
    return since, until


class Incidents:
    """The incidents of one ledger."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger, self._clock = ledger, clock

    def mark(
        self, name: str, span: Span, *, author: str, reason: str, mask: Callable[[str], str] = str
    ) -> Mark:
        """Mark a span; a name that is there gains one more. Raises `InvalidInput`."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidInput(
                f"An incident's name has letters, digits and . _ -, at most 128; not {quoted(name)}."
            )
        if not isinstance(reason, str) or not reason.strip() or len(reason) > _REASON_CHARS:
            raise InvalidInput(f"Say why it is an incident, in at most {_REASON_CHARS:,} characters.")
        detail: dict[str, JSONValue] = {
            "name": name,
            "author": author,
            "session": span.session,
            "ticks": None if span.ticks is None else list(span.ticks),
            "times": None if span.times is None else [to_micros(time) for time in span.times],
            "seqs": None if span.seqs is None else list(span.seqs),
        }
        record = NewAuditRecord(
            kind=INCIDENT,
            at=self._clock.now(),
            subject=SYSTEM,
            detail=detail,
            payload={"detail": {"reason": mask(reason)}},  # it may speak of persons: kept as contents are
        )
        (seq,) = self._ledger.append([record])
        return Mark(record_id=f"audit-{seq}", at=record.at, author=author, reason=mask(reason), span=span)

    def all(self) -> list[Incident]:
        """Return the incidents by name, with how many records of each are in the ledger."""
        marks: dict[str, list[Mark]] = {}
        query = LedgerQuery(kinds=[INCIDENT], limit=-1)
        for record in self._ledger.query(query):
            mark = Mark(
                record_id=record.id,
                at=record.timestamp,
                author=str(record.detail.get("author")),
                reason=str(record.detail.get("reason", "(erased)")),
                span=_span(dict(record.detail)),
            )
            marks.setdefault(str(record.detail["name"]), []).append(mark)
        return [
            Incident(name=name, marks=marks, records=len(self.numbers(mark.span for mark in marks)))
            for name, marks in sorted(marks.items())
        ]

    def asked(self, span: Span) -> LedgerQuery:
        """Return the question for the records of a span."""
        return LedgerQuery(
            sessions=None if span.session is None else [span.session],
            ticks=span.ticks,
            times=span.times,
            after=-1 if span.seqs is None else span.seqs[0] - 1,
            before=None if span.seqs is None else span.seqs[1] + 1,
        )

    def numbers(self, spans: Iterable[Span]) -> list[int]:
        """Return the numbers of the records of these spans that are in the ledger, each once, in their order."""
        numbers = set[int]()
        for span in spans:
            numbers.update(self._ledger.numbers(self.asked(span)))
        return sorted(numbers)

    def newest(self) -> int:
        """Return the number of the record that marked last, -1 where nothing is marked."""
        return max((seq for seq, _ in self._ledger.details(INCIDENT)), default=-1)

    def protector(self) -> Callable[[ArchiveCandidate], bool]:
        """Return what says whether a record is part of an incident."""
        spans = [_span(detail) for _, detail in self._ledger.details(INCIDENT)]
        anywhere = [_bounds(span) for span in spans if span.session is None]
        by_session: dict[str, list[_Bounds]] = {}
        for span in spans:
            if span.session is not None:
                by_session.setdefault(span.session, []).append(_bounds(span))

        def is_marked(candidate: ArchiveCandidate) -> bool:
            return _any(candidate, anywhere) or (
                candidate.session is not None and _any(candidate, by_session.get(candidate.session, ()))
            )

        return is_marked


_Bounds = tuple[tuple[int, int] | None, tuple[int, int] | None, tuple[int, int] | None]


def _bounds(span: Span) -> _Bounds:
    times = None if span.times is None else (to_micros(span.times[0]), to_micros(span.times[1]))
    return span.ticks, times, span.seqs


def _any(candidate: ArchiveCandidate, bounds: Iterable[_Bounds]) -> bool:
    for ticks, times, seqs in bounds:
        if (
            (ticks is None or (candidate.tick is not None and ticks[0] <= candidate.tick <= ticks[1]))
            and (times is None or times[0] <= candidate.at < times[1])
            and (seqs is None or seqs[0] <= candidate.seq <= seqs[1])
        ):
            return True
    return False


def _span(detail: dict[str, Any]) -> Span:
    times = detail["times"]
    return Span(
        session=detail["session"],
        ticks=_pair(detail["ticks"]),
        times=None if times is None else (from_micros(times[0]), from_micros(times[1])),
        seqs=_pair(detail["seqs"]),
    )


def _pair(ticks: Sequence[int] | None) -> tuple[int, int] | None:
    return None if ticks is None else (ticks[0], ticks[1])


def _is_range(value: object) -> bool:
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(type(bound) is int for bound in value)
        and 0 <= value[0] <= value[1] < 1 << 62
    )


FORM: Final = "hexad audit incident 1"
_SIGNED: Final = b"hexad audit incident\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A record with what proves its contents."""

    seq: int
    record: AuditRecord
    body: bytes
    salt: bytes | None = None
    contents: bytes | None = None
    is_archived: bool = False

    @classmethod
    def of(
        cls, ledger: Ledger, seq: int, body: bytes, nonce: bytes | None, ciphertext: bytes | None
    ) -> Shown:
        """Return a record of the ledger, decrypted."""
        shown = None
        if nonce is not None and ciphertext is not None:
            shown = ledger.shown(seq, nonce, ciphertext, bytes.fromhex(json.loads(body)["subject"]))
        return cls(
            seq=seq,
            record=ledger.revealed(seq, body, nonce, ciphertext),
            body=body,
            salt=None if shown is None else shown[0],
            contents=None if shown is None else shown[1],
        )

    @property
    def leaf(self) -> bytes:
        """The hash by which it stands in the tree."""
        return leaf_hash(hashlib.sha256(self.body).digest())


def lines(
    described: dict[str, Any], proved: Iterable[tuple[Shown, Sequence[bytes]]], *, key: Ed25519PrivateKey
) -> Iterator[bytes]:
    """Yield the file line by line."""
    digest = hashlib.sha256()
    for value in _values(described, proved):
        line = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        digest.update(line)
        yield line
    signature = base64.b64encode(key.sign(_SIGNED + digest.digest())).decode()
    yield json.dumps({"signature": signature}).encode() + b"\n"


def _values(
    described: dict[str, Any], proved: Iterable[tuple[Shown, Sequence[bytes]]]
) -> Iterator[dict[str, Any]]:
    yield {"form": FORM, **described}
    for record, proof in proved:
        yield {
            **record.record.to_dict(),
            "body": record.body.decode("utf-8", "replace"),
            "contents": None if record.contents is None else record.contents.decode("utf-8", "replace"),
            "salt": None if record.salt is None else record.salt.hex(),
            "proof": [base64.b64encode(each).decode() for each in proof],
        }


def check_incident(path: Path | str, *, verifiers: Sequence[str] = ()) -> IncidentExport:
    """Check an exported incident without the ledger: its signature, each record's place, bytes and contents.

    `verifiers` are public keys in their text form, one of which must have signed it; without any, compare `key` of the
    result with the one that you know. Raises `IntegrityError` where anything is wrong.
    """
    place = Path(path)
    if not place.is_file():
        raise NotFound(f"There is no exported incident at {place}.")
    with files.operation("read", place, "read"):
        data = place.read_bytes()
    body, _, last = data.removesuffix(b"\n").rpartition(b"\n")
    body += b"\n"
    given_verifiers = [Verifier.parse(key) for key in verifiers]
    try:
        header, *rest = [json.loads(line) for line in body.splitlines()]
        verifier = Verifier.parse(header["key"])
        known_verifiers = given_verifiers or [verifier]
        signature = base64.b64decode(json.loads(last)["signature"], validate=True)
        right = json.dumps({"signature": base64.b64encode(signature).decode()}).encode() == last
        if header["form"] != FORM or not right or data[-1:] != b"\n" or verifier not in known_verifiers:
            raise _wrong(place, "it is signed by another key, or in another form")
        _require_signed(verifier, signature, body)
        checkpoint = read_signed(header["checkpoint"], [verifier])
        for line in rest:
            _check(place, line, checkpoint)
        if len(rest) != header["records"]:
            raise _wrong(place, "it has not as many records as it says")
        return IncidentExport(
            path=place,
            name=header["incident"]["name"],
            records=len(rest),
            size=checkpoint.size,
            root=checkpoint.root.hex(),
            key=str(verifier),
        )
    except (ValueError, KeyError, TypeError, AttributeError, InvalidInput) as error:
        raise _wrong(place, "a line is none of such a file") from error


def _check(path: Path, entry: dict[str, Any], checkpoint: Checkpoint) -> None:
    body = entry["body"].encode("utf-8", "replace")
    stated = json.loads(body)
    proof = [base64.b64decode(sibling, validate=True) for sibling in entry["proof"]]
    digest = hashlib.sha256(body).digest()
    if digest.hex() != entry["record_hash"] or stated["seq"] != entry["seq"]:
        raise _wrong(path, f"{entry['id']} has another hash than its bytes")
    if not verify_inclusion(leaf_hash(digest), entry["seq"], checkpoint.size, proof, checkpoint.root):
        raise _wrong(path, f"{entry['id']} is not where its proof says")
    if entry["contents"] is None:
        if stated["payload"] is not None and not entry["erased"]:
            raise _wrong(path, f"the contents of {entry['id']} are missing")
        return
    contents = entry["contents"].encode("utf-8", "replace")
    if hashlib.sha256(bytes.fromhex(entry["salt"]) + contents).hexdigest() != stated["payload"]["salted"]:
        raise _wrong(path, f"the contents of {entry['id']} are not those that it was made with")
    plain = json.loads(contents)
    if any(
        entry[name] != plain.get(name) for name in ("raw_content", "lens_activations", "steering_applied")
    ):
        raise _wrong(path, f"{entry['id']} says something else than its contents")


def _require_signed(verifier: Verifier, signature: bytes, body: bytes) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(verifier.public_key).verify(
            signature, _SIGNED + hashlib.sha256(body).digest()
        )
    except InvalidSignature as error:
        raise ValueError("the signature does not hold") from error


def _wrong(path: Path, reason: str) -> HexadError:
    return IntegrityError(f"{path} is no exported incident, or was changed: {reason}.")
