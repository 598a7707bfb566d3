"""`hexad hook`: what an assistant's hooks call; `hexad.__main__` runs it without loading the command line."""

from __future__ import annotations

import click

from hexad.interfaces.cli.app.base import Command, state
from hexad.interfaces.hooks.events import EVENTS
from hexad.interfaces.hooks.run import run


@click.command(cls=Command)
@click.argument("event", metavar="EVENT", type=click.Choice(list(EVENTS)))
def hook(event: str) -> None:
    """Answer an EVENT of an assistant, which stands on stdin as JSON: session-start, prompt, tool-use, compaction,
    turn-end or session-end.

    `hexad install` has assistants call it. It takes 150 ms of CPU at most, and ends with exit code 0 and without a word
    where it cannot help: no store, a locked one, input that cannot be read. --debug says why.
    """  # fmt: skip
    run([event, *(["--debug"] if state().debug else [])])
