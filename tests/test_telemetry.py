"""Spans for OpenTelemetry: only when asked for, under document 1's own name of the switch too."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import pytest

import hexad
from hexad.audit import AuditLogWriter
from hexad.config import captures_contents
from hexad.core import tracing
from hexad.testing import HashEmbedder, ScriptedGenerator

pytest.importorskip("opentelemetry.sdk", reason="the extra for tests is not installed")
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult

PROGRAM = """
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import hexad

kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
for _ in range(2):
    with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
        hx.remember("The kettle is in the kitchen.")
        hx.recall("kettle")
for span in kept.get_finished_spans():
    assert "kettle" not in str(span.attributes), span.attributes
    print(span.name, span.end_time >= span.start_time)
"""


@pytest.mark.parametrize("name", ["HEXAD_OTEL", "LEXON_OTEL"])
def test_the_switch_hands_spans_without_texts_to_the_programs_own_provider(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(project)], capture_output=True, text=True, check=True
    )
    assert ["upsert_memory True", "search_memory True"] * 2 == said.stdout.splitlines()


def test_without_the_switch_no_span_is_handed_over(project: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(project)], capture_output=True, text=True, check=True
    )
    assert [] == said.stdout.splitlines()


def test_our_own_name_of_the_switch_wins(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXON_OTEL", "1")
    monkeypatch.setenv("HEXAD_OTEL", "0")
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(project)], capture_output=True, text=True, check=True
    )
    assert [] == said.stdout.splitlines()


NESTED = """
import json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import hexad
from hexad.testing import HashEmbedder

kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
with hexad.open(sys.argv[1], embedder=HashEmbedder(), background=False) as hx:
    hx.spaces.create("shop")
    hx.spaces.set_policy("shop", {"budget": {"usd": 5.0, "period": "day"}, "ttl_days": 9, "allow_delete": True})
    kettle = hx.remember_raw("shop", "decision", "The kettle is red.")
    hx.remember_structured("shop", {"path": "shop/mug", "raw": "The mug is blue.", "kind": "note"})
    hx.recall_context("shop", "kettle")
    hx.context("what colour is the kettle?")
    hx.pin(kettle.id)
    hx.spaces.gc("shop")
    hx.embed_pending()
    hx.forget(kettle.id, purge=True, confirm=True)
    try:
        hx.recall_context("nowhere", "kettle")
    except hexad.NotFound:
        pass
names = {span.context.span_id: span.name for span in kept.get_finished_spans()}
print(json.dumps([
    [span.name, names.get(span.parent.span_id) if span.parent else None, dict(span.attributes), span.status.status_code.name]
    for span in kept.get_finished_spans()
]))
"""


def exported(project: Path) -> list[tuple[str, str | None, dict[str, object], str]]:
    said = subprocess.run(
        [sys.executable, "-c", NESTED, str(project)], capture_output=True, text=True, check=True
    )
    return [tuple(span) for span in json.loads(said.stdout)]


@pytest.mark.row("L144", "L145", "L146", "L147", "L148", "L149")
def test_spans_have_the_names_of_the_conventions_and_of_the_document(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXON_OTEL", "1")
    spans = exported(project)
    by_name = {name: (parent, attributes, status) for name, parent, attributes, status in spans}

    assert {
        "lexon.memory.remember_raw", "lexon.memory.remember_structured", "lexon.memory.recall_context",
        "lexon.memory.gc", "upsert_memory", "search_memory", "update_memory", "delete_memory", "embeddings hashing-256@1", "hexad.context",
        "hexad.pin",
    } == set(by_name)  # fmt: skip
    parent, attributes, _ = by_name["upsert_memory"]
    assert parent in {"lexon.memory.remember_raw", "lexon.memory.remember_structured"}
    assert {
        "gen_ai.operation.name": "upsert_memory",
        "gen_ai.memory.record.count": 1,
        "outcome": "created",
    }.items() <= attributes.items()
    searches = [span[1] for span in spans if span[0] == "search_memory"]
    assert ["lexon.memory.recall_context", "hexad.context", "lexon.memory.recall_context"] == searches
    _, attributes, _ = next(span[1:] for span in spans if span[0] == "lexon.memory.recall_context")
    assert {
        "space": "shop",
        "backend": "basic",
        "items_returned": 2,
        "budget_usd": 5.0,
    }.items() <= attributes.items()
    assert "hexad.pin" == by_name["update_memory"][0]
    assert ("ERROR", "NotFound") == (spans[-1][3], spans[-1][2]["error.type"])
    assert "nowhere" not in str(spans)  # what is no space may be any text, given by mistake
    _, attributes, _ = by_name["embeddings hashing-256@1"]
    assert ("hexad", "hashing-256@1") == (
        attributes["gen_ai.provider.name"],
        attributes["gen_ai.request.model"],
    )
    assert "kettle" not in str(spans)


@pytest.mark.row("L149")
def test_contents_are_told_where_the_environment_asks_for_them(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEXAD_OTEL", "1")
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")

    spans = exported(project)
    told = {name: attributes for name, _, attributes, _ in reversed(spans)}
    asked = [
        attributes["gen_ai.memory.query.text"] for name, _, attributes, _ in spans if name == "search_memory"
    ]

    assert "kettle" == told["lexon.memory.recall_context"]["topic"]
    assert ["kettle", "what colour is the kettle?", "kettle"] == asked


class Watched:
    """A tracer of OpenTelemetry's SDK: what its sampler was told of each span, and the spans that ended."""

    def __init__(self) -> None:
        watched = self
        self.begun: list[tuple[str, str, dict[str, object]]] = []
        self._ended = InMemorySpanExporter()

        class Recording(Sampler):
            def should_sample(
                self, parent_context, trace_id, name, kind=None, attributes=None, links=None, trace_state=None
            ):
                watched.begun.append((name, kind.name, dict(attributes or {})))
                return SamplingResult(Decision.RECORD_AND_SAMPLE, attributes)

            def get_description(self) -> str:
                return "Recording"

        provider = TracerProvider(sampler=Recording())
        provider.add_span_processor(SimpleSpanProcessor(self._ended))
        self.tracer = provider.get_tracer("hexad")

    def take(self) -> list[ReadableSpan]:
        """The spans that ended since the last time."""
        spans = list(self._ended.get_finished_spans())
        self._ended.clear()
        self.begun.clear()
        return spans


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    found = Watched()
    monkeypatch.setattr(tracing, "_exporters", [tracing.exporter_to(found.tracer, contents=False)])
    return found


def attributes_of(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


@pytest.mark.row("L148", "L149")
def test_each_operation_on_memories_names_the_store_and_the_memory_that_it_is_about(watched: Watched) -> None:
    with hexad.open(":memory:", embedder=None) as hx:
        hx.spaces.create("shop")
        hx.spaces.set_policy("shop", {"allow_delete": True})
        watched.take()
        id = hx.remember("The kettle is red.", space="shop", source_id="kettle").id
        (span,) = watched.take()
        assert "created" == attributes_of(span)["outcome"]
        done = [attributes_of(span)["gen_ai.memory.store.id"]]

        def change() -> object:
            return hx.remember("The kettle is blue.", space="shop", source_id="kettle")

        for operation, outcome, call in [
            ("upsert_memory", "updated", change),
            ("upsert_memory", "unchanged", change),
            ("update_memory", None, lambda: hx.tag(id, add=["blue"])),
            ("delete_memory", None, lambda: hx.forget(id)),
            ("update_memory", None, lambda: hx.restore(id)),
            ("delete_memory", None, lambda: hx.forget(id, purge=True)),
        ]:
            call()
            (span,) = watched.take()
            told = attributes_of(span)
            done.append(told["gen_ai.memory.store.id"])
            assert (operation, operation) == (span.name, told["gen_ai.operation.name"])
            assert (id, 1) == (told["gen_ai.memory.record.id"], told["gen_ai.memory.record.count"])
            assert outcome == told.get("outcome")
            assert "gen_ai.provider.name" not in told
        hx.remember("The mug is white.", space="shop")
        hx.remember("The mug is white.", space="shop")
        assert ["created", "evidence"] == [attributes_of(span)["outcome"] for span in watched.take()]
        hx.remember("The pan is black.", space="shop")
        watched.take()
        hx.forget(space="shop", purge=True, confirm=True)
        (span,) = watched.take()

    assert 2 == attributes_of(span)["gen_ai.memory.record.count"]
    assert "gen_ai.memory.record.id" not in attributes_of(span)
    assert 1 == len(set(done))
    assert str(done[0]).startswith("store_")


@pytest.mark.parametrize("contents", [False, True])
def test_an_id_that_a_caller_made_up_is_content(watched: Watched, contents: bool) -> None:
    tracing._exporters[:] = [tracing.exporter_to(watched.tracer, contents=contents)]
    heard: list[hexad.Span] = []
    stop = hexad.listen(heard.append)
    try:
        with hexad.open(":memory:", embedder=None) as hx:
            hx.remember("The kettle is red.", id="ann@example.org")
            hx.tag("ann@example.org", add=["red"])
            hx.forget("ann@example.org", purge=True, confirm=True)
    finally:
        stop()

    told = ["ann@example.org"] * 3 if contents else [None] * 3
    assert told == [attributes_of(span).get("gen_ai.memory.record.id") for span in watched.take()]
    assert "ann@" not in str(heard)


@pytest.mark.row("L148")
def test_whatever_searches_memories_has_the_span_of_a_search(watched: Watched) -> None:
    with hexad.open(":memory:", embedder=HashEmbedder(), background=False) as hx:
        hx.remember("The kettle is red.", space="shop")
        hx.governance.decide("Buy a red kettle", rationale="It is quick.")
        hx.embed_pending()
        agent = hexad.AgentMemory(hx)
        searches: list[Callable[[], object]] = [
            lambda: hx.recall("kettle"),
            lambda: hx.recall("kettle", space="shop", layers=["project"]),
            lambda: hx.query("kettle"),
            lambda: hx.context("kettle", wait=True),
            lambda: agent.before_step([{"role": "user", "content": "Which kettle?"}]),
            lambda: hx.recall_context("shop", "kettle"),
            lambda: hx.recall_kind("shop", "note"),
            lambda: hx.use_context("shop", "kettle").prepend("Boil."),
            lambda: hx.governance.why("the red kettle"),
            lambda: hx.governance.query("kettle"),
        ]
        for number, search in enumerate(searches):
            watched.take()
            search()
            spans = watched.take()
            (found,) = [span for span in spans if span.name == "search_memory"]
            assert number == 6 or attributes_of(found)["gen_ai.memory.record.count"], number
            assert "gen_ai.memory.store.id" in attributes_of(found)
            assert 1 == len({span.context.trace_id for span in spans}), (
                number,
                [(span.name, span.parent) for span in spans],
            )
            assert "kettle" not in str([attributes_of(span) for span in spans])


@pytest.mark.row("L148")
def test_a_sampler_is_told_what_is_known_when_a_span_begins(watched: Watched) -> None:
    generator = ScriptedGenerator(["{}"] * 9, provider="google@gw.example.com:8443", model="m-1")
    with hexad.open(":memory:", embedder=HashEmbedder(), generator=generator, background=False) as hx:
        hx.remember("The kettle is red.", space="shop")
        hx.embed_pending()
        hx.recall("kettle", limit=3)
        with contextlib.suppress(hexad.HexadError):
            hx.remember_raw("shop", "note", "The mug is blue.")
        begun = {name: (kind, attributes) for name, kind, attributes in reversed(watched.begun)}
        spans = {span.name: attributes_of(span) for span in watched.take()}

    kind, attributes = begun["search_memory"]
    assert ("INTERNAL", "search_memory", 3) == (
        kind,
        attributes["gen_ai.operation.name"],
        attributes["limit"],
    )
    assert "gen_ai.memory.store.id" in attributes
    kind, attributes = begun["embeddings hashing-256@1"]
    assert {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": "hexad",
        "gen_ai.request.model": "hashing-256@1",
        "count": 1,
    } == attributes
    assert "INTERNAL" == kind
    assert 256 == spans["embeddings hashing-256@1"]["gen_ai.embeddings.dimension.count"]
    kind, attributes = begun["chat m-1"]
    assert {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "server.address": "gw.example.com",
        "server.port": 8443,
        "gen_ai.request.model": "m-1",
    }.items() <= attributes.items()
    assert "CLIENT" == kind


@pytest.mark.parametrize(
    ("place", "address"),
    [
        ("openai@ann:secret@10.0.0.1/v1", {"server.address": "10.0.0.1"}),
        ("openai@[::1]:80", {"server.address": "::1", "server.port": 80}),
        ("own@x:y", {}),
        ("own@[", {}),
        ("own", {}),
    ],
)
def test_a_providers_address_is_its_host_and_port_and_no_password(
    watched: Watched, place: str, address: dict[str, object]
) -> None:
    with tracing.span("chat", provider=place, model="m"):
        pass

    (span,) = watched.take()
    told = {key: value for key, value in attributes_of(span).items() if key.startswith("server.")}
    assert address == told
    assert place.partition("@")[0] == attributes_of(span)["gen_ai.provider.name"]


SECRET = "sk-live-4f9a8b7c6d5e4f3a"


def failing_calls(hx: hexad.Hexad) -> list[tuple[str, str, Callable[[], object]]]:
    """The span, the error and the call; what fails holds a secret where it can."""
    return [
        ("search_memory", "NotFound", lambda: hx.recall(SECRET, space=SECRET)),
        ("search_memory", "InvalidInput", lambda: hx.recall("x", limit=SECRET)),
        ("search_memory", "InvalidInput", lambda: hx.recall(5)),
        ("search_memory", "InvalidInput", lambda: hx.query("x", limit=-1)),
        ("hexad.context", "NotFound", lambda: hx.context("x", space=SECRET)),
        ("hexad.context", "InvalidInput", lambda: hx.context("x", max_tokens=SECRET)),
        ("lexon.memory.recall_context", "NotFound", lambda: hx.recall_context(SECRET, "x")),
        ("lexon.memory.recall_context", "InvalidInput", lambda: hx.recall_context("shop", "x", limit=SECRET)),
        ("lexon.memory.recall_kind", "InvalidInput", lambda: hx.recall_kind("shop", "x", limit=SECRET)),
        ("lexon.memory.use_context", "InvalidInput", lambda: hx.use_context("shop", "x", limit=SECRET)),
        ("lexon.memory.use_context", "NotFound", lambda: hx.use_context(SECRET, "x").prepend("y")),
        ("upsert_memory", "InvalidInput", lambda: hx.remember("x", trust=SECRET)),
        ("upsert_memory", "InvalidMemory", lambda: hx.remember("")),
        (
            "lexon.memory.remember_raw",
            "InvalidInput",
            lambda: hx.remember_raw("shop", "note", "x", {SECRET: 1}),
        ),
        ("lexon.memory.remember_structured", "InvalidMemory", lambda: hx.remember_structured("shop", SECRET)),
        ("hexad.pin", "NotFound", lambda: hx.pin(SECRET)),
        ("hexad.pin", "InvalidInput", lambda: hx.pin(SECRET, SECRET, SECRET)),
        ("update_memory", "InvalidInput", lambda: hx.tag("m1", add=[5])),
        ("update_memory", "NotFound", lambda: hx.restore(SECRET)),
        ("delete_memory", "NotFound", lambda: hx.forget(SECRET)),
        ("delete_memory", "NotFound", lambda: hx.forget(SECRET, purge=True)),
        ("delete_memory", "InvalidInput", lambda: hx.forget(before=SECRET, purge=True)),
        ("delete_memory", "AccessDenied", lambda: hx.forget(space="shop", purge=True)),
        ("lexon.memory.gc", "NotFound", lambda: hx.spaces.gc(SECRET)),
        ("lexon.memory.gc", "AccessDenied", lambda: hx.spaces.gc("shop")),
        ("upsert_memory", "NotFound", lambda: hx.governance.supersede(SECRET, "x", rationale="y")),
        ("update_memory", "NotFound", lambda: hx.quarantine.release(SECRET, why="x")),
        ("update_memory", "InvalidInput", lambda: hx.quarantine.reject("m1", why="")),
        ("update_memory", "NotFound", lambda: hx.facts.reviewed(SECRET)),
        ("hexad.ingest", "NotFound", lambda: hx.ingest(f"/nowhere/{SECRET}")),
    ]


@pytest.mark.parametrize("number", range(len(failing_calls(None))))  # type: ignore[arg-type]
def test_an_operation_that_fails_has_a_span_that_says_so_and_nothing_of_what_was_given(
    watched: Watched, number: int
) -> None:
    with hexad.open(":memory:", embedder=None) as hx:
        hx.remember("The kettle is red.", space="shop", id="m1")
        name, error, call = failing_calls(hx)[number]
        watched.take()
        with pytest.raises(hexad.HexadError):
            call()
        spans = watched.take()

    outermost = spans[-1]
    assert (name, "ERROR", error) == (
        outermost.name,
        outermost.status.status_code.name,
        attributes_of(outermost).get("error.type"),
    )
    assert len(spans) == len({span.name for span in spans})
    assert SECRET not in "".join(span.to_json() for span in spans)


@pytest.mark.parametrize(
    ("value", "contents"),
    [
        ("true", True), ("1", True), ("SPAN_ONLY", True), ("span_and_event", True),
        ("", False), ("false", False), ("EVENT_ONLY", False), ("NO_CONTENT", False),
    ],
)  # fmt: skip
def test_contents_are_in_spans_where_the_variable_says_spans(value: str, contents: bool) -> None:
    environ = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": value}
    assert contents == captures_contents(environ)


CONNECTED = """
import asyncio, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import hexad

kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
url, token, waste = sys.argv[1:]
with hexad.connect(url, token=token) as hx:
    hx.remember("The kettle is red.")
    hx.recall("kettle")
    try:
        hx.get("mem_of_nobody")
    except hexad.NotFound:
        pass
async def awaited():
    async with hexad.aconnect(url, token=token) as hx:
        await hx.spaces.list()
asyncio.run(awaited())
try:
    hexad.connect(waste, token=token).count()
except hexad.ServerUnreachable:
    pass
for span in kept.get_finished_spans():
    told = dict(span.attributes)
    assert "kettle" not in str(told) and "mem_of_nobody" not in str(told), told
    assert told["server.address"] == "127.0.0.1" and isinstance(told["server.port"], int), told
    print(span.name, span.kind.name, told.get("error.type"))
"""


def test_calls_of_a_connection_are_spans_of_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fastapi")
    from http_servers import start  # the server needs an extra

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        waste = f"http://127.0.0.1:{free.getsockname()[1]}"
    server = start(tmp_path)
    try:
        program = [sys.executable, "-c", CONNECTED, server.url, server.token, waste]
        silent = subprocess.run(program, capture_output=True, text=True, check=True)
        monkeypatch.setenv("HEXAD_OTEL", "1")
        said = subprocess.run(program, capture_output=True, text=True, check=True)
    finally:
        server.process.kill()
        server.process.communicate()

    assert "" == silent.stdout
    assert [
        "hexad.client.remember CLIENT None",
        "hexad.client.recall CLIENT None",
        "hexad.client.get CLIENT NotFound",
        "hexad.client.spaces.list CLIENT None",
        "hexad.client.count CLIENT ServerUnreachable",
    ] == said.stdout.splitlines()


@pytest.mark.row("L150", "L151", "L152", "L153", "L154")
def test_prometheus_reads_what_the_document_counts(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    from http_servers import start  # the server needs an extra

    server = start(tmp_path)
    try:
        with hexad.connect(server.url, token=server.token_file) as hx:
            first = hx.remember("The kettle is red.", space="shop")
            hx.remember("The mug is blue.", space="shop")
            hx.pin(first.id)
            hx.pin(first.id)  # it is pinned already
            hx.unpin(first.id)
            hx.spaces.set_policy("shop", {"ttl_days": 100, "allow_delete": True})
            hx.spaces.gc("shop", dry_run=True)
            hx.spaces.gc("shop")
            hx.forget(first.id)
            hx.recall("kettle")
            hx.remember([{"role": "user", "content": "The kettle leaks."}], conversation="monday")
            with pytest.raises(hexad.NotFound):
                hx.pin("mem_of_nobody")
            hx.xdb.start_session("monday")
            hx.xdb.on_input("Which kettle?", "user")
            hx.xdb.on_output_token("This", 7, {"kettle": 0.5})
            hx.xdb.record("output", " here", {})
            hx.xdb.record_many([{"event_type": "output", "content": "."}] * 4)
        text = server.get("/metrics").text
    finally:
        server.process.kill()
        server.process.communicate()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))

    assert ("2.0", "1.0") == (
        values['hexad_memory_objects{status="active"}'],
        values['hexad_memory_objects{status="archived"}'],
    )
    assert ("1.0", "2.0") == (values["hexad_memory_gc_runs_total"], values["hexad_memory_pin_toggles_total"])
    assert "1.0" == values['hexad_operation_seconds_count{failed="false",operation="search_memory"}']
    assert "3.0" == values['hexad_operation_seconds_count{failed="false",operation="upsert_memory"}']
    assert "7.0" == values["hexad_stream_records_total"]
    assert float(values["hexad_disk_free_bytes"]) > 0
    assert float(values["hexad_store_size_bytes"]) > 0
    assert "kettle" not in text
    assert {"hexad_queue_waiting", "hexad_queue_failed", "hexad_embeddings_failed"} <= set(values)


def test_a_ledger_is_as_large_as_its_records_and_nothing_waits_for_vectors_that_nobody_makes(
    tmp_path: Path,
) -> None:
    pytest.importorskip("fastapi")
    from http_servers import start  # the server needs an extra

    server = start(tmp_path)

    def read() -> dict[str, float]:
        lines = [line for line in server.get("/metrics").text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    try:
        with hexad.connect(server.url, token=server.token_file) as hx:
            hx.remember("The kettle is red.")
            embedder = hx.status().embedder
        folder = next(tmp_path.rglob("memory.db")).parent / "audit"
        with AuditLogWriter(folder, "be") as ledger:
            ledger.record("monday", 1, "output", "kettle " * 2_000, {}, [])
            written = read()
        closed = read()
    finally:
        server.process.kill()
        server.process.communicate()

    assert 0 < written["hexad_ledger_size_bytes"] <= closed["hexad_ledger_size_bytes"]
    assert embedder is None
    assert isnan(written["hexad_embeddings_pending"])


DOCS = Path(__file__).parent.parent / "docs" / "telemetry"


def test_the_dashboard_and_the_alerts_ask_for_what_a_server_has(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    from http_servers import start  # the server needs an extra

    server = start(tmp_path)
    try:
        with hexad.connect(server.url, token=server.token_file) as hx:
            hx.remember("The kettle is red.")
        text = server.get("/metrics").text
    finally:
        server.process.kill()
        server.process.communicate()
    there = set(re.findall(r"^(hexad_\w+|process_\w+)", text, re.MULTILINE))
    dashboard = json.loads((DOCS / "grafana-dashboard.json").read_text(encoding="utf-8"))
    asked = {
        name
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(r"(?:hexad|process)_\w+", target["expr"])
    } | set(re.findall(r"(?:hexad|process)_\w+", (DOCS / "alerts.yml").read_text(encoding="utf-8")))

    assert len(asked) > 10
    assert set() == asked - there


HOUR = 60  # minutes; a sample each
FINE: dict[str, str] = {
    'up{job="hexad"}': f"1x{2 * HOUR}",
    'hexad_http_requests_total{status="200"}': f"0+9x{2 * HOUR}",
    'hexad_http_requests_total{status="500"}': f"3x{2 * HOUR}",
    "hexad_queue_age_seconds": f"30x{2 * HOUR}",
    "hexad_queue_failed": f"0x{2 * HOUR}",
    "hexad_embeddings_pending": f"{2 * HOUR}-1x{2 * HOUR}",
    "hexad_embeddings_failed": f"0x{2 * HOUR}",
    "hexad_disk_free_bytes": f"50000000000x{2 * HOUR}",
    "hexad_store_size_bytes": f"1000000+1000x{2 * HOUR}",
    "hexad_ledger_size_bytes": f"1000+100x{2 * HOUR}",
    'hexad_operation_seconds_bucket{operation="search_memory",le="0.1"}': f"0+90x{2 * HOUR}",
    'hexad_operation_seconds_bucket{operation="search_memory",le="2.5"}': f"0+91x{2 * HOUR}",
    'hexad_operation_seconds_bucket{operation="search_memory",le="+Inf"}': f"0+91x{2 * HOUR}",
}
BROKEN: dict[str, dict[str, str]] = {
    "HexadDoesNotAnswer": {'up{job="hexad"}': f"1x{HOUR} 0x{HOUR}"},
    "HexadFails": {'hexad_http_requests_total{status="500"}': f"3x{HOUR} 3+2x{HOUR}"},
    "HexadQueueStands": {"hexad_queue_age_seconds": f"0+60x{2 * HOUR}"},
    "HexadSourcesFailed": {"hexad_queue_failed": f"0x{HOUR} 1x{HOUR}"},
    "HexadEmbeddingStands": {"hexad_embeddings_pending": f"5x{2 * HOUR}"},
    "HexadEmbeddingFailed": {"hexad_embeddings_failed": f"0x{HOUR} 2x{HOUR}"},
    "HexadDiskFull": {"hexad_store_size_bytes": f"1000000x{HOUR} 30000000000x{HOUR}"},
    "HexadLedgerShrank": {"hexad_ledger_size_bytes": f"9000x{2 * HOUR - 5} 400x5"},
    "HexadSlow": {
        'hexad_operation_seconds_bucket{operation="search_memory",le="0.1"}': f"0+50x{2 * HOUR}",
    },
}


RESTORED = {"hexad_ledger_size_bytes": f"9000000x{HOUR} _x20 400000x{HOUR - 20}"}
"""An older copy of the ledger after an outage."""
BEGAN_BROKEN = {'hexad_http_requests_total{call="recall",status="500"}': f"_x{2 * HOUR - 8} 4x20"}
"""A call that failed when it was first asked for, and was not asked for again: the first sample counts already."""
RECOVERED = {'hexad_http_requests_total{call="recall",status="500"}': f"_x{HOUR} 4x{HOUR}"}
"""The same an hour ago."""
QUIET: tuple[tuple[None, dict[str, str]], ...] = (
    (None, {"hexad_embeddings_pending": f"_x{2 * HOUR}"}),  # a store without an embedder: no number
    (None, RECOVERED),
)
SUBTLE = (("HexadLedgerShrank", RESTORED), ("HexadFails", BEGAN_BROKEN))


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Prometheus is not installed")
def test_each_alert_fires_when_its_promise_breaks_and_is_silent_before(tmp_path: Path) -> None:
    rules = DOCS / "alerts.yml"
    alerts = re.findall(r"- alert: (\w+)", rules.read_text(encoding="utf-8"))
    tests: list[dict[str, object]] = []
    for broken, changed in [(None, {}), *BROKEN.items(), *QUIET, *SUBTLE]:
        series = {**FINE, **changed}
        tests.append(
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [
                    {
                        "expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)',
                        "eval_time": "2h",
                        "exp_samples": [{"labels": "{}", "value": int(alert == broken)}],
                    }
                    for alert in alerts
                ],
            }
        )
    file = tmp_path / "alerts_test.yml"
    file.write_text(json.dumps({"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": tests}))
    done = subprocess.run(
        ["promtool", "test", "rules", str(file)], check=False, capture_output=True, text=True
    )

    assert set(BROKEN) == set(alerts)
    assert (0, "") == (done.returncode, done.stderr), done.stdout + done.stderr


@pytest.mark.row("L154")
@pytest.mark.skipif(shutil.which("prometheus") is None, reason="Prometheus is not installed")
def test_prometheus_reads_a_server_with_the_configuration_of_the_page(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    from http_servers import start  # the server needs an extra

    page = (DOCS.parent / "telemetry.md").read_text(encoding="utf-8")
    config = (DOCS / "prometheus.yml").read_text(encoding="utf-8")
    assert config[config.index("scrape_configs") :] in page
    (tmp_path / "project").mkdir()
    server = start(tmp_path / "project")
    try:
        command = [sys.executable, "-m", "hexad", "serve", "token", "add", "--role", "metrics", "--json"]
        made = subprocess.run(
            [*command, "-C", str(tmp_path / "project")], capture_output=True, text=True, check=True
        )
        shutil.copy(DOCS / "alerts.yml", tmp_path)
        (tmp_path / "hexad.token").write_text(json.loads(made.stdout)["token"] + "\n")
        config = config.replace("8765", str(server.port)).replace("30s", "1s")
        (tmp_path / "prometheus.yml").write_text(config)
        checked = subprocess.run(
            ["promtool", "check", "config", str(tmp_path / "prometheus.yml")],
            check=False,
            capture_output=True,
            text=True,
        )
        assert 0 == checked.returncode, checked.stdout + checked.stderr
        assert "1" == answer_of_prometheus(tmp_path, 'up{job="hexad"}')
    finally:
        server.process.kill()
        server.process.communicate()


def answer_of_prometheus(folder: Path, query: str) -> str | None:
    """The value that a query has once Prometheus has read anything, as it runs with a folder's `prometheus.yml`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    direct = build_opener(ProxyHandler({}))
    options = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    with subprocess.Popen(
        ["prometheus", *options, f"--web.listen-address={address}", "--log.level=error"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as prometheus:
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                with contextlib.suppress(OSError, ValueError, KeyError):
                    asked = f"http://{address}/api/v1/query?{urlencode({'query': query})}"
                    with direct.open(asked, timeout=10) as reply:
                        answer = json.load(reply)
                    if answer["data"]["result"]:
                        return str(answer["data"]["result"][0]["value"][1])
                time.sleep(0.2)
        finally:
            prometheus.kill()
    return None


def test_a_queue_that_nobody_works_on_grows_old(tmp_path: Path) -> None:
    clock = hexad.FrozenClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    (tmp_path / "note.md").write_text("The kettle is red.")
    with hexad.open(tmp_path, embedder=None, background=False, clock=clock) as hx:
        ages = [hx.status().queue_age_s]
        hx.enqueue(tmp_path / "note.md")
        clock.advance(minutes=40)
        ages.append(hx.status().queue_age_s)
        hx.maintain()
        ages.append(hx.status().queue_age_s)

    assert [0, 2400, 0] == ages


def test_a_listener_that_raises_breaks_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def bad(span: hexad.Span) -> None:
        raise RuntimeError(span.name)

    stop = hexad.listen(bad)
    try:
        with hexad.open(tmp_path, embedder=None, background=False) as hx:
            kept = hx.remember("The kettle is red.")
            assert 1 == hx.forget(kept.id, purge=True, confirm=True).count("memories")
    finally:
        stop()
    assert "RuntimeError" in caplog.text
