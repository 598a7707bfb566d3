"""`hexad prefs` at a terminal asks for the passphrase of an encrypted user layer, and does not show it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import hexad

WORDS = "a few words that nobody else knows"


@pytest.mark.row("A035")
@pytest.mark.parametrize(
    "command", [("prefs", "list"), ("context", "which db is preferred?")], ids=lambda row: row[0]
)
def test_at_a_terminal_the_passphrase_of_the_layer_is_asked_for_and_not_shown(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    folder = Path(os.environ["HEXAD_USER_DIR"])
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.user.prefer("db", "Postgres")
    hexad.encrypt(key=WORDS, user=True)

    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "hexad", "--json", *command],
        cwd=tmp_path,
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, "HEXAD_EMBEDDER": "none"},
    )
    os.close(slave)
    seen = b""
    while b"Passphrase of the user layer" not in seen:
        seen += os.read(master, 1024)
    os.write(master, WORDS.encode() + b"\n")
    out, _ = process.communicate(timeout=60)
    os.set_blocking(master, False)
    with suppress(OSError):  # nothing more was said
        seen += os.read(master, 65_536)
    os.close(master)

    assert "Postgres" in json.dumps(json.loads(out))
    assert WORDS.encode() not in seen
    assert (folder / "encryption.json").exists()


def test_without_a_terminal_nothing_is_asked_and_the_variable_is_named(
    run, tmp_path: Path, monkeypatch
) -> None:
    hexad.init(tmp_path)
    hexad.encrypt(key=WORDS, user=True)
    refused = run("prefs", "list")
    assert (1, "") == (refused.code, refused.out)
    assert "HEXAD_USER_PASSPHRASE" in refused.err
    monkeypatch.setenv("HEXAD_USER_PASSPHRASE", WORDS)
    assert 0 == run("prefs", "list").code
