"""What is given to record, tag and comment, and refused."""

from __future__ import annotations

from typing import Any

import pytest

from hexad import Hexad, InvalidInput, NotFound


@pytest.mark.parametrize("given", ["false", "yes", "", 1, 0, 2.5, []])
@pytest.mark.parametrize("name", ["event_start", "event_end"])
def test_what_is_no_bool_neither_begins_nor_ends_an_event(hx: Hexad, name: str, given: object) -> None:
    hx.xdb.start_session("s")
    with pytest.raises(InvalidInput, match=f"{name} = .*give a bool"):
        hx.xdb.record("input", "a", **{name: given})  # type: ignore[arg-type]
    row: dict[str, Any] = {"event_type": "input", "content": "a"}
    with pytest.raises(InvalidInput, match=f"Row 1: {name} = .*give a bool"):
        hx.xdb.record_many([row, {**row, name: given}])
    with pytest.raises(InvalidInput, match=f"Row 1: {name} = .*give a bool"):
        columns: dict[str, Any] = {"event_type": ["input"] * 2, "content": ["a", "b"], name: [True, given]}
        hx.xdb.record_many(columns)

    assert [] == hx.xdb.recall()


def test_bools_of_numpy_and_none_are_taken(hx: Hexad) -> None:
    import numpy as np

    hx.xdb.start_session("s")
    hx.xdb.record("input", "a", event_start=np.bool_(True))  # type: ignore[arg-type]
    columns: dict[str, Any] = {"event_type": ["input"], "content": ["a"], "event_start": np.array([True])}
    hx.xdb.record_many(columns)
    hx.xdb.record_many([{"event_type": "input", "content": "a", "event_start": None}])

    assert [True, True, False] == [record.event_start for record in hx.xdb.recall()]


@pytest.mark.parametrize("ticks", [(5, 9), (0, 2), (2, 2), (100, 200), (0, 0)])
def test_a_range_that_begins_where_nothing_was_recorded_is_not_found(
    hx: Hexad, ticks: tuple[int, int]
) -> None:
    hx.xdb.start_session("s")
    hx.xdb.record("input", "a")

    with pytest.raises(NotFound, match=rf"has no tick {ticks[0]}; its last is 1\."):
        hx.xdb.tag("later", tick_range=ticks)
    with pytest.raises(NotFound, match=rf"has no tick {ticks[0]}; its last is 1\."):
        hx.xdb.comment("c", tick_range=ticks)
    hx.xdb.start_session("empty")
    with pytest.raises(NotFound, match="nothing was recorded"):
        hx.xdb.tag("later", tick_range=(1, 2))
    hx.xdb.record("input", "b", session_id="s")

    assert [] == hx.xdb.find_tags()


def test_a_range_that_ends_later_covers_what_comes(hx: Hexad) -> None:
    hx.xdb.start_session("s")
    hx.xdb.record("input", "a")
    hx.xdb.tag("open", tick_range=(1, 10**9))
    hx.xdb.record("input", "b")

    assert [1, 2] == [record.tick for record in hx.xdb.recall(tags=["open"])]
