"""Who may read the ledger: reviewers with a name, a secret, an end and a scope. They are records of the ledger too."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from hexad.audit.ledger import Ledger
from hexad.audit.values import AuditRecord, NewAuditRecord, Reviewer
from hexad.core.arguments import parse_time, quoted
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.database.codec import from_micros, to_micros
from hexad.errors import AccessDenied, Conflict, InvalidInput, NotFound

ADDED: Final = "reviewer.added"
REVOKED: Final = "reviewer.revoked"
QUERY: Final = "reviewer.query"
EXPORT: Final = "reviewer.export"
REFUSED: Final = "reviewer.refused"
PLANNED: Final = "reviewer.erasure_plan"
SYSTEM: Final = "system"
"""The subject of records that are about no person and no session."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,127}")
_CHECKS_SECRET: Final = ("salt", "scrypt")
_SECRET_BYTES: Final = 24
# scrypt as RFC 7914 gives it for interactive use: about 50 ms and 16 MiB.
_N, _R, _P = 1 << 14, 8, 1


@dataclass(frozen=True, slots=True)
class _KnownReviewer:
    reviewer: Reviewer
    salt: bytes
    digest: bytes


def new_reviewer(
    name: str, *, expires_at: datetime | str | None, sessions: Sequence[str] | None, now: datetime
) -> Reviewer:
    """Return who may be added; raises `InvalidInput` for a name that cannot be used or a time that is over."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"A reviewer's name has letters, digits and . _ @ -, at most 128; not {quoted(name)}."
        )
    until = parse_time(expires_at, "expires_at")
    if until is not None and until <= now:
        raise InvalidInput(
            f"expires_at = {until.isoformat()} is over; give a later time.", argument="expires_at"
        )
    if sessions is not None and (
        isinstance(sessions, str)
        or not isinstance(sessions, Iterable)
        or not all(map(_is_text, sessions := tuple(sessions)))
    ):
        raise InvalidInput(
            f"sessions = {quoted(sessions)} are no sessions; give a list of their ids.",
            argument="sessions",
        )
    return Reviewer(name=name, added_at=now, expires_at=until, sessions=sessions)


class Reviewers:
    """The reviewers of one ledger."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger, self._clock = ledger, clock

    def add(
        self, name: str, *, expires_at: datetime | str | None = None, sessions: Sequence[str] | None = None
    ) -> str:
        """Add a reviewer and return the credential, `NAME:SECRET`: it is shown this once and kept as a hash only.

        `sessions` None lets the reviewer read everything. Raises `Conflict` for a name that is in use, `InvalidInput`
        for one that cannot be used or a time that is over.
        """
        now = self._clock.now()
        new = new_reviewer(name, expires_at=expires_at, sessions=sessions, now=now)
        reviewer = self._all().get(name)
        if reviewer is not None and not reviewer.reviewer.revoked:
            raise Conflict(f"There is a reviewer {name!r} already; revoke that one first.")
        secret, salt = secrets.token_urlsafe(_SECRET_BYTES), secrets.token_bytes(16)
        detail: dict[str, JSONValue] = {
            "name": name,
            "salt": base64.b64encode(salt).decode(),
            "scrypt": base64.b64encode(_digest(secret, salt)).decode(),
            "expires_at": None if new.expires_at is None else to_micros(new.expires_at),
            "sessions": None if new.sessions is None else list(new.sessions),
        }
        self._ledger.append([NewAuditRecord(kind=ADDED, at=now, subject=SYSTEM, detail=detail)])
        return f"{name}:{secret}"

    def revoke(self, name: str) -> None:
        """Let a reviewer read nothing any more; raises `NotFound`, and `Conflict` for one that was revoked."""
        reviewer = self._all().get(name) if isinstance(name, str) else None
        if reviewer is None:
            raise NotFound(
                f"There is no reviewer {quoted(name)}; `hexad audit reviewer list` shows who there is."
            )
        if reviewer.reviewer.revoked:
            raise Conflict(f"The reviewer {name!r} was revoked already; there is nothing to do.")
        self._ledger.append(
            [NewAuditRecord(kind=REVOKED, at=self._clock.now(), subject=SYSTEM, detail={"name": name})]
        )

    def list(self) -> list[Reviewer]:
        """Return the reviewers by name, revoked ones too."""
        return [reviewer.reviewer for _, reviewer in sorted(self._all().items())]

    def check(self, credential: str) -> Reviewer:
        """Return whose credential it is; raises `AccessDenied`, which does not say what was wrong with it."""
        name, _, secret = credential.partition(":") if isinstance(credential, str) else ("", "", "")
        reviewer = self._all().get(name)
        # An unknown name costs what a known one does: names cannot be found out by the time it takes.
        salt, digest = (bytes(16), bytes(32)) if reviewer is None else (reviewer.salt, reviewer.digest)
        right = hmac.compare_digest(_digest(secret, salt), digest)
        if reviewer is None or not right or reviewer.reviewer.revoked or self._expired(reviewer.reviewer):
            raise AccessDenied(
                "The ledger is for reviewers: this credential is unknown, wrong, expired or revoked."
            )
        return reviewer.reviewer

    def _expired(self, reviewer: Reviewer) -> bool:
        return reviewer.expires_at is not None and reviewer.expires_at <= self._clock.now()

    def _all(self) -> dict[str, _KnownReviewer]:
        events: list[tuple[int, str, dict[str, Any]]] = []
        for kind in (ADDED, REVOKED):
            events += [(seq, kind, detail) for seq, detail in self._ledger.details(kind)]
        reviewers: dict[str, _KnownReviewer] = {}
        for seq, kind, detail in sorted(events, key=lambda event: event[0]):
            name = detail["name"]
            if kind == REVOKED:
                if name in reviewers:
                    reviewer = reviewers[name]
                    reviewers[name] = replace(reviewer, reviewer=replace(reviewer.reviewer, revoked=True))
                continue
            expires = detail["expires_at"]
            reviewers[name] = _KnownReviewer(
                Reviewer(
                    name=name,
                    added_at=self._ledger.time_of(seq),
                    expires_at=None if expires is None else from_micros(expires),
                    sessions=detail["sessions"],
                ),
                base64.b64decode(detail["salt"]),
                base64.b64decode(detail["scrypt"]),
            )
        return reviewers


def without_secrets(record: AuditRecord) -> AuditRecord:
    """Return a record as an answer shows it: what checks a reviewer's secret stays in the ledger."""
    if record.kind != ADDED:
        return record
    shown = {name: value for name, value in record.detail.items() if name not in _CHECKS_SECRET}
    return replace(record, detail=shown)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _digest(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(secret.encode("utf-8", "replace"), salt=salt, n=_N, r=_R, p=_P, dklen=32)
