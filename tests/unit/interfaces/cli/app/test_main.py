"""What the commands are called, that each explains itself, and that the page about them is complete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hexad.interfaces.cli.app.base import Group, shared_options
from hexad.interfaces.cli.app.main import root

PAGE = Path(__file__).parents[5] / "docs" / "cli.md"
SHARED = {option for parameter in shared_options() for option in parameter.opts} | {
    "-h",
    "--help",
    "-V",
    "--version",
}


def walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        ctx = click.Context(command, info_name=path)
        for name in command.list_commands(ctx):
            found = command.get_command(ctx, name)
            assert found is not None
            yield from walk(found, f"{path} {name}")


ALL = list(walk(root, "hexad"))
# A group with options of its own does something by itself.
LEAVES = [
    (path, command)
    for path, command in ALL
    if not isinstance(command, click.Group)
    or (path != "hexad" and not {name for option in command.params for name in option.opts} <= SHARED)
]


def options(command: click.Command) -> Iterator[click.Option]:
    return (parameter for parameter in command.params if isinstance(parameter, click.Option))


@pytest.mark.parametrize(("path", "command"), ALL, ids=[path for path, _ in ALL])
def test_every_command_and_every_option_has_a_help_text(path, command):
    assert command.help and command.help.strip().endswith((".", "fish"))
    assert [] == [option.opts for option in options(command) if not option.help]


@pytest.mark.parametrize(("path", "command"), ALL, ids=[path for path, _ in ALL])
def test_every_command_prints_its_help_with_the_shared_options(path, command):
    text = command.get_help(click.Context(command, info_name=path))

    assert "-h, --help" in text  # in a context of its own too: the option of the first use stays
    assert [] == [name for name in ("--json", "--store", "--no-color", "--debug") if name not in text]


def test_no_short_help_is_cut_off():
    for path, command in ALL:
        if isinstance(command, Group):
            listed = command.get_help(click.Context(command, info_name=path, terminal_width=80)).split(
                "Commands:"
            )[1]
            assert [] == [line for line in listed.splitlines() if line.endswith("...")]


def sections() -> dict[str, str]:
    """The page's parts about commands, by the command's name."""
    parts = re.split(r"^### `(hexad[^`]*)`$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    names = (re.sub(r" [\[{A-Z(].*", "", head) for head in parts[1::2])
    return dict(zip(names, parts[2::2], strict=True))


def test_the_page_describes_exactly_the_commands_that_exist():
    assert sorted(path for path, _ in LEAVES) == sorted(sections())


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=[path for path, _ in LEAVES])
def test_the_page_describes_exactly_the_options_of(path, command):
    real = {name for option in options(command) for name in (*option.opts, *option.secondary_opts)} - SHARED

    rows = [line.split("|")[1] for line in sections()[path].splitlines() if line.startswith("| `-")]

    assert real == {name for row in rows for name in re.findall(r"`(-[^` ]+)`", row)}


def test_the_page_names_the_shared_options_and_every_exit_code():
    text = PAGE.read_text(encoding="utf-8")

    assert [] == [name for name in sorted(SHARED) if f"`{name}`" not in text]
    assert ["0", "1", "2", "3", "4", "5", "6", "130"] == re.findall(r"^\| (\d+) \|", text, flags=re.MULTILINE)


def test_the_help_names_the_exit_codes():
    text = root.get_help(click.Context(root, info_name="hexad"))

    for words in ("2 usage", "3 not found", "4 conflict", "5 integrity", "6 locked"):
        assert words in " ".join(text.split())
