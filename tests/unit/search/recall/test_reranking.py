from __future__ import annotations

from dataclasses import replace

import pytest

from hexad.errors import ProviderError
from hexad.search.recall.query_terms import RecallOptions
from hexad.search.recall.reranking import CANDIDATES, Reranking


class Backwards:
    """Scores the last text best; notes what it was asked."""

    name = "function:backwards"

    def __init__(self):
        self.asked = []

    def scores(self, question, texts, *, space):
        self.asked.append((question, list(texts), space))
        return [float(place) for place in range(len(texts))]


@pytest.fixture
def hits(hx):
    for number in range(6):
        hx.remember(f"The lock gate number {number} was painted.")
    return list(enumerate(hx.recall("Which lock gate was painted?", min_relevance=0), start=1))


def order(reordered):
    return [no for no, _ in reordered.hits]


def test_what_a_user_wants_of_answers_is_not_scored_and_stays_where_it_was_placed(hits):
    hits[2] = (3, replace(hits[2][1], parts={**hits[2][1].parts, "standing": 1.0}))
    reranker = Backwards()
    reordered = Reranking(reranker, str).reorder("which?", hits, RecallOptions(), {})

    assert [6, 5, 3, 4, 2, 1] == order(reordered)
    assert {1: 0.0, 2: 1.0, 4: 2.0, 5: 3.0, 6: 4.0} == reordered.scores
    assert hits[2][1].text not in reranker.asked[0][1]


def test_what_stood_before_what_it_replaces_goes_on_standing_there(hits):
    reordered = Reranking(Backwards(), str).reorder("which?", hits, RecallOptions(), {4: 1, 2: 5, 6: 99})

    assert [6, 5, 1, 4, 3, 2] == order(reordered)


def test_question_and_texts_are_cut_and_the_question_is_masked(hits):
    reranker = Backwards()
    Reranking(reranker, lambda text: text.replace("secret", "[masked]")).reorder(
        "secret " + "x" * 5_000, hits, RecallOptions(), {}
    )

    question, texts, space = reranker.asked[0]
    assert question.startswith("[masked] xxx")
    assert (4_000, 6, None) == (len(question), len(texts), space)


def test_a_failure_is_raised_where_the_caller_insists_and_else_handed_back(hits):
    class Fails:
        name = "function:fails"

        def scores(self, question, texts, *, space):
            raise ProviderError("no")

    reranking = Reranking(Fails(), str)
    reordered = reranking.reorder("which?", hits, RecallOptions(rerank=None), {})

    assert ([1, 2, 3, 4, 5, 6], "no") == (order(reordered), str(reordered.failure))
    with pytest.raises(ProviderError):
        reranking.reorder("which?", hits, RecallOptions(rerank=True), {})


def test_enough_is_found_to_be_reordered_and_never_less_than_was_asked_for():
    assert CANDIDATES == Reranking.widened(RecallOptions(limit=3, max_tokens=10)).limit
    assert 80 == Reranking.widened(RecallOptions(limit=80)).limit
    assert None is Reranking.widened(RecallOptions(max_tokens=10)).max_tokens
