"""Where reviewers are let in: who may ask what of an open ledger, what is noted of it, and what signs for it."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.audit.archiving import Archiver
from hexad.audit.checkpoint import Verifier, verifier_of
from hexad.audit.open import OpenLedger
from hexad.audit.reviewers import REFUSED, SYSTEM, Reviewers
from hexad.audit.values import NewAuditRecord, Reviewer
from hexad.config import load_settings
from hexad.core.json_types import JSONValue
from hexad.database.encryption import cipher as crypto
from hexad.errors import AccessDenied
from hexad.redaction.masking import Masking
from hexad.redaction.redact import project_rules

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_NAME: Final = "hexad-ledger"


class Admission:
    """What the parts of `AuditLog` share."""

    def __init__(self, opened: OpenLedger) -> None:
        self.opened, self.ledger, self.clock = opened, opened.ledger, opened.clock
        self.reviewers = Reviewers(opened.ledger, opened.clock)

    def admitted(self, credential: str) -> Reviewer:
        """Return whose credential it is; raises `AccessDenied`, and that attempt is a record."""
        try:
            return self.reviewers.check(credential)
        except AccessDenied:
            name = str(credential).partition(":")[0][:128] if ":" in str(credential) else ""
            self.note(REFUSED, {"name": name})
            raise

    def admitted_to_all(self, credential: str, doing: str) -> Reviewer:
        """As `admitted`, for what concerns all of the ledger: a reviewer of some sessions is refused."""
        reviewer = self.admitted(credential)
        if reviewer.sessions is not None:
            self.note(REFUSED, {"name": reviewer.name, "doing": doing})
            raise AccessDenied(f"{reviewer.name} may read some sessions only, and so cannot {doing}.")
        return reviewer

    def note(self, kind: str, detail: dict[str, JSONValue]) -> int:
        """Append a record of what was done here, and return its number."""
        record = NewAuditRecord(kind=kind, at=self.clock.now(), subject=SYSTEM, detail=detail)
        return self.ledger.append([record])[0]

    @cached_property
    def signing_key(self) -> Ed25519PrivateKey:
        """What signs checkpoints and archives."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.opened.keys.secret("signing_seed"))

    @property
    def verifier(self) -> Verifier:
        """What checks them."""
        return verifier_of(self.signing_key, name=KEY_NAME)

    @property
    def origin(self) -> str:
        """The name of this ledger in checkpoints: of its key, so that no two ledgers share one."""
        return f"{KEY_NAME}/{self.verifier.key_id.hex()}"

    @cached_property
    def mask(self) -> Callable[[str], str]:
        """What takes secrets out of what is written here."""
        return masking(self.opened).text

    @cached_property
    def archiver(self) -> Archiver:
        """What makes and opens archives."""
        opened = self.opened
        # What lies in the store is sealed as its other files are. Elsewhere `hexad rekey` does not come: a key of the
        # ledger's own stays as it is.
        apart = crypto.FileCipher(hmac.digest(opened.keys.secret("wrapping_key"), b"archives", "sha256"))
        inside = None if opened.crypt is None else opened.crypt.cipher(crypto.AUDIT_DB)

        def seal_with(path: Path) -> crypto.FileCipher | None:
            if inside is None:
                return None
            is_inside = opened.store is not None and path.resolve().is_relative_to(opened.store.resolve())
            return inside if is_inside else apart

        return Archiver(
            self.ledger,
            self.clock,
            signing_key=self.signing_key,
            verifier=self.verifier,
            origin=self.origin,
            lock=opened.path / "archive.lock",
            ciphers=[apart] if inside is None else [apart, inside],
            seal_with=seal_with,
        )


def masking(opened: OpenLedger) -> Masking:
    """Return what takes out of all that a ledger keeps what its store's settings take out of everything else."""
    salt = hmac.digest(opened.keys.secret("wrapping_key"), b"redaction", "sha256")
    settings = load_settings(opened.store)
    return Masking(salt=lambda: salt, rules=project_rules(settings.pii, env_allow=settings.env_allow))
