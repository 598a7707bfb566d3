"""Context windows as document 2 (section 7) names them: how full, what is in them, what they would be in short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hexad.core.arguments import is_whole, quoted
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput, NotFound
from hexad.experience.context.compactor import Compactor, Drafter
from hexad.experience.context.window_accounts import COMPACTION_THRESHOLD, Fill, WindowAccounts
from hexad.experience.query.reader import StreamReader
from hexad.experience.summaries import Inference, Summarizer
from hexad.experience.tables.compactions import Compactions
from hexad.experience.tags.visibility import ConceptVisibility
from hexad.experience.values.tags import check_ticks
from hexad.experience.values.tiers import CompactionRecord, ContextEvent, ContextWindow

NO_SESSION: Final[Mapping[str, JSONValue]] = {"error": "No active session"}
_TOKENS_LIMIT: Final = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWindows:
    """The context windows of one store."""

    compactions: Compactions
    compactor: Compactor
    drafter: Drafter
    summarizer: Summarizer
    accounts: WindowAccounts
    reader: StreamReader
    visibility: ConceptVisibility

    def manager(self, session_id: str) -> ContextWindowManager:
        """Return the manager of a session's window; raises `NotFound`."""
        self.compactions.state_of(session_id)
        return ContextWindowManager(self, session_id)

    def states(self, session_ids: Sequence[str]) -> list[dict[str, JSONValue]]:
        """Return what `ContextWindowManager.get_context_state` says of several sessions; raises `NotFound`."""
        fills, notes = self.reader.in_spite_of_damage(lambda: self.compactor.measure_all(session_ids))
        if notes:  # which of them a segment has anything of, each says by itself
            return [self.state(session_id) for session_id in session_ids]
        return [_context_state(fill) for fill in fills]

    def state(self, session_id: str) -> dict[str, JSONValue]:
        """Return what `ContextWindowManager.get_context_state` says of a session; raises `NotFound`."""
        return _context_state(*self.reader.in_spite_of_damage(lambda: self.compactor.measure(session_id)))

    def content(self, session_id: str) -> ContextWindow:
        """Return what is in a session's window, compacted before where that is more than it holds.

        Where it cannot be, the newest events are there that it holds, and of the summary what fits before the newest.
        What a damaged segment leaves of a window is not compacted: what is missing may come back. Raises `NotFound`.
        """
        window, notes = self.reader.in_spite_of_damage(lambda: self._content(session_id))
        return replace(window, notes=tuple(notes))

    def _content(self, session_id: str) -> ContextWindow:
        around = self.reader.readable.leaves_out
        fill = self.compactor.measure(session_id) if around else self.compactor.make_room(session_id)
        state = fill.state
        events = self.drafter.events(state, [(state.compacted_through + 1, state.next_tick)])
        summary, omitted, tokens = state.summary, 0, fill.tokens
        newest = fill.placed + (events[-1].tokens if events else 0)
        if newest <= state.max_tokens < newest + state.summary_tokens:
            summary, summary_tokens = self.summarizer.shortened([summary], state.max_tokens - newest)
            tokens += summary_tokens - state.summary_tokens
        while tokens > state.max_tokens and omitted < len(events):
            tokens -= events[omitted].tokens
            omitted += 1
        events = events[omitted:]
        return ContextWindow(
            session_id=session_id,
            summary=summary,
            events=tuple(
                ContextEvent(
                    start_tick=event.ticks[0][0],
                    end_tick=event.ticks[-1][1],
                    event_type=event.event_type,
                    role=event.role,
                    content=text,
                    token_count=event.tokens,
                )
                for event, text in zip(events, self.drafter.texts(events), strict=True)
            ),
            token_count=tokens,
            omitted=omitted,
        )

    def records(self, session_id: str | None, *, limit: int, offset: int) -> list[CompactionRecord]:
        """Return compactions in the order in which they were made; raises `NotFound` for an unknown session."""
        if session_id is not None:
            self.compactions.state_of(session_id)
        records = self.compactions.find(session_id=session_id, limit=limit, offset=offset)
        return [self.visibility.compaction(record) for record in records]

    def compact(self, session_id: str) -> CompactionRecord | None:
        """Compact a window now; None when there is nothing to compact."""
        record = self.compactor.request(session_id)
        return None if record is None else self.visibility.compaction(record)

    def use(self, inference: Inference | None) -> None:
        """Ask the agent's own inference for summaries; raises `InvalidInput` for what is none."""
        self.summarizer.use(inference)


class ContextWindowManager:
    """The context window of one session: counted from what was recorded, by this program and by others."""

    def __init__(self, windows: ContextWindows, session_id: str) -> None:
        self._windows = windows
        self.session_id = session_id
        self.compaction_threshold = COMPACTION_THRESHOLD

    @property
    def max_tokens(self) -> int:
        """The size of the window."""
        return self._windows.compactions.state_of(self.session_id).max_tokens

    @property
    def current_tokens(self) -> int:
        """How many tokens are in the window: those recorded since, and the summary in front of them."""
        return self._windows.compactor.measure(self.session_id).tokens

    @property
    def current_tick(self) -> int:
        """The last tick in the window, else the last that left it."""
        fill = self._windows.compactor.measure(self.session_id)
        return fill.last_tick

    def add_tokens(self, count: int, tick: int) -> None:
        """Count tokens that stand in the window at a tick without being recorded: a picture, the schema of a tool.

        What is recorded is counted by itself. They go when compaction passes the tick, and this program alone knows
        of them. A window that is four fifths full is compacted. Raises `InvalidInput` for what is no count or tick.
        """
        for value, what in ((count, "count"), (tick, "tick")):
            if not is_whole(value, 0, _TOKENS_LIMIT):
                raise InvalidInput(
                    f"{what} = {quoted(value)} is no whole number from 0 to {_TOKENS_LIMIT:,}.", argument=what
                )
        state = self._windows.compactions.state_of(self.session_id)
        if tick > state.compacted_through:
            self._windows.accounts.place(state.number, tick, count)

    def generate_summary(self, start_tick: int, end_tick: int) -> tuple[str, list[str]]:
        """Return a summary of a range of ticks, both ends included, and the ids of its strongest concepts.

        It is made as a compaction's is: by the agent's own inference where it was handed in, else by the generator
        that is set for it, else locally. What was compressed before counts with its own summary. Nothing is stored.

        Raises `NotFound` where nothing was recorded in the range.
        """
        ticks = check_ticks((start_tick, end_tick))
        state = self._windows.compactions.state_of(self.session_id)
        summary_and_peaks = self._windows.drafter.summarize(state, ticks)
        if summary_and_peaks is None:
            raise NotFound(
                f"Session {self.session_id!r} has nothing recorded from tick {start_tick} to {end_tick}."
            )
        summary, activations = summary_and_peaks
        return summary.text, list(self._windows.visibility.activations(activations))

    def get_context_state(self) -> dict[str, JSONValue]:
        """Return the window's size, its tokens, the part that they fill, the session, and the last tick.

        Where a segment cannot be read, what is missing is in `notes` besides.
        """
        return self._windows.state(self.session_id)


def _context_state(fill: Fill, notes: Sequence[str] = ()) -> dict[str, JSONValue]:
    state: dict[str, JSONValue] = {
        "max_tokens": fill.state.max_tokens,
        "current_tokens": fill.tokens,
        "utilization": fill.tokens / fill.state.max_tokens,
        "session_id": fill.state.session_id,
        "current_tick": fill.last_tick,
    }
    return {**state, "notes": list(notes)} if notes else state
