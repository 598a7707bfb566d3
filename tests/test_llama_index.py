"""LlamaIndex's memory with a block over a store, as the framework drives it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import Hexad, InvalidInput

pytest.importorskip("llama_index.core", reason="the extra `llama-index` is not installed")

from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import create_async_engine

from hexad.integrations.llama_index import HexadMemoryBlock

FILLER = "The kettle of the harbour office whistles at noon, and nobody minds it much. "
LONG = [("user", FILLER), ("assistant", FILLER)]


@pytest.fixture
def hx() -> Iterator[Hexad]:
    with hexad.open(":memory:", embedder=None, background=False) as store:
        yield store


def words(text: str) -> list[str]:
    return text.split()


def told(
    hx: Hexad,
    session: str,
    said: Sequence[tuple[str, str]],
    question: str,
    *,
    limit: int = 400,
    **options: Any,
) -> tuple[str, list[str]]:
    """Return what a model is sent after a conversation and a question: the system's text, and the others'."""

    async def talk() -> list[ChatMessage]:
        engine = create_async_engine("sqlite+aiosqlite:///:memory:")
        memory = Memory.from_defaults(
            session_id=session,
            token_limit=limit,
            token_flush_size=50,
            chat_history_token_ratio=0.5,
            tokenizer_fn=words,
            memory_blocks=[HexadMemoryBlock(hx, **{"user": "ada", "tokenizer_fn": words, **options})],
            async_engine=engine,
        )
        try:
            for role, text in said:
                await memory.aput(ChatMessage(role=role, content=text))
            return await memory.aget(input=question)
        finally:
            await engine.dispose()

    messages = asyncio.run(talk())
    texts = [(message.role.value, message.content or "") for message in messages]
    return (
        "\n".join(text for role, text in texts if role == "system"),
        [text for role, text in texts if role != "system"],
    )


def test_what_leaves_the_history_is_stored_and_comes_back_when_it_is_asked_for(hx: Hexad) -> None:
    allergic = [("user", "I am allergic to peanuts."), ("assistant", "Noted.")]
    told(hx, "monday", allergic, "Which snack?")
    assert 0 == hx.count(), "the history still holds it"

    system, history = told(hx, "monday", [*allergic, *LONG * 12], "Which snack is without peanuts?")

    assert hx.recall("peanuts")[0].text == "I am allergic to peanuts."
    assert "allergic to peanuts" in system
    assert all("allergic" not in text for text in history)


def test_another_conversation_of_the_user_knows_it_and_another_user_does_not(hx: Hexad) -> None:
    ask = "What is my boat called?"
    told(hx, "monday", [("user", "My boat is called Heron."), ("assistant", FILLER), *LONG], ask, limit=40)

    assert "Heron" in told(hx, "tuesday", [], ask)[0]
    assert "Heron" not in told(hx, "tuesday", [], ask, user="grace")[0]

    hx.forget(subject="ada", purge=True, confirm=True)
    assert "Heron" not in told(hx, "friday", [], ask)[0]


def test_what_the_history_still_holds_takes_no_room(hx: Hexad) -> None:
    code, ask = "The gate code is behind the blue pot.", "Where is the gate code?"
    told(hx, "monday", [("user", code), ("assistant", FILLER), *LONG], ask, limit=40)

    assert "blue pot" in told(hx, "monday", [], ask)[0]
    assert "blue pot" not in told(hx, "monday", [("user", code)], ask)[0]


def test_the_framework_has_it_shortened_where_its_own_limit_asks_for_that(hx: Hexad) -> None:
    for number in range(40):
        hx.remember(
            f"Valve {number} of the harbour drains chamber {number} at low tide, and needs oil in May."
        )
    ask = "Which valve drains the harbour?"
    whole, short = (told(hx, name, [], ask, limit=limit)[0] for name, limit in (("a", 5_000), ("b", 250)))

    assert 0 < len(words(short)) < len(words(whole))
    assert "Valve" in short
    assert len(words(short)) <= 250


def test_tools_are_turns_and_what_a_system_prompt_says_is_not(hx: Hexad) -> None:
    block = HexadMemoryBlock(hx, user="ada")
    call = ToolCallBlock(tool_name="tide", tool_kwargs={"harbour": "Oban"}, tool_call_id="1")
    asyncio.run(
        block.aput(
            [
                ChatMessage(role="system", content="You are a pilot."),
                ChatMessage(role="assistant", blocks=[call]),
                ChatMessage(
                    role="tool", content="Low water at 14:10.", additional_kwargs={"tool_call_id": "1"}
                ),
            ],
            session_id="monday",
        )
    )

    turns = {memory.turn.speaker: memory for memory in hx.memories(kinds=["turn"])}
    assert {"assistant", "tool"} == set(turns)
    assert "Oban" in turns["assistant"].raw
    assert hexad.Trust.TOOL is turns["tool"].trust


def test_a_store_that_could_keep_nothing_is_refused_before_a_model_is_asked(tmp_path: Path) -> None:
    hexad.open(tmp_path, embedder=None).close()
    with hexad.open(tmp_path, embedder=None, readonly=True) as reading:
        with pytest.raises(hexad.StorageFailure, match=r"HexadMemoryBlock stores .*read-only") as refused:
            HexadMemoryBlock(reading)
    assert "_step" not in str(refused.value)


def test_a_mistyped_field_is_named_and_those_of_the_framework_are_taken(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match=r"'max_token' is no field.*max_tokens"):
        HexadMemoryBlock(hx, max_token=500)
    for fields, said in (({"user": 5}, "user = 5 "), ({"priority": "x"}, "priority = 'x' ")):
        with pytest.raises(InvalidInput, match=said):
            HexadMemoryBlock(hx, **fields)

    block = HexadMemoryBlock(hx, max_tokens=500, priority=2, description="What Ada said.")
    assert (500, 2, "What Ada said.") == (block.max_tokens, block.priority, block.description)


def test_anything_but_an_open_store_and_a_name_that_all_share_are_refused(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match="HexadMemoryBlock"):
        HexadMemoryBlock("a folder")
    with pytest.raises(InvalidInput, match="user"):
        HexadMemoryBlock(hx, user="project")


@pytest.mark.parametrize("messages", ["x", ["x"], [None], 5, {"role": "user"}])
def test_what_is_no_message_is_named(hx: Hexad, messages: Any) -> None:
    block = HexadMemoryBlock(hx)
    for call in (block.aget, block.aput):
        with pytest.raises(InvalidInput, match=r"messages (=|has) "):
            asyncio.run(call(messages))
    with pytest.raises(InvalidInput, match="messages = None"):
        asyncio.run(block.aput(None))  # type: ignore[arg-type]

    assert 0 == hx.count()


@pytest.mark.parametrize("session", ["", " ", 5, [], {}])
def test_a_conversation_of_no_name_is_refused(hx: Hexad, session: Any) -> None:
    block, said = HexadMemoryBlock(hx), [ChatMessage(role="user", content="Hello.")]
    for call in (block.aget, block.aput):
        with pytest.raises(InvalidInput, match=r"session_id = .* must be a name"):
            asyncio.run(call(said, session_id=session))

    assert 0 == hx.count()


@pytest.mark.parametrize(("content", "many"), [(5, 1), ([], 1), ("text", None), ("text", "x")])
def test_what_cannot_be_shortened_is_named(hx: Hexad, content: Any, many: Any) -> None:
    with pytest.raises(InvalidInput, match=r"content must be|tokens_to_truncate = "):
        asyncio.run(HexadMemoryBlock(hx).atruncate(content, many))
