"""LangGraph over a store: its public suite, real graphs, and what is Hexad's own about them."""

from __future__ import annotations

import asyncio
import operator
import os
import pickle
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypedDict

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import hexad
from hexad import Hexad
from hexad.database import files
from tables import everything_stored

pytest.importorskip("langgraph", reason="the extra `langgraph` is not installed")
conformance = pytest.importorskip(
    "langgraph.checkpoint.conformance", reason="langgraph-checkpoint-conformance is not installed"
)

from langchain_core.messages import AIMessage, HumanMessage  # noqa: E402
from langgraph.checkpoint.base import empty_checkpoint  # noqa: E402
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer  # noqa: E402
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT  # noqa: E402
from langgraph.graph import START, StateGraph  # noqa: E402
from langgraph.types import Command, interrupt  # noqa: E402

from hexad.integrations.langgraph import HexadCheckpointer  # noqa: E402


class State(TypedDict):
    lines: Annotated[list[str], operator.add]


def thread(name: str = "monday", **more: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": name, "checkpoint_ns": "", **more}}


def counting_graph(saver: HexadCheckpointer) -> Any:
    graph = StateGraph(State).add_node("count", lambda state: {"lines": [f"line {len(state['lines'])}"]})
    return graph.add_edge(START, "count").compile(checkpointer=saver)


def test_the_public_suite_passes_whole() -> None:
    @conformance.checkpointer_test(name="HexadCheckpointer")
    async def saver() -> AsyncIterator[HexadCheckpointer]:
        with hexad.open(":memory:", embedder=None, background=False) as hx:
            yield HexadCheckpointer(hx)
            assert [] == hx.check()

    report = asyncio.run(conformance.validate(saver))

    assert {} == {name: result.failures for name, result in report.results.items() if result.failures}
    assert report.passed_all()
    assert 81 == sum(result.tests_passed for result in report.results.values())


def test_a_graph_goes_on_after_a_restart_and_back_in_time(opened) -> None:
    hx = opened()
    for _ in range(3):
        counting_graph(HexadCheckpointer(hx)).invoke({"lines": ["said"]}, thread())
    hx.close()

    graph = counting_graph(HexadCheckpointer(opened()))
    history = list(graph.get_state_history(thread()))
    past = next(state for state in history if state.values.get("lines") == ["said", "line 1"])
    forked = graph.invoke({"lines": ["else"]}, past.config)

    assert ["said", "line 1", "said", "line 3", "said", "line 5"] == history[0].values["lines"]
    assert ["said", "line 1", "else", "line 3"] == forked["lines"]


def test_a_graph_of_coroutines_stops_for_a_question_and_goes_on(hx: Hexad) -> None:
    async def ask(state: State) -> dict[str, list[str]]:
        return {"lines": [interrupt("which one?")]}

    graph = StateGraph(State).add_node("ask", ask).add_edge(START, "ask")
    compiled = graph.compile(checkpointer=HexadCheckpointer(hx))

    async def talk() -> list[str]:
        await compiled.ainvoke({"lines": []}, thread())
        return list((await compiled.ainvoke(Command(resume="the red one"), thread()))["lines"])

    assert ["the red one"] == asyncio.run(talk())


@pytest.mark.parametrize("length", [0, 1, 5, 15, 16, 17, 400, 70_000])
def test_a_list_of_any_length_comes_back(hx: Hexad, length: int) -> None:
    saver = HexadCheckpointer(hx)
    values = {"numbers": list(range(length)), "mixed": [None, b"bytes", {"a": {2}}, "x" * 300] * 2}
    checkpoint = {**empty_checkpoint(), "channel_values": values}

    saver.put(thread(), checkpoint, {"source": "loop", "step": 1}, {})

    assert values == saver.get(thread())["channel_values"]


def test_a_list_that_grows_or_loses_its_beginning_is_not_written_anew(hx: Hexad) -> None:
    saver = HexadCheckpointer(hx)
    lines = [f"{number}: " + "word " * 60 for number in range(200)]

    def put(values: list[str]) -> int:
        checkpoint = {**empty_checkpoint(), "channel_values": {"lines": values}}
        saver.put(thread(), checkpoint, {"source": "loop", "step": 1}, {})
        return int(hx._services.db.query("SELECT sum(length(data)) FROM checkpoint_pieces")[0][0])

    first = put(lines)
    assert put([*lines, "one more"]) - first < first / 2
    assert put(lines[10:]) - first < first
    assert lines[10:] == saver.get(thread())["channel_values"]["lines"]


def test_a_message_that_is_changed_in_place_is_stored_as_it_is_then(hx: Hexad) -> None:
    saver = HexadCheckpointer(hx)
    messages = [HumanMessage(f"note {number}", additional_kwargs={"seen": True}) for number in range(8)]
    messages.append(AIMessage("noted", additional_kwargs={"at": datetime(2026, 3, 1, tzinfo=UTC)}))
    changes: tuple[dict[str, Any], ...] = ({}, {"seen": 1}, {"seen": 1.0}, {"seen": None}, {"at": ["noon"]})
    configs, wanted = [], []
    for change in changes:
        messages[2].additional_kwargs.update(change)
        messages[8].additional_kwargs["at"] += timedelta(days=1)
        checkpoint = {**empty_checkpoint(), "channel_values": {"messages": messages}}
        configs.append(saver.put(thread(), checkpoint, {"source": "loop", "step": 1, "parents": {}}, {}))
        wanted.append(repr(messages))

    assert wanted == [
        repr(saver.get_tuple(config).checkpoint["channel_values"]["messages"]) for config in configs
    ]


def test_what_no_checkpoint_follows_is_synced_and_other_writes_with_their_checkpoint(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    hx = opened()  # a store on the disk
    saver = HexadCheckpointer(hx)
    metadata = {"source": "loop", "step": 1, "parents": {}}
    config = saver.put(thread(), empty_checkpoint(), metadata, {})
    synced: list[object] = []
    monkeypatch.setattr(files, "fdatasync", lambda fd, path: (synced.append(path), os.fdatasync(fd)))

    counts = []
    for write in (("lines", ["said"]), (INTERRUPT, "which?"), (ERROR, "lost"), ("lines", ["again"])):
        saver.put_writes(config, [write], f"task-{len(counts)}")
        counts.append(len(synced))
    saver.put(config, empty_checkpoint(), metadata, {})

    assert [0, 1, 2, 2, 3] == [*counts, len(synced)]
    assert 4 == len(saver.get_tuple(config).pending_writes or ())


def test_pruning_keeps_what_a_delta_channel_builds_on(hx: Hexad) -> None:
    saver = HexadCheckpointer(hx)
    config = thread()
    for step, values in enumerate([{"kept": [0]}, {"log": [1]}, {}, {}]):
        counters = {"counters_since_delta_snapshot": {"log": [step, step]}}
        checkpoint = {**empty_checkpoint(), "channel_values": values}
        config = saver.put(config, checkpoint, {"source": "loop", "step": step, **counters}, {})
        saver.put_writes(config, [("log", step)], f"task {step}")

    saver.prune(["monday"])

    assert [3, 2, 1] == [found.metadata["step"] for found in saver.list(thread())]
    assert 3 == len(list(saver.list(thread(), filter={"of no name": None})))
    history = saver.get_delta_channel_history(config=config, channels=["log"])["log"]
    assert ([1], [1, 2]) == (history["seed"], [write[2] for write in history["writes"]])


class Cipher:
    """What LangGraph's `EncryptedSerializer` takes."""

    def __init__(self) -> None:
        self._key = AESGCM(bytes(range(32)))

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        nonce = secrets.token_bytes(12)
        return "aesgcm", nonce + self._key.encrypt(nonce, plaintext, None)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        assert "aesgcm" == ciphername
        return self._key.decrypt(ciphertext[:12], ciphertext[12:], None)


def test_a_serializer_of_ones_own_encrypts(hx: Hexad) -> None:
    saver = HexadCheckpointer(hx, serde=EncryptedSerializer(Cipher()))
    graph, lines = counting_graph(saver), ["the canary sings" * 20] * 9

    graph.invoke({"lines": lines}, thread())

    assert [*lines, "line 9"] == saver.get(thread())["channel_values"]["lines"]
    assert "canary" not in everything_stored(hx)


def test_a_thread_of_another_checkpointer_keeps_its_form_of_versions(hx: Hexad) -> None:
    saver = HexadCheckpointer(hx)
    foreign = f"{7:032}.{0.25:016}"

    assert foreign < saver.get_next_version(foreign, None)
    assert [1, 2] == [saver.get_next_version(None, None), saver.get_next_version(1, None)]


def test_what_is_no_open_store_and_who_has_a_role_is_refused(opened) -> None:
    with pytest.raises(hexad.InvalidInput, match=r"'shop'.*open store"):
        HexadCheckpointer("shop")  # type: ignore[arg-type]
    with pytest.raises(hexad.AccessDenied, match="role guest"):
        HexadCheckpointer(opened(role="guest"))
    saver = HexadCheckpointer(opened())
    with pytest.raises(hexad.InvalidInput, match="keep_everything"):
        saver.prune(["monday"], strategy="keep_everything")


_WORKER = """
import sys, hexad
from langgraph.checkpoint.base import empty_checkpoint
from hexad.integrations.langgraph import HexadCheckpointer
with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    saver = HexadCheckpointer(hx)
    config = {"configurable": {"thread_id": sys.argv[2], "checkpoint_ns": ""}}
    for step in range(20):
        config = saver.put(config, empty_checkpoint(), {"source": "loop", "step": step}, {})
        saver.put_writes(config, [("done", step)], "task")
"""


def test_processes_share_a_store_and_nothing_is_lost(opened) -> None:
    hx = opened()
    workers = [
        subprocess.Popen([sys.executable, "-c", _WORKER, str(hx.path.parent), f"thread {number % 2}"])
        for number in range(3)
    ]
    assert [0, 0, 0] == [worker.wait(60) for worker in workers]

    found = list(HexadCheckpointer(hx).list(None))

    assert 60 == len(found)
    assert all([("task", "done", item.metadata["step"])] == item.pending_writes for item in found)


def test_a_string_in_the_place_of_ids_is_refused_and_deletes_nothing(hx: Hexad) -> None:
    saver = HexadCheckpointer(hx)
    counting_graph(saver).invoke({"count": 1}, thread("a"))

    for delete in (lambda: saver.prune("abc", strategy="delete"), lambda: saver.delete_for_runs("abc")):
        with pytest.raises(hexad.InvalidInput, match="must be a list of ids, not 'abc'"):
            delete()

    assert saver.get_tuple(thread("a")) is not None


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"before": 3}, "before = 3 must be a config"),
        ({"before": {"configurable": 1}}, "before = .* must be a config"),
        ({"filter": "step"}, "filter = 'step' must be a dictionary"),
        ({"limit": "2"}, "limit = '2' must be a whole number"),
    ],
)
def test_what_cannot_bound_a_list_is_named(hx: Hexad, wrong: dict[str, Any], named: str) -> None:
    saver = HexadCheckpointer(hx)
    counting_graph(saver).invoke({"count": 1}, thread("a"))

    with pytest.raises(hexad.InvalidInput, match=named):
        saver.list(thread("a"), **wrong)
    with pytest.raises(hexad.InvalidInput, match="config = 'a' must be a config"):
        saver.list("a")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "config",
    [
        None,
        {},
        {"configurable": {}},
        "a",
        {"configurable": None},
        {"configurable": {"thread_id": None}},
        {"configurable": {"thread_id": " "}},
    ],
)
def test_a_config_that_names_no_thread_says_so(hx: Hexad, config: Any) -> None:
    saver = HexadCheckpointer(hx)

    for call in (lambda: saver.get_tuple(config), lambda: saver.put(config, empty_checkpoint(), {}, {})):
        with pytest.raises(hexad.InvalidInput, match=r"config = .* names no thread"):
            call()


@pytest.mark.parametrize(
    ("checkpoint", "metadata", "named"),
    [
        (None, {}, "checkpoint = None must be"),
        ({}, {}, "checkpoint = {} must be .* with an id"),
        ({"id": "1", "channel_values": 3}, {}, "checkpoint = .* must be"),
        (empty_checkpoint(), "loop", "metadata = 'loop' must be"),
    ],
)
def test_what_is_no_checkpoint_is_named_and_not_stored(
    hx: Hexad, checkpoint: Any, metadata: Any, named: str
) -> None:
    saver = HexadCheckpointer(hx)

    with pytest.raises(hexad.InvalidInput, match=named):
        saver.put(thread("a"), checkpoint, metadata, {})

    assert saver.get_tuple(thread("a")) is None


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda saver: saver.delete_thread(None), "thread_id = None names nothing"),
        (lambda saver: saver.delete_thread(""), "thread_id = '' names nothing"),
        (lambda saver: saver.copy_thread(None, "b"), "source_thread_id = None names nothing"),
        (lambda saver: saver.copy_thread("a", " "), "target_thread_id = ' ' names nothing"),
        (lambda saver: saver.delete_for_runs([None]), "run_ids = None names nothing"),
        (lambda saver: saver.prune(["a", None], strategy="delete"), "thread_ids = None names nothing"),
        (lambda saver: saver.put_writes(thread("a"), None, "1"), "must have a checkpoint_id"),
        (lambda saver: saver.put_writes(_written(), None, "1"), "writes = None cannot be used"),
        (lambda saver: saver.put_writes(_written(), ["ab"], "1"), "writes has 'ab'; give pairs"),
        (lambda saver: saver.put_writes(_written(), [(3, 4)], "1"), r"writes has \(3, 4\); give pairs"),
        (lambda saver: saver.put_writes(_written(), [], None), "task_id = None names nothing"),
        (lambda saver: saver.put_writes(_written(), [], "1", []), r"task_path = \[\] must be a string"),
        (lambda saver: saver.delete_thread(["a"]), r"thread_id = \['a'\] names nothing"),
        (lambda saver: saver.get_tuple(thread([])), r"config = .* names no thread"),
        (lambda saver: saver.get_tuple(_written(checkpoint_id=["1"])), r"checkpoint_id = \['1'\]"),
        (lambda saver: saver.get_tuple(_written(checkpoint_ns=5)), "checkpoint_ns = 5"),
        (
            lambda saver: saver.put(thread("a"), empty_checkpoint(), {"of": object()}, {}),
            "metadata cannot be stored as JSON",
        ),
    ],
)
def test_what_names_no_thread_and_what_is_no_write_is_refused(hx: Hexad, call: Any, named: str) -> None:
    saver = HexadCheckpointer(hx)
    counting_graph(saver).invoke({"count": 1}, thread("a"))
    before = [*saver.list(None)]

    with pytest.raises(hexad.InvalidInput, match=named):
        call(saver)

    assert before == [*saver.list(None)]


def _written(**more: Any) -> Any:
    return {"configurable": {"thread_id": "a", "checkpoint_id": "1", **more}}


@pytest.mark.parametrize("serde", ["x", "", 3, object()])
def test_what_serializes_nothing_is_no_serde(hx: Hexad, serde: Any) -> None:
    with pytest.raises(hexad.InvalidInput, match=r"serde = .* must be a serializer of LangGraph"):
        HexadCheckpointer(hx, serde=serde)


def test_a_serializer_without_types_does_for_a_serde(hx: Hexad) -> None:
    saver = HexadCheckpointer(hx, serde=pickle)  # type: ignore[arg-type]
    counting_graph(saver).invoke({"count": 1}, thread("a"))

    assert saver.get_tuple(thread("a")) is not None


def test_a_graph_over_a_store_that_is_only_read_asks_no_model(opened) -> None:
    with opened() as hx:
        counting_graph(HexadCheckpointer(hx)).invoke({"count": 1}, thread("a"))
    asked: list[int] = []
    graph = StateGraph(dict).add_node("ask", lambda state: asked.append(1) or {}).add_edge(START, "ask")

    saver = HexadCheckpointer(opened(readonly=True))
    with pytest.raises(hexad.StorageFailure, match="read-only"):
        graph.compile(checkpointer=saver).invoke({"count": 1}, thread("b"))

    assert [] == asked
    assert counting_graph(saver).get_state(thread("a")).values
