"""Values that callers give as words or strings, checked once at the edge."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from hexad.errors import InvalidInput

_NAME_BYTES: Final = 255
_PATH_CHARS: Final = 4_000
_WHOLE_MOST: Final = 1 << 62
_REPEATED: Final = 24
_TELLING: Final = 8
SUBJECT_CHARS_LIMIT: Final = 1_000
Choice = TypeVar("Choice", bound=StrEnum)
Value = TypeVar("Value")


def parse_time(value: datetime | date | str | None, name: str) -> datetime | None:
    """Return an aware time in UTC; a time without a zone is taken as UTC. None stays None.

    Takes RFC 3339 such as `2026-05-01T12:00:00Z`, a date alone (its first moment), a datetime or a `date`. Raises
    `InvalidInput` naming `name` otherwise.
    """
    if value is None:
        return None
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value.strip())
        except ValueError:  # which says the whole value
            raise InvalidInput(
                f"Cannot parse {name} = {value!r} as a time; use ISO 8601, for example 2026-05-01T12:00:00Z "
                "or 2026-05-01.",
                argument=name,
            ) from None
    elif isinstance(value, datetime):
        parsed = value
    elif isinstance(value, date):
        parsed = datetime(value.year, value.month, value.day)
    else:
        raise InvalidInput(f"{name} must be a datetime or a string, not {shown(value)}.", argument=name)
    try:
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (OverflowError, ValueError) as error:
        raise InvalidInput(
            f"{name} = {value!r} is outside the years 1 to 9999 in UTC.", argument=name
        ) from error


def parse_choice(kind: type[Choice], value: str, name: str) -> Choice:
    """Return the member of `kind` with this value; raises `InvalidInput` naming the valid ones."""
    try:
        return kind(value)
    except (ValueError, RecursionError):  # which says the whole value
        valid = ", ".join(member.value for member in kind)
        raise InvalidInput(f"{name} = {quoted(value)} is not one of {valid}.", argument=name) from None


def word_list(words: Iterable[str], name: str) -> tuple[str, ...]:
    """Return a list of words as a tuple; raises `InvalidInput` for one string, which would be taken for letters."""
    if isinstance(words, str):
        shown = quoted(words)
        raise InvalidInput(
            f'{name} = {shown} must be a list of strings; write ["{shown[1:-1]}"].', argument=name
        )
    strings = value_list(words, name, of="strings")
    for word in strings:
        if not isinstance(word, str):
            raise InvalidInput(
                f"{name} hold {quoted(word)}, which is not a string; give a list of strings.", argument=name
            )
    return strings


def subject_list(subjects: Iterable[str], name: str = "data_subjects") -> tuple[str, ...]:
    """Return names of people as a tuple, each once; raises `InvalidInput` for what is none."""
    strings = word_list(subjects, name)
    for subject in strings:
        if (
            not subject.strip()
            or "\0" in subject
            or not encodable(subject)
            or len(subject) > SUBJECT_CHARS_LIMIT
        ):
            raise InvalidInput(
                f"{name} hold {quoted(subject)}, which names nobody; "
                f"give texts of up to {SUBJECT_CHARS_LIMIT} characters.",
                argument=name,
            )
    return tuple(dict.fromkeys(strings))


def value_list(values: Iterable[Value], name: str, *, of: str) -> tuple[Value, ...]:
    """Return values as a tuple; raises `InvalidInput` for what holds none, naming what it should hold."""
    if isinstance(values, bytes | str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name} = {quoted(values)} cannot be used; give a list of {of}.", argument=name)
    return tuple(values)


def parse_whole(value: int, name: str, *, least: int) -> int:
    """Return a whole number that is at least `least`; raises `InvalidInput` naming `name` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(
            f"{name} = {quoted(value)} is not a whole number of at least {least}.", argument=name
        )
    if value > _WHOLE_MOST:
        raise InvalidInput(f"{name} = {quoted(value)} is more than {_WHOLE_MOST:,}.", argument=name)
    return value


def parse_offset(value: int) -> int:
    """Return how many of the first to leave out, none for a negative number; raises `InvalidInput` for no number."""
    if isinstance(value, bool) or not isinstance(value, int) or value > _WHOLE_MOST:
        raise InvalidInput(
            f"offset = {quoted(value)} is not a whole number from 0 to {_WHOLE_MOST:,}.", argument="offset"
        )
    return max(value, 0)


def parse_place(value: str | Path, name: str) -> str | Path:
    """Return a path or an address; raises `InvalidInput` naming `name` for anything else."""
    if not isinstance(value, str | Path):
        raise InvalidInput(f"{name} = {quoted(value)} is no place; give a path.", argument=name)
    return value


def parse_path(value: str | Path, name: str) -> Path:
    """Return a path; raises `InvalidInput` naming `name` for anything else, and for what no file can be called."""
    text = str(parse_place(value, name))
    try:
        parts = os.fsencode(text).split(os.fsencode(os.sep))
    except UnicodeEncodeError:
        parts = [b"?" * (_NAME_BYTES + 1)]
    if not text or "\0" in text or max(map(len, parts)) > _NAME_BYTES or len(text) > _PATH_CHARS:
        raise InvalidInput(
            f"{name} = {quoted(value)} cannot be a path; give a file or a folder.", argument=name
        )
    return Path(value)


def expanded(path: Path, name: str) -> Path:
    """Return a path with its `~` taken for whose home it is; raises `InvalidInput` for that of nobody."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise InvalidInput(
            f"{name} = {quoted(str(path))} is in the home of somebody who has none; write the whole path.",
            argument=name,
        ) from None


def parse_text(value: str | None, name: str) -> str | None:
    """Return a text, None for None; raises `InvalidInput` naming `name` for anything else."""
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string, not {quoted(value)}.", argument=name)
    return value


def encodable(text: str) -> bool:
    """Whether a text holds whole characters alone: half of one can be neither stored nor sent."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def is_real(value: object) -> bool:
    """Whether a value is a finite number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def is_text(value: object) -> bool:
    """Whether a value that its type says is a text is one: not every caller has a type checker."""
    return isinstance(value, str)


def said_by(error: BaseException, texts: Iterable[str]) -> str:
    """Return what a foreign error says, its kind first; its kind alone where it repeats what it was given."""
    kind, words = type(error).__name__, str(error)
    for text in texts:
        pieces = (
            text[at : at + _REPEATED] for at in range(0, max(1, len(text) - _REPEATED + 1), _REPEATED // 2)
        )
        if any(len(piece) >= _TELLING and (piece in words or repr(piece)[1:-1] in words) for piece in pieces):
            return kind
    return f"{kind}: {words}" if words else kind


def quoted(value: object) -> str:
    """Return a value as it is written in Python, shortened within, also of one that Python refuses to write."""
    try:
        written = repr(value)
        return written if len(written) <= 80 else f"{written[:78]}…{written[-1]}"
    except (ValueError, RecursionError):
        return shown(value)


def shown(value: object) -> str:
    """Return the beginning of a value for a message, also of one that Python refuses to write."""
    try:
        return str(value)[:80]
    except ValueError:
        return f"{type(value).__name__} with a number too long to write"
    except RecursionError:
        return f"{type(value).__name__} that is nested too deep to write"


_TEXTS: Final = {"str": "a string", "str | None": "a string or None"}
_FLAGS: Final = {"bool": "True or False"}
_OFTEN: Final = frozenset({"record", "record_many"})
"""Calls whose arguments are checked where they are used: looking twice would take as long as a record."""

_Call = TypeVar("_Call", bound=Callable[..., Any])


def texts_checked(call: _Call) -> _Call:
    """Return a call that raises `InvalidInput`, naming the parameter, for what is no text, or neither True nor False,
    where its types want one.
    """  # fmt: skip
    return _checked(call, {**_TEXTS, **_FLAGS})


def flags_checked(call: _Call) -> _Call:
    """Return a call that raises `InvalidInput` for what is neither True nor False where its types want that."""
    return _checked(call, _FLAGS)


def _checked(call: _Call, kinds: Mapping[str, str]) -> _Call:
    parameters = inspect.signature(call).parameters.values()
    checked_parameters = [
        (at, parameter.name, str(parameter.annotation))
        for at, parameter in enumerate(parameters)
        if parameter.annotation in kinds
    ]
    if not checked_parameters or call.__name__ in _OFTEN:
        return call

    @functools.wraps(call)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for at, what, kind in checked_parameters:
            if at < len(args):
                value = args[at]
            elif what in kwargs:
                value = kwargs[what]
            else:
                continue
            if kind in _FLAGS:
                if not isinstance(value, bool):
                    raise InvalidInput(f"{what} must be {_FLAGS[kind]}, not {quoted(value)}.", argument=what)
            elif not isinstance(value, str) and (value is not None or kind == "str"):
                raise InvalidInput(f"{what} must be {_TEXTS[kind]}, not {quoted(value)}.", argument=what)
        return call(*args, **kwargs)

    return cast("_Call", checked)


_Kind = TypeVar("_Kind", bound=type)


def all_texts_checked(kind: _Kind) -> _Kind:
    """Return a class whose public calls, inherited ones too, are as `texts_checked` makes them."""
    return _all(kind, texts_checked)


def all_flags_checked(kind: _Kind) -> _Kind:
    """Return a class whose public calls, inherited ones too, are as `flags_checked` makes them."""
    return _all(kind, flags_checked)


def _all(kind: _Kind, made: Callable[[Any], Any]) -> _Kind:
    for called, call in inspect.getmembers(kind, inspect.isfunction):
        if not called.startswith("_"):
            setattr(kind, called, made(call))
    return kind
