"""Spans and counters: silent until somebody listens.

`listen` adds a callback that receives every finished span; adapters for telemetry attach there. Nothing is
recorded, sent or kept otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

log = logging.getLogger("hexad")
log.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One finished operation: its name, seconds and attributes (never texts, only names and numbers)."""

    name: str
    seconds: float
    attributes: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    error: str | None = None


Listener = Callable[[Span], None]
_listeners: list[Listener] = []


def listen(listener: Listener) -> Callable[[], None]:
    """Call `listener` with every span that finishes from now on; returns a function that stops it."""
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)


@contextmanager
def span(name: str, **attributes: str | int | float | bool) -> Iterator[dict[str, str | int | float | bool]]:
    """Time a block; attributes may be added to the yielded dict until it ends."""
    if not _listeners:
        yield attributes
        return
    start = perf_counter()
    error: str | None = None
    try:
        yield attributes
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        done = Span(name=name, seconds=perf_counter() - start, attributes=dict(attributes), error=error)
        for listener in tuple(_listeners):
            listener(done)
