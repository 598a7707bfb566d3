"""What is left to do when a session has ended: consolidation, in a process of its own that outlives the hook.

A hook has 150 ms. The process that it begins has one minute, is nice to others, and ends at once where another one
consolidates: none is ever left over.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import hexad
from hexad.config import load_settings

LIMIT_S: Final = 60
"""So long the process may take; what it had changed by then stays, and the next one goes on."""
_NICENESS: Final = 10


def begin(store: Path) -> None:
    """Consolidate sessions in a process that nobody waits for, unless the store's settings leave that to its owner."""
    if not load_settings(store).consolidation.sessions:
        return
    subprocess.Popen(
        # -P: nothing in the folder of the assistant is taken for a module.
        [sys.executable, "-P", "-m", __spec__.name, str(store)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def consolidate(store: Path) -> None:
    """Let what ended tasks left become memories of the project; does nothing where another program is at it."""
    signal.alarm(LIMIT_S)  # whatever it is doing then: the store is whole after any end
    os.nice(_NICENESS)
    with (
        suppress(hexad.HexadError),
        hexad.open(store, embedder=None, background=False, create=False) as hx,
    ):
        hx.consolidate("session")


if __name__ == "__main__":
    consolidate(Path(sys.argv[1]))
