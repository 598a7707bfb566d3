"""An encrypted store's recorders, sealers and mergers are killed as those of a plain one are: the same tests."""

from __future__ import annotations

import pytest
from test_stream import (  # noqa: F401
    test_a_sealing_that_is_killed_at_any_step_leaves_nothing_half_done,
    test_recorders_and_sealers_that_are_killed_lose_nothing_that_was_acknowledged,
    test_several_record_read_and_seal_at_once,
)
from test_stream_removal import (  # noqa: F401
    test_a_log_of_which_everything_left_becomes_no_segment,
    test_readers_go_on_while_segments_are_put_together,
    test_small_segments_become_one,
    test_what_left_takes_no_room_after_upkeep,
)


@pytest.fixture
def encrypted() -> bool:
    return True
