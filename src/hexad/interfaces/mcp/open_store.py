"""The one store of a server: opened when a call first needs it, shared by all calls, closed at the end."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

import hexad
from hexad.core.actor import check_role
from hexad.interfaces.http_server.tokens import check_spaces

if TYPE_CHECKING:
    from hexad import Hexad

_log = logging.getLogger(__name__)
PURPOSE = "hexad mcp"


@dataclass(slots=True, kw_only=True)
class OpenStore:
    """Where a server's calls find the store. Safe to use from many threads.

    `path` and `role` are what `hexad.open` takes; `space` is where calls write and look that name none.
    """

    path: str | None = None
    role: str | None = None
    space: str | None = None
    _hx: Hexad | None = None
    _closed: bool = False
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Raise `InvalidInput` for a role or a space that cannot be: a server with one would fail at every call."""
        if self.role is not None:
            check_role(self.role)
        if self.space is not None:
            check_spaces([self.space])

    def get(self, *, create: bool = False) -> Hexad:
        """Return the store, opening it where it is not open yet.

        Raises `NotFound` when there is none and `create` is false, and whatever else `hexad.open` raises: the next
        call tries again.
        """
        with self._lock:
            if self._closed:
                raise _ended()
            if self._hx is None:
                self._hx = self._open(create=create)
            return self._hx

    def close(self) -> None:
        """Close the store, if it was opened; no call opens it again.

        One that was made here goes with it where nothing is stored: all calls that it was made for were refused.
        """
        with self._lock:
            self._closed = True
            if self._hx is not None:
                self._hx.__exit__(hexad.Conflict, _ended(), None)

    def _open(self, *, create: bool) -> Hexad:
        actor = None if self.role is None else {"role": self.role}
        try:
            return hexad.open(self.path, actor=actor, purpose=PURPOSE, create=create)
        except hexad.Conflict as error:
            # The store's vectors are from an embedder that only the program which made it has: words are left.
            hx = hexad.open(self.path, actor=actor, purpose=PURPOSE, create=create, embedder=None)
            _log.warning("Without an embedder: %s", error)
            return hx


def _ended() -> hexad.Conflict:
    return hexad.Conflict("The server is about to end; nothing was done.")
