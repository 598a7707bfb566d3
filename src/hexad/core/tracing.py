"""Spans and counters: silent until somebody listens.

`listen` adds a callback that receives every finished span; adapters for telemetry attach there. Nothing is
recorded, sent or kept otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlsplit

from hexad.core.arguments import require_function
from hexad.core.ids import is_generated
from hexad.errors import HexadError, InvalidInput

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
Exporter = Callable[[str, Mapping[str, Value]], AbstractContextManager[Listener]]
"""Opens a span elsewhere, by its name and what is known when it begins, and is told of it when it ends."""
_Result = TypeVar("_Result")
_listeners: list[Listener] = []
_exporters: list[Exporter] = []


def listen(listener: Listener) -> Callable[[], None]:
    """Call `listener` with every span that finishes from now on; returns a function that stops it."""
    require_function(listener, "listener", given=("span",))
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)


_CONTENT: Final = frozenset({"query", "topic"})
"""Attributes that are words of somebody: told to OpenTelemetry alone, where `attach` was asked for contents."""


def _is_content(key: str, value: Value) -> bool:
    """Whether an attribute may hold words of somebody; an id of a memory does unless the store made it."""
    return key in _CONTENT or (key == "memory" and not is_generated(str(value)))


@contextmanager
def span(name: str, **attributes: Value) -> Iterator[dict[str, Value]]:
    """Time a block; attributes may be added to the yielded dict until it ends.

    What is known when it begins is given with the name: samplers decide by it. `query`, `topic` and
    a `memory` that a caller named are words of somebody: listeners are not told of them.
    """
    if not _listeners and not _exporters:
        yield attributes
        return
    start = perf_counter()
    error: str | None = None
    with ExitStack() as exporting:
        exports = [exporting.enter_context(exporter(name, dict(attributes))) for exporter in _exporters]
        try:
            yield attributes
        except BaseException as raised:
            error = type(raised).__name__
            raise
        finally:
            whole = Span(name=name, seconds=perf_counter() - start, attributes=dict(attributes), error=error)
            ended = replace(whole, attributes={k: v for k, v in attributes.items() if not _is_content(k, v)})
            for export in exports:
                export(whole)
            for listener in tuple(_listeners):
                try:
                    listener(ended)
                except Exception as raised:  # noqa: BLE001 - foreign code may raise anything, and the work is done
                    log.error(
                        "A listener of spans raised %s; what it listened to is done.", type(raised).__name__
                    )


@contextmanager
def before_span(name: str) -> Iterator[None]:
    """Give what refuses an operation's arguments the span of that operation; a block that ends well has none."""
    try:
        yield
    except HexadError:
        with span(name):
            raise


def is_observed() -> bool:
    """Whether anybody is told of spans: what is worth working out for an attribute."""
    return bool(_listeners or _exporters)


def carried(call: Callable[[], _Result]) -> Callable[[], _Result]:
    """Return what another thread may call so that its spans hang below the one that is open here."""
    return partial(copy_context().run, call) if _exporters else call


# OpenTelemetry ----------------------------------------------------------------------------------------------------

_SCOPE: Final = "hexad"
HERE: Final = "hexad"
"""The provider of a model in this process."""
_OPERATIONS: Final = frozenset({"upsert_memory", "search_memory", "update_memory", "delete_memory"})
"""Operations of the GenAI conventions: the span has their name. What is written is created, changed or counted as
known without the caller choosing which; `create_memory` is for those who ask for a new one whatever there is.
"""
_MODEL_CALLS: Final = {"chat": "chat", "embed": "embeddings", "rerank": "rerank"}
"""Calls to models: the span has the operation's name and the model's."""
_DOCUMENT_1: Final = frozenset(
    {"remember_raw", "remember_structured", "recall_context", "recall_kind", "use_context", "gc"}
)
"""Calls that document 1 names (section 7): `lexon.memory.…`."""
_KEYS: Final = {
    "store": "gen_ai.memory.store.id",
    "memory": "gen_ai.memory.record.id",
    "model": "gen_ai.request.model",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "dimensions": "gen_ai.embeddings.dimension.count",
    "query": "gen_ai.memory.query.text",
}
"""Attributes under the names of the GenAI conventions; document 1's have its own: space, topic, backend and so on."""
_PROVIDERS: Final = {"google": "gcp.gemini"}
"""Providers whom the conventions call otherwise."""
CLIENT: Final = "client."
"""What the name of a call that a server answers begins with."""
_IN_PROCESS: Final = frozenset({HERE, "function"})


def attach(*, contents: bool) -> None:
    """Hand every span to OpenTelemetry from now on, with or without contents; a second call changes nothing.

    Raises `InvalidInput` when its API is not installed.
    """
    if _exporters:
        return
    try:
        from opentelemetry import trace
    except ImportError as error:
        raise InvalidInput(
            "otel is switched on, but OpenTelemetry is not installed. "
            "Run `pip install 'hexad[otel]'`, or switch it off (otel, HEXAD_OTEL, LEXON_OTEL)."
        ) from error
    _exporters.append(exporter_to(trace.get_tracer(_SCOPE), contents=contents))


def exporter_to(tracer: Tracer, *, contents: bool) -> Exporter:
    """Return what keeps a span of OpenTelemetry's open around a block, so that what happens in it hangs below."""
    from opentelemetry.trace import SpanKind, Status, StatusCode

    @contextmanager
    def exported(name: str, known: Mapping[str, Value]) -> Iterator[Listener]:
        begun = _exported_attributes(name, known, contents=contents)
        is_remote = name.startswith(CLIENT) or (
            name in _MODEL_CALLS and known.get("provider") not in _IN_PROCESS
        )
        with tracer.start_as_current_span(
            _span_name(name, known),
            kind=SpanKind.CLIENT if is_remote else SpanKind.INTERNAL,
            attributes=begun,
            record_exception=False,
            set_status_on_exception=False,
        ) as opened:

            def end(span: Span) -> None:
                told = _exported_attributes(name, span.attributes, contents=contents)
                opened.set_attributes({key: value for key, value in told.items() if key not in begun})
                if span.error is not None:
                    opened.set_attribute("error.type", span.error)
                    opened.set_status(Status(StatusCode.ERROR))

            yield end

    return exported


def _span_name(name: str, known: Mapping[str, Value]) -> str:
    if name in _DOCUMENT_1:
        return f"lexon.memory.{name}"
    if name in _MODEL_CALLS:
        return f"{_MODEL_CALLS[name]} {known['model']}" if "model" in known else _MODEL_CALLS[name]
    return name if name in _OPERATIONS else f"hexad.{name}"


def _exported_attributes(name: str, attributes: Mapping[str, Value], *, contents: bool) -> dict[str, Value]:
    told = {
        _KEYS.get(key, key): value
        for key, value in attributes.items()
        if key != "provider" and (contents or not _is_content(key, value))
    }
    if (provider := attributes.get("provider")) is not None:
        told |= _provider(str(provider))
    if name in _MODEL_CALLS or name in _OPERATIONS:
        told["gen_ai.operation.name"] = _MODEL_CALLS.get(name, name)
    count = attributes.get("items_returned", attributes.get("count"))
    if name in _OPERATIONS and count is not None:
        told["gen_ai.memory.record.count"] = count
    return told


def _provider(provider: str) -> dict[str, Value]:
    """Return the provider's name, and the address of an endpoint of one's own (`openai@host:port`)."""
    kind, _, place = provider.partition("@")
    told: dict[str, Value] = {"gen_ai.provider.name": _PROVIDERS.get(kind, kind)}
    try:
        address = urlsplit(f"//{place}")  # without a name and a password before it
        host, port = address.hostname, address.port
    except ValueError:  # a generator of one's own may call itself anything
        return told
    if host:
        told["server.address"] = host
        if port is not None:
            told["server.port"] = port
    return told
