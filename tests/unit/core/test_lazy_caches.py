"""Caches with a limit in bytes."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.core.lazy import ByteCache, CacheBook, CacheUse, CountedCache, size_of


@given(
    st.lists(
        st.tuples(st.sampled_from(["get", "put", "pop"]), st.integers(0, 20), st.integers(0, 2_000)),
        max_size=80,
    )
)
def test_a_cache_never_keeps_more_than_its_limit(steps: list[tuple[str, int, int]]) -> None:
    cache, newest = ByteCache[int, bytes](4_000), dict[int, bytes]()
    for step, key, length in steps:
        if step == "put":
            newest[key] = cache.put(key, b"x" * length)
        elif step == "pop":
            cache.pop(key)
            newest.pop(key, None)
        else:
            assert cache.get(key) in (None, newest.get(key))
        assert 0 <= cache.nbytes() <= 4_000
    cache.clear()
    assert (0, 0) == (cache.nbytes(), len(cache))


def test_what_was_used_last_stays() -> None:
    cache = ByteCache[str, bytes](1_500)
    cache.put("a", b"a" * 400)
    cache.put("b", b"b" * 400)
    cache.get("a")

    cache.put("c", b"c" * 400)

    assert (b"a" * 400, None, b"c" * 400) == (cache.get("a"), cache.get("b"), cache.get("c"))


def test_what_is_larger_than_the_room_is_not_kept_and_drops_nothing_else() -> None:
    cache = ByteCache[str, bytes](1_500)
    cache.put("a", b"a" * 400)

    assert 5_000 == len(cache.put("b", b"b" * 5_000))

    assert (b"a" * 400, None) == (cache.get("a"), cache.get("b"))


def test_a_function_is_asked_once_for_what_is_kept() -> None:
    asked: list[str] = []
    look = ByteCache[str, str](1_500).remembering(lambda text: asked.append(text) or text.upper())

    assert ["A", "A"] == [look("a"), look("a")]
    assert ["a"] == asked


def test_a_book_adds_up_caches_of_one_name_and_forgets_those_that_are_gone() -> None:
    book, first, second = CacheBook(), ByteCache[str, str](1_000), CountedCache(500, lambda: 100)
    whole = CountedCache(None, lambda: 0)
    book.add("texts", first)
    book.add("texts", second)
    book.add("index", whole)

    assert CacheUse(bytes=100, limit_bytes=1_500) == book.uses()["texts"]
    assert book.uses()["index"].limit_bytes is None
    del first, second
    gc.collect()
    assert ["index"] == list(book.uses())


@pytest.mark.parametrize("value", [{"a": ["b" * 900]}, ("b" * 900,), frozenset({"b" * 900})])
def test_the_size_of_a_value_counts_what_is_in_it(value: object) -> None:
    assert 900 < size_of(value) < 2_000
