"""Run a function in a fresh process, so that its memory and its caches are its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def in_child(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return what `function` returns in a new process; raises `RuntimeError` when that process fails."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_call, args=(theirs, function, args, kwargs))
    process.start()
    theirs.close()
    try:
        result: R = ours.recv()
    except EOFError:
        process.join()
        raise RuntimeError(
            f"{function.__name__} ended with {process.exitcode}; its words are above."
        ) from None
    process.join()
    return result


def _call(
    pipe: Connection, function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> None:
    pipe.send(function(*args, **kwargs))
    pipe.close()
