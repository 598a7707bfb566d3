"""What commands say of a file that they cannot use: a pipe, a folder, no name, or JSON that no reader takes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from ran import Run

DEEP = "[" * 200_000
BRACKETS = "[" * 3_000 + "]" * 3_000
DIGITS = "[" + "9" * 5_000 + "]"
READERS: dict[str, tuple[str, ...]] = {
    "messages": ("remember", "--messages"),
    "knowledge graph": ("mcp", "graph", "import"),
    "restore": ("spaces", "restore"),
    "verify": ("spaces", "verify"),
    "space file": ("spaces", "read-file"),
    "policy": ("spaces", "policy", "default", "--file"),
    "contract": ("xdb", "contract"),
    "pack": ("tags", "load-pack"),
    "mem0": ("ingest", "--from", "mem0"),
}
FILES: dict[str, tuple[str, ...]] = {
    **{name: READERS[name] for name in READERS if name != "mem0"},
    "raw": ("remember-raw", "--kind", "note"),
    "document": ("docs", "add"),
}
"""Commands that take the name of one file."""


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DEEP, "it is nested too deeply to be read"),
        (DIGITS, "it holds a number with more digits than are read"),
    ],
    ids=["deep", "digits"],
)
def test_json_that_no_reader_takes_is_refused_in_our_words(
    run: Run, tmp_path: Path, command: str, text: str, words: str
) -> None:
    run("init")
    (tmp_path / "given.json").write_text(text)

    refused = run(*READERS[command], "given.json")

    assert (True, True) == (refused.code in (2, 5), words in refused.err)
    assert "recursion" not in refused.err and "Exceeds the limit" not in refused.err


@pytest.mark.parametrize(
    "command",
    [
        ("remember", "A text.", "--metadata", f'{{"a": {BRACKETS}}}'),
        ("remember", "A text.", "--value", BRACKETS),
        ("spaces", "policy", "default", f"ttl_days={BRACKETS}"),
    ],
    ids=["metadata", "value", "policy"],
)
def test_json_that_is_typed_too_deep_is_refused_in_our_words(run: Run, command: tuple[str, ...]) -> None:
    refused = run(*command)

    assert (2, True) == (refused.code, "it is nested too deeply to be read" in refused.err)
    assert "recursion" not in refused.err


@pytest.mark.parametrize("command", FILES)
def test_a_file_without_a_name_is_no_folder(run: Run, command: str) -> None:
    refused = run(*FILES[command], "")

    assert (2, True) == (refused.code, "'' names no file" in refused.err)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("command", FILES)
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(run: Run, tmp_path: Path, command: str) -> None:
    run("init")
    os.mkfifo(tmp_path / "given.json")

    refused = run(*FILES[command], "given.json")

    assert (2, True) == (refused.code, "a pipe" in refused.err)


@pytest.mark.timeout(60)
def test_what_a_command_writes_into_a_pipe_is_read(run: Run) -> None:
    reads, writes = os.pipe()
    os.write(writes, json.dumps([{"role": "user", "content": "Deploys happen on Tuesday."}]).encode())
    os.close(writes)
    try:
        assert 0 == run("remember", "--messages", f"/dev/fd/{reads}").code
    finally:
        os.close(reads)


@pytest.mark.parametrize("command", ["restore", "verify", "space file"])
def test_a_folder_is_named_as_one(run: Run, tmp_path: Path, command: str) -> None:
    refused = run(*FILES[command], str(tmp_path))

    assert (2, True) == (refused.code, f"{str(tmp_path)!r} is a folder; give a file." in refused.err)


def test_what_is_no_export_is_said_once_to_be_unused(hx: Hexad, tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("root:x:0:0\n")

    with pytest.raises(hexad.IntegrityError) as caught:
        hx.spaces.restore(tmp_path / "passwd")

    assert (
        f"The export {tmp_path}/passwd does not verify: it cannot be read (not JSON at line 1, column 1: "
        "Expecting value). Nothing of it was used; take another copy."
    ) == str(caught.value)
