"""Programs that record, let ticks leave the stream, seal and tidy; run as `python removal_target.py WHAT PROJECT COUNT`.

What a program has been acknowledged it writes to its standard output, one line a time, before it goes on.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import hexad
from hexad.database import files
from hexad.experience.stream import sealing
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.sessions import Sessions

PACE_S = 0.002
"""What a disk takes to sync: in memory a program that is killed later would leave many times as much to look through."""
sealing.SMALL_SEGMENTS = 3  # so that there is much to do


def opened(project: Path) -> hexad.Hexad:
    return hexad.open(project, embedder=None, background=False)


def record(project: Path, count: int) -> None:
    """Record in small groups; after each flush give their ticks."""
    with opened(project) as hx:
        hx.xdb.start_session("shared", compaction=False)
        for at in range(count):
            ids = [hx.xdb.record("output", f"word {at} {n}", {f"c{n}": n / 10}) for n in range(5)]
            hx.xdb.flush()
            os.write(1, " ".join(text.rpartition("-")[2] for text in ids).encode() + b"\n")
            time.sleep(PACE_S)


def leave(project: Path, count: int) -> None:
    """Let runs of ticks that are there leave the stream; give those of which that is certain."""
    chance = random.Random(os.getpid())
    with opened(project) as hx:
        db = hx._services.db
        number = Sessions(db).number("shared")
        assert number is not None
        for _ in range(count):
            there = [record.tick for record in hx.xdb.recall(session_id="shared", limit=100_000)]
            if not there:
                continue
            start = chance.randrange(len(there))
            some = there[start : start + chance.randint(1, 200)]
            with db.transaction():
                ColdRanges(db).add(number, [(tick, tick) for tick in some])
            os.write(1, " ".join(map(str, some)).encode() + b"\n")


def seal(project: Path, count: int) -> None:
    """Seal and tidy, again and again."""
    with opened(project) as hx:
        for _ in range(count):
            hx.xdb.seal()
            hx._services.experience().experience.tidy()
        os.write(1, b"done\n")


def read(project: Path, count: int) -> None:
    """Ask again and again, in every way that reads segments: what is there stays there, and nothing fails."""
    with opened(project) as hx:
        seen = 0
        for _ in range(count):
            found = hx.xdb.recall(session_id="shared", limit=100_000)
            assert len({record.id for record in found}) == len(found)
            assert len(found) >= seen, (len(found), seen)
            seen = len(found)
            events = hx.xdb.recall_events("word", session_id="shared", limit=100_000)
            assert sum(event.timesteps for event in events) >= seen
            assert (
                len(hx.xdb.recall_by_concept("c4", session_id="shared", min_activation=0.0, limit=100_000))
                >= seen // 5
            )
            assert hx.xdb.get_state()["timestep_count"] >= seen
        os.write(1, b"done\n")


def tidy_and_die(project: Path, count: int) -> None:
    """Tidy, and be killed in front of the file operation of this number."""
    with opened(project) as hx:
        tidy = hx._services.experience().experience.tidy
        seen = 0

        def hook(_operation: str, path: Path) -> None:
            nonlocal seen
            if "stream" in path.parts:
                seen += 1
                if seen == count:
                    os.kill(os.getpid(), signal.SIGKILL)

        files.set_hook(hook)
        report = tidy()
        files.set_hook(None)
        os.write(1, f"{report.rewritten}\n".encode())


if __name__ == "__main__":
    what, folder, number = sys.argv[1:]
    {"record": record, "leave": leave, "seal": seal, "read": read, "tidy_and_die": tidy_and_die}[what](
        Path(folder), int(number)
    )
