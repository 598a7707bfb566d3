"""What a caller gives is sent as JSON; what JSON cannot hold is named."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import hexad
from hexad.client.arguments import argument_json, query_pairs
from hexad.client.verbs import VERBS, parameters_of


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00Z"),
        (datetime(2026, 1, 1), "2026-01-01T00:00:00"),
        (hexad.TagType.BUD, "bud"),
        (Path("a/b"), "a/b"),
        (("a", 1), ["a", 1]),
        pytest.param((word for word in "ab"), ["a", "b"], id="a generator"),
        ({"a": (0.5, 1.0)}, {"a": [0.5, 1.0]}),
        (np.array([0.5, 1.0]), [0.5, 1.0]),
        (np.int64(3), 3),
        (
            hexad.Citation(path="x"),
            dict.fromkeys(["symbol", "content_hash", "commit", "lines", "marks", "branch"]) | {"path": "x"},
        ),
    ],
    ids=repr,
)
def test_a_value_is_sent_as(value, sent):
    assert sent == argument_json(value, "value")


@pytest.mark.parametrize("value", [object(), b"bytes", print])
def test_what_cannot_be_sent_is_named(value):
    with pytest.raises(hexad.InvalidInput, match="tags = ") as refused:
        argument_json(value, "tags")

    assert "tags" == refused.value.argument


def test_none_and_no_list_stand_in_an_address():
    pairs = query_pairs(
        parameters_of(VERBS["memories"]),
        {"status": None, "space": None, "tags": [], "kinds": ["a", "b"], "pinned": True, "limit": 5},
    )

    assert [
        ("status", ""), ("tags", ""), ("kinds", "a"), ("kinds", "b"), ("pinned", "true"), ("limit", "5"),
    ] == pairs  # fmt: skip


def test_document_2_calls_a_parameter_otherwise_in_its_address():
    assert [("parent", "a")] == query_pairs(
        parameters_of(VERBS["xdb.browse_concepts"]), {"parent_concept_id": "a"}
    )
