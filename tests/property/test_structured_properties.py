"""What holds for any record: it comes back as it was stored, and handing it in again changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import hexad
from example_counts import SHARED_FIXTURES, examples
from hexad import FrozenClock, Hexad, Outcome, TimeSortedIds
from hexad.testing import HashEmbedder, ScriptedGenerator
from hexad.text.normalize import clean, slug

SHARED = settings(
    max_examples=examples(20),
    suppress_health_check=SHARED_FIXTURES,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # a store for each attempt at a smaller example takes minutes
)
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)  # half a character is refused
texts = anything.filter(lambda text: clean(text).strip() != "")
secrets = st.sampled_from(
    [
        "password: Tr0ub4dor&3xyz",
        "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJ2kL4",
        "Authorization: Bearer abcDEF123456789xyz",
        "nothing",
    ]
)
long_texts = st.lists(st.one_of(texts, secrets), min_size=1, max_size=12).map("\n\n".join)
names = st.text("abcdefgh -_", min_size=1, max_size=20).filter(lambda text: slug(text) != "")
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
fields = st.fixed_dictionaries(
    {"raw": long_texts},
    optional={
        "path": st.lists(names, min_size=1, max_size=3).map("/".join),
        "kind": names,
        "summary_micro": anything,
        "summary_short": long_texts,
        "summary_long": long_texts,
        "tags": st.lists(names, max_size=4),
        "metadata": st.dictionaries(st.text(max_size=10), json_values, max_size=4),
        "relevance": st.sampled_from(["high", "medium", "low"]),
        "pinned": st.booleans(),
        "created_at": st.sampled_from(["2020-01-01", "2031-12-31T23:59:59.123456Z"]),
        "importance": st.floats(0, 1),
        "subject": names,
        "value": json_values,
        "data_subjects": st.lists(names, max_size=2),
        "source_id": names,
        "trust": st.sampled_from(["user", "web"]),
        "status": st.sampled_from(["active", "archived"]),
        "chunks": st.lists(st.fixed_dictionaries({"chunk_id": names, "text": texts}), max_size=2),
    },
)


@st.composite
def payloads(draw: st.DrawFn) -> dict[str, Any]:
    """A record; its chunks, if it has any, are slices of its text, which may overlap, or come from nowhere."""
    payload = draw(fields)
    raw = payload["raw"]
    if draw(st.booleans()):
        starts = sorted(draw(st.lists(st.integers(0, len(raw)), max_size=4)))
        cut = [raw[start : start + draw(st.integers(1, 80))] for start in starts]
        payload["chunks"] = [{"text": text} for text in cut if text.strip()]
    return payload


def fresh(**options: Any) -> Hexad:
    clock = FrozenClock()
    return hexad.open(
        ":memory:",
        clock=clock,
        ids=TimeSortedIds(clock, seed=1),
        embedder=HashEmbedder(),
        background=False,
        **options,
    )


@pytest.fixture(scope="module")
def store() -> Iterator[Hexad]:
    with fresh() as hx:
        yield hx
        assert [] == hx.check()


@pytest.mark.row("L064", "L116")
@SHARED
@given(payload=payloads(), as_text=st.booleans())
def test_a_record_handed_back_is_unchanged(store: Hexad, payload: dict[str, Any], as_text: bool) -> None:
    memory = store.remember_structured("s", payload)
    record = store.get(memory.id).to_dict()

    again = store.remember_structured("s", json.dumps(record) if as_text else record)

    assert again.receipt is not None
    assert Outcome.UNCHANGED is again.receipt.outcome
    assert record == store.get(memory.id).to_dict() == again.to_dict()


@pytest.mark.row("L064")
@SHARED
@given(payload=payloads())
def test_a_record_is_the_same_in_another_store(store: Hexad, payload: dict[str, Any]) -> None:
    memory = store.remember_structured("s", payload)
    record = store.get(memory.id).to_dict()

    with fresh() as other:
        other.remember_structured("s", record)
        copied = other.get(memory.id).to_dict()

    left_out = {"evidence": 1, "chunks": []} if "chunks" in payload else {"evidence": 1}
    assert {**record, **left_out} == {**copied, **left_out}


@pytest.mark.row("L065")
@SHARED
@given(payload=payloads())
def test_every_open_field_is_filled_and_the_chunks_hold_all_of_the_text(
    store: Hexad, payload: dict[str, Any]
) -> None:
    memory = store.remember_structured("s", payload)

    assert all((memory.path, memory.kind, memory.summary_micro, memory.summary_short, memory.summary_long))
    assert memory.created_at <= memory.updated_at
    covered = [False] * len(memory.raw)
    for chunk in memory.chunks:
        covered[chunk.start : chunk.end] = [True] * (chunk.end - chunk.start)
    assert not [at for at, char in enumerate(memory.raw) if not covered[at] and not char.isspace()]


answers = st.one_of(
    anything,
    json_values.map(json.dumps),
    st.fixed_dictionaries(
        {
            "path": anything,
            "summary_micro": long_texts,
            "summary_short": long_texts,
            "summary_long": long_texts,
            "tags": st.lists(anything, max_size=20),
            "relevance": st.sampled_from(["high", "medium", "low", "urgent"]),
        },
        optional={"pin": st.booleans(), "id": anything, "kind": anything, "space": anything},
    ),
)


@pytest.mark.row("L066")
@SHARED
@given(text=long_texts, said=answers, hint=st.none() | names)
def test_whatever_a_model_says_the_record_is_sound(text: str, said: Any, hint: str | None) -> None:
    with fresh(generator=ScriptedGenerator(lambda prompt: said)) as hx:
        memory = hx.remember_raw("s", "note", text, path_hint=hint)

        assert memory == hx.get(memory.id)
        assert ("s", "note", False) == (memory.space, memory.kind, memory.pinned)
        root = " ".join(hint.split("/")).strip() if hint else "project"
        assert memory.path == root or memory.path.startswith(root + "/")
        assert len(memory.tags) <= 12
        for summary, limit in (
            (memory.summary_micro, 160),
            (memory.summary_short, 480),
            (memory.summary_long, 1_600),
        ):
            assert len(summary.replace("[REDACTED:", "").replace("]", "")) <= limit + 40
        record = memory.to_dict()
        again = hx.remember_structured("s", record)
        assert again.receipt is not None
        assert Outcome.UNCHANGED is again.receipt.outcome
        assert [] == hx.check()
