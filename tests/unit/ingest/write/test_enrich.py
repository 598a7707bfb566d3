"""The steps of the write path that need no store: what a text is about, and what redaction leaves of a draft."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hexad.core.json_types import JSONValue
from hexad.errors import InvalidMemory
from hexad.ingest.report import OVERVIEW_ID, OutlineRow, overview
from hexad.ingest.watch import split_glob
from hexad.ingest.write.enrich import importance_of, new_chunks, understand
from hexad.ingest.write.redaction import Redactor
from hexad.memory.draft import Draft
from hexad.memory.memory import Turn
from hexad.text.sections import Section

SECRET = "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def redactor() -> Redactor:
    return Redactor(salt=lambda: b"s" * 32)


# What a text is about -------------------------------------------------------------------------------------------


@pytest.mark.row("L136")
@pytest.mark.parametrize(
    ("draft", "path"),
    [
        (Draft(text="We deploy on Tuesdays."), "shop/note/we-deploy-on-tuesdays"),
        (Draft(text="We deploy.", title="Release rules", kind="Guide"), "shop/guide/release-rules"),
        (Draft(text="漢字"), "shop/note/漢字"),
        (Draft(text="!!!"), "shop/note/untitled"),
        (Draft(text="x", path="/a//b/"), "a/b"),
    ],
)
def test_a_path_is_made_of_project_kind_and_topic(draft: Draft, path: str) -> None:
    assert path == understand(draft, project="Shop").path


def test_a_path_that_leads_upwards_is_refused() -> None:
    with pytest.raises(InvalidMemory):
        understand(Draft(text="x", path="a/../b"), project="p")


def test_chunks_are_also_found_by_who_when_and_what_they_are_called() -> None:
    draft = Draft(
        text="It was cold.", title="A weekend", tags=("lake-side",), valid_from=datetime(2026, 2, 1, tzinfo=UTC),
        turn=Turn(conversation="c", session="s", position=0, speaker="Ada"), subject="weather", value="frost",
    )  # fmt: skip

    (chunk,) = new_chunks(draft, understand(draft, project="p"), memory_id="m")

    for word in ("A weekend", "Ada", "February", "2026", "lake side", "weather", "frost"):
        assert word.casefold() in chunk.context.casefold(), word
    assert ("m#0", "Ada (1 February 2026)") == (chunk.chunk.chunk_id, chunk.chunk.heading)


def test_a_path_that_was_given_is_searched_and_a_made_one_is_not() -> None:
    given, made = Draft(text="It was cold.", path="trips/lake-side"), Draft(text="It was cold.")

    contexts = [
        new_chunks(draft, understand(draft, project="p"), memory_id="m")[0].context for draft in (given, made)
    ]

    assert ["trips lake side", ""] == contexts


def test_words_inside_identifiers_are_listed() -> None:
    draft = Draft(text="call parseHttpHeader(raw_bytes)")
    (chunk,) = new_chunks(draft, understand(draft, project="p"), memory_id="m")

    assert {"parse", "http", "header"} <= set(chunk.identifiers.lower().split())


@pytest.mark.row("L032")
@pytest.mark.parametrize(
    ("value", "expected"),
    [("high", 1.0), ("LOW ", 0.2), (0, 0.0), (1, 1.0), (0.3, 0.3), (2, None), (-1, None), ("vast", None), (None, None), ([1], None), (True, None)],
)  # fmt: skip
def test_importance_is_a_word_or_a_number_between_0_and_1(value: JSONValue, expected: float | None) -> None:
    assert expected == importance_of({"importance": value})


# Redaction ------------------------------------------------------------------------------------------------------


@pytest.mark.row("L056", "A125")
def test_every_field_is_cleaned_and_every_value_counted_once_for_each_place() -> None:
    cleaned = redactor().clean(
        Draft(text=f"a {SECRET}\r\nb", title=SECRET, metadata={SECRET: [SECRET, 1, None]}, tags=(SECRET,)),
        redactor().rules({}),
    )

    assert SECRET not in repr(cleaned.draft)
    assert [5] == [flag.count for flag in cleaned.flags]
    assert [1, None] == cleaned.draft.metadata["[REDACTED:" + cleaned.flags[0].rule + "]"][1:]  # type: ignore[index]


def test_sections_still_point_at_their_lines_after_redaction() -> None:
    text = f"# One {SECRET}\nfirst\n# Two\nsecond\n"
    sections = (
        Section(start=0, end=text.index("# Two"), first_line=1, last_line=2, heading="One"),
        Section(start=text.index("# Two"), end=len(text), first_line=3, last_line=4, heading="Two"),
    )

    draft = redactor().clean(Draft(text=text, sections=sections), redactor().rules({})).draft

    first, two = (draft.text[section.start : section.end] for section in draft.sections)
    assert first.startswith("# One [REDACTED:")
    assert first.endswith("first\n")
    assert "# Two\nsecond" == two.rstrip()


def test_a_person_may_be_known_by_an_address_that_the_text_may_not_hold() -> None:
    rules = redactor().rules({"pii_redaction": ["email"]})

    draft = (
        redactor().clean(Draft(text="I am ada@example.org.", data_subjects=("ada@example.org",)), rules).draft
    )

    assert ("I am [REDACTED:email].", ("ada@example.org",)) == (draft.text, draft.data_subjects)


# Overviews and patterns -----------------------------------------------------------------------------------------


@pytest.mark.row("A040")
def test_an_overview_counts_kinds_languages_and_folders_and_quotes_the_readme() -> None:
    rows = [
        OutlineRow(source_id="src/a.py", kind="code", language="Python", summary="A."),
        OutlineRow(source_id="src/b.py", kind="code", language="Python", summary="B."),
        OutlineRow(source_id="readme.md", kind="guide", language="", summary="A tower that blinks."),
        OutlineRow(source_id="docs/README.md", kind="guide", language="", summary="Not this one."),
        OutlineRow(source_id=OVERVIEW_ID, kind="overview", language="", summary="The overview itself."),
    ]

    item = overview("tower", rows)

    assert item is not None
    assert [
        "Overview of the project tower: 4 files.",
        "Kinds: code (2), guide (2).",
        "Languages: Python (2).",
        "Folders: src (2), docs (1), top level (1).",
        "readme.md: A tower that blinks.",
    ] == item.text.split("\n")
    assert item == overview("tower", rows[::-1])
    assert overview("tower", rows[-1:]) is None


@pytest.mark.row("L139")
@pytest.mark.parametrize(
    ("source", "folder", "pattern"),
    [("/a/docs/*.md", "/a/docs", "*.md"), ("/a/**/x?.md", "/a", "**/x?.md"), ("/a/b", "/a/b", None), ("/a/[xy]/z", "/a", "[xy]/z")],
)  # fmt: skip
def test_a_pattern_is_split_into_its_folder_and_the_rest(
    source: str, folder: str, pattern: str | None
) -> None:
    assert (folder, pattern) == (str(split_glob(source)[0]), split_glob(source)[1])
