"""`hexad ingest --from lexon`: another program's folder taken over from the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from programs import command

LEXON = Path(__file__).parent / "data" / "lexon"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    return Path(shutil.copytree(LEXON, tmp_path / "theirs"))


def hexad(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command(*arguments, cwd=cwd)


def test_a_folder_is_taken_over_and_what_could_not_be_read_decides_the_exit_code(theirs: Path) -> None:
    first = hexad(theirs, "ingest", "--from", "lexon", ".", "--no-embed")
    (theirs / ".lexon" / "structured_memory" / "broken.json").unlink()
    second = hexad(theirs, "ingest", "--from", "lexon", ".lexon", "--no-embed", "--json")

    assert (1, 0) == (first.returncode, second.returncode)
    assert "runtime  2 created" in first.stdout
    assert "Warning: broken.json: Invalid space file" in first.stderr
    assert "not read config.toml" in first.stderr
    report = json.loads(second.stdout)["folders"][0]
    assert [1, 2] == [file["unchanged"] for file in report["files"]]
    assert [0, 0] == [file["created"] for file in report["files"]]


def test_options_that_the_folder_answers_itself_are_refused(theirs: Path) -> None:
    for option in (("--space", "x"), ("--tag", "x"), ("--kind", "folder"), ("--project", "x")):
        done = hexad(theirs, "ingest", "--from", "lexon", ".", *option)
        assert (2, True) == (done.returncode, option[0] in done.stderr)
    assert not (theirs / ".hexad").exists()


def test_a_folder_without_spaces_is_not_found(tmp_path: Path) -> None:
    done = hexad(tmp_path, "ingest", "--from", "lexon", ".")

    assert 3 == done.returncode
    assert "structured_memory" in done.stderr
    assert [] == list(tmp_path.iterdir())
