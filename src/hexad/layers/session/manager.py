"""The working sets that this process has in hand: in memory first, written in groups, and at every boundary.

The working set of a `LiveSession` changes at a boundary: another ticket, another branch. What waits to be written are
changes, not states, so that a snapshot that meets another process's is made on top of it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from hexad.core.background_loop import BackgroundLoop
from hexad.core.tracing import log
from hexad.database.exit_hooks import ExitPhase, forget, register
from hexad.database.store_context import StoreContext
from hexad.errors import HexadError, InvalidInput, NotFound
from hexad.ingest.sources.checkout import Checkout, Workplace, checkout
from hexad.layers.session import changes
from hexad.layers.session.changes import Change
from hexad.layers.session.table import TaskEnding, WorkingSets
from hexad.layers.session.working_set import Boundary, TaskEnd, WorkingSet


@dataclass(slots=True, eq=False)
class LiveSession:
    """One line of work; `state` is its working set with what waits in `pending`. `checkout` None: it
    has come to its end.
    """  # fmt: skip

    state: WorkingSet
    checkout: Checkout | None
    folder: Path
    stamp: tuple[int, ...] = ()
    pending: list[Change] = field(default_factory=list)
    saved_s: float = -1.0
    resting: bool = False
    guest: bool = False
    """Whether another process has it in hand too: it stays with that one."""

    def apply(self, change: Change) -> None:
        """Make a change, and have it written."""
        self.state = change(self.state)
        self.pending.append(change)


def left_behind(boundary: Boundary, following: WorkingSet, sets: WorkingSets) -> WorkingSet | None:
    """Return what was left at a boundary of this kind and is now come back to."""
    ticket = following.ticket if boundary is Boundary.TICKET else None
    if boundary is Boundary.TICKET and ticket is None:
        return None
    working_sets = [
        *sets.latest(following.place, ticket=ticket, left_by=boundary),
        *sets.latest(following.place, ticket=ticket),
    ]
    free = [
        working_set for working_set in working_sets if not working_set.active and not working_set.is_empty
    ]
    return max(free, key=lambda working_set: working_set.updated_at, default=None)


def relocated(working_set: WorkingSet, place: Workplace) -> WorkingSet:
    """Return a working set as one of another place."""
    return replace(working_set, place=place)


def require_live(live: LiveSession) -> None:
    """Raise `NotFound` for a line that has come to its end."""
    if live.checkout is None:
        raise NotFound(
            f"Session {live.state.id!r} has ended;", remedy="`{hx.session.resume}` goes on with it."
        )


SNAPSHOT_S: Final = 1.0
"""What is changed is on the disk after so long at the latest, where a background thread may write it."""
PENDING_LIMIT: Final = 200
INACTIVE_AFTER: Final = timedelta(minutes=30)
"""Who changes nothing for so long has gone: others are then offered to go on with the session."""


class SessionManager:
    """All lines of work of one open store; safe to share between threads."""

    def __init__(self, context: StoreContext, mask: Callable[[str], str]) -> None:
        """`mask` takes secrets out of a text."""
        self.context, self.mask = context, mask
        self.sets = WorkingSets(context.db, alive=context.alive)
        self.inactive_after = INACTIVE_AFTER
        self.current: LiveSession | None = None
        self.listeners: list[Callable[[TaskEnd], None]] = []
        self._sessions: list[LiveSession] = []
        self._lock = threading.RLock()
        self._saving = threading.RLock()
        self._pid = os.getpid()
        self._loop = BackgroundLoop("hexad-session", self._pause_after_step, delay_s=SNAPSHOT_S)
        self._registered = False

    # Where work is done -----------------------------------------------------------------------------------------

    def checkout(self, folder: Path | None) -> Checkout:
        """Return where a folder is, by names that hold no secret; None is the store's own folder."""
        found_checkout, mask = (
            checkout(self.context.directory.parent if folder is None else folder),
            self.mask,
        )
        place = found_checkout.place
        return Checkout(
            Workplace(
                repository=mask(place.repository),
                worktree=mask(place.worktree),
                branch=None if place.branch is None else mask(place.branch),
            ),
            found_checkout.head,
            found_checkout.folder,
        )

    def offered(self, place: Workplace, *, shared: bool = False) -> WorkingSet | None:
        """Return the working set that one would go on with here, an empty one where there is no other; None for none.

        With `shared` it may be one that a living process has in hand.
        """
        working_sets = [
            working_set for working_set in self.sets.latest(place) if shared or not working_set.active
        ]
        return next(
            (working_set for working_set in working_sets if not working_set.is_empty),
            working_sets[0] if working_sets else None,
        )

    def now(self) -> WorkingSet | None:
        """Return what is being worked on: the current line's, else what anybody does or left here; None for nothing.

        A look alone: a checkout of another branch is seen, and ends nothing.
        """
        live, where = self.current, None
        if live is not None and live.checkout is not None:
            where = live.checkout if live.checkout.stamp() == live.stamp else self.checkout(live.folder)
            if where.place.branch == live.checkout.place.branch:
                try:
                    with self._saving:
                        return self._refresh(live)
                except NotFound:
                    pass  # it was erased
        return self.offered((where or self.checkout(None)).place, shared=True)

    # Lines ------------------------------------------------------------------------------------------------------

    def session_of(self, session_id: str) -> LiveSession | None:
        """Return the line that works on this session here, None where none does."""
        with self._lock:
            return next((live for live in self._sessions if live.state.id == session_id), None)

    def begin(self, working_set: WorkingSet, where: Checkout) -> LiveSession:
        """Store a new working set durably and work on it."""
        self.require_own_process()
        return self._register(self.sets.add(working_set, owner=self.context.owner), where)

    def resume(self, working_set: WorkingSet, where: Checkout) -> LiveSession:
        """Go on with a working set, here; it is on the disk when this returns."""
        self.require_own_process()
        session = self.session_of(working_set.id)
        if session is not None and working_set.ended_at is None:
            self.current = session
            return session
        if session is not None:  # another process ended it
            self._save_all_of(session)
            working_set = self.sets.get(working_set.id)
        back = changes.at(
            self.context.clock.now(), lambda there: relocated(changes.resume(there), where.place)
        )
        saved = self.sets.save(back(working_set), [back], owner=self.context.owner, guest=working_set.active)
        return self._register(saved, where, guest=working_set.active)

    def _register(self, working_set: WorkingSet, where: Checkout, *, guest: bool = False) -> LiveSession:
        live = LiveSession(
            working_set,
            where,
            where.folder,
            where.stamp(),
            saved_s=self.context.clock.monotonic(),
            guest=guest,
        )
        with self._lock:
            self._sessions.append(live)
            self.current = live
        if not self._registered:
            self._registered = True
            register(ExitPhase.RECORDS, self, self._finish)
        return live

    def move(self, live: LiveSession, where: Checkout) -> None:
        """Go on with a line in another place; it is on the disk when this returns."""
        with self._saving:
            if live.checkout is None or live.checkout.place == where.place:
                return
            with self._lock:
                live.checkout, live.folder, live.stamp = where, where.folder, where.stamp()
                live.apply(lambda working_set: relocated(working_set, where.place))
            self._save(live, owner=self.context.owner)

    def new(self, place: Workplace, session_id: str | None = None) -> WorkingSet:
        """Return an empty working set for a place; it is not stored yet."""
        now = self.context.clock.now()
        return WorkingSet(
            id=session_id or self.context.ids.new("session"), place=place, started_at=now, updated_at=now
        )

    # Changing ---------------------------------------------------------------------------------------------------

    def change(
        self, live: LiveSession, change: Change, *, check: Callable[[WorkingSet], object] | None = None
    ) -> WorkingSet:
        """Make a change in memory and have it written soon; a checkout of another branch is noticed before it.

        `check` raises where it may not be made. Raises `NotFound` for a line that has come to its end.
        """
        self.require_own_process()
        self.context.db.require_writable()
        self.check_branch(live)
        with self._lock:
            require_live(live)
            if check is not None:
                check(live.state)
            now = self.context.clock.now()
            if live.resting:
                live.resting = False
                live.apply(changes.wake)
            live.apply(changes.at(now, change))
            waiting = len(live.pending)
        if self.context.background:
            self._loop.wake()
        elif waiting >= PENDING_LIMIT or self.context.clock.monotonic() - live.saved_s >= SNAPSHOT_S:
            self.snapshot(live)
        return live.state

    def snapshot(self, live: LiveSession) -> WorkingSet:
        """Write what waits, durably, and return the working set as it stands then, with what others wrote."""
        self.require_own_process()
        return self._save(live, owner=self.context.owner)

    def _save(self, live: LiveSession, *, owner: str | None, ends: TaskEnding | None = None) -> WorkingSet:
        with self._saving:
            with self._lock:
                waiting, live.pending = live.pending, []
                state = live.state
            if not waiting and ends is None:
                return self._refresh(live)
            try:
                guest = live.guest and state.ended_at is None
                saved = self.sets.save(state, waiting, owner=owner, guest=guest, ends=ends)
            except NotFound:
                self._drop(live)
                raise
            except BaseException:
                with self._lock:
                    live.pending[:0] = waiting
                raise
            with self._lock:
                for change in live.pending:
                    saved = change(saved)
                live.state, live.saved_s = saved, self.context.clock.monotonic()
            if saved.ended_at is not None and ends is None:
                self._drop(live)
            return saved

    def refresh(self, live: LiveSession) -> WorkingSet:
        """Return the working set with what other processes wrote to it since; raises `NotFound` when it was erased."""
        self.check_branch(live)
        with self._saving:
            return self._refresh(live)

    def _refresh(self, live: LiveSession) -> WorkingSet:
        if live.checkout is None or self.sets.rev(live.state.id) == live.state.rev:
            return live.state
        try:
            there = self.sets.get(live.state.id)
        except NotFound:
            self._drop(live)
            raise
        with self._lock:
            for change in live.pending:
                there = change(there)
            live.state = there
        return self._save_all_of(live) if there.ended_at is not None else there

    def _save_all_of(self, live: LiveSession) -> WorkingSet:
        """Write what waits for a working set that another process ended, and let go of it."""
        with self._saving:
            there = self._save(live, owner=None) if live.pending else live.state
            self._drop(live)
            return there

    def _drop(self, live: LiveSession) -> None:
        with self._lock:
            live.checkout, live.pending = None, []
            if live in self._sessions:
                self._sessions.remove(live)
            if self.current is live:
                self.current = None

    # Boundaries -------------------------------------------------------------------------------------------------

    def check_branch(self, live: LiveSession) -> None:
        """Where another branch was checked out: end the task, and go on with what was left on that branch."""
        if live.checkout is None or live.checkout.stamp() == live.stamp:
            return
        with self._saving:
            if live.checkout is None or (stamp := live.checkout.stamp()) == live.stamp:
                return
            where = self.checkout(live.folder)
            live.stamp, before, live.checkout = stamp, live.checkout, where
            if where.place.branch != before.place.branch:
                self._turn_over(live, Boundary.BRANCH, self.new(where.place))

    def change_ticket(self, live: LiveSession, ticket: str | None, *, back: bool = True) -> WorkingSet:
        """Work on another ticket: it ends the task, if there was a ticket. `back` goes on with what was left of it."""
        self.check_branch(live)
        with self._lock:
            require_live(live)
            before, empty = live.state.ticket, live.state.is_empty
        if before == ticket or (before is None and not (back and empty)):
            return self.change(live, changes.set_ticket(ticket))
        following = replace(self.new(live.state.place), ticket=ticket, open_files=live.state.open_files)
        return self._turn_over(live, Boundary.TICKET, following)

    def _turn_over(self, live: LiveSession, boundary: Boundary, following: WorkingSet) -> WorkingSet:
        """End a line's working set and let it go on with another: one that was left so before, else the new one."""
        with self._saving:
            left, nothing, now = (
                left_behind(boundary, following, self.sets),
                live.state.is_empty,
                self.context.clock.now(),
            )
            if nothing and left is None:
                with self._lock:
                    live.apply(
                        lambda working_set: replace(
                            relocated(working_set, following.place), ticket=following.ticket
                        )
                    )
                return self._save(live, owner=self.context.owner)
            with self._lock:
                ends = changes.rest(boundary) if nothing else changes.at(now, changes.end(boundary, at=now))
                live.apply(ends)
            ending = TaskEnding(next=following if left is None else None, owner=self.context.owner)
            ended = self._save(live, owner=None, ends=ending)
            if left is None:
                after = replace(following, rev=1, active=True)
            else:
                back = changes.at(now, changes.resume)
                after = self.sets.save(back(left), [back], owner=self.context.owner)
            with self._lock:
                live.state, live.pending, live.guest = after, [], False
        if not nothing:
            self._announce(TaskEnd(ended=ended, boundary=boundary, next=after))
        return after

    def end(self, live: LiveSession, boundary: Boundary, *, outcome: str | None = None) -> WorkingSet:
        """End a line; it is on the disk, and announced, when this returns."""
        with self._saving:
            with self._lock:
                require_live(live)
                now = self.context.clock.now()
                live.apply(changes.at(now, changes.end(boundary, at=now, outcome=outcome)))
            ended = self._save(live, owner=None)
        self._announce(TaskEnd(ended=ended, boundary=boundary))
        return ended

    def end_stored(self, working_set: WorkingSet, boundary: Boundary) -> WorkingSet:
        """End a working set that nobody has in hand."""
        now = self.context.clock.now()
        change = changes.at(now, changes.end(boundary, at=now))
        ended = self.sets.save(change(working_set), [change], owner=None)
        self._announce(TaskEnd(ended=ended, boundary=boundary))
        return ended

    def _announce(self, end: TaskEnd) -> None:
        for listener in tuple(self.listeners):
            listener(end)

    # Writing by itself ------------------------------------------------------------------------------------------

    def flush_idle(self) -> int:
        """Write what waits, and let those rest on which nobody has worked for long; return how many were let rest."""
        now, rested = self.context.clock.now(), 0
        with self._lock:
            live_sessions = tuple(self._sessions)
        for live in live_sessions:
            with suppress(NotFound):
                self.snapshot(live)
                if not live.resting and now - live.state.updated_at >= self.inactive_after:
                    self._rest(live, Boundary.INACTIVITY)
                    rested += 1
        return rested

    def write_all(self) -> None:
        """Write what waits of every line."""
        with self._lock:
            live_sessions = [live for live in self._sessions if live.pending]
        for live in live_sessions:
            with suppress(NotFound):  # it was erased
                self.snapshot(live)

    def _rest(self, live: LiveSession, boundary: Boundary) -> None:
        with self._saving:
            with self._lock:
                live.resting = True
                if not live.guest:
                    live.apply(changes.rest(boundary))
            self._save(live, owner=None)

    def set_inactive_after(self, duration: timedelta) -> None:
        """Say after how long without a change a session rests."""
        self.inactive_after = duration
        if self._loop.running:
            self._loop.wake()  # it may be waiting for longer

    def _pause_after_step(self) -> float:
        try:
            self.flush_idle()
        except HexadError as error:
            # What waits is kept: the next change, `snapshot` or `close` writes it, and the latter two say why not.
            log.warning("a working set could not be written: %s", error)
        return self.inactive_after.total_seconds()

    def _finish(self) -> None:
        """Write what waits when the program ends without closing the store."""
        if os.getpid() == self._pid:
            self._release_all()

    def _release_all(self) -> None:
        with self._lock:
            live_sessions = tuple(self._sessions)
        for live in live_sessions:
            try:
                self._rest(live, Boundary.EXIT)
            except NotFound:
                continue  # it was erased: nothing is left to write
            finally:
                self._drop(live)

    def close(self) -> None:
        """Write what waits and let go of every line. Idempotent."""
        if os.getpid() != self._pid:
            return
        forget(ExitPhase.RECORDS, self)
        self._loop.stop()
        self._release_all()

    def require_own_process(self) -> None:
        """Raise `InvalidInput` in a forked child: its parent has the same sessions in hand."""
        if os.getpid() != self._pid:
            raise InvalidInput(
                "The store was opened before a fork and its sessions are there; open it again."
            )
