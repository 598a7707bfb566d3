"""From the store to its ledger: what upkeep noted becomes records, each once, after the work was committed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hexad.audit.access import SYSTEM
from hexad.audit.place import open_ledger
from hexad.clock import Clock
from hexad.errors import HexadError
from hexad.model.audit import NewAuditRecord
from hexad.observe import log
from hexad.storage.meta import STORE_ID, Meta

_BATCH: Final = 1_000
MOVED: Final = "audit_moved"


def move_to_ledger(meta: Meta, directory: Path, *, clock: Clock) -> int:
    """Append the notes of maintenance that the ledger does not have yet; return how many those were.

    Killed in between, the next call goes on: the ledger itself says what it has taken. Where it cannot be written,
    they wait in the store. A store without notes gets no ledger by this.
    """
    if not meta.logged_after(int(meta.get(MOVED) or 0), limit=1):
        return 0
    try:
        return _move(meta, directory, clock=clock)
    except HexadError as error:
        log.warning(
            "The ledger could not take what upkeep noted; it stays in the store until then: %s", error
        )
        return 0


def _move(meta: Meta, directory: Path, *, clock: Clock) -> int:
    opened = open_ledger(directory / "audit", clock=clock, create=True)
    source = meta.get(STORE_ID) or "store"
    done = 0
    try:
        moved = opened.ledger.taken(source)
        while rows := meta.logged_after(moved, limit=_BATCH):
            made = [
                (no, NewAuditRecord(kind=what, at=at, subject=SYSTEM, detail=dict(detail)))
                for no, at, what, detail in rows
            ]
            done += opened.ledger.take(source, made)
            moved = rows[-1][0]
        meta.put(MOVED, str(moved))
    finally:
        opened.close()
    return done
