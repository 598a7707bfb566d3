from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

import pytest

from hexad.core.as_json import as_json, plain


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    number: int

    def to_dict(self):
        return {"n": self.number}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    name: str
    colour: Colour
    at: datetime
    inner: tuple[Inner, ...]
    factors: dict[Colour, float]
    words: frozenset[str]
    place: Path | None = None


OUTER = Outer(
    name="a",
    colour=Colour.RED,
    at=datetime(2026, 1, 2, tzinfo=UTC),
    inner=(Inner(number=1),),
    factors={Colour.RED: 0.5},
    words=frozenset({"b", "a"}),
)


def test_a_dataclass_is_an_object_of_its_fields_in_their_order():
    assert [
        ("name", "a"),
        ("colour", "red"),
        ("at", "2026-01-02T00:00:00Z"),
        ("inner", [{"n": 1}]),
        ("factors", {"red": 0.5}),
        ("words", ["a", "b"]),
        ("place", None),
    ] == list(as_json(OUTER).items())


def test_fields_can_be_left_out():
    assert ["name", "place"] == list(as_json(OUTER, without=("colour", "at", "inner", "factors", "words")))


def test_names_choose_fields_and_properties_in_their_order():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Square:
        side: int

        @property
        def area(self) -> int:
            return self.side**2

    assert [("area", 9), ("side", 3)] == list(as_json(Square(side=3), "area", "side").items())


def test_what_has_no_form_is_an_error_and_no_guess():
    with pytest.raises(TypeError, match="object has no form as JSON"):
        plain(object())


def test_a_sequence_with_a_form_of_its_own_is_written_in_that_form():
    class Hits(tuple[str, ...]):
        __slots__ = ()

        def to_dict(self):
            return {"hits": list(self), "mode": "lexical"}

    assert {"hits": ["a"], "mode": "lexical"} == plain(Hits(("a",)))
