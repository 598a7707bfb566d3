from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hexad.database import files
from hexad.errors import IntegrityError, StorageFailure, remedy_for


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


@pytest.mark.parametrize("write", [files.atomic_write, files.create_exclusive])
def test_a_mode_is_kept_whatever_the_umask(tmp_path: Path, write: Callable[..., object]) -> None:
    previous = os.umask(0o077)
    try:
        write(tmp_path / "a", b"", mode=0o644)
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


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What the system was really asked to sync, by the number of the file, and when a file got its name."""
    calls: list[tuple[str, int]] = []

    def note(what: str, name: str, number: Callable[..., int]) -> None:
        real = getattr(os, name)

        def call(*args: object, **more: object) -> object:
            calls.append((what, number(*args)))
            return real(*args, **more)

        monkeypatch.setattr(os, name, call)

    note("content", "fdatasync", lambda fd: os.fstat(fd).st_ino)
    note("names", "fsync", lambda fd: os.fstat(fd).st_ino)
    for name in ("replace", "link", "rename"):
        note("named", name, lambda source, _target: os.stat(source).st_ino)
    return calls


def number(path: Path) -> int:
    return path.stat().st_ino


@pytest.mark.parametrize(
    "write", [files.atomic_write, files.create_exclusive, lambda path, data: files.stream_write(path, [data])]
)
def test_the_system_is_asked_to_sync_the_content_then_the_name(
    tmp_path: Path, disk: list[tuple[str, int]], write: Callable[[Path, bytes], object]
) -> None:
    path = tmp_path / "a"
    write(path, b"new")

    assert b"new" == path.read_bytes()
    assert [("content", number(path)), ("named", number(path)), ("names", number(tmp_path))] == disk


def test_what_another_library_wrote_is_synced_before_it_gets_its_name(
    tmp_path: Path, disk: list[tuple[str, int]]
) -> None:
    half, path = tmp_path / "half", tmp_path / "a"
    half.write_bytes(b"new")
    half.chmod(0o644)
    files.publish(half, path)

    assert [("content", number(path)), ("named", number(path)), ("names", number(tmp_path))] == disk
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)


def test_a_directory_is_synced_before_it_gets_its_name_unless_that_is_taken(
    tmp_path: Path, disk: list[tuple[str, int]]
) -> None:
    for name in ("half", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(name.encode())
    path = tmp_path / "a"

    assert files.publish_dir(tmp_path / "half", path)
    assert [("names", number(path)), ("named", number(path)), ("names", number(tmp_path))] == disk
    assert not files.publish_dir(tmp_path / "other", path)
    assert b"half" == (path / "file").read_bytes()
    assert b"other" == (tmp_path / "other" / "file").read_bytes()


def test_a_file_that_is_created_locked_is_synced_and_has_its_lock_before_its_name(
    tmp_path: Path, disk: list[tuple[str, int]]
) -> None:
    path = tmp_path / "a"
    fd = files.create_locked(path, b"new", lock=lambda fd: disk.append(("locked", os.fstat(fd).st_ino)))
    try:
        synced = [(what, number(path)) for what in ("locked", "content", "named")]
        assert [*synced, ("names", number(tmp_path))] == disk
        assert b"new" == path.read_bytes()
    finally:
        os.close(fd)


def test_what_is_removed_or_written_again_is_synced(tmp_path: Path, disk: list[tuple[str, int]]) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    fd = files.open_for_locks(path)
    files.rewrite_in_place(fd, path)
    os.close(fd)
    assert [("content", number(path))] == disk

    files.unlink(path)
    assert ("names", number(tmp_path)) == disk[-1]


def test_no_file_stays_open_whether_it_is_written_or_not(tmp_path: Path) -> None:
    def steps() -> Iterator[object]:
        files.ensure_dir(tmp_path / "folder", for_data=True)
        yield files.atomic_write(tmp_path / "folder" / "a", b"new")
        yield files.write_cache(tmp_path / "folder" / "b", b"new")
        yield files.stream_write(tmp_path / "folder" / "c", [b"new"])
        yield files.create_exclusive(tmp_path / "folder" / "d", b"new")
        (tmp_path / "folder" / ".a.0123456789ab.tmp").touch()
        yield files.remove_abandoned(tmp_path / "folder" / "a")
        yield files.publish(tmp_path / "folder" / "a", tmp_path / "folder" / "e")
        yield files.unlink(tmp_path / "folder" / "b")

    def fail(_operation: str, _path: Path) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else pytest.skip("no /proc")
    for at in range(1, 40):
        left = at
        previous = files.set_hook(fail)
        try:
            for _ in steps():
                pass
        except StorageFailure:
            pass
        finally:
            files.set_hook(previous)
        assert before == len(os.listdir("/proc/self/fd")), f"after call {at} failed"
    assert left > 0, "more calls than were failed"


def test_the_hook_that_stood_before_is_given_back() -> None:
    def first(_operation: str, _path: Path) -> None: ...

    before = files.set_hook(first)
    assert first is files.set_hook(None)
    assert None is files.set_hook(before)


def test_a_directory_that_somebody_else_makes_meanwhile_is_taken(tmp_path: Path) -> None:
    previous = files.set_hook(lambda operation, path: path.mkdir() if operation == "mkdir" else None)
    try:
        files.ensure_dir(tmp_path / "a" / "b")
    finally:
        files.set_hook(previous)

    assert (tmp_path / "a" / "b").is_dir()


LONG = "n" * 240
"""A name that leaves no room for what a temporary one has besides."""


@pytest.mark.parametrize("name", ["a", LONG, "ä" * 110])
def test_what_a_killed_writer_left_goes_with_the_next_write_and_nothing_else_does(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    written: list[Path] = []
    previous = files.set_hook(lambda operation, path: written.append(path) if operation == "open" else None)
    try:
        files.atomic_write(path, b"old")
    finally:
        files.set_hook(previous)
    abandoned = written[0]
    abandoned.write_bytes(b"half")
    locked = abandoned.with_name(abandoned.name.replace(abandoned.name[-16:-4], "0123456789ab"))
    locked.write_bytes(b"at work")
    others = [tmp_path / ".b.0123456789ab.tmp", tmp_path / f"{abandoned.name}.tmp", tmp_path / ".a.tmp"]
    for other in others:
        other.touch()

    with locked.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        files.stream_write(path, [b"n", b"", b"ew"])

    assert b"new" == path.read_bytes()
    assert sorted([path, locked, *others]) == sorted(tmp_path.iterdir())
    files.stream_write(path, [b"newer"])
    assert sorted([path, *others]) == sorted(tmp_path.iterdir())


def test_names_that_are_long_and_begin_alike_do_not_take_each_others_halves(tmp_path: Path) -> None:
    written: list[Path] = []
    previous = files.set_hook(lambda operation, path: written.append(path) if operation == "open" else None)
    try:
        files.atomic_write(tmp_path / f"{LONG}1", b"old")
    finally:
        files.set_hook(previous)
    written[0].write_bytes(b"half")

    files.stream_write(tmp_path / f"{LONG}2", [b"new"])

    assert written[0].exists()


def test_a_link_in_the_place_of_a_half_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"stays")
    (tmp_path / ".a.0123456789ab.tmp").symlink_to(tmp_path / "precious")

    files.remove_abandoned(tmp_path / "a")

    assert b"stays" == (tmp_path / "precious").read_bytes()
    assert (tmp_path / ".a.0123456789ab.tmp").is_symlink()


def test_a_half_that_was_taken_for_abandoned_before_it_was_locked_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, taken = fcntl.flock, []

    def flock(fd: int, mode: int) -> None:
        if not taken:
            taken.extend(tmp_path.glob(".a.*.tmp"))
            taken[0].unlink()
        real(fd, mode)

    monkeypatch.setattr(fcntl, "flock", flock)
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else None
    files.atomic_write(tmp_path / "a", b"new")

    assert b"new" == (tmp_path / "a").read_bytes()
    assert before is None or before == len(os.listdir("/proc/self/fd"))


def test_a_half_that_is_being_written_stays_with_who_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "a"

    def pieces() -> Iterator[bytes]:
        yield b"n" * 2_000_000
        files.stream_write(path, [b"by another"])
        yield b"ew"

    files.stream_write(path, pieces())

    assert b"n" * 2_000_000 + b"ew" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_a_stream_that_breaks_off_or_may_not_replace_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def pieces() -> Iterator[bytes]:
        yield b"x" * 3_000_000
        raise KeyError("gone")

    def refuse() -> None:
        raise LookupError("changed meanwhile")

    with pytest.raises(KeyError, match="gone"):
        files.stream_write(path, pieces())
    with pytest.raises(LookupError, match="changed meanwhile"):
        files.stream_write(path, [b"new"], may_replace=refuse)

    assert b"old" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_a_stream_is_written_a_megabyte_at_a_time(tmp_path: Path, operations: list[str]) -> None:
    pieces = [bytes([number]) * 300_000 for number in range(10)]
    files.stream_write(tmp_path / "a", pieces)

    assert b"".join(pieces) == (tmp_path / "a").read_bytes()
    assert 3 == operations.count("write")


@pytest.mark.parametrize("name", ["/etc/passwd", "../a", "a/../../b", "", ".", "a\0b"])
def test_a_name_that_leads_out_of_the_store_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(IntegrityError, match=r"which it is not: the store is damaged.*Put a backup") as told:
        files.named_below(tmp_path, name)
    assert repr(name) in str(told.value)


def test_a_name_below_the_folder_is_that_file(tmp_path: Path) -> None:
    assert tmp_path / "a" / "b..c" == files.named_below(tmp_path, "a/b..c")


@pytest.mark.parametrize(
    ("operation", "call", "words"),
    [
        ("open", lambda path: files.atomic_write(path, b""), "create"),
        ("write", lambda path: files.atomic_write(path, b""), "write"),
        ("fdatasync", lambda path: files.atomic_write(path, b""), "sync"),
        ("rename", lambda path: files.atomic_write(path, b""), "replace"),
        ("fsync_dir", lambda path: files.atomic_write(path, b""), "sync the directory"),
        ("open", lambda path: files.create_exclusive(path, b""), "create"),
        ("write", lambda path: files.create_exclusive(path, b""), "write"),
        ("rename", lambda path: files.create_exclusive(path, b""), "create"),
        ("open", files.open_for_locks, "open"),
        ("mkdir", files.ensure_dir, "create the directory"),
        ("open", lambda path: files.ensure_dir(path, for_data=True), "look into"),
        ("unlink", files.unlink, "remove"),
        ("unlink", files.remove_tree, "remove"),
        ("lock", lambda path: files.create_locked(path, b"", lock=lambda _fd: None), "lock"),
    ],
)
def test_what_fails_is_told_in_words_with_the_file(
    tmp_path: Path, operation: str, call: Callable[[Path], object], words: str
) -> None:
    def fail(name: str, path: Path) -> None:
        if name == operation:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    previous = files.set_hook(fail)
    try:
        with pytest.raises(StorageFailure, match=rf"\ACannot {words} .*{tmp_path}"):
            call(tmp_path / "a")
    finally:
        files.set_hook(previous)
