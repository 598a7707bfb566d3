"""What reviewers use: `AuditLog`. Every question needs a credential and becomes a record itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from hexad.audit.access import QUERY, REFUSED, SYSTEM, Reviewers
from hexad.audit.checkpoint import Checkpoint, Verifier, read_signed, sign, verifier_of
from hexad.audit.ledger import LedgerQuery
from hexad.audit.merkle import consistency_proof, inclusion_proof, root_of
from hexad.audit.place import open_ledger
from hexad.audit.verify import verify
from hexad.clock import Clock, SystemClock
from hexad.errors import AccessDenied, InvalidInput, NotFound
from hexad.model.audit import AuditRecord, NewAuditRecord, Reviewer, Verification
from hexad.model.experience import EventType
from hexad.model.memory import JSONValue
from hexad.model.parse import parse_choice, parse_time

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_NAME: Final = "hexad-ledger"
QUERY_LIMIT: Final = 100_000


class AuditLog:
    """Reads and checks a ledger (document 2, section 5.1). `path` is its folder or a store's; raises `NotFound`."""

    def __init__(self, path: Path | str, *, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._open = open_ledger(Path(path), clock=self._clock, create=False)
        self._ledger = self._open.ledger
        self.reviewers = Reviewers(self._ledger, self._clock)

    def query(
        self,
        *,
        reviewer_credential: str,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str, datetime | str] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        kinds: Sequence[str] | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[AuditRecord]:
        """Return records in their order, decrypted, as far as the reviewer's scope goes.

        The question, who asked it and how many records it showed are a record of the ledger before this returns.
        Raises `AccessDenied` for a credential that does not hold; that attempt is a record too.
        """
        if (
            not isinstance(limit, int)
            or not 1 <= limit <= QUERY_LIMIT
            or not isinstance(offset, int)
            or offset < 0
        ):
            raise InvalidInput(
                f"limit = {limit!r} and offset = {offset!r} must be whole numbers, the limit from 1 to {QUERY_LIMIT:,}."
            )
        reviewer = self._reviewer(reviewer_credential)
        types = (
            None
            if event_types is None
            else [parse_choice(EventType, one, "event_types") for one in event_types]
        )
        asked = LedgerQuery(
            sessions=None if session_id is None else [session_id],
            ticks=tick_range,
            times=_times(time_range),
            event_types=types,
            kinds=kinds,
            limit=limit,
            offset=offset,
        )
        found = self._ledger.query(_within(asked, reviewer))
        detail: dict[str, JSONValue] = {
            "reviewer": reviewer.name,
            "shown": len(found),
            "session": session_id,
            "ticks": None if tick_range is None else list(tick_range),
            "times": None if asked.times is None else [one.isoformat() for one in asked.times],
            "event_types": None if types is None else [one.value for one in types],
            "kinds": None if kinds is None else list(kinds),
        }
        self._note(QUERY, detail)
        return found

    def verify(
        self,
        *,
        checkpoints: Sequence[str] = (),
        verifiers: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Check every record; with `checkpoints` (signed notes kept elsewhere) also what a chain cannot show.

        `verifiers` are public keys in their text form; without any the ledger's own key checks the notes. Needs no
        credential: it shows no contents. Raises `IntegrityError` for a checkpoint that is not signed by them.
        """
        keys = [Verifier.parse(one) for one in verifiers] or [self._verifier()]
        return verify(
            self._ledger, checkpoints=[read_signed(one, keys) for one in checkpoints], progress=progress
        )

    def checkpoint(self) -> str:
        """Return a signed note of the ledger's size and tree hash, to be kept where nobody can change it."""
        head = self._ledger.head()
        made = Checkpoint(origin=self.origin, size=head.size, root=head.root)
        return sign(made, name=KEY_NAME, key=self._signing_key())

    @property
    def origin(self) -> str:
        """The name of this ledger in checkpoints: of its key, so that no two ledgers share one."""
        return f"{KEY_NAME}/{self._verifier().key_id.hex()}"

    @property
    def public_key(self) -> str:
        """The key that checks this ledger's checkpoints, in its text form `name+id+Base64`."""
        return str(self._verifier())

    def inclusion_proof(self, record_id: str, *, size: int | None = None) -> list[bytes]:
        """Return what shows that a record is in the tree of the first `size` records; raises `NotFound`."""
        total = self._ledger.head().size
        seq = _seq(record_id)
        covered = total if size is None else size
        if not 0 <= seq < covered <= total:
            raise NotFound(f"{record_id!r} is not among the first {covered} of {total} records.")
        return inclusion_proof(seq, covered, self._ledger.node)

    def consistency_proof(self, old: int, new: int | None = None) -> list[bytes]:
        """Return what shows that the tree of `old` records is the beginning of that of `new`, by default all."""
        total = self._ledger.head().size
        later = total if new is None else new
        if not 0 <= old <= later <= total:
            raise InvalidInput(f"{old} and {later} are no sizes of a ledger of {total} records.")
        return consistency_proof(old, later, self._ledger.node)

    def root(self, size: int) -> bytes:
        """Return the tree hash of the first `size` records."""
        total = self._ledger.head().size
        if not 0 <= size <= total:
            raise InvalidInput(f"{size} is no size of a ledger of {total} records.")
        return root_of(size, self._ledger.node)

    def close(self) -> None:
        """Let go of the ledger. Idempotent."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _reviewer(self, credential: str) -> Reviewer:
        try:
            return self.reviewers.check(credential)
        except AccessDenied:
            self._note(
                REFUSED, {"name": str(credential).partition(":")[0][:128] if ":" in str(credential) else ""}
            )
            raise

    def _note(self, kind: str, detail: dict[str, JSONValue]) -> None:
        made = NewAuditRecord(kind=kind, at=self._clock.now(), subject=SYSTEM, detail=detail)
        self._ledger.append([made])

    def _signing_key(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._open.keys.secret("signing_seed"))

    def _verifier(self) -> Verifier:
        return verifier_of(self._signing_key(), name=KEY_NAME)


def _within(asked: LedgerQuery, reviewer: Reviewer) -> LedgerQuery:
    """Return the question as far as the reviewer's scope goes."""
    if reviewer.sessions is None:
        return asked
    wanted = (
        reviewer.sessions
        if asked.sessions is None
        else [one for one in asked.sessions if one in reviewer.sessions]
    )
    return replace(asked, sessions=list(wanted))


def _times(given: tuple[datetime | str, datetime | str] | None) -> tuple[datetime, datetime] | None:
    if given is None:
        return None
    if isinstance(given, str) or len(given) != 2:
        raise InvalidInput(f"time_range = {given!r} is no range; give (since, until).")
    since, until = (parse_time(one, "time_range") for one in given)
    if since is None or until is None or since > until:
        raise InvalidInput(f"time_range = {given!r} is no range; give (since, until), the earlier first.")
    return since, until


def _seq(record_id: str) -> int:
    number = str(record_id).removeprefix("audit-")
    if not str(record_id).startswith("audit-") or not (number.isascii() and number.isdecimal()):
        raise InvalidInput(f"{record_id!r} is no record; ids look like audit-N.")
    return int(number)
