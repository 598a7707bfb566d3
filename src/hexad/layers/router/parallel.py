"""Layers asked side by side, each under its deadline: who is late or fails is reported, the others answer.

A thread that is late goes on until it has done what it does, and its answer is thrown away. It holds nothing that
anybody waits for, but a place: a layer that has several questions unanswered is not asked another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread, current_thread
from typing import Final, TypeVar

from hexad.core.clock import Clock
from hexad.core.tracing import carried, log
from hexad.database.exit_hooks import ENDING_S, ExitPhase, forget, register
from hexad.errors import HexadError, InvalidInput
from hexad.layers.contract import LayerItems, MemoryItem
from hexad.memory.layer_names import MemoryLayer

UNANSWERED_MOST: Final = 4
"""So many questions at once one layer works on."""
LOOK_S: Final = 0.01
"""So often it is looked whether somebody who is late has answered."""
IDLE_S: Final = 30.0
"""A thread without work for so long ends, and its connection with it."""
SPARE_IDLE_S: Final = 0.5
"""So long where more than `RESIDENT` threads are there: what one context needs goes when no other follows."""
RESIDENT: Final = 2

LayerQuestion = Callable[[], Sequence[MemoryItem]]
Result = TypeVar("Result")


@dataclass(slots=True, kw_only=True)
class FetchedAnswers:
    """What the layers answered, who was late, who failed and why, and how long each took in milliseconds."""

    items: dict[MemoryLayer, Sequence[MemoryItem]] = field(default_factory=dict)
    late: list[MemoryLayer] = field(default_factory=list)
    failed: dict[MemoryLayer, str] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)


class _Job:
    """One question to one layer."""

    def __init__(self, layer: MemoryLayer, ask: LayerQuestion) -> None:
        self.layer = layer
        self.ask = carried(ask)
        self.done = Event()
        self.items: Sequence[MemoryItem] = ()
        self.error: str | None = None
        self.took_s = 0.0
        self.taken = False


class LayerPool:
    """Threads that ask layers; they are started when they are needed, and end when nothing is asked for a while."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._work: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads: set[Thread] = set()
        self._unanswered: dict[MemoryLayer, int] = {}
        self._closed = False

    def fetch(
        self,
        asks: Mapping[MemoryLayer, LayerQuestion],
        *,
        deadlines_ms: Mapping[MemoryLayer, float],
        total_ms: float,
        patience_ms: float = 0.0,
    ) -> FetchedAnswers:
        """Ask all layers at once and return what came in time.

        Where nobody had anything by then, those who are late are waited for `patience_ms` more, until one has: on a
        machine that is busy with other things an answer of nothing would be quick and of no use. Raises `InvalidInput`
        after `close`.
        """
        started = self._clock.monotonic()
        answers = FetchedAnswers()
        jobs = [self._start(layer, ask) for layer, ask in asks.items()]
        waited = 0.0
        late: list[_Job] = []
        for job, layer in zip(jobs, asks, strict=True):
            if job is None:
                answers.late.append(layer)
                continue
            passed = max(waited, self._clock.monotonic() - started)
            left = max(0.0, min(deadlines_ms[layer], total_ms) / 1000 - passed)
            if not job.done.wait(left):
                waited = passed + left  # also where the clock stands still
                late.append(job)
                continue
            _take(job, answers)
        self._be_patient(late, answers, patience_ms / 1000)
        answers.late.extend(job.layer for job in late if not job.taken)
        return answers

    def _be_patient(self, late: Sequence[_Job], answers: FetchedAnswers, patience_s: float) -> None:
        """Take what comes late, while there is nothing at all."""
        end = self._clock.monotonic() + patience_s
        waited = 0.0
        while waiting := [job for job in late if not job.taken]:
            if any(answers.items.values()) or waited >= patience_s or self._clock.monotonic() >= end:
                return
            waiting[0].done.wait(LOOK_S)
            waited += LOOK_S  # also where the clock stands still
            for job in waiting:
                if job.done.is_set():
                    _take(job, answers)

    def busy(self) -> int:
        """Return how many questions are worked on, late ones among them."""
        with self._lock:
            return sum(self._unanswered.values())

    def threads(self) -> int:
        """Return how many threads there are."""
        with self._lock:
            return len(self._threads)

    def close(self, wait_s: float | None = None) -> None:
        """End the threads; what one has in hand is waited for, `wait_s` seconds at most each."""
        with self._lock:
            self._closed = True
            threads = list(self._threads)
            for _ in threads:
                self._work.put(None)
        forget(ExitPhase.BACKGROUND, self)
        for thread in threads:
            thread.join(wait_s)

    def _start(self, layer: MemoryLayer, ask: LayerQuestion) -> _Job | None:
        with self._lock:
            if self._closed:
                raise InvalidInput("The store is closed; open it again.")
            if self._unanswered.get(layer, 0) >= UNANSWERED_MOST:
                return None
            self._unanswered[layer] = self._unanswered.get(layer, 0) + 1
            job = _Job(layer, ask)
            self._work.put(job)
            # One for each question: a thread that has taken one may not have said so yet.
            if len(self._threads) < sum(self._unanswered.values()):
                self._add_thread()
            return job

    def _add_thread(self) -> None:
        if not self._threads:
            register(ExitPhase.BACKGROUND, self, lambda: self.close(ENDING_S))
        thread = Thread(target=self._run, name="hexad-layer", daemon=True)
        self._threads.add(thread)
        thread.start()

    def _run(self) -> None:
        spare = True
        try:
            while True:
                try:
                    job = self._work.get(timeout=SPARE_IDLE_S if spare else IDLE_S)
                except Empty:
                    job = None
                if job is None:
                    with self._lock:
                        # Those who stay wait on for as long as a thread without work may.
                        stays = spare and len(self._threads) <= RESIDENT
                        spare = False
                        if self._closed or (self._work.empty() and not stays):
                            self._threads.discard(current_thread())
                            return
                    continue
                spare = True
                self._do(job)
        finally:
            with self._lock:
                self._threads.discard(current_thread())

    def _do(self, job: _Job) -> None:
        started = self._clock.monotonic()
        try:
            job.items, job.error = ask_layer(job.ask)
        finally:
            job.took_s = self._clock.monotonic() - started
            with self._lock:
                self._unanswered[job.layer] -= 1
            job.done.set()


def _take(job: _Job, answers: FetchedAnswers) -> None:
    job.taken = True
    answers.timings_ms[job.layer.value] = round(job.took_s * 1000, 3)
    if job.error is not None:
        answers.failed[job.layer] = job.error
    else:
        answers.items[job.layer] = job.items


def in_turn(asks: Mapping[MemoryLayer, LayerQuestion], *, clock: Clock) -> FetchedAnswers:
    """Ask one layer after the other in this thread and wait for each: the same answer whatever the machine does."""
    answers = FetchedAnswers()
    for layer, ask in asks.items():
        started = clock.monotonic()
        items, error = ask_layer(ask)
        answers.timings_ms[layer.value] = round((clock.monotonic() - started) * 1000, 3)
        if error is not None:
            answers.failed[layer] = error
        else:
            answers.items[layer] = items
    return answers


def ask_layer(ask: LayerQuestion) -> tuple[Sequence[MemoryItem], str | None]:
    """Return a layer's answer, or why there is none."""
    items, error = attempt(lambda: _complete(ask()))
    return () if items is None else items, error


def _complete(items: Sequence[MemoryItem]) -> Sequence[MemoryItem]:
    return items if isinstance(items, LayerItems) else tuple(items)


def attempt(work: Callable[[], Result]) -> tuple[Result | None, str | None]:
    """Return what something that a layer does gives, or why it gives nothing."""
    try:
        return work(), None
    except HexadError as error:
        return None, str(error)
    # Whatever goes wrong in one layer, the others answer; its name says where to look, its words may hold texts.
    except Exception as error:  # noqa: BLE001
        log.warning("A layer failed: %s", type(error).__name__)
        return None, f"{type(error).__name__} in the layer"
