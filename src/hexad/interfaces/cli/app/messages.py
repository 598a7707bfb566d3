"""Messages of the library in the words of the command line: its options for arguments, its commands for calls."""

from __future__ import annotations

import re
from typing import Final

import click

import hexad

_SPOKEN: Final = (
    ("without semantic=True", "without --semantic"),
    ("semantic=True", "--semantic"),
    ("(merge=True)", "(--merge)"),
    ("force=True", "--force"),
    ("(reset=True)", "(--reset)"),
    ("(confirm=True)", "(--yes)"),
    ("with purge=True", "with --purge"),
    ("(name=)", "(--name)"),
    ("With space= it", "With --space it"),
    ("(set_metadata)", "(`hexad spaces metadata`)"),
    ("`set_policy`", "`hexad spaces policy`"),
    ("`promote_to_bud`", "`hexad xdb bud promote`"),
    ("`update_bud_status`", "`hexad xdb bud status`"),
    ("`get_buds`", "`hexad xdb buds`"),
    ("`find_tags`", "`hexad tags list`"),
    ("Open it without an actor, or with the role 'owner'", "Leave --role out"),
    ("call start_session first, or give session_id", "name one with --session"),
    ("`hx.xdb.set_contract`", "`hexad xdb contract FILE`"),
    ("`get_comments_for_range`", "`hexad xdb comments`"),
    ("`untag`", "`hexad xdb untag`"),
    ("`resolve_submission`", "`hexad xdb resolve`"),
    ("`removed_documents`", "`hexad docs removed`"),
    ("`remove_document`", "`hexad docs remove`"),
    ("`restore_document`", "`hexad docs restore`"),
    ("`find_concept`", "`hexad tags concepts`"),
    ("`hx.session.list()`", "`hexad session list`"),
    ("`hx.user.prefer`", "`hexad prefs set`"),
    ("`hx.session.current`", "`hexad session show`"),
    ("`hx.session.resume`", "`hexad session resume`"),
    ("`hx.session.start()`", "`hexad session start`"),
    ("`add_steps`", "`hexad session step`"),
    ("`close_file`", "`hexad session close`"),
    ("`resume` goes on with it", "`hexad session resume` goes on with it"),
    ("`sessions()`", "`hexad xdb sessions`"),
    ("`start_session`", "`hexad xdb record --session`"),
    ("`windows(pinned=True)`", "`hexad xdb windows --pinned`"),
    ("`windows()`", "`hexad xdb windows`"),
    ("`submissions()`", "`hexad xdb submissions`"),
    ("`export_submission`", "`hexad xdb export`"),
    ("`update_document`", "`hexad docs update`"),
    ("`add_document`", "`hexad docs add`"),
    ("`list_documents`", "`hexad docs list`"),
    ("`read_copies`", "`hexad docs copies --read`"),
    ("`write_copies`", "`hexad docs copies --write`"),
    ("write_copies writes", "`hexad docs copies --write` writes"),
    ("`hx.governance.query()` lists what was decided", "`hexad why TOPIC` says what was decided"),
    ("decide anew without supersedes", "decide anew without --supersedes"),
    ("needs a concept_id", "needs a concept_id (--concept-id)"),
)
_UNSPOKEN: Final = re.compile(
    r", or (?:open it |open the store )?(?:with )?key=(?: and (?:the passphrase as text|the 32 bytes|its Path)"
    r"| as text)?"
)
"""What only a program can do: the command line has no `key=`."""
_TYPED: Final = {
    "session_id": "The id",
    "submission_id": "The id",
    "time_range[0]": "--since",
    "time_range[1]": "--until",
    "time_range": "--since and --until",
    "expires_at": "--expires",
}
"""Arguments of the library that a command has under another name than its own parameters."""


def spoken(text: str) -> str:
    """Return a text of the library with commands in place of calls."""
    text = _UNSPOKEN.sub("", text)
    for called, typed in _SPOKEN:
        text = re.sub(rf"(?<!\w){re.escape(called)}", lambda _, typed=typed: typed, text)  # type: ignore[misc]
    return text


def error_message(error: hexad.HexadError, command: click.Command | None) -> str:
    """Return the message of an error, with the option or argument of `command` that its value was typed for."""
    message, argument = str(error), error.argument
    typed = None if argument is None else _parameter(argument, command)
    if argument is not None and typed is not None:
        # One option, where the library speaks of a list: "links hold" is "--link holds".
        form = re.compile(rf"(?<!\w){re.escape(argument)} (?:= |(hold) )?")
        message = form.sub(lambda match: f"{typed} {'holds ' if match[1] else ''}", message, count=1)
    return spoken(message)


def _parameter(argument: str, command: click.Command | None) -> str | None:
    for parameter in command.params if command is not None else ():
        if parameter.name == argument and isinstance(parameter, click.Option):
            return max(parameter.opts, key=len)
        if parameter.name == argument:
            return parameter.human_readable_name.strip("[]")
    return _TYPED.get(argument)
