"""What leaves a context window, and what takes its place: read and summarised without holding any lock."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.core.tick_ranges import Ranges, difference, union
from hexad.database.connection import Database
from hexad.experience.events.grouping import StreamEvent, stream_events
from hexad.experience.query.reader import StreamReader
from hexad.experience.query.window_steps import LiveStep, live_steps, live_totals
from hexad.experience.summaries.cold_summary import digest
from hexad.experience.summaries.summarizer import LEAST_TOKENS, Order, Summarizer, Summary
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.cold_records import Compressed
from hexad.experience.tables.compactions import Compactions, WindowState
from hexad.experience.tables.windows import Windows
from hexad.experience.values.records import StepQuery
from hexad.experience.values.tiers import TOP_K
from hexad.redaction.masking import Masking

LEAST_SHARE, MOST_SHARE = 0.25, 0.75
"""A border between events is good enough from a quarter to three quarters; else an event is cut in two."""
ROWS_LIMIT: Final = 50_000
"""So many timesteps are compacted at once at most; of a longer window, the first."""


def older_half(steps: Sequence[LiveStep], tokens: int) -> int:
    """Return how many of the first timesteps of a window make its older half; `tokens` is what all of it has.

    At least one where there is any. Where `steps` are not the whole window and hold less than half of it, nearly all.

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
    return next((at for at, total in enumerate(sums, start=1) if total >= aim), len(steps))


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
class Plan:
    """What is to leave a window, as it was read: `tokens` in it up to the tick `last`.

    From `first` on, ticks are looked through for what came late to what was compacted before.
    """

    state: WindowState
    gone: Ranges
    first: int
    last: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
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
        self._compactions, self._windows, self._gone = Compactions(db), Windows(db), ColdRanges(db)
        self._compressed = Compressed(db)

    def plan(self, number: int, *, whole: bool) -> Plan | None:
        """Return what is to leave a window, its older half or all of it; None where nothing is in it."""
        self._flush()
        state = self._compactions.state(number)
        gone = self._gone.ranges(number)
        steps = live_steps(
            self._reader,
            state.session_id,
            after=state.compacted_through,
            last=state.next_tick - 1,
            limit=ROWS_LIMIT + 1,
        )
        more = len(steps) > ROWS_LIMIT
        taken = (
            all_of(steps, more=more) if whole else older_half(steps, self._tokens(state, steps, more=more))
        )
        if not taken:
            return None
        taken = self._outside_secrets(state, steps, taken)
        first, last = self._compactions.last_start(number), steps[taken - 1].tick
        return Plan(
            state=state,
            gone=tuple(span for span in gone if span[0] <= last and span[1] >= first),
            first=first,
            last=last,
            tokens=sum(step.tokens for step in steps[:taken]),
        )

    def draft(self, plan: Plan) -> Drafted | None:
        """Return what takes the place of what was planned, None where it is gone; as slow as a generator is."""
        state = plan.state
        kept = self.protected(state.number, (plan.first, plan.last))
        earlier = [(plan.first, state.compacted_through)] if plan.first <= state.compacted_through else []
        events = self.events(state, [*difference(earlier, kept), (state.compacted_through + 1, plan.last)])
        if not events:
            return None
        tokens, top = sum(event.tokens for event in events), strongest(events)
        share = math.floor(state.max_tokens * SUMMARY_SHARE)
        order = Order(
            most=min(plan.tokens - 1, share),
            aim=min(max(tokens // 4, LEAST_TOKENS), math.floor(state.max_tokens * _AIMED_SHARE)),
            speakers=[event.role or event.event_type.value for event in events],
            concepts=list(self._visible(top)),
        )
        summary = self._summarizer.summary(self.texts(events), order)
        return Drafted(
            start=min(event.ticks[0][0] for event in events),
            timesteps=sum(event.timesteps for event in events),
            tokens=tokens,
            activations=top,
            summary=summary,
            context=self._summarizer.joined(
                state.summary, summary.text, most=min(share, state.summary_tokens + max(plan.tokens - 1, 0))
            ),
        )

    def summarize(
        self, state: WindowState, ticks: tuple[int, int]
    ) -> tuple[Summary, Mapping[str, float]] | None:
        """Return a summary of a range of ticks and its strongest concepts, as a compaction would have them.

        What was compressed counts with its own summary. None where there is nothing.
        """
        self._flush()
        texts, sums, tokens = self._told(state, ticks)
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
        order = Order(
            most=max(min(tokens - 1, share), 1),
            aim=min(max(tokens // 4, LEAST_TOKENS), math.floor(state.max_tokens * _AIMED_SHARE)),
            concepts=list(self._visible(top)),
        )
        return self._summarizer.summary([text for _, text in sorted(texts)], order), top

    def _told(
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
            said = self.texts(events)
            if part == (ticks[0], last):
                texts += zip((event.ticks[0][0] for event in events), said, strict=True)
            elif said:
                texts.append((first, digest(said, _PART_CHARACTERS)))
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
        kept = self._windows.protected(number, ticks)
        return union(span for ranges in kept.values() for span in ranges)

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
    found = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:TOP_K]
    return {concept: round(total, _SUM_DIGITS) for concept, total in found}
