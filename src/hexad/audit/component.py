"""The ledger's files, as the store puts them together with those of the other systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hexad.audit.open import DATABASE, FOLDER, KEYS, open_ledger
from hexad.audit.verify import gone, loss_of, noted_head
from hexad.database.component import Component, FileGroup, Treatment
from hexad.database.encryption.cipher import AUDIT_DB, SECRETS
from hexad.database.meta import Meta
from hexad.database.sqlite_setup import require_not_emptied
from hexad.database.store_context import StoreContext
from hexad.errors import IntegrityError


def _check_ledger(context: StoreContext) -> Iterator[str]:
    try:
        require_not_emptied(context.directory / FOLDER / DATABASE, beside=KEYS)
    except IntegrityError as error:
        yield str(error)
        return
    noted, path = noted_head(Meta(context.db)), context.directory / FOLDER
    if noted is None:
        return
    if not (path / DATABASE).exists():
        yield gone(path / DATABASE, noted)
        return
    opened = open_ledger(
        path, clock=context.clock, create=False, crypt=context.crypt, readonly=context.db.readonly
    )
    try:
        loss = loss_of(opened.ledger, path / DATABASE, noted)
    finally:
        opened.close()
    if loss is not None:
        yield loss


COMPONENT: Final = Component(
    name="audit",
    file_checks=(_check_ledger,),
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
