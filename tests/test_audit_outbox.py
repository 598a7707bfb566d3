"""What upkeep did becomes records of the ledger, each once, whatever happens in between."""

from __future__ import annotations

from pathlib import Path

from hexad import FrozenClock, Hexad
from hexad.audit import AuditLog
from hexad.audit.open import open_ledger
from hexad.audit.verify import noted_head
from hexad.database import files
from hexad.privacy.ledger_sync import MOVED, move_to_ledger
from opener import Opener


def kinds(hx: Hexad, clock: FrozenClock) -> list[str]:
    with AuditLog(hx.path, clock=clock) as log:
        assert log.verify().ok
        log.reviewers.add("rita")
    opened = open_ledger(hx.path / "audit", clock=clock, create=False)
    found = [kind for (kind,) in opened.db.query("SELECT kind FROM entries ORDER BY seq")]
    opened.close()
    return [str(kind) for kind in found if not str(kind).startswith("reviewer.")]


def test_what_a_store_did_is_on_the_ledger_when_it_is_closed(opened: Opener, clock: FrozenClock) -> None:
    hx = opened()
    hx.spaces.create("ops")
    hx.spaces.set_policy("ops", {"allow_delete": True})
    hx.spaces.delete("ops")
    hx.close()

    assert ["set_policy", "delete"] == kinds(hx, clock)[-2:]


def test_a_note_is_taken_once_however_often_it_is_offered(opened: Opener, clock: FrozenClock) -> None:
    hx = opened()
    hx.spaces.create("ops")
    hx.spaces.set_policy("ops", {"allow_delete": True})
    meta = hx._services.stores.meta
    first = move_to_ledger(meta, hx.path, clock=clock)
    meta.put(MOVED, "0")  # as after a kill between the two stores

    assert 1 <= first
    assert 0 == move_to_ledger(meta, hx.path, clock=clock)
    assert first == len(kinds(hx, clock))


def test_where_the_ledger_ends_is_noted_once_its_records_survive_lost_power(
    opened: Opener, clock: FrozenClock
) -> None:
    hx = opened()
    hx.spaces.create("ops")
    hx.spaces.set_policy("ops", {"allow_delete": True})
    meta, refuses = hx._services.stores.meta, [True]
    writes: list[str] = []

    def refuse_once(operation: str, path: Path) -> None:
        if path.name == "audit.db-wal" and operation in ("write", "fdatasync"):
            writes.append(operation)
            if operation == "fdatasync" and refuses and refuses.pop():
                raise OSError(5, "Input/output error")

    previous = files.set_hook(refuse_once)
    try:
        assert 0 == move_to_ledger(meta, hx.path, clock=clock)  # written, but maybe not on the disk
        assert noted_head(meta) is None

        move_to_ledger(meta, hx.path, clock=clock)
    finally:
        files.set_hook(previous)

    assert ["fdatasync", "write", "fdatasync"] == writes[
        :3
    ]  # a second sync of lost pages alone proves nothing
    assert noted_head(meta) is not None


def test_a_store_that_did_nothing_has_no_ledger(opened: Opener) -> None:
    hx = opened()
    hx.remember("Deploys happen on Tuesday.")
    hx.maintain()
    hx.close()

    assert not (hx.path / "audit").exists()


def test_work_is_done_where_the_ledger_cannot_be_written(opened: Opener, clock: FrozenClock) -> None:
    hx = opened()
    (hx.path / "audit").write_text("in the way")
    hx.spaces.create("ops")
    hx.spaces.set_policy("ops", {"allow_delete": True})
    hx.close()
    (hx.path / "audit").unlink()

    again = opened()
    again.spaces.set_policy("ops", {"allow_delete": False})
    again.close()

    assert ["set_policy", "set_policy"] == kinds(again, clock)[-2:]
