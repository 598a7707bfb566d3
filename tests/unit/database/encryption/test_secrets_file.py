from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hexad.database.encryption.secrets_file import KeyStore
from hexad.errors import AccessDenied, IntegrityError

PRINT_SALT = """
    import sys
    from pathlib import Path
    from hexad.database.encryption.secrets_file import KeyStore
    sys.stdin.readline()
    print(KeyStore(Path(sys.argv[1])).redaction_salt.hex())
"""


def test_the_secrets_are_made_once_private_and_stay_the_same(tmp_path: Path) -> None:
    path = tmp_path / ".hexad" / "keys.json"
    first = KeyStore(path)

    assert 32 == len(first.redaction_salt)
    assert first.redaction_salt == KeyStore(path).redaction_salt
    assert 0o600 == path.stat().st_mode & 0o777
    assert first.redaction_salt != KeyStore(tmp_path / "other.json").redaction_salt


def test_what_one_signs_another_verifies(tmp_path: Path) -> None:
    signature = KeyStore(tmp_path / "keys.json").signing_key().sign(b"export")

    KeyStore(tmp_path / "keys.json").signing_key().public_key().verify(signature, b"export")


def test_reading_the_salt_does_not_load_cryptography(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from hexad.database.encryption.secrets_file import KeyStore;"
        "KeyStore(Path(sys.argv[1])).redaction_salt; print('cryptography' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "keys.json")], capture_output=True, text=True, check=True
    )

    assert "False" == done.stdout.strip()


def test_of_processes_that_need_the_secrets_at_once_all_read_the_same(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(PRINT_SALT), str(tmp_path / "keys.json")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for child in children:
        assert child.stdin
        child.stdin.write("go\n")
        child.stdin.flush()
    salts = {child.communicate()[0].strip() for child in children}

    assert {KeyStore(tmp_path / "keys.json").redaction_salt.hex()} == salts
    assert ["keys.json"] == os.listdir(tmp_path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_key_file_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "keys.json"
    _ = KeyStore(path).redaction_salt
    path.chmod(mode)

    with pytest.raises(AccessDenied, match=f"has mode {mode:04o}.*chmod 600 {path}"):
        _ = KeyStore(path).redaction_salt
    assert f"{mode:04o}" == KeyStore(path).state().mode
    assert "chmod 600" in str(KeyStore(path).state().problem)


@pytest.mark.parametrize("content", ["", "{}", "[]", "null", '{"version": 1, "redaction_salt": "zz"}'])
def test_a_damaged_key_file_is_never_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(content)
    path.chmod(0o600)

    with pytest.raises(IntegrityError, match="is damaged"):
        _ = KeyStore(path).redaction_salt
    assert content == path.read_text()


def test_a_key_of_the_wrong_length_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    _ = KeyStore(path).redaction_salt
    path.write_text(path.read_text().replace(KeyStore(path).redaction_salt.hex(), "00" * 31))

    with pytest.raises(IntegrityError, match="wrong length"):
        _ = KeyStore(path).redaction_salt


def test_the_state_is_shown_without_making_the_file_or_telling_a_secret(tmp_path: Path) -> None:
    keys = KeyStore(tmp_path / "keys.json")
    before = keys.state()
    salt = keys.redaction_salt.hex()
    after = keys.state()

    assert (False, None, None) == (before.exists, before.mode, before.problem)
    assert (True, "0600", None) == (after.exists, after.mode, after.problem)
    assert salt not in repr(after)
