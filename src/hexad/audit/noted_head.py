"""What a store notes of its ledger, a database of its own, so that one that was cut off or begun anew is missed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hexad.audit.checkpoint import root_of
from hexad.audit.ledger import Ledger
from hexad.database.meta import GO_ON, LEDGER_ROOT, LEDGER_SIZE, Meta

NotedHead = tuple[int, bytes | None]
"""How many records there were, and the hash of their tree; None where an older version noted the number alone."""
_RESTORE: Final = f"Put a backup in its place. {GO_ON}"


def note_head(meta: Meta, ledger: Ledger) -> None:
    """Note where the ledger ends at this moment."""
    head = ledger.head()
    with meta.database.joined():
        meta.put(LEDGER_SIZE, str(head.size))
        meta.put(LEDGER_ROOT, f"{head.size} {head.root.hex()}")


def noted_head(meta: Meta) -> NotedHead | None:
    """Return what was noted last; None where nothing was."""
    noted = meta.get(LEDGER_SIZE)
    if noted is None:
        return None
    size, _, root = (meta.get(LEDGER_ROOT) or "").partition(" ")
    return int(noted), bytes.fromhex(root) if size == noted else None


def gone(path: Path, noted: NotedHead) -> str:
    """Return in words that a ledger is not there any more."""
    return f"{path} is gone; it had {noted[0]:,} records. {_RESTORE}"


def loss_of(ledger: Ledger, path: Path, noted: NotedHead | None) -> str | None:
    """Return in words why the ledger in `path` does not go on from what was noted of it before; None where it does."""
    if noted is None:
        return None
    records, root = noted
    there = ledger.size()
    if there < records:
        return (
            f"{path} has {there:,} records and had {records:,}: its end was cut off, or it was begun anew. "
            f"{_RESTORE}"
        )
    if root is not None and root_of(records, ledger.node) != root:
        return (
            f"{path} has other records than before among its first {records:,}: it was begun anew, or it is another "
            f"store's. {_RESTORE}"
        )
    return None
