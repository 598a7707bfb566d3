"""What holds for any text: nothing is lost on the way in, and no rebuilding changes an exact answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hexad
from example_counts import SHARED_FIXTURES, examples
from hexad import FrozenClock, Hexad, Outcome, TimeSortedIds
from hexad.core.ids import content_hash
from hexad.redaction.redact import RedactionRules, redact
from hexad.testing import HashEmbedder
from hexad.text.normalize import clean, lone_surrogate, slug

SHARED = settings(
    max_examples=examples(20),
    suppress_health_check=SHARED_FIXTURES,
    derandomize=True,
)
# All of Unicode, controls too; what a question holds may also be half a character.
questions = st.text(st.characters(), max_size=300).filter(lambda text: clean(text).strip() != "")
texts = questions.filter(lambda text: lone_surrogate(text) is None)
words = st.text("abcdefghij ", min_size=3, max_size=40).filter(lambda text: text.strip() != "")
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def fresh() -> Hexad:
    clock = FrozenClock()
    return hexad.open(
        ":memory:", clock=clock, ids=TimeSortedIds(clock, seed=1), embedder=HashEmbedder(), background=False
    )


@pytest.fixture(scope="module")
def store() -> Iterator[Hexad]:
    """One store for all examples: what came before must not matter."""
    with fresh() as hx:
        yield hx
        hx.maintain()
        assert [] == hx.check()


@pytest.mark.row("L025", "L034", "L038")
@SHARED
@given(text=texts)
def test_any_text_comes_back_as_it_was_cleaned_and_redacted(store: Hexad, text: str) -> None:
    memory = store.remember(text)

    stored = store.get(memory.id)
    expected = redact(clean(text), rules=RedactionRules(), salt=b"x" * 32).text
    if memory.receipt is not None and memory.receipt.outcome is not Outcome.ECHO:
        assert expected == stored.raw
        assert content_hash(expected) == stored.content_hash
    assert memory == stored
    spans = [(chunk.start, chunk.end) for chunk in stored.chunks]
    assert spans == sorted(spans)
    covered = "".join(stored.raw[start:end] for start, end in spans)
    assert "".join(stored.raw.split()) == "".join(covered.split())


@SHARED
@given(metadata=st.dictionaries(st.text(max_size=8), json_values, max_size=5), value=json_values)
def test_any_json_comes_back_as_it_was_given(store: Hexad, metadata: dict[str, Any], value: Any) -> None:
    memory = store.remember("A text with anything about it.", id="anything", metadata=metadata, value=value)

    assert memory == store.get("anything")
    json.dumps(memory.to_dict(), allow_nan=False)


@SHARED
@given(tags=st.lists(st.text(max_size=20).filter(lambda tag: slug(tag) != ""), max_size=6))
def test_any_tags_become_slugs_that_a_recall_can_ask_for(store: Hexad, tags: list[str]) -> None:
    memory = store.remember("A text with tags of any kind.", id="tagged", tags=tags)

    assert tuple(sorted({slug(tag) for tag in tags})) == memory.tags
    assert "tagged" in {found.id for found in store.memories(tags=tags, limit=1000)}


@SHARED
@given(question=questions)
def test_any_question_has_an_answer_whose_parts_add_up(store: Hexad, question: str) -> None:
    hits = store.recall(question, limit=5)

    assert len(hits) <= 5
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert hit.score == pytest.approx(sum(hit.parts.values()), abs=1e-9)


@pytest.mark.row("L002", "L004")
@settings(SHARED, max_examples=examples(6))
@given(corpus=st.lists(words, min_size=1, max_size=8), questions=st.lists(words, min_size=1, max_size=3))
def test_reindex_changes_no_answer_and_no_id(corpus: list[str], questions: list[str]) -> None:
    with fresh() as hx:
        for number, text in enumerate(corpus):
            hx.remember(text, id=f"m{number}")
        hx.maintain()

        def answers() -> list[Any]:
            return [
                (mode, [(hit.id, hit.chunk, hit.score, dict(hit.parts)) for hit in hx.recall(question, semantic=mode)])
                for question in questions
                for mode in (None, False)
            ]  # fmt: skip

        before = answers()
        hx.reindex()
        assert before == answers()
        hx.reindex(vectors=True)
        hx.maintain()
        assert before == answers()
        assert [] == hx.check()


@pytest.mark.row("L004", "L018")
@settings(SHARED, max_examples=examples(6))
@given(corpus=st.lists(texts, min_size=1, max_size=6))
def test_the_same_calls_give_the_same_ids_and_records(corpus: list[str]) -> None:
    def run() -> list[Any]:
        with fresh() as hx:
            records = [hx.remember(text).to_dict() for text in corpus]
            # The hash of a removed value is keyed with a secret of the store.
            return [{**record, "metadata": {**record["metadata"], "pii_flags": None}} for record in records]  # type: ignore[dict-item]

    assert run() == run()


@settings(SHARED, max_examples=examples(5))
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["write", "forget", "restore", "pin", "embed"]), st.integers(0, 3), words),
        max_size=14,
    )
)
def test_any_order_of_changes_leaves_a_store_that_is_whole(steps: list[tuple[str, int, str]]) -> None:
    expected: dict[str, tuple[str, str, bool]] = {}
    with fresh() as hx:
        for what, number, text in steps:
            name = f"m{number}"
            if what == "write":
                hx.remember(text, id=name)
                expected[name] = (clean(text), "active", expected.get(name, ("", "", False))[2])
            elif what == "embed":
                hx.maintain()
            elif name in expected:
                raw, status, pinned = expected[name]
                if what == "forget":
                    hx.forget(name)
                    status = "archived"
                elif what == "restore":
                    hx.restore(name)
                    status = "active"
                else:
                    hx.pin(name)
                    pinned = True
                expected[name] = (raw, status, pinned)
        found = {m.id: (m.raw, m.status.value, m.pinned) for m in hx.memories(status=None)}
        assert expected == found
        assert [] == hx.check()
        hx.maintain()
        active = sum(status == "active" for _, status, _ in expected.values())
        assert (active, active, 0) == (
            hx.status().vectors,
            hx.status().chunks,
            hx.status().embeddings_pending,
        )
        assert [] == hx.check()
