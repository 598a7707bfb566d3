"""Destroying contents of the ledger: which are count_selected, and how the record of it names them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from hexad.audit.ledger import Ledger
from hexad.audit.reviewers import SYSTEM
from hexad.core.json_types import JSONValue

Work = Mapping[str, JSONValue]
"""What is to be destroyed, by `session`, perhaps with `ticks`, by `subject`, or with `everything`."""


def destroy(ledger: Ledger, works: Sequence[Work]) -> dict[str, JSONValue]:
    """Destroy contents and return how the record says so: as ranges of numbers, and references of subjects.

    In the caller's transaction, which appends that record.
    """
    seqs, references = set[int](), set[str]()
    count = 0
    for work in works:
        session, subject = work.get("session"), work.get("subject")
        if work.get("everything"):
            gone, all_references = ledger.erase_all()
            count += gone
            references.update(all_references)
        if isinstance(session, str):
            ticks = cast("Sequence[tuple[int, int]] | None", work.get("ticks"))
            places = ledger.with_contents(session, ticks)
            seqs.update(places)
            count += ledger.erase(places)[0]
            if ticks is None:
                subject = f"session:{session}"
        # What is kept under the ledger's own subject is nobody's of that name: it goes with everything alone.
        if isinstance(subject, str) and subject != SYSTEM:
            gone, reference = ledger.erase((), subject=subject)
            count += gone
            references |= {reference} if reference is not None else set()
    if not works:
        return {}
    return {"contents": count, "seqs": _ranges(seqs), "subjects": sorted(references)}


def count_selected(ledger: Ledger, works: Sequence[Work]) -> int:
    """Return how many contents `destroy` would take."""
    sessions = set[int]()
    for work in works:
        session, subject = work.get("session"), work.get("subject")
        if work.get("everything"):
            sessions.update(ledger.gaps.all_contents())
        if isinstance(session, str):
            ticks = cast("Sequence[tuple[int, int]] | None", work.get("ticks"))
            sessions.update(ledger.with_contents(session, ticks))
            if ticks is None:
                subject = f"session:{session}"
        if isinstance(subject, str) and subject != SYSTEM:
            sessions.update(ledger.contents_of(subject))
    return len(sessions)


def _ranges(seqs: Collection[int]) -> list[JSONValue]:
    ranges: list[list[int]] = []
    for seq in sorted(seqs):
        if ranges and ranges[-1][1] == seq - 1:
            ranges[-1][1] = seq
        else:
            ranges.append([seq, seq])
    return [list[JSONValue](span) for span in ranges]
