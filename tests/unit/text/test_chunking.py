from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hexad.errors import InvalidInput
from hexad.text.chunking import LineIndex, chunk, estimate_pieces
from hexad.text.sections import Section

FAMILY = "👨‍👩‍👧‍👦"
PARTS = st.one_of(
    st.sampled_from(
        [" ", "\n", "\t", "\r\n", "word", "B", ".", "! ", "\u0301", FAMILY, "🇩🇪", "각", "語", "    "]
    ),
    st.characters(),
)
TEXTS = st.lists(PARTS, max_size=200).map("".join)


def assert_spans_are_sound(text: str, spans: list[Section], *, first_line: int = 1) -> None:
    at = 0
    for span in spans:
        assert at <= span.start < span.end <= len(text)
        assert "" == text[at : span.start].strip()
        assert first_line + text.count("\n", 0, span.start) == span.first_line
        assert first_line + text.count("\n", 0, span.end - 1) == span.last_line
        assert text[span.start : span.end].strip()
        at = span.end
    assert "" == text[at:].strip()


@st.composite
def texts_with_sections(draw: st.DrawFn) -> tuple[str, list[Section]]:
    """A text and sections that begin at its lines, as a reader makes them."""
    text = draw(TEXTS)
    lines = LineIndex(text)
    starts = [lines.start(n) for n in range(1, text.count("\n") + 2)]
    chosen = sorted({*draw(st.lists(st.sampled_from(starts), max_size=8)), len(text)})
    headings = st.sampled_from(["", "A", "A > B", "A > C", "f(x)", "K.m(a.b)", "K"])
    opens = st.booleans()
    sections = [replace(lines.section(a, b, draw(headings)), opens=draw(opens)) for a, b in pairwise(chosen)]
    return text, sections


@given(texts_with_sections(), st.integers(1, 60), st.integers(1, 9))
def test_spans_are_in_order_share_nothing_and_hold_every_character_that_is_not_blank(given, size, first_line):
    text, sections = given

    spans = chunk(text, sections=sections, max_tokens=size, first_line=first_line)

    assert_spans_are_sound(text, spans, first_line=first_line)
    assert spans == chunk(text, sections=sections, max_tokens=size, first_line=first_line)


CLUSTERS = [
    FAMILY,
    "🇩🇪",
    "e\u0301\u0323",
    "👍🏽",
    "\r\n",
    "한",
    "각",
    "\u1100\u1161\u11a8",
    "x",
    " ",
    "ก็",
    "\ud83d\ude00",
]


@given(st.lists(st.sampled_from(CLUSTERS), max_size=120), st.integers(6, 12))
def test_no_span_ends_inside_a_character_as_a_reader_sees_it(clusters, size):
    # A limit of 6 tokens has room for each of these; only marks piled without end are cut.
    text = "".join(clusters)
    edges = set(accumulate(map(len, clusters), initial=0))

    spans = chunk(text, max_tokens=size)

    assert [] == [s for s in spans if s.start not in edges or s.end not in edges]


@given(TEXTS, st.integers(5, 40), st.integers(0, 4))
@example("       word    🇩🇪", 5, 3)
def test_with_overlap_the_spans_still_hold_everything_and_move_forward(text, size, overlap):
    spans = chunk(text, max_tokens=size, overlap=overlap)

    held = {offset for span in spans for offset in range(span.start, span.end)}
    assert [] == [n for n, char in enumerate(text) if not char.isspace() and n not in held]
    assert [s.end for s in spans] == sorted({s.end for s in spans})


def test_overlap_repeats_the_words_before_the_cut():
    text = " ".join(f"word{n:03}" for n in range(200))

    spans = chunk(text, max_tokens=40, overlap=10)

    shared = [left.end - right.start for left, right in pairwise(spans)]
    assert all(0 < characters <= 40 for characters in shared)


def test_an_empty_or_blank_text_has_no_chunks():
    assert [] == chunk("")
    assert [] == chunk(" \n\t\r\n  \n")


def test_a_text_that_fits_is_one_chunk_with_its_lines():
    text = "\n\n  first\nsecond\n\nthird\n\n"

    assert [(3, 6, "  first\nsecond\n\nthird")] == [
        (s.first_line, s.last_line, text[s.start : s.end]) for s in chunk(text)
    ]


def test_a_cut_falls_between_paragraphs_before_it_falls_between_lines():
    paragraph = "\n".join(["some words in a line of text"] * 5)
    text = "\n\n".join([paragraph] * 6)

    pieces = [text[s.start : s.end] for s in chunk(text, max_tokens=100)]

    assert [paragraph + "\n\n" + paragraph] * 3 == pieces


def test_a_cut_falls_between_sentences_before_it_falls_between_words():
    text = "The deploy happens every Tuesday at noon. " * 20

    pieces = [text[s.start : s.end] for s in chunk(text, max_tokens=50)]

    assert all(piece.endswith("noon.") for piece in pieces)


def test_no_stub_is_left_behind_by_a_text_a_little_too_long():
    text = "word " * 210

    sizes = [estimate_pieces(text[s.start : s.end]) for s in chunk(text, max_tokens=220)]

    assert 2 == len(sizes)
    assert min(sizes) > 100


def test_tiny_neighbours_of_one_parent_are_merged_and_keep_their_names():
    text = "aaa\nbbb\nccc\n"
    lines = LineIndex(text)
    sections = [
        lines.section(0, 4, "Guide > Linux"),
        lines.section(4, 8, "Guide > macOS"),
        lines.section(8, 12, "Other > Linux"),
    ]

    assert ["Guide > Linux · macOS", "Other > Linux"] == [s.heading for s in chunk(text, sections=sections)]


def test_a_class_and_its_tiny_methods_are_one_chunk_under_the_name_of_the_class():
    text = "class A:\n    def f(): ...\n    def g(): ...\n"
    lines = LineIndex(text)
    sections = [
        lines.section(0, 9, "A"),
        lines.section(9, 26, "A.f()"),
        lines.section(26, len(text), "A.g()"),
    ]

    assert ["A"] == [s.heading for s in chunk(text, sections=sections)]


def test_what_stands_before_a_class_with_methods_is_no_part_of_its_first_chunk():
    text = "import os\n\nclass A:\n    size = 1\n    def f(): ...\n"
    lines = LineIndex(text)
    sections = [
        lines.section(0, 11, ""),
        replace(lines.section(11, 33, "A"), opens=True),
        lines.section(33, len(text), "A.f()"),
    ]

    assert [("", 1, 1), ("A", 3, 5)] == [
        (s.heading, s.first_line, s.last_line) for s in chunk(text, sections=sections)
    ]


def test_sections_that_fill_a_chunk_stay_apart():
    body = "some words of prose " * 20
    text = body + "\n" + body
    lines = LineIndex(text)
    middle = len(body) + 1
    sections = [lines.section(0, middle, "A"), lines.section(middle, len(text), "B")]

    assert ["A", "B"] == [s.heading for s in chunk(text, sections=sections)]


def test_every_piece_of_a_long_section_carries_its_heading():
    text = "word " * 1000

    spans = chunk(text, sections=[LineIndex(text).section(0, len(text), "Guide > Long")])

    assert {"Guide > Long"} == {s.heading for s in spans}
    assert len(spans) > 4


def test_chunks_of_code_and_of_ideographs_stay_within_the_estimate():
    code = "def f(a, b):\n    return {a: [b], (b,): a[0]}\n\n\n" * 60
    chinese = "今天天气很好。" * 300

    for text in (code, chinese):
        assert all(estimate_pieces(text[s.start : s.end]) <= 220 for s in chunk(text))


def test_a_megabyte_on_one_line_is_cut_and_nothing_is_lost():
    for text in (
        "word " * (1 << 18),
        "x" * (1 << 17),
        "e\u0301" * (1 << 16),
        "\u0301" * (1 << 16),
        "🇩" * (1 << 16),
    ):
        assert_spans_are_sound(text, chunk(text))


def test_both_halves_of_a_surrogate_pair_stay_together():
    text = "\ud83d\ude00" * 500

    assert all((s.end - s.start) % 2 == 0 for s in chunk(text, max_tokens=31))


@pytest.mark.parametrize(
    "sections",
    [
        [Section(start=0, end=9, first_line=1, last_line=1)],
        [
            Section(start=2, end=4, first_line=1, last_line=1),
            Section(start=3, end=5, first_line=1, last_line=1),
        ],
    ],
)
def test_sections_that_do_not_fit_the_text_are_refused(sections):
    with pytest.raises(InvalidInput, match="overlaps the one before it or leaves the text"):
        chunk("abcdef", sections=sections)


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1)])
def test_limits_without_room_are_refused(size, overlap):
    with pytest.raises(InvalidInput, match="cannot be made"):
        chunk("text", max_tokens=size, overlap=overlap)
