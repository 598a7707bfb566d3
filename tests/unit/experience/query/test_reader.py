"""What is read of segments for tagged ranges: every row that may be wanted, and each once."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.core.tick_ranges import union
from hexad.experience.query import reader as stream_spans
from hexad.experience.query.reader import parts_of
from hexad.experience.stream.manifest import SessionRange
from hexad.experience.tables.cold_ranges import range_columns

TICKS = st.tuples(st.integers(1, 60), st.integers(0, 6)).map(lambda row: (row[0], row[0] + row[1]))
PLACES = st.dictionaries(st.integers(1, 6), st.lists(TICKS, min_size=1, max_size=6).map(union), max_size=6)
HELD = st.lists(st.dictionaries(st.integers(1, 6), TICKS, min_size=1, max_size=6), min_size=1, max_size=4)


@pytest.mark.row("H104")
@pytest.mark.parametrize("most", [1, 2, 16])
@settings(max_examples=examples(30))
@given(places=PLACES, held=HELD)
def test_every_tagged_tick_of_a_segment_is_in_exactly_one_part(places, held, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_spans, "_APART", 2)
        patch.setattr(stream_spans, "_SPANS_LIMIT", 3)
        patch.setattr(stream_spans, "_ROWS_A_PART", 1)
        patch.setattr(stream_spans, "_PARTS_LIMIT", most)
        ranges = {
            f"{at}.parquet": [
                SessionRange(session=session, rows=last - first + 1, ticks=(first, last), times=(0, 0))
                for session, (first, last) in span.items()
            ]
            for at, span in enumerate(held)
        }
        parts = parts_of(range_columns(places), ranges)

    assert len(parts) <= most
    wanted = {
        (session, tick)
        for session, some in places.items()
        for first, last in some
        for tick in range(first, last + 1)
    }
    for path, some in ranges.items():
        there = [
            (session_range.session, tick)
            for session_range in some
            for tick in range(session_range.ticks[0], session_range.ticks[1] + 1)
        ]
        values = ", ".join(f"({session}, {tick})" for session, tick in there)
        read = [
            row
            for part in parts
            if path in part.paths
            for row in duckdb.sql(
                f"SELECT * FROM (VALUES {values}) v(session, tick) WHERE {part.condition}"
            ).fetchall()
        ]
        assert len(read) == len(set(read))
        assert wanted.intersection(there) <= set(read)


@pytest.mark.row("H104")
def test_two_short_ranges_far_apart_do_not_read_what_is_between_them():
    held = {
        f"{at}.parquet": [
            SessionRange(session=1, rows=100_000, ticks=(at * 100_000 + 1, (at + 1) * 100_000), times=(0, 0))
        ]
        for at in range(5)
    }

    (part,) = parts_of(range_columns({1: ((150_000, 150_020), (450_000, 450_003))}), held)

    assert ["1.parquet", "4.parquet"] == list(part.paths)
    assert (
        "session BETWEEN 1 AND 1 AND (tick BETWEEN 150000 AND 150020 OR tick BETWEEN 450000 AND 450003)"
        == (part.condition)
    )
