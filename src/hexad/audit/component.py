"""The ledger's files, as the store puts them together with those of the other systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hexad.audit.open import DATABASE, FOLDER, KEYS, open_ledger
from hexad.database.component import Component, FileGroup, Treatment
from hexad.database.encryption.cipher import AUDIT_DB, SECRETS
from hexad.database.meta import GO_ON, LEDGER_SIZE, Meta
from hexad.database.sqlite_setup import require_not_emptied
from hexad.database.store_context import StoreContext
from hexad.errors import IntegrityError


def _check_ledger(context: StoreContext) -> Iterator[str]:
    try:
        require_not_emptied(context.directory / FOLDER / DATABASE, beside=KEYS)
    except IntegrityError as error:
        yield str(error)
        return
    noted, path = Meta(context.db).get(LEDGER_SIZE), context.directory / FOLDER
    if noted is None:
        return
    if not (path / DATABASE).exists():
        yield f"{path / DATABASE} is gone; it had {int(noted):,} records. Put a backup in its place. {GO_ON}"
    elif not context.db.readonly:
        opened = open_ledger(path, clock=context.clock, create=False, crypt=context.crypt)
        try:
            records = opened.ledger.size()
        finally:
            opened.close()
        if records < int(noted):
            yield (
                f"{path / DATABASE} has {records:,} records and had {int(noted):,}: its end was cut off, or it was "
                f"begun anew. Put a backup in its place. {GO_ON}"
            )


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
