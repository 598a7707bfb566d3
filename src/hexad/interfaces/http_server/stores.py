"""The open store behind a server: one handle for each role that asks, and the threads that answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hexad.client.pool import CallPool
from hexad.client.verbs import Verb
from hexad.core.actor import OWNER
from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.engine import Hexad
from hexad.memory.memory import Memory

Open = Callable[[str | None], Hexad]
"""Opens the store for a role."""
Key = bytes | str | Path | None
"""What opens an encrypted store, where its settings do not say."""
THREADS: Final = 16


class ServedStore:
    """Handles on one store by role; what a role may see the store decides, as for any actor."""

    def __init__(self, open_store: Open, *, key: Key = None, threads: int = THREADS) -> None:
        self._open, self.key = open_store, key
        self.is_ending: Callable[[], bool] = lambda: False
        self._handles: dict[str, Hexad] = {}
        self._lock = threading.Lock()
        self.pool = CallPool(threads, name="hexad-http")
        self.owner = self.of(OWNER)

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self.owner.path

    def of(self, role: str) -> Hexad:
        """Return the handle of a role; raises what opening does."""
        hx = self._handles.get(role)
        if hx is None:
            with self._lock:
                hx = self._handles.get(role)
                if hx is None:
                    hx = self._handles[role] = self._open(None if role == OWNER else role)
        return hx

    def close(self) -> None:
        """Wait for the calls that are being answered, then close every handle."""
        self.pool.close()
        for hx in self._handles.values():
            hx.close()


def _with_receipt(memory: Memory) -> dict[str, JSONValue]:
    return {**memory.to_dict(), "receipt": as_json(memory.receipt)}


def readable(verb: Verb, answer: Any) -> Any:
    """Return an answer as the command line's `--json` has it, where that is another than its own."""
    if verb.name == "recall":
        return answer.to_dict(full=False)
    if verb.facade == "" and verb.call.startswith("remember"):
        stored = [_with_receipt(memory) for memory in (answer if isinstance(answer, list) else [answer])]
        return stored if isinstance(answer, list) else stored[0]
    return answer
