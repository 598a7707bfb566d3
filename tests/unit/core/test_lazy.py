from __future__ import annotations

import threading

import pytest

from hexad.core.lazy import Lazy


def test_the_value_is_made_once_whichever_thread_asks_first():
    made = []
    barrier = threading.Barrier(8)

    def make():
        made.append(1)
        threading.Event().wait(0.05)  # the others ask meanwhile
        return object()

    lazy = Lazy(make)
    values = []

    def ask():
        barrier.wait()
        values.append(lazy())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (1, 1) == (len(made), len(set(map(id, values))))


def test_loaded_makes_nothing():
    lazy = Lazy(lambda: "value")

    assert lazy.loaded is None
    assert ("value", "value") == (lazy(), lazy.loaded)


def test_what_could_not_be_made_is_tried_anew():
    results = [ValueError("first"), None]

    def make():
        error = results.pop(0)
        if error is not None:
            raise error
        return 7

    lazy = Lazy(make)
    with pytest.raises(ValueError, match="first"):
        lazy()

    assert 7 == lazy()


def test_a_value_that_was_set_is_not_made():
    lazy = Lazy(lambda: pytest.fail("made"))
    lazy.set(3)

    assert (3, 3) == (lazy(), lazy.loaded)
