"""Spans for OpenTelemetry, when a project asks for them: the setting `otel`, `HEXAD_OTEL` or `LEXON_OTEL`.

Only operations, counts and durations are handed over, never texts, and only to the provider that the program has
set up; without one OpenTelemetry drops them. Nothing is sent by Hexad itself.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from hexad.core.clock import Clock
from hexad.core.tracing import Span, listen
from hexad.errors import InvalidInput

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

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
    one = tracer.start_span(
        span.name, start_time=int(started.timestamp() * 1e9), attributes=dict(span.attributes)
    )
    if span.error is not None:
        one.set_attribute("error.type", span.error)
        one.set_status(Status(StatusCode.ERROR))
    one.end(end_time=int(ended.timestamp() * 1e9))
