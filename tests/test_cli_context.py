"""`hexad context` and `hexad expand`, as real processes over a real store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hexad import Hexad
from test_cli_sessions import Shell

LONG = "The crane is greased in May. " + "Crates wait on the quay until the tide turns. " * 20


@pytest.fixture
def shell(hx: Hexad, project: Path) -> Shell:
    hx.remember("The crane lifts four tons, because its cable is old.", kind="decision", id="mem_why")
    hx.remember(LONG, id="mem_long")
    return Shell(folder=project)


@pytest.mark.row("A105", "A151")
def test_context_prints_the_text_for_a_model_and_nothing_else(shell: Shell) -> None:
    ran = shell("context", "why does the crane lift four tons?")

    assert ran.code == 0
    assert ran.out.startswith("about: ")
    assert "mem_why,governance,decision,user," in ran.out
    assert "tokens of 2,000, as toon." in ran.err
    assert "late" not in ran.err


def test_json_is_the_context_with_all_that_led_to_it(shell: Shell) -> None:
    data = shell("context", "why does the crane lift four tons?", "--json", "--max-tokens", "300").data

    assert data["plan"]["query_class"] == "historical" or data["plan"]["asks_why"]
    assert data["tokens"] <= data["max_tokens"] == 300
    for block in (*data["system_items"], *data["evidence_blocks"]):
        assert block["score"] == pytest.approx(sum(block["parts"].values()))
    assert json.loads(shell("context", "crane", "--format", "json").out)["state"]


@pytest.mark.row("A106")
def test_a_plan_is_shown_and_no_layer_is_asked(shell: Shell) -> None:
    ran = shell("context", "How is the address book structured?", "--plan")

    assert "architectural question, to explain; decided by rules" in ran.out
    assert [line.split()[0] for line in ran.out.splitlines()[-6:]] == [
        "session", "project", "user", "governance", "graph", "vector",
    ]  # fmt: skip
    assert "mem_" not in ran.out


@pytest.mark.row("A010")
def test_what_is_understood_of_a_sentence_is_shown(shell: Shell) -> None:
    assert (
        "Understood as: kind:decision crane." in shell("context", "decisions about the crane", "--plan").out
    )
    ran = shell("context", "decisions about the crane")
    assert ("mem_why" in ran.out, "mem_long" in ran.out) == (True, False)
    assert "Understood as: kind:decision crane." in ran.err
    ran = shell("context", "decisions about the crane", "--literal")
    assert ("mem_long" in ran.out, "Understood" in ran.err) == (True, False)


@pytest.mark.row("A010", "A058")
def test_the_query_language_is_understood_and_what_was_left_out_is_said(shell: Shell) -> None:
    ran = shell("context", 'layer:project "the tide"', "--explain", "--max-tokens", "120")

    assert "mem_why" not in ran.out
    assert "mem_long" in ran.out
    short = shell("context", "crane", "--max-tokens", "60", "--explain")
    assert "left out: mem_" in short.err
    assert "tokens)" in short.err


@pytest.mark.row("A074")
def test_expand_prints_the_whole_of_what_was_shown_in_short(shell: Shell) -> None:
    shown = shell("context", "when is the crane greased?", "--summaries").out

    assert LONG.strip() not in shown
    assert shell("expand", "mem_long").out.strip() == LONG.strip()
    assert len(shell("expand", "mem_long", "--max-tokens", "10").out.strip()) <= 40


def test_what_is_not_known_prints_nothing_and_what_cannot_be_understood_is_an_error(shell: Shell) -> None:
    nothing = shell("context", "layer:vector zebra")
    assert (nothing.code, nothing.out) == (0, "")
    assert "Nothing is known about it." in nothing.err

    refused = shell("context", "layer:cellar crane")
    assert refused.code == 2
    assert "layer:cellar is none of session" in refused.err
    assert shell("expand", "mem_nobody").code == 3
