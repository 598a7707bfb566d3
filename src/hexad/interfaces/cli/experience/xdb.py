"""`hexad xdb …`: the experience database, a module for each subject."""

from __future__ import annotations

from typing import Final

import click

from hexad.interfaces.cli.app.base import Group

_HERE: Final = "hexad.interfaces.cli"
_MODULES: Final = {
    "experience.sessions": ("sessions",),
    "experience.recall": ("show", "recall"),
    "experience.record": ("record",),
    "experience.tagging": ("tag", "untag", "tags", "comment", "uncomment", "comments"),
    "experience.windows": ("pin", "unpin", "windows"),
    "experience.buds": ("buds", "bud"),
    "experience.submissions": ("submit", "resolve", "submissions", "export", "verify"),
    "experience.context": ("context", "compact", "compactions"),
    "experience.compressed": ("compressed",),
    "experience.activity": ("activity",),
    "experience.storage": ("usage", "compress", "contract"),
}
_LAZY: Final = {name: f"{_HERE}.{module}:{name}" for module, names in _MODULES.items() for name in names}
_LAST: Final = {"end": "end", "state": "state_", "seal": "seal"}


@click.group(
    cls=Group,
    lazy={**_LAZY, **{name: f"{_HERE}.experience.sessions:{attribute}" for name, attribute in _LAST.items()}},
)
@click.pass_context
def xdb(ctx: click.Context) -> None:
    """Experience: recall it, record, tag, keep, compress it."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
