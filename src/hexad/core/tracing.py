"""Spans and counters: silent until somebody listens.

`listen` adds a callback that receives every finished span; adapters for telemetry attach there. Nothing is
recorded, sent or kept otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from time import perf_counter
from typing import TYPE_CHECKING, Final

from hexad.core.arguments import quoted
from hexad.core.clock import Clock
from hexad.errors import InvalidInput

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


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
    if not callable(listener):
        raise InvalidInput(f"listener must be a function, not {quoted(listener)}.", argument="listener")
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
        span = Span(name=name, seconds=perf_counter() - start, attributes=dict(attributes), error=error)
        for listener in tuple(_listeners):
            listener(span)


_SCOPE: Final = "hexad"
_listening: list[object] = []


def attach(clock: Clock) -> None:
    """Hand every finished span to OpenTelemetry from now on; a second call changes nothing.

    Raises `InvalidInput` when its API is not installed.
    """
    if _listening:
        return
    try:
        from opentelemetry import trace
    except ImportError as error:
        raise InvalidInput(
            "otel is switched on, but OpenTelemetry is not installed. "
            "Run `pip install 'hexad[otel]'`, or switch it off (otel, HEXAD_OTEL, LEXON_OTEL)."
        ) from error
    tracer = trace.get_tracer(_SCOPE)
    _listening.append(listen(lambda span: _emit(tracer, span, clock)))


def _emit(tracer: Tracer, span: Span, clock: Clock) -> None:
    from opentelemetry.trace import Status, StatusCode

    ended = clock.now()
    started = ended - timedelta(seconds=span.seconds)
    exported_span = tracer.start_span(
        span.name, start_time=int(started.timestamp() * 1e9), attributes=dict(span.attributes)
    )
    if span.error is not None:
        exported_span.set_attribute("error.type", span.error)
        exported_span.set_status(Status(StatusCode.ERROR))
    exported_span.end(end_time=int(ended.timestamp() * 1e9))
