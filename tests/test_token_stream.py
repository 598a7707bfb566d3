"""A program that records what a model generates, token by token over real HTTP, and steers it on one of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad.audit import AuditLog
from llm_server import Asked, Say, llm_server

EXAMPLE = Path(__file__).parent.parent / "examples" / "token_stream.py"
SURE, DOUBTFUL = [-0.01, -5.0, -6.0], [-1.1, -1.1, -1.1]
TOKENS = 10_000
DOUBT_AT = 7_000


def streamed(tokens: list[tuple[str, list[float]]]) -> Say:
    """An answer as OpenAI's chat completions stream it, a token in each event."""
    events = []
    for word, logprobs in tokens:
        others = [{"token": f"{word}{number}", "logprob": each} for number, each in enumerate(logprobs)]
        token = {"token": word, "logprob": logprobs[0], "top_logprobs": others}
        choice = {"index": 0, "delta": {"content": word}, "logprobs": {"content": [token]}}
        events.append(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
    return Say(body=b"".join([*events, b"data: [DONE]\n\n"]), content_type="text/event-stream")


def answer(asked: Asked) -> Say:
    """Doubt at one token when sampling, never without; go on from what was said."""
    said = asked.body["messages"][-1]
    begun = len(said["content"].split()) if said["role"] == "assistant" else 0
    sampling = "temperature" not in asked.body
    return streamed(
        [
            (f" w{number % 97}", DOUBTFUL if sampling and number == DOUBT_AT else SURE)
            for number in range(begun, TOKENS)
        ]
    )


def ran(url: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE), "Say many words.", "--url", url, "--model", "tiny"]
    return subprocess.run(
        [*command, "--store", str(folder), *arguments],
        check=False, capture_output=True, text=True, timeout=240, env={**os.environ, "HEXAD_EMBEDDER": "none"},
    )  # fmt: skip


def test_ten_thousand_tokens_are_recorded_with_their_concept_and_one_of_them_steers(tmp_path: Path) -> None:
    with llm_server() as server:
        server.always(answer)
        done = ran(server.base_url, tmp_path)
        requests: list[dict[str, Any]] = [asked.body for asked in server.asked]

    assert 0 == done.returncode, done.stderr
    words = [f"w{number % 97}" for number in range(TOKENS)]
    assert words == done.stdout.split()
    assert f"{TOKENS} tokens, steered once" in done.stderr
    first, second = requests
    assert ("temperature" not in first, 0) == (True, second["temperature"])
    assert words[: DOUBT_AT + 1] == second["messages"][-1]["content"].split()

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        (session,) = hx.xdb.sessions()
        doubts = hx.xdb.recall_by_concept("uncertain", min_activation=0.9, session_id=session.id)
        assert [(DOUBT_AT + 2, f" w{DOUBT_AT % 97}", "assistant", 1)] == [
            (step.tick, step.content, step.role, step.token_count) for step in doubts
        ]
        assert TOKENS + 1 == hx.xdb.session_totals()[session.id].timesteps
        folder = hx.path / "audit"
    with AuditLog(folder) as log:
        assert log.verify().ok
        assert TOKENS == log.size


def test_a_model_that_never_doubts_is_not_steered(tmp_path: Path) -> None:
    with llm_server() as server:
        server.always(lambda asked: streamed([(" sure", SURE), (" enough", DOUBTFUL)]))
        done = ran(server.base_url, tmp_path, "--steer-at", "1.1")

    assert (" sure enough\n", True) == (done.stdout, "2 tokens, steered never" in done.stderr)


def test_a_model_that_nobody_runs_is_said_in_a_line(tmp_path: Path) -> None:
    done = ran("http://127.0.0.1:1", tmp_path)

    assert 1 == done.returncode
    assert done.stderr.startswith("URLError: "), done.stderr
    assert 1 == len(done.stderr.splitlines()), done.stderr


@pytest.mark.parametrize("level", ["nan", "inf", "much"])
def test_a_level_that_no_doubt_can_pass_is_refused_before_anything_is_recorded(
    tmp_path: Path, level: str
) -> None:
    done = ran("http://127.0.0.1:1", tmp_path, "--steer-at", level)

    assert 2 == done.returncode
    assert "argument --steer-at" in done.stderr
    assert [] == [*tmp_path.iterdir()]
