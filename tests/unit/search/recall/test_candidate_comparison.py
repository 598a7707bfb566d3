"""Comparing the best candidates: their form counts among equals in words, and sure successors have few rivals."""

from __future__ import annotations

from collections.abc import Mapping

from hexad.memory.tables.updates import PlainText, UpdateLink
from hexad.search.recall.candidate_comparison import FORM_MOST, Comparison, compare_candidates, form_room

QUESTION = "Where is the kiln?"


def _compared(
    *texts: str,
    scores: Mapping[int, float],
    literals: Mapping[int, Mapping[str, float]] | None = None,
    stored: tuple[UpdateLink, ...] = (),
) -> Comparison:
    plain = [PlainText(no, text, 1, no) for no, text in enumerate(texts, start=1)]
    return compare_candidates(QUESTION, plain, scores, literals=literals or {}, stored=stored)


def test_what_has_the_form_of_an_answer_comes_forward_and_nothing_falls_behind() -> None:
    forms = _compared("The kiln has two doors.", "The kiln is in the cellar.", scores={1: 10.0, 2: 9.0}).forms

    assert set(forms) == {2}
    assert 1.0 < forms[2] <= FORM_MOST * form_room(10.0)
    assert not _compared("The kiln is in the cellar.", "The kiln is old.", scores={1: 10.0, 2: 9.0}).forms


def test_a_form_counts_only_among_those_that_hold_as_many_words_of_the_question() -> None:
    assert not _compared("The kiln is old.", "It is in the cellar.", scores={1: 10.0, 2: 9.0}).forms
    assert not _compared("It is old.", "The kiln is in the cellar.", scores={1: 10.0, 2: 9.0}).forms


def test_a_form_brings_nothing_before_what_holds_a_literal_of_the_question() -> None:
    held = {1: {"v2": 1.0}}

    texts = ("The kiln v2 is old.", "The kiln is in the cellar.")
    assert not _compared(*texts, scores={1: 10.0, 2: 9.0}, literals=held).forms


def test_beside_a_sure_successor_a_likely_one_is_none() -> None:
    texts = ("The kiln is in the cellar.", "The kiln is in the shed.", "The kiln is by the oven.")
    scores = {1: 10.0, 2: 9.9, 3: 9.8}
    sure = (UpdateLink(1, 2, "value", 0.97),)

    alone = {(link.old, link.new) for link in _compared(*texts, scores=scores).links}
    beside = {(link.old, link.new) for link in _compared(*texts, scores=scores, stored=sure).links}

    assert beside < alone
    assert alone - beside
