from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.ingest.sources.formats.markdown import parse_asciidoc, parse_markdown, parse_rst
from source_sections import assert_sections_cover, outline

PIECES = st.sampled_from(
    [
        "# A",
        "## B `c`",
        "Title\n===",
        "para",
        "---",
        "```",
        "~~~",
        "<!--",
        "-->",
        "- item",
        "",
        "    # x",
        "é",
        "= A",
        "===",
        "+++",
    ]
)


@given(st.lists(PIECES, max_size=30).map("\n".join), st.integers(1, 5))
def test_sections_cover_whatever_is_written(text, first_line):
    for parse in (parse_markdown, parse_rst, parse_asciidoc):
        assert_sections_cover(text, parse(text, first_line=first_line).sections, first_line=first_line)


@pytest.mark.row("A039")
def test_a_section_stands_under_the_trail_of_its_headings():
    text = "intro\n\n# Guide\n\nwords\n\n## Install\n\n### Linux\napt\n\n## Use ##\n\nrun it\n"

    assert [
        ("", 1, 2),
        ("Guide", 3, 6),
        ("Guide > Install", 7, 8),
        ("Guide > Install > Linux", 9, 11),
        ("Guide > Use", 12, 14),
    ] == outline(text, parse_markdown(text).sections)


def test_underlined_headings_are_headings_and_rulers_are_not():
    text = "Guide\nin two lines\n=====\n\nwords\n\n---\n\nInstall\n-------\n\n- item\n---\n\n> quoted\n===\n"

    assert [("Guide in two lines", 1, 8), ("Guide in two lines > Install", 9, 16)] == outline(
        text, parse_markdown(text).sections
    )


@pytest.mark.parametrize(
    "fence",
    [
        "```sh\n# no\n```",
        "~~~~\n# no\n~~~\n# no\n~~~~",
        "- item\n\n  ```\n  # no\n# no\n  ```",
        "<!--\n# no\n-->",
        "    # no",
    ],
)
def test_what_is_in_a_fence_a_comment_or_indented_is_no_heading(fence):
    text = f"# Yes\n\n{fence}\n\n# After\n"

    assert ["Yes", "After"] == [section.heading for section in parse_markdown(text).sections]


def test_an_unclosed_fence_goes_to_the_end():
    assert ["A"] == [section.heading for section in parse_markdown("# A\n```\n# B\n").sections]


def test_markup_in_a_heading_is_taken_out():
    text = "# Use `hexad` with [docs](https://example.org) **now** {#use}\n"

    assert "Use hexad with docs now" == parse_markdown(text).title


@pytest.mark.row("L136")
@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: 'Release'\ndate: 2026-03-04\ntags: [Deploy, on call]\nother:\n  deep: 1\n---\n",
        "---\ntitle: Release # a remark\ndate: 2026-03-04T00:00:00Z\ntags:\n  - Deploy\n  - on call\n---\n",
        '+++\ntitle = "Release"\ndate = 2026-03-04\ntags = ["Deploy", "on call"]\n+++\n',
    ],
)
def test_front_matter_gives_title_time_and_tags(front):
    parsed = parse_markdown(front + "# Another title\n")

    assert ("Release", datetime(2026, 3, 4, tzinfo=UTC), ("Deploy", "on call")) == (
        parsed.title,
        parsed.time,
        parsed.tags,
    )


@pytest.mark.parametrize(
    "text",
    [
        "---\nno field here\n---\n# A\n",
        "---\nnever: closed\n# A\n",
        "+++\n= broken\n+++\n# A\n",
        "+++\nn = " + "9" * 5_000 + "\n+++\n# A\n",
        "+++\n" + "a." * 100_000 + "a = 1\n+++\n# A\n",
    ],
)
def test_what_only_begins_like_front_matter_is_text(text):
    parsed = parse_markdown(text)

    assert ("A", None, ()) == (parsed.title, parsed.time, parsed.tags)


def test_titles_of_restructured_text_nest_as_they_come_up():
    text = "=====\nGuide\n=====\n\nwords\n\nInstall\n-------\n\nLinux\n~~~~~\napt\n\nUse\n---\nrun\n"

    assert [
        ("Guide", 1, 6),
        ("Guide > Install", 7, 9),
        ("Guide > Install > Linux", 10, 13),
        ("Guide > Use", 14, 16),
    ] == outline(text, parse_rst(text).sections)


def test_titles_of_asciidoc_nest_and_listings_hold_none():
    text = "= Guide\n\n== Install\n----\n== no\n----\n== Use\n"

    assert [("Guide", 1, 2), ("Guide > Install", 3, 6), ("Guide > Use", 7, 7)] == outline(
        text, parse_asciidoc(text).sections
    )


def test_hostile_texts_take_linear_time():
    for text in (
        "# " + "#" * 500_000,
        "#" + " " * 500_000 + "x",
        "# " + "[" * 500_000,
        "---\n" + "- a\n" * 200_000,
        "`" * 500_000,
    ):
        assert_sections_cover(text, parse_markdown(text).sections)


def test_a_ruler_at_the_top_hides_no_heading():
    text = "---\nwords of a letter\n\nTitle\n=====\n\n---\n"

    assert "Title" == parse_markdown(text).title
