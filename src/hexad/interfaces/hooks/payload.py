"""What assistants tell their hooks, read alike: Claude Code, Codex, Gemini CLI and Cursor."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

_TRANSCRIPT_BYTES: Final = 256 << 10
_TURNS_LIMIT: Final = 6
_TURN_CHARS_LIMIT: Final = 8_000
_PATCHED_FILE: Final = re.compile(
    r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE
)
_NOT_SAID: Final = ("<", "[Request interrupted", "Caveat:", "This session is being continued")
"""How texts begin that a client puts into a user's mouth."""


def _without_waiting(path: str, flags: int) -> int:
    """Open a file for a hook, which a client waits for; a pipe would wait for who writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)


@dataclass(frozen=True, slots=True)
class HookPayload:
    """The JSON object that a hook is given; what it lacks is empty."""

    fields: Mapping[str, Any]

    @property
    def event_name(self) -> str:
        """What the client calls the event; it wants that back with an answer."""
        return _text(self.fields.get("hook_event_name"))

    @property
    def folder(self) -> Path:
        """Where the assistant works."""
        roots = self.fields.get("workspace_roots")
        named = _text(self.fields.get("cwd")) or (
            _text(roots[0]) if isinstance(roots, list) and roots else ""
        )
        return Path(named) if named and "\0" not in named else Path.cwd()

    @property
    def prompt(self) -> str:
        """What the user asks."""
        return _text(self.fields.get("prompt"))

    @property
    def edited_files(self) -> list[str]:
        """The files that a tool changed; none where it failed, or is no tool for that."""
        value = self.fields.get("tool_input")
        tool_input = value if isinstance(value, dict) else {}
        names = [tool_input.get("file_path"), tool_input.get("notebook_path"), self.fields.get("file_path")]
        patch = tool_input.get("command", tool_input.get("patch", tool_input.get("input")))
        patch = patch[-1] if isinstance(patch, list) and patch else patch
        if isinstance(patch, str):
            names += [first or second for first, second in _PATCHED_FILE.findall(patch)]
        return [name for name in names if isinstance(name, str) and name.strip() and "\0" not in name]

    def turns(self) -> list[tuple[str, str, datetime]]:
        """Return the last turns of the conversation, as far as the end of its transcript tells them."""
        path = _text(self.fields.get("transcript_path"))
        if not path or "\0" in path:
            return []
        try:
            with open(Path(path).expanduser(), "rb", opener=_without_waiting) as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - _TRANSCRIPT_BYTES))
                lines = file.read(_TRANSCRIPT_BYTES).split(b"\n")
        except (OSError, RuntimeError):
            return []
        turns: list[tuple[str, str, datetime]] = []
        for line in reversed(lines[1:] if size > _TRANSCRIPT_BYTES else lines):
            turns += _turn_in(line)
            if len(turns) >= _TURNS_LIMIT:
                break
        return turns[::-1]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _turn_in(line: bytes) -> Iterator[tuple[str, str, datetime]]:
    """Yield what a line of a transcript says was said by the user; tools' results and the client's notes are not."""
    try:
        entry = json.loads(line)
        if entry.get("type") != "user" or entry.get("isMeta") or entry.get("isSidechain"):
            return
        content = entry["message"]["content"]
        at = datetime.fromisoformat(entry["timestamp"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    if isinstance(content, list):
        content = "\n".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    if isinstance(content, str) and content.strip() and not content.lstrip().startswith(_NOT_SAID):
        yield "user", content[:_TURN_CHARS_LIMIT], at if at.tzinfo else at.replace(tzinfo=UTC)
