"""What several commands do to a whole space: empty it, archive what is past its time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from hexad.interfaces.cli.app.base import Function, confirm, note, print_json, state
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, count

if TYPE_CHECKING:
    from hexad import SpaceInfo

_OPTIONS: Final = (
    click.option(
        "--ttl-days",
        type=float,
        help="Count as old what was not changed for so many days, instead of the policy's.",
    ),
    click.option("--dry-run", is_flag=True, help="Only say what would happen."),
    click.option("--purge", is_flag=True, help="Remove what is old for good, instead of archiving it."),
    click.option("--yes", is_flag=True, help="Do not ask before a purge."),
)


DRY_RUN: Final = "see with --dry-run what would go"


def empty(
    name: str, metadata: Mapping[str, Any] | None = None, *, dry_run: bool, yes: bool, create: bool
) -> tuple[SpaceInfo, int] | None:
    """Purge what is in a space, after asking, and return it and how many memories went.

    None after a dry run, which prints what would go. One that is not there is made with `create`, else it is
    `NotFound`.
    """
    with state().opened(create=create and not dry_run) as hx:
        there = next((space for space in hx.spaces.list() if space.name == name), None)
        if there is None and not create:
            hx.spaces.get(name)
        # Superseded and quarantined ones too, which the summary does not count.
        holds = 0 if there is None else hx.count(space=name, status=None)
        what = count(holds, "memory", "memories")
        if dry_run:
            if state().json:
                print_json({"space": name, "dry_run": True, "memories": holds})
            else:
                click.echo(f"{clean(name)}  {what} would be gone for good")
            return None
        if holds:
            confirm(f"Remove {what} of the space {clean(name)!r} for good?", yes=yes, without=DRY_RUN)
        return hx.spaces.create(name, metadata, reset=True), holds


def gc_options(function: Function) -> Function:
    """Add the options of a gc."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def collect(name: str, *, ttl_days: float | None, dry_run: bool, purge: bool, yes: bool) -> None:
    """Run gc on a space and print what it did."""
    with state().opened() as hx:
        if purge and not dry_run:
            planned = hx.spaces.gc(name, ttl_days=ttl_days, dry_run=True, purge=True)
            if planned.purged:
                what = count(planned.purged, "memory", "memories")
                confirm(
                    f"Remove {what} of the space {clean(name)!r} for good?",
                    yes=yes,
                    without=DRY_RUN,
                )
        with meter("Collecting", clock=hx.clock, unit="memories") as show:
            report = hx.spaces.gc(name, ttl_days=ttl_days, dry_run=dry_run, purge=purge, progress=show)
    if state().json:
        print_json(report.to_dict())
        return
    would = "would be " if report.dry_run else ""
    done = [f"{would}archived {report.archived:,}", f"{would}purged {report.purged:,}"]
    kept = f"kept {report.kept_young:,} younger and {report.kept_pinned:,} pinned"
    click.echo(f"{clean(report.space)}  {', '.join([*done, kept])}")
    if report.cutoff is not None:
        note(f"Old is what was not changed since {report.cutoff:%Y-%m-%d %H:%M}.")
    if report.rules:
        rules = count(report.rules, "retention rule", "retention rules")
        note(f"What {rules} of the policy match{'es' * (report.rules == 1)} has a lifetime of its own.")
    if report.archived and not report.dry_run:
        note("What was archived can be brought back: `hexad memory restore ID`; --json names the first.")
