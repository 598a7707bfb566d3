"""A store's own files that a clone or an archive brought as links or pipes: refused, and nothing behind them is touched."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import hexad
from hexad.audit import AuditLogWriter
from hexad.database.encryption.inventory import inventory_of
from hexad.database.sqlite_setup import OWN_FOLDERS
from hexad.errors import IntegrityError, InvalidInput
from hexad.services import components
from programs import command

VICTIM = b"# settings of somebody\nexport EDITOR=vi\n"


@pytest.mark.parametrize(
    "name", ["memory.db", "memory.db-commit", "memory.db-wal", "keys.json", "open.lock", "audit/audit.db"]
)
@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("used", [True, False])
def test_a_link_in_the_place_of_a_stores_file_is_refused_and_what_it_leads_to_stays(
    tmp_path: Path, name: str, exists: bool, used: bool
) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "clone"
    store = folder / ".hexad"
    store.mkdir(parents=True)
    if used:
        with hexad.open(folder, embedder=None, background=False) as hx:
            hx.remember("The gate closes at nine.")
    if exists:
        victim.write_bytes(VICTIM)
    place = store / name
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(victim)

    with pytest.raises(InvalidInput, match=f"{place.name} is a link"):
        hexad.open(folder, embedder=None, background=False)

    assert victim.exists() == exists
    assert not exists or victim.read_bytes() == VICTIM


def test_a_pipe_in_the_place_of_the_database_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".hexad").mkdir()
    os.mkfifo(tmp_path / ".hexad" / "memory.db")

    for readonly in (False, True):
        with pytest.raises(InvalidInput, match=r"memory\.db is a pipe"):
            hexad.open(tmp_path, embedder=None, background=False, readonly=readonly)


@pytest.mark.parametrize("name", ["openers", "convert"])
def test_a_store_that_is_a_link_to_a_folder_of_somebody_costs_that_nothing(tmp_path: Path, name: str) -> None:
    files = {f"{name}/photo.jpg": VICTIM, f"{name}/123": VICTIM, "photo.jpg": VICTIM}
    for path, content in files.items():
        (tmp_path / "pictures" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pictures" / path).write_bytes(content)
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / ".hexad").symlink_to(tmp_path / "pictures")

    if name == "convert":
        with pytest.raises(InvalidInput, match="convert holds 123, which no change of the encryption left"):
            hexad.open(tmp_path / "clone", embedder=None, background=False)
    else:
        with hexad.open(tmp_path / "clone", embedder=None, background=False) as hx:
            assert hx.status().holders

    assert files == {path: (tmp_path / "pictures" / path).read_bytes() for path in files}


FOLDERS = [
    "audit",
    "cache",
    "convert",
    "documents",
    "exports",
    "openers",
    "spaces",
    "stream",
    "stream/log",
    "stream/segments",
]


@pytest.mark.parametrize("name", [*FOLDERS, "documents/guides", "exports/graft-1"])
def test_a_folder_of_a_store_that_is_a_link_is_refused_and_what_it_leads_to_stays(
    tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "settings").write_bytes(VICTIM)
    (victim / "vectors-000000000001").write_bytes(VICTIM)
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("The gate closes at nine.")
    place = tmp_path / ".hexad" / name
    if place.exists():
        shutil.rmtree(place)
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(victim)

    for readonly in (False, True):
        with pytest.raises(InvalidInput, match=f"{place.name} is a link"):
            hexad.open(tmp_path, embedder=None, background=False, readonly=readonly)
    with pytest.raises(InvalidInput, match=f"{place.name} is a link"):
        AuditLogWriter(tmp_path / ".hexad" / "audit", "writer")
    with pytest.raises(InvalidInput, match=f"{place.name} is a link"):
        hexad.encrypt(tmp_path, key=tmp_path / "new.key")

    assert {"settings", "vectors-000000000001"} == {path.name for path in victim.iterdir()}
    assert {VICTIM} == {path.read_bytes() for path in victim.iterdir()}


@pytest.mark.parametrize(
    "name",
    [
        "stream/segments/1.parquet", "stream/log/1.log", "stream/seal.lock", "cache/vectors-000000000001",
        "spaces/default.json", "exports/default.json", "documents/guides/gate.md", "audit/archives/1.jsonl",
        "openers/1-1-a", "maintain.lock",
    ],
)  # fmt: skip
@pytest.mark.parametrize("linked", [True, False])
def test_a_pipe_anywhere_in_a_store_is_refused_and_not_waited_for(
    tmp_path: Path, name: str, linked: bool
) -> None:
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("The gate closes at nine.")
    place, pipe = tmp_path / ".hexad" / name, tmp_path / "pipe"
    place.parent.mkdir(exist_ok=True, parents=True)
    os.mkfifo(pipe if linked else place)
    if linked:
        place.symlink_to(pipe)

    for readonly in (False, True):
        with pytest.raises(InvalidInput, match=f"{place.name} is a {'link' if linked else 'pipe'}"):
            hexad.open(tmp_path, embedder=None, background=False, readonly=readonly)


def test_a_single_document_or_export_may_be_a_link_to_a_file_and_a_store_as_a_whole_to_a_folder(
    tmp_path: Path,
) -> None:
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("The gate closes at nine.")
    (tmp_path / "elsewhere.md").write_text("Gates are shut at night.")
    for name in ("documents/guides/gate.md", "exports/gate.json", "spaces/gate.json"):
        (tmp_path / ".hexad" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / ".hexad" / name).symlink_to(tmp_path / "elsewhere.md")
    (tmp_path / ".hexad" / "exports" / "gone.json").symlink_to(tmp_path / "gone")
    (tmp_path / ".hexad").rename(tmp_path / "moved")
    (tmp_path / ".hexad").symlink_to(tmp_path / "moved")

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        assert hx.recall("gate")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_store_above_that_is_another_users_is_refused_unless_it_is_named(tmp_path: Path) -> None:
    here, store = tmp_path / "work", tmp_path / ".hexad"
    here.mkdir()
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("The gate closes at nine.")
    os.chown(store, 65_534, 65_534)

    with pytest.raises(
        InvalidInput, match=r"\.hexad, found above .*work, belongs to another user .*-C .*hexad init"
    ):
        hexad.open(here, embedder=None, background=False)
    told = command("recall", "gate", cwd=here)
    assert told.returncode and "belongs to another user" in told.stderr

    with hexad.open(tmp_path, embedder=None, background=False, create=False) as hx:
        assert hx.recall("gate")
    os.chown(here, 65_534, 65_534)  # all of the project is somebody's, as in a container
    with pytest.warns(UserWarning, match="has no store of its own"):
        hx = hexad.open(here, embedder=None, background=False, create=False)
    with hx:
        assert hx.recall("gate")
    os.chown(here, 0, 0)
    assert here / ".hexad" == hexad.init(here)
    with hexad.open(here, embedder=None, background=False) as hx:
        assert not hx.recall("gate")


@pytest.mark.parametrize("name", ["../../../profile", "{folder}/profile"])
def test_a_database_names_no_place_outside_of_its_store_for_a_document(tmp_path: Path, name: str) -> None:
    clone, name = tmp_path / "clone", name.format(folder=tmp_path)
    clone.mkdir()
    with hexad.open(clone, embedder=None, background=False) as hx:
        document = hx.xdb.documents.add_document("gate.md", "echo yours", "specification")
        changed(hx, "UPDATE documents SET path = ?", name)
    before = {path for path in tmp_path.rglob("*") if ".hexad" not in path.parts}

    with hexad.open(clone, embedder=None, background=False) as hx:
        assert ["as a file below" in problem for problem in hx.check()] == [True]
        for call in (hx.maintain, hx.xdb.documents.write_copies, hx.xdb.documents.read_copies):
            with pytest.raises(IntegrityError, match="made to reach other files"):
                call()
        with pytest.raises(IntegrityError, match="made to reach other files"):
            hx.xdb.documents.file(document.id)

    assert before == {path for path in tmp_path.rglob("*") if ".hexad" not in path.parts}


@pytest.mark.parametrize("table", ["stream_replaced_segments", "stream_segments"])
def test_a_database_names_no_place_outside_of_its_store_for_a_segment(tmp_path: Path, table: str) -> None:
    mine = tmp_path / "mine.parquet"
    mine.write_bytes(VICTIM)
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.xdb.start_session("monday")
        hx.xdb.record("output", "The gate closes at nine.", {})
        hx.xdb.flush()
        hx.xdb.seal()
        if table == "stream_segments":
            changed(hx, "UPDATE stream_segments SET name = ?", "../../../mine.parquet")
        else:
            changed(hx, "INSERT INTO stream_replaced_segments VALUES (?)", "../../../mine.parquet")

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        with pytest.raises(IntegrityError, match="made to reach other files"):
            hx.maintain()
        if table == "stream_segments":
            assert ["as a file below" in problem for problem in hx.check()] == [True]
            with pytest.raises(IntegrityError, match="made to reach other files"):
                hx.xdb.recall(session_id="monday")

    assert VICTIM == mine.read_bytes()


def changed(hx: hexad.Hexad, sql: str, name: str) -> None:
    with hx._services.db.transaction() as con:
        con.execute(sql, (name,))


def test_every_folder_of_a_store_is_looked_through() -> None:
    """What a component adds must not be left out: the list stands below the components, for a quick start."""
    folders = {name for name in inventory_of(components()).expected_names if "." not in name}

    assert folders | {"convert"} == set(OWN_FOLDERS)
