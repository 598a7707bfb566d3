"""What holds for a store's experience, its documents and its exports holds for an encrypted one: the same tests."""

from __future__ import annotations

import pytest

from test_engine_experience import (  # noqa: F401
    disk,
    test_a_content_over_the_limit_is_refused,
    test_a_log_that_is_full_is_left_for_sealing_and_another_one_begun,
    test_a_sealing_that_fails_changes_nothing_and_the_next_one_does_it,
    test_a_secret_that_is_spread_over_tokens_goes_when_they_are_sealed,
    test_a_session_that_is_started_again_goes_on_after_its_highest_tick,
    test_a_store_that_is_only_read_answers_and_records_nothing,
    test_a_timestep_comes_back_with_all_that_was_said_of_it,
    test_another_open_store_sees_what_was_flushed,
    test_damage_in_the_stream_is_found_and_never_read_over,
    test_every_filter_holds_for_sealed_and_unsealed_alike,
    test_every_policy_keeps_what_was_flushed,
    test_maintain_seals_what_an_ended_program_left,
    test_on_a_full_disk_a_group_waits_until_there_is_room,
    test_on_a_full_disk_always_refuses_and_later_goes_on,
    test_recall_by_concept_gives_the_strongest_first,
    test_recall_by_concept_reads_no_more_of_a_segment_than_its_list,
    test_what_lies_beside_a_segment_is_made_again_and_its_damage_found,
    xdb,
)
from test_xdb_documents import (  # noqa: F401
    test_a_disk_that_refuses_the_copy_leaves_the_document_and_says_so,
    test_documents_are_found_by_words_type_and_tags_together,
    test_what_an_update_took_out_is_no_longer_found,
)
from test_xdb_pieces import test_an_event_reads_the_same_before_and_after_it_was_compacted  # noqa: F401
from test_xdb_storage import test_a_year_is_found_by_concept_tag_text_and_time  # noqa: F401


@pytest.fixture
def encrypted() -> bool:
    return True
