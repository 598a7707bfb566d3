from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hexad.errors import InvalidInput, LimitExceeded
from hexad.search.recall.query_terms import (
    LIMIT_MOST,
    RecallOptions,
    check_query,
    names_speaker,
    searched_terms,
    understand,
    without_names,
)

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def test_the_telling_words_of_a_question_are_wanted_and_the_others_are_named() -> None:
    terms = understand("What did the heron eat yesterday?", now=NOW)

    assert {"heron", "eat"} <= set(terms.wanted)
    assert {"what", "did", "the"} <= set(terms.ignored)
    assert set(terms.wanted).isdisjoint(terms.ignored)
    assert terms.words == {*terms.wanted, *terms.ignored}


def test_a_question_of_nothing_but_common_words_is_searched_for_them() -> None:
    assert () != understand("What is it about?", now=NOW).wanted


def test_identifiers_are_searched_whole_and_in_their_words() -> None:
    wanted = understand("where is parseHttpHeader or raw_bytes?", now=NOW).wanted

    assert {"parsehttpheader", "parse", "http", "header", "raw", "bytes"} <= set(wanted)


def test_a_date_in_a_question_is_understood() -> None:
    dates = understand("what happened in March 2026?", now=NOW).dates

    assert dates is not None
    assert (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)) == (dates.start, dates.end)
    assert understand("what happened to the heron?", now=NOW).dates is None


def test_full_text_is_asked_for_the_terms_that_occur() -> None:
    assert ["heron", "nest"] == searched_terms(("heron", "unknown", "nest"), {"heron": 3, "nest": 1})
    assert [] == searched_terms(("unknown",), {})


def test_in_a_large_store_common_terms_are_dropped_but_never_the_two_rarest() -> None:
    million = 1_000_000
    frequencies = {"rare": 5, "usual": million // 2, "everywhere": million - 1, "seldom": 40}

    assert ["rare", "seldom"] == searched_terms(("everywhere", "rare", "usual", "seldom"), frequencies)
    assert ["everywhere", "usual"] == searched_terms(("everywhere", "usual"), frequencies)


@pytest.mark.parametrize(
    ("speaker", "question", "expected"),
    [
        ("ada", "what did Ada say?", True),
        ("ada lovelace", "what did Lovelace say?", True),
        ("ada", "what is an adage?", False),
        ("user", "what does the user want?", False),
        ("assistant", "ask the assistant", False),
        ("x", "what is x?", False),
        ("größe", "was sagt größe?", True),
        ("user", "where do I live?", True),
        ("human", "what is my sister's name?", True),
        ("assistant", "where do I live?", False),
    ],
)
def test_a_speaker_is_named_by_any_word_of_the_name_but_not_by_a_role(
    speaker: str, question: str, expected: bool
) -> None:
    assert expected == names_speaker(speaker, understand(question, now=NOW).words)


@pytest.mark.parametrize(
    ("question", "speakers", "expected"),
    [
        ("What did Ada's sister paint?", ["ada lovelace"], "What did sister paint?"),
        ("When did ADA and Bob meet?", ["ada", "bob"], "When did and meet?"),
        ("What is an adage?", ["ada"], "What is an adage?"),
        ("Who is Ada?", ["ada"], "Who is Ada?"),
        ("Where do I live?", ["user"], "Where do I live?"),
    ],
)
def test_names_of_speakers_leave_a_question_that_tells_more(
    question: str, speakers: list[str], expected: str
) -> None:
    assert expected == without_names(question, speakers)


def test_what_stands_in_backticks_is_a_token_and_no_phrase() -> None:
    terms = understand('Which module helps `Compiler` to "look up" 8.2.0?', now=NOW)

    assert (("look up",), ("Compiler", "8.2.0")) == (terms.phrases, terms.tokens)


def test_options_know_their_limits() -> None:
    assert LIMIT_MOST == RecallOptions(limit=LIMIT_MOST).limit
    for options in ({"limit": 0}, {"limit": LIMIT_MOST + 1}, {"max_tokens": 0}):
        with pytest.raises(InvalidInput):
            RecallOptions(**options)


def test_a_question_has_words_and_an_end() -> None:
    assert " x " == check_query(" x ")
    with pytest.raises(InvalidInput):
        check_query("\n")
    with pytest.raises(LimitExceeded):
        check_query("x" * 100_001)
