"""Two who change the encryption of one store at once: whoever comes second sees that, and one key opens it at the end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import hexad
from canaries import opened
from hexad import AccessDenied, Hexad
from hexad.core.clock import SystemClock
from hexad.database import files
from hexad.database.encryption.inventory import inventory_of
from hexad.database.encryption.record import KeyGiven, establish, unlock
from hexad.database.leases import OpenLock
from hexad.lifecycle.reencryption import Conversion
from hexad.services import components

OLD, NEW, OTHER = (bytes([number]) * 32 for number in (1, 2, 3))

# The clock is looked at when the old key was taken, and the store is not had yet.
CHILD = """
import sys, hexad
from hexad.core.clock import SystemClock

class Told(SystemClock):
    said = False
    def monotonic(self):
        if not self.said:
            self.said = True
            print("waiting", flush=True)
        return super().monotonic()

folder, what = sys.argv[1:3]
old, new = map(bytes.fromhex, sys.argv[3:])
try:
    if what == "decrypt":
        hexad.decrypt(folder, key=old, clock=Told())
    else:
        hexad.rekey(folder, key=old, new_key=new, wrap_only=what == "wrap", clock=Told())
    print("done", flush=True)
except hexad.HexadError as error:
    print(type(error).__name__, flush=True)
"""


@pytest.fixture
def store(project: Path) -> Path:
    with opened(project, OLD) as hx:
        hx.remember("The garden gate squeaks.", kind="decision")
        hx.xdb.start_session("monday")
        hx.xdb.record("output", "the gate squeaked")
        hx.xdb.seal()
    return project


class Change:
    """A change of a store's encryption in a process of its own, which waits for the store by now."""

    def __init__(self, store: Path, what: str, new: bytes = OTHER) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(store), what, OLD.hex(), new.hex()],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "waiting\n"

    def end(self) -> str:
        """Return what came of it."""
        said, _ = self._process.communicate(timeout=60)
        return said.split()[-1]


def keys_of(store: Path) -> list[bytes | None]:
    """Return which keys open a store, with all that it held."""
    found = []
    for key in (None, OLD, NEW, OTHER):
        try:
            hx: Hexad = opened(store, key)
        except (AccessDenied, hexad.InvalidInput):
            continue
        with hx:
            assert [] == hx.check()
            assert ["The garden gate squeaks."] == [hit.text for hit in hx.recall("garden gate")]
            assert ["the gate squeaked"] == [record.content for record in hx.xdb.recall(session_id="*")]
            found.append(key)
    return found


@contextmanager
def held(store: Path) -> Iterator[None]:
    """Have the store alone, as somebody who changes it has."""
    lock = OpenLock(store / ".hexad", clock=SystemClock(), purpose="a test")
    try:
        with lock.exclusively("test"):
            yield
    finally:
        lock.close()


def rekeyed(store: Path) -> None:
    """Do what `hexad.rekey` does when it has the store alone."""
    folder = store / ".hexad"
    made = establish(folder, KeyGiven.of(NEW), provider="program")
    old = unlock(folder, KeyGiven.of(OLD))
    Conversion(folder, inventory_of(components()), what="rekey", old=old, new=made.keys).run(made.record)


@pytest.mark.row("A131")
@pytest.mark.parametrize("second", ["wrap", "rekey", "decrypt"])
def test_who_took_the_old_key_and_waited_for_a_rekey_does_not_put_the_old_key_back(store, second):
    with held(store):
        other = Change(store, second)
        rekeyed(store)
    assert "Conflict" == other.end()
    assert [NEW] == keys_of(store)


@pytest.mark.row("A131")
def test_a_new_passphrase_does_not_encrypt_a_store_that_was_decrypted_meanwhile(store):
    with held(store):
        other = Change(store, "wrap")
        old = unlock(store / ".hexad", KeyGiven.of(OLD))
        Conversion(store / ".hexad", inventory_of(components()), what="decrypt", old=old, new=None).run(None)
    assert "Conflict" == other.end()
    assert [None] == keys_of(store)


@pytest.mark.row("A131")
def test_of_two_new_passphrases_at_once_only_one_is_said_to_be_the_new_one(store):
    with held(store):
        first, second = Change(store, "wrap", NEW), Change(store, "wrap", OTHER)
    came = {NEW: first.end(), OTHER: second.end()}
    assert {"done", "Conflict", "StoreLocked"} >= set(came.values())
    done = [key for key, said in came.items() if said == "done"]
    assert (done or [OLD]) == keys_of(store)


def test_a_new_passphrase_needs_the_store_alone(store):
    with opened(store, OLD), pytest.raises(hexad.StoreLocked, match="rekey"):
        hexad.rekey(store, key=OLD, new_key=NEW, wrap_only=True)
    assert [OLD] == keys_of(store)


@pytest.mark.row("A131")
@pytest.mark.parametrize("second", ["wrap", "rekey"])
def test_who_waited_for_a_rekey_that_was_interrupted_ends_it_before_anything_else(store, second):
    def fail(operation: str, path: Path) -> None:
        if operation == "rename" and path.name == "memory.db" and "convert" not in path.parts:
            raise OSError(5, "Input/output error")

    with held(store):
        other = Change(store, second)
        previous = files.set_hook(fail)
        try:
            with pytest.raises(hexad.StorageFailure):
                rekeyed(store)
        finally:
            files.set_hook(previous)
        assert (store / ".hexad" / "convert" / "journal.json").exists()
    assert "Conflict" == other.end()
    assert not (store / ".hexad" / "convert").exists()
    assert [NEW] == keys_of(store)
