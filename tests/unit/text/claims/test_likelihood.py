"""How likely a newer text says otherwise what an older one said: by how the two differ."""

from __future__ import annotations

import pytest

from hexad.text.claims.likelihood import (
    ANSWER_WEIGHTS,
    PAIR_WEIGHTS,
    QUESTION_SIGNS,
    SIGNS,
    Wording,
    answer_likelihood,
    pair_likelihood,
    question_signs,
    signs_of,
)


def _signs(older: str, newer: str) -> dict[str, float]:
    return dict(zip(SIGNS, signs_of(Wording(older), Wording(newer)), strict=True))


def test_every_sign_has_its_weight() -> None:
    question, older, newer = Wording("Where is it?"), Wording(""), Wording("It is there.")

    assert len(SIGNS) == len(set(SIGNS)) == len(signs_of(older, newer)) == len(PAIR_WEIGHTS) - 1
    assert len(question_signs(question, older, newer)) == len(QUESTION_SIGNS)
    assert len(ANSWER_WEIGHTS) == 1 + len(SIGNS) + len(QUESTION_SIGNS)


def test_another_value_is_likelier_than_another_subject_or_attribute() -> None:
    question = Wording("How long does the oven cool down?")
    older = Wording("The oven cools down for 20 minutes.")

    value = answer_likelihood(question, older, Wording("The oven cools down for 45 minutes."))
    subject = answer_likelihood(question, older, Wording("The kiln cools down for 20 minutes."))
    attribute = answer_likelihood(question, older, Wording("The oven stands in the cellar."))

    assert value > 0.5 > 10 * max(subject, attribute)


def test_the_words_that_are_asked_for_count() -> None:
    older, newer = Wording("Nora drives a van."), Wording("Nora sold the van and rides a bike.")

    asked = answer_likelihood(Wording("What does Nora drive?"), older, newer)
    other = answer_likelihood(Wording("What does the greengrocer sell?"), older, newer)

    assert asked > other


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("geocoder p95 on node 43: 301 ms", "geocoder p95 on node 57: 399 ms"),
        ("run 17: loss 0.41", "run 18: loss 0.38"),
        ("Requests to hubcap time out after 12 seconds.", "Requests to outpost time out after 80 seconds."),
    ],
)
def test_two_words_that_differ_apart_tell_two_things_apart(older: str, newer: str) -> None:
    assert pair_likelihood(Wording(older), Wording(newer)) == 0.0


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("geocoder p95 on node 43: 301 ms", "geocoder p95 on node 43: 399 ms"),
        ("The release is on 2026-03-01.", "The release is on 2026-04-12."),
    ],
)
def test_one_number_or_date_that_differs_does_not(older: str, newer: str) -> None:
    assert pair_likelihood(Wording(older), Wording(newer)) > 0.0


def test_the_same_end_behind_another_beginning_is_another_subject() -> None:
    signs = _signs("The audit tier sends through RabbitMQ.", "The ingest tier sends through RabbitMQ.")

    assert signs["both begin apart"] == signs["the older differs first"] == 1.0
    assert signs["both end apart"] == 0.0


def test_a_former_value_is_named_last() -> None:
    assert _signs("Bea studies chemistry.", "Bea gave up on chemistry and studies law.")[
        "names the former last"
    ]
    assert not _signs("Bea studies chemistry.", "Bea studies law.")["names the former last"]
