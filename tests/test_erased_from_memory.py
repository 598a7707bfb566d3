"""Erased texts in the memory of a program: by whichever way they went, no cache of any engine keeps them."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from hexad import FrozenClock, Hexad
from hexad.privacy.memory_eraser import MemoryEraser
from opener import Opener

Erase = Callable[[Hexad, FrozenClock, pytest.MonkeyPatch], None]


def name() -> str:
    """The word that was erased: made anew at each call, so that no constant of this module is found."""
    return "".join(reversed("talbrouqxyz"))


def holders() -> list[str]:
    """Describe what in this process holds the word, in a text of any container."""
    re.purge()  # of expressions, Python keeps some itself; those of the words of questions too
    gc.collect()
    return [
        f"{type(container).__qualname__}: {str(container)[:200]}"
        for container in gc.get_objects()
        if name() in "\n".join(_texts(container)).lower()
    ]


def _texts(container: object) -> Iterator[str]:
    for value in gc.get_referents(container):
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple | frozenset | dict | list) and not gc.is_tracked(value):
            yield from _texts(value)  # containers of plain values alone are not among all objects


def fill(*engines: Hexad) -> None:
    """Store two sentences about one person, and have all engines asked about them."""
    hx, person = engines[0], name().title()
    hx.spaces.create("p")
    hx.spaces.set_policy("p", {"allow_delete": True, "ttl_days": 1, "retention": []})
    hx.remember(f"Ann {person} lives in Berlin near the river port.", space="p")
    hx.remember(f"Ann {person} moved to Munich near the river port, no longer in Berlin.", space="p")
    hx.remember("Herons nest in the reeds of the delta.")
    hx.embed_pending()
    for engine in engines:
        for question in ("Where does Ann live?", "Berlin or Munich?", f"Who is {person}?"):
            assert any(name() in hit.text.lower() for hit in engine.recall(question))
        engine.context("Where does Ann live now?", wait=True)  # a layer that comes late ends in its thread


def one_by_one(hx: Hexad, _clock: FrozenClock, _patch: pytest.MonkeyPatch) -> None:
    for memory_id in [memory.id for memory in hx.memories(space="p", limit=None)]:
        hx.forget(memory_id, purge=True, confirm=True)


def by_space(hx: Hexad, _clock: FrozenClock, _patch: pytest.MonkeyPatch) -> None:
    hx.forget(space="p", purge=True, confirm=True)


def with_the_space(hx: Hexad, _clock: FrozenClock, _patch: pytest.MonkeyPatch) -> None:
    hx.spaces.delete("p")


def by_age(hx: Hexad, clock: FrozenClock, _patch: pytest.MonkeyPatch) -> None:
    clock.advance(days=2)
    assert 2 == hx.spaces.gc("p").archived
    clock.advance(days=400)
    assert 2 == hx.spaces.gc("p", purge=True).purged


def wiped(hx: Hexad, _clock: FrozenClock, _patch: pytest.MonkeyPatch) -> None:
    hx.wipe("project", confirm=True)


def after_a_kill(hx: Hexad, _clock: FrozenClock, patch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with patch.context() as broken:
        broken.setattr(MemoryEraser, "erase", killed)
        with pytest.raises(KeyboardInterrupt):
            hx.forget(space="p", purge=True, confirm=True)
    hx.maintain()


def context(hx: Hexad, question: str) -> object:
    return hx.context(question, wait=True)


WAYS = [one_by_one, by_space, with_the_space, by_age, wiped, after_a_kill]


@pytest.mark.parametrize("erase", WAYS)
def test_the_engine_that_erases_keeps_nothing_of_it(
    erase: Erase, opened: Opener, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    hx = opened()
    fill(hx)
    assert [] != holders()

    erase(hx, clock, monkeypatch)

    assert [] == holders()


@pytest.mark.parametrize("erase", WAYS)
@pytest.mark.parametrize("ask", [Hexad.recall, context])
def test_another_engine_keeps_nothing_of_it_after_its_next_question(
    erase: Erase,
    ask: Callable[[Hexad, str], object],
    opened: Opener,
    clock: FrozenClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hx, other = opened(), opened()
    fill(hx, other)
    erase(hx, clock, monkeypatch)
    assert [] != holders()

    ask(other, "What nests in the delta?")

    assert [] == holders()


def test_what_is_undone_takes_nothing_from_another_engine(opened: Opener) -> None:
    hx, other = opened(), opened()
    fill(hx, other)
    before = other.status().caches["wordings of texts"].bytes

    hx.forget(space="p", purge=True, confirm=True, dry_run=True)
    other.recall("What nests in the delta?")

    assert 0 < before == other.status().caches["wordings of texts"].bytes


def test_a_recall_is_noted_as_used_though_something_was_erased_before_it_was_stored(
    opened: Opener, clock: FrozenClock
) -> None:
    hx, other = opened(), opened()
    fill(hx)
    (heron,) = [memory.id for memory in hx.memories(limit=None) if "Herons" in memory.raw]
    clock.advance(days=1)
    other.recall("What nests in the delta?")
    hx.forget(space="p", purge=True, confirm=True)
    other.recall("Who else?")
    other.maintain()

    used = hx.get(heron).last_used_at

    assert used is not None
    assert timedelta(0) <= clock.now() - used < timedelta(hours=1)
