"""Running the command that prints a store's key: without a shell, and for no longer and no more than a key can be."""

from __future__ import annotations

import select
import subprocess
from collections.abc import Sequence
from typing import IO, Final

from hexad.core.clock import SystemClock
from hexad.errors import AccessDenied

_CLOCK: Final = SystemClock()


def output_of(command: Sequence[str], *, remedy: str, most_bytes: int, timeout_s: float) -> bytes:
    """Return what a command printed; one that prints more, or takes longer, is ended.

    Raises `AccessDenied`, which shows nothing of its output.
    """
    what = f"The command {command[0]!r} that gives the store's key"
    try:
        # Its errors are for a person, and go where ours go; nothing of its output is kept or shown.
        running = subprocess.Popen(list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0)
    except OSError as error:
        raise AccessDenied(f"{what} cannot be run: {error.strerror}. {remedy}") from error
    deadline = _CLOCK.monotonic() + timeout_s
    assert running.stdout is not None
    try:
        with running.stdout as pipe:
            printed = _read(pipe, most_bytes, deadline)
        if printed is not None and len(printed) > most_bytes:
            raise AccessDenied(f"{what} printed no key, but more than {most_bytes:,} bytes. {remedy}")
        code = None if printed is None else _ended(running, deadline)
    finally:
        if running.poll() is None:
            running.kill()
            running.wait()
    if printed is None or code is None:
        raise AccessDenied(f"{what} did not end in {timeout_s:.0f} s.")
    if code:
        raise AccessDenied(f"{what} ended with {code}. {remedy}")
    return printed


def _read(pipe: IO[bytes], most_bytes: int, deadline: float) -> bytes | None:
    """Return what comes out of a pipe to its end, or a little more than `most_bytes`; None where it does not end."""
    found = b""
    while len(found) <= most_bytes:
        left_s = deadline - _CLOCK.monotonic()
        if left_s <= 0 or not select.select([pipe], [], [], left_s)[0]:
            return None
        piece = pipe.read(most_bytes)
        if not piece:
            break
        found += piece
    return found


def _ended(running: subprocess.Popen[bytes], deadline: float) -> int | None:
    try:
        return running.wait(max(0.0, deadline - _CLOCK.monotonic()))
    except subprocess.TimeoutExpired:
        return None
