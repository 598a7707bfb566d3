"""Many lives, in processes of their own, and what came of them."""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import queue
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
_SEED_S = 900
"""A life takes a second; on a busy machine a minute. After this long it goes on for ever."""
_TOLD_EVERY = 100
_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 1 << 30


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python tests/simulation", description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="how many seeds (100)")
    parser.add_argument("--first", type=int, help="the first of them (what the time gives)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, help="live through this one alone, and tell its story")
    parser.add_argument("--lying", action="store_true", help="let the disk forget what Hexad itself synced")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.worker:
        return _work(is_lying=given.lying)
    if given.seed is not None:
        return _tell(given.seed, is_lying=given.lying)
    first = time.time_ns() // 1_000_000_000 * 1_000 if given.first is None else given.first
    print(f"seeds {first} to {first + given.runs - 1}", flush=True)
    began = time.monotonic()
    violations, counts, digests = run(
        range(first, first + given.runs), processes=given.processes, is_lying=given.lying
    )
    print(f"{len(digests)} lives in {time.monotonic() - began:.0f} s: {_in_words(counts)}")
    for seed, words in sorted(violations.items()):
        print(f"seed {seed}: {words}\n  again with: python tests/simulation --seed {seed}")
    return 1 if violations else 0


def run(
    seeds: range, *, processes: int, is_lying: bool = False
) -> tuple[dict[int, str], dict[str, int], dict[int, str]]:
    """Live through the seeds; return what went wrong, what was counted, and what happened in a word, by seed."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for seed in seeds:
        waiting.put(seed)
    violations: dict[int, str] = {}
    counts: collections.Counter[str] = collections.Counter()
    digests: dict[int, str] = {}

    def lead() -> None:
        with contextlib.ExitStack() as stack:
            worker = None
            while True:
                try:
                    seed = waiting.get_nowait()
                except queue.Empty:
                    return
                worker = worker or stack.enter_context(_Worker(is_lying=is_lying))
                answer = worker.answer(seed)
                if answer is None:
                    violations[seed] = worker.end()
                    worker = None
                    print(f"seed {seed}: {violations[seed][-2_000:]}", flush=True)
                    continue
                digests[seed] = answer["digest"]
                if len(digests) % _TOLD_EVERY == 0:
                    print(f"{len(digests)} lives, {len(violations)} with a violation", flush=True)
                counts.update(answer["counts"])
                if answer["wrong"]:
                    violations[seed] = answer["wrong"]
                    print(f"seed {seed}: {answer['wrong']}", flush=True)

    threads = [threading.Thread(target=lead) for _ in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return violations, dict(counts), digests


class _Worker:
    """A process that lives through one seed after the other."""

    def __init__(self, *, is_lying: bool) -> None:
        self._options = ["--lying"] if is_lying else []

    def __enter__(self) -> _Worker:
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [sys.executable, str(HERE), "--worker", *self._options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        return self

    def answer(self, seed: int) -> dict | None:
        """Return what came of a seed; None where the process ended, or had to be."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{seed}\n")
            self._process.stdin.flush()
            if select.select([self._process.stdout], [], [], _SEED_S)[0]:
                line = self._process.stdout.readline()
                return json.loads(line) if line else None
        return None

    def end(self) -> str:
        """End the process; return its last words."""
        self._process.kill()
        code = self._process.wait()
        self._errors.seek(0)
        return f"the process ended with {code}: {self._errors.read()[-4_000:]}"

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """A folder in memory where there is room: what is simulated needs no disk."""
    free = shutil.disk_usage(_MEMORY).free if _MEMORY.is_dir() else 0
    with tempfile.TemporaryDirectory(dir=_MEMORY if free > _ROOM_BYTES else None) as folder:
        yield Path(folder)


def _work(*, is_lying: bool) -> int:
    from simulation.life import Life, make_template

    with _scratch() as scratch:
        make_template(scratch / "template")
        for line in sys.stdin:
            life = Life(int(line), scratch / line.strip(), is_lying)
            wrong = ""
            try:
                life.live(scratch / "template")
            except Exception as error:
                wrong = f"{type(error).__name__}: {error}"[:1_000]
            finally:
                shutil.rmtree(life.folder, ignore_errors=True)
            print(json.dumps({"digest": life.digest, "counts": life.counts, "wrong": wrong}), flush=True)
    return 0


def _tell(seed: int, *, is_lying: bool) -> int:
    from simulation.life import Life, make_template

    with _scratch() as scratch:
        make_template(scratch / "template")
        life = Life(seed, scratch / str(seed), is_lying)
        try:
            life.live(scratch / "template")
        except Exception:
            print(*life.story, sep="\n")
            traceback.print_exc(file=sys.stdout)
            return 1
    print(*life.story, f"all is well: {life.digest}", _in_words(life.counts), sep="\n")
    return 0


def _in_words(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
