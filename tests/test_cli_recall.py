"""`hexad recall` answers as the library does, and by words alone where that is asked."""

from __future__ import annotations

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
