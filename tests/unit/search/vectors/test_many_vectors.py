"""What a store of a million vectors needs: passes in blocks, and no second copy of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.search.vectors.test_index import stand_in

from hexad.core.clock import SystemClock
from hexad.database import migrations
from hexad.database.connection import Database
from hexad.lifecycle.schema import migrations as store_migrations
from hexad.search.vectors import arithmetic, table
from hexad.search.vectors import index as module
from hexad.search.vectors.arithmetic import (
    VectorSegment,
    alive_rows,
    nearest_by_bits,
    nearest_memories,
    products_of_halves,
    sign_bits,
)
from hexad.search.vectors.index import CachedVectors, load_cache, write_cache
from hexad.search.vectors.table import NewVector, VectorRows, Vectors


def rows_of(matrix: Any) -> VectorRows:
    numbers = np.arange(1, len(matrix) + 1)
    return VectorRows(no=numbers, memory_no=numbers, chunk_no=numbers, matrix=matrix)


def drawn(count: int, dimensions: int = 64, *, seed: int = 1) -> Any:
    matrix = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def segment_of(matrix: Any, memory_no: Any = None, *, alive: Any = None, mean: Any = None) -> VectorSegment:
    rows = rows_of(matrix)
    return VectorSegment(
        no=rows.no,
        memory_no=rows.memory_no if memory_no is None else memory_no,
        chunk_no=rows.chunk_no,
        matrix=matrix,
        alive=np.ones(len(matrix), np.bool_) if alive is None else alive,
        bits=None if mean is None else sign_bits(matrix, mean),
        centre=mean,
    )


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    clock = SystemClock()
    database = Database.open(tmp_path / "memory.db", clock=clock)
    migrations.apply(database, store_migrations(), clock)
    yield database
    database.close()


@pytest.mark.parametrize("dimensions", [5, 64, 200, 384])
@pytest.mark.parametrize("wanted", [1, 30, 700, 2_900, 5_000])
def test_the_nearest_by_bits_are_those_that_differ_least_and_all_like_the_last(
    dimensions: int, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arithmetic, "_BLOCK", 500)
    monkeypatch.setattr(arithmetic, "_MANY", 2_000)
    monkeypatch.setattr(arithmetic, "_SAMPLED_DISTANCES", 300)
    matrix, query = drawn(3_000, dimensions), drawn(1, dimensions, seed=9)[0]
    mean = matrix.mean(axis=0)
    alive = np.arange(len(matrix)) % 7 != 3
    differing = ((matrix > mean) != (query > mean)).sum(axis=1)

    rows = nearest_by_bits(segment_of(matrix, mean=mean), query, alive, wanted)

    most = np.sort(differing[alive])[min(wanted, int(alive.sum())) - 1]
    assert np.flatnonzero(alive & (differing <= most)).tolist() == rows.tolist()


@pytest.mark.parametrize("each", [1, 2, 3, 40])
@pytest.mark.parametrize("parts", [1, 2])
def test_of_each_memory_its_best_vector_counts_however_many_it_has(each: int, parts: int) -> None:
    matrix, query = drawn(2_000), drawn(1, seed=9)[0]
    matrix[100:200] = matrix[1_500:1_600]  # of equals the lower number comes first
    segments = [
        segment_of(half, 1 + np.arange(at * len(half), (at + 1) * len(half)) // each)
        for at, half in enumerate(np.split(matrix, parts))
    ]
    scored = [(segment, np.arange(len(segment.no)), segment.matrix @ query) for segment in segments]
    limit = 20

    best, crowding = nearest_memories(scored, limit=limit)

    every = sorted(
        (-cosine, memory, chunk)
        for segment, _, cosines in scored
        for cosine, memory, chunk in zip(
            cosines.tolist(), segment.memory_no.tolist(), segment.chunk_no.tolist(), strict=True
        )
    )
    expected: dict[int, tuple[float, int]] = {}
    for falling, memory, chunk in every[: 4 * limit]:
        expected.setdefault(memory, (-falling, chunk))
    assert list(expected.items())[:limit] == list(best.items())
    assert list(best) == list(crowding)


def test_products_of_some_halves_are_those_of_all() -> None:
    matrix, query = drawn(1_000).astype(np.float16), drawn(1, seed=9)[0]
    rows = np.sort(np.random.default_rng(2).permutation(1_000)[:600])

    np.testing.assert_allclose(
        matrix[rows].astype(np.float32) @ query, products_of_halves(matrix, rows, query), rtol=1e-5, atol=1e-6
    )


def test_vectors_are_read_in_blocks_without_those_of_another_length(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(db, "spaces", [0])
    stand_in(db, "memories", range(1, 26))
    vectors, matrix = Vectors(db), drawn(25)
    with db.transaction():
        vectors.add(
            [
                NewVector(memory_no=at + 1, chunk_no=None, vector=row[:8] if at in {9, 24} else row)
                for at, row in enumerate(matrix)
            ]
        )
    whole = vectors.after(0, dimensions=64)

    for block in (1, 5, 10, 24, 25, 26):
        monkeypatch.setattr(table, "_READ_AT_ONCE", block)
        rows = vectors.after(0, dimensions=64)
        assert [no for no in range(1, 25) if no != 10] == rows.no.tolist() == rows.memory_no.tolist()
        assert np.array_equal(whole.matrix, rows.matrix)
        assert np.array_equal(np.delete(matrix, [9, 24], axis=0).astype(np.float16), rows.matrix)
        assert list(range(21, 25)) == vectors.after(20, dimensions=64).no.tolist()


def cached(count: int) -> CachedVectors:
    return CachedVectors(
        rows=rows_of(drawn(count).astype(np.float16)), signs=None, last_no=count, last_removal=3
    )


def test_a_cache_is_written_and_checked_without_a_copy_of_the_vectors(tmp_path: Path) -> None:
    vectors = cached(100_000)

    tracemalloc.start()
    try:
        write_cache(tmp_path, vectors, change=1, identity="a", cipher=None)
        loaded = load_cache(tmp_path, identity="a", dimensions=64, cipher=None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert loaded is not None
    assert np.array_equal(vectors.rows.matrix, loaded.rows.matrix)
    assert (100_000, 3) == (loaded.last_no, loaded.last_removal)
    assert peak < vectors.rows.matrix.nbytes / 2


@pytest.mark.parametrize("place", [100, 3_000, 20_000, -1])
def test_a_cache_of_which_a_byte_changed_is_not_used(
    tmp_path: Path, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PIECE_BYTES", 1_000)
    write_cache(tmp_path, cached(300), change=1, identity="a", cipher=None)
    (file,) = tmp_path.iterdir()
    assert load_cache(tmp_path, identity="a", dimensions=64, cipher=None) is not None

    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)

    assert load_cache(tmp_path, identity="a", dimensions=64, cipher=None) is None


def test_rows_that_are_alive_are_copied_as_halves_from_every_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "_READ_AT_ONCE", 7)
    first, second = drawn(30).astype(np.float16), drawn(20, seed=2).astype(np.float16).astype(np.float32)
    segments = [
        segment_of(first, alive=np.arange(30) % 3 > 0),
        segment_of(second, alive=np.arange(20) != 4),
    ]

    rows = alive_rows(segments)

    assert np.array_equal(
        np.concatenate([first[np.arange(30) % 3 > 0], np.delete(second, 4, axis=0).astype(np.float16)]),
        rows.matrix,
    )
    assert [
        *(no for no in range(1, 31) if no % 3 != 1),
        *(no for no in range(1, 21) if no != 5),
    ] == rows.no.tolist()
