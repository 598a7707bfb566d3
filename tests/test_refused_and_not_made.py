"""What is refused changes nothing: no store, no user layer and no ledger is made for it."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import hexad
from hexad import InvalidInput
from hexad.interfaces.cli.app.main import root
from hexad.interfaces.mcp.memory_offer import MemoryOffer
from hexad.interfaces.mcp.open_store import OpenStore
from ran import Run

WAITS = {("completion",), ("demo",), ("mcp",), ("serve",), ("watch",)}
"""Commands that need nothing, or that go on."""


def _commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))
        elif (*path, name) not in WAITS:
            yield (*path, name), command


COMMANDS = dict(_commands(root))
NEW_STORES = [
    ("ingest",),
    ("remember",),
    ("decide",),
    ("session", "start"),
    ("spaces", "create"),
    ("prefs", "set"),
]
"""Commands that make a store: what is wrong may also be one of their options."""


def _typed(path: tuple[str, ...], blank: str) -> Iterator[tuple[str, ...]]:
    """Yield a command with `blank` for all that it needs, and, of those that make a store, with one blank option."""
    parameters = [*COMMANDS[path].params]
    options = [p for p in parameters if isinstance(p, click.Option)]
    texts = [blank for p in parameters if isinstance(p, click.Argument) for _ in range(max(p.nargs, 1))]
    needed = [text for p in options if p.required for text in (p.opts[-1], blank)]
    yield (*path, *needed, "--", *texts) if texts else (*path, *needed)
    if path in NEW_STORES and not blank:
        own = [p for p in options if not p.is_flag and not p.count and p.name not in ("store", "role")]
        for option in own:
            yield (*path, max(option.opts, key=len), blank, "--", *(["x"] * len(texts)))


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, where the commands run, and where a user layer would be made beside it."""
    monkeypatch.setenv("HEXAD_EMBEDDER", "none")
    monkeypatch.setenv("HEXAD_USER_DIR", str(tmp_path / "user"))
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_command_that_refuses_what_it_is_given_leaves_nothing_behind(
    run: Run, empty: Path, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]
) -> None:
    for typed in (*_typed(path, ""), *_typed(path, " ")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))

        if run(*typed).code:
            assert [empty] == [*empty.parent.rglob("*")], typed
        else:
            for made in sorted(empty.rglob("*"), reverse=True):
                made.rmdir() if made.is_dir() else made.unlink()


@pytest.mark.parametrize(
    "typed",
    [
        ("ingest", "nowhere.md"),
        ("remember", "A text.", "--derived-from", "mem_nobody"),
        ("decide", "Keep it; the password is hunter2-x9Qr", "--supersedes", "dec_nobody"),
        ("session", "start", "Work.", "--step", ""),
        ("graph", "index", "nowhere"),
        ("tags", "load-pack", "nowhere"),
        ("audit", "reviewer", "add", "ada", "--expires", "2020-01-01", "--ledger", "."),
    ],
    ids=" ".join,
)
def test_so_does_one_that_finds_out_late(run: Run, empty: Path, typed: tuple[str, ...]) -> None:
    assert 0 < run(*typed).code
    assert [empty] == [*empty.parent.rglob("*")]


def test_a_store_that_was_there_stays_though_nothing_is_stored_in_it(run: Run, empty: Path) -> None:
    run("init")

    assert 2 == run("decide", "").code
    assert (empty / ".hexad" / "memory.db").exists()


def test_a_folder_that_was_there_stays(run: Run, empty: Path) -> None:
    (empty / ".hexad").mkdir()

    assert 2 == run("decide", "").code
    assert (empty / ".hexad").is_dir()


def test_a_program_whose_block_ends_with_a_refusal_leaves_no_store(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput), hexad.open(tmp_path, embedder=None) as hx:
        hx.remember("")

    assert [] == [*tmp_path.iterdir()]


def test_so_does_one_that_awaits_its_calls(tmp_path: Path) -> None:
    async def refused() -> None:
        async with hexad.aopen(tmp_path, embedder=None) as hx:
            await hx.remember("")

    with pytest.raises(InvalidInput):
        asyncio.run(refused())

    assert [] == [*tmp_path.iterdir()]


def test_a_store_in_which_something_is_stored_stays(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput), hexad.open(tmp_path, embedder=None) as hx:
        hx.remember("A text.")
        hx.remember("")

    with hexad.open(tmp_path, embedder=None, create=False) as hx:
        assert ["A text."] == [memory.raw for memory in hx.memories()]


def test_a_store_in_which_only_a_token_was_recorded_stays(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput), hexad.open(tmp_path, embedder=None) as hx:
        hx.xdb.start_session("talk")
        hx.xdb.record("input", "Hello", session_id="talk")
        hx.remember("")

    with hexad.open(tmp_path, embedder=None, create=False) as hx:
        assert ["Hello"] == [record.content for record in hx.xdb.recall(session_id="talk")]


def test_a_store_that_somebody_else_opened_meanwhile_stays(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput), hexad.open(tmp_path, embedder=None) as hx:
        other = hexad.open(tmp_path, embedder=None)
        hx.remember("")

    with other:
        other.remember("A text.")
    with hexad.open(tmp_path, embedder=None, create=False) as hx:
        assert [] == hx.check()


def test_a_key_that_cannot_be_leaves_no_store(tmp_path: Path) -> None:
    with pytest.raises(hexad.HexadError):
        hexad.open(tmp_path, key="", embedder=None)

    assert [] == [*tmp_path.iterdir()]


WRITER = """
import sys, hexad
for number in range(int(sys.argv[2])):
    try:
        with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
            hx.remember("")
    except hexad.InvalidInput:
        pass
with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    hx.remember(f"Written by {sys.argv[3]}.")
"""


def test_what_many_processes_write_stays_while_others_are_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [
        subprocess.Popen(
            [*command, str(4 * number), str(number)], env=dict(os.environ), stderr=subprocess.PIPE
        )
        for number in range(4)
    ]

    assert [b""] * 4 == [writer.communicate()[1] for writer in writers]
    assert [0] * 4 == [writer.returncode for writer in writers]
    with hexad.open(tmp_path, embedder=None, create=False) as hx:
        assert 4 == hx.count()
        assert [] == hx.check()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", {"text": ""}),
        ("decide", {"title": " "}),
        ("session", {"action": "start", "task": ""}),
        ("graph", {"question": "index", "space": ""}),
    ],
)
def test_a_server_whose_every_call_was_refused_leaves_no_store(
    empty: Path, tool: str, arguments: dict[str, object]
) -> None:
    store = OpenStore(path=str(empty))

    with pytest.raises(InvalidInput):
        MemoryOffer(store).call(tool, arguments, lambda _: None)
    store.close()

    assert [] == [*empty.iterdir()]
