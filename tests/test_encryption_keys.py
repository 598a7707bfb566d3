"""Keys: where they come from, and what happens without the right one. Nothing is touched then, and it is said why."""

from __future__ import annotations

import copy
import json
import logging
import os
import pickle
import re
import sys
from pathlib import Path

import pytest

import hexad
from hexad import AccessDenied, Conflict, Hexad, IntegrityError, InvalidInput, StoreLocked
from hexad.audit import AuditLogWriter
from hexad.database.encryption import key_providers as key_sources
from hexad.database.encryption.cipher import StoreKeys
from hexad.database.encryption.key_providers import KeyGiven
from hexad.database.encryption.record import establish, read_record

KEY = bytes(range(32))
WORDS = "six words are better than one"
WRONG_WORDS = "five words are better than none"


def opened(project: Path, key: bytes | str | Path | None = None, **options: bool) -> Hexad:
    return hexad.open(project, embedder=None, background=False, key=key, **options)


def made(project: Path, key: bytes | str | Path | None) -> Path:
    """An encrypted store with one memory; returns its folder."""
    with opened(project, key) as hx:
        hx.remember("The garden gate squeaks.", kind="decision")
        hx.spaces.export("default")
        return hx.path


def recalled(project: Path, key: bytes | str | Path | None = None) -> list[str]:
    with opened(project, key) as hx:
        assert [] == hx.check()
        return [hit.text for hit in hx.recall("garden gate")]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this user's data is."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


# The right key, and wrong ones -------------------------------------------------------------------------------------


@pytest.mark.row("A131")
@pytest.mark.parametrize("kind", ["program", "passphrase", "key_file"])
def test_a_store_opens_with_its_key_and_with_no_other_and_nothing_is_touched(tmp_path, project, kind):
    keys = {"program": KEY, "passphrase": WORDS, "key_file": tmp_path / "keys" / "one.key"}
    (tmp_path / "other.key").write_text("ab" * 32)
    (tmp_path / "other.key").chmod(0o600)
    folder = made(project, keys[kind])
    before = contents(folder)

    wrong = [bytes(32), WRONG_WORDS, tmp_path / "other.key", tmp_path / "none.key"]
    for key in [*wrong, *(() if kind == "key_file" else (None,))]:
        for readonly in (False, True):
            with pytest.raises(AccessDenied, match=r"key"):
                opened(project, key, readonly=readonly)
    assert before == contents(folder)
    assert ["The garden gate squeaks."] == recalled(project, keys[kind])
    with opened(project, keys[kind], readonly=True) as hx:
        assert 1 == len(hx.recall("garden gate"))


@pytest.mark.row("A131")
def test_the_key_is_in_no_file_of_the_store_and_in_no_word_that_is_shown(project, caplog):
    with caplog.at_level(logging.DEBUG):
        folder = made(project, WORDS)
        with pytest.raises(AccessDenied) as denied:
            opened(project, WRONG_WORDS)
        with opened(project, WORDS) as hx:
            shown = [
                repr(hx._services.context),
                repr(KeyGiven.of(KEY)),
                repr(KeyGiven.of(WORDS)),
                json.dumps(hx.status().to_dict()),
            ]
    for text in (*shown, str(denied.value), caplog.text):
        assert WORDS not in text
        assert WRONG_WORDS not in text
        assert KEY.hex() not in text
        assert repr(KEY) not in text
    assert not [name for name, data in contents(folder).items() if WORDS.encode() in data]


@pytest.mark.parametrize("held", [StoreKeys(KEY), StoreKeys(KEY).cipher("stream")])
def test_what_holds_a_key_is_neither_pickled_nor_copied(held):
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            copied(held)


def test_a_temporary_store_with_a_key_is_encrypted():
    with hexad.open(":memory:", embedder=None, background=False, key=KEY) as hx:
        hx.remember("The garden gate squeaks.")
        assert 1 == len(hx.recall("garden"))
        assert not [name for name, data in contents(hx.path).items() if b"squeaks" in data]
        assert hx.status().encryption.provider == "program"


def test_a_plain_store_is_not_opened_with_a_key(project):
    folder = made(project, None)
    before = contents(folder)
    with pytest.raises(InvalidInput, match="not encrypted"):
        opened(project, KEY)
    assert before == contents(folder)
    with opened(project) as hx:
        assert hx.status().encrypted is False


@pytest.mark.parametrize("key", [b"short", 7, ["words"]])
def test_what_can_be_no_key_is_refused_before_anything_is_made(project, key):
    with pytest.raises(InvalidInput, match="32"):
        opened(project, key)
    assert not (project / ".hexad" / "memory.db").exists()


# Files that were lost or swapped -----------------------------------------------------------------------------------


@pytest.mark.row("A131")
def test_without_its_record_an_encrypted_store_is_damaged_and_nothing_is_made_anew(project):
    folder = made(project, KEY)
    (folder / "encryption.json").rename(project / "aside")
    before = contents(folder)
    for key in (KEY, None, WORDS):
        with pytest.raises(IntegrityError, match=r"encryption\.json"):
            opened(project, key)
    after = contents(folder)
    del before["memory.db-commit"]  # a lock, and a count of who took it
    assert {name: after[name] for name in before} == before
    assert "encryption.json" not in after
    (project / "aside").rename(folder / "encryption.json")
    assert 1 == len(recalled(project, KEY))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-40],
        lambda data: b"",
        lambda data: data.replace(b'"n": 131072', b'"n": 65536'),
        lambda data: data.replace(b'"provider": "program"', b'"provider": "keyring"'),
        lambda data: b"[]",
        lambda data: b"[" * 100_000,
    ],
)
def test_a_damaged_record_is_told_from_a_wrong_key(project, change):
    folder = made(project, KEY)
    record = folder / "encryption.json"
    right = record.read_bytes()
    record.write_bytes(change(right))
    before = contents(folder)
    with pytest.raises(IntegrityError, match="damaged"):
        opened(project, KEY)
    assert before == contents(folder)
    record.write_bytes(right)
    assert 1 == len(recalled(project, KEY))


@pytest.mark.row("A131")
def test_a_plain_database_in_place_of_an_encrypted_one_is_refused_and_the_other_way_round(tmp_path, project):
    other = tmp_path / "other"
    other.mkdir()
    sealed, plain = made(project, KEY), made(other, None)
    right = (sealed / "memory.db").read_bytes()
    (sealed / "memory.db").write_bytes((plain / "memory.db").read_bytes())
    with pytest.raises(IntegrityError, match="not encrypted, though"):
        opened(project, KEY)
    (plain / "memory.db").write_bytes(right)
    with pytest.raises(IntegrityError, match=r"encryption\.json"):
        opened(other)


@pytest.mark.parametrize("encrypted_one", [True, False])
def test_key_files_of_the_store_that_are_of_the_other_kind_are_refused(tmp_path, project, encrypted_one):
    other = tmp_path / "other"
    other.mkdir()
    folders = {True: made(project, KEY), False: made(other, None)}
    foreign = (folders[not encrypted_one] / "keys.json").read_bytes()
    (folders[encrypted_one] / "keys.json").write_bytes(foreign)
    with pytest.warns(UserWarning, match=r"keys\.json"):
        hx = opened(folders[encrypted_one].parent, KEY if encrypted_one else None)
    with hx:
        found = hx.check()
        assert any("keys.json" in problem for problem in found)
        with pytest.raises(IntegrityError, match=r"keys\.json"):
            hx.spaces.export("default", force=True)


@pytest.mark.row("A131")
def test_a_plain_file_that_is_left_in_an_encrypted_store_is_found(project):
    folder = made(project, KEY)
    (folder / "exports" / "old.json").write_text("{}")
    (folder / "cache").mkdir(exist_ok=True)
    (folder / "cache" / "old.f32").write_bytes(b"vectors")
    with opened(project, KEY) as hx:
        found = hx.check()
    assert 2 == len(found)
    assert all("is not encrypted, though its store is" in problem for problem in found)


def test_a_sealed_file_that_is_left_in_a_plain_store_is_found(tmp_path, project):
    folder = made(project, None)
    (folder / "exports" / "old.json").write_bytes(b"".join(StoreKeys(KEY).cipher("exports").sealed([b"x"])))
    with opened(project) as hx:
        (found,) = hx.check()
    assert "is encrypted, though its store is not" in found


# Key files ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("A131")
def test_a_key_file_is_made_with_the_users_data_and_for_its_owner_alone(project, data):
    hexad.init(project, provider="key_file")
    (path,) = (data / "hexad" / "keys").iterdir()
    assert 0o600 == path.stat().st_mode & 0o777
    assert str(path) == hexad.encryption_state(project).key_file
    with opened(project) as hx:
        hx.remember("The garden gate squeaks.")
    assert ["The garden gate squeaks."] == recalled(project)
    path.chmod(0o640)
    with pytest.raises(AccessDenied, match="chmod 600"):
        opened(project)
    path.unlink()
    with pytest.raises(AccessDenied, match="HEXAD_KEY_FILE"):
        opened(project)


def test_a_key_file_that_is_there_is_used_and_never_written(tmp_path, project, monkeypatch):
    path = tmp_path / "my.key"
    for content in (KEY, KEY.hex().encode() + b"\n", b"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"):
        path.write_bytes(content)
        path.chmod(0o600)
        assert KEY == key_sources.read_key_file(path)
    monkeypatch.setenv("HEXAD_KEY_FILE", str(path))
    hexad.init(project, encrypt=True)
    assert content == path.read_bytes()
    assert [] == recalled(project)
    assert [] == recalled(project, KEY)  # the same key, given by a program


def test_a_key_file_without_a_key_is_refused_and_so_is_one_in_the_store(tmp_path, project):
    folder = tmp_path / "folder.key"
    folder.mkdir()
    (tmp_path / "few").write_text("abc")
    (tmp_path / "few").chmod(0o600)
    with pytest.raises(AccessDenied, match="holds no key"):
        opened(project, tmp_path / "few")
    with pytest.raises(AccessDenied, match="is no file"):
        opened(project, folder)
    with pytest.raises(InvalidInput, match="another place"):
        opened(project, project / ".hexad" / "my.key")
    assert not (project / ".hexad" / "memory.db").exists()


@pytest.mark.row("A131")
@pytest.mark.parametrize("how", ["variable", "argument"])
@pytest.mark.parametrize("named", ["not there", "for others too", "no key", "of another store"])
def test_a_key_file_that_is_named_is_the_one_that_is_used(tmp_path, project, data, monkeypatch, how, named):
    hexad.init(project, provider="key_file")
    there = hexad.encryption_state(project).key_file
    before = contents(project)
    path = tmp_path / "mine.key"
    if named != "not there":
        path.write_bytes(b"no key" if named == "no key" else KEY)
        path.chmod(0o644 if named == "for others too" else 0o600)
    if how == "variable":
        monkeypatch.setenv("HEXAD_KEY_FILE", str(path))
    given = path if how == "argument" else None
    with pytest.raises(AccessDenied, match=re.escape(str(path))) as denied:
        opened(project, given)
    assert ("HEXAD_KEY_FILE names" in str(denied.value)) == (how == "variable")
    assert there in str(denied.value)
    with pytest.raises(AccessDenied, match=re.escape(str(path))):
        hexad.rekey(project, key=given)
    with pytest.raises(AccessDenied, match=re.escape(str(path))):
        AuditLogWriter(project / ".hexad", "being-1", key=given)
    assert before == contents(project)
    path.unlink(missing_ok=True)
    path.write_bytes(Path(there).read_bytes())
    path.chmod(0o600)
    assert [] == recalled(project, given)


def test_a_variable_that_names_a_key_file_is_for_stores_whose_key_is_in_a_file(
    tmp_path, project, monkeypatch
):
    made(project, WORDS)
    monkeypatch.setenv("HEXAD_KEY_FILE", str(tmp_path / "of-another-project.key"))
    monkeypatch.setenv("HEXAD_PASSPHRASE", WORDS)
    assert ["The garden gate squeaks."] == recalled(project)


# Passphrases -------------------------------------------------------------------------------------------------------


@pytest.mark.row("A131")
def test_a_passphrase_from_the_environment_opens_the_store(project, monkeypatch):
    monkeypatch.setenv("HEXAD_PASSPHRASE", WORDS)
    hexad.init(project, encrypt=True, provider="passphrase")
    assert [] == recalled(project)
    monkeypatch.setenv("HEXAD_PASSPHRASE", WRONG_WORDS)
    with pytest.raises(AccessDenied, match="passphrase"):
        opened(project)
    monkeypatch.delenv("HEXAD_PASSPHRASE")
    with pytest.raises(AccessDenied, match="HEXAD_PASSPHRASE"):
        opened(project)


def test_a_passphrase_is_made_a_key_as_owasp_advises_and_however_it_is_typed(project):
    folder = made(project, "Gärten im Regen")  # composed
    said = json.loads((folder / "encryption.json").read_text())["scrypt"]
    assert {"n": 1 << 17, "r": 8, "p": 1} == said
    assert 1 == len(recalled(project, "Ga\u0308rten im Regen"))  # decomposed


def test_a_record_that_asks_for_all_of_the_memory_is_refused(project):
    folder = made(project, WORDS)
    record = json.loads((folder / "encryption.json").read_text())
    del record["sum"]
    record["scrypt"]["n"] = 1 << 30
    from hexad.database.encryption.record import _sum

    (folder / "encryption.json").write_text(json.dumps({**record, "sum": _sum(record)}))
    with pytest.raises(IntegrityError, match="memory"):
        opened(project, WORDS)


def test_a_passphrase_that_protects_nothing_is_refused(project):
    for words in ("", "short"):
        with pytest.raises(InvalidInput, match="passphrase"):
            opened(project, words)
    assert not (project / ".hexad" / "memory.db").exists()


# Commands ----------------------------------------------------------------------------------------------------------


def command(code: str) -> str:
    return f'{sys.executable} -c "{code}"'


@pytest.mark.row("A131")
@pytest.mark.parametrize(
    "code",
    [
        "print(bytes(range(32)).hex())",
        "import sys; sys.stdout.buffer.write(bytes(range(32)))",
        "import base64; print(base64.b64encode(bytes(range(32))).decode()); print(1)",
    ],
)
def test_a_command_gives_the_key(project, monkeypatch, code):
    monkeypatch.setenv("HEXAD_KEY_COMMAND", command(code))
    hexad.init(project, encrypt=True)
    assert "command" == hexad.encryption_state(project).provider
    assert [] == recalled(project)
    assert [] == recalled(project, KEY)


def test_a_line_of_a_command_is_taken_for_a_passphrase(project, monkeypatch):
    monkeypatch.setenv("HEXAD_KEY_COMMAND", command("print('a line of words'); print('another')"))
    hexad.init(project, encrypt=True)
    assert [] == recalled(project)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; print('00' * 32); sys.exit(3)", "ended with 3"),
        ("pass", "printed no key"),
        ("print('00')", "printed no key"),
        ("import time; time.sleep(60)", "did not end"),
        ("import os, time; os.close(1); time.sleep(60)", "did not end"),
        ("while True: print('0' * 63)", "printed no key, but more than"),
        ("print('0' * 5000)", "printed no key, but more than"),
    ],
)
def test_a_command_that_gives_no_key_is_said_to_and_its_output_is_not(
    project, monkeypatch, caplog, code, said
):
    monkeypatch.setattr(key_sources, "COMMAND_TIMEOUT_S", 0.5)
    monkeypatch.setenv("HEXAD_KEY_COMMAND", command("print('5e' * 32)"))
    hexad.init(project, encrypt=True)
    monkeypatch.setenv("HEXAD_KEY_COMMAND", command(code))
    with caplog.at_level(logging.DEBUG), pytest.raises(AccessDenied, match=said) as denied:
        opened(project)
    assert "0000" not in str(denied.value) + caplog.text


def test_no_shell_sees_a_command(tmp_path, project, monkeypatch):
    monkeypatch.setenv("HEXAD_KEY_COMMAND", f"echo {'5e' * 32} ; touch {tmp_path / 'touched'}")
    with pytest.raises(AccessDenied) as denied:
        hexad.init(project, encrypt=True, provider="command")
        (tmp_path / "project" / ".hexad" / "memory.db").unlink()
        monkeypatch.setenv("HEXAD_KEY_COMMAND", "no-such-program")
        opened(project)
    assert "no-such-program" in str(denied.value)
    assert not (tmp_path / "touched").exists()


def test_a_projects_file_cannot_name_a_command(project):
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text('[encryption]\ncommand = "touch /tmp/x"\n')
    with pytest.raises(InvalidInput, match="HEXAD_KEY_COMMAND"):
        opened(project)


# The system's keyring ----------------------------------------------------------------------------------------------

BACKEND = '''
import json, pathlib, keyring.backend, keyring.errors
class Backend(keyring.backend.KeyringBackend):
    """Keeps passwords in a file."""
    priority = 1
    path = pathlib.Path({path!r})
    def _all(self):
        return json.loads(self.path.read_text()) if self.path.exists() else {{}}
    def get_password(self, service, username):
        return self._all().get(service + "/" + username)
    def set_password(self, service, username, password):
        self.path.write_text(json.dumps({{**self._all(), service + "/" + username: password}}))
    def delete_password(self, service, username):
        self.path.write_text(json.dumps({{k: v for k, v in self._all().items() if k != service + "/" + username}}))
'''


@pytest.fixture
def keyring_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A keyring that keeps its passwords in this file."""
    keyring = pytest.importorskip("keyring")
    path = tmp_path / "keyring.json"
    space: dict[str, object] = {}
    exec(BACKEND.format(path=str(path)), space)
    previous = keyring.get_keyring()
    keyring.set_keyring(space["Backend"]())
    monkeypatch.setattr(keyring.core, "_keyring_backend", keyring.get_keyring())
    yield path
    keyring.set_keyring(previous)


@pytest.mark.row("A131")
def test_the_systems_keyring_holds_the_key_and_is_what_is_used_where_it_works(project, keyring_file):
    hexad.init(project, encrypt=True)
    state = hexad.encryption_state(project)
    assert "keyring" == state.provider
    assert [f"hexad/{state.key_id}"] == list(json.loads(keyring_file.read_text()))
    assert [] == recalled(project)
    keyring_file.unlink()
    with pytest.raises(AccessDenied, match=f"keyring has no key '{state.key_id}'"):
        opened(project)


def test_a_key_that_was_made_for_a_conversion_that_failed_leaves_the_keyring(
    project, keyring_file, monkeypatch
):
    made(project, None)
    with opened(project), pytest.raises(StoreLocked):
        hexad.encrypt(project, provider="keyring")
    monkeypatch.setattr("hexad.lifecycle.reencryption.free_bytes", lambda _path: 1 << 40)
    from hexad.database import files

    def full(operation: str, path: Path) -> None:
        if operation == "write" and "convert" in path.parts:
            raise OSError(28, "No space left on device")

    previous = files.set_hook(full)
    try:
        with pytest.raises(hexad.StorageFailure, match="full"):
            hexad.encrypt(project, provider="keyring")
    finally:
        files.set_hook(previous)
    assert not keyring_file.exists() or {} == json.loads(keyring_file.read_text())
    assert 1 == len(recalled(project))


def test_a_machine_without_a_keyring_says_what_else_there_is(project):
    pytest.importorskip("keyring")
    import keyring
    import keyring.backends.fail
    import keyring.backends.null

    previous = keyring.get_keyring()
    try:
        for backend in (keyring.backends.fail.Keyring(), keyring.backends.null.Keyring()):
            keyring.set_keyring(backend)
            assert not key_sources.keyring_is_usable()
            with pytest.raises(AccessDenied, match=r"--provider key_file.*passphrase.*command"):
                hexad.init(project, provider="keyring")
            assert not (project / ".hexad" / "encryption.json").exists()
    finally:
        keyring.set_keyring(previous)


# Beginning ---------------------------------------------------------------------------------------------------------


def test_a_store_that_is_there_is_not_begun_again(project):
    made(project, None)
    with pytest.raises(Conflict, match="hexad encrypt"):
        hexad.init(project, encrypt=True, key=KEY)


def test_a_store_whose_making_was_interrupted_after_its_record_is_made_by_the_next_to_open_it(project):
    folder = project / ".hexad"
    folder.mkdir()
    record = establish(folder, KeyGiven.of(KEY), provider="program").record
    (folder / "encryption.json").write_bytes(record.encoded())
    with pytest.raises(AccessDenied):
        opened(project)
    assert not (folder / "memory.db").exists()
    assert [] == recalled(project, KEY)
    assert record == read_record(folder)


def test_two_who_begin_a_store_with_different_keys_do_not_both_get_one(project):
    with opened(project, KEY), pytest.raises(AccessDenied):
        opened(project, bytes(32))
    with pytest.raises(InvalidInput, match="provider is 'keyring'"):
        hexad.rekey(project, key=KEY, new_key=bytes(32), provider="keyring")


@pytest.mark.row("A131")
def test_status_says_what_is_encrypted_and_with_what(project):
    made(project, KEY)
    with opened(project, KEY) as hx:
        status = hx.status()
    assert status.encrypted
    assert ("program", None) == (status.encryption.provider, status.encryption.key_file)
    assert {"AEGIS-256", "AES-256-GCM"} == set(status.encryption.parts.values())
    assert status.to_dict()["encryption"]["provider"] == "program"


def test_whoever_reads_is_named_to_whoever_needs_the_store_alone(project):
    made(project, None)
    child = f"import hexad, sys; hx = hexad.open({str(project)!r}, readonly=True, embedder=None); print(1, flush=True); sys.stdin.read()"
    import subprocess

    with subprocess.Popen(
        [sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        reader.stdout.readline()
        with pytest.raises(StoreLocked, match=rf"process {reader.pid} \(reading\)"):
            hexad.encrypt(project, key=KEY)
        reader.stdin.close()
    assert os.path.exists(project / ".hexad")
    hexad.encrypt(project, key=KEY)
    assert 1 == len(recalled(project, KEY))
