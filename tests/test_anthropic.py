"""Claude's memory tool over the store: files are memories, and what happens to one happens to the other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import Hexad, InvalidInput
from programs import Program

pytest.importorskip("anthropic", reason="the extra `anthropic` is not installed")

from anthropic.lib.tools import ToolError

from hexad.integrations.anthropic import AsyncHexadMemoryTool, HexadMemoryTool


@pytest.fixture
def hx() -> Iterator[Hexad]:
    with hexad.open(":memory:", embedder=None, background=False) as opened:
        yield opened


@pytest.fixture
def tool(hx: Hexad) -> HexadMemoryTool:
    return HexadMemoryTool(hx)


def do(tool: HexadMemoryTool, command: str, **values: Any) -> str:
    """Call the tool as the API's runner does, with what the model sent."""
    return str(tool.call({"command": command, **values}))


def test_what_the_model_writes_is_a_memory_and_is_recalled(hx: Hexad, tool: HexadMemoryTool) -> None:
    answer = do(tool, "create", path="/memories/food/likes.md", file_text="Ines is allergic to peanuts.\n")

    hit = hx.recall("peanuts")[0]
    assert "File created successfully at: /memories/food/likes.md" == answer
    assert ("memories/food/likes.md", "agent") == (hit.memory.path, hit.memory.trust)
    assert "Ines is allergic to peanuts." == hit.text


def test_a_file_is_edited_in_place_and_keeps_its_memory(hx: Hexad, tool: HexadMemoryTool) -> None:
    do(tool, "create", path="/memories/a.md", file_text="one\ntwo\nthree\n")
    memory = hx.memories()[0]

    shown = do(tool, "str_replace", path="/memories/a.md", old_str="two", new_str="deux")
    do(tool, "insert", path="/memories/a.md", insert_line=0, insert_text="zero")
    do(tool, "rename", old_path="/memories/a.md", new_path="/memories/b/c.md")

    assert shown.endswith("     1\tone\n     2\tdeux\n     3\tthree\n     4\t")
    assert [(memory.id, "memories/b/c.md", "zero\none\ndeux\nthree")] == [
        (each.id, each.path, each.raw) for each in hx.memories()
    ]
    assert do(tool, "view", path="/memories/b/c.md", view_range=[2, 3]).endswith("     2\tone\n     3\tdeux")
    with pytest.raises(ToolError, match="does not exist"):
        do(tool, "view", path="/memories/a.md")


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "\n\n a\nb \n\n", "", "\n", "a", "Zoë\u2028x"])
def test_a_file_reads_as_it_was_written(hx: Hexad, tool: HexadMemoryTool, text: str) -> None:
    do(tool, "create", path="/memories/x.md", file_text=text)

    lines = do(tool, "view", path="/memories/x.md").split("\n")[1:]

    assert text.split("\n") == [line[7:] for line in lines]
    assert [] == hx.check()


@pytest.mark.parametrize("name", ["[slug].md", "[ids]/a.md", "what?.md", "*.md", "a[!b]*.md"])
def test_a_name_may_hold_what_patterns_are_made_of(hx: Hexad, tool: HexadMemoryTool, name: str) -> None:
    do(tool, "create", path="/memories/plain.md", file_text="Plain.")
    do(tool, "create", path=f"/memories/{name}", file_text="one")

    with pytest.raises(ToolError, match="already exists"):
        do(tool, "create", path=f"/memories/{name}", file_text="two")
    do(tool, "str_replace", path=f"/memories/{name}", old_str="one", new_str="three")
    assert do(tool, "view", path=f"/memories/{name}").endswith("\tthree")
    do(tool, "delete", path=f"/memories/{name.partition('/')[0]}")

    assert ["memories/plain.md"] == [each.path for each in hx.memories()]


def test_files_of_one_content_are_two(hx: Hexad, tool: HexadMemoryTool) -> None:
    for name in ("a", "b"):
        do(tool, "create", path=f"/memories/{name}.md", file_text="Nothing yet.\n")

    assert {"memories/a.md", "memories/b.md"} == {memory.path for memory in hx.memories()}


def test_a_folder_lists_two_levels_with_sizes(tool: HexadMemoryTool) -> None:
    for path, text in {"b.md": "12", "a/x.md": "1", "a/deep/y.md": "1" * 2048, ".hidden": "1"}.items():
        do(tool, "create", path=f"/memories/{path}", file_text=text)

    assert [
        "2.0K\t/memories", "2.0K\t/memories/a/", "2K\t/memories/a/deep/", "1B\t/memories/a/x.md", "2B\t/memories/b.md",
    ] == do(tool, "view", path="/memories").split("\n")[1:]  # fmt: skip
    assert ["2K\t/memories/a/deep", "2K\t/memories/a/deep/y.md"] == do(
        tool, "view", path="/memories/a/deep"
    ).split("\n")[1:]


def test_secrets_are_taken_out_and_the_model_sees_it(tool: HexadMemoryTool) -> None:
    key = "sk-proj-" + "aB3dE5fG7h" * 4
    do(tool, "create", path="/memories/key.md", file_text=f"The key is {key}.")

    seen = do(tool, "view", path="/memories/key.md")
    assert key not in seen
    assert "[REDACTED" in seen


def test_deleting_archives_or_erases(hx: Hexad) -> None:
    for purge, left in ((False, ["archived"]), (True, [])):
        tool = HexadMemoryTool(hx, space=f"s{int(purge)}", purge=purge)
        do(tool, "create", path="/memories/team/a.md", file_text="Ines likes tea.")
        assert "Successfully deleted /memories/team" == do(tool, "delete", path="/memories/team")
        assert left == [memory.status for memory in hx.memories(space=f"s{int(purge)}", status=None)]
        do(tool, "create", path="/memories/team/a.md", file_text="Ines likes coffee.")
        assert "All memory cleared" == tool.clear_all_memory()
    assert 2 == len(hx.erasures())


@pytest.mark.parametrize(
    ("command", "values", "said"),
    [
        ("view", {"path": "/etc/passwd"}, "must start with /memories"),
        ("view", {"path": "/memoriesandmore"}, "must start with /memories"),
        ("view", {"path": "/memories/../x"}, "escape"),
        ("view", {"path": "/memories/sub/../../x"}, "escape"),
        ("delete", {"path": "/memories/sub/.."}, "Cannot delete the /memories directory itself"),
        ("rename", {"old_path": "/memories/.", "new_path": "/memories/b"}, "Cannot rename the /memories"),
        ("create", {"path": "/memories/sub/..", "file_text": "x"}, "names a folder"),
        ("create", {"path": "/memories/sub/../a.md", "file_text": "x"}, "already exists"),
        ("create", {"path": "/memories/a.md", "file_text": "x"}, "already exists"),
        ("create", {"path": "/memories/a.md/b.md", "file_text": "x"}, "is a file, not a folder"),
        ("create", {"path": "/memories", "file_text": "x"}, "names a folder"),
        ("create", {"path": "/memories/big", "file_text": "x" * 2_000_000}, "1,048,576"),
        (
            "str_replace",
            {"path": "/memories/a.md", "old_str": "zebra", "new_str": ""},
            "did not appear verbatim",
        ),
        ("str_replace", {"path": "/memories/a.md", "old_str": "tea", "new_str": ""}, r"in lines: 1, 2\."),
        ("str_replace", {"path": "/memories/a.md", "old_str": "", "new_str": "x"}, "did not appear verbatim"),
        ("str_replace", {"path": "/memories", "old_str": "x", "new_str": "y"}, "is not a file"),
        ("insert", {"path": "/memories/a.md", "insert_line": 3, "insert_text": "x"}, r"range \[0, 2\]"),
        ("delete", {"path": "/memories"}, "Cannot delete"),
        ("view", {"path": 3}, "path = 3: "),
        ("view", {}, "path = "),
        ("view", {"path": "/memories/a.md", "view_range": ["one", 2]}, "view_range.0 = 'one'"),
        ("view", {"path": "/memories/a.md", "view_range": [9, 1]}, r"view_range` parameter: \[9, 1\]"),
        ("view", {"path": "/memories/a.md", "view_range": [1]}, r"view_range` parameter: \[1\]"),
        ("summarize", {"path": "/memories/a.md"}, "There is no command 'summarize'; it is one of view,"),
        ("create", {"path": "/memories/b.md", "file_text": None}, "file_text = None"),
        ("delete", {"path": "/memories/none"}, "does not exist"),
        ("rename", {"old_path": "/memories/none", "new_path": "/memories/b"}, "does not exist"),
        ("rename", {"old_path": "/memories/a.md", "new_path": "/memories/d"}, "already exists"),
        ("rename", {"old_path": "/memories/d", "new_path": "/memories/d/e"}, "is inside of"),
    ],
)
def test_what_cannot_be_done_tells_the_model_why_and_changes_nothing(
    hx: Hexad, tool: HexadMemoryTool, command: str, values: dict[str, Any], said: str
) -> None:
    do(tool, "create", path="/memories/a.md", file_text="tea\ntea\n")
    do(tool, "create", path="/memories/d/x.md", file_text="x\n")
    before = [(memory.id, memory.path, memory.raw) for memory in hx.memories()]

    with pytest.raises(ToolError, match=said):
        do(tool, command, **values)

    assert before == [(memory.id, memory.path, memory.raw) for memory in hx.memories()]


def test_what_others_remember_under_the_path_is_a_file(hx: Hexad, tool: HexadMemoryTool) -> None:
    hx.remember("The build takes a minute.", path="memories/build.md", trust="agent")

    do(tool, "str_replace", path="/memories/build.md", old_str="a minute", new_str="an hour")

    assert ["The build takes an hour."] == [memory.raw for memory in hx.memories()]


def test_words_of_the_user_are_not_overwritten_without_a_review(hx: Hexad, tool: HexadMemoryTool) -> None:
    hx.remember("Ines drinks tea.", path="memories/ines.md")

    with pytest.raises(ToolError, match=r"not written yet\. It waits for a review"):
        do(tool, "str_replace", path="/memories/ines.md", old_str="tea", new_str="coffee")

    assert ["Ines drinks tea."] == [memory.raw for memory in hx.memories()]
    assert ["Ines drinks coffee."] == [memory.raw for memory in hx.memories(status="quarantined")]


@pytest.mark.parametrize("purge", [False, True])
@pytest.mark.parametrize("pinned", [False, True])
def test_what_the_user_said_or_pinned_is_not_taken_away(hx: Hexad, purge: bool, pinned: bool) -> None:
    tool = HexadMemoryTool(hx, purge=purge)
    theirs = hx.remember(
        "Ines drinks tea.", path="memories/team/ines.md", trust="agent" if pinned else "user", pinned=pinned
    )
    do(tool, "create", path="/memories/team/own.md", file_text="x\n")
    before = [(memory.id, memory.path) for memory in hx.memories()]

    for path in ("/memories/team/ines.md", "/memories/team"):
        with pytest.raises(
            ToolError, match=r"Nothing was deleted: /memories/team/ines\.md is the user's own or"
        ):
            do(tool, "delete", path=path)
        with pytest.raises(ToolError, match=r"Nothing was renamed: /memories/team/ines\.md is"):
            do(tool, "rename", old_path=path, new_path="/memories/other")
    with pytest.raises(ToolError, match="Nothing was deleted"):
        tool.clear_all_memory()

    assert before == [(memory.id, memory.path) for memory in hx.memories()]
    assert theirs.id in {memory.id for memory in hx.memories()}


def test_anything_but_an_open_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="must be an open store"):
        HexadMemoryTool(str(tmp_path))  # type: ignore[arg-type]


def test_a_space_and_what_deleting_does_are_checked_when_the_tool_is_made(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match="purge = 'x' must be True or False"):
        HexadMemoryTool(hx, purge="x")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="Invalid space"):
        HexadMemoryTool(hx, space=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("asked", [None, 5, {}, "view"])
def test_what_is_no_command_is_told_as_the_tools_error(hx: Hexad, asked: object) -> None:
    with pytest.raises(ToolError, match=r"There is no command .*; it is one of view, create"):
        HexadMemoryTool(hx).call(asked)
    with pytest.raises(ToolError, match="There is no command"):
        asyncio.run(AsyncHexadMemoryTool(hx).call(asked))


def test_threads_and_programs_that_edit_one_file_lose_nothing(tmp_path: Path) -> None:
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        tool = HexadMemoryTool(hx)
        do(tool, "create", path="/memories/log.md", file_text="begin\n")
        other = Program(
            "import sys, hexad\n"
            "from hexad.integrations.anthropic import HexadMemoryTool\n"
            "with hexad.open(sys.argv[1], embedder=None, background=False) as hx:\n"
            "    tool = HexadMemoryTool(hx)\n"
            "    for number in range(10):\n"
            "        tool.call(dict(command='insert', path='/memories/log.md', insert_line=1, insert_text=f'other {number}'))\n",
            str(tmp_path),
        )

        def work(name: str) -> None:
            for number in range(10):
                do(tool, "insert", path="/memories/log.md", insert_line=1, insert_text=f"{name} {number}")

        threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ("", 0) == (other.communicate(timeout=120)[1], other.wait())

        lines = set(hx.memories()[0].raw.split("\n"))
        assert lines == {
            "begin",
            *(f"{who} {number}" for who in ("one", "two", "other") for number in range(10)),
        }


def test_the_asynchronous_tool_does_the_same(hx: Hexad) -> None:
    async def talk() -> str:
        tool = AsyncHexadMemoryTool(hx)
        await tool.call({"command": "create", "path": "/memories/a.md", "file_text": "tea"})
        await tool.call(
            {"command": "str_replace", "path": "/memories/a.md", "old_str": "tea", "new_str": "mate"}
        )
        await tool.call(
            {"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "milk"}
        )
        await tool.call({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"})
        shown = str(await tool.call({"command": "view", "path": "/memories/b.md"}))
        await tool.call({"command": "delete", "path": "/memories/b.md"})
        await tool.clear_all_memory()
        return shown

    assert asyncio.run(talk()).endswith("     1\tmate\n     2\tmilk\n     3\t")
    assert [] == hx.memories()
