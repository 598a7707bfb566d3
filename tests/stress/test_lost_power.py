"""Lost power: whatever of the unsynced writes reached the disk, every acknowledged write is there afterwards."""

from __future__ import annotations

import random
import shutil
import threading
from pathlib import Path

import pytest
from stress_processes import Recorder
from stress_target import missing, open_store, problems, write
from stress_vfs import Disk, RecordingVFS

from hexad.database import connection
from hexad.database.connection import Durability
from hexad.errors import HexadError

SHORT_IMAGES, LONG_IMAGES = 150, 10_000
IMAGES_PER_RECORDING = 500
WRITERS, WRITES_PER_WRITER, REOPENINGS = 3, 12, 3


@pytest.fixture(autouse=True)
def _frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    # So that a recording of some dozens of writes holds several checkpoints and restarts of the WAL.
    monkeypatch.setattr(connection, "CHECKPOINT_FRAMES", 20)
    monkeypatch.setattr(connection, "RESTART_FRAMES", 50)
    monkeypatch.setattr(connection, "TRUNCATE_FRAMES", 70)


def record(directory: Path, *, durability: Durability, count_shared_syncs: bool = True) -> RecordingVFS:
    """Write with several threads, closing and opening in between; return what happened to the disk."""
    vfs = RecordingVFS(count_shared_syncs=count_shared_syncs)
    with vfs.installed():
        for turn in range(REOPENINGS):
            store = open_store(directory / "memory.db", vfs=vfs.name, durability=durability)

            def work(worker: int, store=store, turn=turn) -> None:
                for n in range(WRITES_PER_WRITER):
                    key = (worker, turn * WRITES_PER_WRITER + n)
                    write(store, *key)
                    vfs.acknowledge(key)

            threads = [threading.Thread(target=work, args=(worker,)) for worker in range(WRITERS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            store.close()
    return vfs


def losses(directory: Path, vfs: RecordingVFS, *, images: int, seed: int) -> tuple[list[str], int]:
    """Build images at random moments; return what was wrong in them, and how many held acknowledged writes."""
    chance = random.Random(seed)
    moments = sorted(chance.randrange(1, len(vfs.events) + 1) for _ in range(images))
    disk, done, found, telling = Disk(), 0, [], 0
    for moment in moments:
        for event in vfs.events[done:moment]:
            disk.follow(event)
        done = moment
        image = directory / "image"
        image.mkdir()
        disk.image(image, chance)
        # What the shared counters hold after lost power is arbitrary.
        (image / "memory.db-commit").write_bytes(chance.randbytes(64) if chance.random() < 0.5 else b"")
        telling += bool(disk.acknowledged)
        found += [f"after event {moment}: {problem}" for problem in _problems_of(image, disk)]
        shutil.rmtree(image)
    return found, telling


def _problems_of(image: Path, disk: Disk) -> list[str]:
    try:
        store = open_store(image / "memory.db")
    except HexadError as error:
        return [f"does not open: {error}"]
    try:
        lost = [f"lost {key}" for key in missing(store, disk.acknowledged)]
        lost += problems(store)
        write(store, 999, 0)  # and it can be written to
        return lost
    except HexadError as error:
        return [f"cannot be read: {error}"]
    finally:
        store.close()


def run(tmp_path: Path, *, images: int, durability: Durability) -> None:
    found: list[str] = []
    telling = 0
    for number, start in enumerate(range(0, images, IMAGES_PER_RECORDING)):
        directory = tmp_path / str(number)
        directory.mkdir()
        vfs = record(directory, durability=durability)
        wrong, some = losses(directory, vfs, images=min(IMAGES_PER_RECORDING, images - start), seed=number)
        found += wrong
        telling += some

    assert [] == found
    assert telling > images * 0.8


def test_after_lost_power_every_acknowledged_write_is_there(
    tmp_path: Path, record_property: Recorder
) -> None:
    run(tmp_path, images=SHORT_IMAGES, durability=Durability.GROUP)
    record_property("images of lost power", SHORT_IMAGES)


def test_after_lost_power_every_write_under_full_durability_is_there(tmp_path: Path) -> None:
    run(tmp_path, images=SHORT_IMAGES // 3, durability=Durability.FULL)


def test_without_the_shared_sync_images_do_lose_acknowledged_writes(tmp_path: Path) -> None:
    vfs = record(tmp_path, durability=Durability.GROUP, count_shared_syncs=False)

    found, _ = losses(tmp_path, vfs, images=SHORT_IMAGES // 3, seed=0)

    assert [problem for problem in found if "lost" in problem]


@pytest.mark.long
def test_ten_thousand_images_of_lost_power_lose_nothing(tmp_path: Path, record_property: Recorder) -> None:
    run(tmp_path, images=LONG_IMAGES, durability=Durability.GROUP)
    record_property("images of lost power", LONG_IMAGES)
