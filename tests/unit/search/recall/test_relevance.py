"""How likely a hit is right: what makes it more likely, and its bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexad.search.recall.relevance import Evidence, leads, matched_share

SURE = Evidence(share=0.8, best_cosine=0.7, best_z=4.0, calibrated=True, rows=1_000, matched=True)
UNSURE = Evidence(share=0.05, best_cosine=0.1, best_z=1.0, calibrated=True, rows=1_000, matched=True)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    lead=st.floats(-1e9, 1e9), rank=st.integers(0, 1_000), share=st.floats(0, 1), rows=st.integers(0, 10**9)
)
def test_relevance_is_a_probability(lead: float, rank: int, share: float, rows: int) -> None:
    for evidence in (replace(SURE, share=share, rows=rows), replace(SURE, share=share, best_cosine=None)):
        assert 0.0 <= evidence.relevance(lead=lead, rank=rank) <= 1.0


@pytest.mark.parametrize("evidence", [SURE, replace(SURE, best_cosine=None)])
def test_a_clear_lead_and_a_better_rank_are_more_likely_right(evidence: Evidence) -> None:
    clear = evidence.relevance(lead=4.0, rank=0, share=1.0)
    assert clear > 0.7 > 0.6 > evidence.relevance(lead=0.0, rank=0, share=1.0)
    assert evidence.relevance(lead=-1.0, rank=1) > evidence.relevance(lead=-1.0, rank=5)


def test_a_hit_with_the_words_of_the_question_is_more_likely_right_than_one_without() -> None:
    assert SURE.relevance(lead=-1.0, rank=1, share=1.0) > SURE.relevance(lead=-1.0, rank=1)


def test_what_the_store_most_likely_does_not_know_has_little_relevance_and_is_not_found() -> None:
    assert SURE.is_relevant
    assert not UNSURE.is_relevant
    assert UNSURE.relevance(lead=0.5, rank=0) < 0.1 < SURE.relevance(lead=0.5, rank=0)


def test_a_small_store_without_vectors_answers_with_any_word() -> None:
    lexical = replace(UNSURE, best_cosine=None)

    assert not lexical.is_relevant
    assert replace(lexical, rows=5).is_relevant
    assert not replace(lexical, rows=5, matched=False).is_relevant


def test_an_embedder_with_other_cosines_is_judged_by_its_spread() -> None:
    foreign = replace(UNSURE, calibrated=False, best_z=6.0)

    assert foreign.is_relevant


def test_leads_are_measured_against_the_next_other_text() -> None:
    assert [2.0, 0.0, -2.0, -5.0] == [*leads([7.0, 7.0, 5.0, 2.0], ["a", "a", "b", "c"])]
    assert [3.0] == [*leads([7.0], ["a"])]
    assert [] == [*leads([], [])]


def test_a_word_that_no_text_has_lowers_the_share() -> None:
    frequencies = {"heron": 3}

    assert matched_share(4.0, frequencies, ["heron"], rows=100) > matched_share(
        4.0, frequencies, ["heron", "unicorn"], rows=100
    )
