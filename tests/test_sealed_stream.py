"""DuckDB on sealed files: it reads what it wrote, only the blocks it needs, and no other file has any of it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import hexad
from hexad.database import files
from hexad.database.encryption import sealed_files
from hexad.database.encryption.cipher import BLOCK_BYTES, HEADER_BYTES, STREAM, Blocks, StoreKeys, is_sealed
from hexad.database.encryption.sealed_files import SealedReader, SealedWriter
from hexad.errors import HexadError, IntegrityError, InvalidInput, StorageFailure
from hexad.experience.stream.duckdb_engine import DuckDbEngine, quoted

KEYS = StoreKeys(bytes(range(32)))
ROWS = 400_000


@pytest.fixture
def duck() -> Iterator[DuckDbEngine]:
    duck = DuckDbEngine(KEYS.cipher(STREAM))
    yield duck
    duck.close()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the blocks that were decrypted."""
    numbers: list[int] = []
    was = Blocks.open

    def open_one(self: Blocks, number: int, sealed: bytes | memoryview, *, last: bool) -> bytes:
        numbers.append(number)
        return was(self, number, sealed, last=last)

    monkeypatch.setattr(Blocks, "open", open_one)
    return numbers


def _write(duck: DuckDbEngine, path: Path, rows: int = ROWS) -> None:
    # Texts that do not compress, so that the file has blocks enough.
    with duck.cursor(path) as cursor:
        cursor.execute(
            f"COPY (SELECT i AS tick, md5(i::VARCHAR) AS content, 'canary-' || i AS event FROM range({rows}) t(i)"
            f" ORDER BY tick) TO '{quoted(duck.name(path))}' (FORMAT parquet, ROW_GROUP_SIZE 8192, KV_METADATA {{said: 'here'}})"
        )


def _read(duck: DuckDbEngine, path: Path, columns: str, where: str = "true") -> list[tuple[object, ...]]:
    with duck.cursor(path) as cursor:
        return cursor.execute(
            f"SELECT {columns} FROM read_parquet(?, hive_partitioning = false, filename = true) WHERE {where}",
            [[duck.name(path)]],
        ).fetchall()


@pytest.mark.parametrize("folder", ["plain", "a [b]*?'%20 é", "x://y"])
def test_duckdb_reads_what_it_wrote_wherever_the_store_lies(
    tmp_path: Path, duck: DuckDbEngine, folder: str
) -> None:
    path = tmp_path / folder / "a.parquet"
    path.parent.mkdir(parents=True)
    _write(duck, path, rows=100_000)
    (row,) = _read(duck, path, "count(*), max(tick), any_value(filename)")
    assert (100_000, 99_999, duck.name(path)) == row
    with duck.cursor(path) as cursor:
        ((said,),) = cursor.execute(
            "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = 'said'", [duck.name(path)]
        ).fetchall()
    assert "here" == said
    assert [path] == [file for file in tmp_path.rglob("*") if file.is_file()]
    data = path.read_bytes()
    assert is_sealed(data)
    assert b"PAR1" not in data
    assert b"canary" not in data


def test_a_question_decrypts_only_the_blocks_that_it_needs(
    tmp_path: Path, duck: DuckDbEngine, opened: list[int]
) -> None:
    path = tmp_path / "a.parquet"
    _write(duck, path)
    blocks = path.stat().st_size // BLOCK_BYTES
    assert blocks > 100
    opened.clear()
    assert [(ROWS,)] == _read(duck, path, "count(*)")
    assert len(opened) <= 3  # the footer
    opened.clear()
    (row,) = _read(duck, path, "content, event", f"tick = {ROWS // 2}")
    assert f"canary-{ROWS // 2}" == row[1]
    assert len(opened) < blocks / 10
    opened.clear()
    _read(duck, path, "sum(length(event))")
    assert len(set(opened)) < blocks * 0.8  # the larger part is in a column that nobody asks for


@pytest.mark.parametrize(
    "place", ["header", "first block", "middle", "footer", "cut", "cut in a block", "plain"]
)
def test_damage_is_told_by_the_name_of_the_file(tmp_path: Path, duck: DuckDbEngine, place: str) -> None:
    path = tmp_path / "a.parquet"
    _write(duck, path)
    data = bytearray(path.read_bytes())
    places = {
        "header": 3,
        "first block": HEADER_BYTES + 5,
        "middle": len(data) // 2,
        "footer": len(data) - 30,
    }
    if place in places:
        data[places[place]] ^= 1
    elif place == "plain":
        data = bytearray(b"PAR1" + bytes(100) + b"PAR1")
    else:
        step = BLOCK_BYTES + 16
        del data[HEADER_BYTES + 20 * step + (0 if place == "cut" else 7) :]
    path.write_bytes(data)
    with pytest.raises(IntegrityError, match=r"a\.parquet .*Put a backup in its place"):
        _read(duck, path, "sum(length(content)), sum(length(event)), sum(tick)")
    # What is whole in a damaged file can still be read.
    if place == "middle":
        assert [(ROWS,)] == _read(duck, path, "count(*)")


def test_a_file_of_another_store_is_refused(tmp_path: Path, duck: DuckDbEngine) -> None:
    path, other = tmp_path / "a.parquet", DuckDbEngine(StoreKeys(bytes(32)).cipher(STREAM))
    _write(other, path, rows=10)
    other.close()
    with pytest.raises(IntegrityError, match="from another store"):
        _read(duck, path, "count(*)")


@pytest.mark.parametrize("at", [1, 3])
def test_a_disk_that_refuses_to_write_or_to_read_is_a_failure_of_storage(
    tmp_path: Path, duck: DuckDbEngine, at: int
) -> None:
    path, calls = tmp_path / "a.parquet", 0

    def hook(operation: str, where: Path) -> None:
        nonlocal calls
        if where == path and operation == "write":
            calls += 1
            if calls >= at:
                raise OSError(28, "refused by the test")

    previous = files.set_hook(hook)
    try:
        with pytest.raises(StorageFailure, match=r"a\.parquet: refused by the test"):
            _write(duck, path)
    finally:
        files.set_hook(previous)
    path.unlink(missing_ok=True)
    path.mkdir()
    with pytest.raises(StorageFailure, match=r"a\.parquet: Is a directory"):
        _read(duck, path, "sum(length(content))")
    with pytest.raises(StorageFailure, match=r"b\.parquet"):
        _read(duck, tmp_path / "b.parquet", "count(*)")


def test_no_file_stays_open_after_a_question(tmp_path: Path, duck: DuckDbEngine) -> None:
    _write(duck, tmp_path / "a.parquet", rows=1_000)
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        _read(duck, tmp_path / "a.parquet", "count(*), max(content)")
    assert before >= len(os.listdir("/dev/fd"))


def test_several_threads_read_the_same_files_at_once(tmp_path: Path, duck: DuckDbEngine) -> None:
    paths = [tmp_path / f"{number}.parquet" for number in range(4)]
    for path in paths:
        _write(duck, path, rows=60_000)
    found: list[object] = []

    def ask(number: int) -> None:
        for turn in range(6):
            tick = (number * 997 + turn * 7919) % 60_000
            try:
                found.append(
                    _read(duck, paths[(number + turn) % 4], "event", f"tick = {tick}")
                    == [(f"canary-{tick}",)]
                )
            except HexadError as error:
                found.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [True] * 36 == found


def test_parts_of_a_sealed_file_are_those_of_what_it_was_made_of(tmp_path: Path) -> None:
    plain = b"".join(b"%07d " % number for number in range(3 * BLOCK_BYTES // 8)) + b"end"
    writer = SealedWriter(tmp_path / "f", KEYS.cipher(STREAM))
    for at in range(0, len(plain), 10_007):
        writer.write(plain[at : at + 10_007])
    assert len(plain) == writer.tell()
    writer.close()
    writer.close()
    assert plain == KEYS.cipher(STREAM).read(tmp_path / "f")
    with SealedReader(tmp_path / "f", KEYS.cipher(STREAM)) as reader:
        assert len(plain) == reader.size
        borders = (
            0,
            1,
            BLOCK_BYTES - 1,
            BLOCK_BYTES,
            BLOCK_BYTES + 1,
            3 * BLOCK_BYTES,
            len(plain),
            len(plain) + 9,
        )
        for begin in borders:
            for end in borders:
                assert plain[begin:end] == reader.part(begin, min(end, len(plain)))
        reader.seek(-3, 2)
        assert b"end" == reader.read()
        assert b"" == reader.read(5)


def test_without_the_package_it_says_which_extra_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sealed_files._filesystem_class.cache_clear()
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(InvalidInput, match=r"hexad\[encryption\]"):
        sealed_files.require_fsspec()
    duck = DuckDbEngine(KEYS.cipher(STREAM))
    with pytest.raises(InvalidInput, match=r"hexad\[encryption\]"), duck.cursor(tmp_path):
        pass
    duck.close()
    with pytest.raises(InvalidInput, match=r"hexad\[encryption\]"):
        hexad.open(tmp_path, key=bytes(32), embedder=None)
    assert not (tmp_path / ".hexad" / "memory.db").exists()
    hexad.open(tmp_path, embedder=None).close()  # a plain one does without
