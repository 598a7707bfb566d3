"""Programs that are killed in the middle of a year: while they record, and while they do a night's upkeep.

Run as `python -m agent_year.crashes`, it is the program that will be killed.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

from agent_year.life import AgentYear
from agent_year.plan import Event, SessionPlan, Step, YearShape
from agent_year.topics import Interests, find_topics
from hexad.core.clock import FrozenClock
from hexad.lifecycle.opening import open as open_store

_LONGEST_S: Final = 60.0


class Crashes:
    """Kills programs that work in the store of a year, with `Popen.kill`, and notes what they had acknowledged."""

    def __init__(self, year: AgentYear, folder: Path) -> None:
        self._year, self._folder, self._clock = year, folder, year.clock
        self._chance = Random(f"{year.shape.seed}/crashes")

    def while_recording(self, day: date) -> list[str]:
        """Kill a program that records a session, after a random event; return what it had said was safe and is not."""
        wanted = self._chance.randrange(3, 20)
        acknowledged, moment = 0, self._clock.now()
        with _Program(self._year, self._folder, "record", day, moment) as lines:
            for line in lines:
                acknowledged, wanted = int(line), wanted - 1
                if not wanted:
                    break
        self._year.reopen()
        xdb = self._year.hx.xdb
        plan = _plan(self._year.interests, self._year.shape, day, moment)
        stored = sum(record.timesteps for record in xdb.recall(session_id=plan.id, limit=100_000))
        for tick, (event, step, at) in enumerate(_steps(plan), 1):
            if tick > stored:
                break
            self._year.note(event, step, plan.id, tick, at=at)
            moment = at
        self._year.move_to(moment)
        self._year.books.counts["kills while recording"] += 1
        if stored < acknowledged:
            return [f"{acknowledged} timesteps of {plan.id} were acknowledged; {stored} are there."]
        return []

    def while_sleeping(self, day: date) -> None:
        """Kill a program at any moment of a night's upkeep."""
        with _Program(self._year, self._folder, "sleep", day, self._clock.now()) as lines:
            next(lines, None)  # the store is open
            time.sleep(self._chance.random() * 0.4)
        self._year.reopen()
        self._year.books.counts["kills while sleeping"] += 1


class _Program:
    """A program of its own in the store of a year, which is closed meanwhile; killed at the end of the block."""

    def __init__(self, year: AgentYear, folder: Path, does: str, day: date, now: datetime) -> None:
        given = {
            "folder": str(folder.resolve()),
            "does": does,
            "day": day.isoformat(),
            "now": now.isoformat(),
            "shape": asdict(year.shape),
        }
        year.hx.close()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "agent_year.crashes", json.dumps(given)],
            cwd=Path(__file__).parents[1],  # where `agent_year` is found
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Iterator[str]:
        assert self._process.stdout is not None
        return iter(self._process.stdout)

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        ended = self._process.wait(_LONGEST_S)
        assert self._process.stdout is not None
        self._process.stdout.close()
        if ended not in (0, -signal.SIGKILL):
            raise RuntimeError(f"The program that was to be killed ended by itself with {ended}.")


def _plan(interests: Interests, shape: YearShape, day: date, begins: datetime) -> SessionPlan:
    return SessionPlan(
        id=f"{day}.crash",
        begins=begins,
        topics=(interests.main((day.month + 2) // 3)[0],),
        tokens=shape.tokens_a_day,
        shape=shape,
        interests=interests,
    )


def _steps(plan: SessionPlan) -> Iterator[tuple[Event, Step, datetime]]:
    at = plan.begins
    for event in plan.events():
        for step in event.steps:
            at += timedelta(seconds=step.after_s)
            yield event, step, at


# The program that is killed -------------------------------------------------------------------------------------


def _run(given: dict[str, Any], say: Callable[[str], object]) -> None:
    clock = FrozenClock(datetime.fromisoformat(given["now"]))
    shape, day = YearShape(**given["shape"]), date.fromisoformat(given["day"])
    with open_store(given["folder"], clock=clock, embedder=None, background=False) as hx:
        if given["does"] == "sleep":
            say("open")
            hx.maintain()
            hx.xdb.check_and_compress(max_storage_bytes=shape.max_storage_bytes)
            hx.xdb.seal()
            return
        plan = _plan(Interests(topics=find_topics(hx.xdb, seed=shape.seed)), shape, day, clock.now())
        hx.xdb.start_session(plan.id, shape.window_tokens)
        for done, (event, step, at) in enumerate(_steps(plan), 1):
            clock.advance(seconds=(at - clock.now()).total_seconds())
            hx.xdb.record(**step.fields())
            if step is event.steps[-1]:
                hx.xdb.flush()
                say(str(done))


if __name__ == "__main__":
    _run(json.loads(sys.argv[1]), lambda text: print(text, flush=True))
