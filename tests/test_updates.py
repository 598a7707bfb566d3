"""What is said anew in plain words: the current text stands first, and nothing is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock, Hexad


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def hx(clock: FrozenClock) -> Iterator[Hexad]:
    with hexad.open(":memory:", embedder=None, clock=clock) as opened:
        yield opened


def tell(hx: Hexad, clock: FrozenClock, *texts: str) -> list[str]:
    """Store texts, a day apart, and return their ids."""
    ids = []
    for text in texts:
        ids.append(hx.remember(text).id)
        clock.advance(days=1)
    return ids


def test_the_current_text_stands_first_and_the_older_says_by_what_it_is_superseded(
    hx: Hexad, clock: FrozenClock
) -> None:
    old, new = tell(hx, clock, "My sister lives in Lisbon.", "My sister lives in Porto now.")
    hits = hx.recall("Is my sister living in Lisbon?")
    assert [new, old] == [hit.id for hit in hits]
    later = hits[1].superseded_by
    assert later is not None
    assert (new, "My sister lives in Porto now.", "value") == (later.id, later.text, later.reason)
    assert 0.7 <= later.confidence <= 1.0
    assert hits[0].superseded_by is None
    assert hits[1].to_dict()["superseded_by"] == later.to_dict()
    for hit in hits:
        assert sum(hit.parts.values()) == pytest.approx(hit.score)


def test_the_successor_is_brought_in_where_only_the_older_text_has_the_words(
    hx: Hexad, clock: FrozenClock
) -> None:
    old, new = tell(hx, clock, "Our database is MySQL.", "We moved from MySQL to Postgres.")
    hits = hx.recall("database")
    assert [new, old] == [hit.id for hit in hits]
    assert "successor" in hits[0].parts


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        (
            "I work as a cook at Elm Street Diner.",
            "I left Elm Street Diner and started at Harbour House.",
            "where I work",
        ),
        ("I owe Ivo 30 euros.", "I paid Ivo back yesterday.", "Do I owe Ivo anything?"),
        ("I'm dating Noor.", "Noor and I broke up.", "Am I dating Noor?"),
        ("I have an account at Fernbank.", "I closed my Fernbank account.", "Fernbank account"),
        ("My train to Lyon is on May 3.", "The Lyon train was cancelled.", "When is my train to Lyon?"),
        ("I'm taking zinc for my skin.", "I stopped taking zinc last week.", "Am I taking zinc?"),
        ("Our broker is RabbitMQ 3.9.", "We upgraded to RabbitMQ 4.0.", "broker RabbitMQ"),
        (
            "I'm allergic to latex.",
            "Turns out I'm not allergic to latex after all.",
            "Am I allergic to latex?",
        ),
    ],
)
def test_what_is_over_stands_behind_what_ended_it(
    hx: Hexad, clock: FrozenClock, older: str, newer: str, question: str
) -> None:
    _, old, _, new = tell(hx, clock, "Helen speaks Finnish.", older, "The river floods in spring.", newer)
    hits = [hit for hit in hx.recall(question, min_relevance=0) if hit.id in {old, new}]
    assert [new, old] == [hit.id for hit in hits]
    assert hits[1].superseded_by is not None
    assert new == hits[1].superseded_by.id


def test_of_a_chain_the_last_stands_first_and_all_older_ones_name_it(hx: Hexad, clock: FrozenClock) -> None:
    ids = tell(hx, clock, "The rate limit is 100.", "The rate limit is 250.", "rate limit: 300 (was 250)")
    hits = hx.recall("rate limit 100")
    assert ids[2] == hits[0].id
    assert {ids[0]: ids[2], ids[1]: ids[2]} == {
        hit.id: hit.superseded_by.id for hit in hits if hit.superseded_by is not None
    }


def test_what_names_the_former_value_supersedes_what_named_one_itself(hx: Hexad, clock: FrozenClock) -> None:
    first, second, last = tell(
        hx,
        clock,
        "We use MySQL for the orders.",
        "We moved from MySQL to Postgres for the orders.",
        "We switched from Postgres to SQLite for the orders.",
    )
    hits = {hit.id: hit.superseded_by for hit in hx.recall("the orders", min_relevance=0)}
    assert {first: last, second: last} == {no: later.id for no, later in hits.items() if later is not None}


def test_an_earlier_time_is_answered_as_it_was(hx: Hexad, clock: FrozenClock) -> None:
    old, _ = tell(hx, clock, "The rate limit is 100.", "The rate limit is 250.")
    at = clock.now().replace(microsecond=0)
    then = hx.recall("rate limit", as_of="2026-01-01T12:00:00Z")
    assert [(old, None)] == [(hit.id, hit.superseded_by) for hit in then]
    assert 2 == len(hx.recall("rate limit", as_of=at))


def test_what_is_only_similar_stands_by_itself(hx: Hexad, clock: FrozenClock) -> None:
    tell(hx, clock, "The rate limit of search is 100.", "The rate limit of upload is 250.")
    assert [None, None] == [hit.superseded_by for hit in hx.recall("rate limit")]


def test_a_text_that_is_written_later_and_held_before_takes_no_place(hx: Hexad) -> None:
    new = hx.remember("The rate limit is 250.", valid_from="2025-12-01")
    old = hx.remember("The rate limit is 100.", valid_from="2025-06-01")
    assert {new.id: None, old.id: new.id} == {
        hit.id: hit.superseded_by and hit.superseded_by.id for hit in hx.recall("rate limit")
    }


def test_what_is_trusted_less_takes_no_place(hx: Hexad, clock: FrozenClock) -> None:
    hx.remember("The rate limit is 100.", trust="user")
    clock.advance(days=1)
    hx.remember("The rate limit is 250.", trust="web")
    assert all(hit.superseded_by is None for hit in hx.recall("rate limit"))


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("The standup is at 9:30.", "The standup is at 10:30."),
        ("The rate limit is 250 now.", "The rate limit is 100."),
    ],
)
def test_what_is_trusted_less_is_not_lifted_over_what_is_trusted_more(
    hx: Hexad, clock: FrozenClock, mine: str, theirs: str
) -> None:
    own = hx.remember(mine, trust="user")
    clock.advance(days=1)
    hx.remember(theirs, trust="web")
    lifted = hx.recall("When is the standup, and what is the rate limit?", min_relevance=0)
    assert [0.0] * 2 == [hit.parts.get("successor", 0.0) for hit in lifted]
    assert own.id in {hit.id for hit in lifted}


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        ("Mina speaks French.", "Mina speaks Korean.", "Does Mina speak French?"),
        ("We met the client in Paris.", "We met the client in Rome.", "Did we meet the client in Paris?"),
        ("Ann fixed the login bug.", "Bo fixed the search bug.", "Who fixed the login bug?"),
    ],
)
def test_a_question_that_names_the_older_value_is_answered_by_the_older_text(
    hx: Hexad, clock: FrozenClock, older: str, newer: str, question: str
) -> None:
    first = tell(hx, clock, older, newer)[0]
    assert first == hx.recall(question)[0].id


def test_where_the_newer_is_forgotten_the_older_stands_again(hx: Hexad, clock: FrozenClock) -> None:
    old, new = tell(hx, clock, "The rate limit is 100.", "The rate limit is 250.")
    hx.forget(new)
    assert [(old, None)] == [(hit.id, hit.superseded_by) for hit in hx.recall("rate limit")]


def test_a_text_that_is_changed_is_looked_at_anew(hx: Hexad, clock: FrozenClock) -> None:
    hx.remember("The rate limit is 100.")
    clock.advance(days=1)
    hx.remember("The rate limit is 250.", id="limit")
    hx.remember("The upload page is slow.", id="limit")
    assert [None] == [hit.superseded_by for hit in hx.recall("rate limit")]


def test_spaces_do_not_supersede_each_other(hx: Hexad, clock: FrozenClock) -> None:
    hx.remember("The rate limit is 100.", space="red")
    clock.advance(days=1)
    hx.remember("The rate limit is 250.", space="blue")
    assert [None, None] == [hit.superseded_by for hit in hx.recall("rate limit")]


def test_the_receipt_names_what_seems_out_of_date(hx: Hexad, clock: FrozenClock) -> None:
    old, _ = tell(hx, clock, "The rate limit is 100.", "Tea is in the kitchen.")
    receipt = hx.remember("The rate limit is 250.").receipt
    assert receipt is not None
    assert any(old in note for note in receipt.notes)


def test_links_outlive_the_program(tmp_path: Path) -> None:
    clock = FrozenClock()
    with hexad.open(tmp_path, embedder=None, clock=clock) as hx:
        tell(hx, clock, "The rate limit is 100.", "The rate limit is 250.")
    with hexad.open(tmp_path, embedder=None, clock=clock) as hx:
        assert ["The rate limit is 250.", "The rate limit is 100."] == [
            hit.text for hit in hx.recall("limit 100")
        ]


def test_of_two_that_may_say_the_same_the_newer_stands_first_and_none_is_called_superseded(
    hx: Hexad, clock: FrozenClock
) -> None:
    old, new = tell(
        hx, clock, "The opening song is played at 96 bpm.", "It dragged: we do the opening song at 104 bpm."
    )
    hits = hx.recall("How fast is the opening song played?")
    assert [new, old] == [hit.id for hit in hits]
    assert hits[1].superseded_by is None
    assert "successor" in hits[0].parts


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        ("We use Python 3.10", "We upgraded to Python 3.12", "Which Python do we use?"),
        ("The API timeout is 30 seconds.", "We no longer have an API timeout.", "What is the API timeout?"),
        ("The release is planned for March 28", "The release slipped to April 10", "When is the release?"),
    ],
)
def test_a_text_that_tells_of_its_change_supersedes_however_differently_it_is_built(
    hx: Hexad, clock: FrozenClock, old: str, new: str, question: str
) -> None:
    tell(hx, clock, old, "The docs are on a wiki.", new)
    hits = hx.recall(question)
    assert [new, old] == [hit.text for hit in hits]
    assert hits[1].superseded_by is not None
    assert hits[1].superseded_by.text == new


def test_a_version_of_something_else_supersedes_nothing(hx: Hexad, clock: FrozenClock) -> None:
    tell(hx, clock, "We use Python 3.10", "We upgraded to Node 20", "Ben's laptop runs Python 3.11")
    assert [None, None, None] == [hit.superseded_by for hit in hx.recall("python node", min_relevance=0)]


def test_what_is_merely_near_is_no_newer_answer_than_what_surely_is(hx: Hexad, clock: FrozenClock) -> None:
    tell(hx, clock, "Ella's laptop is a ThinkPad.", "Ella's laptop is a Framework.")
    tell(hx, clock, "Ella's laptop is two years old.")
    assert hx.recall("What is Ella's laptop?")[0].text == "Ella's laptop is a Framework."


def test_to_a_question_about_the_past_the_older_is_not_moved_behind(hx: Hexad, clock: FrozenClock) -> None:
    old, _ = tell(
        hx, clock, "The opening song is played at 96 bpm.", "It dragged: we do the opening song at 104 bpm."
    )
    assert hx.recall("How fast was the opening song played before?")[0].id == old


def test_of_another_subject_the_newer_stands_behind_what_is_asked_for(hx: Hexad, clock: FrozenClock) -> None:
    old, _ = tell(
        hx, clock, "The opening song is played at 96 bpm.", "The closing song is played at 104 bpm."
    )
    assert hx.recall("How fast is the opening song played?")[0].id == old


def test_what_differs_as_updates_seldom_do_is_not_called_superseded(hx: Hexad, clock: FrozenClock) -> None:
    tell(hx, clock, "Flo: my train is at six.", "Gus: my train is at seven.")
    assert [hit.superseded_by for hit in hx.recall("my train")] == [None, None]


def test_what_is_said_of_another_of_many_alike_is_no_newer_answer(hx: Hexad, clock: FrozenClock) -> None:
    asked, *_ = tell(
        hx,
        clock,
        "Service hubcap runs version 6.8.0.",
        "Service outpost runs version 3.13.8.",
        "Service kingpin runs version 7.20.0.",
    )
    hits = hx.recall("Which version does hubcap run?")
    assert hits[0].id == asked
    assert all("successor" not in hit.parts for hit in hits)


@pytest.mark.parametrize(
    "texts",
    [
        ("Shopping: oat milk.", "Shopping: bananas."),
        ("Attendee: Lin.", "Attendee: Omar."),
        ("Leo works on the parser.", "Leo works on the lexer."),
        ("Our customer is Norr.", "Our customer is Syd."),
    ],
)
def test_what_there_may_be_several_of_is_not_called_superseded(
    hx: Hexad, clock: FrozenClock, texts: tuple[str, str]
) -> None:
    older, _ = tell(hx, clock, *texts)
    assert not list(hx.links(older))
    assert all(text in hx.context(texts[0]).render("markdown") for text in texts)


def test_what_is_said_again_takes_the_place_of_what_had_superseded_it(hx: Hexad, clock: FrozenClock) -> None:
    first, second = tell(hx, clock, "Rent is 900 euros.", "Rent is 950 euros.")
    between = clock.now()
    clock.advance(days=1)
    receipt = hx.remember("Rent is 900 euros.").receipt
    assert receipt is not None
    assert (receipt.outcome.value, [old.id for old in receipt.supersedes]) == ("evidence", [second])
    assert "current again" in " ".join(receipt.notes)
    links = [(link.source.id, link.target.id, link.reason) for link in hx.links(first)]
    assert links == [(first, second, "said again")]
    clock.advance(days=1)
    hits = hx.recall("how much is the rent?")
    assert [(hit.memory.id, bool(hit.superseded_by)) for hit in hits] == [(first, False), (second, True)]
    then = {hit.memory.id: hit.superseded_by for hit in hx.recall("how much is the rent?", as_of=between)}
    assert then[second] is None
    third = hx.remember("Rent is 990 euros.").id
    assert hx.recall("how much is the rent?")[0].memory.id == third
    clock.advance(days=1)
    hx.remember("Rent is 1,000 euros.")
    clock.advance(days=1)
    hx.remember("Rent is 900 euros.", tags=["home"])
    marked = {hit.memory.id for hit in hx.recall("rent", min_relevance=0) if hit.superseded_by}
    assert first not in marked
    assert len(marked) == 3


def test_what_was_said_by_somebody_else_or_held_before_is_not_current_again(
    hx: Hexad, clock: FrozenClock
) -> None:
    first, second = tell(hx, clock, "Rent is 900 euros.", "Rent is 950 euros.")
    hx.remember("Rent is 900 euros.", trust="web")
    hx.remember("Rent is 900 euros.", valid_from="2020-01-01")
    assert [(link.source.id, link.target.id) for link in hx.links(first)] == [(second, first)]


def test_an_echo_of_what_is_superseded_says_so_and_changes_nothing(hx: Hexad, clock: FrozenClock) -> None:
    text = "The rent of the flat in Elm Street is 900 euros per month, paid to the landlord."
    first, second = tell(hx, clock, text, text.replace("900", "950"))
    assert any(hit.memory.id == first for hit in hx.recall("rent of the flat in Elm Street"))
    receipt = hx.remember(text).receipt
    assert receipt is not None
    assert receipt.outcome.value == "echo"
    assert f"superseded by {second}" in " ".join(receipt.notes)
    assert f"hexad memory link {first} {second} --kind supersedes" in " ".join(receipt.notes)
    assert [(link.source.id, link.target.id) for link in hx.links(first)] == [(second, first)]


def test_what_is_back_where_it_was_supersedes_what_was_in_between(hx: Hexad, clock: FrozenClock) -> None:
    _, moved, back = tell(
        hx,
        clock,
        "The wiki is on Confluence.",
        "The wiki moved to Notion.",
        "The wiki is back on Confluence.",
    )
    assert [link.source.id for link in hx.links(moved) if link.target.id == moved] == [back]


def test_texts_of_hardly_a_word_are_stored(hx: Hexad) -> None:
    words = "to be no longer used deleted not anymore it was now instead of we".split()
    for number, pair in enumerate(permutations(words, 3)):
        if number % 7 == 0:  # all of them were tried once
            hx.remember(f"{' '.join(pair).capitalize()}.")

    assert [] == hx.check()


def test_who_was_there_too_is_not_what_an_older_text_is_about(hx: Hexad, clock: FrozenClock) -> None:
    old, _ = tell(hx, clock, "I went to the gym again with Ines.", "Ines moved to Porto.")

    hits = hx.recall("Did I go to the gym?")
    assert old == hits[0].id
    assert hits[0].superseded_by is None


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Bob's boat {} sails on Monday at dawn.", "which boat 1 sails?"),
        ("Server {} runs Debian and belongs to team red.", "server 1"),
        ("Room {} on the second floor has a projector.", "Does room 1 have a projector?"),
        ("Gate {}: the lamp of the keeper is broken.", "gate 1"),
    ],
)
def test_what_has_a_number_for_a_name_is_not_put_behind_the_next(
    hx: Hexad, clock: FrozenClock, text: str, question: str
) -> None:
    for number in range(4):
        hx.remember(text.format(number))
        clock.advance(days=1)

    best = hx.recall(question)[0]
    assert text.format(1) == best.text
    assert best.superseded_by is None


def test_a_number_that_is_the_value_is_replaced_by_the_next(hx: Hexad, clock: FrozenClock) -> None:
    hx.remember("The rate limit is 100 requests a minute.")
    clock.advance(days=1)
    new = hx.remember("The rate limit is 250 requests a minute.").id

    for question in ("rate limit", "Is the rate limit 100?"):
        assert new == hx.recall(question)[0].id


def test_why_somebody_moved_does_not_hide_that_they_did(hx: Hexad, clock: FrozenClock) -> None:
    old, new = tell(hx, clock, "Bob lives in Paris.", "Bob relocated to Berlin for work.")

    hits = hx.recall("Where does Bob live?")

    assert [new, old] == [hit.id for hit in hits]
    assert hits[1].superseded_by is not None


@pytest.mark.parametrize(
    ("now", "other", "question", "about", "assertion"),
    [
        (
            "The billing API listens on port 8200.",
            "The billing API used to listen on port 8100.",
            "Which port does the billing API listen on?",
            "Which port did the billing API use to listen on?",
            "former",
        ),
        (
            "The mail server runs Postfix.",
            "Until recently the mail server ran Exim.",
            "What does the mail server run?",
            "What did the mail server run until recently?",
            "former",
        ),
        (
            "The ferry leaves from pier 7.",
            "The ferry no longer leaves from pier 2.",
            "From which pier does the ferry leave?",
            "Which pier does the ferry no longer leave from?",
            "former",
        ),
        (
            "We release on Tuesdays.",
            "We are considering releasing on Fridays.",
            "On which day do we release?",
            "On which day are we considering releasing?",
            "possible",
        ),
        (
            "The offsite is in Leipzig.",
            "The offsite might be in Dresden.",
            "Where is the offsite?",
            "Where might the offsite be?",
            "possible",
        ),
    ],
)
def test_what_was_or_may_be_stands_behind_what_is_unless_it_is_asked_for(
    hx: Hexad, clock: FrozenClock, now: str, other: str, question: str, about: str, assertion: str
) -> None:
    for texts in ((now, other), (other, now)):
        for memory_id in [hit.id for hit in hx.recall(question)]:
            hx.forget(memory_id, purge=True, confirm=True)
        tell(hx, clock, *texts)

        hits = hx.recall(question)
        assert [(now, None), (other, assertion)] == [(hit.text, hit.assertion) for hit in hits]
        assert hits[0].superseded_by is None
        assert assertion == hits[1].to_dict()["assertion"] == hits[1].passage()["assertion"]
        assert "assertion" not in hits[0].to_dict()
        assert other == hx.recall(about)[0].text


def test_what_says_that_just_the_older_text_is_so_no_more_stands_before_it(
    hx: Hexad, clock: FrozenClock
) -> None:
    old, new = tell(hx, clock, "The server runs Exim.", "The server ran Exim until recently.")
    assert [new, old] == [hit.id for hit in hx.recall("What does the server run?")]


def test_of_two_plans_the_newer_one_stands_first(hx: Hexad, clock: FrozenClock) -> None:
    old, new = tell(hx, clock, "I plan to commute by tram.", "I plan to commute by bike.")
    assert [new, old] == [hit.id for hit in hx.recall("How do I plan to commute?")]


def test_what_was_keeps_its_place_before_what_is_of_somebody_else(hx: Hexad, clock: FrozenClock) -> None:
    was, _ = tell(hx, clock, "Ann used to live in Bonn.", "Ben lives in Rome.")
    assert was == hx.recall("Where does Ann live?")[0].id


def test_a_long_text_and_a_question_say_nothing_of_what_was(hx: Hexad) -> None:
    for text in ("The lamp used to hang here. " * 20, "Did the lamp use to hang here?"):
        hx.remember(text)
    assert {None} == {hit.assertion for hit in hx.recall("lamp")}
