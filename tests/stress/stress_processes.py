"""Worker processes that write and report what was acknowledged, until they end or are killed."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from stress_target import open_store, write

from programs import CONTEXT, preload

Recorder = Callable[[str, object], None]
"""The type of the fixture `record_property`: what a test counted, for docs/assurance.md."""
_REPORT = struct.Struct("<qq")
_FAILED = b"failed:"
_REPORT_WAIT_S = 120.0


@dataclass(frozen=True)
class Operation:
    """What a worker does; both functions must be importable by name."""

    open_store: Callable[..., object] = open_store
    write: Callable[..., None] = write


def _work(pipe: Pipe, path: Path, operation: Operation, worker: int, writes: range) -> None:
    try:
        store = operation.open_store(path)
        for n in writes:
            operation.write(store, worker, n)
            pipe.send_bytes(_REPORT.pack(worker, n))
        store.close()  # type: ignore[attr-defined]
    except BaseException as error:
        pipe.send_bytes(_FAILED + f"{type(error).__name__}: {error}".encode())
        raise


@dataclass
class Worker:
    process: ForkServerProcess
    pipe: Pipe

    @classmethod
    def start(cls, path: Path, *, worker: int, writes: range, operation: Operation) -> Worker:
        preload()
        reader, writer = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=_work, args=(writer, path, operation, worker, writes), daemon=True)
        process.start()
        writer.close()
        return cls(process, reader)

    def reports(self) -> tuple[set[tuple[int, int]], list[str]]:
        """Read to the end of the pipe: the acknowledged writes and the errors that were shown."""
        acknowledged: set[tuple[int, int]] = set()
        errors: list[str] = []
        while True:
            try:
                message = self.pipe.recv_bytes()
            except (EOFError, OSError):  # the end, or a message that was cut by the kill
                break
            if message.startswith(_FAILED):
                errors.append(message[len(_FAILED) :].decode())
            else:
                acknowledged.add(_REPORT.unpack(message))
        self.process.join()
        self.pipe.close()
        return acknowledged, errors


def run_and_kill(
    path: Path, *, workers: int, first: int, seconds: float, chance: random.Random, operation: Operation
) -> tuple[set[tuple[int, int]], list[str]]:
    """Let workers write, kill each at its own moment within `seconds`; return what they reported.

    The last one is let live until it has reported something, however slow the machine is.
    """
    running = [
        Worker.start(path, worker=worker, writes=range(first, first + 100_000), operation=operation)
        for worker in range(workers)
    ]
    moments = sorted((chance.uniform(0.2, 1.0) * seconds, number) for number in range(workers))
    begin = time.monotonic()
    for moment, number in moments:
        time.sleep(max(0.0, begin + moment - time.monotonic()))
        if number == moments[-1][1]:
            running[number].pipe.poll(_REPORT_WAIT_S)
        running[number].process.kill()
    return _collect(running)


def _collect(running: list[Worker]) -> tuple[set[tuple[int, int]], list[str]]:
    acknowledged: set[tuple[int, int]] = set()
    errors: list[str] = []
    for worker in running:
        some, wrong = worker.reports()
        acknowledged |= some
        errors += wrong
    return acknowledged, errors


def run_to_the_end(
    path: Path, *, workers: int, writes_each: int, operation: Operation
) -> tuple[set[tuple[int, int]], list[str]]:
    """Let each worker make its writes; return what they reported."""
    running = [
        Worker.start(path, worker=worker, writes=range(writes_each), operation=operation)
        for worker in range(workers)
    ]
    return _collect(running)
