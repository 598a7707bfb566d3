"""The form of an answer: what a question asks for, and which of several sentences is built like an answer to it."""

from __future__ import annotations

import pytest

from hexad.text.claims.answer_form import SIGNS, WEIGHTS, QuestionForm, form_fits, form_signs


def test_every_sign_has_its_weight() -> None:
    form = QuestionForm("Where is it?")

    assert len(SIGNS) == len(set(SIGNS)) == len(form_signs(form, "It is there.")) == len(WEIGHTS)
    assert len(form_signs(form, "")) == len(SIGNS)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Where is the kiln?", "The kiln is in the cellar.", "The kiln has two doors."),
        ("Who is the fire warden?", "The fire warden is Oda.", "The fire warden is strict."),
        ("Who is the fire warden?", "Oda is the fire warden.", "The fire warden wears a vest."),
        (
            "When does the choir rehearse?",
            "The choir rehearses on Mondays.",
            "The choir rehearses in the chapel.",
        ),
        ("How many seats has the boat?", "The boat has 12 seats.", "The boat has leather seats."),
        ("What is the shop built with?", "The shop is built with Astro.", "The shop is built on each push."),
        ("Where does Oda work?", "Oda works at Linde.", "Oda's brother works at Linde."),
        ("Which printer is it?", "Printer: Brother", "Printer ink: Brother"),
    ],
)
def test_a_text_fits_that_is_built_like_an_answer(question: str, answer: str, other: str) -> None:
    right, wrong = form_fits(question, [answer, other])

    assert right.words >= wrong.words > 0
    assert right.worth > wrong.worth


def test_the_value_may_stand_beside_what_the_question_names() -> None:
    speed, hall = form_fits(
        "How fast is the opening song?",
        ["We do the opening song at 104 bpm.", "We do the opening song in the hall."],
    )

    assert speed.worth > hall.worth


def test_without_a_word_of_the_question_a_text_holds_none() -> None:
    assert [fit.words for fit in form_fits("Where is the kiln?", ["Oda sings.", ""])] == [0, 0]
    assert [fit.words for fit in form_fits("", ["Oda sings."])] == [0]


@pytest.mark.parametrize(
    "words", ["kiln cellar", "Why is the kiln old?", "Move the kiln to the cellar", "Is the kiln old?"]
)
def test_what_asks_for_no_value_is_fitted_by_nothing(words: str) -> None:
    assert [fit.worth for fit in form_fits(words, ["The kiln is in the cellar.", "Kiln: old"])] == [0.0, 0.0]
