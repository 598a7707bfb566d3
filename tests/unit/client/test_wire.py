"""Values travel and come back the same, whatever they are made of; nothing else comes into being."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hexad
from hexad.client.verbs import VERBS, python_call
from hexad.client.wire import _class_of, decode, encode

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    PLAIN | st.datetimes(timezones=st.just(UTC)).map(lambda time: time.replace(fold=0)) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.lists(inner).map(tuple),
    max_leaves=20,
)


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any):
    back = decode(json.loads(json.dumps(encode(value))))

    assert value == back
    assert repr(value) == repr(back)


@pytest.mark.parametrize(
    "value",
    [
        hexad.Fidelity.COLD,
        hexad.CompressionLevel.DAY,
        hexad.Citation(path="gate.py", symbol="retry"),
        hexad.Dropped(memory_id="mem_1", reason="budget"),
        {hexad.MemoryLayer.USER: 1.0},
        {"$type": "Memory", "plain": 1},
        {1: "a", "b": 2},
        pytest.param(frozenset({"a", "b"}), id="a frozen set"),
        timedelta(minutes=5),
        Path("/tmp/x"),
        math.inf,
    ],
    ids=repr,
)
def test_what_json_does_not_have_comes_back(value: Any):
    back = decode(json.loads(json.dumps(encode(value))))

    assert (type(value), value) == (type(back), back)


def test_a_number_that_is_none_comes_back():
    assert math.isnan(decode(json.loads(json.dumps(encode(math.nan)))))


@pytest.mark.parametrize(
    "sent",
    [
        {"$type": "Popen", "args": ["ls"]},
        {"$type": "Hexad"},
        {"$type": "Path", "path": "/"},
        {"$enum": ["Popen", 1]},
        {"$what": 1},
        {"$type": "Citation", "colour": "red"},
        {"$time": "2)026-01-01"},
        {"$bytes": "eA"},
        {"$seconds": "1"},
        {"$map": [[{"$set": [[]]}]]},
        {"$steps": []},
        {"$seconds": 1e300},
    ],
)
def test_what_no_server_of_ours_sends_makes_nothing(sent: Any):
    with pytest.raises(hexad.IntegrityError):
        decode(sent)


def test_what_cannot_travel_is_an_error_of_the_sender():
    with pytest.raises(TypeError, match="object"):
        encode(object())


def test_every_class_that_a_call_answers_with_is_known():
    annotations = " ".join(
        str(inspect.signature(python_call(verb)).return_annotation) for verb in VERBS.values()
    )
    named = {
        name
        for name in hexad.__all__
        if name in annotations.replace("[", " ").replace("]", " ").replace(",", " ").split()
    }
    values = [name for name in named if dataclasses.is_dataclass(getattr(hexad, name))]

    assert len(values) > 40
    assert [getattr(hexad, name) for name in values] == [_class_of(name) for name in values]
