"""A store that stays open while others write to it answers as one that is opened anew, to the last bit."""

from __future__ import annotations

from contextlib import suppress

import numpy  # with it postings are followed, and nothing loads it for them
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hexad
from example_counts import SHARED_FIXTURES, examples
from hexad import Hexad
from hexad.errors import Conflict, NotFound
from hexad.memory.query import Filters
from hexad.search.fulltext import FullText, any_word
from hexad.testing import HashEmbedder
from opener import Opener

assert numpy
WORDS = ("heron", "nest", "river", "egg", "well-known", "herons")
SPACES = ("default", "ponds", "lakes")
TAGS = ("water", "birds")

texts = st.lists(st.sampled_from((*WORDS, "the", "of many", "beside")), min_size=1, max_size=30).map(" ".join)
numbers = st.integers(0, 11)
writes = st.one_of(
    st.tuples(st.just("remember"), texts, st.sampled_from(SPACES), st.booleans()),
    st.tuples(st.just("update"), numbers, texts),
    st.tuples(st.just("say"), texts, st.sampled_from(("Ann", "Ben"))),
    st.tuples(st.sampled_from(("archive", "restore", "erase")), numbers),
    st.tuples(st.just("tag"), numbers, st.sampled_from(TAGS)),
    st.tuples(st.just("undo"), texts),
    st.tuples(st.sampled_from(("embed", "rebuild", "merge"))),
)
QUESTIONS = (
    {"query": "heron nest"},
    {"query": "well-known river herons", "limit": 20},
    {"query": "egg beside the river", "space": ["ponds"]},
    {"query": "heron", "kinds": ["note"]},
    {"query": "nest of the heron", "tags": ["water"]},
)


class Undone(Exception):
    """Ends a transaction."""


def write(hx: Hexad, what: tuple[object, ...], made: list[str]) -> None:
    """Do one of `writes`; what is numbered is taken from what was made so far."""
    name, *arguments = what
    at = made[arguments[0] % len(made)] if made and arguments and isinstance(arguments[0], int) else None
    if name == "remember":
        text, space, named = arguments
        memory = hx.remember(str(text), space=space, id=f"mem-{len(made)}" if named else None)  # type: ignore[arg-type]
        made.append(memory.id)
    elif name == "say":
        text, speaker = arguments
        hx.remember([{"role": "user", "name": speaker, "content": text}], conversation="talk")
    elif name == "undo":
        with pytest.raises(Undone), hx._services.db.transaction():
            hx.remember(f"undone {arguments[0]}")
            hx.recall("heron nest")
            raise Undone
    elif name == "embed":
        hx.embed_pending()
    elif name == "rebuild":
        hx.reindex()
    elif name == "merge":
        hx._services.fulltext.optimize()
    elif at is not None:
        memory = hx.get(at)
        if name == "update":
            hx.remember(str(arguments[1]), id=at, space=memory.space)
        elif name == "archive":
            hx.forget(at)
        elif name == "restore":
            hx.restore(at)
        elif name == "tag":
            hx.tag(at, add=[str(arguments[1])])
        elif name == "erase":
            hx.forget(at, purge=True, confirm=True)
            made[:] = [each for each in made if each != at]


def told(hx: Hexad) -> list[object]:
    """Return what a store answers to the questions."""
    found: list[object] = []
    for question in QUESTIONS:
        arguments = {"limit": 8, **question}
        hits = hx.recall(arguments.pop("query"), **arguments)  # type: ignore[arg-type]
        found.append([(hit.id, hit.score, hit.relevance, hit.parts, hit.text) for hit in hits])
    return found


def answers(hx: Hexad) -> list[object]:
    """Return everything that a store says to the questions, as it is shown."""
    found = told(hx)
    fulltext, places = hx._services.fulltext, hx._services.stores.places
    found.append((fulltext.count(), fulltext.document_frequencies(WORDS)))
    found.append([fulltext.search_words(WORDS[:n], limit=50) for n in range(1, len(WORDS))])
    found.append([fulltext.occurrences(word, None, most=3) for word in WORDS])
    found.append([fulltext.part(Filters(spaces=(space,))).count for space in ("ponds", "lakes")])
    found.append(places.of(range(40)))
    return found


@settings(max_examples=examples(12), suppress_health_check=SHARED_FIXTURES, deadline=None)
@given(steps=st.lists(st.lists(writes, min_size=1, max_size=3), min_size=1, max_size=8))
def test_what_is_kept_follows_any_writes(
    opened: Opener, tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[object, ...]]]
) -> None:
    folder = tmp_path_factory.mktemp("followed")
    made: list[str] = []
    stays, other = opened(folder), opened(folder)
    for space in SPACES:
        for n in range(3):
            write(other, ("remember", f"The heron has {n} nest beside the river.", space, False), made)
    other.embed_pending()
    answers(stays)

    for number, step in enumerate(steps):
        for what in step:
            with suppress(Conflict, NotFound):  # what is active already, or archived
                write((stays, other)[number % 2], what, made)
        with hexad.open(
            folder, embedder=HashEmbedder(), background=False, readonly=True, clock=stays.clock
        ) as fresh:
            assert answers(fresh) == answers(stays)
        fulltext = FullText(stays._services.db)
        for n in range(1, len(WORDS)):
            match = fulltext.search(any_word(WORDS[:n]), limit=50)
            assert match == stays._services.fulltext.search_words(WORDS[:n], limit=50)


@settings(max_examples=examples(12), suppress_health_check=SHARED_FIXTURES, deadline=None)
@given(steps=st.lists(st.lists(writes, min_size=1, max_size=3), min_size=1, max_size=8))
def test_what_a_role_is_answered_follows_any_writes(
    opened: Opener, tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[object, ...]]]
) -> None:
    folder = tmp_path_factory.mktemp("roles")
    made: list[str] = []
    owner = opened(folder)
    for space in SPACES[1:]:
        owner.spaces.create(space)
    stays = opened(folder, role="developer")
    told(stays)  # before anything passes any filter
    for step in steps:
        for what in step:
            with suppress(Conflict, NotFound):
                write(owner, what, made)
        with hexad.open(
            folder,
            actor={"role": "developer"},
            embedder=HashEmbedder(),
            background=False,
            readonly=True,
            clock=owner.clock,
        ) as fresh:
            assert told(fresh) == told(stays)
