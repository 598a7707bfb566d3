"""Programs that record and erase; run as `python stream_erasure_target.py WHAT PROJECT ARGUMENT`.

What a program has been acknowledged it writes to its standard output, one line a time, before it goes on.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import hexad

PACE_S = 0.002
"""What a disk takes to sync: in memory a program that is killed later would leave many times as much to look through."""


def opened(project: Path) -> hexad.Hexad:
    return hexad.open(project, embedder=None, background=False)


def record(project: Path, session: str) -> None:
    """Record in small groups until the end of standard input; after each flush give their ticks."""
    with opened(project) as hx:
        hx.xdb.start_session(session, compaction=False)
        os.set_blocking(0, False)
        at = 0
        while sys.stdin.buffer.raw.read(1) != b"":
            ids = [hx.xdb.record("output", f" later{at}", {"c": 0.5}, event_id=f"e{at}") for _ in range(5)]
            hx.xdb.flush()
            os.write(1, " ".join(text.rpartition("-")[2] for text in ids).encode() + b"\n")
            at += 1
            time.sleep(PACE_S)


def hold(project: Path, session: str) -> None:
    """Record some words, say so, and keep the log open until the end of standard input; then some more."""
    with opened(project) as hx:
        hx.xdb.start_session(session, compaction=False)
        for at in range(20):
            hx.xdb.record("output", f" canary{10_000 + at}", {"c": 0.5}, event_id=f"e{at // 5}")
        hx.xdb.flush()
        os.write(1, b"recorded\n")
        sys.stdin.readline()
        for at in range(20):
            hx.xdb.record("output", f" finch{at}", {"c": 0.5}, event_id=f"f{at // 5}")
        hx.xdb.flush()
        os.write(1, b"more\n")
        sys.stdin.read()


def forget(project: Path, session: str) -> None:
    """Erase all of a session."""
    with opened(project) as hx:
        os.write(1, b"open\n")
        hx.forget(session=session, purge=True, confirm=True)
        os.write(1, b"done\n")


if __name__ == "__main__":
    what, project, argument = sys.argv[1:]
    {"record": record, "hold": hold, "forget": forget}[what](Path(project), argument)
