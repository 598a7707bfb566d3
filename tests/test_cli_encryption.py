"""`hexad init --encrypt`, `encrypt`, `decrypt` and `rekey`, as a person and a script use them."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hexad
import programs

WORDS, OTHER_WORDS = "six words are better than one", "other words for another day"


@pytest.fixture
def run(project: Path, tmp_path: Path):
    def run_hexad(*arguments: str, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        done = programs.run(programs.HEXAD, *arguments, env={**_quiet(tmp_path), **environment}, cwd=project)
        assert code == done.returncode, done.stdout + done.stderr
        return done

    return run_hexad


def _quiet(tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        "HEXAD_EMBEDDER": "none",
    }


@pytest.mark.row("A131")
def test_a_store_is_encrypted_from_its_first_command_and_needs_nothing_more_to_be_used(
    run, project, tmp_path
):
    said = run("init", "--encrypt").stdout
    (key,) = (tmp_path / "data" / "hexad" / "keys").iterdir()
    assert str(key) in said
    assert "keep a copy" in said
    run("remember", "The garden gate squeaks.")
    assert "squeaks" in run("recall", "garden gate").stdout
    assert not [
        path for path in (project / ".hexad").rglob("*") if path.is_file() and b"squeaks" in path.read_bytes()
    ]
    assert "yes, key from key_file" in " ".join(run("doctor", "--quick").stdout.split())
    key.rename(tmp_path / "aside")
    failed = run("recall", "garden gate", code=1)
    assert "key file" in failed.stderr
    assert "HEXAD_KEY_FILE" in failed.stderr
    assert "squeaks" in run("recall", "garden gate", HEXAD_KEY_FILE=str(tmp_path / "aside")).stdout


@pytest.mark.row("A131")
def test_a_store_that_is_there_is_encrypted_given_new_keys_and_decrypted(run, project):
    run("remember", "The garden gate squeaks.")
    assert "no: whoever" in " ".join(run("doctor", "--quick").stdout.split())
    planned = json.loads(run("encrypt", "--dry-run", "--json").stdout)
    assert (planned["dry_run"], planned["what"]) == (True, "encrypt")
    assert hexad.encryption_state(project) is None
    run("encrypt", "--provider", "passphrase", HEXAD_PASSPHRASE=WORDS)
    assert "HEXAD_PASSPHRASE" in run("recall", "gate", code=1).stderr
    assert "squeaks" in run("recall", "gate", HEXAD_PASSPHRASE=WORDS).stdout
    run("rekey", HEXAD_PASSPHRASE=WORDS, HEXAD_NEW_PASSPHRASE=OTHER_WORDS)
    run("recall", "gate", code=1, HEXAD_PASSPHRASE=WORDS)
    run("rekey", "--wrap-only", "--provider", "key_file", HEXAD_PASSPHRASE=OTHER_WORDS)
    assert "squeaks" in run("recall", "gate").stdout
    assert "--yes" in run("decrypt", code=2).stderr
    assert hexad.encryption_state(project) is not None
    assert "Decrypted" in run("decrypt", "--yes").stdout
    assert "squeaks" in run("recall", "gate").stdout


@pytest.mark.row("A131")
def test_a_key_file_that_a_variable_names_is_not_passed_over(run, project, tmp_path):
    run("init", "--encrypt")
    run("remember", "The garden gate squeaks.")
    (there,) = map(str, (tmp_path / "data" / "hexad" / "keys").iterdir())
    for named in (str(tmp_path / "nope.key"), "/etc/hostname"):
        failed = run("recall", "gate", code=1, HEXAD_KEY_FILE=named)
        assert named in failed.stderr
        assert there in failed.stderr
        assert failed.stdout == ""
    said = run("rekey", HEXAD_KEY_FILE=there)
    assert f"HEXAD_KEY_FILE names {there}, which does not open the store" in said.stderr
    assert there in run("recall", "gate", code=1, HEXAD_KEY_FILE=there).stderr
    assert "squeaks" in run("recall", "gate").stdout
    assert "Warning" not in run("rekey", HEXAD_KEY_FILE="").stderr


def test_what_cannot_be_is_said(run, project):
    run("remember", "The garden gate squeaks.")
    assert "no user layer" in run("decrypt", "--user", "--yes", code=3).stderr
    assert "HEXAD_PASSPHRASE" in run("encrypt", "--provider", "passphrase", code=2).stderr
    assert "keyring" in run("encrypt", "--provider", "keyring", code=1).stderr
    assert "contradict" in run("encrypt", "--provider", "keyring", "--key-file", "x", code=2).stderr
    assert "role" in run("--role", "guest", "encrypt", code=1).stderr
    assert "not encrypted" in run("decrypt", "--yes", code=4).stderr
    assert "hexad encrypt" in run("init", "--encrypt", code=4).stderr
    assert "not encrypted" in run("rekey", code=4).stderr
    assert hexad.encryption_state(project) is None
    with hexad.open(project, embedder=None, background=False, purpose="a test") as hx:
        failed = run("encrypt", code=6).stderr
        assert f"process {os.getpid()} (a test" in failed
        assert 1 == hx.count()


def test_json_tells_the_same(run, project):
    assert "key_file" == json.loads(run("init", "--encrypt", "--json").stdout)["encryption"]["provider"]
    report = json.loads(run("rekey", "--json").stdout)
    assert ("rekey", "key_file", False) == (report["what"], report["provider"], report["dry_run"])
    status = json.loads(run("doctor", "--json", "--quick").stdout)
    assert status["encrypted"]
    assert report["key_id"] == status["encryption"]["key_id"]


@pytest.mark.row("A131")
def test_on_a_terminal_a_passphrase_is_asked_for_and_not_shown(run, project, tmp_path):
    run("remember", "The garden gate squeaks.")
    run("encrypt", "--provider", "passphrase", HEXAD_PASSPHRASE=WORDS)
    shown = _typed(project, tmp_path, ["recall", "garden gate"], [("Passphrase", WORDS)])
    assert "squeaks" in shown
    assert WORDS not in shown
    shown = _typed(
        project, tmp_path, ["rekey", "--wrap-only"],
        [("Passphrase", WORDS), ("New passphrase", "short"), ("New passphrase", OTHER_WORDS), ("Repeat", OTHER_WORDS)],
    )  # fmt: skip
    assert OTHER_WORDS not in shown
    assert "squeaks" in run("recall", "gate", HEXAD_PASSPHRASE=OTHER_WORDS).stdout


def _typed(project: Path, tmp_path: Path, arguments: list[str], answers: list[tuple[str, str]]) -> str:
    """Run a command on a terminal, type each answer when its question stands there, and return what was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "hexad", *arguments],
        cwd=project, env=_quiet(tmp_path), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown, asked_at, deadline = "", 0, time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                data = os.read(ours, 4_096)
            except OSError:
                break
            if not data:
                break
            shown += data.decode("utf-8", "replace")
        if answers and answers[0][0] in shown[asked_at:]:
            asked_at = len(shown)
            os.write(ours, f"{answers.pop(0)[1]}\n".encode())
    process.wait(30)
    os.close(ours)
    assert 0 == process.returncode, shown
    return shown


def test_an_export_that_lies_in_an_encrypted_store_is_verified_where_the_store_is(run, project, tmp_path):
    run("init", "--encrypt")
    run("remember", "The garden gate squeaks.", "--space", "zoo")
    run("spaces", "export", "zoo")
    export = str(project / ".hexad" / "exports" / "zoo.json")
    assert "verified" in run("spaces", "verify", export).stdout
    (tmp_path / "away").mkdir()
    failed = run("-C", str(tmp_path / "away"), "spaces", "verify", export, code=1).stderr
    assert "only its own store opens it" in failed
    assert "hexad cat" in failed
    run("-C", str(tmp_path / "away"), "init")
    assert "another store" in run("-C", str(tmp_path / "away"), "spaces", "verify", export, code=5).stderr


def test_a_dry_run_of_a_new_wrapping_says_that_nothing_is_written_anew(run):
    run("init", "--encrypt")
    assert "encryption.json alone" in run("rekey", "--wrap-only", "--dry-run").stdout
    planned = json.loads(run("rekey", "--wrap-only", "--dry-run", "--json").stdout)
    assert (True, 0, 0, 0) == tuple(planned[name] for name in ("dry_run", "files", "bytes", "needed_bytes"))
    assert json.loads(run("rekey", "--dry-run", "--json").stdout)["files"] > 0


def test_what_cannot_be_with_an_encrypted_store_is_said(run, project, tmp_path):
    run("init", "--encrypt", "--provider", "passphrase", HEXAD_PASSPHRASE=WORDS)
    again = run("init", "--encrypt", code=4).stderr
    assert "hexad rekey" in again
    assert "hexad encrypt" not in again
    assert "''" in run("rekey", "--key-file", "", code=2).stderr
    denied = run("recall", "gate", code=1)
    assert "Set HEXAD_PASSPHRASE." in denied.stderr
    assert "key=" not in denied.stderr
    locked = run("doctor", code=1)
    assert "yes, key from passphrase" in " ".join(locked.stdout.split())
    assert "HEXAD_PASSPHRASE" in locked.stderr
    assert "passphrase" == json.loads(run("doctor", "--json", code=1).stdout)["encryption"]["provider"]
    (project / ".hexad" / "encryption.json").unlink()
    assert "encryption.json is not there" in run("encrypt", "--key-file", str(tmp_path / "k"), code=5).stderr
    assert not (tmp_path / "k").exists()


def test_a_provider_that_the_settings_name_is_asked_for_as_one_that_is_given(run, project):
    run("init")
    settings = project / ".hexad" / "hexad.toml"
    assert 0o600 == settings.stat().st_mode & 0o777
    settings.write_text("[encryption]\nprovider = 'passphrase'\n")
    assert "no terminal to ask for the passphrase" in run("encrypt", code=2).stderr
    settings.write_text("[encryption]\nprovider = 'foo'\n")
    assert "provider = 'foo'" in run("recall", "gate", code=2).stderr


def test_what_cat_does_not_show_is_said_as_what_it_is(run, project):
    run("init", "--encrypt")
    run("remember", "The garden gate squeaks.", "--id", "gate")
    run("forget", "gate", "--purge", "--yes")
    assert "is a folder" in run("cat", ".hexad", code=2).stderr
    for name in ("memory.db", "audit/audit.db"):
        said = run("cat", f".hexad/{name}", code=2).stderr
        assert "encrypted by SQLite" in said
        assert "hexad audit export" in said
    for name in ("keys.json", "audit/audit.key"):
        assert "not shown" in run("cat", f".hexad/{name}", code=1).stderr
    (project / "other").mkdir()
    assert "not an encrypted file" in run("cat", ".hexad/hexad.toml", code=2).stderr
