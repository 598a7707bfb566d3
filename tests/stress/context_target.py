"""Programs that record to a session with a small window, and are killed; run as `python context_target.py WHAT …`.

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

WINDOW = 400
PACE_S = 0.002
"""What a disk takes to sync: in memory a program that is killed later would leave many times as much to look through."""


def record(project: Path, name: str, count: int) -> None:
    """Record in replies of seven tokens; after each say up to which everything is acknowledged."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.start_session("shared", WINDOW)
        at = 0
        while at < count:
            for _ in range(7):
                hx.xdb.record("output", f" {name}.{at}", {f"c{at % 5}": 0.5}, event_id=f"{name}.{at // 7}")
                at += 1
            hx.xdb.flush()
            os.write(1, f"{at}\n".encode())
            time.sleep(PACE_S)


def compact(project: Path, _name: str, count: int) -> None:
    """Compact again and again, and seal in between."""
    with hexad.open(project, embedder=None, background=False) as hx:
        for at in range(count):
            hx.xdb.request_compaction("shared")
            if at % 3 == 0:
                hx.xdb.seal()
        os.write(1, b"done\n")


def compact_and_die(project: Path, _name: str, count: int) -> None:
    """Compact, and be killed in front of the file operation of this number."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.sessions()
        seen = 0

        def hook(_operation: str, _path: Path) -> None:
            nonlocal seen
            seen += 1
            if seen == count:
                os.kill(os.getpid(), signal.SIGKILL)

        files.set_hook(hook)
        hx.xdb.request_compaction("shared")
        os.write(1, b"done\n")


if __name__ == "__main__":
    what, folder, who, number = sys.argv[1:]
    {"record": record, "compact": compact, "compact_and_die": compact_and_die}[what](
        Path(folder), who, int(number)
    )
