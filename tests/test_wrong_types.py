"""No call takes a value of a wrong type so far in that Python itself trips over it: each refuses it by name."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import cached_property
from pathlib import Path, PurePath
from types import FunctionType
from typing import Any

import pytest

import hexad
from hexad import Hexad, InvalidInput
from hexad.core.lazy import Lazy

WRONG = (None, 5, [], "", object())
PLAIN = (str, int, float, bool, tuple, list, dict, PurePath, enum.Enum)
LEFT_OUT = {
    "close",  # ends the test
    "watch",  # waits for files
}
OPENING = {"open", "init", "encrypt", "decrypt", "rekey", "encryption_state"}


@pytest.fixture(scope="module")
def hx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hexad]:
    folder = tmp_path_factory.mktemp("wrong-types")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with hexad.open(folder, embedder="hashing", background=False, user_dir=folder / "user") as opened:
            opened.remember("The deploy is on Tuesday.", space="x", path="x/y", id="x")
            opened.xdb.start_session("x")
            opened.xdb.record("input", "hello")
            yield opened


def faces(hx: Hexad) -> Iterator[tuple[str, object]]:
    """Give the store and every object of calls that hangs on it, each once, with how it is reached."""
    known, waiting = {id(hx)}, [("hx", hx)]
    while waiting:
        place, face = waiting.pop()
        yield place, face
        for name in dir(type(face)):
            if name.startswith("_") or not isinstance(
                inspect.getattr_static(type(face), name), property | cached_property | Lazy
            ):
                continue
            try:
                value = getattr(face, name)
            except hexad.HexadError:
                continue
            if isinstance(value, PLAIN) or is_dataclass(value) or id(value) in known or not calls(value):
                continue
            known.add(id(value))
            waiting.append((f"{place}.{name}", value))


def calls(face: object) -> list[str]:
    if not type(face).__module__.startswith("hexad"):
        return []
    return [
        name
        for name in dir(type(face))
        if not name.startswith("_")
        and name not in LEFT_OUT
        and isinstance(inspect.getattr_static(type(face), name), FunctionType)
    ]


def value_for(parameter: inspect.Parameter) -> object:
    """Return a value that a parameter takes, by its type."""
    kind = str(parameter.annotation)
    for words, value in (
        ("Callable", lambda *_: None), ("Mapping", {}), ("Sequence", ["x"]), ("Iterable", ["x"]), ("str", "x"),
        ("int", 1), ("float", 0.5), ("bool", False), ("datetime", "2026-01-01"),
    ):  # fmt: skip
        if words in kind:
            return value
    return "x"


def stumbles(place: str, call: Callable[..., Any], fixed: dict[str, object]) -> Iterator[str]:
    """Give the calls with one wrong value that end in an error which is none of Hexad's."""
    parameters = [
        parameter
        for parameter in inspect.signature(call).parameters.values()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    for wrong_parameter in parameters:
        if wrong_parameter.name in fixed:
            continue
        for wrong in WRONG:
            values = {
                parameter.name: value_for(parameter)
                for parameter in parameters
                if parameter.default is parameter.empty
            }
            if any(parameter.name == "dry_run" for parameter in parameters):
                values["dry_run"] = True
            values |= fixed | {wrong_parameter.name: wrong}
            first = [
                values.pop(parameter.name)
                for parameter in parameters
                if parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in values
            ]
            try:
                result = call(*first, **values)
                if inspect.isgenerator(result):
                    next(result, None)
                elif isinstance(result, Hexad):
                    result.close()
            except hexad.HexadError:
                pass
            except Exception as error:
                yield f"{place}({wrong_parameter.name}={wrong!r}): {type(error).__name__}: {error}"


def test_no_call_of_a_store_stumbles_over_a_wrong_type(hx):
    found = [
        line
        for place, face in faces(hx)
        for name in calls(face)
        for line in stumbles(f"{place}.{name}", getattr(face, name), {})
    ]

    assert not found, "\n".join(found)


def test_no_function_of_the_package_stumbles_over_a_wrong_type(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    functions = [(name, getattr(hexad, name)) for name in hexad.__all__]
    found = [
        line
        for name, function in functions
        if isinstance(function, FunctionType)
        for line in stumbles(
            name,
            function,
            {"path": ":memory:" if name == "open" else tmp_path / "none"} if name in OPENING else {},
        )
    ]

    assert not found, "\n".join(found)


@pytest.mark.parametrize("wrong", [None, 5, [], b"x"])
@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("file", lambda hx, wrong: hx.spaces.verify(wrong)),
        ("file", lambda hx, wrong: hx.spaces.restore(wrong)),
        ("file", lambda hx, wrong: hx.spaces.read_file(wrong)),
        ("folder", lambda hx, wrong: hx.spaces.read_folder(wrong)),
        ("file", lambda _, wrong: hexad.verify_export(wrong)),
        ("text", lambda _, wrong: hexad.instructions_in(wrong)),
        ("listener", lambda _, wrong: hexad.listen(wrong)),
        ("event_type", lambda hx, wrong: hx.xdb.record(wrong, "hello")),
        ("source", lambda hx, wrong: hx.enqueue(wrong)),
    ],
)
def test_a_wrong_type_is_refused_by_name_and_value(hx, argument: str, call: Callable[..., object], wrong):
    before = hx.count(status=None), hx.xdb.sessions()

    with pytest.raises(InvalidInput) as refusal:
        call(hx, wrong)

    assert argument == refusal.value.argument
    assert argument in str(refusal.value)
    assert repr(wrong) in str(refusal.value)
    assert before == (hx.count(status=None), hx.xdb.sessions())


def test_a_clock_that_tells_no_time_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match="clock = 5 cannot be used; give an object with `now` and `monotonic`"
    ):
        hexad.open(tmp_path, clock=5)  # type: ignore[arg-type]

    assert [] == [*tmp_path.iterdir()]
