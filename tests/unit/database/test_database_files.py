from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hexad.database import files
from hexad.errors import StorageFailure, remedy_for


@pytest.fixture
def operations() -> Iterator[list[str]]:
    seen: list[str] = []
    previous = files.set_hook(lambda operation, path: seen.append(operation))
    yield seen
    files.set_hook(previous)


def test_a_file_is_synced_before_it_gets_its_name_and_its_directory_after(
    tmp_path: Path, operations: list[str]
) -> None:
    files.atomic_write(tmp_path / "a", b"new")

    assert ["open", "write", "fdatasync", "rename", "fsync_dir"] == operations
    assert b"new" == (tmp_path / "a").read_bytes()
    assert 0o600 == stat.S_IMODE((tmp_path / "a").stat().st_mode)


def test_a_directory_whose_name_could_not_be_synced_is_made_again(tmp_path: Path) -> None:
    synced: list[Path] = []

    def fail_once(operation: str, path: Path) -> None:
        if operation == "fsync_dir":
            synced.append(path)
            if len(synced) == 1:
                raise OSError(errno.EIO, "Input/output error")

    previous = files.set_hook(fail_once)
    try:
        with pytest.raises(StorageFailure, match="Cannot sync the directory"):
            files.ensure_dir(tmp_path / "a")
        files.ensure_dir(tmp_path / "a")
    finally:
        files.set_hook(previous)

    assert [tmp_path, tmp_path] == synced
    assert (tmp_path / "a").is_dir()


def test_an_empty_directory_of_somebody_else_is_synced_before_data_comes_into_it(
    tmp_path: Path, operations: list[str]
) -> None:
    (tmp_path / "a").mkdir()
    files.ensure_dir(tmp_path / "a")
    assert [] == operations

    files.ensure_dir(tmp_path / "a", for_data=True)
    assert ["open", "fsync_dir"] == operations
    (tmp_path / "a" / "b").touch()
    files.ensure_dir(tmp_path / "a", for_data=True)
    assert ["open", "fsync_dir", "open"] == operations


def test_an_empty_directory_of_somebody_else_is_synced_before_one_for_data_is_made_in_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").mkdir()
    synced: list[Path] = []
    previous = files.set_hook(
        lambda operation, path: synced.append(path) if operation == "fsync_dir" else None
    )
    try:
        files.ensure_dir(tmp_path / "a" / "b", for_data=True)
        files.ensure_dir(tmp_path / "a" / "c", for_data=True)  # whoever made "b" has synced "a"
    finally:
        files.set_hook(previous)

    assert [tmp_path, tmp_path / "a", tmp_path / "a"] == synced


def test_a_mode_is_kept_whatever_the_umask(tmp_path: Path) -> None:
    previous = os.umask(0o077)
    try:
        files.atomic_write(tmp_path / "a", b"", mode=0o644)
    finally:
        os.umask(previous)

    assert 0o644 == stat.S_IMODE((tmp_path / "a").stat().st_mode)


def test_a_cache_file_is_replaced_without_waiting_for_the_disk(tmp_path: Path, operations: list[str]) -> None:
    files.write_cache(tmp_path / "cache" / "a", b"new")

    assert not {"fdatasync", "fsync"} & set(operations)
    assert b"new" == (tmp_path / "cache" / "a").read_bytes()


def test_removing_is_durable_and_may_be_repeated(tmp_path: Path, operations: list[str]) -> None:
    (tmp_path / "a").write_bytes(b"")
    files.unlink(tmp_path / "a")
    files.unlink(tmp_path / "a")

    assert not (tmp_path / "a").exists()
    assert ["unlink", "fsync_dir"] * 2 == operations
    with pytest.raises(StorageFailure, match="Cannot remove"):
        files.unlink(tmp_path / "a", missing_ok=False)


def test_missing_parents_are_made_private_and_each_is_synced(tmp_path: Path, operations: list[str]) -> None:
    files.ensure_dir(tmp_path / "a" / "b")
    files.ensure_dir(tmp_path / "a" / "b")

    assert ["mkdir", "fsync_dir"] * 2 == operations
    assert 0o700 == stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode)


def test_of_two_creators_one_wins_and_the_loser_changes_nothing(tmp_path: Path) -> None:
    assert files.create_exclusive(tmp_path / "a", b"first")
    assert not files.create_exclusive(tmp_path / "a", b"second")
    assert b"first" == (tmp_path / "a").read_bytes()
    assert ["a"] == [path.name for path in tmp_path.iterdir()]


WRITERS: list[Callable[[Path, bytes], object]] = [
    files.atomic_write,
    files.write_cache,
    files.create_exclusive,
]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EROFS])
def test_a_write_that_fails_anywhere_leaves_the_old_content_and_no_other_file(
    tmp_path: Path, write: Callable[[Path, bytes], object], code: int
) -> None:
    path = tmp_path / "a"
    messages: list[str] = []
    for at in range(1, 10):
        path.write_bytes(b"old")
        calls = 0

        def fail(operation: str, name: Path, at: int = at) -> None:
            nonlocal calls
            calls += 1
            if calls == at:
                raise OSError(code, os.strerror(code), str(name))

        if write is files.create_exclusive:
            path.unlink()
        previous = files.set_hook(fail)
        try:
            write(path, b"new")
        except StorageFailure as error:
            messages.append(str(error))
        finally:
            files.set_hook(previous)
        # Syncing the directory comes last: the new content has its name by then.
        assert not path.exists() or path.read_bytes() in {b"old", b"new"}
        assert {path.name} >= {entry.name for entry in tmp_path.iterdir()}
    assert len(messages) >= 3
    assert all(str(tmp_path) in message and os.strerror(code) in message for message in messages)
    assert all(message.endswith(remedy_for(OSError(code, ""))) for message in messages)


def test_a_file_can_be_written_again_in_place(tmp_path: Path, operations: list[str]) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 3_000_000)
    fd = files.open_for_locks(path)
    files.rewrite_in_place(fd, path)
    os.close(fd)

    assert b"x" * 3_000_000 == path.read_bytes()
    assert 3 == operations.count("write")
    assert "fdatasync" == operations[-1]
