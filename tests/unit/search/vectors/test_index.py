from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hexad.core.clock import SystemClock
from hexad.database import migrations
from hexad.database.change_counters import ChangeReader
from hexad.database.connection import Database
from hexad.database.encryption.cipher import CACHE, FileCipher, StoreKeys, is_sealed
from hexad.lifecycle.schema import migrations as store_migrations
from hexad.search.vectors import index as module
from hexad.search.vectors.arithmetic import (
    Shortlist,
    VectorSegment,
    nearest_by_signs,
    products_of_halves,
    products_of_signs,
    shortlist_needed,
    sign_bits,
)
from hexad.search.vectors.index import VectorIndex
from hexad.search.vectors.table import NewVector, VectorRows, Vectors

DIMENSIONS = 96


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    clock = SystemClock()
    database = Database.open(tmp_path / "memory.db", clock=clock)
    migrations.apply(database, store_migrations(), clock)
    yield database
    database.close()


@pytest.fixture
def vectors(db: Database) -> Vectors:
    return Vectors(db)


CIPHER: FileCipher | None = None
"""What the tests of the cache file seal it with."""


def index_of(db: Database, cache: Path | None = None, *, identity: str = "store model") -> VectorIndex:
    return VectorIndex(
        Vectors(db), ChangeReader(db), dimensions=DIMENSIONS, cache=cache, identity=identity, cipher=CIPHER
    )


def watched(db: Database, cache: Path, *, identity: str = "store model") -> tuple[VectorIndex, list[int]]:
    """An index, and from which vector on it reads the database whenever it does."""
    reads: list[int] = []

    class Watched(Vectors):
        def after(self, vector_no: int, *, dimensions: int):  # type: ignore[no-untyped-def]
            reads.append(vector_no)
            return super().after(vector_no, dimensions=dimensions)

    index = VectorIndex(
        Watched(db), ChangeReader(db), dimensions=DIMENSIONS, cache=cache, identity=identity, cipher=CIPHER
    )
    return index, reads


def unit(rows: Any) -> Any:
    rows = np.asarray(rows, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def drawn(count: int, *, seed: int = 1) -> Any:
    """Vectors as texts have them: a common direction, some topics, and noise."""
    random = np.random.default_rng(seed)
    topics = np.random.default_rng(0).normal(size=(40, DIMENSIONS))
    rows = topics[random.integers(0, 40, count)] + 0.7 * random.normal(size=(count, DIMENSIONS)) + 0.5
    return unit(rows).astype(np.float16).astype(np.float32)


def stand_in(db: Database, table: str, numbers: Sequence[int], **columns: str) -> None:
    """Make rows of a table as far as its constraints ask: what belongs to a vector says nothing to the index."""
    values = {"no": "?1", **columns}
    for _, name, kind, required, _, primary in db.query(f"PRAGMA table_info({table})"):
        if required and not primary:
            values.setdefault(str(name), "0" if kind in {"INTEGER", "REAL"} else "'' || ?1")
    with db.transaction() as con:
        names = ",".join(values)
        con.executemany(
            f"INSERT OR IGNORE INTO {table}({names}) VALUES({','.join(values.values())})",
            [(no,) for no in numbers],
        )


def add(db: Database, vectors: Vectors, rows: Any, *, first_memory: int = 1, each: int = 1) -> None:
    """Store rows; every memory gets `each` of them, as its chunks 1, 2, … of the whole store."""
    stand_in(db, "spaces", [0])
    stand_in(db, "memories", range(first_memory, first_memory + -(-len(rows) // each)))
    if each > 1:
        stand_in(
            db, "chunks", range(1, len(rows) + 1), memory_no=f"{first_memory} + (?1 - 1) / {each}", seq="?1"
        )
    with db.transaction():
        vectors.add(
            [
                NewVector(
                    memory_no=first_memory + at // each, chunk_no=None if each == 1 else at + 1, vector=row
                )
                for at, row in enumerate(rows)
            ]
        )


def brute_force(
    rows: Any, query: Any, limit: int, *, each: int = 1, first_memory: int = 1
) -> list[tuple[int, float]]:
    best: dict[int, float] = {}
    for at, cosine in enumerate((rows @ query).tolist()):
        memory = first_memory + at // each
        best[memory] = max(best.get(memory, -2.0), cosine)
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def test_the_exact_search_equals_brute_force(db: Database, vectors: Vectors) -> None:
    rows = drawn(900)
    add(db, vectors, rows, each=3)
    index = index_of(db)

    for query in drawn(12, seed=2):
        answer = index.search(query, limit=20)
        expected = brute_force(rows, query, 20, each=3)
        assert [memory for memory, _ in expected] == list(answer.best)
        assert [cosine for _, cosine in expected] == pytest.approx(
            [found[0] for found in answer.best.values()], abs=1e-5
        )
        cosines = rows @ query
        assert 900 == answer.vectors
        assert float(cosines.mean()) == pytest.approx(answer.mean, abs=1e-5)
        assert float(cosines.std()) == pytest.approx(answer.deviation, abs=1e-5)


def test_the_chunk_that_answers_is_the_nearest_of_its_memory(db: Database, vectors: Vectors) -> None:
    rows = drawn(300)
    add(db, vectors, rows, each=3)

    for at in (0, 7, 299):
        answer = index_of(db).search(rows[at], limit=5)
        assert (1 + at // 3, at + 1) == (next(iter(answer.best)), answer.best[1 + at // 3][1])


def test_the_allowed_answer_and_those_named_are_scored_however_far(db: Database, vectors: Vectors) -> None:
    rows = drawn(200)
    add(db, vectors, rows)
    index = index_of(db)
    allowed = np.zeros(101, dtype=np.bool_)
    allowed[10:20] = True

    answer = index.search(rows[150], limit=5, allowed=allowed, also=(12, 13))

    assert set(answer.best) <= set(range(10, 20))
    assert {12, 13} <= set(answer.best)
    assert {50, 151} <= set(index.search(rows[150], limit=1, also=(50, 151)).best)


def test_an_empty_index_answers_nothing(db: Database) -> None:
    answer = index_of(db).search(drawn(1)[0], limit=5)

    assert ({}, 0, 0.0, 0.0) == (answer.best, answer.vectors, answer.mean, answer.deviation)


def test_vectors_of_another_length_are_left_out(db: Database, vectors: Vectors) -> None:
    add(db, vectors, drawn(5))
    stand_in(db, "memories", [99])
    with db.transaction():
        vectors.add([NewVector(memory_no=99, chunk_no=None, vector=np.ones(3, dtype=np.float32))])

    assert 5 == index_of(db).count()


def test_additions_and_removals_are_followed(db: Database, vectors: Vectors) -> None:
    rows = drawn(60)
    index = index_of(db)
    add(db, vectors, rows[:20])
    assert 20 == index.count()
    add(db, vectors, rows[20:40], first_memory=21)
    assert 31 == next(iter(index.search(rows[30], limit=1).best))

    vectors.remove_memory(31)
    assert 39 == index.count()
    assert 31 not in index.search(rows[30], limit=40).best

    vectors.remove_all()
    assert 0 == index.count()
    add(db, vectors, rows[40:], first_memory=41)
    assert (20, 41) == (index.count(), next(iter(index.search(rows[40], limit=1).best)))


def test_another_connection_of_the_store_is_followed(db: Database, vectors: Vectors, tmp_path: Path) -> None:
    index = index_of(db)
    add(db, vectors, drawn(3))
    assert 3 == index.count()
    other = Database.open(tmp_path / "memory.db", clock=SystemClock())
    add(other, Vectors(other), drawn(4, seed=9), first_memory=10)
    Vectors(other).remove_memory(1)
    other.close()

    assert 6 == index.count()


# The cache file -------------------------------------------------------------------------------------------------


@pytest.fixture(params=["plain", "sealed"])
def small_tail(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache is written from 51 vectors on, not from 30,001; that of a plain store, and that of an encrypted one."""
    monkeypatch.setattr(module, "_TAIL_LIMIT", 50)
    monkeypatch.setattr(module, "EXACT_LIMIT", 50)
    if request.param == "sealed":
        monkeypatch.setitem(globals(), "CIPHER", StoreKeys(bytes(32)).cipher(CACHE))


def caches(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("vectors-*"))


@pytest.mark.row("L138", "A041")
@pytest.mark.usefixtures("small_tail")
def test_a_cache_file_is_written_and_used_by_the_next(db: Database, vectors: Vectors, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    rows = drawn(200)
    add(db, vectors, rows[:120])
    before = index_of(db, cache).search(rows[5], limit=9)
    assert 1 == len(caches(cache))

    again, reads = watched(db, cache)
    assert before == again.search(rows[5], limit=9)
    assert [120] == reads

    add(db, vectors, rows[120:], first_memory=121)
    vectors.remove_memory(6)
    expected = [m for m, _ in brute_force(rows, rows[5], 10) if m != 6][:9]
    for index in (again, index_of(db, cache), index_of(db, None)):
        assert expected == list(index.search(rows[5], limit=9).best)
    assert 1 == len(caches(cache))


def test_few_vectors_are_in_the_store_alone(
    db: Database, vectors: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TAIL_LIMIT", 50)
    cache = tmp_path / "cache"
    rows = drawn(300)
    add(db, vectors, rows[:120])
    vectors.remove_memory(3)
    written = index_of(db, cache)
    assert 119 == written.count()
    add(db, vectors, rows[120:], first_memory=121)  # more than a tail has
    vectors.remove_memory(200)

    again, reads = watched(db, cache)

    expected = [m for m, _ in brute_force(rows, rows[5], 12) if m not in {3, 200}][:9]
    for index in (written, again):
        assert (298, expected) == (index.count(), list(index.search(rows[5], limit=9).best))
        assert 0 < index.nbytes()
    assert ([0], False) == (reads, cache.exists())


def test_a_file_of_few_vectors_goes_when_they_are_put_together_anew(
    db: Database, vectors: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TAIL_LIMIT", 50)
    monkeypatch.setattr(module, "EXACT_LIMIT", 50)
    cache = tmp_path / "cache"
    rows = drawn(300)
    add(db, vectors, rows[:120])
    assert (120, 1) == (index_of(db, cache).count(), len(caches(cache)))
    monkeypatch.setattr(module, "EXACT_LIMIT", 500)

    index, reads = watched(db, cache)
    assert (120, [120], 1) == (index.count(), reads, len(caches(cache)))
    add(db, vectors, rows[120:], first_memory=121)

    expected = [memory for memory, _ in brute_force(rows, rows[5], 9)]
    assert (300, expected) == (index.count(), list(index.search(rows[5], limit=9).best))
    assert ([], True) == (caches(cache), index.is_exact)


@pytest.mark.row("L138")
@pytest.mark.usefixtures("small_tail")
@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "header", "gone"])
def test_a_damaged_cache_costs_nothing_but_time(
    db: Database, vectors: Vectors, tmp_path: Path, damage: str
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    rows = drawn(120)
    add(db, vectors, rows)
    expected = index_of(db, cache).search(rows[5], limit=9)
    (path,) = cache.glob("vectors-*")
    data = bytearray(path.read_bytes())
    match damage:
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "flipped":
            for at in range(4_000, 8_000):  # inside the matrix
                data[at] ^= 0x40
            path.write_bytes(data)
        case "empty":
            path.write_bytes(b"")
        case "foreign":
            path.write_bytes(b"something else entirely" * 100)
        case "header":
            data[20:40] = b"\xff" * 20
            path.write_bytes(data)
        case "gone":
            path.unlink()

    assert expected == index_of(db, cache).search(rows[5], limit=9)


@pytest.mark.usefixtures("small_tail")
def test_the_cache_of_the_other_kind_of_store_is_ignored_and_written_anew(
    db: Database, vectors: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    rows = drawn(120)
    add(db, vectors, rows)
    expected = index_of(db, cache).search(rows[5], limit=9)
    sealed = CIPHER is not None
    assert sealed is is_sealed((cache / caches(cache)[0]).read_bytes())
    monkeypatch.setitem(globals(), "CIPHER", None if sealed else StoreKeys(bytes(32)).cipher(CACHE))

    index, reads = watched(db, cache)

    assert expected == index.search(rows[5], limit=9)
    assert [0] == reads
    (name,) = caches(cache)
    assert sealed is not is_sealed((cache / name).read_bytes())


@pytest.mark.usefixtures("small_tail")
def test_a_cache_of_another_embedder_or_store_is_ignored(
    db: Database, vectors: Vectors, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    rows = drawn(120)
    add(db, vectors, rows)
    assert 120 == index_of(db, cache).count()

    for identity, expected in (("store model", 120), ("store other-model", 0), ("other-store model", 0)):
        index, reads = watched(db, cache, identity=identity)
        assert (120, expected) == (index.count(), reads[0])


@pytest.mark.usefixtures("small_tail")
def test_a_cache_that_is_newer_than_a_restored_store_is_ignored(
    db: Database, vectors: Vectors, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    rows, others = drawn(200), drawn(200, seed=7)
    add(db, vectors, rows)
    assert 200 == index_of(db, cache).count()
    # As after a restored backup: the same numbers are given once more, to other vectors.
    with db.transaction() as con:
        con.execute("DELETE FROM vectors")
        con.execute("DELETE FROM sqlite_sequence WHERE name = 'vectors'")
        con.execute("UPDATE changes SET n = 1 WHERE family = 'vectors'")
    add(db, vectors, others[:10], first_memory=1000)

    index = index_of(db, cache)
    assert (10, 1003) == (index.count(), next(iter(index.search(others[3], limit=1).best)))
    add(db, vectors, others[10:], first_memory=1010)
    for vector_index in (index, index_of(db, cache), index_of(db, cache)):
        assert (200, 1150) == (
            vector_index.count(),
            next(iter(vector_index.search(others[150], limit=1).best)),
        )


# Sign bits ------------------------------------------------------------------------------------------------------


def recall_at_10(index: VectorIndex, rows: Any, queries: Sequence[Any]) -> float:
    found = 0
    for query in queries:
        truth = {memory for memory, _ in brute_force(rows, query, 10)}
        best = list(index.search(query, limit=10).best)
        found += len(truth & set(best[:10]))
    return found / (10 * len(queries))


@pytest.mark.usefixtures("small_tail")
def test_sign_bits_find_what_an_exact_search_finds(
    db: Database, vectors: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXACT_LIMIT", 2_000)
    cache = tmp_path / "cache"
    cache.mkdir()
    rows = drawn(6_000)
    add(db, vectors, rows)
    index = index_of(db, cache)
    queries = list(drawn(40, seed=3))

    assert recall_at_10(index, rows, queries) >= 0.99
    assert not index.is_exact
    for query in queries[:5]:
        answer, cosines = index.search(query, limit=10), rows @ query
        # The spread is worked out from mean and covariance: as exact as if every cosine had been computed.
        assert float(cosines.mean()) == pytest.approx(answer.mean, abs=2e-3)
        assert float(cosines.std()) == pytest.approx(answer.deviation, abs=2e-3)
        for memory, (cosine, _) in answer.best.items():
            assert float(cosines[memory - 1]) == pytest.approx(cosine, abs=1e-3)

    assert recall_at_10(index_of(db, cache), rows, queries[:10]) >= 0.99


@pytest.mark.parametrize("dimensions", [5, 64, 96, 384])
def test_products_of_signs_are_the_questions_with_ones_and_minus_ones(dimensions: int) -> None:
    random = np.random.default_rng(dimensions)
    rows = random.normal(size=(500, dimensions)).astype(np.float32)
    mean, query = rows.mean(axis=0), random.normal(size=dimensions).astype(np.float32)
    some = np.array([3, 4, 77, 499])

    products = products_of_signs(sign_bits(rows, mean), some, query)

    np.testing.assert_allclose(products, np.where(rows[some] > mean, 1, -1) @ query, rtol=1e-4, atol=1e-4)


def test_so_much_is_looked_at_again_that_questions_far_from_every_vector_are_served() -> None:
    """Texts that share sentences are nearer to each other than questions, which share some words with them."""
    random = np.random.default_rng(8)
    words = random.normal(size=(3_000, 384)) + 0.25 * random.normal(size=384)
    sentences = words[random.integers(0, 3_000, (6_000, 8))].sum(axis=1)
    texts = unit(sentences[random.integers(0, 6_000, (40_000, 3))].sum(axis=1)).astype(np.float16)
    questions = unit(words[random.integers(0, 3_000, (40, 4))].sum(axis=1))
    no, mean = np.arange(len(texts)), texts.astype(np.float32).mean(axis=0)
    bits = sign_bits(texts, mean)
    alive = np.ones(len(texts), dtype=np.bool_)
    segment = VectorSegment(
        no=no, memory_no=no, chunk_no=no, matrix=texts, alive=alive, bits=bits, centre=mean
    )

    shortlist = shortlist_needed(VectorRows(no=no, memory_no=no, chunk_no=no, matrix=texts), bits, mean)

    assert shortlist is not None
    truth = np.argpartition(-(texts.astype(np.float32) @ questions.T), 10, axis=0)[:10]
    shares = [
        np.isin(truth[:, at], nearest_by_signs(segment, question, alive, shortlist)).mean()
        for at, question in enumerate(questions)
    ]
    assert float(np.mean(shares)) >= 0.97, shortlist


@pytest.mark.usefixtures("small_tail")
def test_sign_bits_mask_what_was_removed_and_see_what_came_later(
    db: Database, vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXACT_LIMIT", 1_000)
    rows = drawn(3_000)
    add(db, vectors, rows)
    index = index_of(db)
    assert 11 == next(iter(index.search(rows[10], limit=1).best))
    assert not index.is_exact

    vectors.remove_memory(11)
    add(db, vectors, rows[10:11], first_memory=9_000)

    best = index.search(rows[10], limit=5).best
    assert (True, 9_000) == (11 not in best, next(iter(best)))
    assert 3_000 == index.count()


@pytest.mark.usefixtures("small_tail")
def test_a_cache_of_vectors_that_are_all_compared_holds_no_sign_bits(
    db: Database, vectors: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXACT_LIMIT", 2_000)
    monkeypatch.setattr(module, "BASE_BYTES", 100_000)  # so that they are mapped from a file all the same
    cache = tmp_path / "cache"
    cache.mkdir()
    rows = drawn(2_000)
    add(db, vectors, rows)
    assert index_of(db, cache).is_exact
    (file,) = cache.iterdir()

    numbers = 3 * 8
    assert file.stat().st_size < len(rows) * (2 * DIMENSIONS + numbers) + 2_000
    assert 1.0 == recall_at_10(index_of(db, cache), rows, list(drawn(5, seed=3)))

    monkeypatch.setattr(module, "EXACT_LIMIT", 2_500)
    add(db, vectors, drawn(1_000, seed=7), first_memory=5_000)  # which make it anew, and too many
    assert not index_of(db, cache).is_exact


@pytest.mark.usefixtures("small_tail")
def test_where_sign_bits_say_too_little_the_search_stays_exact(
    db: Database, vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXACT_LIMIT", 500)
    monkeypatch.setattr("hexad.search.vectors.arithmetic.SHORTLISTS", (Shortlist(pool=24, rescored=12),))
    rows = (
        unit(np.random.default_rng(4).normal(size=(4_000, DIMENSIONS))).astype(np.float16).astype(np.float32)
    )
    add(db, vectors, rows)
    index = index_of(db)

    assert 1.0 == recall_at_10(index, rows, list(drawn(10, seed=5)))
    assert index.is_exact


@pytest.mark.usefixtures("small_tail")
def test_a_filter_makes_the_search_exact(
    db: Database, vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXACT_LIMIT", 500)
    rows = drawn(2_000)
    add(db, vectors, rows)
    allowed = np.zeros(2_001, dtype=np.bool_)
    allowed[1_500:] = True

    answer = index_of(db).search(rows[0], limit=10, allowed=allowed)

    expected = brute_force(rows[1_499:], rows[0], 10, first_memory=1_500)
    assert [memory for memory, _ in expected] == list(answer.best)


def test_what_a_larger_question_left_behind_is_in_no_later_answer(db: Database, vectors: Vectors) -> None:
    add(db, vectors, drawn(60), each=2)
    used = index_of(db)
    fresh = [index_of(db) for _ in range(5)]
    for limit, unused in zip((25, 3, 1, 40, 7), fresh, strict=True):
        query = drawn(1, seed=limit)[0]
        assert used.search(query, limit=limit) == unused.search(query, limit=limit), limit


def test_threads_that_search_at_once_do_not_share_the_room_for_their_vectors(
    db: Database, vectors: Vectors
) -> None:
    add(db, vectors, drawn(60))
    index, queries = index_of(db), drawn(400, seed=3)
    alone = [index.search(query, limit=60) for query in queries]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda query: index.search(query, limit=60), queries))
    finally:
        sys.setswitchinterval(before)

    assert alone == together


def test_a_half_of_any_size_counts_as_what_it_is() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    column = np.zeros((len(halves), 8), dtype=np.float16)
    column[:, 3] = halves
    query = np.zeros(8, dtype=np.float32)
    query[3] = 0.75

    expected = (halves.astype(np.float32) * np.float32(0.75)).tolist()
    backwards = np.arange(len(halves))[::-1]

    assert expected == products_of_halves(column, None, query).tolist()
    assert expected[::-1] == products_of_halves(column, backwards, query).tolist()
    assert [] == products_of_halves(column, backwards[:0], query).tolist()
