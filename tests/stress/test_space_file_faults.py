"""Files of spaces under fire: kills, full disks, several writers, damage. Whoever reads one finds it whole."""

from __future__ import annotations

import errno
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.database import files
from hexad.errors import HexadError
from programs import Program

SHORT_DAMAGES, LONG_DAMAGES = 400, 20_000
MEMORIES = 60

DOCUMENT = {
    "name": "docs",
    "created_at": "2025-01-01T00:00:00Z",
    "updated_at": "2025-01-02T00:00:00+00:00",
    "metadata": {"owner": "harbour"},
    "policies": {"ttl_days": 30, "pii_redaction": ["emails"], "unknown": [1]},
    "objects": [
        {
            "id": f"mem_{number}",
            "path": f"harbour/lamps/{number}",
            "kind": "guide",
            "raw": f"Lamp {number} burns oil.\nTrim its wick at dusk.",
            "tags": ["lamp"],
            "metadata": {"space": "docs", "hash": "sha256:6be0..."},
            "relevance": "high",
            "pinned": number == 1,
            "chunks": [{"chunk_id": f"{number}#0", "text": "Context..."}],
            "created_at": "2025-01-01T00:00:00Z",
            "updated_at": "2025-01-02T00:00:00Z",
            "extra": {"number": number},
        }
        for number in range(3)
    ],
}

# Writes a file again and again, and is killed before the operation on the disk that it was told.
KILLED = """
import os, signal, sys
import hexad
from hexad.database import files
store, what, fatal = sys.argv[1], sys.argv[2], int(sys.argv[3])
seen = 0
def hook(operation, path):
    global seen
    if "spaces" in path.parts or "exports" in path.parts:
        seen += 1
        if seen == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
with hexad.open(store, embedder=None, background=False) as hx:
    hx.remember("One more text.", space="docs", id="more")
    files.set_hook(hook)
    hx.spaces.write_file("docs") if what == "spaces" else hx.spaces.export("docs")
"""

EXPORTS = """
import sys
import hexad
with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    for number in range(int(sys.argv[2])):
        hx.spaces.export("docs")
        hx.spaces.write_file("docs")
"""


@pytest.fixture
def hx(tmp_path: Path) -> Iterator[Hexad]:
    (tmp_path / "project").mkdir()
    with hexad.open(tmp_path / "project", embedder=None, background=False) as store:
        for number in range(MEMORIES):
            store.remember(f"Text {number} about lamps and wicks. " * 20, space="docs", id=f"m{number}")
        yield store
        assert [] == store.check()


@pytest.mark.parametrize("what", ["spaces", "exports"])
def test_a_kill_at_any_step_leaves_the_old_file_or_the_new_one(hx: Hexad, what: str) -> None:
    def write() -> Path:
        return hx.spaces.write_file("docs") if what == "spaces" else hx.spaces.export("docs").path

    path = write()
    old = ids(path)
    outcomes = set()
    for fatal in range(1, 20):
        done = Program(KILLED, hx.path, what, fatal)
        done.communicate()
        found = ids(path)
        assert found in (old, old | {"more"})
        outcomes.add((done.returncode == 0, found == old))
        if done.returncode == 0:
            break
        assert -9 == done.returncode
        files.atomic_write(path, path.read_bytes())
        if found != old:
            hx.spaces.create("docs", reset=True)
            for number in range(MEMORIES):
                hx.remember(f"Text {number} about lamps and wicks. " * 20, space="docs", id=f"m{number}")
            write()

    assert {(False, True), (False, False), (True, False)} == outcomes
    assert [] == hx.check()


def ids(path: Path) -> set[str]:
    """The ids in a file that must be whole; an export must verify, too."""
    document = json.loads(path.read_text(encoding="utf-8"))
    if "document" in document:
        hexad.verify_export(path)
        document = document["document"]
    return {entry["id"] for entry in document["objects"]}


@pytest.mark.row("L159")
@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_disk_that_refuses_any_step_is_an_error_and_the_old_file_stays(hx: Hexad, fault: int) -> None:
    calls = (hx.spaces.write_file, lambda name: hx.spaces.export(name).path)
    for call in calls:
        path = call("docs")
        before = path.read_bytes()
        refused = 0
        said: list[str] = []
        for fatal in range(1, 30):
            seen = 0

            def hook(operation: str, at: Path, fatal: int = fatal) -> None:
                nonlocal seen
                if at.parent == path.parent or at == path.parent:  # noqa: B023 - called before the next round
                    seen += 1
                    if seen == fatal:
                        raise OSError(fault, "the disk says no")

            previous = files.set_hook(hook)
            try:
                call("docs")
            except hexad.StorageFailure as error:
                refused += 1
                said.append(str(error))
            finally:
                files.set_hook(previous)
            if seen < fatal:
                break
            assert ids(path)
            assert [path.name] == [file.name for file in path.parent.iterdir()]
        assert refused >= 5
        assert all(str(path.parent) in text for text in said)
        assert before == path.read_bytes() or path.parent.name == "exports"


def test_several_processes_export_at_once_and_a_reader_always_finds_a_whole_file(hx: Hexad) -> None:
    path = hx.spaces.export("docs").path
    plain = hx.spaces.write_file("docs")
    whole = plain.read_bytes()
    writers = [Program(EXPORTS, hx.path, 15) for _ in range(3)]
    looks = 0
    try:
        while any(writer.poll() is None for writer in writers):
            assert MEMORIES == hexad.verify_export(path).objects
            assert whole == plain.read_bytes()
            looks += 1
    finally:
        errors = [writer.communicate()[1] for writer in writers]

    assert [0, 0, 0] == [writer.returncode for writer in writers], errors
    assert looks > 3
    assert {path.name} == {file.name for file in path.parent.iterdir()}


READS = """
import json, sys
import hexad
with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    print(json.dumps(hx.spaces.read_file(sys.argv[2]).to_dict()))
"""


def large(path: Path, count: int) -> Path:
    """A file of Lexon's with many objects."""
    rows = [
        {**DOCUMENT["objects"][0], "id": f"large_{number}", "raw": f"Lamp {number} burns oil."}  # type: ignore[index, dict-item]
        for number in range(count)
    ]
    path.write_text(json.dumps({**DOCUMENT, "name": "large", "objects": rows}), encoding="utf-8")
    return path


def test_several_processes_read_one_file_and_each_object_is_created_once(hx: Hexad, tmp_path: Path) -> None:
    file = large(tmp_path / "large.json", 150)
    readers = [Program(READS, hx.path, file) for _ in range(3)]
    reports = [json.loads(reader.communicate()[0]) for reader in readers]

    assert [0, 0, 150] == sorted(report["created"] for report in reports)
    assert [0, 150, 150] == sorted(report["unchanged"] for report in reports)
    assert json.loads(file.read_text()) == json.loads(hx.spaces.write_file("large").read_text())


READS_ALOUD = """
import sys
import hexad
def step(done):
    if done in (150, 300):
        print(done, flush=True)
with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    hx.spaces.read_file(sys.argv[2], progress=step)
"""


def test_a_kill_while_a_file_is_read_leaves_all_of_it_or_nothing(hx: Hexad, tmp_path: Path) -> None:
    file = large(tmp_path / "large.json", 300)
    found: list[int | None] = []
    # While objects are prepared, and at several moments of the transaction that stores them.
    for lines, wait_s in ((1, 0.0), (2, 0.0), (2, 0.02), (2, 0.05), (2, 0.1), (2, 0.2), (2, 0.4)):
        reader = Program(READS_ALOUD, hx.path, file)
        assert reader.stdout is not None
        for _ in range(lines):
            reader.stdout.readline()
        time.sleep(wait_s)
        reader.kill()
        reader.communicate()
        found.append({space.name: space.memories for space in hx.spaces.list()}.get("large"))
        if found[-1] is not None:
            hx.spaces.set_policy("large", {"allow_delete": True})
            hx.spaces.delete("large")

    assert found[0] is None
    assert {None, 300} >= set(found)


@pytest.mark.row("L158")
def test_a_damaged_file_is_refused_or_read_for_what_it_says(tmp_path: Path) -> None:
    damaged(tmp_path, SHORT_DAMAGES)


@pytest.mark.long
def test_a_damaged_file_is_refused_or_read_for_what_it_says_many_times(tmp_path: Path) -> None:
    damaged(tmp_path, LONG_DAMAGES)


def test_damage_may_leave_nothing_of_a_file() -> None:
    assert b"" in {damage(b"{", random.Random(seed)) for seed in range(50)}


def damaged(tmp_path: Path, rounds: int) -> None:
    """Damage the file at random; what it then says is read and given back, or refused without a trace."""
    good = json.dumps(DOCUMENT, indent=2, ensure_ascii=False).encode() + b"\n"
    file = tmp_path / "docs.json"
    chance = random.Random(11)
    (tmp_path / "project").mkdir()
    with hexad.open(tmp_path / "project", embedder=None, background=False) as hx:
        file.write_bytes(good)
        hx.spaces.read_file(file)
        assert good == hx.spaces.write_file("docs").read_bytes()
        refused = read = 0
        for _ in range(rounds):
            file.write_bytes(damage(good, chance))
            before = hx.spaces.write_file("docs").read_bytes()
            spaces = [space.name for space in hx.spaces.list()]
            error = None
            try:
                report = hx.spaces.read_file(file)
            except HexadError as caught:
                error = caught
            if error is not None:
                refused += 1
                assert isinstance(error, hexad.InvalidSpace | hexad.Conflict), error
                assert str(file) in str(error) or isinstance(error, hexad.Conflict)
                assert before == hx.spaces.write_file("docs").read_bytes()
                assert spaces == [space.name for space in hx.spaces.list()]
                continue
            read += 1
            said = json.loads(file.read_bytes())
            if report.updated + report.created + report.unchanged == report.objects and not report.redacted:
                back = json.loads(hx.spaces.write_file(report.space).read_text(encoding="utf-8"))
                theirs = {entry["id"]: entry for entry in back["objects"] if "id" in entry}
                for entry in said.get("objects", ()):  # a damaged key is one that nobody knows
                    assert "id" not in entry or came_back(entry, theirs[entry["id"]])
        assert refused > rounds / 3
        assert read > rounds / 20
        assert [] == hx.check()


def came_back(entry: dict[str, object], theirs: dict[str, object]) -> bool:
    """Whether a memory is given back as the file has it.

    Once anything of the file changed, one that leaves open what a store fills in is written from the store: with its
    own chunks and metadata, and all else that the file says.
    """
    if entry == theirs or "summary_long" in entry:
        return entry == theirs
    return all(theirs.get(key) == value for key, value in entry.items() if key not in ("chunks", "metadata"))


def damage(good: bytes, chance: random.Random) -> bytes:
    """Return the file as disks, copies and editors damage it."""
    content = bytearray(good)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if not content:
            break
        at = chance.randrange(len(content))
        match chance.choice(("bit", "digit", "cut", "more", "end")):
            case "bit":
                content[at] ^= 1 << chance.randrange(8)
            case "digit":
                content[at] = chance.choice(b"0123456789abcTZ:-")
            case "cut":
                del content[at : at + chance.randrange(1, 40)]
            case "more":
                content[at:at] = chance.choice(
                    (b'"', b"{", b"}", b"null", b"1e999", b"\\ud800", b",", b"-1", b"[]")
                )
            case "end":
                if chance.random() < 0.3:
                    del content[at + 1 :]
    return bytes(content)
