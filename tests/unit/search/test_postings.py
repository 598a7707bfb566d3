"""What is kept of words gives the same answers as FTS5, also after changes and in transactions that are undone."""

from __future__ import annotations

import sys

import pytest

from hexad import Hexad
from hexad.search.fulltext import FullText, any_word
from hexad.search.postings import POSTINGS_BYTES

WORDS = ["heron", "nest", "river", "eggs", "heron"]
TEXTS = [
    f"{'heron ' * (n % 4)}{'nest ' * (n % 3)}in the river {'of many eggs ' * (n % 5)}number {n} {'and more ' * (n % 7)}"
    for n in range(240)
]


def _same(fulltext: FullText, words: list[str], limit: int) -> bool:
    return fulltext.search_words(words, limit=limit) == fulltext.search(any_word(words), limit=limit)


@pytest.mark.parametrize("limit", [1, 7, 30, 1_000])
def test_the_best_of_kept_postings_are_those_of_fts5_to_the_last_bit(hx: Hexad, limit: int) -> None:
    for text in TEXTS:
        hx.remember(text)
    fulltext = FullText(hx._services.db)
    hx.embed_pending()  # has NumPy loaded, with which more than a few hundred postings are added up
    assert "numpy" in sys.modules

    for count in range(1, len(WORDS) + 1):
        assert _same(fulltext, WORDS[:count], limit)
        assert _same(fulltext, WORDS[:count], limit)  # now from what is kept
    assert [] == fulltext.search_words(["unknown"], limit=limit)


def test_what_is_kept_follows_what_is_written_and_forgotten(hx: Hexad) -> None:
    ids = [hx.remember(text).id for text in TEXTS[:20]]
    fulltext = FullText(hx._services.db)
    before = fulltext.search_words(WORDS, limit=50)

    hx.remember(TEXTS[23])
    assert _same(fulltext, WORDS, 50)
    assert before != fulltext.search_words(WORDS, limit=50)
    hx.forget(ids[3])
    assert _same(fulltext, WORDS, 50)


def test_nothing_is_kept_of_a_transaction_that_is_undone(hx: Hexad) -> None:
    hx.remember(TEXTS[3])
    fulltext = hx._services.fulltext
    db = hx._services.db

    with pytest.raises(RuntimeError), db.transaction():
        hx.remember(TEXTS[11])
        assert 2 == len(fulltext.search_words(["heron"], limit=9))
        raise RuntimeError
    hx.remember("A heron that came later.")

    assert ["A heron that came later.", TEXTS[3].strip()] == [hit.text for hit in hx.recall("heron")]


def test_status_says_how_much_is_kept(hx: Hexad) -> None:
    hx.remember(TEXTS[3])
    hx.recall("heron")

    assert (
        0
        < hx.status().caches["postings"].bytes
        < POSTINGS_BYTES
        == hx.status().caches["postings"].limit_bytes
    )
