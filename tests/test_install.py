"""`hexad install`: every client's files, with real processes in a home of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hexad.interfaces.assistants.clients import CLIENTS
from hexad.interfaces.assistants.json_text import read_json

PROGRAM = str(Path(sys.executable).parent / "hexad")
JSONC = '// the team\'s\n{\n\t"servers": {\n\t\t"other": {"command": "x"}, // theirs\n\t},\n}'
THEIRS = {
    ".mcp.json": '{\n    "mcpServers": {\n        "other": {"command": "x"}\n    }\n}\n',
    ".claude/settings.json": '{"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": []}]}, "model": "m"}',
    ".codex/config.toml": 'model = "m"  # mine\n\n[mcp_servers.other]\ncommand = "x"\n',
    ".codex/hooks.json": '{ "hooks" : { } }\n',
    ".cursor/mcp.json": "{}",
    ".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "x"}]}}\n',
    ".vscode/mcp.json": JSONC,
    ".gemini/settings.json": '{\n  // mine\n  "theme": "dark"\n}\n',
    "AGENTS.md": "# Rules\n\nBe brief.",
}
SERVERS = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "gemini": ".gemini/settings.json",
}


class Machine:
    """A home and a project, and `hexad install` in them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "shop"
        for each in (self.home, self.project / ".git"):
            each.mkdir(parents=True)
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("HEXAD_", "XDG_", "CLAUDE", "CODEX"))
            },
            "HOME": str(self.home),
        }

    def run(
        self, *arguments: str, code: int = 0, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "hexad", "install", *arguments],
            cwd=cwd or self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert code == done.returncode, done.stderr
        return done

    def install(self, client: str, *arguments: str, code: int = 0) -> str:
        done = self.run("--client", client, *arguments, code=code)
        return done.stderr if code else done.stdout

    def write_theirs(self) -> None:
        for name, text in THEIRS.items():
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text(text)

    def state(self) -> dict[str, bytes | None]:
        """Every file and folder of home and project, but for our own records."""
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for folder in (self.home, self.project)
            for path in sorted(folder.rglob("*"))
            if ".local" not in path.parts
        }

    def server(self, client: str, *, user: bool = False) -> dict:
        if client == "codex":
            return tomllib.loads(((self.home if user else self.project) / ".codex/config.toml").read_text())[
                "mcp_servers"
            ]["hexad"]
        if client == "windsurf":
            file = self.home / ".codeium/windsurf/mcp_config.json"
        elif user:
            file = self.home / {"claude-code": ".claude.json", "vscode": ".config/Code/User/mcp.json"}.get(
                client, SERVERS[client]
            )
        else:
            file = self.project / SERVERS[client]
        value = read_json(file.read_text(), comments=client in ("cursor", "vscode", "gemini")).value
        return value["servers" if client == "vscode" else "mcpServers"]["hexad"]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.mark.parametrize("theirs", [False, True])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_connected_and_taken_back_to_the_byte(machine, client, theirs):
    if theirs:
        machine.write_theirs()
    before = machine.state()

    shown = machine.install(client, "--dry-run")
    assert before == machine.state()
    assert "+" in shown

    machine.install(client)
    installed = machine.state()
    server = machine.server(client)
    assert (PROGRAM, "mcp") == (server["command"], server["args"][0])
    assert Path(server["command"]).is_absolute()

    again = machine.install(client)
    assert installed == machine.state()
    assert {"unchanged"} == {line.split()[0] for line in again.splitlines()}
    assert "" == machine.install(client, "--dry-run")

    machine.install(client, "--uninstall")
    assert before == machine.state()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_connected_for_all_projects_of_a_user(machine, client):
    before = machine.state()

    machine.install(client, "--user")

    assert ["mcp"] == machine.server(client, user=True)["args"][:1]
    assert [] == [path for path in (machine.project).rglob("*") if path.name != ".git"]
    machine.install(client, "--user", "--uninstall")
    assert before == machine.state()


@pytest.mark.parametrize("client", CLIENTS)
def test_what_others_changed_since_stays(machine, client):
    machine.write_theirs()
    machine.install(client)
    changed = {}
    for path in [
        *machine.home.rglob("*.json"),
        *machine.project.rglob("*.json"),
        *machine.project.rglob("*.toml"),
    ]:
        if ".local" in path.parts or "hexad" not in path.read_text():
            continue
        text = path.read_text()
        new = "# new\n" + text if path.suffix == ".toml" else text.replace("{", '{"new": {"a": 1},', 1)
        path.write_text(new)
        changed[path] = path.suffix
    assert changed

    machine.install(client, "--uninstall")

    for path, suffix in changed.items():
        text = path.read_text()
        assert "hexad" not in text
        name = str(path.relative_to(machine.project)) if path.is_relative_to(machine.project) else ""
        if suffix == ".toml":
            assert "# new\n" + THEIRS[name] == text
        else:
            before = read_json(THEIRS.get(name, "{}"), comments=True).value
            assert {"new": {"a": 1}, **before} == read_json(text, comments=True).value


@pytest.mark.parametrize(
    ("client", "file", "text", "words"),
    [
        ("claude-code", ".mcp.json", '{"mcpServers": {,}}', "line 1, column 17"),
        ("claude-code", ".mcp.json", "// no\n{}", "line 1, column 1"),
        ("claude-code", ".mcp.json", '{"mcpServers": []}', "mcpServers is no object"),
        ("claude-code", ".mcp.json", "[]", "its content is no object"),
        (
            "claude-code",
            ".claude/settings.json",
            '{"hooks": {"SessionStart": {}}}',
            "hooks.SessionStart is no list",
        ),
        ("claude-code", ".claude/skills/hexad/SKILL.md", "mine", "not from `hexad install`"),
        ("codex", ".codex/config.toml", "model = \n", "line 1"),
        (
            "codex",
            ".codex/config.toml",
            '[mcp_servers.hexad]\ncommand = "x"\n',
            r"has \[mcp_servers.hexad\] already",
        ),
        (
            "codex",
            ".codex/config.toml",
            'mcp_servers = { other = { command = "x" } }\n',
            r"its mcp_servers cannot get \[mcp_servers.hexad\]; write it as tables, \[mcp_servers.NAME\]",
        ),
        ("vscode", ".vscode/mcp.json", '{"servers": {"a": /* }}', "line 1"),
        ("cursor", "AGENTS.md", "<!-- hexad begin -->\n", "not one pair"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_nothing_is_changed(machine, client, file, text, words):
    (machine.project / file).parent.mkdir(parents=True, exist_ok=True)
    (machine.project / file).write_text(text)
    before = machine.state()

    for arguments in ((), ("--dry-run",)):
        said = machine.run("--client", client, *arguments, code=4 if "not from" in words else 2).stderr

        assert str(machine.project / file) in said
        assert re.search(words, said), said
        assert "Nothing was changed" in said
    assert before == machine.state()


def test_bytes_that_are_no_text_are_refused(machine):
    (machine.project / ".mcp.json").write_bytes(b'{"a": "\xff"}')
    before = machine.state()

    assert "utf-8" in machine.install("claude-code", code=2)
    assert before == machine.state()


def test_a_read_only_file_stays_as_it_is(machine):
    file = machine.project / ".mcp.json"
    file.write_text("{}")
    file.chmod(0o444)
    before = machine.state()

    assert "read-only" in machine.install("claude-code", code=1)
    assert before == machine.state()


def test_a_link_stays_a_link_and_a_mode_a_mode(machine):
    real = machine.home / "dotfiles.json"
    real.write_text('{"a": 1}\n')
    real.chmod(0o600)
    (machine.project / ".mcp.json").symlink_to(real)

    machine.install("claude-code")

    assert (machine.project / ".mcp.json").is_symlink()
    assert {"a", "mcpServers"} == set(json.loads(real.read_text()))
    assert 0o600 == real.stat().st_mode & 0o777
    machine.install("claude-code", "--uninstall")
    assert '{"a": 1}\n' == real.read_text()
    assert (machine.project / ".mcp.json").is_symlink()


def test_what_another_client_needs_stays(machine):
    machine.install("cursor")
    machine.install("vscode")

    assert "used by another client" in machine.install("cursor", "--uninstall")
    assert "## Memory" in (machine.project / "AGENTS.md").read_text()
    machine.install("vscode", "--uninstall")
    assert not (machine.project / "AGENTS.md").exists()


def test_several_installations_at_once_end_as_one_after_the_other(machine):
    machine.write_theirs()
    before = machine.state()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(machine.install, list(CLIENTS)))

    for client in CLIENTS:
        assert PROGRAM == machine.server(client)["command"]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda client: machine.install(client, "--uninstall"), list(CLIENTS)))
    assert before == machine.state()


def test_another_installation_takes_the_place_of_the_first(machine):
    """As after an upgrade into another environment: no second server, no second hook."""
    machine.install("claude-code")
    for file in (machine.project / ".mcp.json", machine.project / ".claude/settings.json"):
        file.write_text(file.read_text().replace(PROGRAM, "/old/bin/hexad"))

    machine.install("claude-code")

    settings = (machine.project / ".claude/settings.json").read_text()
    assert "/old/bin" not in settings
    assert [1] * 5 == [len(groups) for groups in json.loads(settings)["hooks"].values()]
    assert PROGRAM == machine.server("claude-code")["command"]


def test_a_hook_of_somebody_else_beside_ours_stays(machine):
    machine.install("claude-code")
    file = machine.project / ".claude/settings.json"
    settings = json.loads(file.read_text())
    settings["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "mine"})
    file.write_text(json.dumps(settings))

    machine.install("claude-code", "--uninstall")

    left = json.loads(file.read_text())["hooks"]
    assert ["mine"] == [hook["command"] for hook in left["SessionStart"][0]["hooks"]]
    assert ["SessionStart"] == list(left)


def test_what_was_installed_is_taken_out_without_the_record_of_it(machine):
    """The files of a project travel in its repository, the record does not."""
    (machine.project / ".mcp.json").write_text(THEIRS[".mcp.json"])
    machine.install("claude-code")
    machine.environment["HEXAD_USER_DIR"] = str(machine.home / "elsewhere")

    machine.install("claude-code", "--uninstall")

    assert json.loads(THEIRS[".mcp.json"]) == json.loads((machine.project / ".mcp.json").read_text())
    assert not (machine.project / ".claude/settings.json").exists()
    assert not (machine.project / ".claude/skills/hexad/SKILL.md").exists()


def write_server(machine, client, entry, **others):
    """A file of a user's servers, with an entry `hexad` in it."""
    file = machine.project / SERVERS[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    key = "servers" if client == "vscode" else "mcpServers"
    file.write_text(json.dumps({key: {**others, "hexad": entry}}))
    return file, f"{key}.hexad"


@pytest.mark.parametrize("others", [{}, {"other": {"command": "x"}}])
@pytest.mark.parametrize("client", SERVERS)
def test_a_server_of_somebody_else_with_our_name_is_named_and_nothing_is_changed(machine, client, others):
    role = {"command": "hexad", "args": ["mcp", "--role", "dev"], "env": {"X": "1"}}
    file, member = write_server(machine, client, role, **others)
    before = machine.state()

    for arguments in ((), ("--dry-run",)):
        message = " ".join(machine.install(client, *arguments, code=4).split())

        assert str(file) in message
        assert f"{member} is not as `hexad install` writes it; rename or remove that member" in message
        assert "Nothing was changed" in message
        assert before == machine.state()
    machine.install(client, "--uninstall")
    assert before == machine.state()


@pytest.mark.parametrize(
    "change", [{"env": {}}, {"command": "/opt/other"}, {"args": "mcp"}, {"command": None}, {"args": []}]
)
def test_an_entry_is_ours_in_its_exact_form_alone(machine, change):
    ours = {"type": "stdio", "command": "hexad", "args": ["mcp"]}
    write_server(machine, "claude-code", {**ours, **change})

    assert "mcpServers.hexad is not as" in " ".join(machine.install("claude-code", code=4).split())


@pytest.mark.parametrize("program", [["hexad"], ["/old/bin/hexad"], ["/old/bin/python", "-m", "hexad"]])
@pytest.mark.parametrize("client", SERVERS)
def test_an_entry_in_our_form_is_taken_over_and_comes_back_to_the_byte(machine, client, program):
    machine.install(client)
    ours = machine.server(client)
    machine.install(client, "--uninstall")
    file, _ = write_server(
        machine, client, {**ours, "command": program[0], "args": program[1:] + ours["args"]}
    )
    before = machine.state()

    machine.install(client)
    assert ours == machine.server(client)
    machine.install(client, "--uninstall")
    assert before == machine.state()

    machine.install(client)
    file.write_text(file.read_text().replace("{", '{"new": 1, ', 1))
    machine.install(client, "--uninstall")
    assert {"new": 1, **json.loads(before[str(file)])} == json.loads(file.read_text())


@pytest.mark.parametrize("client", SERVERS)
def test_an_entry_that_its_user_changed_after_the_installation_is_named_and_stays(machine, client):
    machine.install(client)
    ours = machine.server(client)
    write_server(machine, client, {**ours, "args": [*ours["args"], "--role", "dev"]})
    before = machine.state()

    message = " ".join(machine.install(client, code=4).split())

    assert "is not as `hexad install` writes it" in message
    assert before == machine.state()


def test_what_somebody_changed_in_a_file_of_ours_is_kept_beside_it(machine):
    machine.install("claude-code")
    skill = machine.project / ".claude/skills/hexad/SKILL.md"
    written = skill.read_text()
    skill.write_text(written + "Speak Latin.\n")

    told = machine.install("claude-code", "--json")

    (note,) = [file["note"] for file in json.loads(told)["files"] if file["note"]]
    assert written == skill.read_text()
    assert written + "Speak Latin.\n" == Path(note.rpartition(" in ")[2]).read_text()


@pytest.mark.parametrize("client", SERVERS)
def test_an_entry_as_the_documents_show_it_is_taken_over_and_comes_back(machine, client):
    write_server(machine, client, {"command": "hexad", "args": ["mcp"]})
    before = machine.state()

    machine.install(client)
    assert PROGRAM == machine.server(client)["command"]
    machine.install(client, "--uninstall")
    assert before == machine.state()


@pytest.mark.parametrize("client", CLIENTS)
def test_no_empty_file_is_left_where_the_record_was_lost_before_another_installation(machine, client):
    machine.install(client)
    machine.environment["HEXAD_USER_DIR"] = str(machine.home / ".local" / "elsewhere")
    before = machine.state()

    machine.install(client)
    machine.install(client, "--uninstall")
    assert before == machine.state()
    machine.install(client, "--uninstall")
    assert [] == [path for path, content in machine.state().items() if content is not None]


def test_where_the_copies_are_is_told_if_something_was_there(machine):
    words = "What was there before is in "

    assert words not in machine.run("--client", "claude-code").stderr
    machine.install("claude-code", "--uninstall")
    (machine.project / ".mcp.json").write_text('{"mcpServers": {}}')
    assert words in machine.run("--client", "claude-code").stderr


def test_it_says_what_it_did_as_json_too(machine):
    told = json.loads(machine.install("claude-code", "--json"))

    assert ["created"] * 3 == [file["action"] for file in told["files"]]
    assert Path(told["backups"]).is_dir()


def test_the_folders_that_a_client_is_told_of_are_used(machine):
    machine.environment |= {
        "CODEX_HOME": str(machine.home / "cx"),
        "CLAUDE_CONFIG_DIR": str(machine.home / "cl"),
    }

    machine.install("codex", "--user")
    machine.install("claude-code", "--user")

    assert "hexad" in tomllib.loads((machine.home / "cx/config.toml").read_text())["mcp_servers"]
    assert "hexad" in json.loads((machine.home / "cl/.claude.json").read_text())["mcpServers"]
    assert (machine.home / "cl/skills/hexad/SKILL.md").exists()


@pytest.mark.row("L173")
def test_what_was_written_connects(machine):
    """As a client does: the command of the configuration, with nothing but a home and a bare path."""
    machine.install("claude-code")
    server = machine.server("claude-code")
    calls = [
        (
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        ),
        ("tools/call", {"name": "remember", "arguments": {"text": "Deploys happen on Tuesday."}}),
        ("tools/call", {"name": "recall", "arguments": {"query": "when do deploys happen?"}}),
    ]
    process = subprocess.Popen(
        [server["command"], *server["args"]],
        cwd=machine.project,
        env={"PATH": "/usr/bin:/bin", "HOME": str(machine.home), "HEXAD_EMBEDDER": "none"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin
        assert process.stdout
        for number, (method, params) in enumerate(calls):
            call = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(call) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())["result"]
        process.stdin.close()

    assert ["Deploys happen on Tuesday."] == [hit["text"] for hit in answer["structuredContent"]["hits"]]
    assert 0 == process.returncode
