"""`hexad xdb …`: the experience database, a module for each subject."""

from __future__ import annotations

from typing import Final

import click

from hexad.interfaces.cli.base import Group

_HERE: Final = "hexad.interfaces.cli"
_MODULES: Final = {
    "xdb_sessions": ("sessions",),
    "xdb_recall": ("show", "recall"),
    "xdb_record": ("record",),
    "xdb_tagging": ("tag", "untag", "tags", "comment", "uncomment", "comments"),
    "xdb_windows": ("pin", "unpin", "windows"),
    "xdb_buds": ("buds", "bud"),
    "xdb_submissions": ("submit", "resolve", "submissions", "export", "verify"),
    "xdb_context": ("context", "compact", "compactions"),
    "xdb_compressed": ("compressed",),
    "xdb_activity": ("activity",),
    "xdb_storage": ("usage", "compress", "contract"),
}
_LAZY: Final = {name: f"{_HERE}.{module}:{name}" for module, names in _MODULES.items() for name in names}
_LAST: Final = {"end": "end", "state": "state_", "seal": "seal"}


@click.group(
    cls=Group,
    lazy={**_LAZY, **{name: f"{_HERE}.xdb_sessions:{attribute}" for name, attribute in _LAST.items()}},
)
@click.pass_context
def xdb(ctx: click.Context) -> None:
    """Experience: recall it, record, tag, keep, compress it."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
