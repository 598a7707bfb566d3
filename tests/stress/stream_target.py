"""Programs that record, seal and are killed, for the tests beside this file; run as `python stream_target.py WHAT …`.

What a program has been acknowledged it writes to its standard output, one line a time, before it goes on.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import hexad
from hexad.database import files

PACE_S = 0.002
"""What a disk takes to sync: in memory a program that is killed later would leave many times as much to look through."""


def record(project: Path, name: str, count: int) -> None:
    """Record in small groups; after each flush say up to which content everything is acknowledged."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.start_session("shared", compaction=False)
        at = 0
        while at < count:
            for _ in range(7):
                hx.xdb.record(
                    "output", f"{name} {at}", {f"c{at % 50}": 0.5, name: 0.25}, event_id=f"e{at // 10}"
                )
                at += 1
            hx.xdb.flush()
            os.write(1, f"{at}\n".encode())
            time.sleep(PACE_S)


def read(project: Path, _name: str, count: int) -> None:
    """Ask again and again; what is found must be without gaps and only ever grow."""
    with hexad.open(project, embedder=None, background=False) as hx:
        seen: dict[str, int] = {}
        for _ in range(count):
            found = [record.content.split() for record in hx.xdb.recall(limit=100_000)]
            for name in {name for name, _ in found}:
                numbers = sorted(int(at) for who, at in found if who == name)
                assert numbers == list(range(len(numbers))), (name, numbers)
                assert len(numbers) >= seen.get(name, 0), name
                seen[name] = len(numbers)
        os.write(1, b"done\n")


def seal(project: Path, _name: str, count: int) -> None:
    """Seal whatever is left, again and again."""
    with hexad.open(project, embedder=None, background=False) as hx:
        for _ in range(count):
            hx.xdb.seal()
        os.write(1, b"done\n")


def seal_and_die(project: Path, _name: str, count: int) -> None:
    """Seal, and be killed in front of the file operation of this number."""
    with hexad.open(project, embedder=None, background=False) as hx:
        seen = 0

        def hook(operation: str, path: Path) -> None:
            nonlocal seen
            if "stream" in path.parts:
                seen += 1
                if seen == count:
                    os.kill(os.getpid(), signal.SIGKILL)

        files.set_hook(hook)
        hx.xdb.seal()
        os.write(1, b"done\n")


if __name__ == "__main__":
    what, folder, who, number = sys.argv[1:]
    {"record": record, "read": read, "seal": seal, "seal_and_die": seal_and_die}[what](
        Path(folder), who, int(number)
    )
