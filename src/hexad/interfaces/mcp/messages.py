"""Messages of the library in the words of an MCP client: tools for its calls."""

from __future__ import annotations

import re
from typing import Final

import hexad

_TOOLS: Final = {
    "hx.session.list()": "session with action=list",
    "hx.session.current": "session",
    "hx.session.resume": "session with action=resume",
    "hx.session.start()": "session with action=start",
    "resume": "session with action=resume",
    "add_steps": "session with action=step",
    "hx.governance.query()": "why",
    "close_file": "session",
    "confirm=True": "its owner does, with `hexad forget --purge`",
    "space=": "space",
    "hx.memories(kinds=['decision'])": 'recall with kinds=["decision"]',
}
"""The tool that makes a call of the library, or who does it, by the name that remedies have for it."""
_REMEDIES: Final = {
    "`hx.memories()` shows everything.": "The resource hexad://space/NAME shows what a space holds.",
    "`hx.memories()` shows what is there.": "recall gives the ids of memories that are active.",
    "`hexad spaces list` shows the spaces there are.": "The resources hexad://space/NAME are the spaces there are.",
}
"""What a client can do, by what a shell can."""
_MEMORY_NOT_FOUND: Final = re.compile(r"Memory '.*' not found(?: in space '[^']*')?", re.DOTALL)


def error_message(error: hexad.HexadError) -> str:
    """Return what went wrong, the value and the remedy, with tools where the library names its calls."""
    message = error.message(lambda reference: _TOOLS.get(reference, reference))
    for shell, tools in _REMEDIES.items():
        message = message.replace(shell, tools)
    if isinstance(error, hexad.NotFound) and _MEMORY_NOT_FOUND.fullmatch(message):
        return f"{message}. recall gives the ids of memories that are active."
    argument = error.argument
    if argument is not None and re.search(rf"\b{re.escape(argument)}\b", message) is None:
        return f"{argument}: {message}"
    return message
