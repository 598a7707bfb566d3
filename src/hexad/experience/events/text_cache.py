"""The texts of all events of the stream, kept in memory as long as nobody records, seals or erases anything.

Who looks for words in every question would put the events together anew each time. What is kept is no connection and
no file: plain text, session by session. Whether it still holds is seen by the sizes of the logs and by what the
manifest says, whichever process wrote. Then only what changed is put together again: of a session to which timesteps
were added, the events from the first that they may belong to.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.core.tick_ranges import Ranges
from hexad.database.connection import Database
from hexad.errors import StorageFailure
from hexad.experience.events.reader import EventReader, ReadEvent, event_of
from hexad.experience.query.reader import StreamReader, StreamSources
from hexad.experience.stream.filters import TickRanges
from hexad.experience.stream.frames import ENDS, HAS_EVENT, HAS_ROLE, STARTS, Frames
from hexad.experience.stream.log import log_states
from hexad.experience.stream.manifest import SegmentManifest
from hexad.experience.stream.rows import BREAK, OUTPUT
from hexad.experience.values.records import TICK_LIMIT, StepQuery, StreamAnswer
from hexad.experience.values.tiers import EventRecord
from hexad.text.search_terms import SearchTerms, folded

if TYPE_CHECKING:
    from numpy.typing import NDArray


FEW: Final = 2_000
_COLUMNS: Final = ("tick", "ts", "kind", "flags", "tokens", "role", "event", "content")
_LAST_TICK, _FIRST_AT, _LAST_AT, _TEXT, _TOKENS, _TIMESTEPS = 5, 6, 7, 8, 9, 10


def joined(table: Mapping[str, NDArray[Any]], session: int) -> list[tuple[Any, ...]]:
    """Return the events of a session's rows as the relation of events has them, by first tick.

    What belongs together is what the statements of `stream_keys` say.
    """
    steps = sorted(zip(*(table[name].tolist() for name in _COLUMNS), strict=True), key=lambda step: step[0])
    rows: dict[tuple[str | None, int], list[Any]] = {}
    kinds: dict[tuple[str | None, int], int] = {}
    run = 0
    before: tuple[int, str | None, str | None, int] = (-1, None, None, 0)
    for tick, at, kind, flags, tokens, role_there, event_there, content in steps:
        role = role_there if flags & HAS_ROLE else None
        event = event_there if flags & HAS_EVENT else None
        goes_on = kind == OUTPUT and (kind, event, role) == before[:3] and event is None
        if not goes_on or flags & STARTS or before[3] & ENDS:
            run += 1
        before = (kind, event, role, flags)
        key = (event, run if event is None else 0)
        row = rows.get(key)
        if row is None:
            rows[key] = [session, event, kind, role, tick, tick, at, at, [content], tokens, 1]
        else:
            row[_LAST_TICK] = tick
            row[_FIRST_AT], row[_LAST_AT] = min(row[_FIRST_AT], at), max(row[_LAST_AT], at)
            row[_TEXT].append(content if kinds[key] == kind else BREAK + content)
            row[_TOKENS] += tokens
            row[_TIMESTEPS] += 1
        kinds[key] = kind
    return [(*row[:_TEXT], "".join(row[_TEXT]), *row[_TOKENS:]) for row in rows.values()]


KEPT_CHARS: Final = 32_000_000
"""A stream with more text than this is not kept: it is asked anew for each word."""
_BATCH: Final = 1_000
_ROW_BYTES: Final = 400
"""What an event takes besides its text."""
_ONE_BY_ONE: Final = 4
"""So many sessions are put together each on its own; more at once."""
_BETWEEN: Final = "\0"
_EVENT, _FIRST, _LAST, _CONTENT = 1, 4, 5, 8

Find = Callable[[SearchTerms, int], StreamAnswer[EventRecord]]
_Row = tuple[Any, ...]


class _TooMuchError(Exception):
    """There is more text than is kept."""


class _Kept:
    """The events of a session by first tick, and their texts one after the other as they are compared."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        self.rows: list[_Row] = []
        self.low = ""
        self.starts: list[int] = []
        self.firsts: list[int] = []
        self.reach: list[int] = []
        self.places: dict[str, int] = {}
        self.loose: list[int] = []
        self.chars = self.text_bytes = 0
        self.add(rows)

    def add(self, rows: Sequence[_Row]) -> None:
        """Take in events that begin after all that there are."""
        texts = []
        size, reach = len(self.low), self.reach[-1] if self.reach else 0
        for at, row in enumerate(rows, len(self.rows)):
            text = folded(row[_CONTENT]) + _BETWEEN
            texts.append(text)
            self.starts.append(size)
            size += len(text)
            reach = max(reach, row[_LAST])
            self.firsts.append(row[_FIRST])
            self.reach.append(reach)
            if row[_EVENT] is None:
                self.loose.append(at)
            else:
                self.places[row[_EVENT]] = at
            self.chars += len(row[_CONTENT])
            self.text_bytes += sys.getsizeof(row[_CONTENT])
        self.rows.extend(rows)
        self.low += "".join(texts)

    def nbytes(self) -> int:
        """Return about how much it takes."""
        return sys.getsizeof(self.low) + self.text_bytes + _ROW_BYTES * len(self.rows)

    def until(self, place: int) -> _Kept:
        """Return a copy with the first `place` events alone."""
        rest = _Kept(())
        rest.rows, rest.starts = self.rows[:place], self.starts[:place]
        rest.firsts, rest.reach = self.firsts[:place], self.reach[:place]
        rest.low = self.low[: self.starts[place]] if place < len(self.starts) else self.low
        rest.loose = self.loose[: bisect_left(self.loose, place)]
        departed = self.rows[place:]
        rest.places = dict(self.places)
        for row in departed:
            rest.places.pop(row[_EVENT], None)
        rest.chars = self.chars - sum(len(row[_CONTENT]) for row in departed)
        rest.text_bytes = self.text_bytes - sum(sys.getsizeof(row[_CONTENT]) for row in departed)
        return rest

    def unchanged(self, added: _Added) -> int:
        """Return how many events, from the first on, timesteps that were added cannot change, nor be among them."""
        at = end = bisect_left(self.firsts, added.tick)
        for event in added.events:
            at = min(at, self.places.get(event, at))
        loose = bisect_left(self.loose, end)
        if loose:  # tokens without an event may go on, where nothing else stands between them
            last = self.loose[loose - 1]
            if self.reach[end - 1] >= added.tick or self.rows[last][_LAST] == self.reach[end - 1]:
                at = min(at, last)
        tick = added.tick
        while True:
            if at < len(self.firsts):
                tick = min(tick, self.firsts[at])
            if not at or self.reach[at - 1] < tick:
                return at
            at -= 1

    def find(self, terms: SearchTerms) -> Iterator[ReadEvent]:
        """Yield the events whose text has all of `terms`, by first tick."""
        needle = max(terms.needles, key=len, default="")
        at = self.low.find(needle)
        while 0 <= at < len(self.low):
            place = bisect_right(self.starts, at) - 1
            end = self.starts[place + 1] if place + 1 < len(self.starts) else len(self.low)
            text = self.low[self.starts[place] : end - 1]
            if terms.match_folded(text):
                yield event_of(self.rows[place])
            at = self.low.find(needle, end)


@dataclass(slots=True)
class _Added:
    """Timesteps that were added to logs of a session: the first of them, and the events that they are of."""

    tick: int = TICK_LIMIT
    events: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _LogTexts:
    """How much of a log was read, and of which sessions that is."""

    rows: int
    sessions: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """What is kept, and of which sources: segments by session with the last tick in them, ticks that left, logs."""

    revision: object
    sessions: Mapping[int, _Kept]
    segments: Mapping[int, tuple[frozenset[str], int]]
    departed: Mapping[int, Ranges]
    logs: Mapping[str, _LogTexts]


class EventTexts:
    """Finds events of all sessions by their words."""

    def __init__(self, db: Database, events: EventReader, reader: StreamReader) -> None:
        self._db = db
        self._events, self._reader = events, reader
        self._manifest = SegmentManifest(db)
        self._state: _State | None = None
        self._too_much = False
        db.caches.add("texts of events", self)

    limit_bytes: Final = 12 * KEPT_CHARS
    """Each character stands in a text and in what it is compared as: at most four bytes and eight, mostly two."""

    def nbytes(self) -> int:
        """Return about how much is kept."""
        state = self._state
        return 0 if state is None else sum(session.nbytes() for session in state.sessions.values())

    def opened(self) -> Find:
        """Return what finds events, up to a number, by session and first tick: those that there are at this moment.

        They come without activations; `notes` say what is missing since a segment cannot be read. Raises what
        `StreamReader.query` does.
        """
        around = self._reader.in_spite_of_damage
        state, notes = (None, []) if self._too_much else around(self._now)
        if state is None:

            def recall(terms: SearchTerms, most: int) -> StreamAnswer[EventRecord]:
                question = StepQuery(limit=most)
                return StreamAnswer(*around(lambda: self._events.recall(question, terms, activations=False)))

            return recall

        def find(terms: SearchTerms, most: int) -> StreamAnswer[EventRecord]:
            hot = (event for number in sorted(state.sessions) for event in state.sessions[number].find(terms))
            both = merge(hot, self._events.cold(terms), key=lambda event: (event.session, event.first_tick))
            return StreamAnswer(self._events.records(list(islice(both, most)), activations=False), notes)

        return find

    def _now(self) -> _State | None:
        """Return what there is at this moment, None where that is too much."""
        try:
            return self._reader.retry(self._current)
        except _TooMuchError:
            self._state, self._too_much = None, True
            return None

    def _current(self) -> _State:
        before, revision = self._state, self._revision()
        if before is not None and before.revision == revision:
            return before
        sources = self._reader.sources(StepQuery())
        with self._reader.anew_if_replaced(sources):
            # Threads that come here at once each make their own: nobody waits, and a fork finds no lock.
            state = self._next_state(before, sources, revision)
            # No revision tells when what is damaged can be read again.
            if not self._reader.readable.leaves_out:
                self._state = state
            return state

    def _revision(self) -> object:
        """Return what changes whenever anybody records, seals or takes something out of the stream."""
        return log_states(self._reader.log_directory), self._manifest.state()

    def _next_state(self, before: _State | None, sources: StreamSources, revision: object) -> _State:
        session_ranges = self._manifest.ranges()
        names = {Path(path).name for path in sources.paths}
        if not names <= session_ranges.keys():
            raise StorageFailure("A segment was replaced while it was looked at; ask again.")
        segments: dict[int, tuple[frozenset[str], int]] = {}
        for name in names:
            for session_range in session_ranges[name]:
                known, last = segments.get(session_range.session, (frozenset(), 0))
                segments[session_range.session] = known | {name}, max(last, session_range.ticks[1])
        logs, added, anew = _read(sources.logs, {} if before is None else before.logs)
        if before is None:
            sessions = self._whole(sources, None)
        else:
            departed = before.departed.keys() | sources.departed.keys()
            anew |= {
                session
                for session in departed
                if before.departed.get(session) != sources.departed.get(session)
            }
            there = before.segments.keys() | segments.keys()
            anew |= {session for session in there if before.segments.get(session) != segments.get(session)}
            sessions = dict(before.sessions)
            for number, some in added.items():
                if number not in anew and not self._add(sessions, number, some, sources, segments):
                    anew.add(number)
            if len(anew) > _ONE_BY_ONE:
                sessions = self._whole(sources, None)
            else:
                for number in anew:
                    sessions.pop(number, None)
                    of = segments.get(number, (frozenset(), 0))[0]
                    paths = [path for path in sources.paths if Path(path).name in of]
                    sessions |= self._whole(replace(sources, session=number, paths=paths), None)
        if sum(session.chars for session in sessions.values()) > KEPT_CHARS:
            raise _TooMuchError
        return _State(
            revision=revision, sessions=sessions, segments=segments, departed=sources.departed, logs=logs
        )

    def _add(
        self,
        sessions: dict[int, _Kept],
        number: int,
        added: _Added,
        sources: StreamSources,
        segments: Mapping[int, tuple[frozenset[str], int]],
    ) -> bool:
        """Take in what was added to a session; False where an event changed that is not in logs alone."""
        session_texts = sessions.get(number) or _Kept(())
        place = session_texts.unchanged(added)
        tick = min([added.tick, *session_texts.firsts[place : place + 1]])
        if number in segments and segments[number][1] >= tick:
            return False
        known = session_texts.until(place)
        own, ticks = replace(sources, session=number, paths=()), (tick, TICK_LIMIT)
        departed = TickRanges({number: sources.departed[number]}) if number in sources.departed else None
        table = self._events.of_logs(own, departed, ticks=ticks)
        if table is not None and len(table["tick"]) <= FEW:
            known.add(joined(table, number))
        elif table is not None:
            for some in self._whole(own, ticks).values():
                known.add(some.rows)
        sessions[number] = known
        return True

    def _whole(self, sources: StreamSources, ticks: tuple[int, int] | None) -> dict[int, _Kept]:
        """Return the events of sources, of logs within `ticks`, by session."""
        rows: dict[int, list[_Row]] = {}
        chars = 0
        with self._events.opened(sources, ticks=ticks) as (cursor, sql):
            cursor.execute(f"{sql} ORDER BY session, first_tick")
            while some := cursor.fetchmany(_BATCH):
                for row in some:
                    rows.setdefault(row[0], []).append(row)
                    chars += len(row[_CONTENT])
                if chars > KEPT_CHARS:
                    raise _TooMuchError
        return {number: _Kept(some) for number, some in rows.items()}


def _read(
    logs: Sequence[Frames], before: Mapping[str, _LogTexts]
) -> tuple[dict[str, _LogTexts], dict[int, _Added], set[int]]:
    """Return what was read of logs, what of it is new by session, and the sessions of which something went."""
    import numpy as np

    texts_by_log: dict[str, _LogTexts] = {}
    added: dict[int, _Added] = {}
    for log in logs:
        texts = before.get(log.name, _LogTexts(0, frozenset()))
        total = sum(map(len, log.frames))
        if total < texts.rows:
            texts = _LogTexts(0, texts.sessions)
        sessions, left = set(texts.sessions), total - texts.rows
        for frame in reversed(log.frames):
            if left <= 0:
                break
            session, tick, event = (
                frame.numbers[name][-left:] if left < len(frame) else frame.numbers[name]
                for name in ("session", "tick", "event")
            )
            left -= len(frame)
            for number in np.unique(session).tolist():
                of = session == number
                some = added.setdefault(number, _Added())
                some.tick = min(some.tick, int(tick[of].min()))
                some.events.update(log.strings[number] for number in np.unique(event[of]).tolist() if number)
                sessions.add(number)
        texts_by_log[log.name] = _LogTexts(total, frozenset(sessions))
    went = {
        number
        for name, log in before.items()
        if name not in texts_by_log or texts_by_log[name].rows < log.rows
        for number in log.sessions
    }
    return texts_by_log, added, went
