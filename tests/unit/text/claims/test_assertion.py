"""What a text says that does not say what is: what was, and what may be."""

from __future__ import annotations

import pytest

from hexad.text.claims.assertion import Assertion, assertion_of
from hexad.text.claims.likelihood import Wording

FORMER = (
    "The lamp used to hang in the hall.",
    "We used to have three tills.",
    "It was formerly known as Edo.",
    "Previously the map was drawn by hand.",
    "Back then the mill stood empty.",
    "In the past, the shop was open on Sundays.",
    "Until recently the server ran Exim.",
    "I had been a nurse.",
    "Noor had taught biology before.",
    "The forms were once printed in A4.",
    "Our former adviser was Mr. Brandt.",
    "My previous dentist was Dr. Hale.",
    "The ex-tenant of flat 4 is Gustav.",
    "She is a former nurse.",
    "Reports no longer use MySQL.",
    "We don't print labels any more.",
    "Formerly at Elm Clinic.",
    "Sana drove a van earlier in her career.",
)
POSSIBLE = (
    "We are considering releasing on Fridays.",
    "I am thinking about Stripe.",
    "The party might be in the barn.",
    "Ann may lead the team next year.",
    "I plan to commute by bike.",
    "We are planning a move to Bonn.",
    "I hope to move to Rome.",
    "The owner wants the shop to close on Mondays.",
    "The board proposes a fee of 55 euros.",
    "Someone suggested Postgres 16.",
    "Maybe the tests should run on Buildkite.",
    "I'd like the fence to be grey.",
    "What if we hosted the wiki elsewhere.",
    "If we took the larger plan, it would cost 300 euros.",
    "If we moved to Bonn, the rent is 900 euros.",
    "Suppose deliveries arrive at gate D.",
    "There is a proposal to version the API by path.",
    "Our goal is to answer within a day.",
    "Not sure whether lunch is at noon.",
    "Ida is supposed to sit in room 15 someday.",
)
WHAT_IS = (
    "The parser is written in Go; it used to be Perl.",
    "The job, which used to run at two, runs at four.",
    "The job used to run at two, and now it runs at four.",
    "The tram that used to run every ten minutes runs every six.",
    "Redis is used to cache sessions.",
    "The tool used to deploy is Ansible.",
    "I'm used to waking at six.",
    "The rate is 35 euros, previously 30.",
    "Port: 6001 (previously 6000)",
    "Rosa had to stop, so the captain is Ines.",
    "My niece, who had lived in Ghent, lives in Bruges.",
    "The rate had been raised to 5 percent.",
    "The server was originally set up by Ann, who maintains it.",
    "Previously unreleased tracks are on disk 2.",
    "We hired ten people in the past year.",
    "We moved from Oslo to Rome two years ago.",
    "Ms. Kern, the former tenant, is our landlord.",
    "Our former director lives in Spain.",
    "The former mill is our office.",
    "Meetings are no longer than 30 minutes.",
    "We no longer buy bread at Keller but at Sonne.",
    "Guests may use the kitchen.",
    "May is our busiest month.",
    "I would rather work mornings.",
    "I'd prefer tea.",
    "He wants coffee.",
    "We planned the sprint on Monday.",
    "The planning meeting is at eleven.",
    "Our goal is 200 signups.",
    "The limit is considered safe.",
    "Ideas are discussed on Mondays.",
    "We thought about it, and tea is served at five.",
    "We considered Kafka and use RabbitMQ.",
    "We were thinking of moving but stayed.",
    "If a build fails, call Ann.",
    "The code is 9027, in case you wonder.",
    "The API could not reach the database.",
    "Tests should be run before a push.",
)


@pytest.mark.parametrize("text", FORMER)
def test_what_was_is_told_by_the_grammar_of_a_clause(text: str) -> None:
    assert assertion_of(text) is Assertion.FORMER


@pytest.mark.parametrize("text", POSSIBLE)
def test_what_may_be_is_told_by_a_plan_a_wish_a_doubt_or_a_supposition(text: str) -> None:
    assert assertion_of(text) is Assertion.POSSIBLE


@pytest.mark.parametrize("text", WHAT_IS)
def test_a_text_with_a_clause_that_says_what_is_says_what_is(text: str) -> None:
    assert assertion_of(text) is None


@pytest.mark.parametrize(
    "text", ["", "…", "?", "Used to.", "ex-", "had", "Maybe", "if we", "would", "'d like to", "no longer"]
)
def test_fragments_are_read(text: str) -> None:
    assert assertion_of(text) in (None, Assertion.FORMER, Assertion.POSSIBLE)


@pytest.mark.parametrize(
    ("question", "text", "asks"),
    [
        ("Where did the server use to run?", "The server used to run in Oslo.", True),
        ("Where was the key originally?", "The key was originally under the mat.", True),
        ("Where is the key?", "The key was originally under the mat.", False),
        ("Which key is used?", "The key was originally under the mat.", False),
        ("Which day are we considering?", "We might release on Fridays.", True),
        ("What could the theme be?", "The theme could be green.", True),
        ("Where could I read about the theme?", "We are planning a green theme.", False),
        ("What is the theme?", "The theme could be green.", False),
    ],
)
def test_a_question_asks_for_what_was_or_may_be_by_its_own_words(
    question: str, text: str, asks: bool
) -> None:
    assert Wording(question).asks_for(Wording(text)) is asks


@pytest.mark.parametrize(
    ("text", "past"),
    [
        ("Which linter is used?", False),
        ("What is Redis used for?", False),
        ("Which linter was used?", True),
        ("Which linter have we used?", True),
        ("What is it that used to run here?", True),
    ],
)
def test_what_is_used_is_not_past(text: str, past: bool) -> None:
    assert Wording(text).tells_past is past
