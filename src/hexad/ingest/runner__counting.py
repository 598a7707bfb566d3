"""What a run did with an item, counted in its report."""

from __future__ import annotations

from typing import Final

from hexad.ingest.imports.linking import said_of
from hexad.ingest.report import IngestReport
from hexad.memory.memory import Memory, Outcome, Status
from hexad.memory.source import Item, Skip

SKIPS_LISTED: Final = 1_000
"""Places that a report names with a reason, at most."""


def counted(report: IngestReport, item: Item, memory: Memory, *, listed: bool) -> None:
    """Count an item that was written; `listed` names those that the store says already."""
    receipt = memory.receipt
    assert receipt is not None
    if receipt.outcome is Outcome.CREATED:
        report.created += 1
    elif receipt.outcome is Outcome.UPDATED:
        report.updated += 1
    elif receipt.outcome is Outcome.UNCHANGED:
        report.unchanged += 1
    else:
        report.repeated += 1
        if listed and len(report.repeats) < SKIPS_LISTED:
            report.repeats.append(Skip(source_id=item.source_id or "", reason=said_of(memory)))
    report.redacted += receipt.redacted
    report.quarantined += memory.status is Status.QUARANTINED
    report.near_duplicates += bool(receipt.near_duplicates)
