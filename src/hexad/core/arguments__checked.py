"""Calls that look at their texts and flags before they are run: not every caller has a type checker.

A text in place of a flag counts as true in Python: `dry_run="no"` would be a dry run, `reset="no"` a reset.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput

_TEXTS: Final = {"str": "a string", "str | None": "a string, or None"}
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
    wanted = [
        (at, one.name, str(one.annotation)) for at, one in enumerate(parameters) if one.annotation in kinds
    ]
    if not wanted or call.__name__ in _OFTEN:
        return call

    @functools.wraps(call)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for at, what, kind in wanted:
            if at < len(args):
                given = args[at]
            elif what in kwargs:
                given = kwargs[what]
            else:
                continue
            if kind in _FLAGS:
                if not isinstance(given, bool):
                    raise InvalidInput(f"{what} = {quoted(given)} is no truth value; give {_FLAGS[kind]}.")
            elif not isinstance(given, str) and (given is not None or kind == "str"):
                raise InvalidInput(f"{what} = {quoted(given)} is no text; give {_TEXTS[kind]}.")
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
