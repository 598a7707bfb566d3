"""What each event of a session does, and what the assistant is told by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import hexad
from hexad.config import find_store
from hexad.interfaces.hooks.payload import HookPayload

Answer = str | None
_HERE: Final = "hexad.interfaces.hooks"


def _session_start(payload: HookPayload, store: Path) -> Answer:
    answer: Answer = import_module(f"{_HERE}.session").start(payload, store)
    return answer


def _capture(payload: HookPayload, store: Path) -> Answer:
    if payload.edited_files:
        import_module(f"{_HERE}.session").capture_edits(payload, store)
    return None


def _flush(payload: HookPayload, store: Path) -> Answer:
    if turns := payload.turns():
        import_module(f"{_HERE}.session").flush(payload, store, turns)
    return None


def _end(payload: HookPayload, store: Path) -> Answer:
    import_module(f"{_HERE}.session").flush(payload, store, payload.turns(), rest=True)
    import_module(f"{_HERE}.consolidate").begin(store)
    return None


def _prompt(payload: HookPayload, store: Path) -> Answer:
    answer: Answer = import_module(f"{_HERE}.prompt").recall(payload, store)
    return answer


EVENTS: Final[Mapping[str, Callable[[HookPayload, Path], Answer]]] = {
    "session-start": _session_start,
    "prompt": _prompt,
    "tool-use": _capture,
    "compaction": _flush,
    "turn-end": _flush,
    "session-end": _end,
}
"""Each loads what it needs when it is called."""


def answer_of(event: str, payload: HookPayload) -> Answer:
    """Return what an assistant is to be told of an event; None for nothing. Raises `NotFound` where no store is."""
    store = find_store(payload.folder)
    if store is None:
        raise hexad.NotFound(
            f"There is no store in {str(payload.folder)!r} or above it; `hexad init` makes one."
        )
    return EVENTS[event](payload, store)
