"""What sentences claim."""

from __future__ import annotations

import pytest

from hexad.text.claims.reader import CHARACTERS_LIMIT, claims
from hexad.text.claims.words import Token, tokens_of


@pytest.mark.parametrize(
    "text",
    [
        "Should we move to Postgres?",
        "If the limit is 100, requests fail.",
        "We might move to Postgres.",
        "We plan to move to Postgres.",
        "The blog says the limit is 100.",
        'They told us "we moved to Postgres last year".',
        "Postgres.",
        "",
    ],
)
def test_what_asks_plans_supposes_or_quotes_claims_nothing(text: str) -> None:
    assert claims(text) == ()


@pytest.mark.parametrize(
    ("text", "subject", "value", "former"),
    [
        ("The rate limit is 250.", {"rat", "limit"}, ["250"], []),
        ("My sister lives in Porto now.", {"sister"}, ["Porto"], []),
        ("DB: Postgres (was MySQL)", {"db"}, ["Postgres"], [{"mysql"}]),
        ("We moved from MySQL to Postgres.", set(), ["Postgres"], [{"mysql"}]),
        ("Dana leads the platform team.", {"platform", "team"}, ["Dana"], []),
        ("port 8080 → 9090", {"port"}, ["9090"], [{"8080"}]),
    ],
)
def test_a_clause_is_read_as_subject_value_and_what_was(
    text: str, subject: set[str], value: list[str], former: list[set[str]]
) -> None:
    claim = claims(text)[0]
    assert subject == claim.subject
    assert value == [token.written for token in claim.value]
    assert former == list(claim.former)


def test_what_was_in_the_past_is_known_as_past() -> None:
    assert [True] == [claim.past for claim in claims("In 2019 we used Oracle.")]
    assert [False] == [claim.past for claim in claims("We use Oracle.")]


def test_a_long_text_claims_nothing() -> None:
    assert claims("The limit is 5. " * CHARACTERS_LIMIT) == ()


@pytest.mark.parametrize(
    "text", ["It's on team A; she'll pay 3 more than twenty → 40% (May), won't they? “No” – 2 - 1."]
)
def test_a_token_says_something_where_it_is_a_number_or_no_small_word(text: str) -> None:
    telling = [token.written for token in tokens_of(text) if token.content]

    assert ["team", "A", "pay", "3", "twenty", "40", "May", "2", "1"] == telling


def test_words_of_other_texts_change_nothing_of_a_text() -> None:
    texts = [
        "May I? It was team A in May.",
        "A team's don't can\u2019t",
        "Two of 3 apples, 4ms",
        "May team A in may",
    ]
    known: dict[str, Token] = {}

    assert [tokens_of(text) for text in texts] == [tokens_of(text, known) for text in texts]
    assert {"team"} <= known.keys()
    assert known.keys().isdisjoint({"A", "May"})  # what these are depends on where they stand
