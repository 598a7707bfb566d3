from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime

import pytest

from hexad.ingest.copies import copy_with
from hexad.memory.memory import Memory, Outcome, Receipt

MEMORY = Memory(
    id="mem_1", space="s", path="a/b", kind="note", raw="text", summary_micro="t", summary_short="t", summary_long="t",
    created_at=datetime(2026, 1, 1, tzinfo=UTC), updated_at=datetime(2026, 1, 2, tzinfo=UTC),
)  # fmt: skip


def test_a_copy_is_what_replace_makes_of_the_value() -> None:
    receipt = Receipt(outcome=Outcome.CREATED)

    copy = copy_with(MEMORY, pinned=True, receipt=receipt)

    assert replace(MEMORY, pinned=True, receipt=receipt) == copy
    assert (receipt, False, None) == (copy.receipt, MEMORY.pinned, MEMORY.receipt)


def test_a_copy_cannot_be_changed_either() -> None:
    copy = copy_with(MEMORY, raw="other")

    with pytest.raises(FrozenInstanceError):
        copy.raw = "text"  # type: ignore[misc]


def test_a_field_that_is_none_of_the_values_is_refused() -> None:
    with pytest.raises(AttributeError):
        copy_with(MEMORY, colour="red")
