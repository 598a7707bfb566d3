"""What compressed experience says of itself without a model."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hexad import CompressedRecord, CompressionLevel, compress_records
from hexad.experience.summaries import LEAST_CHARACTERS, NARRATIVE_CHARACTERS, Gist, digest, narrate

JULY = datetime(2025, 7, 3, 9, tzinfo=UTC)


def gist(
    level: CompressionLevel, *texts: str, concepts=("w::Parsing", "w::Storage"), tags=(), at=JULY
) -> Gist:
    return Gist(
        level=level,
        start_time=at,
        end_time=at,
        concepts={concept: 9.0 - rank for rank, concept in enumerate(concepts)},
        tags=tags,
        texts=texts,
    )


def word(number: int) -> str:
    """A word of its own for each number: sentences that differ in digits alone count as one."""
    return "".join("bdfgklmnprst"[int(digit)] + "aeiouaeiou"[int(digit)] for digit in str(number))


def sentences(count: int, what: str) -> str:
    return " ".join(
        f"The {what} of {word(at)} was looked at by the team on a rainy day." for at in range(count)
    )


@pytest.mark.row("H076")
@pytest.mark.parametrize(
    ("level", "at", "said"),
    [
        ("DAY", JULY, "On 3 July 2025 I worked mainly on Parsing and Storage."),
        ("WEEK", JULY, "In week 27 of 2025 I worked mainly on Parsing and Storage."),
        (
            "WEEK",
            datetime(2024, 12, 31, tzinfo=UTC),
            "In week 1 of 2025 I worked mainly on Parsing and Storage.",
        ),
        ("MONTH", JULY, "In July 2025 I worked mainly on Parsing and Storage."),
        ("QUARTER", JULY, "In 2025 Q3 I worked mainly on Parsing and Storage."),
        ("YEAR", JULY, "In 2025 I worked mainly on Parsing and Storage."),
    ],
)
def test_a_narrative_says_when_it_was_and_what_it_was_mainly_about(level, at, said):
    assert f"{said}\nThe parser is done." == narrate(
        gist(CompressionLevel[level], "The parser is done.", at=at)
    )


def test_three_topics_are_named_the_strongest_concepts_before_tags_and_by_their_names():
    names = {"t1": "release", "t2": "flaky", "w::Parsing": "Parsing of tables"}
    told = gist(
        CompressionLevel.MONTH, "It went well.", concepts=["w::Parsing", "x::y::Build"], tags=["t1", "t2"]
    )

    found = narrate(told, names=lambda text: names.get(text, text.rpartition("::")[2]))

    assert [
        "In July 2025 I worked mainly on Parsing of tables, Build and release.",
        "Tags: flaky.",
        "It went well.",
    ] == found.splitlines()


def test_a_topic_is_named_before_the_parts_of_a_stronger_one():
    told = gist(
        CompressionLevel.MONTH,
        "It went well.",
        concepts=["w::Parsing", "w::Grammar", "w::Lexer", "w::Storage", "w::Review"],
    )

    found = narrate(told, covered={"w::Grammar", "w::Lexer"})

    assert "In July 2025 I worked mainly on Parsing, Storage and Review." == found.splitlines()[0]


def test_a_topic_that_hardly_occurred_is_no_main_one():
    told = gist(CompressionLevel.MONTH, "It went well.")
    scores = {"w::Parsing": 90.0, "w::Grammar": 40.0, "w::Lexer": 30.0, "w::Storage": 1.0}

    found = narrate(replace(told, concepts=scores), covered={"w::Grammar", "w::Lexer"})

    assert "In July 2025 I worked mainly on Parsing, Grammar and Lexer." == found.splitlines()[0]


@pytest.mark.row("H075")
def test_a_session_is_told_by_its_own_sentences_alone():
    assert "We chose SQLite." == narrate(gist(CompressionLevel.SESSION, "We chose SQLite."))


def test_a_session_of_which_nothing_was_said_is_told_by_its_concepts():
    assert "On 3 July 2025 I worked mainly on Parsing and Storage." == narrate(
        gist(CompressionLevel.SESSION, "", "")
    )


def test_nothing_at_all_is_told_of_nothing_at_all():
    assert "" == narrate(gist(CompressionLevel.YEAR, "", concepts=()))


def test_first_lines_do_not_pile_up_from_level_to_level():
    now = [
        CompressedRecord(
            id=f"r{at}", level=CompressionLevel.SESSION, start_time=JULY + timedelta(days=at),
            end_time=JULY + timedelta(days=at), summary=f"Work item {at} was finished without any trouble at all.",
            top_k_activations={"w::Parsing": 1.0}, significant_tags=["release", "flaky", "later"],
        )
        for at in range(3)
    ]  # fmt: skip
    for level in list(CompressionLevel)[3:]:
        now = [compress_records(now, level)]

    lines = now[0].summary.splitlines()

    assert "In 2025 I worked mainly on Parsing, release and flaky." == lines[0]
    assert "Tags: later." == lines[1]
    assert 1 == now[0].summary.count("worked mainly on")
    assert 1 == now[0].summary.count("Tags:")
    assert 3 == now[0].summary.count("Work item")


@pytest.mark.row("H076")
@pytest.mark.parametrize(
    "said",
    [
        "On Tuesday evening I worked mainly on the lexer.",
        "In the morning I worked mainly on tables.",
        "The lexer was broken. In July 2025 I worked mainly on mending it.",
        "We sorted the questions.\nTags: these stand before the colon.",
    ],
)
def test_what_the_agent_said_in_such_words_itself_is_kept(said):
    now = CompressedRecord(
        id="r1", level=CompressionLevel.SESSION, start_time=JULY, end_time=JULY, summary=said,
        top_k_activations={"w::Parsing": 1.0},
    )  # fmt: skip
    for level in list(CompressionLevel)[3:]:
        now = compress_records([now], level)

    assert f"In 2025 I worked mainly on Parsing.\n{said}" == now.summary


@pytest.mark.row("H079")
def test_a_summary_is_shorter_than_what_it_replaces():
    texts = [sentences(4, part) for part in ("parser", "store", "index", "viewer")]

    found = narrate(gist(CompressionLevel.SESSION, *texts))

    assert LEAST_CHARACTERS < len(found) <= sum(map(len, texts)) // 2


def test_a_summary_of_very_much_is_short():
    texts = [sentences(30, word(at)) for at in range(300)]

    found = narrate(gist(CompressionLevel.YEAR, *texts))

    assert NARRATIVE_CHARACTERS // 2 < len(found) <= NARRATIVE_CHARACTERS


def test_what_comes_late_among_many_texts_is_considered_too():
    texts = [f"Nothing of note, {word(at)} said." for at in range(900)]
    late = [f"The migration to the new storage engine failed again at {word(at)}." for at in range(60)]

    assert "migration to the new storage engine" in digest([*texts, *late], 500)


def test_sentences_that_differ_in_numbers_alone_are_said_once():
    texts = [f"Step {at} of the import took {at * 7} seconds." for at in range(100)]

    found = digest([*texts, "Then the import was stopped because the disk was full."], 400)

    assert [
        "Step 0 of the import took 0 seconds.",
        "Then the import was stopped because the disk was full.",
    ] == found.splitlines()


def test_the_same_text_again_and_again_is_said_once():
    assert "Build passed." == digest(["Build passed."] * 50, 400)


def test_a_text_without_any_sentence_is_cut():
    assert len(digest(["a" * 5_000, "b" * 5_000], 300)) <= 300
