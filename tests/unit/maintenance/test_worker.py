from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from hexad.database.exit_hooks import ProgramEnding
from hexad.errors import ProviderError
from hexad.maintenance import worker as module
from hexad.maintenance.worker import Worker


def test_it_runs_when_it_is_woken_and_goes_on_while_there_is_more() -> None:
    left = [3]

    def step(stop: Callable[[], bool]) -> bool:
        left[0] -= 1
        return left[0] > 0

    worker = Worker(step)
    assert worker.wait_idle(0), "nothing to do before it was ever woken"
    worker.wake()
    assert worker.wait_idle(60)
    worker.stop()

    assert 0 == left[0]


def test_stopping_ends_the_thread_and_waking_it_again_starts_none() -> None:
    threads: list[threading.Thread] = []

    def step(stop: Callable[[], bool]) -> bool:
        threads.append(threading.current_thread())
        return False

    worker = Worker(step)
    worker.wake()
    assert worker.wait_idle(60)
    worker.stop()
    worker.stop()
    worker.wake()

    assert worker.wait_idle(60)
    assert [False] == [thread.is_alive() for thread in threads]


def test_a_long_step_is_told_to_stop() -> None:
    entered = threading.Event()
    threads: list[threading.Thread] = []

    def step(stop: Callable[[], bool]) -> bool:
        threads.append(threading.current_thread())
        entered.set()
        while not stop():
            threading.Event().wait(0.005)
        return True

    worker = Worker(step)
    worker.wake()
    assert entered.wait(60)
    worker.stop()

    assert [False] == [thread.is_alive() for thread in threads]


def test_a_failing_step_is_tried_again_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "RETRY_S", 0.01)
    tries: list[int] = []
    succeeded = threading.Event()

    def step(stop: Callable[[], bool]) -> bool:
        tries.append(1)
        if len(tries) < 3:
            raise ProviderError("The endpoint is down.")
        succeeded.set()
        return False

    worker = Worker(step)
    with caplog.at_level(logging.WARNING, logger="hexad"):
        worker.wake()
        assert succeeded.wait(60)
        worker.stop()

    assert 2 == sum("The endpoint is down." in record.message for record in caplog.records)


def test_a_step_that_the_end_of_the_program_stops_ends_the_thread_without_a_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    threads: list[threading.Thread] = []

    def step(stop: Callable[[], bool]) -> bool:
        threads.append(threading.current_thread())
        raise ProgramEnding("The program is ending.")

    worker = Worker(step)
    with caplog.at_level(logging.DEBUG, logger="hexad"):
        worker.wake()
        assert worker.wait_idle(60)
        threads[0].join(60)
        worker.stop()

    assert ([], [False]) == (caplog.records, [thread.is_alive() for thread in threads])
