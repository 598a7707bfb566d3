"""One store, many hands: threads and processes that remember, recall and embed at the same time."""

from __future__ import annotations

import json
import os
import signal
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hexad import Hexad, Outcome, SystemClock, TimeSortedIds
from opener import Opener
from programs import Program

PRELUDE = """
import json, os, signal, sys, threading
import hexad
from hexad.providers.embedders.hashing import HashEmbedder
path, arguments = sys.argv[1], json.loads(sys.argv[2])
def store(**more):
    return hexad.open(path, **{"embedder": HashEmbedder(), "background": False, **more})
def say(word):
    print(word, flush=True)
def wait():
    sys.stdin.readline()
"""


class Other:
    """Another process with the same store, talked to a line at a time."""

    def __init__(self, project: Path, script: str, arguments: object = None) -> None:
        self._process = Program(PRELUDE + textwrap.dedent(script), project, json.dumps(arguments))

    def hear(self) -> str:
        return self._process.stdout.readline().strip()

    def go_on(self) -> None:
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def end(self, *, expected: int = 0) -> None:
        self._process.communicate(timeout=120)
        assert expected == self._process.returncode


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run `work(n)` in `count` threads that begin together; an error in any of them fails the test."""
    barrier, errors = threading.Barrier(count), list[BaseException]()

    def run(number: int) -> None:
        try:
            barrier.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [] == errors


# Threads --------------------------------------------------------------------------------------------------------


def test_threads_remember_and_recall_on_one_store(opened: Opener) -> None:
    hx = opened()
    hx.remember("The anchor of everything.", id="anchor")
    hx.maintain()

    def work(number: int) -> None:
        for turn in range(6):
            hx.remember(f"Thread {number} wrote line {turn} of its log.", id=f"t{number}-{turn}")
            assert f"t{number}-{turn}" in {
                hit.id for hit in hx.recall(f"thread {number} line {turn}", limit=50)
            }
            if turn % 3 == 2:
                hx.maintain()

    in_threads(6, work)

    assert 37 == len(hx.memories(limit=100))
    hx.maintain()
    assert (37, 0) == (hx.status().vectors, hx.status().embeddings_pending)


def test_one_text_said_by_many_threads_is_one_memory(opened: Opener) -> None:
    hx = opened()
    outcomes: list[Outcome] = []

    def work(number: int) -> None:
        memory = hx.remember("Deploys happen on Tuesday.")
        assert memory.receipt is not None
        outcomes.append(memory.receipt.outcome)

    in_threads(8, work)

    (memory,) = hx.memories()
    assert (8, 1, 7) == (memory.evidence, outcomes.count(Outcome.CREATED), outcomes.count(Outcome.EVIDENCE))


def test_many_threads_that_wake_the_background_start_one_thread(opened: Opener) -> None:
    before = threading.active_count()
    hx = opened(background=None, clock=SystemClock())

    in_threads(8, lambda number: hx.recall(f"nothing {number}") and None)

    assert before + 1 == threading.active_count()
    hx.close()
    assert before == threading.active_count()


def test_recalls_during_changes_see_a_memory_whole(opened: Opener) -> None:
    hx = opened()
    texts = [f"Version {n} of the page: " + f"word{n} " * 8 for n in range(12)]
    hx.remember(texts[0], id="page")
    over = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            for text in texts:
                hx.remember(text, id="page")
            over.set()
            return
        while not over.is_set():
            for hit in hx.recall("version of the page", semantic=False):
                assert hit.memory.raw in [text.rstrip() for text in texts]
                assert hit.memory.raw.startswith(hit.text[:9])

    in_threads(4, work)
    assert 11 == len(hx.history("page"))


# Processes ------------------------------------------------------------------------------------------------------


def test_processes_remember_into_one_store_and_lose_nothing(opened: Opener, project: Path) -> None:
    hx = opened()
    script = """
        with store() as hx:
            say("ready")
            wait()
            for turn in range(10):
                hx.remember(f"Process {arguments} wrote line {turn}.", id=f"p{arguments}-{turn}")
                hx.remember("Everybody says this.")
            hx.maintain()
    """
    others = [Other(project, script, number) for number in range(4)]
    assert ["ready"] * 4 == [other.hear() for other in others]
    for other in others:
        other.go_on()
    for other in others:
        other.end()

    assert {f"p{p}-{t}" for p in range(4) for t in range(10)} < {m.id for m in hx.memories(limit=100)}
    assert 41 == len(hx.memories(limit=100))
    (shared,) = [memory for memory in hx.memories(limit=100) if "Everybody" in memory.raw]
    assert 40 == shared.evidence
    assert (41, 0) == (hx.status().vectors, hx.status().embeddings_pending)


@pytest.mark.row("L138")
def test_what_another_process_does_is_seen_here_at_once(opened: Opener, project: Path) -> None:
    here = opened()
    here.remember("The first sentence, about otters.", id="mine")
    here.maintain()
    assert ["mine"] == [hit.id for hit in here.recall("otters")]
    other = Other(
        project,
        """
        with store() as hx:
            hx.remember("A second sentence, about otters too.", id="theirs")
            say("written"); wait()
            hx.maintain()
            say("embedded"); wait()
            hx.remember("It speaks of badgers now.", id="theirs")
            say("changed"); wait()
            hx.forget("mine")
            say("forgotten"); wait()
            hx.restore("mine")
            hx.maintain()
            say("restored"); wait()
        """,
    )

    assert "written" == other.hear()
    assert {"mine", "theirs"} == {hit.id for hit in here.recall("otters")}
    other.go_on()
    assert "embedded" == other.hear()
    assert "vector" in {hit.id: hit.parts for hit in here.recall("second otters sentence")}["theirs"]
    assert [True] == ["cosine" in hit.why[-1] for hit in here.recall("otters") if hit.id == "theirs"]
    other.go_on()
    assert "changed" == other.hear()
    assert ["mine"] == [hit.id for hit in here.recall("otters", semantic=False)]
    assert "theirs" == here.recall("badgers")[0].id
    other.go_on()
    assert "forgotten" == other.hear()
    assert [] == [hit for hit in here.recall("otters") if hit.id == "mine"]
    other.go_on()
    assert "restored" == other.hear()
    assert "mine" == here.recall("otters sentence")[0].id
    assert "cosine" in here.recall("otters sentence")[0].why[-1]
    other.go_on()
    other.end()


def test_vectors_that_another_process_computed_are_used_here(opened: Opener, project: Path) -> None:
    here = opened()
    for number in range(20):
        here.remember(f"amber{number} birch{number} cedar{number}")
    assert 20 == here.status().embeddings_pending

    Other(project, "store().maintain()").end()

    assert 0 == here.status().embeddings_pending
    assert "hybrid" == here.recall("amber3").mode
    assert 0 == here.maintain().embedded


def test_a_process_killed_while_embedding_leaves_its_tasks_to_the_next(opened: Opener, project: Path) -> None:
    other = Other(
        project,
        """
        class Deadly(HashEmbedder):
            def embed(self, texts):
                say("embedding")
                wait()
                os.kill(os.getpid(), signal.SIGKILL)
        hx = store(embedder=Deadly())
        for number in range(9):
            hx.remember(f"Fact {number} of the harbour.", id=f"m{number}")
        hx.maintain()
        """,
    )
    assert "embedding" == other.hear()
    hx = opened()
    assert 9 == len(hx.recall("harbour"))
    assert (0, 9) == (hx.status().vectors, hx.status().embeddings_pending)

    other.go_on()
    other.end(expected=-signal.SIGKILL)

    assert 9 == hx.maintain().embedded
    assert (9, 0) == (hx.status().vectors, hx.status().embeddings_pending)
    assert "hybrid" == hx.recall("harbour").mode


def test_a_process_killed_while_writing_leaves_whole_memories(opened: Opener, project: Path) -> None:
    other = Other(
        project,
        """
        hx = store()
        for number in range(10_000):
            memory = hx.remember(f"Fact {number} of the harbour.", id=f"m{number:05}", tags=["port"])
            say(memory.id)
        """,
    )
    acknowledged = [other.hear() for _ in range(12)]
    os.kill(other._process.pid, signal.SIGKILL)
    other.end(expected=-signal.SIGKILL)

    hx = opened()
    found = {memory.id for memory in hx.memories(limit=1000)}
    assert set(acknowledged) <= found
    assert [] == hx.check()
    assert found == {hit.id for hit in hx.recall("harbour", limit=1000)}


def test_two_openings_in_one_process_share_the_store(opened: Opener, project: Path) -> None:
    clock = SystemClock()
    store = opened(clock=clock, ids=TimeSortedIds(clock))
    two = opened(clock=clock, ids=TimeSortedIds(clock))

    def work(number: int) -> None:
        hx = store if number % 2 else two
        for turn in range(5):
            hx.remember(f"Writer {number} wrote line {turn}.")

    in_threads(4, work)

    assert 20 == len(store.memories()) == len(two.memories())
    assert 2 == len(store.status().holders)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_told_to_open_the_store_again(hx: Hexad) -> None:
    hx.remember("A text.")
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            hx.recall("text")
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    os.waitpid(pid, 0)

    assert said.startswith("InvalidInput: ")
    assert "open it again" in said
    assert 1 == len(hx.recall("text"))
