"""`hexad xdb usage`, `compress`, `contract`, `accept-lost`: what experience takes, and may; and what is lost."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from hexad import AccessDenied
from hexad.interfaces.cli.app.base import Command, NamedPath, confirm, note, state
from hexad.interfaces.cli.output.plots import Gauge, Line, Part, draw, gauges, glyphs, stacked
from hexad.interfaces.cli.output.progress import meter, waiting
from hexad.interfaces.cli.output.render import clean, count, hanging, show, size, table, table_room, width

if TYPE_CHECKING:
    from hexad import CompressionLevel, CompressionReport, LifecycleContract, StorageUsage

_COLORS: Final = {"hot": "red", "warm": "yellow", "submitted": "magenta", "cold": "bright_blue"}
_REASONS: Final = {
    "under_threshold": "It is under the threshold.",
    "nothing_left": "It is over the threshold still, and there is nothing left to compress.",
    "asked": "It was stopped.",
    "elsewhere": "Another process is compressing.",
}


@click.command(cls=Command)
def usage() -> None:
    """Show how much experience takes, by tier, beside its limits."""
    with state().opened() as hx, waiting("Measuring"):
        usage = hx.xdb.usage()
    show(usage, table=_usage_lines(usage))


def _usage_lines(usage: StorageUsage) -> Iterator[str]:
    room = width()
    yield click.style(f"Experience: {size(usage.total_bytes)}", bold=True)
    draw(stacked([*_parts(usage)], room=room, of=glyphs()))
    yield ""
    yield from _amounts(usage)
    yield ""
    draw(_limits(usage, room=room))
    for line in usage.notes:
        note(clean(line))
    if usage.over_threshold:
        note(
            "Over the threshold: `hexad xdb compress` makes COLD records coarser, and so does `hexad maintain`."
        )


def _parts(usage: StorageUsage) -> Iterator[Part]:
    """Give what takes the bytes: the tiers, then the rest."""
    for fidelity, amount in usage.by_fidelity.items():
        tier = fidelity.value
        yield Part(label=tier, amount=amount.bytes, said=size(amount.bytes), style=_COLORS[tier])
    cold = usage.cold_bytes  # what COLD records say; their tables have room and indexes besides
    total = usage.logs_bytes + usage.segments_bytes + usage.documents_bytes + usage.exports_bytes
    rest = max(0, usage.total_bytes - total - usage.tables_bytes - cold)
    others = (
        ("compactions", usage.compactions.bytes),
        ("indexes of these", rest),
        ("documents and exports", usage.documents_bytes + usage.exports_bytes),
        ("tags, sessions and the rest", usage.tables_bytes),
    )
    for label, taken in others:
        yield Part(label=label, amount=taken, said=size(taken))


def _amounts(usage: StorageUsage) -> list[str]:
    """Return a table of tiers and of the levels of COLD: how many records, and what they stand for."""
    rows = [(fidelity.value, amount) for fidelity, amount in usage.by_fidelity.items()]
    rows += [
        (f"  {compression_level.name.lower()}", amount)
        for compression_level, amount in usage.by_level.items()
        if amount.records
    ]
    rows.append(("compactions", usage.compactions))
    heads = ("detail", "records", "timesteps", "tokens", "size")
    cells = [
        (name, f"{of.records:,}", f"{of.timesteps:,}", f"{of.tokens:,}", size(of.bytes)) for name, of in rows
    ]
    widest = [max(len(row[at]) for row in [heads, *cells]) for at in range(len(heads))]
    right = [
        (row[0], *(cell.rjust(room) for cell, room in zip(row[1:], widest[1:], strict=True)))
        for row in [heads, *cells]
    ]
    return table(right[1:], heads=right[0], room=table_room(), whole=right[0])


def _limits(usage: StorageUsage, *, room: int) -> list[Line]:
    rows = [
        Gauge(
            label="cold",
            amount=usage.cold_bytes,
            limit=usage.cold_limit_bytes,
            said=f"{size(usage.cold_bytes)} of {size(usage.cold_limit_bytes)}",
            mark=usage.compression_threshold,
        ),
        Gauge(
            label="pinned",
            amount=usage.warm_used_tokens,
            limit=usage.warm_quota_tokens,
            said=f"{usage.warm_used_tokens:,} of {count(usage.warm_quota_tokens, 'token')}",
        ),
    ]
    if usage.total_limit_bytes is not None:
        total = f"{size(usage.total_bytes)} of {size(usage.total_limit_bytes)}"
        rows.append(
            Gauge(
                label="all",
                amount=usage.total_bytes,
                limit=usage.total_limit_bytes,
                said=total,
                mark=usage.compression_threshold,
            )
        )
    shown = glyphs()
    legend = f"{shown.mark} at {usage.compression_threshold:.0%} COLD records begin to be compressed"
    return [*gauges(rows, room=room, of=shown), ((legend, "dim"),)]


@click.command(cls=Command)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    help="Compress as if COLD records had this limit, not the contract's.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    help="From which share of the limit on, instead of 0.8.",
)
@click.option(
    "--dry-run", is_flag=True, help="Only report how many records of each level would be compressed."
)
@click.option("--yes", is_flag=True, help="Do not ask before detail is given up.")
def compress(*, max_bytes: int | None, threshold: float | None, dry_run: bool, yes: bool) -> None:
    """Make COLD records coarser until they are under their limit.

    The oldest and finest first: replies become sessions, those days, weeks, months, quarters and years. What is hot,
    warm or submitted is never compressed. `hexad maintain` does this too, by the contract's limit and unasked. How many
    records go is known when it is done: before, it is said from their mean size.
    """
    with state().opened() as hx:
        usage = hx.xdb.usage()
        usage = replace(
            usage,
            cold_limit_bytes=usage.cold_limit_bytes if max_bytes is None else max_bytes,
            compression_threshold=usage.compression_threshold if threshold is None else threshold,
        )
        if not dry_run:
            if usage.over_threshold:
                confirm(
                    f"Give up the detail of {_going(usage)}?",
                    yes=yes,
                    without="see with --dry-run what would go",
                )
            with meter("Compressing", clock=hx.clock, unit="steps") as advance:
                done = 0

                def stop() -> bool:
                    nonlocal done
                    done += 1
                    advance(done)
                    return False

                report = hx.xdb.storage_manager.check_and_compress(
                    max_storage_bytes=max_bytes, compression_threshold=threshold, stop=stop
                )
    if not dry_run:
        _show_report(report)
        return
    show(
        {
            "dry_run": True,
            "due": usage.over_threshold,
            "cold_bytes": usage.cold_bytes,
            "limit_bytes": usage.cold_limit_bytes,
            "compression_threshold": usage.compression_threshold,
            "records": {level.name: number for level, number in _expected(usage).items()},
        },
        table=_compress_lines(usage),
    )


def _compress_lines(usage: StorageUsage) -> Iterator[str]:
    what = f"would compress {_going(usage)}" if usage.over_threshold else "nothing to compress"
    yield f"{size(usage.cold_bytes)} of {size(usage.cold_limit_bytes)}: {what}"


def _going(usage: StorageUsage) -> str:
    """Say how many records of which level would become coarser ones."""
    parts = [count(number, f"{level.name.lower()} record") for level, number in _expected(usage).items()]
    return f"about {' and '.join(parts)}, the oldest first" if parts else "no record: there is none"


def _expected(usage: StorageUsage) -> dict[CompressionLevel, int]:
    """Return how many records of each level go, by their mean size, from the finest on until all is under."""
    if not usage.over_threshold:
        return {}
    excess = usage.cold_bytes - usage.cold_limit_bytes * usage.compression_threshold
    if usage.total_limit_bytes is not None:
        excess = max(excess, usage.total_bytes - usage.total_limit_bytes * usage.compression_threshold)
    going: dict[CompressionLevel, int] = {}
    for level, amount in sorted(usage.by_level.items()):
        if excess <= 0 or level.name == "YEAR":  # nothing is coarser
            break
        if amount.records:
            mean = max(amount.bytes / amount.records, 1)
            going[level] = min(amount.records, math.ceil(excess / mean))
            excess -= going[level] * mean
    return going


def _show_report(report: CompressionReport) -> None:
    show({"dry_run": False, **report.to_dict()}, table=_show_report_lines(report))


def _show_report_lines(report: CompressionReport) -> Iterator[str]:
    for step in report.steps:
        source, target = step.source.name.lower(), step.target.name.lower()
        made = f"{step.records:,} {source} → {step.into:,} {target}"
        yield f"{made}  ({size(max(0, step.bytes_freed))} freed)"
    yield f"{size(report.bytes_before)} → {size(report.bytes_after)} of {size(report.limit_bytes)}"
    for session in report.expired_sessions:
        note(f"The context of the ended session {clean(session)!r} was compacted to make room.")
    for remark in report.notes:
        note(clean(remark))
    note(_REASONS[report.stopped.value])


@click.command(cls=Command)
@click.argument("file", required=False, type=NamedPath(path_type=Path))
@click.option("--clear", is_flag=True, help="End the contract: the deployment group's minimums hold.")
def contract(file: Path | None, *, clear: bool) -> None:
    """Show the lifecycle contract, or put the one in FILE in force.

    FILE is JSON or TOML: {"resources": {"memory": {"warm_quota_tokens": …, "cold_storage_bytes": …,
    "context_window_tokens": …}}}. A limit below the deployment group's minimum is refused.
    """
    if clear and file is not None:
        raise click.UsageError("--clear ends the contract, FILE puts one in force; give one of them.")
    with state().opened() as hx:
        if clear or file is not None:
            contract = hx.xdb.set_contract(file)
        else:
            contract = hx.xdb.contract
    show(contract, table=_contract_table(contract))


def _contract_table(contract: LifecycleContract) -> Iterator[str]:
    yield from _contract_lines(contract)
    if not contract.active:
        note("There is no contract: the deployment group's minimums hold.")
    elif all(source.value != "contract" for source in contract.sources.values()):
        note("The contract sets no limit below resources.memory: the deployment group's minimums hold.")


def _contract_lines(contract: LifecycleContract) -> Sequence[str]:
    limits = (
        ("warm_quota_tokens", f"{count(contract.warm_quota_tokens, 'token')} may be pinned"),
        ("cold_storage_bytes", f"{size(contract.cold_storage_bytes)} of COLD records"),
        ("context_window_tokens", f"{count(contract.context_window_tokens, 'token')} in a context window"),
    )
    lines = []
    for name, text in limits:
        lines += hanging(f"{name:<21}  {text}  ({contract.sources[name].value})", indent=0, room=width())
    return lines


@click.command("accept-lost", cls=Command)
@click.argument("segment")
@click.option("--yes", is_flag=True, help="Do not ask before it is given up.")
def accept_lost(*, segment: str, yes: bool) -> None:
    """Give up a damaged SEGMENT of which there is no backup.

    SEGMENT is the name of its file, which `hexad check` says. The stream goes on without what it held: the file is
    removed, erasures that waited for it are finished, the ledger is told who gave up what, and `hexad check` says it as
    a note from then on. A segment that is as it was sealed is refused.
    """
    with state().opened() as hx:
        with contextlib.suppress(AccessDenied):  # says what is wrong with the segment before anybody is asked
            hx.xdb.accept_lost_segment(segment)
        confirm(
            f"Give up segment {clean(segment)} for good?",
            yes=yes,
            without="put a backup of the file in its place",
        )
        lost = hx.xdb.accept_lost_segment(segment, confirm=True)
    show(lost, table=[clean(str(lost))])
