"""`hexad check` names each file of a store that is not what it must be."""

from __future__ import annotations

from pathlib import Path

import pytest

import hexad
from opener import Opener
from ran import Run


def test_each_space_file_that_cannot_be_read_back_is_named(opened: Opener) -> None:
    hx = opened(background=False)
    for name in ("alpha", "beta", "gamma"):
        hx.remember(f"A text of {name}.", space=name)
        hx.spaces.write_file(name)
    folder = hx.path / "spaces"
    assert [] == hx.check()

    (folder / "alpha.json").write_text("{broken")
    (folder / "gamma.json").write_text('{"name": "gamma", "objects": [1]}')
    alpha, gamma = hx.check()

    assert f"{folder / 'alpha.json'}: not JSON at line 1" in alpha
    assert f"{folder / 'gamma.json'}: objects[0] is" in gamma
    for name in ("alpha", "gamma"):
        (folder / f"{name}.json").unlink()


@pytest.mark.parametrize("name", ["segments", "log"])
def test_a_file_in_the_place_of_a_folder_of_the_stream_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.xdb.start_session("talk")
        hx.xdb.record("input", "Hello.", session_id="talk")
        hx.xdb.flush()
        if name == "segments":
            hx.xdb.seal()
    folder = tmp_path / ".hexad" / "stream" / name
    folder.rename(tmp_path / name)
    folder.write_text("A file.")

    checked = run("check")

    assert 5 == checked.code, checked
    assert f"{folder} is a file, where a store has a folder." in checked.out + checked.err
