"""`frameworks`: checkpoints of LangGraph beside its own SQLite saver, and its conformance suite.

Each saver works in processes of its own: LangGraph's uses the standard library's SQLite. A step of a conversation is
what LangGraph does for one: the writes of a task, then a checkpoint with all messages so far.
"""

from __future__ import annotations

import asyncio
import importlib.util
import multiprocessing
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import hexad
from benchmarks.child import in_child
from benchmarks.report import Options, Report, Table, disk_bytes, percentile

SAVERS: Final = ("hexad", "langgraph-checkpoint-sqlite")
_PROCESSES: Final = 8
_WORDS: Final = (
    "the ferry leaves the harbour at noon and the supervisor has to be green before we deploy".split()
)


@contextmanager
def _saver(name: str, folder: Path) -> Iterator[Any]:
    folder.mkdir(parents=True, exist_ok=True)
    if name == "hexad":
        from hexad.integrations.langgraph import HexadCheckpointer

        with hexad.open(folder, embedder=None, background=False) as hx:
            yield HexadCheckpointer(hx)
        return
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")) as saver:
        saver.setup()
        yield saver


def _config(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}


def _message(number: int) -> Any:
    from langchain_core.messages import AIMessage, HumanMessage

    words = " ".join(_WORDS[(number * 7 + at * (1 + number % 5)) % len(_WORDS)] for at in range(60))
    kind = AIMessage if number % 2 else HumanMessage
    return kind(content=f"{number}: {words}", id=f"message-{number}")


def _steps(saver: Any, thread: str, steps: int, history: int) -> Iterator[tuple[float, str]]:
    """Run a conversation that begins with so many messages; yield the seconds of each step and its checkpoint's id."""
    from langgraph.checkpoint.base import empty_checkpoint

    config, messages, version = _config(thread), [_message(at) for at in range(history)], None
    for step in range(steps):
        message = _message(history + step)
        messages = [*messages, message]
        version = saver.get_next_version(version, None)
        checkpoint = {
            **empty_checkpoint(),
            "channel_values": {"messages": messages, "branch": "answer"},
            "channel_versions": {"messages": version, "branch": version},
            "versions_seen": {"answer": {"messages": version}},
        }
        begun = time.perf_counter()
        if step:
            saver.put_writes(config, [("messages", [message])], f"task-{step}", "~answer")
        config = saver.put(
            config, checkpoint, {"source": "loop", "step": step, "parents": {}}, {"messages": version}
        )
        yield time.perf_counter() - begun, config["configurable"]["checkpoint_id"]


def _conversation(name: str, folder: Path, threads: int, steps: int, history: int) -> dict[str, float]:
    with _saver(name, folder):
        pass
    empty = disk_bytes(folder)
    with _saver(name, folder) as saver:
        worked = time.process_time()
        waits = [
            seconds for at in range(threads) for seconds, _ in _steps(saver, f"thread-{at}", steps, history)
        ]
        putting, worked = time.process_time() - worked, time.process_time()
        begun, gets = time.perf_counter(), 0
        for _ in range(5):
            for at in range(threads):
                found = saver.get_tuple(_config(f"thread-{at}"))
                assert len(found.checkpoint["channel_values"]["messages"]) == history + steps
                gets += 1
        reading, getting = time.perf_counter() - begun, time.process_time() - worked
    return {
        "put_cpu_us": 1e6 * putting / len(waits),
        "get_cpu_us": 1e6 * getting / gets,
        "puts": len(waits) / sum(waits),
        "worst_ms": 1_000 * max(waits),
        "p50_ms": 1_000 * percentile(waits, 0.5),
        "gets": gets / reading,
        "bytes": (disk_bytes(folder) - empty) / len(waits),
    }


def _worker(name: str, folder: Path, thread: str, steps: int, start: Any, told: Any) -> None:
    acknowledged, refused, worst = [], [], 0.0
    with _saver(name, folder) as saver:
        start.wait()
        steps_of = _steps(saver, thread, steps, 20)
        begun = time.perf_counter()
        try:
            for seconds, own in steps_of:
                acknowledged.append(own)
                worst = max(worst, seconds)
        except Exception as error:  # noqa: BLE001 - what a saver raises is what is measured
            refused.append(f"{type(error).__name__}: {error}")
        told.put((thread, acknowledged, refused, worst, time.perf_counter() - begun))


def _crowd(name: str, folder: Path, steps: int) -> dict[str, Any]:
    """Let eight processes run a conversation each on one store; say what was acknowledged, refused and lost."""
    with _saver(name, folder):
        pass
    context = multiprocessing.get_context("spawn")
    start, told = context.Barrier(_PROCESSES), context.Queue()
    workers = [
        context.Process(target=_worker, args=(name, folder, f"thread-{at}", steps, start, told))
        for at in range(_PROCESSES)
    ]
    for worker in workers:
        worker.start()
    answers = [told.get() for _ in workers]
    for worker in workers:
        worker.join()
    return {
        "answers": answers,
        "lost": in_child(_lost, name, folder, {thread: own for thread, own, *_ in answers}),
        "rate": sum(len(own) for _, own, *_ in answers) / max(seconds for *_, seconds in answers),
        "worst_ms": 1_000 * max(worst for _, _, _, worst, _ in answers),
    }


def _lost(name: str, folder: Path, acknowledged: dict[str, list[str]]) -> int:
    with _saver(name, folder) as saver:
        return sum(
            len({*own} - {found.checkpoint["id"] for found in saver.list(_config(thread))})
            for thread, own in acknowledged.items()
        )


def _conformance(name: str) -> tuple[int, int, int, int]:
    """Return how many capabilities of the base, and of the rest, pass, and how many tests pass and fail."""
    from langgraph.checkpoint.conformance import checkpointer_test, validate

    @checkpointer_test(name=name)
    async def made() -> AsyncIterator[Any]:
        if name == "hexad":
            from hexad.integrations.langgraph import HexadCheckpointer

            with hexad.open(":memory:", embedder=None, background=False) as hx:
                yield HexadCheckpointer(hx)
            return
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        async with AsyncSqliteSaver.from_conn_string(":memory:") as saver:
            yield saver

    report = asyncio.run(validate(made))
    passed = {capability for capability, result in report.results.items() if result.passed}
    base = {"put", "put_writes", "get_tuple", "list", "delete_thread"}
    results = report.results.values()
    return (
        len(passed & base),
        len(passed - base),
        sum(result.tests_passed for result in results),
        sum(result.tests_failed for result in results),
    )


def run(options: Options) -> Report:
    """Measure all of it; nothing where LangGraph and its SQLite saver are not installed."""
    report = Report(name="Frameworks")
    if any(importlib.util.find_spec(name) is None for name in ("langgraph", "aiosqlite")):
        report.skipped = (
            "pip install '.[langgraph]' langgraph-checkpoint-conformance langgraph-checkpoint-sqlite"
        )
        return report
    rounds = 1 if options.quick else 3
    for title, threads, steps, history in (
        ("Short conversations, 0 to 10 messages", 20, 10, 0),
        ("Conversations of 20 to 60 messages", 5, 40, 20),
        ("Long conversations, 200 to 240 messages", 2, 40, 200),
    ):
        _compare(report, options, title, threads, steps, history, rounds)
    _crowds(report, options, 10 if options.quick else 60)
    rows = [(name, *in_child(_conformance, name)) for name in SAVERS]
    columns = ("saver", "base, of 5", "extended, of 3", "tests passed", "failed")
    report.tables.append(Table(title="langgraph-checkpoint-conformance", columns=columns, rows=rows))
    report.notes.append(f"Load average {os.getloadavg()[0]:.1f} at the end, {os.cpu_count()} cores.")
    return report


def _compare(
    report: Report, options: Options, title: str, threads: int, steps: int, history: int, rounds: int
) -> None:
    """Add a table of both savers, in turns, the median of the rounds; and the ratios."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in SAVERS}
    for number in range(rounds):
        for name in SAVERS:
            folder = options.work / f"{history}-{number}-{name}"
            found[name].append(in_child(_conversation, name, folder, threads, steps, history))
    middle = {
        name: {key: percentile([each[key] for each in runs], 0.5) for key in runs[0]}
        for name, runs in found.items()
    }
    columns = (
        "saver", "steps/s", "step, median ms", "worst ms", "step, CPU µs", "get_tuple/s", "get_tuple, CPU µs",
        "bytes a step",
    )  # fmt: skip
    rows = [
        (
            name, round(each["puts"]), round(each["p50_ms"], 2), round(each["worst_ms"], 1),
            round(each["put_cpu_us"]), round(each["gets"]), round(each["get_cpu_us"]), round(each["bytes"]),
        )
        for name, each in middle.items()
    ]  # fmt: skip
    report.tables.append(Table(title=title, columns=columns, rows=rows))
    ours, theirs = (middle[name] for name in SAVERS)
    report.figure(f"{title}: steps", ours["puts"] / theirs["puts"], "× the rate")
    report.figure(f"{title}: get_tuple", ours["gets"] / theirs["gets"], "× the rate")
    report.figure(f"{title}: CPU of a step", ours["put_cpu_us"] / theirs["put_cpu_us"], "× the time")
    report.figure(f"{title}: CPU of get_tuple", ours["get_cpu_us"] / theirs["get_cpu_us"], "× the time")
    report.figure(f"{title}: bytes", ours["bytes"] / theirs["bytes"], "× the bytes")


def _crowds(report: Report, options: Options, steps: int) -> None:
    found = {name: _crowd(name, options.work / f"crowd-{name}", steps) for name in SAVERS}
    columns = (
        "saver",
        "steps asked for",
        "acknowledged",
        "processes refused",
        "lost",
        "steps/s",
        "worst ms",
        "with",
    )
    rows = []
    for name, crowd in found.items():
        answers = crowd["answers"]
        words = sorted({words for _, _, refused, *_ in answers for words in refused})
        rows.append(
            (
                name, _PROCESSES * steps, sum(len(own) for _, own, *_ in answers),
                sum(bool(refused) for _, _, refused, *_ in answers), crowd["lost"], round(crowd["rate"]),
                round(crowd["worst_ms"]), "; ".join(words),
            )
        )  # fmt: skip
    report.tables.append(Table(title=f"{_PROCESSES} processes on one store", columns=columns, rows=rows))
    report.at_most("8 processes: acknowledged and lost", found["hexad"]["lost"], 0, "steps")
    report.figure("8 processes: steps", found["hexad"]["rate"] / found[SAVERS[1]]["rate"], "× the rate")
