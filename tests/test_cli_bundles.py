"""`hexad use-context`, `hexad spaces bundle` and `hexad spaces kind`, as real processes over a real store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import FrozenClock, Hexad
from test_cli_sessions import Shell

FROZEN = "2026-02-01T12:00:00Z"


@pytest.fixture
def shell(hx: Hexad, clock: FrozenClock, project: Path) -> Callable[..., object]:
    hx.remember(
        "Retries stop after five attempts.", space="shop", id="mem_retries", path="shop/gateway/retries",
        kind="decision", pinned=True, tags=["gateway"],
    )  # fmt: skip
    clock.advance(hours=1)
    hx.remember(
        "Spans leave in batches.", space="shop", id="mem_spans", path="shop/telemetry/spans", kind="guide"
    )
    return Shell(folder=project)


def without_coverage(bundle: Any) -> dict[str, Any]:
    """A bundle without the note that says how much is searched by meaning: the command line has another embedder."""
    return {**bundle, "notes": [note for note in bundle["notes"] if "by meaning" not in note]}


@pytest.mark.row("L098")
def test_use_context_prints_the_ready_text_and_nothing_else(shell: Shell, hx: Hexad) -> None:
    ran = shell("use-context", "shop", "retries", "--limit", "1", "--freeze-clock", FROZEN)

    context = hx.use_context("shop", "retries", limit=1, freeze_clock=FROZEN).context

    assert (0, context.text + "\n") == (ran.code, ran.out)
    assert "Left out as off the topic: 1 of 2 memories." == context.notes[-1]
    assert context.notes[-1] in ran.err


@pytest.mark.row("L088", "L098", "L168")
def test_json_is_the_bundle_of_the_library(shell: Shell, hx: Hexad) -> None:
    asked = {
        "limit": 1,
        "include_raw": True,
        "include_metadata": False,
        "backend": "raptor",
        "freeze_clock": FROZEN,
    }
    wanted = hx.recall_context("shop", "telemetry", asked).to_dict()
    typed = [
        "--limit",
        "1",
        "--raw",
        "--no-metadata",
        "--backend",
        "raptor",
        "--freeze-clock",
        FROZEN,
        "--json",
    ]

    assert wanted == shell("spaces", "bundle", "shop", "telemetry", *typed).data
    assert wanted == shell("use-context", "shop", "telemetry", "--any-topic", *typed).data
    near = hx.recall_context("shop", "telemetry", {**asked, "on_topic": True}).to_dict()
    for command in (("use-context",), ("spaces", "bundle")):
        printed = shell(*command, "shop", "telemetry", "--on-topic", *typed).data
        assert without_coverage(near) == without_coverage(printed)
    assert [["mem_retries"], ["mem_spans"]] == [
        [section["id"] for section in found["sections"]] for found in (wanted, near)
    ]
    written = json.dumps({**asked, "limit": 7})
    assert (
        wanted
        == shell("spaces", "bundle", "shop", "telemetry", "--options", written, "--limit", "1", "--json").data
    )


@pytest.mark.row("L097")
def test_kinds_are_listed_in_order(shell: Shell, hx: Hexad) -> None:
    wanted = hx.recall_kind("shop", "guide", freeze_clock=FROZEN).to_dict()

    assert wanted == shell("spaces", "kind", "shop", "guide", "--freeze-clock", FROZEN, "--json").data
    people = shell("spaces", "kind", "shop", "guide")
    assert "shop/telemetry/spans" in people.out
    assert "Spans leave in batches." in people.out
    assert "mem_spans" in people.out


def test_people_see_the_summary_the_sections_and_the_notes(shell: Shell) -> None:
    ran = shell(
        "spaces",
        "bundle",
        "shop",
        "retries",
        "--backend",
        "quantum",
        "--prefer-tag",
        "gateway",
        "--order",
        "strict",
    )

    assert ran.out.startswith(
        "Context bundle for 'retries' (2 items):\n• shop/gateway/retries — Retries stop"
    )
    assert "decision · medium relevance · 13.800 · mem_retries · pinned" in ran.out
    assert "Unknown backend 'quantum'" in ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["use-context", "nowhere", "x"], 3, "Project 'nowhere' not found"),
        (["spaces", "bundle", "nowhere", "x"], 3, "Space 'nowhere' not found"),
        (["spaces", "kind", "shop", "!"], 2, "is no kind of memory"),
        (["spaces", "bundle", "shop", "x", "--max-tokens", "0"], 2, "--max-tokens 0 must be"),
        (["spaces", "bundle", "shop", "x", "--options", "[]"], 2, "no JSON object"),
        (["spaces", "bundle", "shop", "x", "--options", '{"limt": 1}'], 2, "Unknown option 'limt'"),
        (["use-context", "shop", "x", "--deadline-ms", "0"], 2, "--deadline-ms 0 must be"),
        (["use-context", "shop"], 2, "Missing argument 'TOPIC'"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    shell: Shell, arguments: list[str], code: int, complaint: str
) -> None:
    ran = shell(*arguments)

    assert (code, "") == (ran.code, ran.out)
    assert complaint in ran.err


def test_what_is_not_known_leaves_stdout_empty(shell: Shell, hx: Hexad) -> None:
    hx.spaces.create("empty")
    ran = shell("use-context", "empty", "retries")

    assert (0, "", "No memories found for 'retries'\n") == (ran.code, ran.out, ran.err)
    kinds = shell("spaces", "kind", "shop", "recipe")
    assert (0, "") == (kinds.code, kinds.out)
    assert "Nothing of the kind recipe in shop." in kinds.err


def test_what_a_memory_holds_does_not_steer_the_terminal(shell: Shell, hx: Hexad) -> None:
    hx.remember("Red \x1b[31m alert.", space="odd", id="mem_red", path="p/red")

    for arguments in (["use-context", "odd", "red"], ["spaces", "bundle", "odd", "red", "--raw"]):
        assert "\x1b" not in shell(*arguments).out


@pytest.mark.row("L168")
def test_the_environment_chooses_the_ordering_of_a_process(
    shell: Shell, hx: Hexad, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXON_MEMORY_BACKEND", "patricia")
    with hexad.open(hx.path, embedder=None, background=False) as patricia:
        wanted = patricia.recall_context("shop", "shop/telemetry", freeze_clock=FROZEN)

    ran = shell("spaces", "bundle", "shop", "shop/telemetry", "--freeze-clock", FROZEN)

    assert f"{wanted.scores[0]:.3f}" in ran.out
    assert wanted.scores != hx.recall_context("shop", "shop/telemetry", freeze_clock=FROZEN).scores
