"""What HTTP calls the calls and commands that a remedy names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request

from hexad.client.verbs import VERBS
from hexad.client.wire import MEDIA_TYPE

_COMMANDS: Final[Mapping[str, str]] = {
    "hexad memory list": "memories",
    "hexad spaces list": "spaces.list",
    "hexad memory quarantine list": "quarantine.list",
    "hexad memory quarantine release": "quarantine.release",
    "hexad prefs set": "user.prefer",
    **{f"hexad {name}": name for name in ("check", "forget", "maintain", "reindex", "remember")},
}
"""The calls that commands make, where a remedy names these."""
CALL_NAMES: Final[Mapping[str, str]] = {
    **{name: f"{verb.method} {verb.path}" for verb in VERBS.values() for name in {verb.name, verb.call}},
    **{command: f"{VERBS[name].method} {VERBS[name].path}" for command, name in _COMMANDS.items()},
    "hx.memories(kinds=['decision'])": f"{VERBS['memories'].method} {VERBS['memories'].path}?kinds=decision",
}
"""Addresses by the names of calls, with and without what they are calls of, and of commands."""


def is_exact(request: Request) -> bool:
    """Whether a client of ours asks, which has words of its own for the calls that a remedy names."""
    return MEDIA_TYPE in request.headers.get("accept", "")
