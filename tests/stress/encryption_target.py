"""A program that changes a store's encryption and is killed at one of its steps, for the tests beside this file; run as
`python encryption_target.py PROJECT`, it reads lines `WHAT NUMBER FOLDER` and answers each with how its child ended.

NUMBER is the file operation in front of which the child is killed, 0 never; its answer is then how many there are.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import hexad
import hexad.engine
import hexad.experience.stream_database
import hexad.lifecycle.init_and_encrypt
import hexad.lifecycle.opening
from hexad.database import files

OLD, NEW = bytes(range(32)), bytes(range(32, 64))


def change(what: str, project: Path) -> None:
    if what == "encrypt":
        hexad.encrypt(project, key=NEW)
    elif what == "decrypt":
        hexad.decrypt(project, key=OLD)
    elif what == "rekey":
        hexad.rekey(project, key=OLD, new_key=NEW)
    else:
        hexad.open(project, embedder=None, background=False, key=OLD if what == "old" else NEW).close()


def run(what: str, number: int, project: Path) -> None:
    seen = 0

    def reached(_operation: str, _path: Path) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

    files.set_hook(reached)
    change(what, project)
    (project / "steps").write_text(str(seen))


def main() -> None:
    for line in sys.stdin:
        what, number, folder = line.split(maxsplit=2)
        child = os.fork()
        if not child:
            try:
                run(what, int(number), Path(folder.strip()))
            except hexad.HexadError as error:
                print(error, file=sys.stderr)
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
