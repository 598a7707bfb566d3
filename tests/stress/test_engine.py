"""Kills, crowds and failing disks, through `remember`, `ingest`, `forget` and their siblings."""

from __future__ import annotations

import errno
import random
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import apsw
import engine_target
import pytest
from stress_processes import Operation, Recorder, run_and_kill, run_to_the_end
from stress_vfs import FailingVFS

from hexad import Hexad, HexadError
from hexad.database.connection import Database

OPERATION = Operation(engine_target.open_store, engine_target.write)
SHORT_KILLS, LONG_KILLS = 2, 1_000
STORE_EVERY_CYCLES = 25
SHORT_STRIDE = 41


def kill_cycles(directory: Path, *, cycles: int) -> int:
    chance = random.Random(cycles)
    acknowledged: set[tuple[int, int]] = set()
    count = 0
    for cycle in range(cycles):
        if cycle % STORE_EVERY_CYCLES == 0:
            count += len(acknowledged)
            acknowledged = set()
        folder = directory / str(cycle // STORE_EVERY_CYCLES)
        first = cycle * 100_000
        some, errors = run_and_kill(
            folder, workers=8, first=first, seconds=3.0, chance=chance, operation=OPERATION
        )
        acknowledged |= some

        assert [] == errors
        with engine_target.open_store(folder) as store:
            assert [] == engine_target.missing(store, acknowledged)
            assert [] == engine_target.problems(store)
    return count + len(acknowledged)


def test_killed_writers_of_memories_lose_nothing_that_was_acknowledged(
    tmp_path: Path, record_property: Recorder
) -> None:
    acknowledged = kill_cycles(tmp_path, cycles=SHORT_KILLS)

    assert acknowledged > 0
    record_property("rounds of killed writers", SHORT_KILLS)
    record_property("acknowledged writes", acknowledged)


@pytest.mark.long
def test_a_thousand_cycles_of_killing_writers_of_memories_lose_nothing(
    tmp_path: Path, record_property: Recorder
) -> None:
    acknowledged = kill_cycles(tmp_path, cycles=LONG_KILLS)

    assert acknowledged >= LONG_KILLS
    record_property("rounds of killed writers", LONG_KILLS)
    record_property("acknowledged writes", acknowledged)


def remember_from_many(folder: Path, *, writes_each: int) -> None:
    engine_target.open_store(folder).close()

    acknowledged, errors = run_to_the_end(folder, workers=32, writes_each=writes_each, operation=OPERATION)

    everything = {(worker, n) for worker in range(32) for n in range(writes_each)}
    assert [] == errors
    assert everything == acknowledged
    with engine_target.open_store(folder) as store:
        assert everything == engine_target.written(store)
        assert [] == engine_target.problems(store)


def test_thirty_two_processes_remember_at_once_and_nothing_is_lost_or_refused(
    tmp_path: Path, record_property: Recorder
) -> None:
    remember_from_many(tmp_path / "crowd", writes_each=5)
    record_property("acknowledged writes", 32 * 5)


@pytest.mark.long
def test_thirty_two_processes_remember_a_thousand_times_each(
    tmp_path: Path, record_property: Recorder
) -> None:
    remember_from_many(tmp_path / "crowd", writes_each=1_000)
    record_property("acknowledged writes", 32 * 1_000)


# Every call to the disk fails once, in every core operation ---------------------------------------------------------

FAULTS = {
    "EIO": (apsw.IOError, errno.EIO),
    "ENOSPC": (apsw.FullError, errno.ENOSPC),
    "EROFS": (apsw.ReadOnlyError, errno.EROFS),
}


def ingest(store: Hexad, folder: Path) -> None:
    source = folder / "notes"
    source.mkdir(exist_ok=True)
    (source / "a.md").write_text("# Tides\n\nHigh water is at noon.\n")
    (source / "b.py").write_text("def tide():\n    return 12\n")
    store.ingest(source, embed=False)


def govern(store: Hexad) -> None:
    """Let everything be old at once, and hide one kind."""
    visibility = [{"kinds": ["decision"], "roles": ["lead"]}]
    store.spaces.set_policy("default", {"ttl_days": 1e-9, "allow_delete": True, "visibility": visibility})


CORE: dict[str, Callable[[Hexad, Path], object]] = {
    "remember": lambda store, folder: store.remember("A wholly new line.", id="new"),
    "change": lambda store, folder: store.remember("The kept line, changed.", id="kept"),
    "evidence": lambda store, folder: store.remember("A line that is said twice.", tags=["again"]),
    "forget": lambda store, folder: store.forget("kept"),
    "restore": lambda store, folder: store.restore("gone"),
    "pin": lambda store, folder: store.pin("kept"),
    "ingest": ingest,
    "embed": lambda store, folder: store.embed_pending(),
    "reindex": lambda store, folder: store.reindex(),
    "recall": lambda store, folder: store.recall("which line is kept?"),
    "gc": lambda store, folder: (govern(store), store.spaces.gc("default", purge=True)),
    "reset": lambda store, folder: store.spaces.create("default", reset=True),
    "delete": lambda store, folder: (govern(store), store.spaces.delete("default")),
}


def prepared(folder: Path) -> None:
    with engine_target.open_store(folder) as store:
        store.remember("The kept line.", id="kept")
        store.remember("The line that was forgotten.", id="gone")
        store.remember("A line that is said twice.", id="twice")
        store.forget("gone")


def state(store: Hexad) -> list[tuple[str, str, str, bool, int]]:
    memories = store.memories(limit=None, status=None)
    return sorted((m.id, m.status.value, m.raw, m.pinned, m.evidence) for m in memories if m.source is None)


@contextmanager
def failing(vfs: FailingVFS, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the faults under every store that is opened in the block."""
    real = Database.open
    with vfs.installed(), monkeypatch.context() as patch:
        patch.setattr(Database, "open", partial(real, vfs=vfs.name))
        yield


def fail_at(
    origin: Path, folder: Path, operation: str, fault: str, *, at: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], bool]:
    """Do an operation in a copy of `origin` with one failing call; return what is wrong, and whether it came so far."""
    shutil.copytree(origin, folder)
    vfs = FailingVFS(*FAULTS[fault], at=at, lasting=False)
    refused = False
    with failing(vfs, monkeypatch):
        try:
            with engine_target.open_store(folder) as store:
                CORE[operation](store, folder)
        except HexadError:
            refused = True
    wrong: list[str] = []
    with engine_target.open_store(origin) as store:
        before = state(store)
    with engine_target.open_store(folder) as store:
        wrong += store.check()
        after = state(store)
        if operation in {"embed", "reindex", "recall", "ingest"} and after != before:
            wrong.append("what was there changed")
        if not refused and operation == "remember" and "new" not in {row[0] for row in after}:
            wrong.append("an acknowledged memory is lost")
        store.remember("Afterwards the store still takes a line.")
    return [f"{operation}, {fault} at call {at}: {line}" for line in wrong], vfs.failed


def fail_everywhere(directory: Path, operation: str, *, stride: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Fail every `stride`-th call in an operation; return how many failed."""
    found: list[str] = []
    failed = 0
    origin = directory / "origin"
    prepared(origin)
    for fault in FAULTS:
        at, reached = 1, True
        while reached:
            wrong, reached = fail_at(
                origin, directory / f"{fault}-{at}", operation, fault, at=at, monkeypatch=monkeypatch
            )
            found += wrong
            failed += reached
            reached = reached or at < 60
            at += stride

    assert [] == found
    return failed


@pytest.mark.parametrize("operation", CORE)
def test_a_failing_call_leaves_a_whole_store(
    tmp_path: Path, operation: str, monkeypatch: pytest.MonkeyPatch, record_property: Recorder
) -> None:
    failed = fail_everywhere(tmp_path, operation, stride=SHORT_STRIDE, monkeypatch=monkeypatch)
    record_property("failing calls to the disk", failed)


@pytest.mark.long
@pytest.mark.parametrize("operation", CORE)
def test_every_failing_call_leaves_a_whole_store(
    tmp_path: Path, operation: str, monkeypatch: pytest.MonkeyPatch, record_property: Recorder
) -> None:
    failed = fail_everywhere(tmp_path, operation, stride=1, monkeypatch=monkeypatch)
    record_property("failing calls to the disk", failed)


# Damaged files ------------------------------------------------------------------------------------------------------

SHORT_DAMAGES, LONG_DAMAGES = 24, 10_000


def damage(folder: Path, chance: random.Random) -> str:
    name = chance.choice(["memory.db", "memory.db", "memory.db-wal", "keys.json", "cache"])
    path = folder / ".hexad" / name
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    path = chance.choice(files) if files else folder / ".hexad" / "memory.db"
    if not path.exists() or path.stat().st_size == 0:
        path = folder / ".hexad" / "memory.db"
    data = bytearray(path.read_bytes())
    how = chance.choice(["flip", "flip", "truncate", "zero"])
    if how == "flip":
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif how == "truncate":
        del data[chance.randrange(len(data)) :]
    else:
        start = chance.randrange(len(data)) // 4096 * 4096
        data[start : start + 4096] = bytes(len(data[start : start + 4096]))
    path.write_bytes(bytes(data))
    return f"{how} in {path.name}"


def damaged(directory: Path, *, rounds: int) -> list[str]:
    """Damage a store, again and again: it says so or is right; no other error, no wrong answer unnoticed."""
    chance = random.Random(rounds)
    origin = directory / "origin"
    prepared(origin)
    with engine_target.open_store(origin) as store:
        store.maintain()
        truth = {row[0]: row[2] for row in state(store)}
    pristine = {p.relative_to(origin): p.read_bytes() for p in origin.rglob("*") if p.is_file()}
    wrong: list[str] = []
    for number in range(rounds):
        folder = directory / f"d{number}"
        for name, data in pristine.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
            (folder / name).chmod(0o600)
        what = damage(folder, chance)
        started = time.process_time()
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always", UserWarning)
                with engine_target.open_store(folder) as store:
                    said = [*map(str, warned), *store.check()]
                    texts = {m.id: m.raw for m in store.memories(limit=None, status=None)}
                    store.recall("which line is kept?")
                    if not said and any(texts.get(key, text) != text for key, text in truth.items()):
                        wrong.append(f"{what}: a wrong text, and check says all is well")
        except HexadError:
            pass  # it says so
        except Exception as error:
            wrong.append(f"{what}: {type(error).__name__}: {error}")
        if time.process_time() - started > 60:
            wrong.append(f"{what}: took a minute")
    return wrong


def test_a_damaged_store_says_so_or_is_right(tmp_path: Path, record_property: Recorder) -> None:
    assert [] == damaged(tmp_path, rounds=SHORT_DAMAGES)
    record_property("damaged stores", SHORT_DAMAGES)


@pytest.mark.long
def test_ten_thousand_damaged_stores_say_so_or_are_right(tmp_path: Path, record_property: Recorder) -> None:
    assert [] == damaged(tmp_path, rounds=LONG_DAMAGES)
    record_property("damaged stores", LONG_DAMAGES)
