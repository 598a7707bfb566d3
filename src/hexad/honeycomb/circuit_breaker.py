"""The circuit breaker: whether an agent goes in circles, or has been at it for too long (document 3, algorithm 6).

What counts is what a caller does: an `access`, and each walk for the node that it begins at. Nodes that a walk only
passes are not counted, so a memory that many walks meet is no loop. The breaker answers; it never blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from typing import Final

from hexad.core.clock import Clock
from hexad.database.codec import to_micros
from hexad.database.connection import Database
from hexad.honeycomb.tables.nodes import HoneycombNodes
from hexad.honeycomb.tables.visits import HoneycombVisits, NodeVisits
from hexad.honeycomb.values import HoneycombRules, Safety

RECENT_LEAST: Final = 32
"""Times of looks that are kept of each node, whatever the limit: another program, or a later rule, may want more."""


@dataclass(slots=True)
class _Unnamed:
    """What one open store keeps of a session in memory: of the one that has no name, for a loop is a matter of
    seconds; of named ones where nothing can be written.
    """  # fmt: skip

    started_at: int | None = None
    anew: bool = False  # begun here: what is stored of it counts no more
    accesses: dict[int, NodeVisits] = field(default_factory=dict)
    totals: dict[int, NodeVisits] = field(default_factory=dict)


class CircuitBreaker:
    """Counts accesses by session. Named sessions are in the store, and all its processes share them.

    Where the store is only read, they are what is stored and what this process looked at, which it alone knows.
    """

    def __init__(
        self, db: Database, nodes: HoneycombNodes, *, rules: Callable[[], HoneycombRules], clock: Clock
    ) -> None:
        self._db = db
        self._nodes = nodes
        self._accesses = HoneycombVisits(db)
        self._rules = rules
        self._clock = clock
        self._lock = Lock()
        self._unnamed: dict[str | None, _Unnamed] = {}  # where the store is read-only, named ones too

    def start(self, session: str | None) -> None:
        """Begin a session, anew if it is there."""
        now = to_micros(self._clock.now())
        if session is not None and not self._db.readonly:
            self._accesses.start(session, at=now)
            return
        with self._lock:
            unnamed = self._unnamed.setdefault(session, _Unnamed())
            unnamed.started_at, unnamed.anew = now, True
            unnamed.accesses.clear()

    def access(self, node_id: int, session: str | None = None) -> Safety:
        """Count a look at a node and return what `check` says then; a node that is not there is not counted."""
        now = to_micros(self._clock.now())
        keep = max(self._rules().loop_access_limit + 1, RECENT_LEAST)
        if session is not None and not self._db.readonly:
            with self._db.transaction():
                if not self._nodes.visible([node_id]):
                    return Safety.INVALID_NODE
                self._accesses.note(session, node_id, at=now, keep=keep)
            return self._judged(node_id, session)
        if not self._nodes.visible([node_id]):
            return Safety.INVALID_NODE
        with self._lock:
            unnamed = self._unnamed.setdefault(session, _Unnamed())
            if unnamed.started_at is None:
                unnamed.started_at = now
            for counts in (unnamed.accesses, unnamed.totals):
                visits = counts.get(node_id)
                counts[node_id] = (
                    NodeVisits(1, now, now, (now,)) if visits is None else visits.again(now, keep=keep)
                )
        return self._judged(node_id, session)

    def check(self, node_id: int, session: str | None = None) -> Safety:
        """Return whether a node was looked at too often in too short a time, or the session has gone on too long."""
        if not self._nodes.visible([node_id]):
            return Safety.INVALID_NODE
        return self._judged(node_id, session)

    def _judged(self, node_id: int, session: str | None) -> Safety:
        rules, now = self._rules(), to_micros(self._clock.now())
        access = self.of(node_id, session)
        if access is not None and _is_loop(access, rules, now=now):
            return Safety.LOOP_DETECTED
        started = self.started_at(session)
        if started is not None and now - started > _micros(rules.max_session_time):
            return Safety.SESSION_EXPIRED
        return Safety.OK

    def of(self, node_id: int, session: str | None) -> NodeVisits | None:
        """Return what is known of a node in a session."""
        if session is not None and not self._db.readonly:
            return self._accesses.of(session, node_id)
        with self._lock:
            unnamed = self._unnamed.get(session)
            own = unnamed.accesses.get(node_id) if unnamed is not None else None
        if session is None or (unnamed is not None and unnamed.anew):
            return own
        stored = self._accesses.of(session, node_id)
        return stored.with_those_of(own) if stored is not None and own is not None else stored or own

    def started_at(self, session: str | None) -> int | None:
        """Return when a session began, None before its first access."""
        if session is not None and not self._db.readonly:
            return self._accesses.started_at(session)
        with self._lock:
            unnamed = self._unnamed.get(session)
            own = unnamed.started_at if unnamed is not None else None
        if session is None or (unnamed is not None and unnamed.anew):
            return own
        stored = self._accesses.started_at(session)
        return own if stored is None else stored

    def total(self, node_id: int) -> NodeVisits | None:
        """Return the accesses to a node in all sessions, this process's latest included."""
        self.flush()
        return self._accesses.total(node_id)

    def flush(self) -> None:
        """Add what the session without a name looked at to the totals."""
        if self._db.readonly:
            return
        with self._lock:
            unnamed = self._unnamed.get(None)
            if unnamed is None or not unnamed.totals:
                return
            looks, unnamed.totals = unnamed.totals, {}
        self._accesses.add_totals(looks)


def _micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


def _is_loop(access: NodeVisits, rules: HoneycombRules, *, now: int) -> bool:
    # The latest looks that are one too many: an old, slow look must not hide a quick circle after it.
    burst = access.recent[-(rules.loop_access_limit + 1) :]
    if len(burst) <= rules.loop_access_limit:
        return False
    window = _micros(rules.loop_detection_window)
    # A clock that is set back makes looks of minutes ago seem later than the last; only the distances count.
    return max(burst) - min(burst) < window and abs(now - access.last_at) < window
