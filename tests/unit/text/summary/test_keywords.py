"""What a text is about, in a few words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.text.search_terms import QUESTION_WORDS, STOP_WORDS
from hexad.text.summary.keywords import ASKED_LIMIT, keywords

TEXT = "We decided to keep the checkpoint in SQLite. The checkpoint is slow, and the checkpoint blocks readers quickly."


def words(text, **options):
    return [word for word, _ in keywords(text, **options)]


def test_the_word_said_most_often_comes_first_and_stop_words_never():
    found = words(TEXT)

    assert "checkpoint" == found[0]
    assert not set(found) & STOP_WORDS
    assert found.index("sqlite") < found.index("readers") < found.index("quickly")


def test_a_word_that_is_in_every_document_gives_way_to_a_rare_one():
    spread = {"checkpoint": 1000, "sqlite": 900}

    found = words(TEXT, document_frequency=lambda word: spread.get(word, 3), documents=1000, limit=3)

    assert "checkpoint" not in found
    assert "sqlite" not in found


def test_identifiers_and_names_weigh_more_than_plain_words():
    found = words("a plain word, read_file, MemoryStore, WAL and Ann walking", limit=10)

    assert {"read_file", "memorystore", "wal", "ann"} == set(found[:4])
    assert "walking" == found[-1]


def test_numbers_and_data_do_not_count():
    assert [] == words("2024 12 3.14 0x0 " + "q" * 100 + " x")


def test_the_limit_holds_and_weights_fall():
    found = keywords(TEXT, limit=3)

    assert 3 == len(found)
    assert sorted((weight for _, weight in found), reverse=True) == [weight for _, weight in found]
    assert [] == keywords(TEXT, limit=0)


def test_few_words_are_looked_up_however_long_the_text():
    asked = []
    keywords(
        " ".join(f"word{n}x" for n in range(5000)),
        document_frequency=lambda word: len(asked) if asked.append(word) else 1,
        documents=10,
    )

    assert ASKED_LIMIT == len(asked)


def test_question_words_are_stop_words_too():
    assert QUESTION_WORDS < STOP_WORDS
    assert {"what", "when", "how"} <= QUESTION_WORDS


@given(st.text(), st.integers(0, 5))
def test_the_same_text_gives_the_same_words_and_each_once(text, limit):
    found = words(text, limit=limit)

    assert found == words(text, limit=limit)
    assert len(set(found)) == len(found) <= limit


@pytest.mark.parametrize(
    "text", ["a." * 300_000, "._" * 300_000, "a-" * 300_000, "A b\n" * 200_000, "x" * 600_000]
)
def test_a_text_made_to_be_slow_is_answered(text):
    assert len(keywords(text)) <= 8
