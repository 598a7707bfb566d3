"""Marks by which near-duplicates and our own words are recognised."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.text.similarity.fingerprints import (
    BANDS,
    MIN_PASSAGE_WORDS,
    PASSAGES_LIMIT,
    ROWS,
    bands,
    jaccard,
    minhash,
    passage_hashes,
    shares_elsewhere,
    shingles,
)

WORDS = [f"word{number}" for number in range(200)]
LONG = "We ship the release candidate once recall stays under two hundred milliseconds on the small machine."


def test_shingles_are_runs_of_three_words_inside_a_sentence():
    assert frozenset({"we ship on", "ship on tuesday", "not friday"}) == shingles(
        "We ship on Tuesday. Not Friday!"
    )


@pytest.mark.row("A072")
def test_case_punctuation_spacing_and_sentence_order_make_no_difference():
    left = "Deploys happen on Tuesday morning.  Rollbacks need the on-call engineer!"
    right = "rollbacks need the ON-CALL engineer; deploys happen on tuesday, morning"

    assert shingles(left) == shingles(right.replace("; ", ". "))
    assert minhash(left) == minhash(right.replace("; ", ".\n"))


def test_a_changed_number_makes_a_difference():
    assert shingles("the port is 8080") != shingles("the port is 8081")


def test_a_script_without_spaces_is_compared_by_characters():
    assert 0.3 < jaccard(shingles("発売日は来週の火曜日です"), shingles("発売日は来週の金曜日です")) < 1.0


@pytest.mark.row("A072")
@pytest.mark.parametrize(("changed", "shares"), [(0, True), (1, True), (2, True), (60, False)])
def test_near_duplicates_share_a_band_and_others_do_not(changed, shares):
    left = " ".join(WORDS[:100])
    right = " ".join(["other", *WORDS[101:160]][:changed] + WORDS[changed:100])

    assert shares is bool(set(bands(minhash(left))) & set(bands(minhash(right))))


def test_signatures_estimate_the_jaccard_similarity():
    left, right = " ".join(WORDS[:150]), " ".join(WORDS[15:165])
    exact = jaccard(shingles(left), shingles(right))
    agreeing = sum(a == b for a, b in zip(minhash(left), minhash(right), strict=True))

    assert agreeing / (BANDS * ROWS) == pytest.approx(exact, abs=0.15)


@given(st.text(st.characters(exclude_categories=())))
def test_a_fingerprint_fits_an_integer_column_and_short_texts_have_none(text):
    marks = bands(minhash(text))

    assert len(marks) in (0, BANDS)
    assert all(-(2**63) <= mark < 2**63 for mark in (*marks, *passage_hashes(text)))
    assert () == bands(minhash("only four words here"))
    assert BANDS == len(bands(minhash("now there are five words")))


def test_fingerprints_are_the_same_in_every_process():
    script = f"from hexad.text.similarity.fingerprints import *; print(bands(minhash({LONG!r})), passage_hashes({LONG!r}))"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={})

    assert f"{bands(minhash(LONG))} {passage_hashes(LONG)}\n" == other.stdout


def test_jaccard_is_the_share_in_common():
    assert 0.5 == jaccard({"a", "b", "c"}, {"b", "c", "d"})
    assert 0.0 == jaccard(set(), set())
    assert 1.0 == jaccard(["a", "a"], {"a"})


@pytest.mark.parametrize(
    "handed_back",
    [
        f"- {LONG}",
        f"  * “{LONG}”",
        f"3. {LONG}",
        f"(12) {LONG}",
        f"> {LONG.upper()}",
        f"- [x] {LONG}",
        f"1. [0.83] {LONG}",
        f"- (score: 0.83) {LONG}",
        f"0.913 {LONG}",
        f"{LONG} (0.83)",
        f"{LONG} [score 0.8312]",
        f"Here is what I know:\n\n* {LONG} (relevance: .91)\n* Something else.",
        LONG.replace("stays ", "stays\n"),
        "> " + LONG.replace("stays ", "stays\n> "),
    ],
)
def test_our_own_words_are_recognised_when_they_come_back(handed_back):
    (mark,) = passage_hashes(LONG)

    assert mark in passage_hashes(handed_back)


@pytest.mark.parametrize("text", [LONG.replace("two", "three"), f"not {LONG}", LONG.replace("We", "They")])
def test_other_words_are_not_taken_for_ours(text):
    assert not set(passage_hashes(LONG)) & set(passage_hashes(text))


def test_a_number_that_is_no_score_stays_part_of_the_passage():
    assert passage_hashes("2024 was a good year") != passage_hashes("2023 was a good year")
    assert passage_hashes("the limit is now (10)") != passage_hashes("the limit is now (20)")


def test_passages_that_anybody_may_have_written_have_no_hash():
    assert () == passage_hashes("Thank you!\n\nok, done\n- yes")
    assert 1 == len(passage_hashes(" ".join(WORDS[:MIN_PASSAGE_WORDS])))


def test_each_passage_counts_once_and_their_number_is_bounded():
    assert 1 == len(passage_hashes(f"{LONG}\n\n{LONG}"))
    assert PASSAGES_LIMIT == len(passage_hashes("\n\n".join(f"this is line number {n}" for n in range(3000))))


@pytest.mark.parametrize(
    "text",
    [
        "." * 500_000,
        ". " * 200_000,
        "\n" * 500_000,
        " " * 500_000,
        "-" * 500_000,
        "(0.1 " * 100_000,
        "> " * 200_000,
    ],
)
def test_a_text_made_to_be_slow_is_answered(text):
    assert len(bands(minhash(text))) in (0, BANDS)
    assert len(passage_hashes(text)) <= 2


def test_the_module_imports_neither_rensa_nor_numpy():
    script = "import sys, hexad.text.similarity.fingerprints; print({'numpy', 'rensa'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert "set()\n" == run.stdout


@given(
    text=st.text(st.characters(max_codepoint=127))
    | st.from_regex(r"[a-zA-Z0-9 .,!?'\n-]{0,80}", fullmatch=True)
)
def test_a_letter_of_another_script_changes_nothing_of_the_shingles_before_it(text):
    assert shingles(text) | {"\u00e9"} == shingles(text + "\n\u00e9")


def test_a_text_of_four_words_has_no_signature_and_one_of_five_has():
    assert () == minhash("One two. Three four!")
    assert 70 == len(minhash("One two. Three four five!"))


@given(
    texts=st.lists(
        st.lists(st.sampled_from(["one", "two", "three", "four.", "Größe", "日本"]), max_size=12).map(
            " ".join
        ),
        max_size=6,
    )
)
def test_no_pair_is_more_alike_than_either_shares_with_all_others(texts):
    shares = shares_elsewhere(texts)

    assert len(texts) == len(shares)
    for at, mine in enumerate(texts):
        for place, other in enumerate(texts):
            if at != place:
                alike = jaccard(shingles(mine), shingles(other))
                assert alike <= shares[at], (mine, other)
                assert alike <= shares[place], (mine, other)


def test_what_a_text_shares_with_no_other_one_counts_for_nothing():
    assert [0.5, 1.0, 0.0] == shares_elsewhere(["a b c. d e f", "a b c", "x y z"])
    assert [] == shares_elsewhere([])
    assert [0.0] == shares_elsewhere(["..."])
