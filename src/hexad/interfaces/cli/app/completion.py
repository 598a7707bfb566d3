"""`hexad completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from hexad.interfaces.cli.app.base import Command, print_json, state

_SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a SHELL: bash, zsh or fish.

    \b
    bash:  eval "$(hexad completion bash)" in ~/.bashrc
    zsh:   eval "$(hexad completion zsh)" in ~/.zshrc
    fish:  hexad completion fish > ~/.config/fish/completions/hexad.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click knows the three of them
    script = kind(ctx.find_root().command, {}, "hexad", "_HEXAD_COMPLETE").source()
    if state().json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)
