"""What is over by other words than those that told of it."""

from __future__ import annotations

import pytest

from hexad.memory.tables.updates import SURE
from hexad.text.claims.compare import UpdateReason, update_of
from hexad.text.claims.endings import ending_of
from hexad.text.claims.reader import claims

OVER = (
    ("I owe Ivo 30 euros.", "I paid Ivo back last week."),
    ("I owe my cousin 30 euros.", "I've settled up with my cousin."),
    ("Ivo owes me 30 euros.", "Ivo paid me back today."),
    ("I'm dating Noor.", "Noor and I broke up."),
    ("I'm dating Noor.", "I broke up with Noor two weeks ago."),
    ("Noor is my girlfriend.", "Noor and I split up."),
    ("Noor is engaged to Emil.", "Noor and Emil broke up in March."),
    ("I have an account at Fernbank.", "I closed my Fernbank account and opened a new one at Elm."),
    ("I have an account at Fernbank.", "My Fernbank account was closed."),
    ("My train to Lyon is on May 3.", "The Lyon train was cancelled."),
    ("I've booked a table at Marlow's for Friday.", "I cancelled the table at Marlow's."),
    ("I'm reading Middlemarch.", "I finished Middlemarch in May."),
    ("I borrowed a saw from Stefan.", "I gave the saw back to Stefan."),
    ("I lent Noor my tent.", "Noor returned my tent on Sunday."),
    ("Ken is our product manager.", "Ken left the company."),
    ("My roommate is Sunil.", "Sunil moved out last weekend."),
    ("I live with Sunil.", "Sunil moved out."),
    ("The scanner on floor 2 is broken.", "The scanner on floor 2 has been repaired."),
    ("Our bathroom tap is leaking.", "Ivo fixed our bathroom tap."),
)
HOLDS = (
    ("I owe Ivo 30 euros.", "Ivo paid me back."),
    ("I owe Ivo 30 euros.", "Noor paid Ivo back."),
    ("I owe Ivo 30 euros.", "I paid his brother back."),
    ("I owe Ivo 30 euros.", "I paid Ivo 10 euros."),
    ("I owe Ivo 30 euros.", "I paid Ivo half of it back."),
    ("I owe Ivo 30 euros.", "I paid Ivo for lunch."),
    ("I owe Ivo 30 euros.", "I never paid Ivo back."),
    ("I owe Ivo 30 euros.", "I will pay Ivo back."),
    ("I owe Ivo an apology.", "I paid Ivo back."),
    ("I owe Ivo 900 euros a month.", "I paid Ivo yesterday."),
    ("I live with Sunil and Emil.", "Sunil moved out."),
    ("Noor is my dance partner.", "Noor and I split up."),
    ("Ivo owes me 30 euros.", "I paid Ivo back."),
    ("I'm dating Noor.", "Noor and I broke up the meeting."),
    ("I'm dating Noor.", "Noor and I split up at the station."),
    ("I'm dating Noor.", "Noor and I split the bill."),
    ("I'm dating Noor.", "Noor broke up with Emil."),
    ("I'm seeing Noor on Friday.", "Noor and I broke up."),
    ("My sister is dating Emil.", "Emil and I broke up."),
    ("I have an account at Fernbank.", "I closed the Fernbank app."),
    ("I have an account at Fernbank.", "I closed my account at Elm."),
    ("I have an account at Fernbank.", "Noor closed her Fernbank account."),
    ("I have an account at Fernbank.", "I almost closed my Fernbank account."),
    ("My train to Lyon is on May 3.", "The train from Lyon was cancelled."),
    ("My train to Lyon is on May 3.", "The Lyon train on May 9 was cancelled."),
    ("My train to Lyon is on May 3.", "Her train to Lyon was cancelled."),
    ("My train to Lyon is on May 3.", "The Lyon concert was cancelled."),
    ("The standup is at 9:30.", "The standup was cancelled today."),
    ("I'm reading Middlemarch.", "I finished the first chapter of Middlemarch."),
    ("I lent Noor my tent.", "Noor returned my call."),
    ("I lent Noor my tent.", "Noor returned from her trip."),
    ("I borrowed a saw from Stefan.", "I gave Stefan a bottle of wine."),
    ("Ken is our product manager.", "Ken left the meeting."),
    ("Ken is our product manager.", "Ken left."),
    ("Ken is our product manager.", "Ken's assistant left the company."),
    ("My roommate is Sunil.", "Sunil moved out the old couch."),
    ("I live with Sunil.", "Sunil's sister moved out."),
    ("The scanner on floor 2 is broken.", "The scanner on floor 3 has been repaired."),
    ("Our bathroom tap is leaking.", "Ivo fixed our kitchen tap."),
)


@pytest.mark.parametrize(("old", "new"), OVER)
def test_what_is_over_by_other_words_is_ended(old: str, new: str) -> None:
    update = update_of(old, new)
    assert update is not None
    assert update.reason is UpdateReason.ENDED
    assert update.confidence >= SURE


@pytest.mark.parametrize(("old", "new"), HOLDS)
def test_what_is_of_others_or_of_something_else_ends_nothing(old: str, new: str) -> None:
    update = update_of(old, new)
    assert update is None or update.confidence < SURE


@pytest.mark.parametrize("text", ["I paid half of it back.", "I never paid Ivo back.", "The limit is 250."])
def test_what_is_denied_or_over_in_part_is_no_ending(text: str) -> None:
    assert [] == [ending for ending in map(ending_of, claims(text)) if ending is not None]


def test_an_ending_names_the_words_of_the_older_text() -> None:
    endings = [ending_of(claim) for claim in claims("I closed my Fernbank account last week.")]
    assert [("fernbank", "account")] == [ending.words for ending in endings if ending is not None]
