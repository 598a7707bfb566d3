"""The nearest earlier memories of many at once are those of each alone, to the last tie."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from hexad import Hexad
from hexad.honeycomb.nearest import NearestMemories, nearest_earlier, nearest_memories, reached_by
from hexad.search.vectors.arithmetic import Shortlist
from hexad.search.vectors.index import VectorIndex
from hexad.search.vectors.table import Vectors

WORDS = ("river", "meadow", "lantern", "copper", "violin", "orchard", "saddle", "window")


@pytest.fixture
def index(hx: Hexad) -> VectorIndex:
    """Vectors of notes of few words, many of them equal, and of documents of several chunks."""
    source = random.Random(5)
    orders = list(itertools.islice(itertools.permutations(WORDS[:4]), 24))
    for at in range(120):
        words = orders[at % 24] if at % 3 else source.choices(WORDS, k=5)
        hx.remember(f"{' '.join(words)}", id=f"m{at}", path=f"p/{at}", space="s" if at % 5 else "t")
    for at in range(4):
        paragraphs = (" ".join(source.choices(WORDS, k=90)) + "." for _ in range(30))
        hx.remember("\n\n".join(paragraphs), path=f"d/{at}", space="s")
    hx.embed_pending()
    hx.remember("river violin", id="m3", space="s")  # its vector moves to the end
    hx.embed_pending()
    made = hx._services.search.index()
    assert made is not None
    return made


def rows_of(hx: Hexad) -> dict[int, np.ndarray]:
    return Vectors(hx._services.db).of_memories(range(1, 125))


def every_second(hx: Hexad) -> np.ndarray:
    allowed = np.ones(125, dtype=np.bool_)
    allowed[::2] = False
    return allowed


@pytest.mark.parametrize("block", [8_192, 64, 7])
def test_of_many_at_once_they_are_those_of_each(hx, index, monkeypatch, block):
    monkeypatch.setattr("hexad.honeycomb.nearest._BLOCK", block)
    rows = rows_of(hx)
    assert len(index.segments()[0].no) > len(rows)
    for allowed in (np.ones(125, dtype=np.bool_), every_second(hx), np.zeros(125, dtype=np.bool_)):
        expected = {
            no: nearest_memories(index, row, count=6, allowed=allowed[:no]) for no, row in rows.items()
        }

        assert expected == nearest_earlier(index, rows, count=6, allowed=allowed)


def test_they_are_those_of_the_largest_products_and_of_equals_the_earliest(hx, index):
    rows = rows_of(hx)
    matrices = {
        no: np.concatenate([part.matrix[part.rows_of(np.array([no]))] for part in index.segments()])
        for no in rows
    }
    found = nearest_earlier(index, rows, count=6, allowed=np.ones(125, dtype=np.bool_))
    for no, row in rows.items():
        products = {
            other: max((matrices[other].astype(np.float64) * row.astype(np.float64)).sum(axis=1).tolist())
            for other in rows
            if other < no
        }
        expected = sorted(products, key=lambda other: (-products[other], other))[:6]

        assert expected == found[no].numbers


def test_where_bits_say_who_may_be_near_each_is_searched_alone(hx, index, monkeypatch):
    rows = rows_of(hx)
    expected = nearest_earlier(index, rows, count=6, allowed=every_second(hx))
    monkeypatch.setattr(index._state, "shortlist", Shortlist(pool=8, rescored=4))

    assert not index.is_exact
    assert expected == nearest_earlier(index, rows, count=6, allowed=every_second(hx))


def test_a_vector_of_zeros_has_none(index):
    zeros = {9: np.zeros(index.dimensions, dtype=np.float32)}

    assert {9: NearestMemories([], None)} == nearest_earlier(
        index, zeros, count=6, allowed=np.ones(125, dtype=np.bool_)
    )


def test_who_is_reached_is_later_and_has_the_product_that_its_floor_asks_for(hx, index):
    rows = rows_of(hx)
    numbers = np.array([no for no in rows if no > 30], dtype=np.int64)
    floors = np.full(len(numbers), 0.9, dtype=np.float32)
    floors[0], floors[-1] = -np.inf, np.inf
    queries = {no: [part.matrix[part.rows_of(np.array([no]))] for part in index.segments()] for no in (2, 50)}
    expected = {
        no: {
            other
            for other, floor in zip(numbers.tolist(), floors.tolist(), strict=True)
            if other > no and float(np.max(np.concatenate(queries[no]) @ rows[other])) >= floor - 1e-5
        }
        for no in (2, 50)
    }

    assert {31} < expected[2]
    assert expected == reached_by(index, [2, 50], numbers, floors)
