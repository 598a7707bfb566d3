"""Questions that want several memories get them in the order of time."""

from __future__ import annotations

import pytest

import hexad
from hexad.search.recall.query_terms import SEQUENCE_MOST
from hexad.text.requests import SequenceForm

WALKS = ("Walked to the lake with Ida.", "Walked before breakfast.", "Walked two rounds, the path was icy.")


@pytest.fixture
def hx():
    with hexad.open(":memory:", embedder=None) as store:
        for day, text in ((9, WALKS[2]), (2, WALKS[0]), (5, WALKS[1])):
            store.remember(text, valid_from=f"2026-03-{day:02}")
        for day in range(1, 9):
            store.remember(f"Planted row {day} of the beans.", valid_from=f"2026-04-{day:02}")
        yield store


def test_what_is_counted_comes_as_it_came_about(hx):
    hits = hx.recall("How many times have I walked?")
    assert [hit.text for hit in hits] == list(WALKS)
    assert hits.sequence is SequenceForm.COUNT
    assert "all that is to be counted: 3 memories" in hits.notes[0]
    assert hits.to_dict()["sequence"] == "count"


def test_a_limit_asks_for_the_best(hx):
    hits = hx.recall("How many times have I walked?", limit=10)
    assert hits.sequence is None
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_plain_question_has_the_best_first(hx):
    hits = hx.recall("Where did Ida walk?")
    assert hits.sequence is None
    assert hits[0].text == WALKS[0]
    assert "sequence" not in hits.to_dict()


def test_more_than_ten_are_given_up_to_a_bound_and_repeats_are_counted(hx):
    fed = [
        {
            "role": "user",
            "content": "Fed the heron.",
            "time": f"2026-05-{1 + at % 28:02}T{at // 28 + 6:02}:00",
        }
        for at in range(SEQUENCE_MOST + 5)
    ]
    other = [{"role": "user", "content": f"It rained for {at} hours."} for at in range(2 * SEQUENCE_MOST)]
    hx.remember([*fed[:12], *other], space="birds", conversation="spring")
    hits = hx.recall("How often was the heron fed?", space="birds")
    assert [hit.text for hit in hits] == ["Fed the heron."] * 12
    times = [hit.memory.valid_from for hit in hits]
    assert times == sorted(times)
    hx.remember(fed[12:], space="birds", conversation="summer")
    hits = hx.recall("How often was the heron fed?", space="birds")
    assert len(hits) == SEQUENCE_MOST
    assert f"at least {SEQUENCE_MOST} memories" in hits.notes[0]


def test_what_held_at_a_time_and_named_layers_have_the_best_first(hx):
    assert hx.recall("How many times have I walked?", layers=["project"]).sequence is None
    assert hx.recall("How many times have I walked?", as_of="2026-06-01").sequence is None


def test_nothing_relevant_is_said_plainly(hx):
    hits = hx.recall("How many times did we play badminton?")
    assert list(hits) == []
    assert hits.notes == ()
