"""How an error that names its argument is told by a command."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import hexad
from hexad.errors import HexadError, InvalidInput
from hexad.interfaces.cli.app.messages import error_message, spoken

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


SOURCE = Path(hexad.__file__).parent
PARTS = ("experience",)
CALLED = re.compile(r"`([a-z_]+)[`(]|\b([a-z]+(?:_[a-z]+)+)\b")
FIELDS = {
    # names that a contract, a JSON line or an option has too, so that one knows them
    "concept_id", "entity_type", "event_type", "event_id", "event_start", "event_end", "token_id", "token_count",
    "concept_activations", "warm_quota_tokens", "cold_storage_bytes", "context_window_tokens",
    "max_context_tokens", "compression_threshold", "top_k_activations",
}  # fmt: skip


def refusals() -> Iterator[tuple[str, str]]:
    """Give each text that a `raise` of the experience database holds, with its module; values are `…`."""
    for part in PARTS:
        for file in sorted((SOURCE / part).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                    for argument in node.exc.args:
                        yield file.stem, text_of(argument)


def text_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return ""


@pytest.fixture(scope="module")
def calls() -> set[str]:
    """The names of all calls of `hx.xdb` and of what hangs on it."""
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        parts = (hx.xdb, hx.xdb.tag_index, hx.xdb.documents, hx.xdb.storage_manager)
        return {name for part in parts for name in dir(part) if not name.startswith("_")}


def test_no_refusal_of_the_experience_database_names_a_call_of_the_library(calls):
    named = [
        (module, call, spoken(text))
        for module, text in refusals()
        for call in (found[0] or found[1] for found in CALLED.findall(spoken(text)))
        if call in calls and call not in FIELDS
    ]

    assert not named, "\n".join(map(str, named))
