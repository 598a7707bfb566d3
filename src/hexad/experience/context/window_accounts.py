"""How full context windows are: counted from the store now and then, and by one addition with every record.

A record costs an addition and a comparison. Each time that a sixteenth of a window was added, and before anything is
compacted, the count is looked at: it is taken from the store again where others recorded or compacted meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hexad.experience.query.reader import StreamReader
from hexad.experience.query.totals import WindowTotals, live_totals, windows_totals
from hexad.experience.recording.recorder import Recorder
from hexad.experience.stream.log import log_sizes
from hexad.experience.tables.compactions import Compactions, WindowState

COMPACTION_THRESHOLD: Final = 0.8
_LOOKS: Final = 16
"""So often the count is looked at while a window fills: others may have recorded to the session."""


@dataclass(slots=True, eq=False)
class WindowCounter:
    """What this process knows of the window of one session.

    `added` counts all tokens that it recorded. It is not guarded: two threads at once may lose an addition to each
    other only where the interpreter switches between them inside one statement, and then the next look mends it.
    """

    number: int
    added: int = 0
    look_at: float = 0  # with so many tokens added, the window is looked at
    others: int = 0  # what is in the window besides those
    seen: object = None  # what the store said when `others` was counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """How full a window is: timesteps and tokens in the stream, with the summary in front of them."""

    state: WindowState
    timesteps: int
    live_tokens: int
    placed: int
    last_tick: int

    @property
    def tokens(self) -> int:
        """All tokens in the window."""
        return self.live_tokens + self.state.summary_tokens + self.placed

    @property
    def over(self) -> bool:
        """Whether there is more in it than it holds."""
        return self.tokens > self.state.max_tokens

    @property
    def full(self) -> bool:
        """Whether it is to be compacted."""
        return self.tokens >= threshold(self.state)


def threshold(state: WindowState) -> int:
    """Return from how many tokens on a window is compacted."""
    return math.ceil(state.max_tokens * COMPACTION_THRESHOLD)


class WindowAccounts:
    """The windows of the sessions that this process records to.

    `full` is called when one should be looked at, `finish` when nothing is recorded any more and the stream will be
    closed.
    """

    def __init__(
        self,
        compactions: Compactions,
        reader: StreamReader,
        recorder: Recorder,
        logs: Path,
    ) -> None:
        self._compactions, self._reader, self._recorder, self._logs = compactions, reader, recorder, logs
        self._placed: dict[int, list[tuple[int, int]]] = {}
        self.counters: dict[int, WindowCounter] = {}
        self.full: Callable[[WindowCounter], None] = lambda _counter: None
        self.finish: Callable[[], None] = lambda: None

    def open(self, number: int) -> None:
        """Count a session's tokens from here on, if it compacts by itself."""
        state = self._compactions.state(number)
        if not state.auto_compact:
            self.counters.pop(number, None)
        elif number not in self.counters:
            self.counters[number] = WindowCounter(number)
        elif self.counters[number].look_at != math.inf:
            self.counters[number].look_at = 0  # its window may be another one

    def close(self, number: int) -> None:
        """Let go of a session that has ended."""
        self.counters.pop(number, None)
        self._placed.pop(number, None)

    def drop(self, number: int) -> None:
        """Let go of the count of a session: `open` begins it anew from the store."""
        self.counters.pop(number, None)

    def forget(self, number: int) -> None:
        """Count a session's window anew when it is looked at next: some of it was erased."""
        counter = self.counters.get(number)
        if counter is not None:
            counter.seen = None

    def add(self, number: int, tokens: int) -> None:
        """Count tokens that were recorded."""
        counter = self.counters.get(number)
        if counter is not None:
            counter.added += tokens
            if counter.added >= counter.look_at:
                self.notice(counter)

    def place(self, number: int, tick: int, tokens: int) -> None:
        """Count tokens that stand in the window at a tick without having been recorded, until it is compacted."""
        self._placed.setdefault(number, []).append((tick, tokens))
        counter = self.counters.get(number)
        if counter is not None and counter.look_at is not math.inf:
            counter.look_at = 0
            self.notice(counter)

    def notice(self, counter: WindowCounter) -> None:
        """Have the window looked at, once."""
        counter.look_at = math.inf
        self.full(counter)

    def measure(self, number: int) -> Fill:
        """Return how full a window is, counted from the store: what others recorded is in it."""
        self._recorder.flush()
        state = self._compactions.state(number)
        totals = live_totals(self._reader, state.session_id, after=state.compacted_through)
        return Fill(
            state=state,
            timesteps=0 if totals is None else totals.timesteps,
            live_tokens=0 if totals is None else totals.tokens,
            placed=self._placed_in(state),
            last_tick=state.compacted_through if totals is None else totals.ticks[1],
        )

    def measure_all(self, session_ids: Sequence[str]) -> list[Fill]:
        """Return how full the windows of several sessions are, counted in one question; raises `NotFound`."""
        self._recorder.flush()
        states = self._compactions.states_of(session_ids)
        windows = {state.session_id: (state.compacted_through + 1, state.next_tick) for state in states}
        found_totals = windows_totals(self._reader, windows)
        return [
            Fill(
                state=state,
                timesteps=totals.timesteps,
                live_tokens=totals.tokens,
                placed=self._placed_in(state),
                last_tick=totals.last,
            )
            for state in states
            for totals in [found_totals.get(state.number, WindowTotals(state.compacted_through, 0, 0))]
        ]

    def look(self, counter: WindowCounter) -> bool:
        """Return whether a window is to be compacted, and say when to look again."""
        state = self._compactions.state(counter.number)
        if not state.auto_compact:
            self.counters.pop(counter.number, None)
            return False
        seen = (state.compacted_through, log_sizes(self._logs, without=self._recorder.log_path))
        if seen != counter.seen:
            # What is added while the store is counted may count twice until the next look: never less than there is.
            added = counter.added
            fill = self.measure(counter.number)
            counter.others = fill.live_tokens - added
            counter.seen = seen if fill.state.compacted_through == state.compacted_through else None
            # Ticks below what was compacted would never enter the window.
            self._recorder.skip(counter.number, fill.state.compacted_through)
        tokens = counter.others + counter.added + state.summary_tokens + self._placed_in(state)
        self.later(counter, state, tokens)
        return tokens >= threshold(state)

    def later(self, counter: WindowCounter, state: WindowState, tokens: int) -> None:
        """Have the window looked at when it may be full, or a part of it was added."""
        step = max(state.max_tokens // _LOOKS, 1)
        left = threshold(state) - tokens
        counter.look_at = counter.added + (min(left, step) if left > 0 else step)

    def _placed_in(self, state: WindowState) -> int:
        placed = self._placed.get(state.number)
        if not placed:
            return 0
        placed[:] = [span for span in placed if span[0] > state.compacted_through]
        if not placed:
            self._placed.pop(state.number, None)
        return sum(tokens for _, tokens in placed)
