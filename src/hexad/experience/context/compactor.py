"""Compaction: the older half of a context window becomes a summary in front of the rest.

read the window ─ cut ─ summarise (slow, no lock) ─ one transaction: look again ─ replies ─ window ─ record

Where something else changed the window in between, nothing is written and it is read again: no range is compacted
twice. What a window of time protects leaves the context and stays in the stream.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hexad.core.clock import Clock
from hexad.core.ids import IdSource
from hexad.core.tracing import log, span
from hexad.database.connection import Database
from hexad.errors import Conflict, HexadError, InvalidInput
from hexad.experience.context.compaction_draft import Drafted, Drafter, Plan
from hexad.experience.context.window_accounts import Accounts, Fill, WindowCounter
from hexad.experience.query.reader import StreamReader
from hexad.experience.query.window_steps import live_totals
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.compactions import Compactions, NewContext, WindowState
from hexad.experience.tables.windows import Windows
from hexad.experience.tiers.replies import Replies, ReplyMaker
from hexad.experience.values.tiers import CompactionRecord, CompactionTrigger

_ATTEMPTS: Final = 10
IDLE_EVERY_S: Final = 3_600.0
_RETRY_TOKENS: Final = 1_024
"""After a failure, and while another thread is at it, so much is recorded before the window is looked at again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactorNeeds:
    """What compaction is handed. `wake` lets the background look for work, None where there is none.

    `remember` is told of new compactions outside of every transaction.
    """

    db: Database
    clock: Clock
    ids: IdSource
    reader: StreamReader
    accounts: Accounts
    drafter: Drafter
    replies: ReplyMaker
    skip: Callable[[int, int], None]
    remember: Callable[[], object]
    wake: Callable[[], None] | None
    compact_after: timedelta


class Compactor:
    """Compacts the context windows of one store. Several threads and programs may do so at once."""

    def __init__(self, needs: CompactorNeeds) -> None:
        self._needs = needs
        self._db, self._reader, self._accounts = needs.db, needs.reader, needs.accounts
        self._compactions, self._windows = Compactions(needs.db), Windows(needs.db)
        self._gone, self._drafter = ColdRanges(needs.db), needs.drafter
        self._due: set[int] = set()
        self._working: dict[int, int] = {}  # session to the thread that compacts it
        self._turn = threading.Condition()
        self._closed = False
        self._idle_s = -math.inf
        self._accounts.full, self._accounts.finish = self._notice, self.close

    # By itself --------------------------------------------------------------------------------------------------

    def _notice(self, counter: WindowCounter) -> None:
        if self._needs.wake is None:
            self._compact_when_full(counter, stop=lambda: False)
        else:
            self._due.add(counter.number)
            self._needs.wake()

    def work(self, *, stop: Callable[[], bool]) -> int:
        """Compact the windows that were found full, and at first and each hour those that others left full and those of
        idle sessions; returns how many compactions that took.
        """  # fmt: skip
        done = self._compact_due(stop)
        now_s = self._needs.clock.monotonic()
        if now_s >= self._idle_s and not stop():
            self._idle_s = now_s + IDLE_EVERY_S
            done += self.relieve(stop=stop) + self.expire_idle(stop=stop)
        return done

    def _compact_due(self, stop: Callable[[], bool]) -> int:
        done = 0
        while self._due and not stop():
            counter = self._accounts.counters.get(self._due.pop())
            if counter is not None:
                done += self._compact_when_full(counter, stop=stop)
                if stop():
                    self._due.add(counter.number)  # it may have come to nothing
        return done

    def _compact_when_full(self, counter: WindowCounter, *, stop: Callable[[], bool]) -> int:
        """Compact while a window is full. The records are stored whatever happens here, so nothing is raised."""
        done = 0
        try:
            with self._alone(counter.number, wait=False) as alone:
                if alone and self._accounts.look(counter):
                    counter.seen = None  # what is about to be compacted is counted exactly
                    while self._accounts.look(counter) and not (stop() or self._closed):
                        if self._round(counter.number, CompactionTrigger.CONTEXT_FULL) is None:
                            break
                        done += 1
                if done:
                    self._needs.remember()
        except HexadError as error:
            log.warning("A context window could not be compacted, trying again later: %s", error)
        finally:
            if counter.look_at == math.inf:
                counter.look_at = counter.added + _RETRY_TOKENS
        return done

    def close(self) -> None:
        """Compact what was found full and begin nothing more; wait for what other threads compact to come to its end.

        The background may have been stopped before it came to it, and whoever opens the store next finds a window that
        is as full as it should be.
        """
        if not self._closed:
            self._compact_due(lambda: False)
        me = threading.get_ident()
        with self._turn:
            self._closed = True
            self._turn.wait_for(lambda: all(thread == me for thread in self._working.values()))

    # On request -------------------------------------------------------------------------------------------------

    def request(self, session_id: str) -> CompactionRecord | None:
        """Compact the older half of a window now; None when nothing in it can be replaced by less.

        Raises `NotFound` for a session that was never started.
        """
        number = self._compactions.state_of(session_id).number
        with self._alone(number, wait=True):
            record = self._round(number, CompactionTrigger.MANUAL)
            if record is not None:
                self._needs.remember()
        return record

    def expire(
        self, session_id: str, trigger: CompactionTrigger, *, stop: Callable[[], bool] = lambda: False
    ) -> list[CompactionRecord]:
        """Compact all of a session's window, and what came late to what was compacted before.

        Nothing happens to a session that is not to compact by itself, and under STORAGE_PRESSURE to one that has not
        ended. Raises `NotFound` for a session that was never started.
        """
        state = self._compactions.state_of(session_id)
        made: list[CompactionRecord] = []
        if not _may_expire(state, trigger):
            return made
        with self._alone(state.number, wait=True):
            while not (stop() or self._closed):
                record = self._round(state.number, trigger, whole=True)
                if record is None:
                    through = self._compactions.state(state.number).compacted_through
                    if through:
                        self._needs.replies.release(session_id, [(1, through)])
                    break
                made.append(record)
            if made:
                self._needs.remember()
        return made

    def expire_idle(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Compact the windows of sessions in which nothing was recorded for long; returns how many compactions."""
        before = self._needs.clock.now() - self._needs.compact_after
        done = 0
        for number in self._compactions.idle(before):
            if stop():
                break
            state = self._compactions.state(number)
            totals = live_totals(self._reader, state.session_id, after=state.compacted_through)
            if totals is None or totals.end_time < before:
                done += len(self.expire(state.session_id, CompactionTrigger.SCHEDULED, stop=stop))
        return done

    def relieve(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Compact the windows that are full because their programs ended before they came to it; returns how many
        compactions.
        """  # fmt: skip
        done = 0
        try:
            fills = self._accounts.measure_all(self._compactions.begun())
            for number in [fill.state.number for fill in fills if fill.full]:
                with self._alone(number, wait=True):
                    while not (stop() or self._closed) and self._accounts.measure(number).full:
                        if self._round(number, CompactionTrigger.CONTEXT_FULL) is None:
                            break
                        done += 1
        except HexadError as error:  # a log that is damaged must not keep the rest of upkeep from its turn
            log.warning("Full context windows could not be looked for, trying again later: %s", error)
        if done:
            self._needs.remember()
        return done

    def measure(self, session_id: str) -> Fill:
        """Return how full a session's window is; raises `NotFound`."""
        return self._accounts.measure(self._compactions.state_of(session_id).number)

    def measure_all(self, session_ids: Sequence[str]) -> list[Fill]:
        """Return how full the windows of several sessions are, counted in one question; raises `NotFound`."""
        return self._accounts.measure_all(session_ids)

    # One compaction ---------------------------------------------------------------------------------------------

    def _round(
        self, number: int, trigger: CompactionTrigger, *, whole: bool = False
    ) -> CompactionRecord | None:
        with span("compact", trigger=trigger.value):
            for attempt in range(_ATTEMPTS):
                full = trigger is CompactionTrigger.CONTEXT_FULL
                if attempt and full and not self._accounts.measure(number).full:
                    return None  # somebody else was faster
                plan = self._drafter.plan(number, whole=whole)
                # What cannot become less than it is stays, unless all of the window is to go.
                if plan is None or (plan.tokens < 2 and not whole):
                    return None
                drafted = self._drafter.draft(plan)
                if drafted is None:
                    continue
                record = self._record(plan, drafted, trigger)
                if self._stored(plan, drafted, record):
                    self._needs.skip(number, plan.last)
                    return record
        session_id = self._compactions.state(number).session_id
        raise Conflict(
            f"The window of session {session_id!r} changes faster than it can be compacted; try again."
        )

    def _record(self, plan: Plan, drafted: Drafted, trigger: CompactionTrigger) -> CompactionRecord:
        return CompactionRecord(
            id=self._needs.ids.new("compaction"),
            session_id=plan.state.session_id,
            timestamp=self._needs.clock.now(),
            range_start=drafted.start,
            range_end=plan.last,
            timesteps_compacted=drafted.timesteps,
            tokens_before=drafted.tokens,
            tokens_after=drafted.summary.tokens,
            summary=drafted.summary.text,
            summary_concept_tags=tuple(drafted.activations),
            top_k_activations=drafted.activations,
            trigger=trigger,
            generated_by=drafted.summary.generated_by,
        )

    def _stored(self, plan: Plan, drafted: Drafted, record: CompactionRecord) -> bool:
        """Write a compaction, all of it or nothing; False when the window is not what it was any more."""
        number, hull = plan.state.number, (plan.first, plan.last)
        for _ in range(_ATTEMPTS):
            kept = self._windows.protected(number, hull)
            replies = self._needs.replies.prepare(plan.state.session_id, [hull])
            with self._db.transaction():
                if not self._unchanged(plan, record.trigger):
                    return False
                if self._windows.protected(number, hull) == kept and self._written(
                    replies, number, record, drafted
                ):
                    return True
        return False

    def _unchanged(self, plan: Plan, trigger: CompactionTrigger) -> bool:
        state = self._compactions.state(plan.state.number)
        return (
            (state.compacted_through, state.summary) == (plan.state.compacted_through, plan.state.summary)
            and self._gone.ranges(state.number, (plan.first, plan.last)) == plan.gone
            and (trigger is CompactionTrigger.MANUAL or _may_expire(state, trigger))
        )

    def _written(self, replies: Replies, number: int, record: CompactionRecord, drafted: Drafted) -> bool:
        if not self._needs.replies.store(replies):
            return False
        context = NewContext(
            compacted_through=record.range_end,
            summary=drafted.context.text,
            summary_tokens=drafted.context.tokens,
        )
        self._compactions.add(number, record, context)
        return True

    @contextmanager
    def _alone(self, number: int, *, wait: bool) -> Iterator[bool]:
        """Let one thread of this process compact a session at a time; another one waits, or is told so."""
        me = threading.get_ident()
        with self._turn:
            if self._working.get(number) == me and wait:
                raise Conflict("This thread is compacting the session already; let it come to an end.")
            if wait:
                self._turn.wait_for(lambda: self._closed or number not in self._working)
                if self._closed:
                    raise InvalidInput("The store is closed; open it again.")
            mine = not self._closed and number not in self._working
            if mine:
                self._working[number] = me
        try:
            yield mine
        finally:
            if mine:
                with self._turn:
                    del self._working[number]
                    self._turn.notify_all()


def _may_expire(state: WindowState, trigger: CompactionTrigger) -> bool:
    if trigger is CompactionTrigger.STORAGE_PRESSURE and state.ended_at is None:
        return False
    return state.auto_compact
