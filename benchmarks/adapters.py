"""What each adapter of a framework adds to the direct call that does the same, call by call in turn.

Processor time, so that other work on the machine counts little; an adapter whose framework is not installed is left
out. `telemetry` is what spans cost a recall: with nobody listening, and for OpenTelemetry.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Final

import hexad
from benchmarks.child import in_child
from benchmarks.report import Options, Report, Table, percentile

Pair = tuple[str, Callable[[int], object], Callable[[int], object]]
"""What is compared, the adapter's call and the direct one; both are given a number."""
_TEXT: Final = (
    "Note {}: the ferry leaves the harbour at noon and the supervisor has to be green before we deploy."
)


def _pairs_of_langgraph(hx: hexad.Hexad, _await: Any) -> Iterator[Pair]:
    from hexad.integrations.langgraph import HexadStore

    store = HexadStore(hx, fields=["text"])
    yield (
        "LangGraph: HexadStore.put beside hx.remember",
        lambda at: store.put(("notes",), f"put {at}", {"text": _TEXT.format(at)}),
        lambda at: hx.remember(
            _TEXT.format(-at), id=f"direct_{at}", kind="item", path=f"direct/{at}", metadata={"n": at}
        ),
    )
    yield (
        "LangGraph: HexadStore.get beside hx.get",
        lambda at: store.get(("notes",), f"put {at}"),
        lambda at: hx.get(f"direct_{at}"),
    )
    yield (
        "LangGraph: HexadStore.search beside hx.recall, 10 hits",
        lambda at: store.search(("notes",), query=f"ferry note {at}"),
        lambda at: hx.recall(f"ferry note {at}", kinds=["item"], path="notes", limit=10, min_relevance=0.0),
    )


def _pairs_of_langchain(hx: hexad.Hexad, _await: Any) -> Iterator[Pair]:
    from langchain_core.messages import HumanMessage

    from hexad.integrations.langchain import HexadChatMessageHistory, HexadVectorStore

    documents, history = HexadVectorStore(hx), HexadChatMessageHistory(hx, "talk")
    yield (
        "LangChain: HexadVectorStore.add_texts beside hx.remember",
        lambda at: documents.add_texts([_TEXT.format(f"doc {at}")], ids=[str(at)]),
        lambda at: hx.remember(
            _TEXT.format(f"plain {at}"), id=f"plain_{at}", kind="document", path=f"plain/{at}"
        ),
    )
    yield (
        "LangChain: HexadVectorStore.similarity_search beside hx.recall, 4 hits",
        lambda at: documents.similarity_search(f"ferry note doc {at}"),
        lambda at: hx.recall(
            f"ferry note doc {at}", kinds=["document"], path="documents", limit=4, min_relevance=0.0
        ),
    )
    yield (
        "LangChain: HexadChatMessageHistory.add_messages beside hx.remember of a message",
        lambda at: history.add_messages([HumanMessage(_TEXT.format(f"said {at}"))]),
        lambda at: hx.remember(_user(_TEXT.format(f"told {at}")), conversation="beside LangChain"),
    )


def _pairs_of_openai_agents(hx: hexad.Hexad, wait: Any) -> Iterator[Pair]:
    from hexad.integrations.openai_agents import HexadSession

    session = HexadSession(hx, "openai")
    yield (
        "OpenAI Agents: HexadSession.add_items beside hx.remember of a message",
        lambda at: wait(session.add_items(_user(_TEXT.format(f"item {at}")))),
        lambda at: hx.remember(_user(_TEXT.format(f"message {at}")), conversation="beside OpenAI"),
    )


def _pairs_of_anthropic(hx: hexad.Hexad, _await: Any) -> Iterator[Pair]:
    from hexad.integrations.anthropic import HexadMemoryTool

    tool = HexadMemoryTool(hx)
    yield (
        "Anthropic: HexadMemoryTool create beside hx.remember",
        lambda at: tool.call(
            {"command": "create", "path": f"/memories/{at}.md", "file_text": _TEXT.format(f"file {at}")}
        ),
        lambda at: hx.remember(_TEXT.format(f"text {at}"), path=f"beside/{at}.md", trust="agent"),
    )


def _pairs_of_agent_memory(hx: hexad.Hexad, _await: Any) -> Iterator[Pair]:
    memory = hexad.AgentMemory(hx, user="ada", session="monday")
    yield (
        "hexad.AgentMemory.after_step beside hx.remember of a message",
        lambda at: memory.after_step(_user(_TEXT.format(f"step {at}"))),
        lambda at: hx.remember(_user(_TEXT.format(f"line {at}")), conversation="beside AgentMemory"),
    )
    yield (
        "hexad.AgentMemory.before_step beside hx.context",
        lambda at: memory.before_step(_user(f"When does the ferry of note {at} leave?")),
        lambda at: hx.context(
            f"When does the ferry of note {at} leave?",
            max_tokens=1_500,
            space=("ada", "default"),
            plain=False,
        ),
    )


def _pairs_of_google_adk(hx: hexad.Hexad, wait: Any) -> Iterator[Pair]:
    from google.adk.events.event import Event
    from google.genai.types import Content, Part

    from hexad.integrations.google_adk import HexadMemoryService

    service = HexadMemoryService(hx)
    beside = hexad.AgentMemory(hx, user="bob", session="adk")

    def event(text: str) -> Event:
        return Event(author="user", content=Content(parts=[Part(text=text)]))

    yield (
        "Google ADK: HexadMemoryService.add_events_to_memory beside AgentMemory.after_step",
        lambda at: wait(
            service.add_events_to_memory(
                app_name="app", user_id="cleo", events=[event(_TEXT.format(f"event {at}"))], session_id="s"
            )
        ),
        lambda at: beside.after_step(_user(_TEXT.format(f"turn {at}"))),
    )
    yield (
        "Google ADK: HexadMemoryService.search_memory beside hx.recall",
        lambda at: wait(
            service.search_memory(app_name="app", user_id="cleo", query=f"ferry of note event {at}")
        ),
        lambda at: hx.recall(f"ferry of note event {at}", space=["cleo", "default"], max_tokens=1_500),
    )


def _pairs_of_llama_index(hx: hexad.Hexad, wait: Any) -> Iterator[Pair]:
    from llama_index.core.base.llms.types import ChatMessage

    from hexad.integrations.llama_index import HexadMemoryBlock

    block = HexadMemoryBlock(hx, user="dan", session="block")
    beside = hexad.AgentMemory(hx, user="eve", session="beside block")
    yield (
        "LlamaIndex: HexadMemoryBlock.aput beside AgentMemory.after_step",
        lambda at: wait(block.aput([ChatMessage(role="user", content=_TEXT.format(f"put {at}"))])),
        lambda at: beside.after_step(_user(_TEXT.format(f"set {at}"))),
    )
    yield (
        "LlamaIndex: HexadMemoryBlock.aget beside AgentMemory.before_step",
        lambda at: wait(block.aget([ChatMessage(role="user", content=f"When does ferry {at} leave?")])),
        lambda at: beside.before_step(_user(f"When does ferry {at} leave?")),
    )


def _pairs_of_agent_framework(hx: hexad.Hexad, wait: Any) -> Iterator[Pair]:
    from agent_framework import AgentSession, Message, SessionContext

    from hexad.integrations.agent_framework import HexadContextProvider

    provider, session = HexadContextProvider(hx, user="fay", session="agent"), AgentSession()
    beside = hexad.AgentMemory(hx, user="gil", session="beside agent")

    def step(name: str, text: str) -> Coroutine[Any, Any, None]:
        context = SessionContext(input_messages=[Message("user", [text])])
        call: Coroutine[Any, Any, None] = getattr(provider, name)(
            agent=None, session=session, context=context, state={}
        )
        return call

    yield (
        "Agent Framework: HexadContextProvider.after_run beside AgentMemory.after_step",
        lambda at: wait(step("after_run", _TEXT.format(f"run {at}"))),
        lambda at: beside.after_step(_user(_TEXT.format(f"walk {at}"))),
    )
    yield (
        "Agent Framework: HexadContextProvider.before_run beside AgentMemory.before_step",
        lambda at: wait(step("before_run", f"When does ferry {at} leave?")),
        lambda at: beside.before_step(_user(f"When does ferry {at} leave?")),
    )


def _pairs_of_pydantic_ai(hx: hexad.Hexad, wait: Any) -> Iterator[Pair]:
    from pydantic_ai import Agent
    from pydantic_ai.conversation import Conversation
    from pydantic_ai.models.test import TestModel

    from hexad.integrations.pydantic_ai import HexadConversationStore, HexadMemory

    model = TestModel(custom_output_text="Noted.")
    plain = Agent(model)
    agent = Agent(model, capabilities=[HexadMemory(hx, user="hal", session="run")])
    beside, store = hexad.AgentMemory(hx, user="ida", session="beside run"), HexadConversationStore(hx)

    def by_hand(at: int) -> None:
        asked = _user(f"When does ferry {at} leave?")
        beside.before_step(asked)
        answer = wait(plain.run(asked[0]["content"])).output
        beside.after_step([*asked, {"role": "assistant", "content": answer}])

    def saved(at: int) -> None:
        async def step() -> None:
            talk = Conversation(conversation_id=f"talk {at}")
            await store.save(await plain.run(_TEXT.format(f"talk {at}"), conversation=talk))

        wait(step())

    def remembered(at: int) -> None:
        answer = wait(plain.run(_TEXT.format(f"chat {at}"))).output
        turns = [*_user(_TEXT.format(f"chat {at}")), {"role": "assistant", "content": answer}]
        hx.remember(turns, conversation=f"chat {at}")

    yield (
        "Pydantic AI: a run with HexadMemory beside one with AgentMemory by hand",
        lambda at: wait(agent.run(f"When does ferry {at} leave?")),
        by_hand,
    )
    yield "Pydantic AI: a run saved by HexadConversationStore beside hx.remember", saved, remembered


def _pairs_of_crewai(hx: hexad.Hexad, _await: Any) -> Iterator[Pair]:
    from crewai.memory.types import MemoryRecord

    from hexad.integrations.crewai import HexadStorage

    storage = HexadStorage(hx)
    yield (
        "CrewAI: HexadStorage.save beside hx.remember",
        lambda at: storage.save([MemoryRecord(content=_TEXT.format(f"record {at}"), scope="/crew")]),
        lambda at: hx.remember(_TEXT.format(f"entry {at}"), kind="record", path=f"entries/{at}"),
    )
    yield (
        "CrewAI: HexadStorage.search beside hx.recall, 10 hits",
        lambda at: storage.search(storage.embed([f"ferry record {at}"])[0], "/crew"),
        lambda at: hx.recall(
            f"ferry record {at}", kinds=["record"], path="crew", limit=10, min_relevance=0.0
        ),
    )


_FRAMEWORKS: Final[tuple[tuple[str, Callable[[hexad.Hexad, Any], Iterator[Pair]]], ...]] = (
    ("hexad", _pairs_of_agent_memory),
    ("langgraph", _pairs_of_langgraph),
    ("langchain_core", _pairs_of_langchain),
    ("agents", _pairs_of_openai_agents),
    ("anthropic", _pairs_of_anthropic),
    ("google.adk", _pairs_of_google_adk),
    ("pydantic_ai", _pairs_of_pydantic_ai),
    ("llama_index.core", _pairs_of_llama_index),
    ("agent_framework", _pairs_of_agent_framework),
    ("crewai", _pairs_of_crewai),
)


def _user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def _us(call: Callable[[int], object], number: int) -> float:
    begun = time.process_time()
    call(number)
    return 1e6 * (time.process_time() - begun)


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _overheads(folder: Path, times: int) -> list[tuple[str, float, float]]:
    """Return what adapters and direct calls take, in microseconds of processor time, medians, call by call in turn."""
    rows = []
    loop = asyncio.new_event_loop()
    for package, pairs in _FRAMEWORKS:
        if not _is_there(package):
            continue
        store = folder / package
        (store / ".hexad").mkdir(parents=True)
        with hexad.open(store, embedder=None, background=False) as hx:
            for name, adapter, direct in pairs(hx, loop.run_until_complete):
                taken = [(_us(adapter, at), _us(direct, at)) for at in range(times)][1:]  # the first loads
                rows.append((name, *(percentile(list(side), 0.5) for side in zip(*taken, strict=True))))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    return rows


def _recall_us(folder: Path, times: int) -> float:
    """Return the median of a recall that nobody listens to, in microseconds of processor time."""
    with hexad.open(folder, embedder="hashing", background=False) as hx:
        for at in range(500):
            hx.remember(_TEXT.format(at))
        hx.embed_pending()
        return percentile(
            [_us(lambda at: hx.recall(f"ferry note {at}"), at) for at in range(times)][10:], 0.5
        )


def _span_us(folder: Path, times: int, listener: str) -> float:
    """Return what a span costs, in microseconds of processor time; `listener` is who hears of it."""
    if listener == "otel":
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider

        os.environ["HEXAD_OTEL"] = "1"
        trace.set_tracer_provider(TracerProvider())
    with hexad.open(folder, embedder="hashing", background=False) as hx:
        stores = hx._services.stores
        begun = time.process_time()
        for _ in range(times):
            with stores.span("search_memory", limit=10, query="y") as fields:
                fields["items_returned"] = 1
        return 1e6 * (time.process_time() - begun) / times


def _spans_of_a_recall(folder: Path) -> int:
    heard: list[object] = []
    with hexad.open(folder, embedder="hashing", background=False) as hx:
        hx.recall("ferry note 1")
        stop = hexad.listen(heard.append)
        hx.recall("ferry note 2")
        stop()
    return len(heard)


def overhead_tables(options: Options) -> list[Table]:
    """Measure what adapters add."""
    rows = in_child(_overheads, options.work / "overheads", 20 if options.quick else 60)
    return [
        Table(
            title="What an adapter adds, processor time",
            columns=("call", "adapter, µs", "direct, µs", "more, µs"),
            rows=[(name, round(ours), round(direct), round(ours - direct)) for name, ours, direct in rows],
        )
    ]


def run(options: Options) -> Report:
    """Measure adapters and spans."""
    report = Report(name="Adapters and telemetry")
    report.tables.extend(overhead_tables(options))
    folder = options.work / "telemetry"
    (folder / ".hexad").mkdir(parents=True)
    recall = in_child(_recall_us, folder, 60 if options.quick else 300)
    count = in_child(_spans_of_a_recall, folder)
    silent = in_child(_span_us, folder, 100_000, "nobody")
    rows = [
        ("a recall", round(recall)),
        (f"a span that nobody hears of; a recall begins {count}", round(silent, 2)),
    ]
    report.at_most("spans that nobody hears of, of a recall", 100 * silent * count / recall, 1.0, "%")
    if _is_there("opentelemetry.sdk"):
        heard = in_child(_span_us, folder, 20_000, "otel")
        rows.append(("a span with HEXAD_OTEL=1 and a provider that keeps nothing", round(heard, 2)))
        report.figure("spans with HEXAD_OTEL=1, of a recall", 100 * heard * count / recall, "%")
    report.tables.append(Table(title="Spans and a recall, processor time", columns=("what", "µs"), rows=rows))
    return report
