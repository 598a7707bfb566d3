"""Every cache of an open store has a limit in bytes, and `status` says what is used of it."""

from __future__ import annotations

import cProfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hexad import Hexad
from hexad.experience.query import reader as stream_reader
from hexad.providers.embedders.hashing import HashEmbedder
from hexad.search.vectors import index as vector_index
from hexad.spaces.bundles.orderings import all as orderings
from opener import Opener

WHOLE = {"honeycomb"}
"""What answers are read from alone, as large as the store makes it."""


def used(hx: Hexad) -> None:
    """Call what has caches."""
    for number in range(30):
        hx.remember(f"Note {number}: the gateway retries {number} times on Tuesday.", id=f"note-{number}")
    hx.embed_pending()
    hx.xdb.start_session("talk")
    hx.xdb.record("output", "Noted.", {"pack::Care": 0.9}, event_id="reply")
    hx.xdb.tag("useful", event_id="reply")
    hx.xdb.seal()
    hx.xdb.record("output", "More.", {"pack::Care": 0.9}, event_id="more")
    answers(hx)


def answers(hx: Hexad) -> list[object]:
    """Return what is answered, whatever is kept."""
    return [
        [(hit.id, hit.score) for hit in hx.recall("gateway retries", tags=[])],
        hx.recall_context("default", "gateway").to_json(),
        [step.content for step in hx.xdb.recall(concepts={"pack::Care": (0.5, 1.0)})],
        [event.content for event in hx.xdb.recall_events("noted")],
        [tag.name for tag in hx.xdb.get_tags_for_timestep("ts-talk-1")],
        len(hx.honeycomb.jit_context("gateway retries").pieces),
    ]


@pytest.fixture
def hx(opened: Opener) -> Iterator[Hexad]:
    hx = opened()
    used(hx)
    return hx


def test_status_shows_every_cache_with_its_limit_and_what_is_used(hx: Hexad) -> None:
    hx.context("what does the gateway do?", wait=True)
    caches = hx.status().caches

    assert {
        "claims", "compared texts", "concept numbers", "duckdb", "filters", "honeycomb", "logs of the stream",
        "recalled texts", "redacted fields", "sqlite pages", "tags", "vectors", "vectors of passages",
        "vectors of questions", "views of spaces", "words of the embedder",
    } <= set(caches)  # fmt: skip
    assert WHOLE == {name for name, use in caches.items() if use.limit_bytes is None}
    assert [] == [name for name, use in caches.items() if use.limit_bytes and use.bytes > use.limit_bytes]
    assert 0 < caches["vectors"].bytes
    assert 0 < caches["views of spaces"].bytes
    assert 0 < caches["claims"].bytes
    assert {"bytes", "limit_bytes"} == set(hx.status().to_dict()["caches"]["vectors"])  # type: ignore[index, call-overload, arg-type]


@pytest.mark.parametrize(
    ("module", "limit", "name"),
    [
        (orderings, "VIEWS_BYTES", "views of spaces"),
        (stream_reader, "LOGS_BYTES", "logs of the stream"),
    ],
)
def test_a_cache_without_room_changes_no_answer(
    hx: Hexad, monkeypatch: pytest.MonkeyPatch, module: object, limit: str, name: str
) -> None:
    before = answers(hx)

    monkeypatch.setattr(module, limit, 100)

    assert before == answers(hx) == answers(hx)
    assert hx.status().caches[name].bytes <= 100


def test_vectors_that_pass_their_room_move_to_the_mapped_file(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    hx = opened(tmp_path / "a")
    used(hx)
    before, held = answers(hx), hx.status().caches["vectors"].bytes
    hx.close()

    monkeypatch.setattr(vector_index, "TAIL_BYTES", 1_000)
    monkeypatch.setattr(vector_index, "BASE_BYTES", 1_000)
    with opened(tmp_path / "a") as again:
        assert before[0] == answers(again)[0]
        assert again.status().caches["vectors"].bytes < held / 10


def test_long_words_are_not_kept() -> None:
    embedder = HashEmbedder(64)
    embedder.embed(["short words"])
    before = embedder.remembered.nbytes()

    embedder.embed(["x" * 1_000_000])

    assert 0 < embedder.remembered.nbytes() == before


def test_a_tag_that_was_removed_is_not_kept(opened: Opener) -> None:
    hx = opened()
    hx.xdb.tag_index.create_tag("stays")
    used = hx.status().caches["tags"].bytes
    for number in range(20):
        tag = hx.xdb.tag_index.create_tag(f"round-{number}")
        hx.xdb.tag_index.get_tag(tag.id)
        hx.xdb.remove_tag(tag.id)

    assert 0 < used == hx.status().caches["tags"].bytes


def test_recalled_texts_take_nothing_once_they_are_stored(opened: Opener) -> None:
    hx = opened(background=False)
    hx.remember("The gateway retries three times on Tuesday.")
    hx.recall("gateway retries")
    assert 0 < hx.status().caches["recalled texts"].bytes

    hx.maintain()

    assert 0 == hx.status().caches["recalled texts"].bytes


def test_to_say_how_much_is_kept_takes_no_longer_the_more_that_is(opened: Opener) -> None:
    hx = opened()
    used(hx)
    few = calls_of(hx.status)
    for number in range(30, 230):
        hx.remember(f"Letter {number} of clerk{number:03} is about ledger{number:03}.", id=f"letter-{number}")
        hx.xdb.record("output", f"Said {number}.", {"pack::Care": 0.9}, event_id=f"reply-{number}")
        hx.xdb.tag(f"tag-{number}", event_id=f"reply-{number}")
        hx.recall("clerks of ledgers")
    hx.embed_pending()
    hx.xdb.recall_events("said")

    assert calls_of(hx.status) < few * 1.2


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions something calls, in this thread."""
    work()
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())
