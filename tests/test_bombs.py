"""Files that are made to fill the memory, or to be waited for: refused with their limit, and nothing is changed."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.audit import check_export
from hexad.audit.archive_file import FORM, LINE_BYTES_LIMIT, ArchiveFile
from hexad.interfaces.hooks.payload import HookPayload
from hexad.spaces.files.fields import TAGS_LIMIT
from hexad.spaces.files.reader import BYTES_A_CONTAINER, CONTAINERS_FREE, LONGEST_TEXT_BYTES, load_json
from opener import Opener

ABOVE_BYTES = 300 << 20
DEEP = 1_000_000
READERS: dict[str, Callable[[Hexad, Path], object]] = {
    "pack": lambda hx, path: hx.xdb.load_concept_pack(path),
    "contract": lambda hx, path: hx.xdb.set_contract(path),
    "space file": lambda hx, path: hx.spaces.read_file(path),
    "signed export": lambda hx, path: hx.spaces.restore(path),
    "ledger's export": lambda _, path: check_export(path),
    "archive": lambda _, path: ArchiveFile(path),
}


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe.json")
    return tmp_path / "pipe.json"


@pytest.mark.timeout(120)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("special", ["pipe", "device"])
def test_a_pipe_and_a_device_are_refused_and_not_waited_for(
    opened: Opener, pipe: Path, tmp_path: Path, reader: str, special: str
) -> None:
    hx = opened()
    (tmp_path / "endless.json").symlink_to("/dev/zero")
    with pytest.raises(hexad.HexadError):
        READERS[reader](hx, pipe if special == "pipe" else tmp_path / "endless.json")
    assert 0 == hx.count()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("target", ["/dev/zero", "pipe"])
def test_settings_that_are_no_file_are_refused(project: Path, pipe: Path, target: str) -> None:
    (project / ".hexad").mkdir(exist_ok=True)
    (project / ".hexad" / "hexad.toml").symlink_to(pipe if target == "pipe" else target)
    with pytest.raises(hexad.InvalidInput, match="a pipe or a device"):
        hexad.open(project)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", ["package.json", "pyproject.toml", "Cargo.toml", "go.mod", ".git/HEAD"])
@pytest.mark.parametrize("target", ["/dev/zero", "pipe"])
def test_manifests_that_are_no_files_say_nothing(project: Path, pipe: Path, name: str, target: str) -> None:
    (project / ".git").mkdir()
    (project / name).symlink_to(pipe if target == "pipe" else target)
    hexad.init(project)
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.project.detect()
        hx.session.start(task="Look around")


CALLS: dict[str, Callable[[Hexad, Path], object]] = {
    **READERS,
    "export that is checked": lambda hx, path: hx.spaces.verify(path),
    "ingest": lambda hx, path: hx.ingest(path),
    "queue": lambda hx, path: hx.enqueue(path),
    "watched folder": lambda hx, path: hx.watch(path, stop=lambda: True),
    "export that is written": lambda hx, path: hx.write_export(path, force=True),
    "decrypted file": lambda hx, path: list(hx.decrypted(path)),
    "detected folder": lambda hx, path: hx.project.detect(path),
    "code": lambda hx, path: hx.graph.index(path),
    "folder of a session": lambda hx, path: hx.session.start(task="x", folder=path),
    "token": lambda _, path: hexad.connect("http://127.0.0.1:1", token=path),
    "certificate": lambda _, path: hexad.connect("https://127.0.0.1:1", token="x", certificate=path),
    "key file": lambda _, path: hexad.open(path.parent, key=path, embedder=None, background=False),
    "key file of the user": lambda _, path: hexad.encrypt(path.parent, key=path, user=True),
}
"""Calls that take a file or a folder."""


def no_file(folder: Path, what: str) -> Path:
    path = folder / "given"
    if what == "pipe":
        os.mkfifo(path)
    elif what in ("device", "loop", "nowhere"):
        path.symlink_to({"device": "/dev/zero", "loop": path, "nowhere": folder / "nothing"}[what])
    return {
        "long name": folder / ("n" * 300), "nul": Path(f"{folder}/a\0b"), "below a file": Path(__file__) / "given"
    }.get(what, path)  # fmt: skip


@pytest.mark.timeout(120)
@pytest.mark.parametrize("what", ["pipe", "device", "loop", "long name", "nul", "below a file"])
@pytest.mark.parametrize("call", CALLS)
def test_what_is_no_file_is_refused_in_hexads_words(hx: Hexad, tmp_path: Path, call: str, what: str) -> None:
    (tmp_path / "there").mkdir()
    path = no_file(tmp_path / "there", what)
    with contextlib.suppress(hexad.HexadError):
        CALLS[call](hx, path)
        assert call in ("queue",)  # what waits there is looked at when its turn comes
    assert "pipe" != what or path.is_fifo()
    assert Path("/dev/zero").is_char_device()


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "name", ["encryption.json", "convert/journal.json", "keys.json", "server/tokens.json"]
)
@pytest.mark.parametrize("target", ["/dev/zero", "pipe"])
def test_files_of_a_store_that_are_none_are_refused_within_its_memory(
    project: Path, pipe: Path, name: str, target: str
) -> None:
    hexad.open(project, embedder=None, background=False).close()
    pipe.chmod(0o600)
    file = project / ".hexad" / name
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    file.symlink_to(pipe if target == "pipe" else target)
    in_a_child(
        """
import pathlib
from hexad.interfaces.http_server.tokens import TokenFile
try:
    with hexad.open(sys.argv[1], embedder=None, background=False) as other:
        other.remember("Call me under ann@example.org.")
        other.forget(subject="ann", purge=True, confirm=True)
        TokenFile(pathlib.Path(sys.argv[1]) / ".hexad").login("hexad_none")
except (hexad.HexadError, OSError):
    pass
""",
        project,
    )


@pytest.mark.parametrize("gitdir", ["loop", "a\0b", "../nowhere", "/dev/zero"])
def test_a_git_file_that_leads_nowhere_is_no_repository(project: Path, gitdir: str) -> None:
    (project / "loop").symlink_to("loop")
    (project / ".git").write_text(f"gitdir: {gitdir}\n")
    with hexad.open(project, embedder=None, background=False) as hx:
        assert str(project) == hx.session.place(project).repository
        hx.ingest(project)


@pytest.mark.timeout(120)
def test_a_transcript_that_is_a_pipe_is_not_waited_for(pipe: Path) -> None:
    assert [] == HookPayload({"transcript_path": str(pipe)}).turns()


@pytest.mark.timeout(120)
def test_a_token_of_nothing_but_zeros_is_none(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(bytes(64))
    with pytest.raises(hexad.InvalidInput, match="token cannot be used"):
        hexad.connect("http://127.0.0.1:1", token=tmp_path / "token")


@pytest.mark.timeout(120)
def test_what_does_not_begin_as_an_archive_is_not_read_on(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(1 << 42)
    with pytest.raises(hexad.IntegrityError):
        ArchiveFile(tmp_path / "huge")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", ["[" * DEEP, '{"a":' * DEEP], ids=["lists", "objects"])
def test_a_million_levels_are_refused(opened: Opener, tmp_path: Path, reader: str, text: str) -> None:
    hx = opened()
    (tmp_path / "deep.json").write_text(text + "\n", encoding="utf-8")
    with pytest.raises(hexad.HexadError):
        READERS[reader](hx, tmp_path / "deep.json")
    assert 0 == hx.count()


def in_a_child(code: str, *arguments: object) -> None:
    """Run code in a process of its own that may have 300 MB more than it has once all is loaded."""
    script = f"""
import resource, sys
import hexad
from hexad.audit.archive_file import ArchiveFile
hx = hexad.open(":memory:", embedder=None, background=False)
hx.remember("The gate opens at noon.")
hx.spaces.verify
with open("/proc/self/statm") as statm:
    size = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + {ABOVE_BYTES}, size + {ABOVE_BYTES}))
{code}
assert 1 == hx.count()
hx.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert 0 == done.returncode, done.stderr[-2_000:]


def test_a_line_of_300_mb_in_a_small_archive_is_refused_within_its_memory(tmp_path: Path) -> None:
    packer = zlib.compressobj(9)
    packed = b"".join([*(packer.compress(b"a" * (1 << 20)) for _ in range(300)), packer.flush()])
    (tmp_path / "bomb.archive").write_bytes(FORM + packed + bytes(64))
    assert (tmp_path / "bomb.archive").stat().st_size < 400_000
    in_a_child(
        f"""
try:
    ArchiveFile(__import__("pathlib").Path(sys.argv[1]))
except hexad.LimitExceeded as error:
    assert "{LINE_BYTES_LIMIT:,}" in str(error), error
else:
    raise AssertionError("it was read")
""",
        tmp_path / "bomb.archive",
    )


def test_a_text_of_200_mb_in_a_space_file_is_refused_within_its_memory(tmp_path: Path) -> None:
    with (tmp_path / "bomb.json").open("w", encoding="utf-8") as file:
        file.write('{"name": "bomb", "objects": [{"id": "a", "raw": "')
        for _ in range(200):
            file.write("a" * (1 << 20))
        file.write('"}]}')
    in_a_child(
        f"""
try:
    hx.spaces.read_file(sys.argv[1])
except hexad.InvalidSpace as error:
    assert "{LONGEST_TEXT_BYTES:,}" in str(error), error
else:
    raise AssertionError("it was read")
""",
        tmp_path / "bomb.json",
    )


@pytest.mark.parametrize("what", ["{}", "[]", '{"a":1}'])
def test_millions_of_small_objects_in_a_space_file_are_refused_within_its_memory(
    tmp_path: Path, what: str
) -> None:
    (tmp_path / "bomb.json").write_text(
        '{"name": "bomb", "objects": [' + f"{what}," * 5_000_000 + f"{what}]}}"
    )
    in_a_child(
        """
try:
    hx.spaces.read_file(sys.argv[1])
except hexad.InvalidSpace as error:
    assert "5,000,002 objects and lists" in str(error) or "5,000,003 objects and lists" in str(error), error
else:
    raise AssertionError("it was read")
""",
        tmp_path / "bomb.json",
    )


def test_brackets_in_texts_are_none_of_a_space_files_objects(tmp_path: Path) -> None:
    raw = 'if (a[0] == "{") { b = [[\\]]; } ' * 3_000
    objects = [{"id": f"o{number}", "raw": f"{number} {raw}"} for number in range(80)]
    document = json.dumps({"name": "code", "objects": objects})
    brackets = document.count("{") + document.count("[")
    assert brackets > CONTAINERS_FREE + len(document) // BYTES_A_CONTAINER
    (tmp_path / "code.json").write_text(document)

    assert json.loads(document) == load_json(tmp_path / "code.json")


def test_a_memory_with_100_000_tags_is_refused(opened: Opener, tmp_path: Path) -> None:
    hx = opened()
    document = {
        "name": "bomb",
        "objects": [{"id": "a", "raw": "A text.", "tags": [f"t{n}" for n in range(100_000)]}],
    }
    (tmp_path / "bomb.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(hexad.InvalidSpace, match=f"100,000 tags; a memory has at most {TAGS_LIMIT:,}"):
        hx.spaces.read_file(tmp_path / "bomb.json")
    assert 0 == hx.count()


def test_a_long_text_and_many_tags_within_the_limits_are_read(opened: Opener, tmp_path: Path) -> None:
    hx = opened()
    text = "Der Schlüssel liegt bei Ö. " * 30_000
    document = {
        "name": "long",
        "objects": [{"id": "a", "raw": text, "tags": [f"t{n}" for n in range(TAGS_LIMIT)]}],
    }
    (tmp_path / "long.json").write_text(json.dumps(document, ensure_ascii=True), encoding="utf-8")
    assert 1 == hx.spaces.read_file(tmp_path / "long.json").created
