"""Calls that look at their texts before they are run: not every caller has a type checker."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from hexad.errors import InvalidInput
from hexad.model.parse import quoted

_TEXTS: Final = {"str": "a string", "str | None": "a string, or None"}
_OFTEN: Final = frozenset({"record", "record_many"})
"""Calls whose arguments are checked where they are used: looking twice would take as long as a record."""

_Call = TypeVar("_Call", bound=Callable[..., Any])


def texts_checked(call: _Call) -> _Call:
    """Return a call that raises `InvalidInput`, naming the parameter, for what is no text where its types want one."""
    parameters = inspect.signature(call).parameters.values()
    wanted = [
        (at, one.name, str(one.annotation)) for at, one in enumerate(parameters) if one.annotation in _TEXTS
    ]
    if not wanted or call.__name__ in _OFTEN:
        return call

    @functools.wraps(call)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for at, what, kind in wanted:
            given = args[at] if at < len(args) else kwargs.get(what, "")
            if not isinstance(given, str) and (given is not None or kind == "str"):
                raise InvalidInput(f"{what} = {quoted(given)} is no text; give {_TEXTS[kind]}.")
        return call(*args, **kwargs)

    return cast("_Call", checked)


_Kind = TypeVar("_Kind", bound=type)


def all_texts_checked(kind: _Kind) -> _Kind:
    """Return a class whose public calls, inherited ones too, are as `texts_checked` makes them."""
    for called, call in inspect.getmembers(kind, inspect.isfunction):
        if not called.startswith("_"):
            setattr(kind, called, texts_checked(call))
    return kind
