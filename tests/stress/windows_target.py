"""Programs that pin, hand in, answer and are killed, for the tests beside this file; run as `python windows_target.py
WHAT PROJECT NAME NUMBER`."""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

import hexad
from hexad import Conflict, HexadError, QuotaExceeded
from hexad.database import files


def steps_of_a_submission(hx: hexad.Hexad) -> None:
    """Hand the bud in, export it, let the context go on, and accept it. May be done again from any point."""
    try:
        hx.xdb.submit_graft("Curiosity", "graft-1")
    except Conflict:
        return  # it was answered before
    hx.xdb.export_submission("graft-1")
    hx.xdb.request_compaction("monday")
    hx.xdb.resolve_submission("graft-1", True)


def die(project: Path, _name: str, count: int) -> None:
    """Do the steps, and be killed in front of the statement or the file operation of this number; 0 is never."""
    with hexad.open(project, embedder=None, background=False) as hx:
        seen = 0

        def reached(*_: object) -> None:
            nonlocal seen
            seen += 1
            if seen == count:
                os.kill(os.getpid(), signal.SIGKILL)

        # The tests may look inside: a statement is the finest step there is.
        hx._services.db.tracer = reached
        previous = files.set_hook(reached)
        steps_of_a_submission(hx)
        files.set_hook(previous)
        hx._services.db.tracer = None
        os.write(1, f"{seen}\n".encode())


def pin(project: Path, name: str, count: int) -> None:
    """Pin one timestep after another, as soon as told to, until the quota is used up; say how many that were."""
    with hexad.open(project, embedder=None, background=False) as hx:
        os.write(1, b"ready\n")
        sys.stdin.readline()
        done = 0
        for tick in range(1, count + 1):
            try:
                hx.xdb.pin_window((tick, tick), session_id=name)
            except QuotaExceeded:
                continue
            done += 1
        os.write(1, f"{done}\n".encode())


def churn(project: Path, name: str, seed: int) -> None:
    """Do whatever can be done to the windows of the shared session, at random and without end."""
    chance = random.Random(seed)
    with hexad.open(project, embedder=None, background=False) as hx:
        bud = hx.xdb.create_bud_tag(f"bud of {name}", "A bud.").id
        os.write(1, b"ready\n")
        for number in range(10**9):
            first = chance.randint(1, 190)
            ticks = (first, first + chance.randint(0, 10))
            what = chance.choice((*("pin", "unpin", "submit", "resolve") * 4, "seal", "compact"))
            try:
                if what == "pin":
                    hx.xdb.pin_window(ticks, session_id="monday")
                elif what == "unpin":
                    hx.xdb.unpin_window(chance.choice(hx.xdb.windows(pinned=True)).id)
                elif what == "submit":
                    hx.xdb.tag(bud, tick_range=ticks, session_id="monday")
                    hx.xdb.submit_graft(bud, f"{name}-{number}")
                elif what == "resolve":
                    submission = chance.choice(hx.xdb.submissions("open"))
                    hx.xdb.resolve_submission(submission.id, chance.random() < 0.5)
                elif what == "compact":
                    hx.xdb.request_compaction("monday")
                else:
                    hx.xdb.seal()
                    hx.maintain()
            except IndexError:  # there was none to choose
                pass
            except HexadError as error:
                os.write(1, f"{type(error).__name__}: {error}\n".encode())


def export(project: Path, name: str, count: int) -> None:
    """Write the package of the submission again and again, each time with more to say."""
    with hexad.open(project, embedder=None, background=False) as hx:
        for number in range(count):
            hx.xdb.comment(f"{name} {number}", tick_range=(9, 12), session_id="monday")
            hx.xdb.export_submission("graft-1")
        os.write(1, b"done\n")


if __name__ == "__main__":
    {"die": die, "pin": pin, "churn": churn, "export": export}[sys.argv[1]](
        Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    )
