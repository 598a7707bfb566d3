"""The processes of a crowd: each does calls of one kind for some seconds, and says how long each took.

A program of its own, so that it runs with whichever revision of `hexad` comes first on its path: it is given orders for
every process as JSON, forks them once everything is loaded, and prints what they measured. Times are of the system's
monotonic clock, which all processes share.
"""

from __future__ import annotations

import json
import multiprocessing
import pickle
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Final

import apsw

import hexad
from hexad.database import files
from hexad.database.commit_queue import CommitQueue

BUSY_TIMEOUT_MS: Final = 120_000
_SETUP_S: Final = 300.0
_SYNCS: Final = ("fdatasync", "fsync", "fsync_dir")
_FILES, _TOKENS, _MEMORIES = 5, 20, 3
Call = Callable[[int], object]
Trace = list[tuple[float, str, float]]


def main() -> None:
    """Follow the orders in the file that the first argument names."""
    orders: list[dict[str, Any]] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    _load(Path(sys.argv[2]), {each["role"] for each in orders})
    context = multiprocessing.get_context("fork")
    barrier, pipes, workers = context.Barrier(len(orders)), [], []
    for each in orders:
        ours, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(each, barrier, theirs))
        worker.start()
        theirs.close()
        pipes.append(ours)
        workers.append(worker)
    print(json.dumps([pipe.recv() for pipe in pipes]))
    for worker in workers:
        worker.join()


def _load(folder: Path, roles: set[str]) -> None:
    """Do each call once in a store that nobody looks at, so that what it imports is there before the fork."""
    with hexad.open(folder, embedder=None, background=False) as hx:
        for role in sorted(roles - {"floor"}):
            prepare, timed = _ROLES[role](hx, 0, folder)
            prepare(0)
            timed(0)


def _work(orders: dict[str, Any], barrier: Barrier, pipe: Connection) -> None:
    trace: Trace = []
    if orders["role"] == "floor":
        pipe.send(_replay(orders, barrier))
        return
    if orders["trace"]:
        _attach(trace)
    if orders["sync_ms"]:
        files.set_hook(_slow_disk(orders["sync_ms"] / 1000))
    with hexad.open(orders["folder"], embedder=None, background=False) as hx:
        prepare, timed = _ROLES[orders["role"]](hx, orders["number"] + 1, Path(orders["own"]))
        prepare(-1)
        timed(-1)
        pipe.send(_repeat(prepare, timed, orders["seconds"], barrier, trace))


def _repeat(prepare: Call, timed: Call, seconds: float, barrier: Barrier, trace: Trace) -> dict[str, object]:
    calls: list[tuple[float, float]] = []
    barrier.wait(_SETUP_S)
    trace.clear()
    cpu, deadline = time.process_time(), time.perf_counter() + seconds
    number = 0
    while time.perf_counter() < deadline:
        prepare(number)
        started = time.perf_counter()
        timed(number)
        calls.append((started, time.perf_counter() - started))
        number += 1
    return {"calls": calls, "trace": trace, "cpu_s": time.process_time() - cpu}


def _slow_disk(delay_s: float) -> files.Hook:
    def wait(operation: str, _path: Path) -> None:
        if operation in _SYNCS:
            time.sleep(delay_s)

    return wait


# The calls ------------------------------------------------------------------------------------------------------


def _nothing(_number: int) -> None:
    """Prepare nothing."""


def _remember(hx: hexad.Hexad, worker: int, _own: Path) -> tuple[Call, Call]:
    def call(number: int) -> object:
        return hx.remember(
            f"Worker {worker} notes that step {number} of build {worker * 7919 + number} went through."
        )

    return _nothing, call


def _recall(hx: hexad.Hexad, worker: int, _own: Path) -> tuple[Call, Call]:
    return _nothing, lambda number: hx.recall(f"what does step {number} of build {worker} need?", limit=5)


def _ingest(hx: hexad.Hexad, worker: int, own: Path) -> tuple[Call, Call]:
    def write(number: int) -> None:
        for file in range(_FILES):
            text = f"# Guide {file} of {worker}\n\nRevision {number} says that {worker + file} hosts are enough.\n"
            (own / f"guide-{file}.md").write_text(text, encoding="utf-8")

    return write, lambda _number: hx.ingest(own, embed=False)


def _record(hx: hexad.Hexad, worker: int, _own: Path) -> tuple[Call, Call]:
    hx.xdb.start_session(f"session-{worker}", compaction=False)

    def call(number: int) -> None:
        for token in range(_TOKENS):
            hx.xdb.record("output", f" word{token}", {"pack::Concept": 0.5}, event_id=f"event-{number}")
        hx.xdb.flush()

    return _nothing, call


def _erase(hx: hexad.Hexad, worker: int, _own: Path) -> tuple[Call, Call]:
    def person(number: int) -> str:
        return f"person{number + 1}@{worker}.example.org"

    def tell(number: int) -> None:
        for memory in range(_MEMORIES):
            hx.remember(f"Fact {memory} of {worker}/{number}: likes tea.", data_subjects=[person(number)])

    return tell, lambda number: hx.forget(subject=person(number), purge=True, confirm=True)


def _maintain(hx: hexad.Hexad, _worker: int, _own: Path) -> tuple[Call, Call]:
    return lambda _number: time.sleep(0.5), lambda _number: hx.maintain()


_ROLES: Final = {
    "remember": _remember,
    "recall": _recall,
    "ingest": _ingest,
    "record": _record,
    "erase": _erase,
    "maintain": _maintain,
}


def _replay(orders: dict[str, Any], barrier: Barrier) -> dict[str, object]:
    """Execute recorded statements under FULL, a transaction a memory."""
    with Path(orders["statements"]).open("rb") as file:
        memories = pickle.load(file)[orders["number"] :: orders["processes"]]
    con = apsw.Connection(orders["folder"])
    con.set_busy_timeout(BUSY_TIMEOUT_MS)
    con.execute("PRAGMA journal_mode = WAL").fetchall()
    con.execute("PRAGMA synchronous = FULL").fetchall()
    con.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    if orders["sync_ms"]:
        con.set_commit_hook(_slow_commit(orders["sync_ms"] / 1000))
    calls: list[tuple[float, float]] = []
    barrier.wait(_SETUP_S)
    cpu, deadline = time.process_time(), time.perf_counter() + orders["seconds"]
    for statements in memories:
        started = time.perf_counter()
        if started >= deadline:
            break
        con.execute("BEGIN IMMEDIATE")
        for sql, bindings in statements:
            con.execute(sql, bindings).fetchall()
        con.execute("COMMIT")
        calls.append((started, time.perf_counter() - started))
    cpu = time.process_time() - cpu
    con.close()
    return {"calls": calls, "trace": [], "cpu_s": cpu}


def _slow_commit(delay_s: float) -> Callable[[], bool]:
    """Return a hook that takes as long as the sync that SQLite makes next, as the disk under it would."""

    def wait() -> bool:
        time.sleep(delay_s)
        return False

    return wait


# The trace --------------------------------------------------------------------------------------------------------


def _attach(trace: Trace) -> None:
    """Note when the turn to write is asked for, taken, given back, and when a commit is on the disk.

    Beside each time stands the CPU time of the thread: what a holder did not compute, it waited.
    """
    take, give, sync = CommitQueue.acquire_within, CommitQueue.release, CommitQueue.wait_durable

    def note(event: str) -> None:
        trace.append((time.perf_counter(), event, time.thread_time()))

    def acquire_within(self: CommitQueue, timeout_s: float) -> bool:
        if self.path.name != "memory.db":
            return take(self, timeout_s)
        note("ask")
        taken = take(self, timeout_s)
        note("take" if taken else "miss")
        return taken

    def release(self: CommitQueue) -> None:
        if self.path.name == "memory.db":
            note("give")
        give(self)

    def wait_durable(self: CommitQueue, number: int) -> None:
        if self.path.name != "memory.db":
            sync(self, number)
            return
        note("written")
        sync(self, number)
        note("durable")

    CommitQueue.acquire_within = acquire_within  # type: ignore[method-assign]
    CommitQueue.release = release  # type: ignore[method-assign]
    CommitQueue.wait_durable = wait_durable  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
