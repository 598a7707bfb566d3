"""How an error that names its argument is told by a command."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import hexad
from hexad.errors import AccessDenied, HexadError, InvalidInput, NotFound
from hexad.interfaces.cli.app.main import root
from hexad.interfaces.cli.app.messages import _COMMANDS, error_message

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
        (NotFound("No tag;", remedy="`{find_tags}` lists them."), "No tag; `hexad tags list` lists them."),
        (
            HexadError("It is over;", remedy="with {valid_from=} it is not."),
            "It is over; with --valid-from it is not.",
        ),
        (
            AccessDenied("It is for the owner.", remedy="Leave {actor=} out."),
            "It is for the owner. Leave --role out.",
        ),
        (AccessDenied("No key.", remedy="Set HEXAD_KEY{, or give key=}."), "No key. Set HEXAD_KEY."),
    ],
)
def test_a_message_names_what_was_typed_for_the_argument(error: HexadError, said: str) -> None:
    assert said == error_message(error, COMMAND)
    assert error.argument is None or error.argument in str(error)


def test_a_program_reads_calls_and_arguments_as_python_writes_them():
    error = AccessDenied("No key;", remedy="`{find_key}` finds it{, or give key=}.")

    assert "No key; `find_key` finds it, or give key=." == str(error)
    assert str(error) == str(pickle.loads(pickle.dumps(error)))


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


def references() -> Iterator[tuple[str, str]]:
    """Give each call and argument that a remedy of the library refers to, with its module."""
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "remedy":
                for reference in re.findall(r"\{([^{}]+)\}", text_of(node.value)):
                    yield file.stem, reference


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
        (module, call, text)
        for module, text in refusals()
        for call in (found[0] or found[1] for found in CALLED.findall(text))
        if call in calls and call not in FIELDS
    ]

    assert not named, "\n".join(map(str, named))


def test_every_call_of_a_remedy_has_a_command():
    options = {parameter.name for command in commands(root) for parameter in command.params}
    named = [*references()]

    assert [] == [
        (module, reference)
        for module, reference in named
        if reference not in _COMMANDS
        and " " not in reference
        and reference.partition("=")[0] not in options | {"actor", "confirm"}
    ]
    assert set(_COMMANDS) == {reference for _, reference in named if reference in _COMMANDS}


@pytest.mark.parametrize("words", sorted(set(_COMMANDS.values())))
def test_a_command_that_a_remedy_names_is_there(words: str) -> None:
    command: click.Command = root
    for word in words.split()[1:]:
        if isinstance(command, click.Group):
            found = command.get_command(click.Context(command), word)
            assert found is not None, words
            command = found
        elif word.startswith("--"):
            assert any(word in parameter.opts for parameter in command.params), words


def commands(group: click.Group) -> Iterator[click.Command]:
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            yield from commands(command)
