"""Damaged files: opening and reading either works with right rows, or says that the store is damaged.

SQLite keeps no checksum of a database page, so a flipped bit inside a row's text is returned as it is; the
rows here carry their own checksum, as memories do, and such damage counts as found when that does not fit.
In the WAL every frame has one: SQLite takes the first that does not fit for the end of what was committed, so
that damage there can cost the latest commits, and nothing else.
"""

from __future__ import annotations

import collections
import multiprocessing
import random
import shutil
from concurrent.futures import ProcessPoolExecutor
from enum import Enum
from pathlib import Path

import pytest
from stress_processes import Recorder
from stress_target import body_of, open_store, problems, read, write

from hexad.database.connection import PAGE_BYTES
from hexad.errors import IntegrityError

SHORT_IMAGES, LONG_IMAGES = 60, 10_000
BATCH = 500
CHECKPOINTED, IN_WAL = 60, 30
_context = multiprocessing.get_context("forkserver")


class Found(Enum):
    RIGHT = "every row is right"
    REFUSED = "IntegrityError"
    CHECKED = "a row or page that a check finds"
    SHORTENED = "the latest commits of the WAL are gone, nothing else"
    SILENT = "wrong, and nothing says so"


def make_original(directory: Path) -> None:
    """Leave a database with rows in it and a WAL with more of them, as a killed process does."""
    live = directory / "live"
    store = open_store(live / "memory.db")
    for n in range(CHECKPOINTED):
        write(store, 0, n)
    store.close()
    store = open_store(live / "memory.db")
    for n in range(CHECKPOINTED, CHECKPOINTED + IN_WAL):
        write(store, 0, n)
    for name in ("memory.db", "memory.db-wal"):
        shutil.copy(live / name, directory / name)
    store.close()


def damage(content: bytearray, chance: random.Random) -> str:
    """Change the file in one of the ways in which disks and copies do; return how."""
    where = chance.randrange(len(content))
    match chance.choice(("bits", "bits", "truncate", "zero", "garbage")):
        case "bits":
            for _ in range(chance.choice((1, 1, 3, 8))):
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            return "bits"
        case "truncate":
            del content[where:]
            return "truncated"
        case "zero":
            start = where // PAGE_BYTES * PAGE_BYTES
            content[start : start + PAGE_BYTES] = bytes(len(content[start : start + PAGE_BYTES]))
            return "zeroed"
        case _:
            size = min(chance.choice((4, 64, 512)), len(content) - where)
            content[where : where + size] = chance.randbytes(size)
            return "garbage"


def look(path: Path, *, in_wal: bool) -> Found:
    """Open and read as a user does; any exception but `IntegrityError` escapes."""
    try:
        store = open_store(path)
    except IntegrityError:
        return Found.REFUSED
    try:
        rows, _ = read(store)
        complaints = problems(store)
    except IntegrityError:
        return Found.REFUSED
    finally:
        store.close()
    if complaints:
        return Found.CHECKED
    numbers = {n for _worker, n, *_ in rows}
    if any(body != body_of(worker, n, part) for worker, n, part, body, _crc in rows):
        return Found.SILENT
    if numbers == set(range(CHECKPOINTED + IN_WAL)):
        return Found.RIGHT
    shortened = in_wal and numbers == set(range(len(numbers))) and len(numbers) >= CHECKPOINTED
    return Found.SHORTENED if shortened else Found.SILENT


def look_at_batch(original: Path, scratch: Path, seed: int, images: int) -> dict[str, int]:
    """Damage and look, many times; runs in a process of its own, so that a crash is seen."""
    chance = random.Random(seed)
    tally: collections.Counter[str] = collections.Counter()
    for number in range(images):
        directory = scratch / f"{seed}-{number}"
        directory.mkdir()
        target = chance.choice(("memory.db", "memory.db-wal"))
        for name in ("memory.db", "memory.db-wal"):
            content = bytearray((original / name).read_bytes())
            how = damage(content, chance) if name == target else ""
            (directory / name).write_bytes(content)
            if how:
                label = f"{target} {how}"
        tally[f"{label}: {look(directory / 'memory.db', in_wal=target == 'memory.db-wal').value}"] += 1
        shutil.rmtree(directory)
    return dict(tally)


def look_at(tmp_path: Path, *, images: int) -> collections.Counter[str]:
    make_original(tmp_path)
    total: collections.Counter[str] = collections.Counter()
    with ProcessPoolExecutor(1, mp_context=_context) as pool:
        for seed, start in enumerate(range(0, images, BATCH)):
            # A process that crashes is a `BrokenProcessPool` here.
            total.update(
                pool.submit(look_at_batch, tmp_path, tmp_path, seed, min(BATCH, images - start)).result()
            )
    return total


def assert_nothing_silent(tally: collections.Counter[str]) -> None:
    assert {} == {kind: count for kind, count in tally.items() if Found.SILENT.value in kind}
    assert any(Found.REFUSED.value in kind for kind in tally)
    assert any(Found.CHECKED.value in kind for kind in tally)


def test_a_damaged_store_reads_right_or_says_so(tmp_path: Path, record_property: Recorder) -> None:
    assert_nothing_silent(look_at(tmp_path, images=SHORT_IMAGES))
    record_property("damaged databases", SHORT_IMAGES)


@pytest.mark.long
def test_ten_thousand_damaged_stores_read_right_or_say_so(tmp_path: Path, record_property: Recorder) -> None:
    tally = look_at(tmp_path, images=LONG_IMAGES)
    print(*sorted(tally.items()), sep="\n")

    assert_nothing_silent(tally)
    record_property("damaged databases", LONG_IMAGES)
