"""Which short texts say the same, and which only have the same words."""

from __future__ import annotations

import pytest

from hexad.text.similarity.nearness import ComparedText, near_marks, nearness
from hexad.text.similarity.short_texts import CHARACTERS_LIMIT, MarkWords, short_mark, short_text


def near(text: str, other: str) -> float:
    """Return the nearness of two texts, asked both ways and only where their marks would bring them together."""
    found = nearness(ComparedText.of(text), ComparedText.of(other))
    assert found == nearness(ComparedText.of(other), ComparedText.of(text))
    return found if set(near_marks(text)) & set(near_marks(other)) else 0.0


@pytest.mark.parametrize(
    "other",
    [
        "the rate limit of the api is 100 requests",
        "Rate limit of the API: 100 requests!!",
        "The rate limit of the API is now 100 requests.",
        "By the way, the API's rate limits are 100 requests.",
        "The rate limits of the API are 100 requests. Thanks!",
    ],
)
def test_what_differs_in_small_words_and_endings_is_near(other: str) -> None:
    text = "The rate limit of the API is 100 requests."
    if "API's" in other:
        text = "The API rate limit is 100 requests."

    assert 0.5 < near(text, other) <= 1


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("We deploy on Fridays.", "On Fridays, we deploy."),
        ("Stock levels are synchronised with SAP every five minutes.", "Every five minutes, stock levels are synchronised with SAP."),
        ("I don't drink coffee.", "I do not drink coffee"),
        ("Größe und Farbe stehen im Katalog.", "größe und farbe stehen im Katalog!"),
    ],
)  # fmt: skip
def test_a_phrase_may_come_first_and_words_may_be_drawn_together(text: str, other: str) -> None:
    assert near(text, other) > 0.5


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The rate limit is 100.", "The rate limit is 250."),
        ("The timeout is 10 ms.", "The timeout is 10 s."),
        ("Ann pays Ben on Fridays.", "Ben pays Ann on Fridays."),
        ("The train goes from Oslo to Rome.", "The train goes to Oslo from Rome."),
        ("I eat fish.", "I do not eat fish."),
        ("Milk and no sugar, says Ann.", "No milk and sugar, says Ann."),
        ("Ann lives in Porto.", "Ann lived in Porto."),
        ("The server is down.", "The server was down."),
        ("We should move to Postgres.", "We move to Postgres."),
        ("The gate code is 1188.", "Is the gate code 1188?"),
        ("If the gate code is 1188, enter.", "The gate code is 1188, enter."),
        ("The club has 140 members.", "The other club has 140 members."),
        ("Turn the cache on at night.", "Turn the cache off at night."),
        ("My brother lives in Porto.", "Her brother lives in Porto."),
        ("The standup is always at nine.", "The standup is sometimes at nine."),
        ("All tests passed on Linux.", "Some tests passed on Linux."),
        ("He says: the lake is frozen solid.", "The lake is frozen solid."),
        ("Thanks!", "Thanks a lot!"),
    ],
)
def test_what_says_something_else_is_not_near(text: str, other: str) -> None:
    assert 0.0 == near(text, other)


def test_a_long_text_is_compared_by_runs_of_words_alone() -> None:
    text = " ".join(f"Word{n} follows." for n in range(60))

    assert len(text) > CHARACTERS_LIMIT
    assert short_text(text) is None
    assert 1.0 == near(text, text.upper())
    assert 0.0 == near(text, text.replace("follows", "follow"))


def test_words_of_other_texts_change_nothing_of_a_mark() -> None:
    texts = [
        "May I? It was team A in May.",
        "A team's don't can\u2019t",
        "Two of 3 apples, 4ms; by the way, they're $5 each. Thanks!",
        "OK: thanks. May team A in may, not 1,000 - but twenty?",
        "By the way, the ÜBER-service moved → 10.0.0.1",
    ]
    known = MarkWords()
    marks = [short_mark(text, known) for text in texts]

    shorts = [short_text(text) for text in texts]
    assert [None if short is None else short.mark for short in shorts] == marks
    assert marks == [short_mark(text, known) for text in texts]
    assert {"team", "Thanks"} <= known.keys()
