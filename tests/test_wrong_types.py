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

WRONG = (
    None, 5, 10**5000, True, float("nan"), float("inf"), "", "\ud800", "a\0b", "x" * 9_000, b"", [], {}, object(), object,
)  # fmt: skip
SAID_MOST = 2_000
"""No message repeats all of a value that is as long as a book."""
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


def written(value: object) -> str:
    return "a number of 5,001 digits" if value == 10**5000 else repr(value)[:40]


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
            except hexad.HexadError as error:
                if len(str(error)) > SAID_MOST:
                    yield f"{place}({wrong_parameter.name}={written(wrong)}): {len(str(error)):,} characters"
            except Exception as error:
                yield f"{place}({wrong_parameter.name}={written(wrong)}): {type(error).__name__}: {error}"


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


def no_argument() -> None:
    """Stand for a function that whoever calls it gives something."""


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("listener", lambda hx, function: hx.session.on_task_end(function)),
        ("listener", lambda _, function: hexad.listen(function)),
        ("progress", lambda hx, function: hx.embed_pending(progress=function)),
        ("progress", lambda hx, function: hx.maintain(progress=function)),
        ("progress", lambda hx, function: hx.ingest("x", progress=function)),
        ("on_report", lambda hx, function: hx.watch("x", on_report=function)),
        ("embedder", lambda hx, function: hx.reindex(embedder=function)),
        ("embedder", lambda _, function: hexad.open(":memory:", embedder=function)),
        ("rerank", lambda _, function: hexad.open(":memory:", rerank=function)),
        ("orderings", lambda _, function: hexad.open(":memory:", orderings={"own": function})),
    ],
)
def test_a_function_that_cannot_be_called_with_what_it_is_given_is_refused_when_it_is_handed_over(
    hx, argument: str, call: Callable[..., object]
) -> None:
    with pytest.raises(
        InvalidInput, match=rf"^{argument}.* takes 0 positional|^{argument}.*too many positional"
    ):
        call(hx, no_argument)


def test_functions_of_python_and_with_more_arguments_than_needed_are_taken(hx) -> None:
    told: list[object] = []
    hx.embed_pending(progress=told.append)
    hx.embed_pending(progress=lambda done, unit="memories": told.append((done, unit)))
    hx.session.on_task_end(print)


@pytest.mark.parametrize("wrong", [object(), 5, "x", [], b"", float("nan")])
@pytest.mark.parametrize("argument", ["background", "create", "readonly"])
def test_a_store_is_opened_with_flags_that_are_flags(tmp_path: Path, argument: str, wrong) -> None:
    with pytest.raises(InvalidInput, match=f"^{argument} must be True") as refusal:
        hexad.open(tmp_path, **{argument: wrong})

    assert argument == refusal.value.argument
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("wrong", [object(), 5, [], b"short", float("nan"), True])
@pytest.mark.parametrize("argument", ["key", "user_key"])
def test_a_key_that_cannot_be_one_is_refused_before_anything_is_made(
    tmp_path: Path, argument: str, wrong
) -> None:
    with pytest.raises(InvalidInput, match=f"^{argument} .*give 32,? .*passphrase as text, or a Path"):
        hexad.open(tmp_path, **{argument: wrong})

    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("wrong", [object(), "x", None, [], float("nan"), True, -1, 1e30])
def test_a_time_to_wait_is_a_number_of_seconds(hx, wrong) -> None:
    for call in (
        hx.wait_for_background,
        lambda timeout_s: hexad.connect("http://127.0.0.1:9", token="t", timeout_s=timeout_s),
    ):
        with pytest.raises(InvalidInput, match=r"^timeout_s = .*; give seconds, from 0 to 1,000,000"):
            call(timeout_s=wrong)


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "x" * 9_000, " "], ids=["half", "nul", "long", "blank"])
@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("agent", lambda hx, name: hexad.AgentMemory(hx, agent=name)),
        ("user", lambda hx, name: hexad.AgentMemory(hx, user=name)),
        ("session", lambda hx, name: hexad.AgentMemory(hx, session=name)),
        ("purpose", lambda _, name: hexad.open(":memory:", purpose=name)),
        ("actor", lambda _, name: hexad.open(":memory:", actor=name)),
        ("actor", lambda _, name: hexad.open(":memory:", actor={"agent": name})),
        ("space", lambda hx, name: hx.enqueue("x", space=name)),
        ("space", lambda hx, name: hx.remember("A text.", space=name)),
        ("space", lambda hx, name: hx.spaces.create(name)),
        ("project", lambda hx, name: hx.remember("A text.", project=name)),
        ("id", lambda hx, name: hx.remember("A text.", id=name)),
        ("source", lambda hx, name: hx.enqueue(name)),
        ("data_subjects", lambda hx, name: hx.remember("A text.", data_subjects=[name])),
    ],
)
def test_nobody_and_nothing_is_called_what_cannot_be_kept(
    hx, argument: str, call: Callable[..., object], name: str
) -> None:
    before = hx.count(status=None), len(hx.spaces.list()), hx.status().queue_waiting
    if argument == "source" and name == " ":
        return  # a file can be called so

    with pytest.raises(InvalidInput, match=rf"(?i)^(the |invalid |)({argument}|actor's)") as refusal:
        call(hx, name)

    assert len(str(refusal.value)) < 400
    assert before == (hx.count(status=None), len(hx.spaces.list()), hx.status().queue_waiting)


def test_who_decided_is_a_name(hx) -> None:
    with pytest.raises(InvalidInput, match=r"^by = .*give a name on one line, of up to 1,000 characters"):
        hx.governance.decide("Use Postgres", rationale="Row-level security", by="x" * 9_000)
