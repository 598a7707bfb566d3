from __future__ import annotations

import pytest

from hexad.text.requests import QUESTION_CHARACTERS, SequenceForm, asks_for_work, sequence_form


@pytest.mark.parametrize(
    "question",
    [
        "Could you write me a helper that reads the settings?",
        "Please rewrite the loop that adds up the totals.",
        "How should I go about the next month?",
        "What should I base the web part on?",
        "How do generators work?",
        "I want to store birthdays, how do I do that?",
        "Draw me a diagram of it.",
        "What is a good way to collect opinions?",
        "Thanks! Can I make it faster?",
        "Any ideas for a logo?",
    ],
)
def test_a_request_wants_something_made_explained_or_advised(question):
    assert asks_for_work(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is my deadline?",
        "Who reviews my code?",
        "When did I start with the login page?",
        "What did you recommend for caching?",
        "Can you remind me when the board meets?",
        "How many libraries have I tried so far?",
        "Which bugs did I fix?",
        "How long was the service ever offline?",
        "In what order did I work on the parts?",
        "Give me an overview of everything I have built.",
    ],
)
def test_what_is_to_be_remembered_is_no_request(question):
    assert not asks_for_work(question)


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("In which order did we visit the islands?", SequenceForm.ORDER),
        ("Which happened earlier, the audit or the move?", SequenceForm.ORDER),
        ("Arrange these by when they took place: the audit, the move, the party.", SequenceForm.ORDER),
        ("How often did Priya call in sick?", SequenceForm.COUNT),
        ("How many candidates have we interviewed?", SequenceForm.COUNT),
        ("What did I spend, or how much have we donated in total?", SequenceForm.COUNT),
        ("All the times she missed a deadline", SequenceForm.LIST),
        ("Please list every bridge that they painted.", SequenceForm.LIST),
        ("Which museums has Omar visited?", SequenceForm.LIST),
        ("Can you tell me everything we agreed on about the lease?", SequenceForm.LIST),
        ("Summarize how the migration went.", SequenceForm.SUMMARY),
        ("How has my knee improved?", SequenceForm.SUMMARY),
    ],
)
def test_a_question_for_several_memories_is_known_by_its_form(question, form):
    assert sequence_form(question) is form


@pytest.mark.parametrize(
    "question",
    [
        "When did I last go to the gym?",
        "Which museum did Omar like best?",
        "How many pages does the report have?",
        "How many hours did the flight take?",
        "How does the migration work?",
        "In what order should I install these packages?",
        "sort a list of all files by date in python",
        "how to count every word of a text",
        "list comprehension for all even numbers",
        "Summarise this article for me.",
        "What did she say first?",
        "Who was the first to sign?",
    ],
)
def test_a_question_that_one_memory_answers_is_none(question):
    assert sequence_form(question) is None


def test_a_long_text_is_no_such_question():
    question = "How many times did I swim?"
    assert sequence_form(question + " " * QUESTION_CHARACTERS) is None


def test_a_question_of_many_words_is_read_at_once():
    assert sequence_form("which " + "a b c s " * 40) is None
