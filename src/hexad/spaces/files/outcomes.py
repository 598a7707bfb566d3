"""What becomes of the objects of a space's file, and the report that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final

from hexad.ingest.write.prepare import Prepared
from hexad.memory.memory import Memory, Outcome, Status
from hexad.spaces.files.fields import ParsedObject
from hexad.spaces.files.reader import ParsedSpace
from hexad.spaces.files.report import FileConflict, ReadReport


class Fate(Enum):
    """What becomes of an object of the file."""

    CREATE = "create"
    UPDATE = "update"
    SAME = "same"
    OLDER = "older"
    DIFFERENT = "different"


WRITTEN: Final = frozenset({Fate.CREATE, Fate.UPDATE})
TAKEN: Final = frozenset({*WRITTEN, Fate.SAME})
_DIFFERS: Final = "it differs from the store's, and both say they changed at the same time"


def newer(parsed_object: ParsedObject, memory: Memory) -> Fate:
    """Return what becomes of an object that differs from the memory of its id."""
    updated_at = parsed_object.draft.updated_at
    if updated_at is None or updated_at == memory.updated_at:
        return Fate.DIFFERENT
    return Fate.UPDATE if updated_at > memory.updated_at else Fate.OLDER


def read_report(
    parsed: ParsedSpace,
    objects: Sequence[ParsedObject],
    fates: Mapping[str, Fate],
    notes: Sequence[str],
    touched: int,
    *,
    prepared: Sequence[Prepared],
    stored: Sequence[Memory],
) -> ReadReport:
    """Return what was done with the objects of a file; before it was done (`stored` is empty) what would be.

    What the store keeps for a review, or leaves as it was, is nothing that the file created or changed.
    """
    written = [fates[parsed_object.id] for parsed_object in objects if fates[parsed_object.id] in WRITTEN]
    waiting = [fate for fate, memory in zip(written, stored, strict=False) if _waits(memory)]
    left = [fate for fate, memory in zip(written, stored, strict=False) if _is_left(memory)]
    said = list(notes)
    if touched:
        said.append(f"{touched:,} of the objects held what is redacted; they are written back without it.")

    def count(fate: Fate) -> int:
        return written.count(fate) - waiting.count(fate) - left.count(fate)

    return ReadReport(
        file=parsed.file,
        space=parsed.name,
        objects=len(objects),
        created=count(Fate.CREATE),
        updated=count(Fate.UPDATE),
        unchanged=list(fates.values()).count(Fate.SAME) + len(left),
        quarantined=len(waiting),
        kept=[parsed_object.id for parsed_object in objects if fates[parsed_object.id] is Fate.OLDER],
        conflicts=[
            FileConflict(id=parsed_object.id, reason=_DIFFERS)
            for parsed_object in objects
            if fates[parsed_object.id] is Fate.DIFFERENT
        ],
        redacted=sum(write.clean.removed for write in prepared),
        notes=said,
    )


def _waits(memory: Memory) -> bool:
    return memory.status is Status.QUARANTINED


def _is_left(memory: Memory) -> bool:
    done = memory.receipt is not None and memory.receipt.outcome is Outcome.UNCHANGED
    return done and not _waits(memory)
