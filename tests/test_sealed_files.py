"""Sealing: what is sealed opens whole and unchanged or not at all, and a database with a key shows nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.core.clock import SystemClock
from hexad.database.connection import Database
from hexad.database.encryption.cipher import (
    BLOCK_BYTES,
    CACHE,
    HEADER_BYTES,
    MEMORY_DB,
    STREAM,
    StoreKeys,
    is_sealed,
    plain_size,
    sealed_block_bytes,
)
from hexad.errors import IntegrityError, InvalidInput

KEYS = StoreKeys(bytes(range(32)))
OTHER = StoreKeys(bytes(32))
SIZES = st.one_of(
    st.integers(0, 40),
    st.sampled_from([BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES, 2 * BLOCK_BYTES + 7]),
)


def _sealed(data: bytes) -> bytes:
    return b"".join(KEYS.cipher(STREAM).sealed([data[:7], data[7:]]))


@given(SIZES)
def test_a_sealed_file_opens_to_what_it_was_made_of_and_says_its_size(size: int) -> None:
    data = (b"token %d " % size) * (size // 8 + 1)
    data = data[:size]
    sealed = _sealed(data)
    assert is_sealed(sealed)
    assert plain_size(len(sealed), name="f") == size
    assert KEYS.cipher(STREAM).unsealed(sealed, name="f") == data
    assert size < 8 or data[:8] not in sealed


@given(SIZES, st.randoms(use_true_random=False))
def test_a_changed_byte_or_a_cut_end_is_noticed(size: int, random: object) -> None:
    sealed = _sealed(bytes(size))
    place = random.randrange(len(sealed))  # type: ignore[attr-defined]
    changed = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
    for wrong in (changed, sealed[:place], sealed + b"x"):
        with pytest.raises(IntegrityError, match="f"):
            KEYS.cipher(STREAM).unsealed(wrong, name="f")


def test_blocks_cannot_change_places_nor_be_left_out_at_a_block_boundary() -> None:
    sealed, step = _sealed(bytes(3 * BLOCK_BYTES)), sealed_block_bytes()
    head, blocks = sealed[:HEADER_BYTES], [sealed[HEADER_BYTES + step * i :][:step] for i in range(3)]
    cipher = KEYS.cipher(STREAM)
    assert cipher.unsealed(head + b"".join(blocks), name="f")
    for wrong in ([blocks[1], blocks[0], blocks[2]], blocks[:2], blocks[1:], [*blocks, blocks[2]]):
        with pytest.raises(IntegrityError):
            cipher.unsealed(head + b"".join(wrong), name="f")


def test_another_store_and_another_purpose_open_nothing() -> None:
    sealed = _sealed(b"what was said")
    value = KEYS.cipher(CACHE).seal(b"a value", context=b"here")
    for cipher in (OTHER.cipher(STREAM), KEYS.cipher(CACHE)):
        with pytest.raises(IntegrityError):
            cipher.unsealed(sealed, name="f")
    assert KEYS.cipher(CACHE).open(value, context=b"here", name="v") == b"a value"
    for cipher, context in ((OTHER.cipher(CACHE), b"here"), (KEYS.cipher(CACHE), b"there")):
        with pytest.raises(IntegrityError):
            cipher.open(value, context=context, name="v")
    assert bytes(range(32)).hex() not in repr(KEYS)


def test_a_database_with_a_key_shows_nothing_and_opens_with_that_key_only(tmp_path: Path) -> None:
    path, key = tmp_path / "memory.db", KEYS.derive(MEMORY_DB)
    db = Database.open(path, clock=SystemClock(), key=key)
    with db.transaction() as con:
        con.execute("CREATE TABLE told(what TEXT)")
        con.executemany("INSERT INTO told VALUES(?)", [(f"canary-{n}",) for n in range(1_000)])
    assert {file.name for file in tmp_path.iterdir()} >= {"memory.db", "memory.db-wal", "memory.db-shm"}
    _shows_nothing(tmp_path)
    for wrong in (None, OTHER.derive(MEMORY_DB)):
        with pytest.raises(IntegrityError):
            Database.open(path, clock=SystemClock(), key=wrong)
    db.close()
    _shows_nothing(tmp_path)
    again = Database.open(path, clock=SystemClock(), key=key, readonly=True)
    assert again.query("SELECT count(*) FROM told") == [(1_000,)]
    again.close()


def _shows_nothing(folder: Path) -> None:
    for file in folder.iterdir():
        data = file.read_bytes()
        assert b"canary" not in data, file.name
        assert b"SQLite format" not in data, file.name


def test_a_plain_database_does_not_open_with_a_key_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Database.open(path, clock=SystemClock()).close()
    before = path.read_bytes()
    with pytest.raises(IntegrityError):
        Database.open(path, clock=SystemClock(), key=KEYS.derive(MEMORY_DB))
    assert path.read_bytes() == before


def test_a_key_is_refused_together_with_a_foreign_file_system_layer(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="encrypted"):
        Database.open(tmp_path / "memory.db", clock=SystemClock(), key=bytes(32), vfs="unix-excl")
    assert not (tmp_path / "memory.db").exists()
