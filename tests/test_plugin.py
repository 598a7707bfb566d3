"""The Claude Code plugin, and what `hexad install` writes: the same from one source, and what their readers ask for."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

import hexad
from hexad.interfaces.assistants import contents
from hexad.interfaces.hooks.events import EVENTS
from hexad.interfaces.mcp.schemas import TOOLS

PLUGIN = Path(__file__).parent.parent / "plugins" / "claude-code"


def test_the_plugin_is_what_is_installed():
    """`python plugins/write.py` writes it anew."""
    files = {str(path.relative_to(PLUGIN)): path.read_text() for path in PLUGIN.rglob("*") if path.is_file()}

    assert contents.plugin_files() == files
    assert PLUGIN == runpy.run_path(str(PLUGIN.parent / "write.py"))["FOLDER"]


def test_the_manifest_names_the_version():
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())

    assert ("hexad", hexad.__version__) == (manifest["name"], manifest["version"])
    assert {"name", "version", "description", "license", "keywords"} == set(manifest)


@pytest.mark.parametrize(
    "table", [contents.CLAUDE_HOOKS, contents.CODEX_HOOKS, contents.GEMINI_HOOKS, contents.CURSOR_HOOKS]
)
def test_every_hook_calls_an_event_that_there_is(table):
    assert {event for _, _, event in table} <= set(EVENTS)


def test_hooks_are_groups_of_commands_with_a_time_limit():
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]

    for groups in hooks.values():
        for group in groups:
            assert {"hooks"} <= set(group) <= {"hooks", "matcher"}
            for each in group["hooks"]:
                assert {"type", "command", "timeout"} == set(each)
                assert re.fullmatch(r"hexad hook [a-z-]+", each["command"])


def test_the_skill_has_what_readers_of_skills_ask_for():
    """As agentskills.io has it: a name like its folder, a description of at most 1,024 characters, known fields."""
    _, head, body = contents.SKILL.split("---\n", 2)
    fields = re.findall(r"^(\S[^:]*):", head, re.MULTILINE)
    description = re.search(r"description: >-\n((?:  .*\n)+)", head)

    assert ["name", "description", "license", "metadata"] == fields
    assert "name: hexad\n" in head
    assert (PLUGIN / "skills" / "hexad" / "SKILL.md").exists()
    assert description
    assert len(description[1]) <= 1_024
    assert len(body.splitlines()) < 500


def test_the_advice_names_every_tool_of_the_server_and_no_other():
    named = set(re.findall(r"`([a-z]+)`", contents.SKILL)) - {"hexad"}

    assert {tool.name for tool in TOOLS} == named


def test_a_path_with_blanks_is_a_word_of_the_command():
    assert '"/home/Ada L/bin/hexad" hook prompt' == contents.hook_command(["/home/Ada L/bin/hexad"], "prompt")
