"""Summaries by extraction."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.text.summary.code_outline import outline
from hexad.text.summary.sentences import sentences
from hexad.text.summary.summarize import (
    CHOSEN_LIMIT,
    LONG_LIMIT,
    MICRO_LIMIT,
    SHORT_LIMIT,
    clamp,
    most_central,
    summaries,
)

ARTICLE = """
The write-ahead log keeps every committed transaction until a checkpoint copies it. Readers do not block the
writer, and the writer does not block readers. A checkpoint copies pages of the log back into the database file.
When the log grows past a thousand pages, the writer runs a checkpoint after its commit. Lunch was late that day.
Readers that stay open keep a checkpoint from finishing, and the log grows. The log is reset once no reader needs
its pages. Somebody brought a cake. Backups must copy the database file and the log together. A lost log loses
committed transactions. Therefore the store syncs the log before it acknowledges a commit. The sync costs about a
millisecond on the disks that we tried. Several writers share one sync when they wait together. Each process keeps
its own connection, and no connection crosses a fork. The busy time-out is five seconds by default.
""".strip()


@pytest.mark.row("L026")
def test_a_micro_summary_is_one_or_two_sentences_on_one_line():
    micro = summaries(ARTICLE).micro

    assert len(micro) <= MICRO_LIMIT
    assert "\n" not in micro
    assert 1 <= len(sentences(micro)) <= 2
    assert micro.startswith(
        "The write-ahead log keeps every committed transaction until a checkpoint copies it."
    )


@pytest.mark.row("L027")
def test_a_short_summary_is_a_paragraph_of_whole_sentences_in_their_order():
    short = summaries(ARTICLE).short
    flat = " ".join(ARTICLE.split())
    places = [flat.index(short[start:end]) for start, end in sentences(short)]

    assert 160 < len(short) <= SHORT_LIMIT
    assert sorted(places) == places
    assert "cake" not in short
    assert "Lunch" not in short


@pytest.mark.row("L027")
def test_a_short_summary_of_a_list_has_its_items_on_lines_of_their_own():
    items = [
        f"- Step {n} copies the {what} to the store before it is checked."
        for n, what in enumerate(["log", "index", "cache", "table", "key", "page", "text", "image", "note"])
    ]
    short = summaries("How a backup is made.\n\n" + "\n".join(items)).short

    *listed, last = short.splitlines()
    assert len(listed) >= 2
    assert {*listed, last} <= {"How a backup is made.", *items}
    assert SHORT_LIMIT - 90 < len(short) <= SHORT_LIMIT


@pytest.mark.row("L028")
def test_a_long_summary_says_more_than_the_short_one():
    found = summaries(ARTICLE * 3)

    assert len(found.short) < len(found.long) <= LONG_LIMIT
    assert "…" not in found.long


def test_a_text_short_enough_is_its_own_summary():
    found = summaries("  Deploys happen on Tuesday.\n")

    assert "Deploys happen on Tuesday." == found.micro == found.short == found.long


def test_two_sentences_that_fit_are_both_in_the_micro_summary():
    assert (
        "We ship on Tuesday. Never on Friday."
        == summaries("We ship on Tuesday. Never on Friday. Ask Ann.").micro
    )


def test_an_empty_text_gives_its_title_or_nothing():
    assert "" == summaries(" \n").micro
    assert "Release notes" == summaries("", title="Release  notes").micro


def test_a_list_stays_a_list_and_markup_goes():
    text = "# Release\n\n" + "\n".join(
        f"- **step {n}**: run `make step{n}` and read what it says, twice if need be" for n in range(30)
    )
    short = summaries(text).short

    assert short.startswith("- step 0: run make step0 and")
    assert all(line.startswith("- ") for line in short.split("\n"))
    assert "*" not in short


def test_headings_are_the_summary_only_where_there_is_nothing_else():
    assert "Second one" not in summaries("# First one\n\nSome text.\n\n# Second one").micro
    assert "First one Second one" == summaries("# First one\n# Second one").micro


def test_the_title_draws_sentences_that_share_its_words():
    sentences_of_equal_weight = [f"The {word} of this machine is made in {place} every year." for word, place in
                                 zip(["gear", "lamp", "belt", "valve", "pump"], ["Ulm", "Bonn", "Hamm", "Gera", "Kiel"], strict=True)]  # fmt: skip

    assert 0 == most_central(sentences_of_equal_weight)[0]
    assert 1 == most_central(sentences_of_equal_weight, title="Lamp")[0]


def test_a_repeated_sentence_is_chosen_once_before_others():
    said = ["The cache is cleared at night by a job."] * 3 + [
        "Vectors are kept in float sixteen on the disk."
    ]

    assert 3 in most_central(said)[:2]
    assert CHOSEN_LIMIT == len(most_central(["One sentence about nothing much at all."] * 100))


def test_what_was_not_said_yet_comes_before_the_like_of_what_was():
    times = ["at night", "at noon", "at dusk", "at dawn"]
    alike = [f"The cache of our small server is cleared {time} by a job." for time in times]
    others = [
        "Float vectors stay on the disk of the store for speed.",
        "The disk of the store is copied by a backup each week.",
        "A backup of float vectors takes an hour on the old disk.",
        "Writers wait for the store until the backup is done.",
    ]

    assert [0, 4] == most_central([*alike, *others])[:2]


def test_a_long_sentence_is_cut_at_a_word_with_an_ellipsis():
    micro = summaries("alpha beta gamma, " * 60).micro

    assert len(micro) <= MICRO_LIMIT
    assert micro.endswith(("alpha…", "beta…", "gamma…"))


def test_a_script_without_spaces_is_cut_between_characters():
    found = summaries("発売日は来週の火曜日です" * 80 + "か\u3099" * 400)

    assert MICRO_LIMIT == len(found.micro)
    assert SHORT_LIMIT >= len(found.short) > 400


def test_sentences_of_a_script_without_spaces_are_ranked():
    text = "".join(f"第{n}章では保存領域の設計について詳しく説明する。" for n in range(60))

    assert summaries(text).micro.endswith("。")
    assert "第0章" in summaries(text).short


CODE = '''#!/usr/bin/env python
# Copyright 2024 Somebody. All rights reserved.
"""Read and write the manifest.

Every segment has one row.
"""

import os


def read_manifest(path):
    """Return the rows."""
    with open(path) as file:
        return file.read()


class Manifest:
    def add(self, row):
        self.rows.append(row)
'''


def test_code_is_summarised_by_its_docstring_and_the_names_it_defines():
    expected = "Read and write the manifest. Every segment has one row."

    assert expected == summaries(CODE).micro
    assert [*expected.replace(". ", ".|").split("|"), "Defines read_manifest, Manifest, add."] == outline(
        CODE
    )


@pytest.mark.parametrize(
    ("code", "micro"),
    [
        ("def paste(x):\n    return x.y()\n", "Defines paste."),
        (
            "// Copyright X\n\n// Opens the door.\nexport async function openDoor(a) {\n  return a;\n}\n",
            "Opens the door. Defines openDoor.",
        ),
        ("package main\n\nimport (\n)\n\nfunc (s *Server) Run() error {\n\treturn nil\n}\n", "Defines Run."),
        ("pub fn parse(x: u8) -> u8 {\n    x + 1\n}\n", "Defines parse."),
        ("a = 1\nb = 2\nc = 3\n", "a = 1 b = 2"),
    ],
)
def test_code_without_a_docstring_is_described_by_comment_names_or_first_lines(code, micro):
    assert micro == summaries(code).micro


@pytest.mark.parametrize(
    "text",
    [
        ARTICLE,
        "Plain (very) words.",
        "- one\n- two\n- three",
        "From here on, we wait.\nFor now.",
        "Alice: hi there (again)\nBob: hello",
    ],
)
def test_prose_is_not_taken_for_code(text):
    assert outline(text) is None


@given(st.text(st.characters(exclude_categories=())), st.none() | st.text(max_size=300))
def test_any_text_has_summaries_within_their_limits(text, title):
    found = summaries(text, title=title)

    assert len(found.micro) <= MICRO_LIMIT
    assert len(found.short) <= SHORT_LIMIT
    assert len(found.long) <= LONG_LIMIT
    assert found == summaries(text, title=title)
    assert "\n" not in found.micro


@given(st.lists(st.text("abcde .!?\n-#", min_size=1, max_size=80), min_size=5, max_size=40).map("\n".join))
def test_longer_texts_keep_within_the_limits_too(text):
    found = summaries(text)

    assert len(found.micro) <= MICRO_LIMIT
    assert len(found.short) <= SHORT_LIMIT
    assert len(found.long) <= LONG_LIMIT
    assert bool(text.strip()) is bool(found.micro)


def test_summaries_are_the_same_in_every_process_and_need_no_numpy():
    script = f"from hexad.text.summary.summarize import *; import sys; print(summaries({ARTICLE!r})); print('numpy' in sys.modules)"
    runs = {
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}).stdout
        for seed in ("1", "2")
    }  # fmt: skip

    assert {f"{summaries(ARTICLE)}\nFalse\n"} == runs


@pytest.mark.parametrize(
    "text",
    [". " * 300_000, "A b c d e f g. " * 50_000, '"""\n' + "\n" * 300_000 + "x", "def f(\n" * 100_000, ("a: " + "a: a" * 50 + "\n") * 1000,
     "".join(" ".join(f"W{(n * m) % 61}" for m in range(1, 50)) + ".\n\n" for n in range(300)), "x" * 1_000_000],
)  # fmt: skip
def test_a_text_made_to_be_slow_is_answered(text):
    assert summaries(text).micro


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Short.", 10, "Short."),
        ("One is here. Two is here. Three is here.", 30, "One is here. Two is here."),
        ("A single sentence that goes on and on without an end", 30, "A single sentence that goes…"),
        ("x" * 50, 10, "x" * 9 + "…"),
        ("", 10, ""),
    ],
)
def test_a_text_is_clamped_to_whole_sentences_where_there_are_any(text, limit, expected):
    assert expected == clamp(text, limit)
    assert len(clamp(text, limit)) <= limit
