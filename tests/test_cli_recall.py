"""`hexad recall` answers as the library does, and by words alone where that is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

import hexad
from ran import Run


def test_recall_searches_by_words_and_meaning_unless_it_is_told_otherwise(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEXAD_EMBEDDER", "hashing")
    run("remember", "The otter sleeps by day.")

    assert "hybrid" == run("recall", "otter", "--explain", "--json").data["mode"]
    assert "lexical" == run("recall", "otter", "--explain", "--json", "--lexical").data["mode"]


def test_recall_says_what_share_is_searched_by_meaning(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEXAD_EMBEDDER", "hashing")
    with hexad.open(embedder="hashing", background=False) as hx:
        hx.remember("The otter sleeps by day.")

    ran = run("recall", "otter")

    assert "Searched by meaning: 0 % of 1 memory; the rest by words. `hexad maintain`" in ran.err
    run("maintain")
    assert "" == run("recall", "otter").err


def test_a_context_says_it_once_among_its_notes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEXAD_EMBEDDER", "hashing")
    with hexad.open(embedder="hashing", background=False) as hx:
        hx.remember("The otter sleeps by day.")

    ran = run("context", "where does the otter sleep?")

    assert 1 == ran.err.count("Searched by meaning: 0 % of 1 memory; the rest by words. `hexad maintain`")
    run("maintain")
    assert "Searched by meaning" not in run("context", "where does the otter sleep?").err


def test_explain_shows_the_best_of_what_is_below_the_relevance_that_is_wanted(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEXAD_EMBEDDER", "hashing")
    for number in range(7):
        run("remember", f"The otter number {number} sleeps by day.\nIn its holt.", "--id", f"otter-{number}")
    run("maintain")
    considered = run("recall", "otter", "--min-relevance", "0.9", "--explain", "--json").data["explanation"][
        "considered"
    ]

    lines = run("recall", "otter", "--min-relevance", "0.9", "--explain").out.splitlines()

    at = lines.index("dropped: 7 its relevance is below 0.9")
    assert [
        f"  {row['id']}  relevance {row['relevance']:.2f}  The otter number {row['id'][-1]} sleeps by day. In its holt."
        for row in considered[:5]
    ] + ["  …"] == lines[at + 1 :]


def test_an_answer_shows_its_relevance_and_what_took_its_place(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEXAD_EMBEDDER", "hashing")
    run("remember", "The API rate limit is 100 requests a minute.")
    run("remember", "We raised the API rate limit to 250 requests a minute.")

    hits = run("recall", "API rate limit", "--json").data
    lines = run("recall", "API rate limit").out.splitlines()

    assert ["raised" in hit["text"] for hit in hits] == [True, False]
    assert [f"    relevance {hit['relevance']:.2f} · note · project · {hit['id']}" for hit in hits] == [
        line for line in lines if "relevance" in line
    ]
    (marked,) = [line for line in lines if "superseded by" in line]
    assert lines.index(marked) > lines.index(f"    │ {hits[1]['text']}")
    whole = " ".join(" ".join(lines[lines.index(marked) :]).split())
    assert "): We raised the API rate limit to 250 requests a minute." in whole


def test_a_hit_says_in_a_line_that_it_tells_only_what_was_or_may_be(run: Run) -> None:
    run("remember", "The lamp in the hall used to be green.")
    run("remember", "The lamp in the hall might become blue.")

    lines = run("recall", "lamp in the hall", "--lexical").out.splitlines()

    marks = ["    says what was, not what is", "    says what may be, not what is"]
    assert sorted(marks) == sorted(line for line in lines if line.startswith("    says"))
    assert lines.index(marks[0]) == 1 + lines.index("    │ The lamp in the hall used to be green.")


def test_a_silent_answer_says_how_to_see_what_is_nearest(run: Run) -> None:
    run("remember", "The otter sleeps by day.")

    silent = run("recall", "compilers", "--lexical")
    assert (0, "", "Nothing relevant was found; --min-relevance 0 shows what is nearest.\n") == (
        silent.code, silent.out, silent.err,
    )  # fmt: skip
    assert "Nothing was found.\n" == run("recall", "compilers", "--lexical", "--min-relevance", "0").err


def test_a_changelog_is_shown_as_prose_with_its_lines(run: Run, tmp_path: Path) -> None:
    words = " ".join(["The upper sluice closes gradually,"] * 6)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n- {words} as boats ask.\n")
    run("ingest", str(tmp_path / "CHANGELOG.md"), "--no-embed")

    ran = run("recall", "sluice", "--lexical")

    assert " 1. CHANGELOG.md:1-3" == ran.out.splitlines()[0]
    assert "as boats ask." in ran.out


def test_what_wants_several_memories_is_shown_in_the_order_of_time_with_dates(run: Run) -> None:
    for day, text in ((8, "Rowed to the weir and back."), (3, "Rowed against the wind.")):
        assert run("remember", text, "--valid-from", f"2026-02-{day:02}").code == 0
    shown = run("recall", "How often have I rowed?")
    first, second = shown.out.index("against the wind"), shown.out.index("weir")
    assert first < second
    assert "2026-02-03 00:00" in shown.out
    assert "all that is to be counted: 2 memories" in shown.err
    assert "2026-02-03 00:00" not in run("recall", "How often have I rowed?", "--limit", "5").out
