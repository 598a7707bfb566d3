"""The ledger's files, as the store puts them together with those of the other systems."""

from __future__ import annotations

from typing import Final

from hexad.database.component import Component, FileGroup, Treatment
from hexad.database.encryption.cipher import AUDIT_DB, SECRETS

COMPONENT: Final = Component(
    name="audit",
    files=(
        FileGroup(
            pattern="audit/audit.db",
            form=Treatment.DATABASE,
            purpose=AUDIT_DB,
            label="ledger (audit.db)",
            place=1,
        ),
        FileGroup(pattern="audit/audit.key", form=Treatment.FILE, purpose=SECRETS, hidden=True),
        FileGroup(pattern="audit/*", form=Treatment.FILE, purpose=AUDIT_DB, hidden=True),
    ),
)
