"""Which files of an assistant are written, for a project and for a user."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hexad.config import AssistantFolders
from hexad.core.json_types import JSONValue
from hexad.interfaces.assistants import contents
from hexad.interfaces.assistants.edits import BlockEdit, FileEdit, JsonEdit, TomlEdit, WholeFile

_WORKSPACE: Final = "${workspaceFolder}"
_SERVER, _HOOKS, _SKILL, _ADVICE = "MCP server", "hooks", "skill", "block for agents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What is to be written: for which project, or for the user, and which `hexad` is to be started."""

    project: Path
    user: bool
    executable: list[str]
    folders: AssistantFolders

    @property
    def root(self) -> Path:
        """The folder that a client's own folder lies in."""
        return self.folders.home if self.user else self.project


Targets = list[tuple[Path, FileEdit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """An assistant: its files, and how one sees that it is connected."""

    name: str
    title: str
    targets: Callable[[Installation], Targets]
    see: str
    note: str = ""
    """What is different in this one."""


def _skill(folder: Path) -> tuple[Path, FileEdit]:
    return folder / contents.SKILL_NAME / "SKILL.md", WholeFile(what=_SKILL, content=contents.SKILL)


def _servers(to: Installation, key: str, *arguments: str, comments: bool = False, **more: str) -> JsonEdit:
    entry = {**more, **contents.server_entry(to.executable, *arguments)}
    return JsonEdit(what=_SERVER, members={(key, contents.SERVER): entry}, comments=comments)


def _agents(to: Installation) -> Targets:
    return (
        []
        if to.user
        else [(to.project / "AGENTS.md", BlockEdit(what=_ADVICE, content=contents.AGENTS_BLOCK))]
    )


def _hooks(to: Installation, table: contents.HookTable) -> JsonEdit:
    groups = contents.hook_groups(to.executable, table)
    return JsonEdit(what=_HOOKS, items={("hooks", event): group for event, group in groups.items()})


def _claude_code(to: Installation) -> Targets:
    folder = (to.folders.claude if to.user else None) or to.root / ".claude"
    servers = (to.folders.claude or to.folders.home) / ".claude.json" if to.user else to.project / ".mcp.json"
    return [
        (servers, _servers(to, "mcpServers", type="stdio")),
        (folder / "settings.json", _hooks(to, contents.CLAUDE_HOOKS)),
        _skill(folder / "skills"),
    ]


def _codex(to: Installation) -> Targets:
    folder = to.folders.codex if to.user else to.project / ".codex"
    entry = contents.server_entry(to.executable)
    lines = [f"[mcp_servers.{contents.SERVER}]"]
    # A JSON string or list of strings is one of TOML, too, but for what stands beyond the first plane.
    lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in entry.items()]
    block = TomlEdit(what=_SERVER, content="\n".join(lines), table=f"mcp_servers.{contents.SERVER}")
    return [
        (folder / "config.toml", block),
        (folder / "hooks.json", _hooks(to, contents.CODEX_HOOKS)),
        _skill(to.root / ".agents" / "skills"),
    ]


def _cursor(to: Installation) -> Targets:
    folder = to.root / ".cursor"
    hooks: dict[tuple[str, ...], JSONValue] = {
        ("hooks", event): hook for event, hook in contents.cursor_hooks(to.executable).items()
    }
    return [
        (folder / "mcp.json", _servers(to, "mcpServers", "--store", _WORKSPACE, comments=True)),
        (folder / "hooks.json", JsonEdit(what=_HOOKS, items=hooks, defaults={("version",): 1})),
        _skill(folder / "skills"),
        *_agents(to),
    ]


def _windsurf(to: Installation) -> Targets:
    arguments = [] if to.user else ["--store", str(to.project)]
    user_folder = to.folders.home / ".codeium" / "windsurf"
    return [
        (user_folder / "mcp_config.json", _servers(to, "mcpServers", *arguments)),
        _skill((user_folder if to.user else to.project / ".windsurf") / "skills"),
        *_agents(to),
    ]


def _vscode(to: Installation) -> Targets:
    folder = to.folders.config / "Code" / "User" if to.user else to.project / ".vscode"
    skills = to.folders.home / ".copilot" / "skills" if to.user else to.project / ".github" / "skills"
    return [
        (folder / "mcp.json", _servers(to, "servers", "--store", _WORKSPACE, comments=True, type="stdio")),
        _skill(skills),
        *_agents(to),
    ]


def _gemini(to: Installation) -> Targets:
    folder = to.root / ".gemini"
    servers = _servers(to, "mcpServers")
    groups = contents.hook_groups(to.executable, contents.GEMINI_HOOKS, unit_s=1000)
    settings = JsonEdit(
        what=f"{_SERVER}, {_HOOKS}",
        members=servers.members,
        items={("hooks", event): group for event, group in groups.items()},
        comments=True,
    )
    return [(folder / "settings.json", settings), _skill(folder / "skills")]


CLIENTS: Final = {
    client.name: client
    for client in (
        Client(
            name="claude-code",
            title="Claude Code",
            targets=_claude_code,
            see="start `claude`, allow the server, and `/mcp` shows hexad; `/hooks` shows the hooks",
        ),
        Client(
            name="codex",
            title="Codex",
            targets=_codex,
            see="start `codex` in a folder that it trusts, and `/mcp` shows hexad",
        ),
        Client(
            name="cursor",
            title="Cursor",
            targets=_cursor,
            see="Settings, MCP shows hexad with a green dot",
            note="Cursor takes no text from hooks: AGENTS.md tells the agent what to ask for.",
        ),
        Client(
            name="windsurf",
            title="Windsurf",
            targets=_windsurf,
            see="Cascade, MCP servers, Refresh shows hexad",
            note="Windsurf has its servers for the user alone: the one of the project installed last is connected.",
        ),
        Client(
            name="vscode",
            title="VS Code",
            targets=_vscode,
            see="`MCP: List Servers` shows hexad; start it there once",
        ),
        Client(
            name="gemini",
            title="Gemini CLI",
            targets=_gemini,
            see="start `gemini`, and `/mcp` shows hexad; `/hooks` shows the hooks",
        ),
    )
}
