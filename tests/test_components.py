"""Another system is a component in the list: every walk over the systems reaches what it hands over."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import hexad
from hexad import Hexad, StoreLocked, services
from hexad.core.erasure import ErasureBook, Selection
from hexad.database.component import (
    OF_SESSIONS,
    Component,
    Execute,
    ExportSection,
    FileGroup,
    HeldStore,
    Job,
    KeyChangeHooks,
    MemoryTable,
    Treatment,
    Unprepared,
    script,
)
from hexad.database.connection import Database
from hexad.database.encryption.record import KeyGiven, unlock
from hexad.database.store_context import StoreContext
from hexad.lifecycle import init_and_encrypt, key_change, schema
from opener import Opener

DDL = """
CREATE TABLE calls (
  no INTEGER PRIMARY KEY,
  memory_no INTEGER REFERENCES memories(no),
  session TEXT,
  callee TEXT NOT NULL
) STRICT
"""
OLD, NEW = bytes(range(32)), bytes(range(1, 33))
NEXT = schema.SCHEMA_VERSION + 1


class CallsEraser:
    def __init__(self, db: Database) -> None:
        self._db = db

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        with self._db.transaction() as con:
            removed = con.execute(
                "DELETE FROM calls WHERE session = ? RETURNING no", (selection.session,)
            ).fetchall()
            book.erased("calls", len(removed))


def _wrong(context: StoreContext) -> Iterator[str]:
    for (callee,) in context.db.query("SELECT callee FROM calls WHERE callee LIKE '% %'"):
        yield f"{callee!r} cannot be called."


def _wipe(db: Database, dry_run: bool) -> Mapping[str, int]:
    if not dry_run:
        with db.transaction() as con:
            con.execute("DELETE FROM calls")
    return {}


def _add(
    context: StoreContext, callee: str, *, memory_no: int | None = None, session: str | None = None
) -> None:
    with context.db.transaction() as con:
        con.execute(
            "INSERT INTO calls(memory_no, session, callee) VALUES(?, ?, ?)", (memory_no, session, callee)
        )


def callees(hx: Hexad) -> list[str]:
    return [callee for (callee,) in hx._services.db.query("SELECT callee FROM calls ORDER BY no")]


def _rename(hx: Hexad, callee: str) -> None:
    with hx._services.db.transaction() as con:
        con.execute("UPDATE calls SET callee = ?", (callee,))


def _write_graph(hx: Hexad) -> None:
    _add(hx._services.context, "written")


def _require_graph(store: HeldStore) -> None:
    if ("unwritable",) in list(store.execute("SELECT callee FROM calls", ())):
        raise Unprepared(f"{[file.name for file in store.files if file.purpose]} lack the graph.")


def _note_hash(execute: Execute, files: Mapping[str, tuple[int, str]]) -> None:
    for name, (_, digest) in files.items():
        if name.startswith("graph/"):
            execute("UPDATE calls SET callee = ? WHERE callee = 'written'", (digest,))


CODE_GRAPH = Component(
    name="code_graph",
    schema=(script(NEXT, DDL, "code graph"),),
    jobs=(
        Job(
            name="count calls",
            place=100,
            maintain=lambda systems, report: _add(systems.context, f"maintained_{report['handouts']}"),
            step=lambda systems, stop: _add(systems.context, f"stepped_{stop()}"),
        ),
    ),
    memory_tables=(MemoryTable(name="calls", counted_as="calls of memories"),),
    promises=(("SELECT no FROM calls WHERE callee = ''", "a call has no name"),),
    checks=(_wrong,),
    file_checks=(
        lambda context: (
            ["The graph's file is damaged."] if context.directory.joinpath("broken").exists() else []
        ),
    ),
    erasers=(CallsEraser,),
    export=(
        ExportSection(
            name="calls",
            tables=("calls",),
            columns="g.session, g.callee",
            source="calls g LEFT JOIN memories m ON m.no = g.memory_no",
            key="g.no",
            where=OF_SESSIONS.format("g.session"),
        ),
    ),
    counts=(
        lambda context: {"links_made_by": f"{context.db.query('SELECT count(*) FROM calls')[0][0]} calls"},
    ),
    session_looks=(lambda db, session: bool(db.query("SELECT 1 FROM calls WHERE session = ?", (session,))),),
    wipes=(_wipe,),
    files=(
        FileGroup(pattern="graph/*", form=Treatment.FILE, purpose="graph", label="code graph", place=50),
        FileGroup(pattern="graph.lock", form=Treatment.KEPT),
    ),
    key_changes=(
        KeyChangeHooks(folder="graph", prepare=_write_graph, require=_require_graph, note=_note_hash),
    ),
)


@pytest.fixture(autouse=True)
def code_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = (*services.components(), CODE_GRAPH)
    for module in (services, schema, key_change, init_and_encrypt):  # each loaded before the first is changed
        monkeypatch.setattr(module, "components", lambda: everything)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", NEXT)


def test_the_schema_has_its_tables(hx):
    assert [(NEXT, "code graph")] == hx._services.db.query(
        "SELECT number, name FROM schema_migrations ORDER BY number DESC LIMIT 1"
    )
    assert [] == callees(hx)


def test_maintain_and_the_background_do_its_jobs(opened):
    hx = opened()
    hx.maintain()
    assert ["maintained_0"] == callees(hx)

    hx._services._step(lambda: False)
    assert ["maintained_0", "stepped_False"] == callees(hx)


def test_a_check_looks_at_its_rows_and_files(hx):
    assert [] == hx.check()

    _add(hx._services.context, "not a name")
    (hx.path / "broken").touch()
    problems = hx.check()
    assert {"'not a name' cannot be called.", "The graph's file is damaged."} <= {*problems}

    (hx.path / "broken").unlink()
    _rename(hx, "")
    assert ["a call has no name"] == hx.check()
    _rename(hx, "main")


def test_a_purge_removes_and_counts_its_rows(hx):
    memory = hx.remember("main calls run.")
    no = hx._services.db.query("SELECT no FROM memories WHERE id = ?", (memory.id,))[0][0]
    _add(hx._services.context, "run", memory_no=no)
    _add(hx._services.context, "stop", session="s")

    receipt = hx.forget(memory.id, purge=True, confirm=True)
    assert 1 == {erased.place: erased.count for erased in receipt.erased}["calls of memories"]
    assert ["stop"] == callees(hx)

    for dry_run in (True, False):
        assert ["stop"] == callees(hx)
        receipt = hx.wipe("session", session="s", confirm=True, dry_run=dry_run).receipts[0]
        assert 1 == {erased.place: erased.count for erased in receipt.erased}["calls"]
    assert [] == callees(hx)


def test_an_export_tells_and_a_wipe_removes_its_rows(hx):
    _add(hx._services.context, "run", session="s")
    _add(hx._services.context, "stop")

    assert ["run", "stop"] == [item.value["callee"] for item in hx.export() if item.section == "calls"]
    assert ["run"] == [
        item.value["callee"] for item in hx.export("session", session="s") if item.section == "calls"
    ]

    hx.wipe("project", confirm=True)
    assert [] == callees(hx)


def test_the_status_has_its_counts(hx):
    _add(hx._services.context, "run")

    assert "1 calls" == hx.status().links_made_by


@pytest.fixture
def graph(opened: Opener) -> Iterator[Path]:
    """The file of the graph in a plain store that is closed."""
    hx = opened()
    hx.close()
    (hx.path / "graph").mkdir()
    (hx.path / "graph.lock").touch()
    path = hx.path / "graph" / "nodes"
    path.write_bytes(b"main -> run")
    yield path
    path.unlink(missing_ok=True)


def test_its_files_are_encrypted_and_get_new_keys(graph):
    store = graph.parent.parent
    hashes = []
    for change in (
        lambda: hexad.encrypt(store, key=OLD),
        lambda: hexad.rekey(store, key=OLD, new_key=NEW),
    ):
        assert change().left == ()
        hashes.append(hashlib.sha256(graph.read_bytes()).hexdigest())
    keys = unlock(store, KeyGiven.of(NEW))

    assert b"main -> run" == keys.cipher("graph").read(graph)
    assert "AES-256-GCM" == hexad.encryption_state(store).parts["code graph"]
    with hexad.open(store, key=NEW, embedder=None, background=False) as hx:
        assert hashes == callees(hx)
        assert [] == hx.check()
        assert b"main -> run" == b"".join(hx.decrypted(graph))
        graph.write_bytes(b"main -> stop")
        assert [f"{graph} is not encrypted"] == [problem.split(",")[0] for problem in hx.check()]
    hexad.decrypt(store, key=NEW)


def test_a_change_of_keys_waits_for_what_is_not_in_its_files(graph):
    store = graph.parent.parent
    with hexad.open(store, embedder=None, background=False) as hx:
        _add(hx._services.context, "unwritable")

    with pytest.raises(StoreLocked, match=r"'graph/nodes'.* lack the graph"):
        hexad.encrypt(store, key=OLD)
    with hexad.open(store, embedder=None, background=False) as hx:
        assert ["unwritable", *["written"] * 3] == callees(hx)


def test_every_migration_has_a_name_and_the_newest_is_the_version(monkeypatch):
    monkeypatch.undo()
    steps = schema.migrations()

    assert list(range(1, schema.SCHEMA_VERSION + 1)) == [migration.number for migration in steps]
    assert all(migration.name for migration in steps)
