"""Layers side by side: who is late or fails is reported, the others answer, and nothing is left behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from threading import Event

import pytest

from hexad import MemoryItem, MemoryLayer, SystemClock
from hexad.errors import InvalidInput, NotFound
from hexad.layers.router.parallel import UNANSWERED_MOST, LayerPool, in_turn

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SESSION, PROJECT, VECTOR = MemoryLayer.SESSION, MemoryLayer.PROJECT, MemoryLayer.VECTOR


def _items(layer: MemoryLayer) -> list[MemoryItem]:
    return [MemoryItem(id=f"{layer}-1", layer=layer, text="x", recency=0, relevance=1, at=NOW, kind="note")]


@pytest.fixture
def pool() -> Iterator[LayerPool]:
    made = LayerPool(SystemClock())
    yield made
    made.close()


def _fetch(pool: LayerPool, asks, *, layer_ms: float = 60_000, total_ms: float = 60_000):
    return pool.fetch(asks, deadlines_ms=dict.fromkeys(asks, layer_ms), total_ms=total_ms)


@pytest.mark.row("A003", "A056", "A107")
def test_a_late_layer_is_named_and_the_others_answer(pool):
    released = Event()
    try:
        asks = {PROJECT: lambda: _items(PROJECT), SESSION: lambda: released.wait(60) and []}
        found = pool.fetch(asks, deadlines_ms={PROJECT: 60_000.0, SESSION: 300.0}, total_ms=60_000)
    finally:
        released.set()

    assert found.late == [SESSION]
    assert list(found.items) == [PROJECT]


@pytest.mark.row("A107")
def test_a_layer_that_fails_is_named_with_the_reason_and_the_others_answer(pool):
    def gone() -> list[MemoryItem]:
        raise NotFound("There is no such place.")

    def broken() -> list[MemoryItem]:
        raise ValueError("the merger with Zanzibar")

    for found in (
        _fetch(pool, {SESSION: gone, PROJECT: broken, VECTOR: lambda: _items(VECTOR)}),
        in_turn({SESSION: gone, PROJECT: broken, VECTOR: lambda: _items(VECTOR)}, clock=SystemClock()),
    ):
        assert found.failed == {SESSION: "There is no such place.", PROJECT: "ValueError in the layer"}
        assert list(found.items) == [VECTOR]
        assert found.late == []


@pytest.mark.row("A003", "A056")
def test_slow_layers_are_waited_for_side_by_side_and_never_longer_than_all_together_may_take(pool):
    released = Event()
    started = time.monotonic()
    try:
        found = pool.fetch(
            {layer: lambda: released.wait(60) and [] for layer in MemoryLayer},
            deadlines_ms=dict.fromkeys(MemoryLayer, 60_000.0),
            total_ms=200,
        )
        took = time.monotonic() - started
    finally:
        released.set()

    assert found.late == list(MemoryLayer)
    assert 0.2 <= took < 30  # six times sixty seconds otherwise


@pytest.mark.row("A003", "A107")
def test_where_nobody_had_anything_in_time_the_late_are_waited_for_until_one_has(pool):
    released, hung = Event(), Event()

    def slow() -> list[MemoryItem]:
        released.wait(60)
        return _items(PROJECT)

    def free() -> list[MemoryItem]:
        released.set()
        return []

    try:
        asks = {SESSION: lambda: hung.wait(60) and [], PROJECT: slow, VECTOR: free}
        found = pool.fetch(asks, deadlines_ms=dict.fromkeys(asks, 1.0), total_ms=1, patience_ms=30_000)
    finally:
        hung.set()

    assert list(_found_of(found)) == [PROJECT]
    assert found.late == [SESSION]


def test_nobody_who_is_late_is_waited_for_where_another_had_something(pool):
    released = Event()
    try:
        asks = {SESSION: lambda: released.wait(60) and _items(SESSION), PROJECT: lambda: _items(PROJECT)}
        found = pool.fetch(
            asks, deadlines_ms={SESSION: 1.0, PROJECT: 60_000.0}, total_ms=60_000, patience_ms=60_000
        )
        assert not released.is_set()
    finally:
        released.set()

    assert found.late == [SESSION]
    assert list(found.items) == [PROJECT]


@pytest.mark.row("A147")
def test_what_is_late_is_not_asked_again_and_again_and_leaves_nothing_behind(pool):
    released = Event()
    try:
        for _ in range(UNANSWERED_MOST + 5):
            assert _fetch(pool, {SESSION: lambda: released.wait(60) and []}, layer_ms=1).late == [SESSION]
        assert pool.busy() == UNANSWERED_MOST
        assert pool.threads() <= UNANSWERED_MOST + 1
        assert list(_fetch(pool, {PROJECT: lambda: _items(PROJECT)}).items) == [PROJECT]
    finally:
        released.set()
    _until(lambda: pool.busy() == 0)

    assert list(_fetch(pool, {SESSION: lambda: _items(SESSION)}).items) == [SESSION]


def test_closing_waits_for_what_is_late_and_ends_every_thread():
    pool, begun, seen = LayerPool(SystemClock()), Event(), []

    def slow() -> list[MemoryItem]:
        begun.set()
        time.sleep(0.3)
        seen.append("done")
        return []

    pool.fetch({SESSION: slow}, deadlines_ms={SESSION: 1}, total_ms=1)
    assert begun.wait(30)
    pool.close()

    assert seen == ["done"]
    assert pool.threads() == 0
    with pytest.raises(InvalidInput, match="closed"):
        _fetch(pool, {SESSION: lambda: []})


def _found_of(found) -> dict[MemoryLayer, object]:
    return {layer: items for layer, items in found.items.items() if items}


def _until(holds) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
