"""Messages of the library in the words of the command line: its options for arguments, its commands for calls."""

from __future__ import annotations

import re
from typing import Final

import click

import hexad

_COMMANDS: Final = {
    "promote_to_bud": "hexad xdb bud promote",
    "update_bud_status": "hexad xdb bud status",
    "get_buds": "hexad xdb buds",
    "find_tags": "hexad tags list",
    "hx.xdb.set_contract": "hexad xdb contract FILE",
    "get_comments_for_range": "hexad xdb comments",
    "untag": "hexad xdb untag",
    "resolve_submission": "hexad xdb resolve",
    "removed_documents": "hexad docs removed",
    "remove_document": "hexad docs remove",
    "find_concept": "hexad tags concepts",
    "hx.session.list()": "hexad session list",
    "hx.user.prefer": "hexad prefs set",
    "hx.session.current": "hexad session show",
    "hx.session.resume": "hexad session resume",
    "hx.session.start()": "hexad session start",
    "add_steps": "hexad session step",
    "close_file": "hexad session close",
    "sessions()": "hexad xdb sessions",
    "start_session": "hexad xdb record --session",
    "windows(pinned=True)": "hexad xdb windows --pinned",
    "windows()": "hexad xdb windows",
    "submissions()": "hexad xdb submissions",
    "export_submission": "hexad xdb export",
    "update_document": "hexad docs update",
    "list_documents": "hexad docs list",
    "read_copies": "hexad docs copies --read",
    "write_copies": "hexad docs copies --write",
    "set_metadata": "hexad spaces metadata",
    "hx.governance.query()": "hexad why TOPIC",
    "hx.project.get()": "hexad project facts",
    "hx.project.get_todos()": "hexad project todos",
    "hx.project.components()": "hexad project components",
    "resume": "hexad session resume",
    "hx.memories()": "hexad memory list",
    "hx.memories(kinds=['decision'])": "hexad memory list --kind decision",
}
"""The command that makes a call of the library, by the name that remedies have for it. Nothing else knows: commands
have names of their own, and each is imported when it runs."""
_TYPED: Final = {
    "session_id": "The id",
    "submission_id": "The id",
    "time_range[0]": "--since",
    "time_range[1]": "--until",
    "time_range": "--since and --until",
    "expires_at": "--expires",
    "text_query": "WORDS",
}
"""Arguments of the library that a command has under another name than its own parameters."""
_SHARED: Final = {"actor": "--role", "confirm": "--yes"}
"""Arguments that an option of many commands stands for, under another name."""


def error_message(error: hexad.HexadError, command: click.Command | None) -> str:
    """Return the message of an error, with the commands that make its calls, and the options or arguments of `command`
    that its values were typed for.
    """  # fmt: skip
    message, argument = error.message(lambda reference: _name_of(reference, command)), error.argument
    typed = None if argument is None else _parameter(argument, command) or _TYPED.get(argument)
    if argument is not None and typed is not None:
        # One option, where the library speaks of a list: "links hold" is "--link holds".
        form = re.compile(rf"(?<![\w-]){re.escape(argument)} (?:= |(hold) )?")
        message = form.sub(lambda match: f"{typed} {'holds ' if match[1] else ''}", message, count=1)
    return message


def _name_of(reference: str, command: click.Command | None) -> str:
    """Return what a call or an argument is called here; nothing for words that only a program can heed."""
    if reference in _COMMANDS:
        return _COMMANDS[reference]
    argument = reference.partition("=")[0]
    if " " in argument:
        return ""
    return _parameter(argument, command) or _SHARED.get(argument, reference)


def _parameter(argument: str, command: click.Command | None) -> str | None:
    for parameter in command.params if command is not None else ():
        if parameter.name == argument and isinstance(parameter, click.Option):
            return max(parameter.opts, key=len)
        if parameter.name == argument:
            return parameter.human_readable_name.strip("[]")
    return None
