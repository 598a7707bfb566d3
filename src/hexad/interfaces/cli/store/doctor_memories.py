"""`hexad doctor --memories`: what memories are worth, those of the store or of another system's export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

import hexad
from hexad.interfaces.cli.app.base import print_json, state
from hexad.interfaces.cli.output.render import clean, clip, count, width

if TYPE_CHECKING:
    from hexad import Flaw, MemoryQuality, QualityFinding

SYSTEMS: Final = ("mem0", "claude-mem", "mempalace", "memory-md", "server-memory")
"""Other memory systems whose exports and files are read."""
_SHOWN: Final = 3
_IN_JSON: Final = 1_000
_IDS: Final = 4
_SAID: Final = {
    "junk": "junk",
    "duplicate": "say what another says",
    "echo": "repeat what a recall handed out",
    "stale": "stale",
    "contradiction": "contradict another",
    "secret": "hold a secret",
    "unsupported": "without provenance",
}


def refuse_audit_options(ctx: click.Context) -> None:
    """Raise for options and a file that only the audit of memories takes."""
    for name, option in (
        ("file", "FILE"),
        ("space", "--space"),
        ("program", "--from"),
        ("listed", "--list"),
        ("fail_over", "--fail-over"),
    ):
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE and ctx.params[name] is not None:
            raise click.UsageError(f"{option} goes with --memories.", ctx)


def show_quality(
    ctx: click.Context,
    *,
    file: str | None,
    space: str | None,
    program: str | None,
    listed: int | None,
    fail_over: float | None,
) -> int:
    """Print an audit of memories; returns the exit code: 1 where more is wrong than `fail_over` allows."""
    number = listed if listed is not None else _IN_JSON if state().json else _SHOWN
    if (file is None) != (program is None):
        raise click.UsageError("FILE and --from FORMAT go together: say what wrote the file.", ctx)
    if program is not None and file is not None:
        if space is not None:
            raise click.UsageError("--space has no place beside --from: an export has none.", ctx)
        if not Path(file).exists():
            raise hexad.NotFound(f"There is no file or folder {file!r}; check the path.")
        found = hexad.export_quality(file, program, listed=number)
    else:
        with state().opened() as hx:
            found = hx.memory_quality(space=space, listed=number)
    if state().json:
        print_json(found.to_dict())
    else:
        _show(found, number)
    return int(fail_over is not None and found.share() > fail_over)


def _show(found: MemoryQuality, listed: int) -> None:
    click.echo(
        f"{clean(found.source)}: {count(found.memories, 'memory', 'memories')}, {found.flawed:,} with a flaw"
        f" ({found.share():.1%}), looked at in {found.seconds:.1f} s"
    )
    if found.skips:
        click.echo(
            f"  {count(found.skips, 'record')} could not be read; `hexad ingest --from … --dry-run` names them"
        )
    for flaw in hexad.Flaw:
        number = found.counts.get(flaw, 0)
        if not number:
            continue
        head = f"{number:,} of {found.memories:,} {_SAID[flaw.value]}"
        click.echo(click.style(head, bold=True) + f" ({found.share(flaw):.1%}): {_rules(found, flaw)}")
        for finding in found.of(flaw):
            _say(finding)
        if listed and len(found.of(flaw)) >= listed and number > listed:
            click.echo("  … --list N names more, --json with all their fields")
    if not found.flawed:
        click.echo(click.style("Nothing was found wrong with them.", fg="green"))


def _rules(found: MemoryQuality, flaw: Flaw) -> str:
    mine = {name.partition(".")[2]: n for name, n in found.rules.items() if name.startswith(f"{flaw.value}.")}
    return ", ".join(
        f"{name} {n:,}" for name, n in sorted(mine.items(), key=lambda pair: (-pair[1], pair[0]))
    )


def _say(finding: QualityFinding) -> None:
    ids = " ".join(map(clean, finding.ids[:_IDS])) + (
        f" and {len(finding.ids) - _IDS:,} more" if len(finding.ids) > _IDS else ""
    )
    room = width()
    click.echo(clip(f"  {ids}  {clean(finding.excerpt)}", room))
    click.echo(clip(f"    {clean(finding.why)}", room))
    click.echo(clip(f"    → {clean(finding.remedy)}", room))
