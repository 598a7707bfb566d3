"""Which ids are Hexad's own: those that it generates, and no others of their form."""

import re
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock, Hexad
from hexad.core.ids import TimeSortedIds, is_reserved

_GENERATED = re.compile(r"ids\.new\(f?\"([a-z]+)(-?)")


def test_all_ids_that_are_generated_for_something_else_than_a_memory_are_reserved() -> None:
    source = Path(hexad.__file__).parent
    prefixes = {
        prefix + ("-reply" if joined else "")
        for file in source.rglob("*.py")
        for prefix, joined in _GENERATED.findall(file.read_text("utf-8"))
    }
    ids = TimeSortedIds(FrozenClock())

    assert {"session", "doc", "compressed-reply", "mem"} <= prefixes
    assert ["mem"] == [prefix for prefix in sorted(prefixes) if not is_reserved(ids.new(prefix))]


@pytest.mark.parametrize(
    "name", ["order_01M6Q2FD002PAS6V7RGGCVNDVV", "jira-ticket-01M6Q2FD002PAS6V7RGGCVNDVV"]
)
def test_an_id_that_another_system_generated_names_a_memory(hx: Hexad, name: str) -> None:
    assert name == hx.remember("The customer wants an invoice.", id=name).id


def test_a_name_with_a_date_is_no_short_id(hx: Hexad) -> None:
    other = hx.remember("The dump of the day before.", id="mem_01M6Q2FD002PAS6V7R20240115")
    dump = hx.remember("The dump of that day.", id="mem_20240115")

    assert (dump.id, other.id) == (hx.get("mem_20240115").id, hx.get(other.id).id)
    shown = hx.context("the dump of the day before").render("markdown")
    assert other.id in shown
