"""A memory for agents of Pydantic AI: what its runs are told and leave, over the real store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import InvalidInput

pytest.importorskip("pydantic_ai", reason="the extra `pydantic-ai` is not installed")

from pydantic_ai import Agent, models
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from hexad.integrations.pydantic_ai import HexadMemory


@pytest.fixture(autouse=True)
def _no_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "ALLOW_MODEL_REQUESTS", False)


class Scripted:
    """A model that answers from a list, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = list(answers), list[list[ModelMessage]]()

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append(list(messages))
        answer = self.answers.pop(0)
        return ModelResponse(parts=[TextPart(answer) if isinstance(answer, str) else answer])

    def read(self, step: int) -> str:
        return "\n".join(
            str(part.content)
            for message in self.asked[step] if isinstance(message, ModelRequest)
            for part in message.parts
        )  # fmt: skip


@pytest.fixture
def hx(tmp_path: Path) -> Iterator[hexad.Hexad]:
    (tmp_path / ".hexad").mkdir()
    (tmp_path / ".hexad" / "hexad.toml").write_text("[router]\nlayer_ms = 30000\ntotal_ms = 30000\n")
    with hexad.open(tmp_path, embedder=None, background=False) as store:
        yield store


def run(agent: Agent[None, str], text: str, **more: Any) -> Any:
    return asyncio.run(agent.run(text, **more))


def test_a_later_run_knows_what_an_earlier_one_was_told(hx: hexad.Hexad) -> None:
    model = Scripted("I will keep that in mind.", "No peanuts for you.")
    agent = Agent(FunctionModel(model), capabilities=[HexadMemory(hx, user="ada")])
    first = run(agent, "I am allergic to peanuts.")
    second = run(agent, "Which peanuts may I eat?")

    assert "allergic to peanuts" not in model.read(0).replace("I am allergic to peanuts.", "")
    assert "allergic to peanuts" in model.read(1)
    assert model.read(1).splitlines()[-1] == "Which peanuts may I eat?"  # what is asked stands last
    assert "recalled-memory" not in str(second.all_messages())  # it is sent, and not kept
    assert first.output == "I will keep that in mind."
    assert any("allergic to peanuts" in hit.text for hit in hx.recall("peanuts", space="ada"))
    hx.forget(subject="ada", purge=True, confirm=True)
    assert not hx.recall("peanuts allergy")


def test_a_run_with_tools_is_told_the_same_at_each_request_and_stores_each_turn_once(hx: hexad.Hexad) -> None:
    hx.remember("Valve V7 was replaced in March.")
    call = ToolCallPart(tool_name="pressure", args={"valve": "V7"})
    model = Scripted(call, "V7 stands at 41 bar.", "It was V7.")
    agent = Agent(FunctionModel(model), capabilities=[HexadMemory(hx, session="monday")])

    @agent.tool_plain
    def pressure(valve: str) -> str:
        return f"{valve} stands at 41 bar, says the gauge"

    first = run(agent, "What is the pressure at valve V7?")
    run(agent, "Which valve was it?", message_history=first.all_messages())

    assert ["replaced in March" in model.read(step) for step in (0, 1)] == [True, True]
    turns = [memory.raw for memory in hx.memories(limit=None) if memory.turn is not None]
    assert sorted(turns) == sorted({*turns})
    assert {
        "What is the pressure at valve V7?",
        "V7 stands at 41 bar.",
        "Which valve was it?",
        "It was V7.",
    } <= {*turns}
    assert any("says the gauge" in turn for turn in turns)
    assert {memory.turn.conversation for memory in hx.memories(limit=None) if memory.turn} == {"monday"}


def test_runs_at_once_do_not_disturb_each_other(hx: hexad.Hexad) -> None:
    for color in ("red", "green", "blue", "amber"):
        hx.remember(f"The {color} lamp hangs in hall {color[0]}.")

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        text = "\n".join(str(part.content) for message in messages for part in message.parts)
        return ModelResponse(parts=[TextPart(text)])

    agent = Agent(FunctionModel(answer), capabilities=[HexadMemory(hx)])

    async def everybody() -> list[str]:
        asked = [
            agent.run(f"Where does the {color} lamp hang?") for color in ("red", "green", "blue", "amber")
        ]
        return [run.output for run in await asyncio.gather(*asked)]

    outputs = asyncio.run(everybody())

    assert [f"in hall {initial}." in text for initial, text in zip("rgba", outputs, strict=True)] == [
        True
    ] * 4


def test_a_run_that_fails_leaves_nothing_and_what_is_no_store_is_refused(hx: hexad.Hexad) -> None:
    def fails(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(Agent(FunctionModel(fails), capabilities=[HexadMemory(hx)]), "The pump hums.")
    assert hx.count() == 0
    with pytest.raises(InvalidInput, match="must be an open store"):
        HexadMemory("folder")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="max_tokens"):
        HexadMemory(hx, max_tokens=0)


@pytest.mark.parametrize("prompt", ["", "  ", [BinaryContent(b"\x89PNG", media_type="image/png")]])
def test_a_prompt_without_words_is_answered_all_the_same(hx: hexad.Hexad, prompt: Any) -> None:
    model = Scripted("A ferry at a quay.")
    agent = Agent(FunctionModel(model), capabilities=[HexadMemory(hx, session="monday")])

    assert "A ferry at a quay." == run(agent, prompt).output
    assert ["A ferry at a quay."] == [
        memory.raw for memory in hx.memories(limit=None) if memory.turn is not None
    ]


def test_a_blank_session_is_refused_when_the_capability_is_made(hx: hexad.Hexad) -> None:
    with pytest.raises(hexad.InvalidInput, match="session = '' must be a name"):
        HexadMemory(hx, session="")


def test_a_run_whose_words_were_said_before_is_stored_as_any_other(hx: hexad.Hexad) -> None:
    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("Done.")])

    agent = Agent(FunctionModel(model), capabilities=[HexadMemory(hx, user="ada", session="monday")])
    for _ in range(3):
        asyncio.run(agent.run("Next."))

    assert 6 == hx.count(space="ada", kinds=["turn"])


@pytest.mark.parametrize("user", [None, "ada"])
def test_a_store_that_could_keep_nothing_is_refused_before_a_model_is_asked(
    tmp_path: Path, user: str | None
) -> None:
    hexad.open(tmp_path, embedder=None).close()
    with hexad.open(tmp_path, embedder=None, readonly=True) as reading:
        with pytest.raises(hexad.StorageFailure, match=r"HexadMemory stores .*read-only") as refused:
            HexadMemory(reading, user=user)
    assert "_step" not in str(refused.value)


def test_a_space_that_is_not_open_to_who_runs_an_agent_is_refused_before_a_model_is_asked(
    tmp_path: Path,
) -> None:
    with hexad.open(tmp_path, embedder=None) as owned:
        owned.spaces.create("ada")
        owned.spaces.set_policy("ada", {"roles": ["nurse"]})
    with hexad.open(tmp_path, embedder=None, actor={"role": "guest"}) as guest:
        with pytest.raises(hexad.AccessDenied, match="'ada' is not open to guest"):
            HexadMemory(guest, user="ada")
