"""Which rows of logs lie in ranges of ticks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.core.tick_ranges import holds, union
from hexad.experience.stream.filters import placed
from hexad.experience.tables.cold_ranges import range_columns

RANGES = st.tuples(st.integers(1, 40), st.integers(0, 6)).map(lambda row: (row[0], row[0] + row[1]))
PLACES = st.dictionaries(st.integers(1, 6), st.lists(RANGES, min_size=1, max_size=5).map(union))
ROWS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 50)))


@pytest.mark.row("H104")
@settings(max_examples=examples(60))
@given(places=PLACES, rows=ROWS | st.lists(st.tuples(st.just(3), st.integers(1, 50))))
def test_a_row_is_placed_when_a_range_of_its_session_holds_its_tick(places, rows):
    numbers = {
        "session": np.array([session for session, _ in rows], "<u4"),
        "tick": np.array([tick for _, tick in rows], "<i8"),
    }

    found = placed(numbers, range_columns(places))

    assert [holds(places.get(session, ()), tick) for session, tick in rows] == found.tolist()
