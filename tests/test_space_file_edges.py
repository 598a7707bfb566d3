"""Files of spaces where others are about: kills, races, files that are not to be touched, names that are long."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import Conflict, Hexad, IntegrityError, InvalidInput, NotFound
from opener import Opener

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
def test_a_deleted_space_leaves_no_half_written_file(hx: Hexad, killed: Callable[[str], Path]) -> None:
    folder = killed("write_file")
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

    with pytest.raises(InvalidInput, match="the store's own files"):
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


@pytest.mark.row("L053", "L156")
@pytest.mark.parametrize(
    "document",
    [
        {"objects": [{"raw": "Rosa cooks soup.", "id": "r1"}], "name": "docs", "x": 1},
        {"x": 1, "objects": [{"raw": "Rosa cooks soup.", "id": "r1"}]},
        {"metadata": {"a": 1}, "policies": {"zz": 1}, "objects": [], "name": "docs"},
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
