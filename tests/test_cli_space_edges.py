"""What commands about spaces say where it matters to the word: what is old, where files go, what a refusal offers."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

import hexad
from hexad.interfaces.cli.app.main import main
from opener import Opener

POLICY = '{"ttl_days": 30, "allow_delete": true, "retention": [{"kinds": ["log"], "ttl_days": 7}]}'


@pytest.mark.row("L044")
def test_gc_says_what_is_old_and_that_rules_have_lifetimes_of_their_own(
    opened: Opener, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hx = opened(clock=hexad.SystemClock())
    hx.spaces.create("news")
    hx.spaces.set_policy("news", POLICY)

    assert 0 == main(["spaces", "gc", "news", "-C", str(project), "--dry-run", "--ttl-days", "365"])

    said = capsys.readouterr()
    year = (hx.clock.now() - timedelta(days=365)).year
    assert f"Old is what was not changed since {year}-" in said.err
    assert "What 1 retention rule of the policy matches has a lifetime of its own." in said.err


@pytest.fixture
def exported(opened: Opener, project: Path, tmp_path: Path) -> Path:
    """A signed export of the space `docs`, with one memory that is there still."""
    hx = opened()
    hx.remember("The harbour closes at noon.", space="docs", id="h")
    return hx.spaces.export("docs", tmp_path / "docs.json").path


@pytest.mark.row("L053")
def test_an_export_is_a_file_and_says_which_folder_it_made(
    exported: Path, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = ["spaces", "export", "docs", "-C", str(project), "--out"]
    folder = tmp_path / "new"

    assert 2 == main([*export, f"{folder}/"])
    assert f"{folder}/" in capsys.readouterr().err
    assert not folder.exists()
    assert 0 == main([*export, f"{folder}/a.json"])
    assert f"Made the folder {folder}" in capsys.readouterr().err
    assert 1 == hexad.verify_export(folder / "a.json").objects


@pytest.mark.row("L053")
def test_what_a_refused_restore_offers_works(
    exported: Path, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    restore = ["spaces", "restore", str(exported), "-C", str(project)]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    assert 4 == main(restore)
    said = capsys.readouterr().err
    assert "(--merge), or restore it in another store" in said
    assert "--name" not in said
    assert [0, 0] == [main([*restore, "--merge"]), main([*restore[:-1], str(elsewhere)])]

    with hexad.open(project, embedder=None) as hx:
        hx.spaces.create("docs", {"reset": True})
        hx.remember("Another text.", space="docs")
    assert 4 == main(restore)
    assert "or give another name (--name)" in capsys.readouterr().err
    assert 0 == main([*restore, "--name", "harbour"])


@pytest.mark.row("L053", "L158")
@pytest.mark.parametrize("command", ["restore", "read-file"])
def test_a_file_that_cannot_be_read_makes_no_store(exported: Path, tmp_path: Path, command: str) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    file = exported
    if command == "restore":
        file.write_text(file.read_text().replace("at noon", "at nine"))
    else:
        file = tmp_path / "bad.json"
        file.write_text('{"name": "docs", "objects": [{"raw": "A text."}, {"raw": "B", "kind": "!"}]}')

    assert 0 != main(["spaces", command, str(file), "-C", str(empty)])
    assert [] == list(empty.iterdir())

    file.write_text(file.read_text().replace("at nine", "at noon").replace("!", "note"))
    assert 0 == main(["spaces", command, str(file), "-C", str(empty)])
    assert [".hexad"] == [path.name for path in empty.iterdir()]


@pytest.mark.row("L013", "L158")
def test_a_file_whose_space_cannot_be_called_so_is_refused_with_what_to_give(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a b.json"
    for document in ('{"name": "lexon demo", "objects": []}', '{"objects": []}'):
        file.write_text(document)

        assert 2 == main(["spaces", "read-file", str(file), "-C", str(project)])
        assert "--name" in capsys.readouterr().err
        assert 0 == main(["spaces", "read-file", str(file), "--name", "demo", "-C", str(project)])
