"""The ledger's files, as the store puts them together with those of the other systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Final

from hexad.audit.ledger import ERASURE
from hexad.audit.open import DATABASE, FOLDER, KEYS, note_key, open_ledger
from hexad.audit.reviewers import SYSTEM
from hexad.audit.values import NewAuditRecord
from hexad.audit.verify import gone, loss_of, noted_head
from hexad.core.json_types import JSONValue
from hexad.database import files
from hexad.database.component import Component, FileGroup, Treatment
from hexad.database.encryption.cipher import AUDIT_DB, SECRETS
from hexad.database.meta import ACCEPTED, LEDGER_KEY, Meta
from hexad.database.sqlite_setup import require_not_emptied
from hexad.database.store_context import StoreContext
from hexad.errors import AccessDenied, IntegrityError


def _check_ledger(context: StoreContext) -> Iterator[str]:
    try:
        require_not_emptied(context.directory / FOLDER / DATABASE, beside=KEYS)
    except IntegrityError as error:
        yield str(error)
        return
    noted, path = noted_head(Meta(context.db)), context.directory / FOLDER
    if not (path / DATABASE).exists():
        if noted is not None:
            yield gone(path / DATABASE, noted)
        return
    opened = open_ledger(
        path,
        clock=context.clock,
        create=False,
        crypt=context.crypt,
        readonly=context.db.readonly,
        known=_known(context),
    )
    try:
        if (loss := loss_of(opened.ledger, path / DATABASE, noted)) is not None:
            yield loss
        with suppress(AccessDenied):  # others may read it: the check of the store's own keys says that
            opened.ledger.require_key()
            opened.keys.require()
    except IntegrityError as error:
        yield str(error)
    finally:
        opened.close()


def _known(context: StoreContext) -> Callable[[], str | None]:
    return lambda: Meta(context.db).get(LEDGER_KEY)


def accept_lost_key(context: StoreContext) -> None:
    """Go on without what a lost key file opened: those contents are destroyed, and the ledger's own record says so.

    A key file that opens all that there is, or none where nothing needs one, is the ledger's from then on. One that
    does not is kept beside it.
    """
    path, meta = context.directory / FOLDER, Meta(context.db)
    if not (path / DATABASE).exists():
        if not (path / KEYS).exists():
            meta.forget(LEDGER_KEY)
        return
    at = context.clock.now()
    if _key_opens(context):
        _accept_key(context, at)
        return
    if (path / KEYS).exists():
        files.atomic_write(path / f"{KEYS}.unusable", (path / KEYS).read_bytes())
        files.unlink(path / KEYS)
    meta.forget(LEDGER_KEY)
    opened = open_ledger(path, clock=context.clock, create=False, crypt=context.crypt)
    try:
        with opened.db.transaction():
            contents, subjects = opened.ledger.erase_all()
            detail: dict[str, JSONValue] = {
                "contents": contents,
                "seqs": [],
                "subjects": [*subjects],
                "lost": KEYS,
            }
            opened.ledger.append([NewAuditRecord(kind=ERASURE, at=at, subject=SYSTEM, detail=detail)])
        note_key(meta, opened)
    finally:
        opened.close()
    _log_accepted(context, at)


def _accept_key(context: StoreContext, at: datetime) -> None:
    """Note the key file that there is in the place of the one that was noted, if that is another."""
    meta = Meta(context.db)
    opened = open_ledger(
        context.directory / FOLDER,
        clock=context.clock,
        create=False,
        crypt=context.crypt,
        known=_known(context),
    )
    try:
        opened.keys.require()
    except IntegrityError:
        meta.forget(LEDGER_KEY)
        note_key(meta, opened)
        _log_accepted(context, at)
    finally:
        opened.close()


def _log_accepted(context: StoreContext, at: datetime) -> None:
    with context.db.transaction():
        detail: dict[str, JSONValue] = {"by": context.actor.describe(), "files": [f"{FOLDER}/{KEYS}"]}
        Meta(context.db).log(ACCEPTED, detail, at=at)


def _key_opens(context: StoreContext) -> bool:
    opened = open_ledger(context.directory / FOLDER, clock=context.clock, create=False, crypt=context.crypt)
    try:
        opened.ledger.require_key()
    except IntegrityError:
        return False
    finally:
        opened.close()
    return True


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
