"""Spans and counters: silent until somebody listens.

`listen` adds a callback that receives every finished span; adapters for telemetry attach there. Nothing is
recorded, sent or kept otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Final

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


Value = str | int | float | bool
"""What an attribute of a span may be."""
log = logging.getLogger("hexad")
log.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One finished operation: its name, seconds and attributes (names, numbers; texts only where asked for)."""

    name: str
    seconds: float
    attributes: Mapping[str, Value] = field(default_factory=dict)
    error: str | None = None


Listener = Callable[[Span], None]
_listeners: list[Listener] = []
_tracers: list[Callable[[str], AbstractContextManager[Listener]]] = []


def listen(listener: Listener) -> Callable[[], None]:
    """Call `listener` with every span that finishes from now on; returns a function that stops it."""
    if not callable(listener):
        raise InvalidInput(f"listener must be a function, not {quoted(listener)}.", argument="listener")
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)


_CONTENT: Final = frozenset({"query", "topic"})
"""Attributes that are words of somebody: told to OpenTelemetry alone, where `attach` was asked for contents."""


@contextmanager
def span(name: str, **attributes: Value) -> Iterator[dict[str, Value]]:
    """Time a block; attributes may be added to the yielded dict until it ends.

    `query` and `topic` are words of somebody: listeners are not told of them.
    """
    if not _listeners and not _tracers:
        yield attributes
        return
    start = perf_counter()
    error: str | None = None
    with ExitStack() as exporting:
        exports = [exporting.enter_context(tracer(name)) for tracer in _tracers]
        try:
            yield attributes
        except BaseException as raised:
            error = type(raised).__name__
            raise
        finally:
            whole = Span(name=name, seconds=perf_counter() - start, attributes=dict(attributes), error=error)
            ended = replace(whole, attributes={k: v for k, v in attributes.items() if k not in _CONTENT})
            for export in exports:
                export(whole)
            for listener in tuple(_listeners):
                try:
                    listener(ended)
                except Exception as raised:  # noqa: BLE001 - foreign code may raise anything, and the work is done
                    log.error(
                        "A listener of spans raised %s; what it listened to is done.", type(raised).__name__
                    )


def is_observed() -> bool:
    """Whether anybody is told of spans: what is worth working out for an attribute."""
    return bool(_listeners or _tracers)


# OpenTelemetry ----------------------------------------------------------------------------------------------------

_SCOPE: Final = "hexad"
_OPERATIONS: Final = frozenset({"create_memory", "search_memory", "update_memory", "delete_memory"})
"""Operations of the GenAI conventions: the span has their name."""
_MODEL_CALLS: Final = {"chat": "chat", "embed": "embeddings", "rerank": "rerank"}
"""Calls to models: the span has the operation's name and the model's."""
_DOCUMENT_1: Final = frozenset(
    {"remember_raw", "remember_structured", "recall_context", "recall_kind", "use_context", "gc"}
)
"""Calls that document 1 names (section 7): `lexon.memory.…`."""
_KEYS: Final = {
    "provider": "gen_ai.provider.name",
    "model": "gen_ai.request.model",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "query": "gen_ai.memory.query.text",
}
"""Attributes under the names of the GenAI conventions; document 1's have its own: space, topic, backend and so on."""


def attach(*, contents: bool) -> None:
    """Hand every span to OpenTelemetry from now on, with or without contents; a second call changes nothing.

    Raises `InvalidInput` when its API is not installed.
    """
    if _tracers:
        return
    try:
        from opentelemetry import trace
    except ImportError as error:
        raise InvalidInput(
            "otel is switched on, but OpenTelemetry is not installed. "
            "Run `pip install 'hexad[otel]'`, or switch it off (otel, HEXAD_OTEL, LEXON_OTEL)."
        ) from error
    tracer = trace.get_tracer(_SCOPE)
    _tracers.append(lambda name: _exported(tracer, name, contents=contents))


@contextmanager
def _exported(tracer: Tracer, name: str, *, contents: bool) -> Iterator[Listener]:
    """Keep a span of OpenTelemetry's open around a block, so that what happens in it hangs below."""
    from opentelemetry.trace import Status, StatusCode

    with tracer.start_as_current_span(
        _span_name(name), record_exception=False, set_status_on_exception=False
    ) as exported:

        def end(span: Span) -> None:
            told = {k: v for k, v in span.attributes.items() if contents or k not in _CONTENT}
            exported.set_attributes({_KEYS.get(key, key): value for key, value in told.items()})
            operation = _MODEL_CALLS.get(name, name)
            if name in _OPERATIONS or name in _MODEL_CALLS:
                exported.set_attribute("gen_ai.operation.name", operation)
            if name in _MODEL_CALLS and "model" in span.attributes:
                exported.update_name(f"{operation} {span.attributes['model']}")
            if name in _OPERATIONS and (count := _record_count(span.attributes)) is not None:
                exported.set_attribute("gen_ai.memory.record.count", count)
            if span.error is not None:
                exported.set_attribute("error.type", span.error)
                exported.set_status(Status(StatusCode.ERROR))

        yield end


def _span_name(name: str) -> str:
    if name in _DOCUMENT_1:
        return f"lexon.memory.{name}"
    return name if name in _OPERATIONS else _MODEL_CALLS.get(name, f"hexad.{name}")


def _record_count(attributes: Mapping[str, Value]) -> Value | None:
    return attributes.get("items_returned", attributes.get("count"))
