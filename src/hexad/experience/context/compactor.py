"""Compaction: the older half of a context window becomes a summary in front of the rest.

read the window ─ cut ─ summarise (slow, no lock) ─ one transaction: look again ─ replies ─ window ─ record

Where something else changed the window in between, nothing is written and it is read again: no range is compacted
twice. What a window of time protects leaves the context and stays in the stream.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hexad.core.retry import TryAgain, retry
from hexad.core.tick_ranges import Ranges, difference, union
from hexad.core.tracing import log, span
from hexad.database.connection import Database
from hexad.database.store_context import StoreContext
from hexad.errors import Conflict, HexadError, InvalidInput
from hexad.experience.context.window_accounts import Fill, WindowAccounts, WindowCounter
from hexad.experience.events.grouping import StreamEvent, stream_events
from hexad.experience.query.reader import StreamReader
from hexad.experience.query.totals import LiveStep, live_steps, live_totals
from hexad.experience.summaries import LEAST_TOKENS, Summarizer, Summary, SummaryOrder, digest
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.cold_records import ColdRecords
from hexad.experience.tables.compactions import Compactions, NewContext, WindowState
from hexad.experience.tables.windows import Windows
from hexad.experience.tiers.replies import Replies, ReplyMaker
from hexad.experience.values.records import StepQuery
from hexad.experience.values.tiers import TOP_K, CompactionRecord, CompactionTrigger
from hexad.redaction.masking import Masking

LEAST_SHARE, MOST_SHARE = 0.25, 0.75
"""A border between events is good enough from a quarter to three quarters; else an event is cut in two."""
ROWS_LIMIT: Final = 50_000
"""So many timesteps are compacted at once at most; of a longer window, the first."""


def older_half(steps: Sequence[LiveStep], tokens: int, *, room: float = math.inf) -> int:
    """Return how many of the first timesteps of a window make its older half; `tokens` is what all of it has.

    At least one where there is any. Where `steps` are not the whole window and hold less than half of it, nearly all.
    A timestep that is most of the window, and no more than its `room`, stays while there is something older.

    >>> words = [LiveStep(tick, 10, tick // 4) for tick in range(12)]
    >>> older_half(words, 120), older_half(words[:2], 20), older_half([], 0)
    (4, 1, 0)
    """
    if not steps:
        return 0
    sums = list(_sums(steps))
    aim = min(tokens / 2, sums[-1])
    near = [at for at in borders(steps) if LEAST_SHARE * 2 * aim <= sums[at - 1] <= MOST_SHARE * 2 * aim]
    if near:
        return min(near, key=lambda at: (abs(sums[at - 1] - aim), at))
    taken = next((at for at, total in enumerate(sums, start=1) if total >= aim), len(steps))
    stays = taken > 1 and sums[taken - 1] > MOST_SHARE * 2 * aim and steps[taken - 1].tokens <= room
    return taken - 1 if stays else taken


def begins_with_most(steps: Sequence[LiveStep], *, room: float) -> bool:
    """Say whether the first timestep is most of a window, and no more than its `room`.

    >>> begins_with_most([LiveStep(1, 820, 1), LiveStep(2, 6, 2)], room=1_000)
    True
    """
    return bool(steps) and MOST_SHARE * sum(step.tokens for step in steps) < steps[0].tokens <= room


def all_of(steps: Sequence[LiveStep], *, more: bool) -> int:
    """Return how many timesteps to take where the whole window goes; with `more` after them, up to a late border."""
    if not more:
        return len(steps)
    last = max(borders(steps), default=0)
    return last if last >= LEAST_SHARE * len(steps) else len(steps)


def borders(steps: Sequence[LiveStep]) -> Iterator[int]:
    """Yield after how many timesteps no event is left open, but for the end."""
    last = {step.event: at for at, step in enumerate(steps)}
    open_to = 0
    for at, step in enumerate(steps[:-1]):
        open_to = max(open_to, last[step.event])
        if open_to == at:
            yield at + 1


def cut_event(steps: Sequence[LiveStep], taken: int) -> list[int]:
    """Return the places of the timesteps whose event is cut in two, none where that is at a border."""
    crossing = {step.event for step in steps[:taken]} & {step.event for step in steps[taken:]}
    return [at for at, step in enumerate(steps) if step.event in crossing]


def _sums(steps: Sequence[LiveStep]) -> Iterator[int]:
    total = 0
    for step in steps:
        total += step.tokens
        yield total


SUMMARY_SHARE: Final = 0.25
"""The summary in front of a window is kept below this part of it."""
_AIMED_SHARE: Final = 0.125
_PART_CHARACTERS: Final = 8_000
_SUM_DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """What is to leave a window, as it was read: `tokens` in it up to the tick `last`.

    From `first` on, ticks are looked through for what came late to what was compacted before. `left` tokens stay.
    """

    state: WindowState
    departed: Ranges
    first: int
    last: int
    tokens: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionDraft:
    """What is to take its place: the summary of what goes, and that of all that went (`context`)."""

    start: int
    timesteps: int
    tokens: int
    activations: Mapping[str, float]
    summary: Summary
    context: Summary


class Drafter:
    """Reads windows and says what they are to become. Nothing is written."""

    def __init__(
        self,
        db: Database,
        reader: StreamReader,
        *,
        masking: Masking,
        summarizer: Summarizer,
        visible: Callable[[Mapping[str, float]], Mapping[str, float]],
        flush: Callable[[], None],
    ) -> None:
        self._reader, self._masking, self._summarizer, self._flush = reader, masking, summarizer, flush
        self._visible = visible  # of concepts: what a generator, the agent's own among them, may be told
        self._compactions, self._windows, self._departed = Compactions(db), Windows(db), ColdRanges(db)
        self._compressed = ColdRecords(db)

    def plan(
        self, number: int, *, whole: bool, placed: int = 0, may_wait: bool = False
    ) -> CompactionPlan | None:
        """Return what is to leave a window, its older half or all of it; None where nothing is in it.

        None as well where it `may_wait` and what would leave is one timestep that is most of the window. `placed`
        tokens stand in the window without being recorded.
        """
        self._flush()
        state = self._compactions.state(number)
        departed = self._departed.ranges(number)
        steps = live_steps(
            self._reader,
            state.session_id,
            after=state.compacted_through,
            last=state.next_tick - 1,
            limit=ROWS_LIMIT + 1,
        )
        more, room = len(steps) > ROWS_LIMIT, state.max_tokens - placed
        tokens = self._tokens(state, steps, more=more)
        taken = all_of(steps, more=more) if whole else older_half(steps, tokens, room=room)
        if not taken or (may_wait and taken == 1 and begins_with_most(steps, room=room)):
            return None
        taken = self._outside_secrets(state, steps, taken)
        first, last = self._compactions.last_start(number), steps[taken - 1].tick
        taken_tokens = sum(step.tokens for step in steps[:taken])
        return CompactionPlan(
            state=state,
            departed=tuple(span for span in departed if span[0] <= last and span[1] >= first),
            first=first,
            last=last,
            tokens=taken_tokens,
            left=tokens + placed - taken_tokens,
        )

    def draft(self, plan: CompactionPlan) -> CompactionDraft | None:
        """Return what takes the place of what was planned, None where it is gone; as slow as a generator is."""
        state = plan.state
        protected = self.protected(state.number, (plan.first, plan.last))
        earlier = [(plan.first, state.compacted_through)] if plan.first <= state.compacted_through else []
        events = self.events(
            state, [*difference(earlier, protected), (state.compacted_through + 1, plan.last)]
        )
        if not events:
            return None
        tokens, top = sum(event.tokens for event in events), strongest(events)
        share = math.floor(state.max_tokens * SUMMARY_SHARE)
        order = SummaryOrder(
            most=min(plan.tokens - 1, share),
            aim=min(max(tokens // 4, LEAST_TOKENS), math.floor(state.max_tokens * _AIMED_SHARE)),
            speakers=[event.role or event.event_type.value for event in events],
            concepts=list(self._visible(top)),
        )
        summary = self._summarizer.summary(self.texts(events), order)
        # What stays goes before what is told of the past, and has room to be answered.
        room = max((state.max_tokens - plan.left) // 2, 0)
        return CompactionDraft(
            start=min(event.ticks[0][0] for event in events),
            timesteps=sum(event.timesteps for event in events),
            tokens=tokens,
            activations=top,
            summary=summary,
            context=self._summarizer.joined(
                state.summary,
                summary.text,
                most=min(share, room, state.summary_tokens + max(plan.tokens - 1, 0)),
            ),
        )

    def summarize(
        self, state: WindowState, ticks: tuple[int, int]
    ) -> tuple[Summary, Mapping[str, float]] | None:
        """Return a summary of a range of ticks and its strongest concepts, as a compaction would have them.

        What was compressed counts with its own summary. None where there is nothing.
        """
        self._flush()
        texts, sums, tokens = self._texts_in(state, ticks)
        question = StepQuery(session_id=state.session_id, ticks=ticks)
        cold = self._compressed.by_numbers(
            [match.no for match in self._compressed.matches(question, state.number)]
        )
        texts += [(record.start_tick or 0, record.summary) for record in cold.values()]
        if not texts:
            return None
        for record in cold.values():
            sums.update(record.top_k_activations)
            tokens += record.token_count
        top = _top(sums)
        share = math.floor(state.max_tokens * SUMMARY_SHARE)
        order = SummaryOrder(
            most=max(min(tokens - 1, share), 1),
            aim=min(max(tokens // 4, LEAST_TOKENS), math.floor(state.max_tokens * _AIMED_SHARE)),
            concepts=list(self._visible(top)),
        )
        return self._summarizer.summary([text for _, text in sorted(texts)], order), top

    def _texts_in(
        self, state: WindowState, ticks: tuple[int, int]
    ) -> tuple[list[tuple[int, str]], Counter[str], int]:
        """Return texts by tick, sums of concepts, and tokens, of what is in the stream of a range; of a long one, the
        sentences of each part that say most.
        """  # fmt: skip
        texts: list[tuple[int, str]] = []
        sums: Counter[str] = Counter()
        tokens, last = 0, min(ticks[1], state.next_tick - 1)
        for first in range(ticks[0], last + 1, ROWS_LIMIT):
            part = (first, min(first + ROWS_LIMIT - 1, last))
            events = self.events(state, [part])
            event_texts = self.texts(events)
            if part == (ticks[0], last):
                texts += zip((event.ticks[0][0] for event in events), event_texts, strict=True)
            elif event_texts:
                texts.append((first, digest(event_texts, _PART_CHARACTERS)))
            tokens += sum(event.tokens for event in events)
            for event in events:
                sums.update({concept: total for concept, total, _ in event.activations})
        return texts, sums, tokens

    def events(self, state: WindowState, ranges: Iterable[tuple[int, int]]) -> list[StreamEvent]:
        """Return what is in the stream of some ranges of ticks, as events."""
        some = union(ranges)
        if not some:
            return []
        question = StepQuery(
            session_id=state.session_id, ticks=(some[0][0], some[-1][1]), tagged={state.session_id: some}
        )
        return stream_events(self._reader, question)

    def texts(self, events: Sequence[StreamEvent]) -> list[str]:
        """Return the events' texts without secrets: one may be spread over several timesteps."""
        return self._masking.events(events)

    def protected(self, number: int, ticks: tuple[int, int]) -> Ranges:
        """Return the ticks that windows keep in the stream, of those ranges that share one with `ticks`."""
        protected_ranges = self._windows.protected(number, ticks)
        return union(span for ranges in protected_ranges.values() for span in ranges)

    def _tokens(self, state: WindowState, steps: Sequence[LiveStep], *, more: bool) -> int:
        totals = live_totals(self._reader, state.session_id, after=state.compacted_through) if more else None
        return sum(step.tokens for step in steps) if totals is None else totals.tokens

    def _outside_secrets(self, state: WindowState, steps: Sequence[LiveStep], taken: int) -> int:
        """Return a cut near `taken` that leaves no part of a secret on either side of it."""
        places = cut_event(steps, taken)
        if not places:
            return taken
        spans = list(self._secrets(state, steps, places))

        def whole(at: int) -> bool:
            return not any(first < at <= last for first, last in spans)

        cuts = [*range(taken, len(steps)), *range(taken - 1, 0, -1)]
        return next(filter(whole, cuts), len(steps))

    def _secrets(
        self, state: WindowState, steps: Sequence[LiveStep], places: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        """Yield the first and the last place of each run of tokens of cut events that a secret goes over."""
        place = {steps[at].tick: at for at in places}
        for event in self.events(state, ((tick, tick) for tick in place)):
            own = [place[tick] for first, last in event.ticks for tick in range(first, last + 1)]
            tokens = event.texts
            for _, masked in self._masking.answers([tokens]):
                changed = [old != new for old, new in zip(tokens, masked, strict=True)]
                for first, last in union((at, at) for at, is_changed in enumerate(changed) if is_changed):
                    yield own[first], own[last]


def strongest(events: Sequence[StreamEvent]) -> dict[str, float]:
    """Return the strongest concepts of events, with the sum of their scores, strongest first."""
    sums: Counter[str] = Counter()
    for event in events:
        sums.update({concept: total for concept, total, _ in event.activations})
    return _top(sums)


def _top(sums: Mapping[str, float]) -> dict[str, float]:
    strongest = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:TOP_K]
    return {concept: round(total, _SUM_DIGITS) for concept, total in strongest}


_ATTEMPTS: Final = 10
IDLE_EVERY_S: Final = 3_600.0
_RETRY_TOKENS: Final = 1_024
"""After a failure, and while another thread is at it, so much is recorded before the window is looked at again."""


class Compactor:
    """Compacts the context windows of one store. Several threads and programs may do so at once."""

    def __init__(
        self,
        context: StoreContext,
        *,
        reader: StreamReader,
        accounts: WindowAccounts,
        drafter: Drafter,
        replies: ReplyMaker,
        skip: Callable[[int, int], None],
        remember: Callable[[], object],
    ) -> None:
        """`remember` is told of new compactions outside of every transaction."""
        self._context, self._db, self._reader, self._accounts = context, context.db, reader, accounts
        self._drafter, self._replies, self._skip, self._remember = drafter, replies, skip, remember
        self._compactions, self._windows = Compactions(context.db), Windows(context.db)
        self._departed = ColdRanges(context.db)
        self._due: set[int] = set()
        self._working: dict[int, int] = {}  # session to the thread that compacts it
        self._turn = threading.Condition()
        self._closed = False
        self._idle_s = -math.inf
        self._accounts.full, self._accounts.finish = self._notice, self.close

    # By itself --------------------------------------------------------------------------------------------------

    def _notice(self, counter: WindowCounter) -> None:
        if self._context.background:
            self._due.add(counter.number)
            self._context.wake()
        else:
            self._compact_when_full(counter, stop=lambda: False)

    def work(self, *, stop: Callable[[], bool]) -> int:
        """Compact the windows that were found full, and at first and each hour those that others left full and those of
        idle sessions; returns how many compactions that took.
        """  # fmt: skip
        done = self._compact_due(stop)
        now_s = self._context.clock.monotonic()
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
                    self._remember()
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
                self._remember()
        return record

    def expire(
        self, session_id: str, trigger: CompactionTrigger, *, stop: Callable[[], bool] = lambda: False
    ) -> list[CompactionRecord]:
        """Compact all of a session's window, and what came late to what was compacted before.

        Nothing happens to a session that is not to compact by itself, and under STORAGE_PRESSURE to one that has not
        ended. Raises `NotFound` for a session that was never started.
        """
        state = self._compactions.state_of(session_id)
        records: list[CompactionRecord] = []
        if not _may_expire(state, trigger):
            return records
        with self._alone(state.number, wait=True):
            while not (stop() or self._closed):
                record = self._round(state.number, trigger, whole=True)
                if record is None:
                    through = self._compactions.state(state.number).compacted_through
                    if through:
                        self._replies.release(session_id, [(1, through)])
                    break
                records.append(record)
            if records:
                self._remember()
        return records

    def expire_idle(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Compact the windows of sessions in which nothing was recorded for long; returns how many compactions."""
        before = self._context.clock.now() - timedelta(hours=self._context.settings.compact_after_hours)
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
            fills = self._accounts.measure_all(self._compactions.pending())
            for number in [fill.state.number for fill in fills if fill.full]:
                with self._alone(number, wait=True):
                    while not (stop() or self._closed) and self._accounts.measure(number).full:
                        if self._round(number, CompactionTrigger.CONTEXT_FULL) is None:
                            break
                        done += 1
        except HexadError as error:  # a log that is damaged must not keep the rest of upkeep from its turn
            log.warning("Full context windows could not be looked for, trying again later: %s", error)
        if done:
            self._remember()
        return done

    def make_room(self, session_id: str) -> Fill:
        """Return how full a session's window is, compacted before where more is in it than it holds.

        It may still be over where it does not compact by itself, cannot be written to, or is compacted just now by the
        one who asks. Raises `NotFound` for a session that was never started.
        """
        fill = self.measure(session_id)
        number = fill.state.number
        mine = self._working.get(number) == threading.get_ident()
        if not fill.over or not fill.state.auto_compact or self._db.readonly or mine:
            return fill
        done = 0
        try:
            with self._alone(number, wait=True):
                while self._accounts.measure(number).over:
                    if self._round(number, CompactionTrigger.CONTEXT_FULL) is None:
                        break
                    done += 1
        except Conflict as error:  # the answer does not hang on it
            log.warning("A context window could not be compacted, trying again later: %s", error)
        if done:
            self._remember()
        return self.measure(session_id)

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

        def attempt() -> CompactionRecord | None:
            fill = self._accounts.measure(number)
            is_alone = fill.timesteps == 1  # what makes room for it is a shorter summary
            may_wait = trigger is CompactionTrigger.CONTEXT_FULL and (is_alone or not fill.over)
            plan = self._drafter.plan(number, whole=whole, placed=fill.placed, may_wait=may_wait)
            # What cannot become less than it is stays, unless all of the window is to go.
            if plan is None or (plan.tokens < 2 and not whole):
                return None
            drafted = self._drafter.draft(plan)
            if drafted is not None:
                record = self._record(plan, drafted, trigger)
                if self._store(plan, drafted, record):
                    self._skip(number, plan.last)
                    return record
            if trigger is CompactionTrigger.CONTEXT_FULL and not self._accounts.measure(number).full:
                return None  # somebody else was faster
            raise TryAgain

        with span("compact", trigger=trigger.value):
            return retry(attempt, times=_ATTEMPTS, failure=lambda: self._conflict(number))

    def _conflict(self, number: int) -> Conflict:
        session_id = self._compactions.state(number).session_id
        return Conflict(
            f"The window of session {session_id!r} changes faster than it can be compacted; try again."
        )

    def _record(
        self, plan: CompactionPlan, drafted: CompactionDraft, trigger: CompactionTrigger
    ) -> CompactionRecord:
        return CompactionRecord(
            id=self._context.ids.new("compaction"),
            session_id=plan.state.session_id,
            timestamp=self._context.clock.now(),
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

    def _store(self, plan: CompactionPlan, drafted: CompactionDraft, record: CompactionRecord) -> bool:
        """Write a compaction, all of it or nothing; False when the window is not what it was any more."""
        number, hull = plan.state.number, (plan.first, plan.last)
        for _ in range(_ATTEMPTS):
            protected_ranges = self._windows.protected(number, hull)
            replies = self._replies.prepare(plan.state.session_id, [hull])
            with self._db.transaction():
                if not self._is_unchanged(plan, record.trigger):
                    return False
                if self._windows.protected(number, hull) == protected_ranges and self._write(
                    replies, number, record, drafted
                ):
                    return True
        return False

    def _is_unchanged(self, plan: CompactionPlan, trigger: CompactionTrigger) -> bool:
        state = self._compactions.state(plan.state.number)
        return (
            (state.compacted_through, state.summary) == (plan.state.compacted_through, plan.state.summary)
            and self._departed.ranges(state.number, (plan.first, plan.last)) == plan.departed
            and (trigger is CompactionTrigger.MANUAL or _may_expire(state, trigger))
        )

    def _write(
        self, replies: Replies, number: int, record: CompactionRecord, drafted: CompactionDraft
    ) -> bool:
        if not self._replies.store(replies):
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
