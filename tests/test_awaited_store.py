"""`hexad.aopen`: the calls of an open store, awaited; what is cancelled is done whole or not at all."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import hexad
from hexad.client.pool import CallPool


def run(coroutine: Any) -> Any:
    return asyncio.run(coroutine)


def test_the_calls_are_those_of_an_open_store(tmp_path):
    async def work() -> tuple[Any, ...]:
        async with hexad.aopen(tmp_path, embedder=None) as hx:
            memory = await hx.remember("Deploys happen on Tuesday.", kind="decision")
            hits = await hx.recall("when do we deploy?")
            await hx.pin(memory.id)
            await hx.spaces.create("shop")
            document = await hx.xdb.documents.add_document("Manners", "Say hello.", "reference")
            (tmp_path / "notes.md").write_text("# Ferry\n\nIt leaves at noon.\n")
            report = await hx.ingest(tmp_path / "notes.md")
            items = [item.section async for item in hx.export()]
            return hits[0].memory.id == memory.id, document.name, report.created, items[0]

    assert (True, "Manners", 1, "export") == run(work())
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        assert ([], ["default", "shop"]) == (hx.check(), [space.name for space in hx.spaces.list()])


def test_it_can_be_awaited_and_closed_twice(tmp_path):
    async def work() -> int:
        hx = await hexad.aopen(tmp_path, embedder=None, threads=2)
        await hx.remember("Kept.")
        count = await hx.count()
        await hx.close()
        await hx.close()
        return count

    assert 1 == run(work())


def test_errors_are_those_of_an_open_store(tmp_path):
    async def work() -> None:
        with pytest.raises(hexad.NotFound):
            await hexad.aopen(tmp_path / "nowhere")
        with pytest.raises(hexad.InvalidInput, match="threads"):
            hexad.aopen(tmp_path, threads=0)
        async with hexad.aopen(tmp_path, embedder=None) as hx:
            with pytest.raises(hexad.InvalidInput, match="limit"):
                await hx.recall("x", limit=0)
            with pytest.raises(TypeError, match="colour"):
                await hx.recall("x", colour="red")

    run(work())


def test_many_tasks_write_at_once(tmp_path):
    async def work() -> int:
        async with hexad.aopen(tmp_path, embedder=None) as hx:
            await asyncio.gather(*(hx.remember(f"Fact {number}.") for number in range(60)))
            return await hx.count()

    assert 60 == run(work())


def test_each_task_has_a_session_of_its_own(tmp_path):
    async def work() -> list[str]:
        async with hexad.aopen(tmp_path, embedder=None) as hx:

            async def record(name: str) -> list[str]:
                await hx.xdb.start_session(name)
                await asyncio.sleep(0)
                return [await hx.xdb.record("output", str(number)) for number in range(3)]

            together = await asyncio.gather(record("a"), record("b"))
            with pytest.raises(hexad.InvalidInput):
                await hx.xdb.record("output", "of no session")
            return [*together[0], *together[1]]

    assert ["ts-a-1", "ts-a-2", "ts-a-3", "ts-b-1", "ts-b-2", "ts-b-3"] == run(work())


def test_a_working_set_is_awaited_too(tmp_path):
    async def work() -> tuple[Any, ...]:
        async with hexad.aopen(tmp_path, embedder=None) as hx:
            none = await hx.session.current
            await hx.session.start("paint", steps=["buy"])
            await hx.session.mark_step("buy")
            current = await hx.session.current
            handle = hx.session.handle()
            await handle.note("blue")
            return none, current.task, current.substeps[0].done, (await handle.current).scratchpad[0].text

    assert (None, "paint", True, "blue") == run(work())


def test_what_no_thread_has_is_not_done_when_it_is_cancelled(tmp_path):
    async def work() -> tuple[int, bool]:
        async with hexad.aopen(tmp_path, embedder=None, threads=1) as hx:
            going, go_on = threading.Event(), threading.Event()

            def hold() -> None:
                going.set()
                go_on.wait(30)

            holding = asyncio.create_task(hx._awaiting.pool.run(None, hold))
            await asyncio.to_thread(going.wait, 30)
            waiting = asyncio.create_task(hx.remember("Never."))
            await asyncio.sleep(0.05)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            go_on.set()
            await holding
            return await hx.count(), waiting.cancelled()

    assert (0, True) == run(work())


def test_what_a_thread_has_is_done_whole_when_it_is_cancelled(tmp_path):
    async def work() -> list[str]:
        hx = await hexad.aopen(tmp_path, embedder=None)
        messages = [
            {"role": "user", "content": f"Deploy number {number} is on Tuesday."} for number in range(40)
        ]
        for delay in (0.0, 0.002, 0.01, 0.03):
            task = asyncio.create_task(hx.remember(messages, conversation=f"chat-{delay}"))
            await asyncio.sleep(delay)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await hx.close()  # waits for what threads have
        with hexad.open(tmp_path, embedder=None, background=False) as again:
            assert [] == again.check()
            return [
                memory.turn.conversation for memory in again.memories(status=None, limit=None) if memory.turn
            ]

    conversations = run(work())

    assert {40} >= {conversations.count(name) for name in set(conversations)}


def test_a_pool_ends_what_waits_and_finishes_what_runs():
    pool, done = CallPool(1, name="test"), []

    async def work() -> None:
        running = asyncio.create_task(
            pool.run(None, lambda: (threading.Event().wait(0.05), done.append("ran")))
        )
        waiting = asyncio.create_task(pool.run(None, lambda: done.append("waited")))
        await asyncio.sleep(0.01)
        await asyncio.to_thread(pool.close)
        await asyncio.gather(running, waiting, return_exceptions=True)

    run(work())

    assert ["ran"] == done
