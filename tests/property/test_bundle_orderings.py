"""Every ordering equals its formula, exactly: the same ids and the same floats as brute force over all memories."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hexad
from example_counts import SHARED_FIXTURES, examples
from hexad import FrozenClock, Hexad, Memory, TimeSortedIds
from reference_orderings import BACKENDS, order_for_kind, order_for_topic

START = datetime(2025, 11, 20, tzinfo=UTC)
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday: neither end of a week
# Few words, so that paths, tags, metadata and topics meet; some are parts of others, some are not ASCII.
WORDS = (
    "gate",
    "gateway",
    "retry",
    "pool",
    "Größe",
    "größe",
    "時間",
    "x",
    "db-pool",
    "auth_token",
    "Ünï",
    "İstanbul",
)
KINDS = ("guide", "decision", "log", "config")
RELEVANCE = ("high", "medium", "low")

word = st.sampled_from(WORDS)
sentence = st.lists(word, min_size=1, max_size=8).map(" ".join)
value = st.one_of(
    sentence,
    st.lists(st.one_of(sentence, st.integers(0, 9), st.none()), max_size=3),
    st.integers(0, 9),
    st.dictionaries(word, sentence, max_size=2),
)
memory = st.fixed_dictionaries(
    {
        "text": st.lists(sentence, min_size=1, max_size=4).map(".\n\n".join),
        "path": st.lists(word, min_size=1, max_size=4).map("/".join),
        "kind": st.sampled_from(KINDS),
        "tags": st.lists(word, max_size=3),
        "relevance": st.sampled_from(RELEVANCE),
        "pinned": st.booleans(),
        "metadata": st.dictionaries(st.sampled_from(["owner", "area", "parts"]), value, max_size=3),
        # Many share a time, a week, or a month; a few are of the future.
        "minutes": st.one_of(st.sampled_from([0, 0, 1, 60 * 24 * 45]), st.integers(-400_000, 200_000)),
    }
)
topic = st.one_of(
    st.just(""),
    st.just("  "),
    word,
    st.lists(word, min_size=1, max_size=4).map("/".join),
    st.lists(word, min_size=1, max_size=4).map("  ".join),
    st.lists(word, min_size=2, max_size=3).map("-".join),
    st.sampled_from(["g", "/", " gate / retry ", "GATEWAY", "時", "İ", "%", "_", "gate\tway"]),
    st.text(max_size=12),
)
options = st.fixed_dictionaries(
    {},
    optional={
        "prefer_kinds": st.lists(st.sampled_from([*KINDS, "other"]), max_size=3),
        "prefer_tags": st.lists(word, max_size=3),
        "require_high_relevance": st.booleans(),
        "order": st.sampled_from(["score", "strict"]),
        "path": st.one_of(word, st.lists(word, min_size=1, max_size=2).map("/".join)),
        "limit": st.sampled_from([1, 3, 100]),
    },
)
change = st.sampled_from(["pin", "unpin", "forget", "restore", "rewrite", "add", "other space"])
SHARED = settings(
    max_examples=examples(25),
    suppress_health_check=SHARED_FIXTURES,
    derandomize=True,
)


@pytest.fixture(scope="module")
def store() -> Iterator[Hexad]:
    clock = FrozenClock(NOW)
    with hexad.open(
        ":memory:", clock=clock, ids=TimeSortedIds(clock, seed=1), embedder=None, background=False
    ) as hx:
        yield hx
        assert [] == hx.check()


spaces = (f"space-{number}" for number in range(100_000))


def remember(hx: Hexad, space: str, draft: dict[str, Any], memory_id: str) -> None:
    at = START + timedelta(minutes=draft["minutes"])
    fields = {name: field for name, field in draft.items() if name not in ("text", "minutes")}
    hx.remember(draft["text"], space=space, id=memory_id, freeze_clock=at, **fields)


def assert_equal(hx: Hexad, space: str, topic: str, chosen: dict[str, Any]) -> None:
    memories: list[Memory] = hx.memories(space=space, limit=None)
    asked = {
        "now": NOW,
        "tags": [hexad_slug(tag) for tag in chosen.get("prefer_tags", ())],
        "high_only": chosen.get("require_high_relevance", False),
        "path": chosen.get("path"),
        "strict": chosen.get("order") == "strict",
        "limit": chosen.get("limit", 5),
    }
    for backend in BACKENDS:
        bundle = hx.recall_context(space, topic, chosen, backend=backend, freeze_clock=NOW)
        expected = order_for_topic(
            memories, topic, backend=backend, kinds=chosen.get("prefer_kinds", ()), **asked
        )
        found = [section["id"] for section in bundle.sections]
        assert expected == list(zip(bundle.scores, found, strict=True)), (backend, topic, chosen)
        for kind in ("guide", "log"):
            listed = hx.recall_kind(space, kind, chosen, backend=backend, freeze_clock=NOW)
            expected = order_for_kind(memories, kind, backend=backend, **asked)
            assert expected == [
                (score, str(section["id"])) for score, section in zip(listed.scores, listed, strict=True)
            ]


def hexad_slug(tag: str) -> str:
    from hexad.text.normalize import slug

    return slug(tag)


@pytest.mark.row("L088", "L097", "L132", "L155")
@SHARED
@given(
    drafts=st.lists(memory, min_size=0, max_size=12),
    topic=topic,
    chosen=options,
    changes=st.lists(st.tuples(change, st.integers(0, 11), memory), max_size=5),
)
def test_bundles_equal_brute_force_and_still_do_after_changes(
    store: Hexad,
    drafts: list[dict[str, Any]],
    topic: str,
    chosen: dict[str, Any],
    changes: list[tuple[str, int, dict[str, Any]]],
) -> None:
    space = next(spaces)
    store.spaces.create(space)
    for number, draft in enumerate(drafts):
        remember(store, space, draft, f"{space}/{number:02}")
    assert_equal(store, space, topic, chosen)

    for number, (what, at, draft) in enumerate(changes):
        ids = [memory.id for memory in store.memories(space=space, status=None, limit=None)]
        if what == "add" or not ids:
            remember(store, space, draft, f"{space}/new-{number}")
        elif what == "other space":
            remember(store, f"{space}-other", draft, f"{space}/other-{number}")
        elif what == "rewrite":
            remember(store, space, draft, ids[at % len(ids)])
        else:
            getattr(store, what)(ids[at % len(ids)])
        assert_equal(store, space, topic, chosen)


@pytest.mark.row("L155")
def test_a_large_corpus_equals_brute_force_too(store: Hexad) -> None:
    rng = random.Random(20_260_301)
    space = "large"
    for number in range(400):
        draft = {
            "text": " ".join(rng.choices(WORDS, k=rng.randint(1, 60))),
            "path": "/".join(rng.choices(WORDS, k=rng.randint(1, 4))),
            "kind": rng.choice(KINDS),
            "tags": rng.choices(WORDS, k=rng.randint(0, 3)),
            "relevance": rng.choice(RELEVANCE),
            "pinned": rng.random() < 0.1,
            "metadata": {"owner": rng.choice(WORDS), "parts": rng.choices(WORDS, k=2), "n": number},
            "minutes": rng.choice([0, 5, rng.randint(-300_000, 150_000)]),
        }
        remember(store, space, draft, f"large/{number:03}")
    for topic in ("", "gateway", "gate/retry", "x", "größe 時間", "auth-token"):
        for chosen in ({"limit": 100}, {"prefer_tags": ["pool"], "prefer_kinds": ["log"], "order": "strict"}):
            assert_equal(store, space, topic, chosen)
