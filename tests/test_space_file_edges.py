"""Files of spaces where others are about: kills, races, files that are not to be touched, names that are long."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import Conflict, FrozenClock, Hexad, IntegrityError, InvalidInput, NotFound
from hexad.ingest.write.prepare import PreparedDraft
from hexad.memory.memory import Memory
from hexad.spaces.files.importer import SpaceImporter
from opener import Opener
from tables import everything_stored

LONGEST = ("é" * 120, "日" * 80, "a" + "/d" * 59)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


# Names ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("L013", "L014")
@pytest.mark.parametrize("name", LONGEST, ids=["two bytes", "three bytes", "slashes"])
def test_the_longest_names_have_files_too(hx: Hexad, opened: Opener, tmp_path: Path, name: str) -> None:
    hx.remember("Rosa cooks.", space=name)
    file = hx.spaces.write_file(name)
    export = hx.spaces.export(name)

    other = opened(tmp_path)

    assert [f"{name.replace('/', '%2F')}.json"] == names_in(file.parent) == names_in(export.path.parent)
    assert 1 == other.spaces.restore(export.path).read.created


# What a kill leaves -----------------------------------------------------------------------------------------------

KILLED = """
import os, sys, hexad
with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    getattr(hx.spaces, sys.argv[2])("docs", progress=lambda done: os.kill(os.getpid(), 9))
"""


@pytest.fixture
def killed(project: Path, hx: Hexad) -> Callable[[str], Path]:
    """A process that was killed while it wrote a space's file, or an export; returns the folder it wrote to."""
    hx.remember("Rosa cooks soup.", space="docs")

    def kill(call: str) -> Path:
        process = subprocess.run([sys.executable, "-c", KILLED, str(project), call], check=False)
        assert -9 == process.returncode
        folder = hx.path / ("spaces" if call == "write_file" else "exports")
        assert 1 == len(names_in(folder))
        assert names_in(folder)[0].endswith(".tmp")
        return folder

    return kill


@pytest.mark.row("L013", "L051")
@pytest.mark.parametrize("call", ["write_file", "export"])
def test_the_next_write_removes_what_a_killed_one_left(
    hx: Hexad, killed: Callable[[str], Path], call: str
) -> None:
    folder = killed(call)

    getattr(hx.spaces, call)("docs")

    assert ["docs.json"] == names_in(folder)


@pytest.mark.row("L054")
@pytest.mark.parametrize("call", ["write_file", "export"])
def test_a_deleted_space_leaves_no_half_written_file(
    hx: Hexad, killed: Callable[[str], Path], call: str
) -> None:
    folder = killed(call)
    hx.spaces.set_policy("docs", {"allow_delete": True})

    hx.spaces.delete("docs")

    assert [] == names_in(folder)


@pytest.mark.row("L013")
def test_what_somebody_still_writes_is_left_alone(hx: Hexad, opened: Opener) -> None:
    hx.remember("Rosa cooks soup.", space="docs")
    second = opened()

    def write_too(_done: int) -> None:
        second.spaces.write_file("docs")

    first = hx.spaces.write_file("docs", progress=write_too)

    assert ["docs.json"] == names_in(first.parent)
    assert "docs" == json.loads(first.read_text())["name"]


@pytest.mark.row("L013", "L051")
def test_only_what_hexad_left_is_removed(hx: Hexad) -> None:
    hx.remember("Rosa cooks soup.", space="docs")
    hx.spaces.write_file("docs")
    folder = hx.path / "spaces"
    others = [
        ".docs.json.tmp",
        ".docs.json.0123.tmp",
        ".docs.json.0123456789abcd.tmp",
        ".other.json.0123456789ab.tmp",
    ]
    for name in others:
        (folder / name).write_text("mine")

    hx.spaces.write_file("docs")

    assert sorted([*others, "docs.json"]) == names_in(folder)


# Races ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("L054")
def test_a_space_that_is_deleted_while_its_file_is_written_leaves_none(hx: Hexad, opened: Opener) -> None:
    hx.remember("Rosa cooks soup.", space="docs")
    hx.spaces.set_policy("docs", {"allow_delete": True})
    other = opened()

    def delete(_done: int) -> None:
        other.spaces.delete("docs")

    with pytest.raises(NotFound, match="'docs'"):
        hx.spaces.write_file("docs", progress=delete)

    assert [] == names_in(hx.path / "spaces")


@pytest.mark.row("L046", "L051")
def test_a_file_that_comes_while_an_export_is_written_is_not_replaced(hx: Hexad, tmp_path: Path) -> None:
    hx.remember("Rosa cooks soup.", space="docs")
    out = tmp_path / "docs.json"

    def come(_done: int) -> None:
        out.write_text("mine")

    with pytest.raises(Conflict, match="left as it is"):
        hx.spaces.export("docs", out, progress=come)

    assert ("mine", ["docs.json"]) == (out.read_text(), [n for n in names_in(tmp_path) if "docs" in n])


# What an export must not touch, and must not forget ---------------------------------------------------------------


@pytest.mark.row("L046", "L051")
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    "name", ["keys.json", "memory.db", "memory.db-journal", "spaces/docs.json", "cache/x.json", "x.json", "."]
)
def test_an_export_goes_nowhere_among_the_stores_own_files(hx: Hexad, name: str, force: bool) -> None:
    hx.remember("Rosa cooks soup.", space="docs")
    hx.spaces.write_file("docs")
    before = {path: path.stat().st_ino for path in hx.path.rglob("*")}

    with pytest.raises(InvalidInput, match=r"the store's own files|names a folder"):
        hx.spaces.export("docs", hx.path / name, force=force)

    assert before == {path: path.stat().st_ino for path in hx.path.rglob("*")}


@pytest.mark.row("L046", "L051")
def test_an_export_path_that_no_file_can_have_is_named(hx: Hexad, tmp_path: Path) -> None:
    hx.remember("Rosa cooks soup.", space="docs")

    with pytest.raises(InvalidInput, match="Choose another file"):
        hx.spaces.export("docs", tmp_path / "a\0b.json")


@pytest.mark.row("L046", "L054")
@pytest.mark.parametrize(
    ("export_path", "left"),
    [
        ("out/<space>/x.json", "out/docs/x.json"),
        ("out/", "out/docs.json"),
        ("out.json", "out.json"),
        (".hexad/exports/docs.json", ".hexad/exports/docs.json"),
    ],
)
def test_a_delete_names_the_exports_that_it_leaves(
    hx: Hexad, project: Path, export_path: str, left: str
) -> None:
    hx.remember("Rosa cooks soup.", space="docs")
    hx.spaces.set_policy("docs", {"allow_delete": True, "export_path": export_path})
    hx.spaces.export("docs")

    assert (str(project / left),) == hx.spaces.delete("docs").exports_left
    assert (project / left).exists()


@pytest.mark.row("L046", "L054")
@pytest.mark.parametrize("export_path", ["link/", "link/x.json", "n" * 5_000])
def test_a_delete_looks_for_exports_only_where_one_may_be(
    hx: Hexad, project: Path, tmp_path: Path, export_path: str
) -> None:
    (tmp_path / "x.json").write_text("mine")
    (project / "link").symlink_to(tmp_path)
    hx.remember("Rosa cooks soup.", space="docs")
    hx.spaces.set_policy("docs", {"allow_delete": True, "export_path": export_path})

    assert () == hx.spaces.delete("docs").exports_left


# Signatures -------------------------------------------------------------------------------------------------------


@pytest.mark.row("L052")
@pytest.mark.parametrize(
    "key", ["01" + "00" * 31, "00" * 32, "ec" + "ff" * 30 + "7f", "01" + "00" * 30 + "80"]
)
def test_a_key_under_which_everything_is_signed_signs_nothing(hx: Hexad, tmp_path: Path, key: str) -> None:
    hx.remember("Rosa cooks soup.", space="docs")
    export = hx.spaces.export("docs", tmp_path / "docs.json")
    bundle = json.loads(export.path.read_text())
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps({**bundle, "public_key": key, "signature": "01" + "00" * 63}))

    with pytest.raises(IntegrityError, match="signature does not fit"):
        hexad.verify_export(forged)


# Other people's files ---------------------------------------------------------------------------------------------

TIMES = {"created_at": "2025-12-01T11:32:00Z", "updated_at": "2025-12-01T12:04:00Z"}
SOUP: dict[str, object] = {
    "metadata": {"project": "kitchen"}, "raw": "Rosa cooks soup.", "id": "r1", "path": "kitchen/soup", "kind": "note",
    "summary_micro": "Soup", "summary_short": "Soup by Rosa", "summary_long": "Rosa cooks soup.", **TIMES,
}  # fmt: skip
"""An object that leaves nothing to the store that reads it."""


@pytest.mark.row("L053", "L156")
@pytest.mark.parametrize(
    "document",
    [
        {**TIMES, "objects": [SOUP], "name": "docs", "x": 1},
        {"x": 1, "objects": [SOUP], **TIMES},
        {"metadata": {"a": 1}, **TIMES, "policies": {"zz": 1}, "objects": [], "name": "docs"},
    ],
    ids=["name last", "no name", "no objects"],
)
def test_a_restored_space_writes_the_same_file_whatever_the_order_of_its_keys(
    hx: Hexad, opened: Opener, tmp_path: Path, document: dict[str, object]
) -> None:
    file = tmp_path / "docs.json"
    file.write_text(json.dumps(document))
    hx.spaces.read_file(file)
    written = hx.spaces.write_file("docs").read_bytes()
    export = hx.spaces.export("docs", tmp_path / "export.json")

    other = opened(tmp_path)
    other.spaces.restore(export.path)

    assert json.dumps(document) == json.dumps(json.loads(written))
    assert written == other.spaces.write_file("docs").read_bytes()


@pytest.mark.row("L013", "L158")
@pytest.mark.parametrize("said", ["lexon demo", "a" * 200, "CON", "../x"])
def test_a_file_whose_space_cannot_be_called_so_is_read_under_another_name(
    hx: Hexad, tmp_path: Path, said: str
) -> None:
    file = tmp_path / "a b.json"
    file.write_text(
        json.dumps({"name": said, "objects": [{"raw": "Rosa cooks.", "metadata": {"space": said}}]})
    )

    with pytest.raises(hexad.InvalidSpace):
        hx.spaces.read_file(file)
    report = hx.spaces.read_file(file, name="demo")

    assert ("demo", 1, ["demo"]) == (report.space, report.created, [space.name for space in hx.spaces.list()])
    assert 1 == hx.spaces.read_file(file, name="demo").unchanged
    with pytest.raises(hexad.InvalidSpace):
        hx.spaces.read_file(file, name=said)


# What a file leaves open ------------------------------------------------------------------------------------------

KEYS = ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLF")


def saved(folder: Path, *objects: dict[str, object]) -> Path:
    file = folder / "rt.json"
    file.write_text(json.dumps({"name": "rt", "objects": objects}))
    return file


@pytest.mark.row("L005", "L040", "L053")
def test_objects_without_id_that_held_secrets_are_no_others_when_they_are_read_back(
    hx: Hexad, opened: Opener, tmp_path: Path
) -> None:
    file = saved(
        tmp_path, *({"raw": f"key {key} is here"} for key in KEYS), {"raw": "key [REDACTED:x] is here"}
    )
    other = opened(tmp_path)

    assert 3 == hx.spaces.read_file(file).created
    ids = sorted(memory.id for memory in hx.memories(space="rt"))
    reports = [
        hx.spaces.read_file(hx.spaces.write_file("rt")),
        hx.spaces.read_file(file),
        hx.spaces.restore(hx.spaces.export("rt").path, merge=True).read,
        hx.spaces.read_file(file),
    ]
    other.spaces.restore(hx.spaces.export("rt").path)

    assert [(3, 0, [])] * 4 == [(report.unchanged, report.created, report.conflicts) for report in reports]
    assert ids == sorted(memory.id for memory in hx.memories(space="rt"))
    assert {id: hx.get(id).metadata for id in ids} == {id: other.get(id).metadata for id in ids}


@pytest.mark.row("L005")
def test_an_id_made_from_an_object_tells_nothing_of_its_secret(
    hx: Hexad, opened: Opener, tmp_path: Path
) -> None:
    other = opened(tmp_path)
    hx.spaces.read_file(saved(tmp_path, {"raw": f"key {KEYS[0]} is here"}))
    other.spaces.read_file(saved(tmp_path, {"raw": f"key {KEYS[1]} is here"}))

    assert [memory.id for memory in hx.memories(space="rt")] == [
        memory.id for memory in other.memories(space="rt")
    ]


@pytest.mark.row("L040")
def test_an_object_without_id_is_itself_in_each_space_that_its_file_is_read_into(
    hx: Hexad, tmp_path: Path
) -> None:
    file = saved(tmp_path, {"raw": "Rosa cooks soup."})
    for name in ("rt", "kitchen"):
        assert 1 == hx.spaces.read_file(file, name=name).created

    again = hx.spaces.read_file(hx.spaces.write_file("kitchen"))

    assert (1, 0, 1) == (again.unchanged, again.created, hx.spaces.get("kitchen").memories)


@pytest.mark.row("L053", "L156")
def test_an_export_says_what_its_file_left_open(hx: Hexad, opened: Opener, tmp_path: Path) -> None:
    hx.spaces.read_file(saved(tmp_path, {"id": "q", "raw": "Rosa cooks soup.", "stars": 5}))
    export = hx.spaces.export("rt", tmp_path / "export.json")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = opened(elsewhere, clock=FrozenClock(datetime(2030, 1, 1, tzinfo=UTC)))

    other.spaces.restore(export.path)

    assert hx.get("q").to_dict() == other.get("q").to_dict()
    assert "project/note/rosa-cooks-soup" == other.get("q").path
    assert (5, "2026-01-01T00:00:00Z") == tuple(
        json.loads(other.spaces.write_file("rt").read_text())["objects"][0][key]
        for key in ("stars", "updated_at")
    )
    assert hx.spaces.get("rt").created_at == other.spaces.get("rt").created_at


# Others who write meanwhile ---------------------------------------------------------------------------------------


class CountingClock(hexad.FrozenClock):
    """A clock that counts how often it is asked: once for every text that is made ready."""

    asked = 0

    def now(self) -> datetime:
        self.asked += 1
        return super().now()


@pytest.mark.row("L053", "L157")
def test_a_file_is_made_ready_once_while_others_write_elsewhere(opened: Opener, tmp_path: Path) -> None:
    clock = CountingClock()
    hx, other = opened(tmp_path, clock=clock), opened(tmp_path)
    objects = [{"id": f"m{number}", "raw": f"Rosa cooks soup number {number}."} for number in range(50)]
    file = tmp_path / "docs.json"
    file.write_text(json.dumps({"name": "docs", "objects": objects}))

    def write(done: int) -> None:
        other.remember(f"Somebody else writes line {done}.", space="elsewhere")

    before = clock.asked
    report = hx.spaces.read_file(file, progress=write)

    assert 50 == report.created == hx.count(space="docs")
    assert clock.asked - before < 2 * 50


@pytest.mark.row("L045", "L056")
def test_a_file_is_made_ready_anew_when_its_space_changed_meanwhile(opened: Opener, tmp_path: Path) -> None:
    hx, other = opened(tmp_path), opened(tmp_path)
    other.spaces.create("docs")
    other.spaces.set_policy("docs", {"ttl_days": 3})
    file = tmp_path / "docs.json"
    file.write_text(
        json.dumps({"name": "docs", "objects": [{"id": "m1", "raw": "Write to rosa@example.com."}]})
    )

    def redact(_done: int) -> None:
        other.spaces.set_policy("docs", {"pii_redaction": ["email"]})

    hx.spaces.read_file(file, progress=redact)

    assert "rosa" not in everything_stored(hx)


def test_reading_a_file_lets_go_of_what_it_stored(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"id": f"o{number}", "path": f"notes/{number}", "raw": f"Note {number}."} for number in range(1_200)
    ]
    file = tmp_path / "many.json"
    file.write_text(json.dumps({"name": "many", "metadata": {}, "policies": {}, "objects": rows}))
    hx = opened()
    held: list[int] = []
    keep_origins = SpaceImporter._keep_origins

    def counted(self: SpaceImporter, parsed: Any, plan: Any) -> None:
        gc.collect()
        held.append(sum(isinstance(value, PreparedDraft | Memory) for value in gc.get_objects()))
        assert all(
            kept.object is read.object for kept, read in zip(plan.objects, parsed.objects, strict=True)
        )
        keep_origins(self, parsed, plan)

    monkeypatch.setattr(SpaceImporter, "_keep_origins", counted)
    report = hx.spaces.read_file(file)

    assert 1_200 == report.created == hx.count(space="many")
    assert held[0] < 1_200
