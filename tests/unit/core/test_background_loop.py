from __future__ import annotations

import math
import threading
from collections.abc import Callable

import pytest

from hexad.core.background_loop import BackgroundLoop, SideCalls, TooManyCalls


def test_it_works_when_it_is_woken_and_goes_on_while_there_is_more() -> None:
    left = [3]

    def step() -> float:
        left[0] -= 1
        return 0.0 if left[0] else math.inf

    loop = BackgroundLoop("test", step)
    assert loop.wait_idle(0), "nothing to do before it was ever woken"
    assert not loop.running
    loop.wake()
    assert loop.wait_idle(60)
    assert loop.running
    loop.stop()

    assert 0 == left[0]


def test_what_comes_in_the_delay_is_done_together() -> None:
    runs: list[int] = []
    waiting: list[int] = []

    def step() -> float:
        runs.append(len(waiting))
        waiting.clear()
        return math.inf

    loop = BackgroundLoop("test", step, delay_s=0.3)
    for number in range(5):
        waiting.append(number)
        loop.wake()
    assert loop.wait_idle(60)
    loop.stop()

    assert [5] == runs


@pytest.mark.parametrize("end", [BackgroundLoop.hurry, BackgroundLoop.stop])
def test_a_delay_ends_when_it_is_in_a_hurry_or_stopped(end: Callable[[BackgroundLoop], None]) -> None:
    runs: list[int] = []

    def step() -> float:
        runs.append(1)
        return math.inf

    loop = BackgroundLoop("test", step, delay_s=3_600.0)
    loop.wake()
    end(loop)
    assert loop.wait_idle(60)
    loop.stop()

    assert [1] * (end is BackgroundLoop.hurry) == runs


def test_it_is_called_again_after_the_pause_that_it_asks_for() -> None:
    done = threading.Event()
    runs: list[int] = []

    def step() -> float:
        runs.append(1)
        if len(runs) == 3:
            done.set()
            return math.inf
        return 0.01

    loop = BackgroundLoop("test", step, delay_s=0.001)
    loop.wake()
    assert done.wait(60)
    loop.stop()

    assert 3 == len(runs)


def test_a_thread_with_nothing_left_ends_and_the_next_wake_starts_another() -> None:
    threads: list[threading.Thread] = []

    def step() -> None:
        threads.append(threading.current_thread())

    loop = BackgroundLoop("test", step)
    for _ in range(2):
        loop.wake()
        assert loop.wait_idle(60)
        threads[-1].join(60)
        assert not loop.running

    assert 2 == len(set(threads))
    assert {"test"} == {thread.name for thread in threads}


def test_being_woken_while_the_last_step_runs_is_not_forgotten() -> None:
    runs: list[int] = []
    entered, go_on = threading.Event(), threading.Event()

    def step() -> None:
        runs.append(1)
        entered.set()
        assert go_on.wait(60)

    loop = BackgroundLoop("test", step)
    loop.wake()
    assert entered.wait(60)
    loop.wake()
    go_on.set()
    assert loop.wait_idle(60)
    loop.stop()

    assert 2 == len(runs)


def test_after_stop_nothing_starts_again() -> None:
    runs: list[int] = []

    def step() -> float:
        runs.append(1)
        return math.inf

    loop = BackgroundLoop("test", step)
    loop.stop()
    loop.stop()
    loop.wake()
    loop.hurry()

    assert loop.stopping
    assert not loop.running
    assert [] == runs


def test_what_ends_the_thread_does_not_end_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda raised: ended.append(raised.exc_type))
    threads: list[threading.Thread] = []

    def step() -> float:
        threads.append(threading.current_thread())
        if len(threads) == 1:
            raise SystemExit(3)
        return math.inf

    loop = BackgroundLoop("test", step)
    loop.wake()
    assert loop.wait_idle(60), "nobody waits for a thread that is gone"
    threads[0].join()
    loop.wake()
    assert loop.wait_idle(60)
    loop.stop()

    assert 2 == len(set(threads))
    assert [SystemExit] == ended


# Calls that cannot be stopped -------------------------------------------------------------------------------------------


def test_a_call_in_a_thread_of_its_own_gives_and_raises_what_it_would_here():
    calls = SideCalls("test", most=2)

    assert "test" == calls.call(lambda: threading.current_thread().name, within_s=60)
    with pytest.raises(KeyError):
        calls.call(lambda: {}["x"], within_s=60)


def test_who_asks_waits_only_for_a_time_and_only_so_many_are_begun():
    calls, released, ended = SideCalls("test", most=2), threading.Event(), []

    def slow():
        released.wait(60)
        ended.append(1)

    try:
        for _ in range(2):
            with pytest.raises(TimeoutError) as caught:
                calls.call(slow, within_s=0.05)
            assert not isinstance(caught.value, TooManyCalls)
        with pytest.raises(TooManyCalls):
            calls.call(slow, within_s=0.05)
    finally:
        released.set()

    calls.wait()
    assert [1, 1] == ended
    assert 5 == calls.call(lambda: 5, within_s=60)
