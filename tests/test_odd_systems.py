"""What stands in the place of a store's files, and what the system refuses, is named with its remedy."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hexad
from hexad.database import files
from hexad.errors import HexadError, InvalidInput, StorageFailure
from programs import run


def opened(folder: Path, *, readonly: bool = False) -> hexad.Hexad:
    return hexad.open(folder, embedder=None, background=False, readonly=readonly)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    with opened(tmp_path) as hx:
        hx.remember("The gate closes at nine.")
    return tmp_path


@pytest.mark.parametrize("readonly", [True, False])
@pytest.mark.parametrize(
    "name",
    [
        "memory.db", "memory.db-wal", "memory.db-commit", "keys.json", "open.lock", "maintain.lock",
        "audit/audit.db", "audit/audit.key", "stream/seal.lock",
    ],
)  # fmt: skip
def test_a_folder_in_the_place_of_a_stores_file_is_named(project: Path, name: str, readonly: bool) -> None:
    place = project / ".hexad" / name
    place.unlink(missing_ok=True)
    place.mkdir(parents=True)

    with pytest.raises(InvalidInput, match=rf"{name} is a folder, where a store has a file\. Move it away\."):
        opened(project, readonly=readonly)


@pytest.mark.parametrize("name", ["openers", "stream", "audit", "spaces", "cache"])
def test_a_file_in_the_place_of_a_stores_folder_is_named(project: Path, name: str) -> None:
    place = project / ".hexad" / name
    shutil.rmtree(place, ignore_errors=True)
    place.write_text("somebody's")

    with pytest.raises(InvalidInput, match=f"{name} is a file, where a store has a folder"):
        opened(project)

    assert "somebody's" == place.read_text()


@pytest.fixture
def limit_of_files() -> Iterator[int]:
    """Let no file of this process grow beyond a size; SIGXFSZ is ignored, as Python has it."""
    was, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        yield 400_000
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_limit_on_the_size_of_files_is_named_and_the_store_goes_on(
    project: Path, limit_of_files: int
) -> None:
    with opened(project) as hx:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_of_files, hard))
        with pytest.raises(StorageFailure, match=r"File too large .*`ulimit -f`"):
            for number in range(200):
                hx.remember(f"Gate {number}: " + " ".join(f"{number}w{word}" for word in range(400)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))

        hx.remember("The gate opens at six.")
        assert {"The gate opens at six.", "The gate closes at nine."} <= {
            hit.text for hit in hx.recall("gate", limit=200)
        }
        assert [] == hx.check()


def test_a_limit_that_no_index_of_a_log_fits_in_is_named(project: Path, limit_of_files: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    for name in ("memory.db-wal", "memory.db-shm"):
        (project / ".hexad" / name).unlink(missing_ok=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, hard))

    with pytest.raises(StorageFailure, match=r"File too large .*`ulimit -f`"):
        opened(project)

    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    with opened(project) as hx:
        assert ["The gate closes at nine."] == [memory.raw for memory in hx.memories()]


FEW_HANDLES = """
import os, pathlib, resource, sys
import hexad

def attempt(readonly):
    with hexad.open(sys.argv[1], embedder=None, background=False, readonly=readonly) as hx:
        if not readonly:
            hx.remember("The gate opens at six.")
        return [hit.text for hit in hx.recall("gate")]

attempt(False), attempt(True)  # whatever is loaded late is loaded now
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
taken = {int(name) for name in os.listdir("/dev/fd") if os.path.exists(f"/dev/fd/{name}")}
free = [number for number in range(1_000) if number not in taken]
for readonly in (False, True):
    for room in range(24):
        resource.setrlimit(resource.RLIMIT_NOFILE, (free[room], hard))
        try:
            found, told = attempt(readonly), ""
        except hexad.HexadError as error:
            found, told = None, str(error)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        print(len(found) if found is not None else 0, told.replace("\\n", " "))
"""


def test_too_few_handles_are_named_wherever_they_run_out(project: Path) -> None:
    lines = run(FEW_HANDLES, project).stdout.splitlines()

    counts = [int(line.partition(" ")[0]) for line in lines]
    told = [line.partition(" ")[2] for line in lines]
    assert 48 == len(lines)
    assert 0 == counts[0] == counts[24] and 2 == counts[23] == counts[47]
    assert [] == [
        words for count, words in zip(counts, told, strict=True) if not count and "`ulimit -n`" not in words
    ]


LATE_IMPORTS = """
import os, pathlib, sys
import hexad

project, texts = pathlib.Path(sys.argv[1]), sys.argv[2]
calls = {
    "recall": lambda hx: hx.recall("When does the gate open?"),
    "ingest": lambda hx: hx.ingest(texts),
    "xdb.recall": lambda hx: hx.xdb.recall(text_search="gate"),
    "user.preferences": lambda hx: hx.user.preferences(),
}

def outcome(call, room):
    hx, held = hexad.open(project, background=False), []
    hx.remember("The gate opens at six.")
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    for _ in range(room):
        os.close(held.pop())
    try:
        call(hx)
        told = "done"
    except hexad.StorageFailure as error:
        told = "named" if "`ulimit -n`" in str(error) else str(error)
    except Exception as error:
        told = repr(error)
    return told

for name, call in calls.items():
    for room in range(3):
        sys.stdout.flush()
        if not (child := os.fork()):  # what was loaded late is not loaded in the next
            os.write(1, f"{name} {room}: {outcome(call, room)}\\n".encode())
            os._exit(0)
        os.waitpid(child, 0)
"""


def test_too_few_handles_for_what_is_loaded_late_are_named(project: Path, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "gate.md").write_text("# Gate\n\nThe gate opens at six.\n", encoding="utf-8")

    # A fresh interpreter: what `run` starts has loaded what is loaded late.
    lines = subprocess.run(
        [sys.executable, "-c", LATE_IMPORTS, project, tmp_path / "texts"],
        env={name: value for name, value in os.environ.items() if name != "HEXAD_EMBEDDER"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout.splitlines()

    assert 12 == len(lines)
    assert [] == [line for line in lines if not line.endswith((": done", ": named"))]
    assert {"recall", "ingest", "xdb.recall"} <= {
        line.partition(" ")[0] for line in lines if line.endswith(": named")
    }


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EDQUOT, "The disk quota is used up"),
        (errno.EFBIG, "`ulimit -f`"),
        (errno.EROFS, "The file system is read-only"),
        (errno.EMLINK, "takes no more names in that folder"),
        (errno.ENAMETOOLONG, "choose a shorter one"),
        (errno.EISDIR, "A folder is in the place of a file"),
        (errno.EEXIST, "Something else is in its place"),
        (errno.ENOLCK, "no locks left"),
        (errno.ESTALE, "mount it anew"),
    ],
)
def test_what_the_system_refuses_has_a_remedy_of_its_own(project: Path, number: int, remedy: str) -> None:
    def refuse(operation: str, path: Path) -> None:
        if path.suffix == ".tmp" and operation in ("open", "write"):
            raise OSError(number, os.strerror(number))

    with opened(project) as hx:
        previous = files.set_hook(refuse)
        try:
            with pytest.raises(HexadError, match=remedy):
                hx.spaces.write_file("default")
        finally:
            files.set_hook(previous)


def test_a_project_that_cannot_be_written_is_not_told_as_the_user_layers_damage(
    tmp_path: Path, limit_of_files: int
) -> None:
    first, second, layer = (tmp_path / name for name in ("first", "second", "layer"))
    for folder in (first, second):
        folder.mkdir()
    with hexad.open(first, embedder=None, background=False, user_dir=layer) as hx:
        hx.user.prefer("style.quotes", "double")
    with hexad.open(second, embedder=None, background=False, user_dir=layer) as hx:
        while (second / ".hexad" / "memory.db-wal").stat().st_size < limit_of_files:
            hx.remember(" ".join(f"{hx.count()}w{word}" for word in range(400)))
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_of_files, hard))
        with pytest.raises(StorageFailure, match="File too large"):
            hx.remember("A text without room.")

        assert [] == hx.check()
        assert "there" == hx.status().user_layer
        assert ["double"] == [preference.value for preference in hx.user.preferences()]

        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    with hexad.open(second, embedder=None, background=False, user_dir=layer) as hx:
        assert [] == hx.check()
    shutil.rmtree(layer)
    with hexad.open(second, embedder=None, background=False, user_dir=layer) as hx:
        (problem,) = hx.check()
    assert "user.db is gone" in problem  # it was noted when the project could be written again


@pytest.mark.parametrize("readonly", [True, False])
def test_settings_behind_a_link_that_leads_nowhere_are_not_taken_for_the_defaults(
    tmp_path: Path, readonly: bool
) -> None:
    with opened(tmp_path):
        pass
    settings = tmp_path / "settings.toml"
    settings.write_text('[privacy]\npii = "all"\n')
    (tmp_path / ".hexad" / "hexad.toml").unlink(missing_ok=True)
    (tmp_path / ".hexad" / "hexad.toml").symlink_to(settings)
    with opened(tmp_path) as hx:
        assert "bob@example.org" not in hx.remember("Reach Bob at bob@example.org soon.").raw

    settings.rename(tmp_path / "elsewhere.toml")

    with pytest.raises(InvalidInput, match=r"hexad\.toml is a link to a file that is not there"):
        opened(tmp_path, readonly=readonly)
