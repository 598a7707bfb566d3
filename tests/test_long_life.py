"""What comes in goes out again, for a long time: what an operation costs then is what it cost at the beginning.

Costs are counted, as steps of SQLite's machine and calls of functions, and never timed.
"""

from __future__ import annotations

import cProfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import apsw

from hexad import Hexad
from opener import Opener

EARLY, LATE = 12, 140
"""Rounds before the two measurements. The ledger grows by 256 records between them, so that its last tile is as full."""


@dataclass(slots=True)
class Cost:
    """What something took."""

    steps: int = 0
    calls: int = 0


class Meter:
    """Counts what statements of all connections that are opened under it take, but for those inside of full text."""

    def __init__(self) -> None:
        self._steps: int | None = None

    def attach(self, connection: apsw.Connection) -> None:
        """Watch a connection."""
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._ended)

    def _ended(self, event: dict[str, Any]) -> None:
        # Full text keeps its statements prepared: what they took all their life would count each time.
        if self._steps is not None and "'main'." not in event["sql"]:
            self._steps += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    def cost_of(self, work: Callable[[], object]) -> Cost:
        """Do something, and return what it took."""
        profile = cProfile.Profile()
        self._steps = 0
        profile.runcall(work)
        steps, self._steps = self._steps, None
        return Cost(steps, sum(entry.callcount for entry in profile.getstats()))


@contextmanager
def metered() -> Iterator[Meter]:
    meter = Meter()
    apsw.connection_hooks.append(meter.attach)
    yield meter
    apsw.connection_hooks.remove(meter.attach)


def brings(hx: Hexad, number: int) -> None:
    """Bring in what `goes` takes out."""
    hx.remember(f"The gateway retries {number} times.", id=f"note-{number}", tags=[f"round-{number}"])
    hx.xdb.start_session(f"task-{number}", compaction=False)
    hx.xdb.record("output", f"Reply {number}.", {"pack::Care": 0.9}, event_id="reply")
    hx.xdb.end_session()
    hx.xdb.seal()


def goes(hx: Hexad, number: int) -> None:
    hx.forget(tag=f"round-{number}", purge=True, confirm=True)
    hx.forget(session=f"task-{number}", purge=True, confirm=True)


def test_operations_cost_the_same_after_a_long_life(opened: Opener) -> None:
    with metered() as meter:
        hx = opened(embedder=None)
        hx.remember("The gateway retries for good.", id="standing")
        hx.xdb.start_session("standing", compaction=False)
        hx.xdb.record("output", "It stands.", {"pack::Care": 0.9}, event_id="standing")
        hx.xdb.seal()
        work: dict[str, Callable[[int], object]] = {
            "forget": lambda number: goes(hx, number),
            "status": lambda _: hx.status(),
            "xdb.recall": lambda _: hx.xdb.recall(concepts={"pack::Care": (0.5, 1.0)}),
            "xdb.recall_events": lambda _: hx.xdb.recall_events("stands"),
        }
        costs: dict[str, list[Cost]] = {name: [] for name in work}
        for number in range(LATE + 1):
            brings(hx, number)
            if number in (EARLY, LATE):
                for name, each in work.items():
                    costs[name].append(meter.cost_of(partial(each, number)))
            else:
                goes(hx, number)

    assert {} == {
        name: both
        for name, both in costs.items()
        if both[1].steps > both[0].steps * 1.02 or both[1].calls > both[0].calls * 1.02
    }
