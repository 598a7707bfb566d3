"""How an error that names its argument is told by a command."""

from __future__ import annotations

import click
import pytest

from hexad.errors import HexadError, InvalidInput
from hexad.interfaces.cli.app.messages import error_message

COMMAND = click.Command(
    "note",
    params=[
        click.Option(["--valid-from"]),
        click.Option(["--link", "links"], multiple=True),
        click.Argument(["title"]),
    ],
)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InvalidInput("valid_from = 'x' is over.", argument="valid_from"), "--valid-from 'x' is over."),
        (InvalidInput("links hold 5; give paths.", argument="links"), "--link holds 5; give paths."),
        (InvalidInput("title = '' says nothing.", argument="title"), "TITLE '' says nothing."),
        (InvalidInput("expires_at = 'x' is over.", argument="expires_at"), "--expires 'x' is over."),
        (InvalidInput("depth = 'x' is over.", argument="depth"), "depth = 'x' is over."),
        (InvalidInput("Row 3: links hold 5.", argument=None), "Row 3: links hold 5."),
        (HexadError("`find_tags` lists them."), "`hexad tags list` lists them."),
    ],
)
def test_a_message_names_what_was_typed_for_the_argument(error: HexadError, said: str) -> None:
    assert said == error_message(error, COMMAND)
    assert error.argument is None or error.argument in str(error)
