"""Spans for OpenTelemetry: only when asked for, under document 1's own name of the switch too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk", reason="the extra for tests is not installed")

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
    assert ["create_memory True", "search_memory True"] * 2 == said.stdout.splitlines()


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
