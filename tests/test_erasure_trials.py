"""A dry run is the real run undone: it says what that says, and leaves every row and every file as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import ErasureReceipt, FrozenClock, Hexad
from hexad.audit import AuditLogWriter
from hexad.audit.open import open_ledger
from hexad.database.connection import Database
from opener import Opener

ADA, BEN = "ada", "ben"
SEA = {"pack::Sea": 0.9}


def remember(hx: Hexad, folder: Path) -> None:
    """Memories of every kind, with what is made of them, rests on them and names them."""
    for number in range(6):
        hx.remember(
            f"Ada's note {number} about bees.",
            id=f"note-{number}",
            path=f"people/ada/{number}",
            tags=["bees"],
            data_subjects=[ADA],
            source_id=f"feed/{number}",
            metadata={"conversation_session": "monday"} if number % 2 else {},
        )
        if number:
            hx.link(f"note-{number}", f"note-{number - 1}", kind="related")
    hx.remember("Ada's note 1 says something else.", id="note-1")  # an earlier version
    hx.remember("Ben keeps cats.", id="stays", data_subjects=[BEN])
    hx.remember("Ben keeps cats.")  # evidence
    hx.remember("Bees and cats.", id="both", derived_from=["note-2", "stays"])
    hx.remember("Only bees.", id="only", derived_from=["note-3"])
    hx.remember("It rests on that.", id="resting")
    hx.link("resting", "note-4", kind="depends-on")
    hx.remember(
        "The limit is five.", id="limit", subject="billing", attribute="limit", value=5, data_subjects=[ADA]
    )
    hx.remember("The limit is nine.", subject="billing", attribute="limit", value=9, trust="tool")
    hx.forget("note-5")
    hx.feedback("note-2", "wrong")
    hx.embed_pending()
    hx.recall("bees", limit=20)
    folder.mkdir()
    turns = [{"session": "monday", "speaker": "Ann", "text": f"I saw {at} bees."} for at in range(5)]
    (folder.parent / "chat.jsonl").write_text("\n".join(map(json.dumps, turns)))
    (folder / "tea.md").write_text("# Tea\n\nAda likes tea.\n")
    for source in (folder, folder.parent / "chat.jsonl"):
        hx.ingest(source, space="inbox", tags=["chats"])
    hx.spaces.write_file("default")
    hx.spaces.export("default")
    hx.spaces.export("inbox")


def live(hx: Hexad, clock: FrozenClock) -> None:
    """Recorded experience in every tier, with what is said of it, and memories that tell of it."""
    xdb = hx.xdb
    for name, who in (("monday", ADA), ("tuesday", BEN), ("hot", ADA)):
        xdb.start_session(name, 100, data_subjects=[who], compaction=name != "hot")
        for at in range(300):
            xdb.record("output", f" {name}{at}", SEA, event_id=f"{name}-{at // 10}", role="assistant")
        xdb.tag("nice", tick_range=(3, 9), note="A note.")
        xdb.tag("nice", event_id=f"{name}-2")
        xdb.comment("A comment.", tick_range=(2, 5))
        if name != "hot":
            xdb.end_session()
        clock.advance(days=1)
    xdb.check_and_compress(max_storage_bytes=6_000)
    xdb.pin_window((3, 9), reason="It matters.")
    bud = xdb.create_bud_tag("Bud", "A bud.")
    xdb.tag(bud.id, tick_range=(20, 40), note="A note.")
    xdb.submit_graft(bud.id, "graft")
    xdb.export_submission("graft")
    for number in range(3):
        document = xdb.documents.add_document(
            f"{number}.md", "Of Ada.", "reference", data_subjects=[ADA], tags=["nice"]
        )
        if number:
            xdb.documents.update_document(document.id, "More of Ada.")
    xdb.remove_document(document.id)
    xdb.documents.write_copies()
    xdb.seal()
    xdb.start_session("late", 100, compaction=True)
    for at in range(300):
        xdb.record("output", f" late{at}", SEA, event_id=f"late-{at // 10}", role="assistant")
    xdb.record("output", "last", session_id="hot")
    hx.session.start("about bees", session_id="monday", data_subjects=[ADA])
    hx.session.snapshot()
    node = hx.honeycomb.add_node("a quay", [1.0])
    hx.honeycomb.access(node, session="monday")
    with AuditLogWriter(hx.path, "being", clock=clock) as writer:
        for session, subject in (("monday", None), ("monday", ADA), ("tuesday", ADA), ("wednesday", None)):
            writer.record(session, 1, "output", "said", {}, [], subject=subject)
    hx.maintain()
    if hx.count(space="default"):
        for memory in hx.memories(space="experience", status=None, limit=100):
            hx.link("note-0", memory.id, kind="related")
            hx.link(memory.id, "note-1", kind="related")
    xdb.flush()


SELECTIONS: tuple[dict[str, Any], ...] = (  # the narrow ones first: each finds what those before it left
    {"tag": "nothing"}, {"id_or_path": "note-2"}, {"path": "people/ada/4"}, {"source": "feed/3"},
    {"subject": ADA, "tag": "nice"}, {"tag": "nice"}, {"session": "late"}, {"session": "monday"}, {"subject": ADA},
    {"tag": "chats"}, {"before": "2026-01-02T12:00:00Z"}, {"space": "default"}, {"before": "2030-01-01"},
    {"subject": BEN},
)  # fmt: skip
OF_MEMORIES = {
    "memories", "chunks", "vectors", "links", "earlier versions", "evidence", "conversation turns", "feedback",
    "items of sources", "space files", "exports",
}  # fmt: skip
OF_EXPERIENCE = {
    "timesteps", "COLD records", "COLD records left without texts", "compactions", "tag applications", "comments",
    "notes of tag applications", "windows", "submissions", "sessions", "evidence packages", "documents",
    "working copies of documents", "working sets", "sessions of the honeycomb", "memories of experience",
    "contents of the ledger",
}  # fmt: skip


def rows_of(hx: Hexad) -> dict[str, list[Any]]:
    """Return every row of every table of the store and its ledger, those behind the indexes too."""
    context = hx._services.context
    rows = _rows("memory", context.db)
    if (context.directory / "audit" / "audit.db").exists():
        ledger = open_ledger(
            context.directory / "audit", clock=context.clock, create=False, crypt=context.crypt
        )
        rows |= _rows("ledger", ledger.db)
        ledger.close()
    return rows


def _rows(name: str, db: Database) -> dict[str, list[Any]]:
    tables = db.query(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    )
    return {f"{name} {table}": db.query(f'SELECT * FROM "{table}"') for (table,) in tables}


def files_of(hx: Hexad) -> dict[str, bytes]:
    """Return every file but logs of writes, whose rows are compared, and the counters of whose turn it is to write."""
    return {
        path.relative_to(hx.path).as_posix(): path.read_bytes()
        for path in hx.path.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm", "-commit"))
    }


def changed(before: tuple[Mapping[str, Any], ...], after: tuple[Mapping[str, Any], ...]) -> list[str]:
    return [
        name
        for old, new in zip(before, after, strict=True)
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]


def told(receipt: ErasureReceipt) -> Mapping[str, Any]:
    """Return what a receipt and the one of its dry run have in common."""
    return {
        "selection": receipt.selection, "actor": receipt.actor, "purge": receipt.purge,
        "erased": {entry.place: entry.count for entry in receipt.erased if entry.count},
        "kept": receipt.kept, "flagged": receipt.flagged,
    }  # fmt: skip


def filled(hx: Hexad, clock: FrozenClock, tmp_path: Path, shape: str) -> Hexad:
    remember(hx, tmp_path / "inbox")
    if shape == "everything":
        live(hx, clock)
    return hx


@pytest.mark.parametrize("few", [False, True], ids=["at once", "in batches"])
@pytest.mark.parametrize("shape", ["memories", "everything"])
def test_a_dry_run_says_what_the_run_says_and_changes_nothing(
    hx: Hexad, clock: FrozenClock, tmp_path: Path, shape: str, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(hx, clock, tmp_path, shape)
    if few:
        monkeypatch.setattr("hexad.privacy.memory_eraser.STEP", 2)
        monkeypatch.setattr("hexad.privacy.memory_eraser._TRIED_AT_ONCE", 2)
    places: set[str] = set()
    # Of memories alone nothing is Ben's any more once all the others are gone: there would be nobody to be found.
    for selection in SELECTIONS if shape == "everything" else SELECTIONS[:-1]:
        before = rows_of(hx), files_of(hx)
        planned = hx.forget(**selection, purge=True, dry_run=True)
        archived = hx.forget(**selection, purge=False, dry_run=True)
        assert [] == changed(before, (rows_of(hx), files_of(hx))), selection

        receipt = hx.forget(**selection, purge=True, confirm=True)

        assert told(planned) == told(receipt), selection
        assert ("dry-run", {0}, ()) == (
            planned.id,
            {*(entry.bytes for entry in planned.erased), 0},
            planned.files,
        )
        assert {entry.place for entry in archived.kept} <= {entry.place for entry in planned.erased}
        assert planned.verify() and archived.verify()
        places |= {entry.place for entry in receipt.erased}
    assert set() == OF_MEMORIES - places
    assert set() == (OF_EXPERIENCE if shape == "everything" else set()) - places
    assert 0 == hx.count(status=None) == len(hx.xdb.sessions())


def test_a_dry_run_of_archiving_says_what_is_archived_and_what_is_kept(
    hx: Hexad, clock: FrozenClock, tmp_path: Path
) -> None:
    filled(hx, clock, tmp_path, "everything")
    for selection in SELECTIONS:
        planned = hx.forget(**selection, dry_run=True, purge=False)
        receipt = hx._services.erasure().forget(_by_id(selection), purge=False, confirm=False, dry_run=False)
        assert told(planned) == told(receipt), selection


def test_a_dry_run_of_a_store_that_is_only_read_says_the_same_of_memories_and_documents(
    hx: Hexad, opened: Opener, clock: FrozenClock, tmp_path: Path
) -> None:
    filled(hx, clock, tmp_path, "everything")
    reader = opened(readonly=True)
    before = rows_of(hx), files_of(hx)
    for selection in ({"path": "people/ada"}, {"source": "feed/"}, {"space": "default"}, {"tag": "bees"}):
        for purge in (True, False):
            planned = hx.forget(**selection, purge=purge, dry_run=True)
            assert told(planned) == told(reader.forget(**selection, purge=purge, dry_run=True)), selection
    assert [] == changed(before, (rows_of(hx), files_of(hx)))


def test_a_dry_run_gives_a_store_no_key_file_and_the_ledger_no_record(opened: Opener) -> None:
    with opened() as hx:
        hx.remember("Of Ada.", id="mine", data_subjects=[ADA])
    keys = (hx.path / "keys.json").read_bytes()
    (hx.path / "keys.json").unlink()
    with pytest.warns(UserWarning, match=r"keys\.json is gone"):
        again = opened()

    assert 1 == again.forget(subject=ADA, purge=True, dry_run=True).count("memories")

    assert not (hx.path / "keys.json").exists()
    assert not (hx.path / "audit").exists()
    assert "mine" == again.recall("Ada")[0].memory.id
    (hx.path / "keys.json").touch(mode=0o600)
    (hx.path / "keys.json").write_bytes(keys)


@pytest.mark.parametrize("batch", [2, 100])
def test_links_and_exports_of_what_is_named_and_of_what_tells_of_it_count_once(
    hx: Hexad, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    hx.xdb.start_session("monday", 100, data_subjects=[ADA], compaction=True)
    for at in range(300):
        hx.xdb.record("output", f" monday{at}", SEA, event_id=f"monday-{at // 10}", role="assistant")
    hx.maintain()
    telling = [memory.id for memory in hx.memories(space="experience", status=None)]
    for number in range(3):
        hx.remember(f"Of Ada {number}.", id=f"note-{number}", space="experience", data_subjects=[ADA])
        hx.link(f"note-{number}", telling[0], kind="related")
    hx.spaces.export("experience")
    monkeypatch.setattr("hexad.privacy.memory_eraser.STEP", batch)
    monkeypatch.setattr("hexad.privacy.memory_eraser._TRIED_AT_ONCE", batch)

    planned = hx.forget(subject=ADA, purge=True, dry_run=True)

    assert told(planned) == told(hx.forget(subject=ADA, purge=True, confirm=True))
    counts = {
        place: planned.count(place) for place in ("memories", "memories of experience", "links", "exports")
    }
    assert {"memories": 3, "memories of experience": len(telling), "links": 3, "exports": 1} == counts


def test_feedback_of_a_person_on_a_memory_about_them_is_counted_once(opened: Opener) -> None:
    with opened() as hx:
        hx.remember("Of Ada.", id="mine", data_subjects=[ADA])
    with hexad.open(hx.path.parent, embedder=None, background=False, actor={"user": ADA}) as adas:
        adas.feedback("mine", "wrong")
    again = opened()

    planned = again.forget(subject=ADA, purge=True, dry_run=True)

    assert told(planned) == told(again.forget(subject=ADA, purge=True, confirm=True))
    assert 1 == planned.count("feedback")


def _by_id(selection: dict[str, Any]) -> dict[str, Any]:
    return {"id" if name == "id_or_path" else name: value for name, value in selection.items()}
