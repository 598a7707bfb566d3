"""The user layer's own key and switch: what opens it, what an encrypted project refuses, what a change leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hexad
from hexad import AccessDenied, Conflict, InvalidInput, NotFound, StoreLocked
from user_projects import open_project, use

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
WORDS = "six words are better than one"
CANARY = "Zanzibarbase"


def user_dir() -> Path:
    return Path(os.environ["HEXAD_USER_DIR"])


def readable() -> list[str]:
    return [
        path.name for path in user_dir().rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()
    ]


def made(tmp_path: Path) -> None:
    with open_project(tmp_path / "one") as hx:
        hx.user.prefer("db", CANARY)
        hx.user.observe(f"Loves {CANARY}")


def known(tmp_path: Path, key: object = None, name: str = "one") -> list[str]:
    with open_project(tmp_path / name, user_key=key) as hx:
        assert [] == hx.user.check()
        return [preference.value for preference in hx.user.preferences()]


@pytest.mark.row("A035", "A131")
def test_an_encrypted_layer_opens_with_its_own_key_and_says_nothing_without(tmp_path):
    made(tmp_path)
    assert ["user.db"] == readable()
    assert hexad.encryption_state(user=True) is None

    report = hexad.encrypt(user=True, key=KEY)

    assert ("program", 1) == (report.provider, report.files)
    assert [] == readable()
    state = hexad.encryption_state(user=True)
    assert state is not None
    assert "program" == state.provider
    assert [CANARY] == known(tmp_path, KEY)
    for key in (None, OTHER):
        with open_project(tmp_path / "one", user_key=key) as hx:
            with pytest.raises(AccessDenied, match="user_key="):
                hx.user.preferences()
            hx.remember("The store itself works.")
    assert [CANARY] == known(tmp_path, KEY, "two")


@pytest.mark.row("A035")
def test_the_layer_has_variables_of_its_own(tmp_path, monkeypatch):
    made(tmp_path)
    monkeypatch.setenv("HEXAD_PASSPHRASE", "words of some project's store")
    monkeypatch.setenv("HEXAD_USER_PASSPHRASE", WORDS)
    hexad.encrypt(user=True, provider="passphrase")
    assert [CANARY] == known(tmp_path)
    monkeypatch.delenv("HEXAD_USER_PASSPHRASE")
    with open_project(tmp_path / "one") as hx, pytest.raises(AccessDenied, match="HEXAD_USER_PASSPHRASE"):
        hx.user.preferences()
    assert [CANARY] == known(tmp_path, WORDS)


def test_a_key_file_lies_beside_the_layer_and_opens_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("HEXAD_USER_DIR")
    monkeypatch.setenv("HEXAD_USER_DIR", str(tmp_path / "data" / "hexad"))
    made(tmp_path)
    report = hexad.encrypt(user=True, provider="key_file")
    assert report.key_file is not None
    assert (tmp_path / "data" / "hexad" / "keys") == Path(report.key_file).parent
    assert () == report.left
    assert [CANARY] == known(tmp_path)


def test_a_new_key_opens_it_and_the_old_one_does_not(tmp_path):
    made(tmp_path)
    hexad.encrypt(user=True, key=KEY)
    hexad.rekey(user=True, key=KEY, new_key=OTHER)
    assert [CANARY] == known(tmp_path, OTHER)
    with pytest.raises(AccessDenied):
        known(tmp_path, KEY)
    hexad.rekey(user=True, key=OTHER, new_key=KEY, wrap_only=True)
    assert [CANARY] == known(tmp_path, KEY)

    hexad.decrypt(user=True, key=KEY)
    assert [CANARY] == known(tmp_path)
    assert hexad.encryption_state(user=True) is None
    with pytest.raises(Conflict):
        hexad.decrypt(user=True)


def test_a_change_of_keys_needs_the_layer_alone_and_a_dry_run_changes_nothing(tmp_path):
    with pytest.raises(NotFound, match="no user layer"):
        hexad.encrypt(user=True, key=KEY, dry_run=True)
    assert not user_dir().exists()
    made(tmp_path)
    before = (user_dir() / "user.db").read_bytes()
    assert hexad.encrypt(user=True, key=KEY, dry_run=True).bytes > 0
    assert before == (user_dir() / "user.db").read_bytes()
    with open_project(tmp_path / "one") as hx:
        hx.user.prefer("orm", "Prisma")
        with pytest.raises(StoreLocked, match="has the store open"):
            hexad.encrypt(user=True, key=KEY)
    assert hexad.encryption_state(user=True) is None


def test_a_layer_can_be_encrypted_before_anything_is_known(tmp_path):
    hexad.encrypt(user=True, key=KEY)
    with open_project(tmp_path / "one", user_key=KEY) as hx:
        hx.user.prefer("db", CANARY)
    assert [] == readable()


def test_a_program_with_a_key_begins_an_encrypted_layer(tmp_path):
    with open_project(tmp_path / "one", user_key=KEY) as hx:
        hx.user.prefer("db", CANARY)
    assert [] == readable()
    assert [CANARY] == known(tmp_path, KEY)


def test_a_key_for_a_plain_layer_is_refused(tmp_path):
    made(tmp_path)
    with (
        open_project(tmp_path / "one", user_key=KEY) as hx,
        pytest.raises(InvalidInput, match="not encrypted"),
    ):
        hx.user.preferences()


# An encrypted project --------------------------------------------------------------------------------------------


@pytest.mark.row("A035", "A129")
def test_an_encrypted_project_refuses_to_write_to_a_plain_layer_and_may_read_it(tmp_path):
    made(tmp_path)
    with open_project(tmp_path / "safe", key=KEY) as hx:
        use(hx, db="Secretbase")
        assert [CANARY] == [preference.value for preference in hx.user.preferences()]
        for call in (
            lambda: hx.user.prefer("orm", "Prisma"),
            hx.user.learn,
            lambda: hx.user.accept("db", CANARY),
            lambda: hx.user.suppress("Prisma"),
            lambda: hx.user.exception("db", "SQLite", reason="small"),
        ):
            with pytest.raises(AccessDenied, match=r"hexad encrypt --user.*allow_plain = true"):
                call()
        hx.maintain()
        assert {"preferences": 1, "patterns": 1} == dict(hx.user.counts())
    assert b"Secretbase" not in (user_dir() / "user.db").read_bytes()


def test_an_encrypted_project_makes_no_plain_layer(tmp_path):
    with open_project(tmp_path / "safe", key=KEY) as hx:
        use(hx, db="Postgres")
        hx.maintain()
        with pytest.raises(AccessDenied, match="allow_plain"):
            hx.user.prefer("db", "Postgres")
    assert not (user_dir() / "user.db").exists()


def test_an_encrypted_project_writes_where_it_is_told_to_or_the_layer_is_encrypted(tmp_path):
    toml = "[user]\nallow_plain = true\n"
    with open_project(tmp_path / "told", key=KEY, toml=toml) as hx:
        hx.user.prefer("db", CANARY)
    assert ["user.db"] == readable()
    hexad.encrypt(user=True, key=OTHER)
    with open_project(tmp_path / "safe", key=KEY, user_key=OTHER) as hx:
        hx.user.prefer("orm", "Prisma")
        assert 2 == len(hx.user.preferences())


def test_what_was_published_before_a_project_was_encrypted_can_be_taken_back(tmp_path):
    with open_project(tmp_path / "one") as hx:
        use(hx, db=CANARY)
        hx.user.learn()
    hexad.encrypt(tmp_path / "one", key=KEY)
    with open_project(tmp_path / "one", key=KEY) as hx:
        assert 1 == hx.user.retract()
    assert [] == readable()


@pytest.mark.parametrize("journal", [False, True])
def test_a_change_of_keys_that_was_killed_is_undone_or_ended_by_the_next_use(tmp_path, monkeypatch, journal):
    made(tmp_path)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    # Before the journal the new file is made and nothing has changed; after it the switch goes on.
    place = (
        "hexad.database.encryption.file_swap._finish"
        if journal
        else "hexad.database.encryption.file_swap.sync_tree"
    )
    with monkeypatch.context() as patched:
        patched.setattr(place, killed)
        patched.setattr("hexad.lifecycle.reencryption.give_up", lambda _: None)
        patched.setattr("hexad.database.encryption.file_swap.give_up", lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            hexad.encrypt(user=True, key=KEY)
    assert (user_dir() / "convert").exists()

    assert [CANARY] == known(tmp_path, KEY if journal else None)

    assert not (user_dir() / "convert").exists()
    assert [] == (readable() if journal else [])
