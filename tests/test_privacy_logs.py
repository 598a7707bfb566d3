"""What a store holds is nowhere but in the store: not in logs, spans, metrics, errors or notes on stderr."""

from __future__ import annotations

import io
import json
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

import hexad
from hexad import Hexad, HexadError
from hexad.audit import AuditLog, AuditLogWriter
from hexad.interfaces.cli.app.main import main

KEY = "sk" + "-proj-" + "Zk3mQ9vT2xW8rB5nL7cD1fG4"
TOKEN = "Qm7Zx2Kp9Lw4Vn8Rt3Yb6Hc1Fj5"
PASSWORD = "hunter" + "2-of-the-house"
NEVER = (KEY, TOKEN, PASSWORD)
_WORDS = "the lighthouse keeps its own counsel while the tide goes out and nobody writes that down for them "
TEXT = _WORDS * 3 + "and the canary sings "
"""Longer than what an error may repeat; its end stands nowhere."""
CANARY = "canary sings"


class Heard:
    """Everything that was said beside the answers."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def holds(self, *words: str) -> list[str]:
        return [said for said in self.said if any(word in said for word in words)]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    """Listen to logging at DEBUG, to spans, and to OpenTelemetry where it is installed."""
    found = Heard()
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(name)s %(message)s %(args)s %(exc_info)s"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    spans: list[hexad.Span] = []
    stop = hexad.listen(spans.append)
    exported = _otel(monkeypatch)
    yield_found = found
    try:
        yield yield_found
    finally:
        stop()
        root.removeHandler(handler)
        root.setLevel(level)
    assert spans, "nothing was traced"
    found.said += [repr(span) for span in spans]
    found.said += stream.getvalue().splitlines()
    if exported is not None:
        found.said += [span.to_json() for span in exported.get_finished_spans()]
        assert exported.get_finished_spans()
    assert [] == found.holds(*NEVER, CANARY, "lighthouse")


def _otel(monkeypatch: pytest.MonkeyPatch):
    """Have the spans of Hexad in memory too; None where OpenTelemetry's SDK is not installed."""
    sdk = pytest.importorskip("opentelemetry.sdk.trace") if _installed() else None
    if sdk is None:
        return None
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from hexad.core import tracing as telemetry

    exporter = InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("hexad")
    monkeypatch.setattr(telemetry, "_exporters", [telemetry.exporter_to(tracer, contents=False)])
    return exporter


def _installed() -> bool:
    import importlib.util

    return importlib.util.find_spec("opentelemetry.sdk") is not None


def everything_done(hx: Hexad, folder: Path) -> None:
    """The main operations, each with a text in it."""
    first = hx.remember(TEXT, tags=["t"], metadata={"note": TEXT, "token": TOKEN}, data_subjects=["ann"])
    hx.remember(f"Another one. {TEXT} password = {PASSWORD}", path="a/b")
    hx.remember(f"{TEXT} with {KEY}", id=first.id)
    hx.remember_raw("default", "note", TEXT)
    hx.remember_structured("default", {"raw": TEXT, "path": "x/y", "summary_short": TEXT})
    source = folder / "source"
    source.mkdir()
    (source / "a.md").write_text(f"# {TEXT}\n\n{TEXT}\n\nkey: {KEY}\n")
    (source / ".env").write_text(f"DB_PASSWORD={PASSWORD}\n")
    hx.ingest(source)
    hx.enqueue(source)
    hx.recall(TEXT, explain=True, semantic=True)
    hx.recall_context("default", TEXT)
    hx.memories(text=CANARY)
    hx.history(first.id)
    file = hx.spaces.write_file("default")
    hx.spaces.read_file(file)
    hx.spaces.export("default")
    hx.xdb.start_session("s1")
    for _ in range(20):
        hx.xdb.record("input", TEXT, event_id="e1")
        hx.xdb.record("output", TEXT, event_id="e2")
    hx.xdb.tag("t", event_id="e1", note=TEXT)
    hx.xdb.comment(TEXT, event_id="e1")
    hx.xdb.documents.add_document("a.md", TEXT, "reference", summary=TEXT)
    hx.xdb.search_documents(CANARY)
    hx.xdb.recall_events(text=CANARY)
    hx.xdb.request_compaction("s1")
    hx.xdb.seal()
    hx.maintain()
    hx.check()
    hx.reindex(vectors=True)
    hx.embed_pending()
    list(hx.export())
    with AuditLogWriter(hx.path, "be") as writer:
        writer.record("s1", 1, "input", TEXT, {}, [])
    with AuditLog(hx.path) as log:
        log.query(reviewer_credential=log.reviewers.add("rita"))
        log.verify()
    hx.forget(first.id)


@pytest.mark.row("A133")
def test_no_operation_says_what_it_stores_or_finds(project, opened, heard):
    everything_done(opened(), project)


@pytest.mark.row("A133")
def test_no_operation_in_the_background_says_what_it_works_on(project, opened, heard):
    hx = opened(background=True)
    everything_done(hx, project)
    hx.wait_for_background()


@pytest.mark.row("A133")
def test_a_provider_that_fails_is_not_quoted(project, opened, heard):
    def embed(texts):
        raise RuntimeError(f"cannot embed {texts} with {KEY}")

    hx = opened(embedder=embed, generator=_raised)
    hx.remember(TEXT)
    for failing in (
        hx.embed_pending,
        lambda: hx.remember_raw("default", "note", TEXT + "New.", semantic=True, strict=True),
    ):
        with pytest.raises(HexadError) as raised:
            failing()
        said = f"{raised.value}\n{raised.value!r}"
        assert not [word for word in (*NEVER, CANARY) if word in said], said
    assert "local" == hx.remember_raw("default", "note", TEXT).receipt.semantic


def _raised(prompt: str) -> str:
    raise RuntimeError(f"{prompt} {KEY}")


def _error_of(call) -> str:
    """What an error says, with all that it came from, as a program that logs it would write it down."""
    try:
        call()
    except Exception as error:
        own = [str(error), repr(error), json.dumps({"error": str(error)})]
        return "\n".join([*own, *traceback.format_exception(error)])
    return ""


def wrong_calls(hx: Hexad):
    """Calls in which a text, a key or a password stands where it does not belong."""
    for value in (TEXT, KEY, f"https://ada:{PASSWORD}@host/x", f"x {TOKEN}"):
        yield lambda v=value: hx.get(v)
        yield lambda v=value: hx.forget(v)
        yield lambda v=value: hx.remember("x", space=v)
        yield lambda v=value: hx.remember("x", relevance=v)
        yield lambda v=value: hx.remember("x", trust=v)
        yield lambda v=value: hx.remember("x", valid_from=v)
        yield lambda v=value: hx.remember("x", id=v)
        yield lambda v=value: hx.remember("x", tags=v)
        yield lambda v=value: hx.remember("x", importance=v)
        yield lambda v=value: hx.remember("x", metadata=v)
        yield lambda v=value: hx.remember("x", data_subjects=v)
        yield lambda v=value: hx.remember("x", path=v + "\0")
        yield lambda v=value: hx.remember_structured("default", v)
        yield lambda v=value: hx.remember_structured("default", {"raw": 5, "kind": v})
        yield lambda v=value: hx.remember_structured("default", {"raw": "x", "relevance": v})
        yield lambda v=value: hx.remember_raw(v, "note", "x")
        yield lambda v=value: hx.remember_raw("default", "note", "x", v)
        yield lambda v=value: hx.ingest(v)
        yield lambda v=value: hx.recall("x", space=v)
        yield lambda v=value: hx.recall("x", since=v)
        yield lambda v=value: hx.recall("x", limit=v)
        yield lambda v=value: hx.recall_context(v, "x")
        yield lambda v=value: hx.recall_context("default", "x", v)
        yield lambda v=value: hx.recall_context("default", "x", backend=v)
        yield lambda v=value: hx.memories(order=v)
        yield lambda v=value: hx.memories(status=v)
        yield lambda v=value: hx.link(v, v)
        yield lambda v=value: hx.export(v)
        yield lambda v=value: hx.export("session", session=v)
        yield lambda v=value: hx.spaces.get(v)
        yield lambda v=value: hx.spaces.set_policy("default", {"pii_redaction": [v]})
        yield lambda v=value: hx.spaces.set_policy("default", {v: 1})
        yield lambda v=value: hx.spaces.read_file(v)
        yield lambda v=value: hx.spaces.restore(v)
        yield lambda v=value: hx.xdb.start_session(v)
        yield lambda v=value: hx.xdb.record(v, "x")
        yield lambda v=value: hx.xdb.record("input", "x", session_id=v)
        yield lambda v=value: hx.xdb.record("input", "x", {v: 7})
        yield lambda v=value: hx.xdb.record_many([{"event_type": "input", "content": "x", v: 1}])
        yield lambda v=value: hx.xdb.session(v)
        yield lambda v=value: hx.xdb.tag(v, timestep_id=v)
        yield lambda v=value: hx.xdb.tag("t", event_id=v, confidence=7)
        yield lambda v=value: hx.xdb.comment("x", event_id=v)
        yield lambda v=value: hx.xdb.comment("x", timestep_id=v)
        yield lambda v=value: hx.xdb.edit_comment(v, "x")
        yield lambda v=value: hx.xdb.find_tags(tag_type=v)
        yield lambda v=value: hx.xdb.recall_by_concept(v, session_id=v)
        yield lambda v=value: hx.xdb.documents.add_document("a.md", "x", v)
        yield lambda v=value: hx.xdb.documents.add_document(v, 5, "reference")
        yield lambda v=value: hx.xdb.documents.update_document(v, "x")
        yield lambda v=value: hx.xdb.load_concept_pack(v)
        yield lambda v=value: hx.xdb.set_contract(v)
        yield lambda v=value: hx.xdb.set_contract({v: 1})
        yield lambda v=value: hexad.open(v, create=False)
        yield lambda v=value: hexad.open(":memory:", embedder=v)
        yield lambda v=value: hexad.open(":memory:", generator=v)
        yield lambda v=value: hexad.open(":memory:", actor={"role": v, v: v})
        yield lambda v=value: hexad.verify_export(v)


@pytest.mark.row("A133")
def test_no_error_and_no_span_repeats_a_whole_text_or_a_key(hx, tmp_path, monkeypatch, heard):
    monkeypatch.chdir(tmp_path)
    hx.remember("x")
    leaks = []
    raised = 0
    for number, call in enumerate(wrong_calls(hx)):
        said = _error_of(call)
        raised += bool(said)
        found = [word for word in (*NEVER, CANARY) if word in said]
        if found:
            leaks.append((number, found, said[-600:]))

    assert raised > 150
    assert not leaks, "\n\n".join(map(str, leaks[:10]))


@pytest.mark.row("A133")
@pytest.mark.parametrize("shown", [[], ["--json"]], ids=["lines", "json"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["memory", "show", "{}"],
        ["memory", "list", "--kind", "x", "--limit", "{}"],
        ["memory", "list", "--order", "{}"],
        ["remember", "--relevance", "{}", "x"],
        ["remember", "--space", "{}", "x"],
        ["recall", "--since", "{}", "x"],
        ["spaces", "show", "{}"],
        ["ingest", "{}"],
        ["xdb", "record", "--session", "s", "--type", "{}", "x"],
        ["docs", "show", "{}"],
        ["{}"],
        ["--role", "{}", "memory", "list"],
    ],
    ids=" ".join,
)
def test_no_error_of_the_command_line_repeats_a_whole_text_or_a_key(hx, project, capsys, arguments, shown):
    hx.close()

    for value in (TEXT, KEY, f"x {TOKEN}"):
        typed = [value if argument == "{}" else argument for argument in arguments]
        main(["-C", str(project), *shown, *typed])

        said = "".join(capsys.readouterr())
        assert not [word for word in (*NEVER, CANARY) if word in said], said


@pytest.mark.row("A133")
def test_settings_and_variables_that_cannot_be_used_are_not_repeated_whole(project, monkeypatch):
    for name in (
        "HEXAD_GENERATOR",
        "HEXAD_EMBEDDER",
        "HEXAD_DURABILITY",
        "HEXAD_LENSES",
        "HEXAD_ROLE",
        "HEXAD_OTEL",
    ):
        monkeypatch.setenv(name, KEY)
        said = _error_of(lambda: hexad.open(project).close())
        assert KEY not in said, said
        monkeypatch.delenv(name)
