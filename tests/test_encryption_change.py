"""Encrypting a store that is there, decrypting it, giving it other keys: what is asked for first, and what comes out."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import hexad
from canaries import Canaries, opened, plant, plant_ledger, seen, told
from hexad import AccessDenied, Conflict, IntegrityError, InvalidInput, LimitExceeded, NotFound, StoreLocked
from hexad.audit import AuditLogWriter
from hexad.database import files
from hexad.lifecycle import reencryption as conversion

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
WORDS, OTHER_WORDS = "six words are better than one", "other words for another day"


@pytest.fixture
def plain(project: Path) -> Path:
    """A small plain store with something behind every door."""
    canary = Canaries()
    with opened(project, None) as hx:
        plant(hx, project, canary, per_door=2)
    plant_ledger(project / ".hexad", canary, per_door=2)
    return project


def said(project: Path, key: bytes | str | Path | None) -> str:
    with opened(project, key) as hx:
        assert [] == hx.check()
        hx.xdb.seal()
        return told(hx)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", "-commit", "-sync"))
    }


# What is asked for first -------------------------------------------------------------------------------------------


@pytest.mark.row("A131")
def test_a_dry_run_says_how_much_would_be_written_and_changes_nothing(plain, tmp_path):
    before = contents(plain / ".hexad")
    report = hexad.encrypt(plain, key=tmp_path / "new.key", dry_run=True)
    assert before == contents(plain / ".hexad")
    assert not (tmp_path / "new.key").exists()
    assert report.dry_run
    assert report.needed_bytes > report.bytes > 100_000
    assert report.files > 10
    done = hexad.encrypt(plain, key=tmp_path / "new.key")
    assert (done.provider, done.key_file) == ("key_file", str(tmp_path / "new.key"))
    assert done.files >= report.files


@pytest.mark.row("A131")
def test_a_disk_without_room_for_the_store_twice_is_said_before_anything_is_made(
    plain, tmp_path, monkeypatch
):
    monkeypatch.setattr(conversion, "free_bytes", lambda _path: 1_000_000)
    before = contents(plain / ".hexad")
    with pytest.raises(LimitExceeded, match=r"it needs [\d,]{9,} bytes .* 1,000,000 are free"):
        hexad.encrypt(plain, key=tmp_path / "new.key")
    assert before == contents(plain / ".hexad")
    assert not (tmp_path / "new.key").exists()


@pytest.mark.row("A131")
def test_who_has_the_store_or_its_ledger_open_is_named(plain):
    child = "import hexad, sys; hx = hexad.open(sys.argv[1], purpose='the server', embedder=None); print(1, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", child, str(plain)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        other.stdout.readline()
        for change in (lambda: hexad.encrypt(plain, key=KEY), lambda: hexad.encrypt(plain, key=KEY)):
            with pytest.raises(StoreLocked, match=rf"process {other.pid} \(the server, since"):
                change()
        other.stdin.close()
    with AuditLogWriter(plain / ".hexad", "being"), pytest.raises(StoreLocked, match="audit"):
        hexad.encrypt(plain, key=KEY)
    hexad.encrypt(plain, key=KEY)


def test_a_program_that_has_a_database_open_without_saying_so_is_in_the_way_too(plain):
    other = apsw.Connection(str(plain / ".hexad" / "audit" / "audit.db"))
    other.execute("SELECT count(*) FROM entries").fetchall()
    with pytest.raises(StoreLocked, match=r"audit\.db"):
        hexad.encrypt(plain, key=KEY)
    other.close()
    assert not (plain / ".hexad" / "convert").exists()
    assert hexad.encryption_state(plain) is None
    hexad.encrypt(plain, key=KEY)


def test_what_does_not_fit_the_store_is_refused(plain, tmp_path):
    with pytest.raises(Conflict, match="not encrypted"):
        hexad.decrypt(plain)
    with pytest.raises(Conflict, match="not encrypted"):
        hexad.rekey(plain)
    with pytest.raises(InvalidInput, match="provider"):
        hexad.encrypt(plain, provider="post-it")
    with pytest.raises(InvalidInput, match="would lie in the store"):
        hexad.encrypt(plain, key=plain / ".hexad" / "my.key")
    with pytest.raises(InvalidInput, match="program"):
        hexad.encrypt(plain, provider="program")
    hexad.encrypt(plain, key=KEY)
    with pytest.raises(Conflict, match="already"):
        hexad.encrypt(plain, key=KEY)
    with pytest.raises(AccessDenied):
        hexad.decrypt(plain, key=OTHER)
    with pytest.raises(InvalidInput, match="the old one"):
        hexad.rekey(plain, key=KEY, new_key=KEY)
    with pytest.raises(NotFound):
        hexad.encrypt(tmp_path / "nowhere")
    assert said(plain, KEY)


# What comes out ----------------------------------------------------------------------------------------------------


@pytest.mark.row("A131", "A132")
def test_a_store_says_the_same_through_every_change(plain, tmp_path):
    before = said(plain, None)
    hexad.encrypt(plain, key=WORDS)
    assert before == said(plain, WORDS)
    hexad.rekey(plain, key=WORDS, new_key=OTHER_WORDS)
    with pytest.raises(AccessDenied):
        opened(plain, WORDS)
    assert before == said(plain, OTHER_WORDS)
    report = hexad.rekey(plain, key=OTHER_WORDS, new_key=tmp_path / "keys" / "one.key")
    assert str(tmp_path / "keys" / "one.key") == report.key_file
    assert before == said(plain, None)
    hexad.decrypt(plain)
    assert before == said(plain, None)
    hexad.encrypt(plain, key=KEY)
    with opened(plain, KEY) as hx:
        hx.remember("Written after all of it.", kind="decision")
        assert hx.xdb.recall(session_id="*", limit=1)


@pytest.mark.row("A131")
def test_after_a_rekey_the_old_key_and_the_old_record_open_nothing(plain):
    folder = plain / ".hexad"
    hexad.encrypt(plain, key=KEY)
    old = (folder / "encryption.json").read_bytes()
    hexad.rekey(plain, key=KEY, new_key=OTHER)
    new = (folder / "encryption.json").read_bytes()
    with pytest.raises(AccessDenied):
        opened(plain, KEY)
    (folder / "encryption.json").write_bytes(old)
    with pytest.raises(IntegrityError):
        opened(plain, KEY)
    (folder / "encryption.json").write_bytes(new)
    assert said(plain, OTHER)


def test_after_a_rekey_a_setting_that_names_the_old_key_file_is_not_in_the_way(plain, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (plain / ".hexad" / "hexad.toml").write_text(f"[encryption]\nkey_file = '{tmp_path / 'old.key'}'\n")
    hexad.trust_settings(plain)
    assert str(tmp_path / "old.key") == hexad.encrypt(plain, provider="key_file").key_file
    report = hexad.rekey(plain)
    assert report.key_file.startswith(str(tmp_path / "data"))
    assert said(plain, None)
    Path(report.key_file).unlink()
    with pytest.raises(AccessDenied):
        opened(plain, None)


@pytest.mark.row("A131")
def test_after_a_rekey_a_variable_that_names_the_old_key_file_is_said_with_where_the_new_one_is(
    plain, tmp_path, monkeypatch
):
    old = tmp_path / "old.key"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HEXAD_KEY_FILE", str(old))
    assert str(old) == hexad.encrypt(plain).key_file
    new = hexad.rekey(plain).key_file
    with pytest.raises(AccessDenied) as denied:
        opened(plain, None)
    assert all(name in str(denied.value) for name in (str(old), "HEXAD_KEY_FILE", new))
    monkeypatch.delenv("HEXAD_KEY_FILE")
    assert said(plain, None)


@pytest.mark.row("A131")
def test_a_new_passphrase_alone_rewrites_nothing_but_the_record(plain):
    hexad.encrypt(plain, key=WORDS)
    before = contents(plain / ".hexad")
    report = hexad.rekey(plain, key=WORDS, new_key=OTHER_WORDS, wrap_only=True)
    after = contents(plain / ".hexad")
    assert {"encryption.json"} == {name for name in before if before[name] != after[name]}
    assert 0 == report.files
    with pytest.raises(AccessDenied):
        opened(plain, WORDS)
    assert said(plain, OTHER_WORDS)


def test_segments_that_were_changed_are_not_hidden_under_new_hashes(plain):
    (segment,) = (plain / ".hexad" / "stream" / "segments").glob("*.parquet")
    right = segment.read_bytes()
    segment.write_bytes(right[:-9] + bytes([right[-9] ^ 1]) + right[-8:])
    with pytest.raises(IntegrityError, match=segment.name):
        hexad.encrypt(plain, key=KEY)
    assert not (plain / ".hexad" / "convert").exists()
    segment.write_bytes(right)
    hexad.encrypt(plain, key=KEY)


def test_what_was_recorded_and_not_sealed_comes_along(plain):
    with opened(plain, None) as hx:
        hx.xdb.record("output", "the very last words", session_id="monday")
    assert list((plain / ".hexad" / "stream" / "log").iterdir())
    hexad.encrypt(plain, key=KEY)
    with opened(plain, KEY) as hx:
        assert "the very last words" == hx.xdb.recall(session_id="*", limit=10_000)[-1].content


def test_files_that_are_no_part_of_a_store_and_links_stay_and_are_named(plain, tmp_path):
    folder = plain / ".hexad"
    (folder / "mine.txt").write_text("mine")
    (tmp_path / "elsewhere.txt").write_text("elsewhere")
    (folder / "documents" / "link.md").symlink_to(tmp_path / "elsewhere.txt")
    report = hexad.encrypt(plain, key=KEY)
    assert ("documents/link.md", "mine.txt") == report.left
    assert ("mine", "elsewhere") == (
        (folder / "mine.txt").read_text(),
        (folder / "documents" / "link.md").read_text(),
    )


@pytest.mark.parametrize(
    "name", ["stream", "stream/segments", "memory.db", "keys.json", "documents", "cache"]
)
def test_a_part_of_a_store_that_is_elsewhere_behind_a_link_is_refused_and_nothing_is_changed(
    plain, tmp_path, name
):
    part, elsewhere = plain / ".hexad" / name, tmp_path / "elsewhere"
    part.parent.mkdir(exist_ok=True)
    part.rename(elsewhere) if part.exists() else elsewhere.mkdir()
    part.symlink_to(elsewhere)
    before = contents(plain / ".hexad")
    for dry_run in (True, False):
        with pytest.raises(InvalidInput, match=f"{name} is a link"):
            hexad.encrypt(plain, key=tmp_path / "new.key", dry_run=dry_run)
    assert before == contents(plain / ".hexad")
    assert not (tmp_path / "new.key").exists()


def test_a_store_that_is_whole_behind_a_link_is_encrypted_there(plain, tmp_path):
    before = said(plain, None)
    (plain / ".hexad").rename(tmp_path / "elsewhere")
    (plain / ".hexad").symlink_to(tmp_path / "elsewhere")
    assert () == hexad.encrypt(plain, key=KEY).left
    assert before == said(plain, KEY)


def test_old_content_is_overwritten_but_not_where_it_has_another_name(plain, tmp_path):
    folder = plain / ".hexad"
    with (folder / "memory.db").open("rb") as old:
        os.link(folder / "keys.json", tmp_path / "backup.json")
        kept = (tmp_path / "backup.json").read_bytes()
        size = len(old.read())
        hexad.encrypt(plain, key=KEY)
        old.seek(0)
        assert bytes(size) == old.read()[:size]
    assert kept == (tmp_path / "backup.json").read_bytes()


def test_no_error_of_a_conversion_shows_a_key(plain, monkeypatch):
    keys = []
    real = conversion._vacuumed

    def unwritable(source: apsw.Connection, target: str) -> str | None:
        keys.append(target.split("hexkey=")[1])
        return real(source, target.replace("memory.db", "nowhere/memory.db"))

    monkeypatch.setattr(conversion, "_vacuumed", unwritable)
    with pytest.raises(hexad.StorageFailure, match=r"CantOpenError|SQLError") as failed:
        hexad.encrypt(plain, key=KEY)
    shown = []
    error: BaseException | None = failed.value
    while error is not None:
        shown.append(repr(error))
        error = error.__cause__ or error.__context__
    assert keys
    assert not any(key in text for key in keys for text in shown)
    assert said(plain, None)


# Interrupted -------------------------------------------------------------------------------------------------------


def interrupted(project: Path, at: str) -> None:
    """Encrypt a store, and fail at the first rename of a file of that name to its place."""

    def fail(operation: str, path: Path) -> None:
        if operation == "rename" and path.name == at and "convert" not in path.parts:
            raise OSError(5, "Input/output error")

    previous = files.set_hook(fail)
    try:
        with pytest.raises(hexad.StorageFailure):
            hexad.encrypt(project, key=KEY)
    finally:
        files.set_hook(previous)
    assert (project / ".hexad" / "convert" / "journal.json").exists()


@pytest.mark.row("A131")
def test_an_interrupted_switch_is_ended_by_the_next_to_open_the_store_and_not_by_a_reader(plain):
    before = said(plain, None)
    interrupted(plain, "memory.db")
    with pytest.raises(hexad.StorageFailure, match="open it once for writing"):
        opened(plain, KEY, readonly=True)
    assert before == said(plain, KEY)
    assert not (plain / ".hexad" / "convert").exists()


def test_an_interrupted_switch_is_ended_before_the_ledger_is_opened_by_itself(plain):
    interrupted(plain, "memory.db")
    with AuditLogWriter(plain / ".hexad", "being", key=KEY) as writer:
        writer.record("monday", 99, "output", "after", {}, [])
    assert said(plain, KEY)


@pytest.mark.row("A131")
@pytest.mark.parametrize("stopped", [False, True])
def test_a_folder_of_the_store_that_is_a_disk_of_its_own_is_changed_too(plain, stopped):
    before = said(plain, None)
    refused: set[Path] = set()

    def other_disk(operation: str, path: Path) -> None:
        if "stream" not in path.parts or "convert" in path.parts:
            return
        if operation == "rename" and path not in refused:
            refused.add(path)
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        if operation == "rename" and stopped and len(refused) == 1:
            refused.add(Path("once"))
            raise OSError(5, "Input/output error")

    previous = files.set_hook(other_disk)
    try:
        if stopped:
            with pytest.raises(hexad.StorageFailure, match="Input/output error"):
                hexad.encrypt(plain, key=KEY)
            refused.clear()
            refused.add(Path("once"))
        else:
            hexad.encrypt(plain, key=KEY)
        assert before == said(plain, KEY)
        assert len(refused) > 1
        assert not (plain / ".hexad" / "convert").exists()
    finally:
        files.set_hook(previous)
    hexad.decrypt(plain, key=KEY)
    assert before == said(plain, None)


KILLED = """
import os, sys, hexad
from hexad.database import files
files.set_hook(lambda operation, path: os.kill(os.getpid(), 9) if path.name == "journal.json" else None)
hexad.decrypt(sys.argv[1], key=bytes(range(32)))
"""


def test_the_plain_files_of_a_decryption_that_was_killed_are_named_and_overwritten_before_they_go(plain):
    hexad.encrypt(plain, key=KEY)
    assert -9 == subprocess.run([sys.executable, "-c", KILLED, str(plain)], check=False).returncode
    prepared = plain / ".hexad" / "convert"
    with opened(plain, KEY, readonly=True) as hx:
        (problem,) = hx.check()
    assert str(prepared) in problem
    assert "may be plain" in problem
    with (prepared / "new" / "memory.db").open("rb", buffering=0) as old:
        assert old.read(15) == b"SQLite format 3"
        opened(plain, KEY).close()
        assert not prepared.exists()
        old.seek(0)
        assert not any(old.read())


def test_a_damaged_journal_is_said_and_nothing_is_touched(plain):
    interrupted(plain, "memory.db")
    folder = plain / ".hexad"
    journal = folder / "convert" / "journal.json"
    right = journal.read_bytes()
    for wrong in (b"{", b"{}", b"[" * 100_000, right.replace(b'"keys.json"', b'"../keys.json"')):
        journal.write_bytes(wrong)
        before = contents(folder)
        with pytest.raises(IntegrityError, match=r"journal\.json is damaged"):
            opened(plain, KEY)
        assert before == contents(folder)
    journal.write_bytes(right)
    assert said(plain, KEY)


def test_a_backup_that_was_made_before_a_rekey_opens_with_the_key_of_then(plain, tmp_path):
    hexad.encrypt(plain, key=KEY)
    shutil.copytree(plain, tmp_path / "backup")
    hexad.rekey(plain, key=KEY, new_key=OTHER)
    assert said(tmp_path / "backup", KEY) == said(plain, OTHER)


def test_progress_is_told_to_its_end(plain):
    told_of = []
    hexad.encrypt(plain, key=KEY, progress=told_of.append)
    assert told_of[-1].done == told_of[-1].total
    assert [progress.done for progress in told_of] == sorted(progress.done for progress in told_of)
    assert "memory.db" in {progress.current for progress in told_of}
    assert [] == seen(plain / ".hexad", [])
    assert json.loads((plain / ".hexad" / "encryption.json").read_text())["provider"] == "program"
