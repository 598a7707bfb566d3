"""From the store to its ledger: what upkeep noted becomes records, each once, after the work was committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from hexad.audit.admission import Admission
from hexad.audit.erase_contents import count_selected, destroy
from hexad.audit.ledger import Ledger
from hexad.audit.open import DATABASE as LEDGER_FILE
from hexad.audit.open import note_key, open_ledger
from hexad.audit.retention import Keeping
from hexad.audit.reviewers import SYSTEM
from hexad.audit.values import NewAuditRecord
from hexad.audit.verify import loss_of, note_head, noted_head
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.core.tracing import log
from hexad.database.encryption.cipher import StoreKeys
from hexad.database.erasure_book import ERASURE, Erasures
from hexad.database.meta import DOCUMENT, LEDGER_KEY, STORE_ID, Meta
from hexad.database.secure_delete import clear_pages, empty_log
from hexad.errors import HexadError, IntegrityError

_BATCH: Final = 1_000
MOVED: Final = "audit_moved"


def move_to_ledger(meta: Meta, directory: Path, *, clock: Clock, crypt: StoreKeys | None = None) -> int:
    """Append the notes of maintenance that the ledger does not have yet; return how many those were.

    Killed in between, the next call goes on: the ledger itself says what it has taken. Where it cannot be written,
    they wait in the store. A store without notes gets no ledger by this.
    """
    if not meta.logged_after(int(meta.get(MOVED) or 0), limit=1):
        return 0
    try:
        return _move(meta, directory, clock=clock, crypt=crypt)
    except HexadError as error:
        log.warning(
            "The ledger could not take what upkeep noted; it stays in the store until then: %s", error
        )
        return 0


def _move(meta: Meta, directory: Path, *, clock: Clock, crypt: StoreKeys | None) -> int:
    opened = open_ledger(
        directory / "audit", clock=clock, create=True, crypt=crypt, known=lambda: meta.get(LEDGER_KEY)
    )
    ledger, erasures = opened.ledger, Erasures(meta.database)
    source = meta.get(STORE_ID) or "store"
    done = 0
    try:
        if (loss := loss_of(ledger, opened.path / LEDGER_FILE, noted_head(meta))) is not None:
            raise IntegrityError(loss)
        moved = ledger.taken(source)
        while rows := meta.logged_after(moved, limit=_BATCH):
            works = erasures.for_ledger([no for no, _, what, _ in rows if what == ERASURE])
            # What an erasure takes from the ledger goes with its record, or the ledger would not verify in between.
            with ledger.db.transaction():
                taken = ledger.taken(source)
                made = [
                    (
                        no,
                        NewAuditRecord(
                            kind=what, at=at, subject=SYSTEM, detail={**_for_good(detail), **erasure}
                        ),
                    )
                    for no, at, what, detail in rows
                    if no > taken and (erasure := destroy(ledger, works.get(no, ()))) is not None
                ]
                done += ledger.take(source, made)
            moved = rows[-1][0]
        # What is noted must be there after lost power: this waits for what others wrote, and mends after a failed sync.
        with ledger.db.transaction():
            head = ledger.head()
        # Together, or what the ledger took before a kill would go on waiting here until there is another note.
        with meta.database.transaction():
            since = int(meta.get(MOVED) or 0)  # another process may have come this far, or farther
            meta.put(MOVED, str(max(since, moved)))
            note_head(meta, head)
            if noted := erasures.noted(since, moved):
                erasures.ledger_took(moved, _records_of(noted, ledger))
        note_key(meta, opened)
    finally:
        opened.close()
    return done


def note_ledger_key(meta: Meta, directory: Path, *, clock: Clock, crypt: StoreKeys | None) -> None:
    """Note which key file is the ledger's, where that is not known: another program, or an older version, made it."""
    try:
        opened = open_ledger(directory / "audit", clock=clock, create=False, crypt=crypt)
    except HexadError:  # who needs it is told
        return
    try:
        note_key(meta, opened)
    finally:
        opened.close()


def _records_of(noted: Mapping[str, tuple[int, int]], ledger: Ledger) -> dict[int, tuple[int, int]]:
    """Return the last record of each erasure by number, with how many contents its new records destroyed.

    `noted` has numbers and how many records are new, by id: one that went on later has several. These are the newest of
    the ledger: older ones, of which there may be many, are not read.
    """
    left = {erasure: new for erasure, (_, new) in noted.items()}
    records: dict[int, tuple[int, int]] = {}
    for seq, detail in ledger.newest_details(ERASURE):
        erasure = str(detail.get("id"))
        if left.get(erasure, 0):
            last, contents = records.get(noted[erasure][0], (seq, 0))
            records[noted[erasure][0]] = last, contents + int(detail.get("contents", 0))
            left[erasure] -= 1
        if not any(left.values()):
            break
    return records


def _for_good(detail: Mapping[str, JSONValue]) -> Mapping[str, JSONValue]:
    """Return what the ledger may keep of a note: no erasure reaches the detail of its records.

    Older versions noted all that a contract says; its limits stay.
    """
    contract = detail.get("contract")
    if not isinstance(contract, Mapping) or DOCUMENT not in contract:
        return detail
    return {**detail, "contract": {name: value for name, value in contract.items() if name != DOCUMENT}}


def ledger_contents(
    directory: Path, works: Sequence[Mapping[str, JSONValue]], *, clock: Clock, crypt: StoreKeys | None
) -> int:
    """Return how many contents the ledger would destroy for these, and destroy none."""
    if not works or not (directory / "audit" / LEDGER_FILE).exists():
        return 0
    opened = open_ledger(directory / "audit", clock=clock, create=False, crypt=crypt)
    try:
        with opened.db.read():
            return count_selected(opened.ledger, works)
    finally:
        opened.close()


def clear_ledger(directory: Path, *, clock: Clock, crypt: StoreKeys | None, patient: bool) -> bool:
    """Take out of the ledger's pages and its write-ahead log what was erased; False while somebody reads from it."""
    if not (directory / "audit" / LEDGER_FILE).exists():
        return True
    opened = open_ledger(directory / "audit", clock=clock, create=False, crypt=crypt)
    try:
        return clear_pages(opened.db, patient=patient) and empty_log(opened.db)
    finally:
        opened.close()


def apply_retention(directory: Path, *, clock: Clock, crypt: StoreKeys | None = None) -> int:
    """Move what a reviewer's policy lets go from the ledger to archives; return how many records moved.

    Where it cannot be done it is left for the next time, and said in the log.
    """
    if not (directory / "audit" / LEDGER_FILE).exists():
        return 0
    try:
        opened = open_ledger(directory / "audit", clock=clock, create=False, crypt=crypt)
        try:
            return sum(archive.records for archive in Keeping(Admission(opened)).retain())
        finally:
            opened.close()
    except HexadError as error:
        log.warning("Old records of the ledger could not be archived; they stay in it: %s", error)
        return 0
