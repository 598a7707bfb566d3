"""`hexad install`: connecting an assistant, and taking the connection out again."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

import hexad
from hexad.config import STORE_DIRECTORY, assistant_folders, find_store, store_root
from hexad.interfaces.assistants.clients import CLIENTS, Client, Installation
from hexad.interfaces.assistants.installer import FileChange, Installer
from hexad.interfaces.cli.app.base import Command, note, state
from hexad.interfaces.cli.output.render import clean, show


@click.command(cls=Command)
@click.option("--client", type=click.Choice(list(CLIENTS)), required=True, help="The assistant to connect.")
@click.option("--user", is_flag=True, help="For all projects of this user; default: for this project.")
@click.option("--dry-run", is_flag=True, help="Show what would be changed, as a diff; change nothing.")
@click.option(
    "--uninstall", is_flag=True, help="Take out what was installed; what others changed since stays."
)
def install(*, client: str, user: bool, dry_run: bool, uninstall: bool) -> None:
    """Connect an assistant: its MCP server, its hooks where it has them, and a skill.

    Only keys and blocks of Hexad are written. What was there is kept beside the user's data, and --uninstall puts it
    back. Doing it again changes nothing.
    """
    chosen = CLIENTS[client]
    to = Installation(project=_project(), user=user, executable=_executable(), folders=assistant_folders())
    installer = Installer(chosen, to)
    if dry_run:
        changes = installer.plan_removal() if uninstall else installer.plan()
    else:
        changes = installer.uninstall() if uninstall else installer.install()
    backups = str(installer.folder) if installer.folder.exists() else None
    shown = {
        "client": client,
        "dry_run": dry_run,
        "files": [change.to_dict() for change in changes],
        "backups": backups,
    }
    show(shown, table=_diff(changes) if dry_run else _lines(changes))
    if not dry_run and not uninstall:
        _say_what_follows(
            chosen, to, backups if any(change.original is not None for change in changes) else None
        )


def _project() -> Path:
    named = state().store
    if named is None:
        store = find_store(Path.cwd())
        return store.parent if store is not None else store_root(Path.cwd())
    folder = Path(named)
    if not folder.is_dir():
        raise hexad.NotFound(f"There is no folder {named!r}; create it, or give another path.")
    folder = folder.resolve()
    return folder.parent if folder.name == STORE_DIRECTORY else folder


def _executable() -> list[str]:
    """Return how this installation is started; its command lies beside the interpreter that runs it."""
    command = Path(sys.executable).parent / "hexad"
    return [str(command)] if command.exists() else [sys.executable, "-m", "hexad"]


def _lines(changes: Sequence[FileChange]) -> Iterator[str]:
    width = max(len(change.action) for change in changes)
    for change in changes:
        end = f"; {change.note}" if change.note else ""
        yield clean(f"{change.action:{width}}  {change.path}  ({change.what}{end})")


def _diff(changes: Sequence[FileChange]) -> Iterator[str]:
    for change in changes:
        for line in change.diff():
            yield clean(line)


def _say_what_follows(client: Client, to: Installation, backups: str | None) -> None:
    if backups is not None:
        note(f"What was there before is in {backups}; --uninstall puts it back.")
    if importlib.util.find_spec("mcp") is None:
        note("The MCP SDK is not installed; `pip install 'hexad[mcp]'` installs it.")
    if not to.user and not (to.project / STORE_DIRECTORY).is_dir():
        note("There is no store here yet; `hexad init` makes one.")
    if client.note:
        note(client.note)
    note(f"To see it work: {client.see}.")
