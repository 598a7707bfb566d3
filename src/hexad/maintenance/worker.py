"""The background thread of a long-lived process: vectors, and what recalls handed out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hexad.core.background_loop import BackgroundLoop
from hexad.core.tracing import log
from hexad.database.exit_hooks import ENDING_S, ExitPhase, ProgramEnding, forget, register
from hexad.errors import HexadError

IDLE_S: Final = 2.0
"""How long the worker sleeps when nothing is to be done; another process's tasks wait no longer than this."""
RETRY_S: Final = 10.0


class Worker:
    """Runs `step` whenever it is woken, and every few seconds. `step` returns whether there may be more."""

    def __init__(self, step: Callable[[Callable[[], bool]], bool]) -> None:
        self._step = step
        self._loop = BackgroundLoop("hexad-background", self._pause_after_step)
        self.wait_idle = self._loop.wait_idle

    def wake(self) -> None:
        """Start the thread if it does not run, and let it look for work now."""
        if not (self._loop.running or self._loop.stopping):
            register(ExitPhase.BACKGROUND, self, self._end)
        self._loop.wake()

    def stop(self, wait_s: float | None = None) -> None:
        """Finish the batch in hand and end the thread; it is waited for as long as that takes, or `wait_s`."""
        forget(ExitPhase.BACKGROUND, self)
        self._loop.stop(wait_s)

    def _end(self) -> None:
        """Stop when the program ends; a step that waits for a model for long is not waited for."""
        self.stop(ENDING_S)

    def _pause_after_step(self) -> float | None:
        try:
            return 0.0 if self._step(lambda: self._loop.stopping) else IDLE_S
        except ProgramEnding:
            return None  # what was in hand waits in the store for the next program
        except HexadError as error:
            # The tasks are still in the store; a failing embedder must not end the process that uses us.
            log.warning("Background work failed, trying again in %s s: %s", RETRY_S, error)
            return RETRY_S
