from __future__ import annotations

import re
import threading

import pytest

from hexad.core.lazy import Lazy, lazy_pattern


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


def test_a_lazy_pattern_does_what_a_compiled_one_does():
    for name in (name for name in dir(re.Pattern) if not name.startswith("_")):
        lazy, compiled = (
            lazy_pattern(r"(?P<word>[a-z]+)-(\d)", re.IGNORECASE),
            re.compile(r"(?P<word>[a-z]+)-(\d)", re.I),
        )
        assert getattr(lazy, name) == getattr(compiled, name) or callable(getattr(lazy, name))
    assert ("A-1", "B") == (lazy.search("is A-1, B-2")[0], lazy.match("B-2")["word"])
    assert ["_ c", 1, r"(?P<word>[a-z]+)-(\d)"] == [
        lazy.sub("_", "A-1 c"),
        lazy.groupindex["word"],
        lazy.pattern,
    ]


def test_a_lazy_pattern_is_compiled_when_it_is_first_asked_for_something():
    lazy = lazy_pattern("(")  # what could not be compiled

    with pytest.raises(re.error):
        lazy.search("text")


def test_threads_that_ask_a_lazy_pattern_first_all_get_its_answer():
    for _ in range(50):
        lazy, barrier, found = lazy_pattern("b+"), threading.Barrier(4), []

        def ask(lazy=lazy, barrier=barrier, found=found):
            barrier.wait()
            found.append(lazy.search("abbc")[0])

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ["bb"] * 4 == found
