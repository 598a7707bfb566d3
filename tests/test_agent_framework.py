"""A context provider of Microsoft's Agent Framework over a store, as the framework's agents drive it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import Hexad, InvalidInput, Trust

pytest.importorskip("agent_framework", reason="the extra `agent-framework` is not installed")

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    SessionContext,
)

from hexad.integrations.agent_framework import HexadContextProvider


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """A model that says what it was given to say, and keeps what it was asked."""

    def __init__(self, *answers: Message) -> None:
        super().__init__()
        self.answers, self.asked = list(answers), []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool = False, options: Mapping[str, Any], **more: Any
    ) -> Any:
        self.asked.append("\n".join(message.text for message in messages))
        answer = self.answers.pop(0) if self.answers else Message("assistant", ["Noted."])

        async def respond() -> ChatResponse:
            return ChatResponse(messages=[answer])

        return respond()


@pytest.fixture
def hx() -> Iterator[Hexad]:
    with hexad.open(":memory:", embedder=None, background=False) as store:
        yield store


def say(hx: Hexad, model: Scripted, user: str, *texts: str, session: str | None = None, **more: Any) -> str:
    """Return what the model was asked last."""

    async def talk() -> None:
        agent = Agent(model, context_providers=[HexadContextProvider(hx, user=user)], **more)
        conversation = AgentSession(session_id=session)
        for text in texts:
            await agent.run(text, session=conversation)

    asyncio.run(talk())
    return str(model.asked[-1])


def test_an_agent_is_told_what_the_user_said_in_an_earlier_run_and_another_user_s_is_not(hx: Hexad) -> None:
    model = Scripted()
    say(hx, model, "ada", "I am allergic to peanuts.")

    assert "allergic to peanuts" in say(hx, model, "ada", "Which peanuts may I eat?")
    assert "allergic" not in say(hx, model, "grace", "Which peanuts may I eat?")
    hx.forget(subject="ada", purge=True, confirm=True)
    assert "allergic" not in say(hx, model, "ada", "Which peanuts may I eat?")


def test_what_the_history_of_the_session_holds_is_not_told_twice(hx: Hexad) -> None:
    asked = say(
        hx, Scripted(), "ada", "The gate code is behind the blue pot.", "Where is the gate code?", session="s"
    )

    assert 1 == asked.count("The gate code is behind the blue pot.")


def test_the_same_words_in_a_later_run_are_turns_of_their_own(hx: Hexad) -> None:
    say(hx, Scripted(), "ada", "Go on.", "Go on.", session="s")

    turns = [turn.turn.speaker for turn in hx.memories(kinds=["turn"], order="created") if turn.turn]
    assert sorted(["user", "assistant"] * 2) == sorted(turns)


def test_calls_and_results_are_turns_and_what_instructions_say_is_not(hx: Hexad) -> None:
    def tide(harbour: str) -> str:
        """Return when the water is low."""
        return f"Low water in {harbour} at 14:10."

    call = Content.from_function_call(call_id="1", name="tide", arguments={"harbour": "Oban"})
    model = Scripted(Message("assistant", [call]), Message("assistant", ["At 14:10."]))
    say(hx, model, "ada", "When is low water in Oban?", tools=[tide], instructions="You are a pilot.")

    turns = {turn.raw: turn for turn in hx.memories(kinds=["turn"])}
    assert {
        "When is low water in Oban?": Trust.USER,
        'tide({"harbour": "Oban"})': Trust.AGENT,
        "Low water in Oban at 14:10.": Trust.TOOL,
        "At 14:10.": Trust.AGENT,
    } == {text: turn.trust for text, turn in turns.items()}


def test_a_run_that_failed_leaves_nothing(hx: Hexad) -> None:
    class Broken(Scripted):
        def _inner_get_response(self, **more: Any) -> Any:
            raise RuntimeError("no model")

    with pytest.raises(Exception, match="no model"):
        say(hx, Broken(), "ada", "I am allergic to peanuts.")
    assert 0 == hx.count()


def test_a_store_that_could_keep_nothing_is_refused_before_a_model_is_asked(tmp_path: Path) -> None:
    hexad.open(tmp_path, embedder=None).close()
    with hexad.open(tmp_path, embedder=None, readonly=True) as reading:
        with pytest.raises(hexad.StorageFailure, match=r"HexadContextProvider stores .*read-only") as refused:
            HexadContextProvider(reading)
    assert "_step" not in str(refused.value)


@pytest.mark.parametrize("session", [None, "monday", 3])
def test_what_is_no_session_is_named(hx: Hexad, session: Any) -> None:
    provider = HexadContextProvider(hx)
    for step in (provider.before_run, provider.after_run):
        context = SessionContext(input_messages=[Message("user", ["Hello."])])
        with pytest.raises(InvalidInput, match=r"session = .* must be a session of the framework"):
            asyncio.run(step(agent=None, session=session, context=context, state={}))


@pytest.mark.parametrize("source_id", ["", " ", None, 3])
def test_a_provider_has_a_source_id(hx: Hexad, source_id: Any) -> None:
    with pytest.raises(InvalidInput, match=r"source_id = .* must be a name"):
        HexadContextProvider(hx, source_id=source_id)


def test_anything_but_an_open_store_and_a_name_that_all_share_are_refused(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match="HexadContextProvider"):
        HexadContextProvider("a folder")
    with pytest.raises(InvalidInput, match="default"):
        HexadContextProvider(hx, user="default")


@pytest.mark.parametrize("context", [None, "x", 5, {}])
def test_what_is_no_context_of_a_run_is_named(hx: Hexad, context: Any) -> None:
    provider = HexadContextProvider(hx)
    for step in (provider.before_run, provider.after_run):
        with pytest.raises(InvalidInput, match=r"context = .* must be the framework's SessionContext"):
            asyncio.run(step(agent=None, session=AgentSession(), context=context, state={}))
