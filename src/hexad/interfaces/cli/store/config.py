"""`hexad config …`: which settings of a project's file may say where texts go and which key opens its store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

import hexad
from hexad.interfaces.cli.app.base import Group, confirm, note, state, trust_lines
from hexad.interfaces.cli.output.render import show


@click.group(cls=Group)
def config() -> None:
    """Show and change what you trust of the settings in projects' files."""


@config.command()
@click.option("--yes", is_flag=True, help="Trust them without a question.")
def trust(yes: bool) -> None:
    """Trust the endpoints and keys that the hexad.toml of a project names, as they are now.

    Until then nothing is sent there: whoever clones a project has not written its files. A value that is changed
    afterwards is asked for again.
    """
    untrusted = hexad.untrusted_settings(state().store)
    if untrusted.settings:
        for line in trust_lines(untrusted):
            click.echo(line, err=True)
        confirm("Trust that?", yes=yes, without="take it out of the file")
        hexad.trust_settings(settings=untrusted)
        show(untrusted, table=["Trusted."])
    else:
        show(untrusted, table=[f"{untrusted.file} names nothing that needs trust and has none yet."])


@config.command("trusted")
def trusted_() -> None:
    """List what you trust, of all projects."""
    trusted = hexad.trusted_settings()
    show({"trusted": trusted}, table=_lines(trusted))


def _lines(trusted: Sequence[hexad.TrustedSettings]) -> Iterator[str]:
    for settings in trusted:
        yield from trust_lines(settings)
    if not trusted:
        yield "You have trusted no project's settings."


@config.command()
def revoke() -> None:
    """Take back the trust in a project's settings; --store names a project, which may be gone."""
    if not hexad.revoke_trust(state().store):
        raise hexad.NotFound(
            "No settings of this project are trusted; `hexad config trusted` lists those that are."
        )
    note("Nothing of this project's settings is trusted any more.")
