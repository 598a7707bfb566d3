"""CrewAI's memory over a store, as the framework drives it."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import Hexad, InvalidInput
from hexad.testing import HashEmbedder

pytest.importorskip("crewai", reason="the extra `crewai` is not installed")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.memory.storage.backend import EmbeddingDimensionMismatchError, StorageBackend
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory

from hexad.integrations.crewai import HexadStorage

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def _nothing_leaves_the_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path / "crewai"))


class Scripted(BaseLLM):
    """A model that answers a crew, and extracts what it is told to; keeps what it was asked."""

    asked: list[str] = []  # noqa: RUF012 - a field of a model

    def call(self, messages: Any, *args: Any, response_model: Any = None, **more: Any) -> Any:
        text = messages if isinstance(messages, str) else json.dumps([*map(dict, messages)], default=str)
        self.asked.append(text)
        if response_model is not None and "memories" in response_model.model_fields:
            return response_model(memories=["The night ferry leaves from pier four."])
        if response_model is not None:
            raise ValueError("no analysis today")  # the framework stores with its defaults then
        return "Thought: I know it.\nFinal Answer: The night ferry leaves from pier four."

    def supports_function_calling(self) -> bool:
        return False


@pytest.fixture
def hx() -> Iterator[Hexad]:
    with hexad.open(":memory:", embedder=HashEmbedder(), background=False) as store:
        yield store


def memory_of(hx: Hexad, **more: Any) -> Memory:
    storage = HexadStorage(hx)
    return Memory(storage=storage, embedder=storage.embed, llm=Scripted(model="scripted"), **more)


def keep(memory: Memory, text: str, scope: str = "/", **more: Any) -> MemoryRecord:
    given = {"categories": ["ferries"], "importance": 0.5, **more}
    record = memory.remember(text, scope=scope, **given)
    assert record is not None
    return record


def test_what_a_crew_remembers_every_recall_finds_and_the_other_way_round(hx: Hexad) -> None:
    memory = memory_of(hx)
    keep(memory, "The night ferry leaves from pier four.", "/harbour", metadata={"pier": 4})
    keep(memory, "The kitchen is painted green.", "/house")
    found = memory.recall("Where does the ferry leave from?", depth="shallow")

    assert "The night ferry leaves from pier four." == found[0].record.content
    assert {"pier": 4} == found[0].record.metadata
    assert "pier four" in hx.recall("night ferry")[0].text
    assert ["The kitchen is painted green."] == [
        match.record.content for match in memory.recall("ferry kitchen", scope="/house", depth="shallow")
    ]
    assert isinstance(HexadStorage(hx), StorageBackend)


def test_a_crew_is_told_what_an_earlier_one_found_out(hx: Hexad) -> None:
    for said in ("Where does the night ferry leave from?", "Which pier does the night ferry use?"):
        llm = Scripted(model="scripted", asked=[])
        storage = HexadStorage(hx)
        clerk = Agent(role="clerk", goal="answer", backstory="", llm=llm)
        task = Task(description=said, expected_output="a pier", agent=clerk)
        memory = Memory(storage=storage, embedder=storage.embed, llm=llm)
        crew = Crew(agents=[clerk], tasks=[task], memory=memory)
        crew.kickoff()
        memory.drain_writes()

    assert "night ferry leaves from pier four" in next(text for text in llm.asked if "Which pier" in text)
    assert any("pier four" in hit.text for hit in hx.recall("night ferry"))


def test_scopes_are_whole_names_and_told_with_what_is_in_them(hx: Hexad) -> None:
    memory = memory_of(hx)
    for scope in ("/a", "/a/b", "/ab", "/"):
        keep(
            memory,
            f"The bell of {scope.strip('/') or 'all'} rings at noon.",
            scope,
            categories=[f"in {scope}"],
        )
    storage = HexadStorage(hx)

    assert (4, 2, 1) == tuple(storage.count(scope) for scope in (None, "/a", "/ab/"))
    assert (["/a", "/ab"], ["/a/b"]) == (storage.list_scopes(), storage.list_scopes("/a"))
    info = storage.get_scope_info("/a")
    assert (2, ["in /a", "in /a/b"], ["/a/b"]) == (info.record_count, info.categories, info.child_scopes)
    assert {"in /a": 1, "in /a/b": 1} == storage.list_categories("/a")
    assert "The bell of all rings at noon." == storage.list_records()[0].content


def test_updates_and_deletions_take_what_they_name_and_no_more(hx: Hexad) -> None:
    memory, storage = memory_of(hx), HexadStorage(hx)
    old, new, third = (
        keep(memory, f"The {color} lamp hangs in hall {hall}.", f"/hall/{hall}", metadata={"hall": hall})
        for hall, color in enumerate(("red", "green", "blue"))
    )
    storage.update(old.model_copy(update={"created_at": datetime(2025, 1, 1)}))
    memory.update(new.id, content="The green lamp is broken.", scope="/repairs")

    assert "The green lamp is broken." == storage.get_record(new.id).content
    assert ["/hall", "/repairs"] == storage.list_scopes()
    assert 1 == memory.forget(older_than=datetime.utcnow() - timedelta(days=30))
    assert 0 == storage.delete(record_ids=[third.id], metadata_filter={"hall": 1})
    assert 1 == storage.delete(metadata_filter={"hall": 2}, categories=["ferries"])
    assert [new.id] == [record.id for record in storage.list_records()]
    assert not any("blue" in hit.text or "red" in hit.text for hit in hx.recall("lamp hangs in hall"))
    memory.reset()
    assert 0 == storage.count()
    keep(memory, "The green lamp is broken.", "/repairs")
    assert 1 == storage.count()


def test_an_embedder_of_ones_own_is_compared_by_its_vectors_and_erased_with_its_records(hx: Hexad) -> None:
    def embedder(texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "ferry" in text else [0.0, 1.0] for text in texts]

    memory = Memory(storage=HexadStorage(hx), embedder=embedder, llm=Scripted(model="scripted"))
    keep(memory, "The ferry leaves at noon.")
    keep(memory, "The kitchen is green.")
    found = HexadStorage(hx).search([2.0, 0.0], min_score=0.5)

    assert [("The ferry leaves at noon.", 1.0)] == [(record.content, score) for record, score in found]
    with pytest.raises(EmbeddingDimensionMismatchError):
        HexadStorage(hx).search([1.0, 0.0, 0.0])


def test_another_embedder_than_that_of_the_records_is_named(hx: Hexad) -> None:
    keep(memory_of(hx), "The ferry leaves at noon.")

    with pytest.raises(InvalidInput, match=r"embedder=storage\.embed"):
        HexadStorage(hx).search([1.0, 0.0])


def test_secrets_are_taken_out_and_coroutines_do_the_same(hx: Hexad) -> None:
    storage = HexadStorage(hx)
    record = MemoryRecord(
        content="The password is hunter2-Zx91!", metadata={"note": "ask Ada"}, scope="/keys"
    )

    async def use() -> list[Any]:
        await storage.asave([record])
        vector = storage.embed(["password"])[0]
        return [await storage.asearch(vector), await storage.adelete(record_ids=[record.id])]

    found, count = asyncio.run(use())

    assert "hunter2" not in found[0][0].content
    assert 1 == count
    assert copy.deepcopy(storage) is storage
    with pytest.raises(InvalidInput, match="must be an open store"):
        HexadStorage("folder")  # type: ignore[arg-type]


def test_a_store_without_an_embedder_searches_words() -> None:
    with hexad.open(":memory:", embedder=None, background=False) as plain:
        memory = memory_of(plain)
        keep(memory, "The night ferry leaves from pier four.")
        keep(memory, "The kitchen is painted green.")

        assert "pier four" in memory.recall("the ferry's pier", depth="shallow")[0].record.content


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda storage: storage.save(None), "records = None cannot be used"),
        (lambda storage: storage.save(["x"]), "records has 'x'"),
        (lambda storage: storage.update(None), "records has None"),
        (lambda storage: storage.embed("x"), "texts = 'x' must be a list"),
        (lambda storage: storage.embed([None]), "texts hold None"),
        (lambda storage: storage.delete(5), "scope_prefix must be a string, not 5"),
        (lambda storage: storage.delete([]), r"scope_prefix must be a string, not \[\]"),
        (lambda storage: storage.delete(categories=""), "categories = '' must be a list"),
        (lambda storage: storage.delete(categories=0), "categories = 0 cannot be used"),
        (lambda storage: storage.delete(record_ids="r"), "record_ids = 'r' must be a list"),
        (lambda storage: storage.delete(record_ids=[5]), "record_ids hold 5"),
        (lambda storage: storage.delete(older_than="2026"), "older_than = '2026' must be a datetime"),
        (lambda storage: storage.delete(metadata_filter=[]), r"metadata_filter = \[\] must be a dictionary"),
        (lambda storage: storage.reset(0), "scope_prefix must be a string, not 0"),
        (lambda storage: storage.search(None), "query_embedding = None must be a list of numbers"),
        (lambda storage: storage.search("x"), "query_embedding = 'x' must be a list of numbers"),
        (lambda storage: storage.search([float("nan")]), r"query_embedding = \[nan\] must be"),
        (lambda storage: storage.search([0.1], limit="x"), "limit = 'x' must be a whole number"),
        (lambda storage: storage.search([0.1], min_score="x"), "min_score = 'x' must be a number"),
        (lambda storage: storage.search([0.1], 5), "scope_prefix must be a string, not 5"),
        (lambda storage: storage.get_record(""), "record_id = '' must be a name"),
        (lambda storage: storage.get_record(None), "record_id = None must be a name"),
        (lambda storage: storage.list_records(limit=None), "limit = None is not a whole number"),
        (lambda storage: storage.list_records(offset=-1), "offset = -1 is not a whole number"),
        (lambda storage: storage.get_scope_info(None), "scope = None must be a string"),
    ],
)
def test_wrong_values_are_named_and_nothing_is_deleted(hx: Hexad, call: Any, named: str) -> None:
    storage = HexadStorage(hx)
    storage.save([MemoryRecord(id="r", content="Green tea.", scope="/a")])

    with pytest.raises(hexad.InvalidInput, match=named):
        call(storage)

    assert 1 == storage.count()
