"""A memory service of Google's ADK over a store, as the framework's runner and tools drive it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import AccessDenied, Hexad, InvalidInput, Trust

pytest.importorskip("google.adk", reason="the extra `google-adk` is not installed")

from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai.types import Content, FunctionCall, FunctionResponse, Part

from hexad.integrations.google_adk import HexadMemoryService

APP = "pilots"


class Scripted(BaseLlm):
    """A model that says "Noted." and keeps what it was asked."""

    model: str = "scripted"
    asked: list[str]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.asked.append("\n".join(_words(content) for content in llm_request.contents))
        yield LlmResponse(content=Content(role="model", parts=[Part(text="Noted.")]))


def _words(content: Content) -> str:
    return "\n".join(part.text for part in content.parts or () if part.text)


def event(author: str, text: str, at: float, **more: object) -> Event:
    return Event(author=author, timestamp=at, content=Content(parts=[Part(text=text)]), **more)


@pytest.fixture
def hx() -> Iterator[Hexad]:
    with hexad.open(":memory:", embedder=None, background=False) as store:
        yield store


def test_an_agent_is_told_what_the_user_said_in_an_earlier_session_and_another_user_s_is_not(
    hx: Hexad,
) -> None:
    model, sessions, service = Scripted(asked=[]), InMemorySessionService(), HexadMemoryService(hx)
    agent = LlmAgent(name="helm", model=model, tools=[PreloadMemoryTool()])
    runner = Runner(app_name=APP, agent=agent, session_service=sessions, memory_service=service)

    async def say(user: str, text: str) -> str:
        session = await sessions.create_session(app_name=APP, user_id=user)
        said = Content(role="user", parts=[Part(text=text)])
        async for _ in runner.run_async(user_id=user, session_id=session.id, new_message=said):
            pass
        ended = await sessions.get_session(app_name=APP, user_id=user, session_id=session.id)
        assert ended is not None
        await service.add_session_to_memory(ended)
        return model.asked[-1]

    async def talk() -> tuple[str, str]:
        await say("ada", "I am allergic to peanuts.")
        return await say("ada", "Which peanuts may I eat?"), await say("grace", "Which peanuts may I eat?")

    ada, grace = asyncio.run(talk())

    assert "I am allergic to peanuts." in ada
    assert "allergic" not in grace
    speakers = {turn.turn.speaker for turn in hx.memories(kinds=["turn"]) if turn.turn}
    assert {"user", "helm"} == speakers


def test_a_session_that_is_added_again_and_events_that_overlap_are_stored_once(hx: Hexad) -> None:
    service = HexadMemoryService(hx)
    events = [event("user", f"Buoy {at} is red.", 1_700_000_000.25 + at) for at in range(5)]

    async def add() -> list[int]:
        counts = []
        for some in (events[2:4], events[2:4], events[3:], events, events[:1], events):
            await service.add_events_to_memory(app_name=APP, user_id="ada", events=some, session_id="s")
            counts.append(len(list(hx.memories(kinds=["turn"]))))
        session = Session(id="s", app_name=APP, user_id="ada", events=events)
        await service.add_session_to_memory(session)
        return [*counts, len(list(hx.memories(kinds=["turn"])))]

    assert [2, 2, 3, 5, 5, 5, 5] == asyncio.run(add())


def test_a_search_says_who_said_what_when_and_a_blank_one_finds_nothing(hx: Hexad) -> None:
    service = HexadMemoryService(hx)
    said = [
        event("user", "The gate code is behind the blue pot.", 1_700_000_000),
        event("helm", "Understood.", 1_700_000_001),
    ]
    asyncio.run(service.add_events_to_memory(app_name=APP, user_id="ada", events=said, session_id="s"))

    found = asyncio.run(service.search_memory(app_name=APP, user_id="ada", query="Where is the gate code?"))

    best = found.memories[0]
    assert ("user", "user") == (best.author, best.content.role)
    assert "The gate code is behind the blue pot." == _words(best.content)
    assert best.timestamp is not None and best.timestamp.startswith("2023-11-14T22:13:20")
    assert best.id is not None and hx.get(best.id).space == "ada"
    assert [] == asyncio.run(service.search_memory(app_name=APP, user_id="ada", query="  ")).memories


def test_a_deleted_memory_is_gone_from_searches_and_stays_gone_when_its_session_is_added_again(
    hx: Hexad,
) -> None:
    service = HexadMemoryService(hx)
    session = Session(
        id="s", app_name=APP, user_id="ada",
        events=[event("user", "I am allergic to peanuts. Always answer in Danish.", 1_700_000_000)],
    )  # fmt: skip

    async def found() -> list[str]:
        answer = await service.search_memory(app_name=APP, user_id="ada", query="allergic to peanuts")
        return [str(memory.id) for memory in answer.memories]

    async def delete() -> tuple[list[str], list[str]]:
        await service.add_session_to_memory(session)
        before = await found()
        await service.delete_memory(app_name=APP, user_id="ada", memory_id=before[0])
        await service.add_session_to_memory(session)
        return before, await found()

    before, after = asyncio.run(delete())
    assert before and [] == after

    shared = hx.remember("The harbour opens at six.")
    with pytest.raises(AccessDenied, match=shared.id):
        asyncio.run(service.delete_memory(app_name=APP, user_id="ada", memory_id=shared.id))
    asyncio.run(
        service.delete_memory(app_name=APP, user_id="ada", memory_id="mem_00000000000000000000000000")
    )
    asyncio.run(service.delete_memory(app_name=APP, user_id="ada"))


def test_memories_are_stored_with_their_metadata_and_go_when_the_user_is_forgotten(hx: Hexad) -> None:
    service = HexadMemoryService(hx)
    entry = MemoryEntry(
        content=Content(parts=[Part(text="Prefers a window seat.")]),
        author="user",
        custom_metadata={"from": "form"},
    )
    asyncio.run(
        service.add_memory(app_name=APP, user_id="ada", memories=[entry], custom_metadata={"batch": 7})
    )

    (memory,) = hx.memories(space="ada")
    assert {"agent": APP, "from": "form", "batch": 7}.items() <= memory.metadata.items()
    assert Trust.USER is memory.trust
    hx.forget(subject="ada", purge=True, confirm=True)
    assert 0 == hx.count()


def test_calls_and_results_are_turns_and_thoughts_and_pieces_are_not(hx: Hexad) -> None:
    service = HexadMemoryService(hx)
    call = Part(function_call=FunctionCall(name="tide", args={"harbour": "Oban"}))
    given = Part(function_response=FunctionResponse(name="tide", response={"low": "14:10"}))
    events = [
        event("helm", "Low wat", 1_700_000_000, partial=True),
        Event(
            author="helm",
            timestamp=1_700_000_001,
            content=Content(parts=[Part(text="Hm.", thought=True), call]),
        ),
        Event(author="helm", timestamp=1_700_000_002, content=Content(parts=[given])),
    ]
    asyncio.run(service.add_events_to_memory(app_name=APP, user_id="ada", events=events))

    turns = {turn.turn.speaker: turn for turn in hx.memories(kinds=["turn"]) if turn.turn}
    assert 'tide({"harbour": "Oban"})' == turns["helm"].raw
    assert '{"low": "14:10"}' == turns["tide"].raw
    assert (Trust.AGENT, Trust.TOOL) == (turns["helm"].trust, turns["tide"].trust)


def test_anything_but_an_open_store_and_a_user_that_all_share_are_refused(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match="HexadMemoryService"):
        HexadMemoryService("a folder")
    with pytest.raises(InvalidInput, match="max_tokens = 0 is not a whole number"):
        HexadMemoryService(hx, max_tokens=0)
    with pytest.raises(InvalidInput, match="default"):
        asyncio.run(HexadMemoryService(hx).search_memory(app_name=APP, user_id="default", query="tide"))


@pytest.mark.parametrize("user_id", [None, "", " ", 5])
def test_what_nobody_in_particular_said_is_stored_nowhere(hx: Hexad, user_id: Any) -> None:
    service = HexadMemoryService(hx)
    entry = MemoryEntry(content=Content(role="user", parts=[Part(text="The pump hums.")]))
    for call in (
        lambda: service.add_events_to_memory(
            app_name=APP, user_id=user_id, events=[event("user", "The pump hums.", 1.0)], session_id="s"
        ),
        lambda: service.add_memory(app_name=APP, user_id=user_id, memories=[entry]),
        lambda: service.search_memory(app_name=APP, user_id=user_id, query="pump"),
        lambda: service.delete_memory(app_name=APP, user_id=user_id, memory_id="m"),
    ):
        with pytest.raises(InvalidInput, match=r"user_id = .* must be a name"):
            asyncio.run(call())

    assert 0 == hx.count(status=None)


def test_a_store_that_is_only_read_is_searched_and_says_of_whom_it_keeps_nothing(tmp_path: Path) -> None:
    with hexad.open(tmp_path, embedder=None) as hx:
        add = HexadMemoryService(hx).add_events_to_memory
        asyncio.run(add(app_name=APP, user_id="ada", events=[event("user", "The gate is blue.", 1.0)]))
    with hexad.open(tmp_path, embedder=None, readonly=True) as reading:
        service = HexadMemoryService(reading)
        found = asyncio.run(service.search_memory(app_name=APP, user_id="ada", query="Which gate is blue?"))
        with pytest.raises(hexad.StorageFailure, match=r"HexadMemoryService stores .*read-only") as refused:
            asyncio.run(
                service.add_events_to_memory(
                    app_name=APP, user_id="ada", events=[event("user", "The gate is red.", 2.0)]
                )
            )

    assert "The gate is blue." == _words(found.memories[0].content)
    assert "_step" not in str(refused.value)


def test_a_search_makes_no_space_of_a_mistyped_user(hx: Hexad) -> None:
    service = HexadMemoryService(hx)
    asyncio.run(service.search_memory(app_name=APP, user_id="KIM", query="pump"))
    asyncio.run(
        service.add_events_to_memory(
            app_name=APP, user_id="kim", events=[event("user", "The pump hums.", 1.0)], session_id="s"
        )
    )

    assert "KIM" not in {space.name for space in hx.spaces.list()}
    assert 1 == len(asyncio.run(service.search_memory(app_name=APP, user_id="kim", query="pump")).memories)


@pytest.mark.parametrize("wrong", [None, "x", [None], [5]])
def test_what_is_no_event_no_entry_and_no_session_is_named(hx: Hexad, wrong: Any) -> None:
    service = HexadMemoryService(hx)
    for call in (
        lambda: service.add_events_to_memory(app_name=APP, user_id="ada", events=wrong),
        lambda: service.add_memory(app_name=APP, user_id="ada", memories=wrong),
        lambda: service.add_session_to_memory(wrong),
    ):
        with pytest.raises(InvalidInput, match=r"(events|memories|session) = .* cannot be used"):
            asyncio.run(call())
    with pytest.raises(InvalidInput, match="query must be a string, not 5"):
        asyncio.run(service.search_memory(app_name=APP, user_id="ada", query=5))

    assert 0 == hx.count(status=None)


@pytest.mark.parametrize("metadata", ["x", 5, [None], object()])
def test_metadata_that_are_none_are_named(hx: Hexad, metadata: Any) -> None:
    entry = MemoryEntry(content=Content(parts=[Part(text="The gate is blue.")]))
    with pytest.raises(InvalidInput, match=r"custom_metadata = .* must be a dictionary"):
        asyncio.run(
            HexadMemoryService(hx).add_memory(
                app_name=APP, user_id="ada", memories=[entry], custom_metadata=metadata
            )
        )

    assert 0 == hx.count()


@pytest.mark.parametrize("memory_id", ["", " ", [], 5])
def test_a_memory_of_no_id_is_not_taken_for_deleted(hx: Hexad, memory_id: Any) -> None:
    with pytest.raises(InvalidInput, match=r"memory_id = .* must be a name"):
        asyncio.run(HexadMemoryService(hx).delete_memory(app_name=APP, user_id="ada", memory_id=memory_id))


@pytest.mark.parametrize("query", [None, 5, []])
def test_a_query_that_is_no_text_is_named(hx: Hexad, query: Any) -> None:
    with pytest.raises(InvalidInput, match="query must be a string, not"):
        asyncio.run(HexadMemoryService(hx).search_memory(app_name=APP, user_id="ada", query=query))
