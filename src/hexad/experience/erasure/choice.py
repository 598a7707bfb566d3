"""What of the stream an erasure takes: which ticks in full detail, which COLD records, of which sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from hexad.core.erasure import Selection
from hexad.core.tick_ranges import Ranges, count, difference, intersection, union
from hexad.database.codec import to_micros
from hexad.database.connection import Database
from hexad.experience.erasure.rows import ColdRow, StreamErasureRows
from hexad.experience.query.reader import StreamReader
from hexad.experience.query.totals import tick_runs
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.values.records import TICK_LIMIT, StepQuery

_FEW: Final = 8
_FIRST: Final = datetime(1, 1, 1, tzinfo=UTC)
Places = Mapping[int, Ranges]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenSession:
    """What goes of one session: ticks in full detail (`live`), and such as COLD records stand for (`cold`).

    `unread` are those of `live` that lie in segments that cannot be read.
    `rest` is what stays of both, and every tick that is still to come. `replies` go as they are; `whole` says that
    nothing of the session stays. `vague` are ticks that stay, and of which nobody knows which are meant: only records
    of a session or more stand for them.
    """

    number: int
    id: str
    live: Ranges
    cold: Ranges
    rest: Ranges
    replies: Sequence[ColdRow]
    whole: bool
    vague: Ranges = ()
    unread: Ranges = ()

    @property
    def touched(self) -> Ranges:
        """All ticks of which nothing may be told any more."""
        return union([*self.ticks, *self.vague])

    @property
    def ticks(self) -> Ranges:
        """All ticks that go."""
        return union([*self.live, *self.cold])


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What an erasure takes. `removed` are records of a session or more that go, `emptied` such as stand for what
    stays too: they are left without their texts. `recounts` says for how many timesteps these stand from then on.

    `state` is what the store said when it was chosen, `times` from when to when what goes was recorded. `unsure` are
    segments that cannot be read and may hold more of what is meant.
    """

    sessions: Sequence[ChosenSession]
    removed: Sequence[ColdRow]
    emptied: Sequence[ColdRow]
    recounts: Mapping[int, int]
    times: tuple[int, int] | None
    state: object
    unsure: Sequence[str] = ()


@dataclass(slots=True)
class _Unread:
    """What segments that cannot be read hold of the sessions: which ticks, and of these, which are surely meant."""

    there: dict[int, Ranges] = field(default_factory=dict)
    meant: dict[int, Ranges] = field(default_factory=dict)
    times: tuple[int, int] | None = None
    unsure: set[str] = field(default_factory=set)


class Chooser:
    """Looks for what a selection names. `tagged` says where tags of exactly a name are, in ranges by session's id, and
    which tags those are.
    """  # fmt: skip

    def __init__(
        self,
        db: Database,
        reader: StreamReader,
        *,
        tagged: Callable[[str], tuple[Mapping[str, Ranges], frozenset[str]]],
        key: Callable[[], bytes],
    ) -> None:
        self._db, self._reader, self._tagged = db, reader, tagged
        self._rows, self._departed = StreamErasureRows(db, key=key), ColdRanges(db)

    def state(self, sessions: Sequence[int]) -> object:
        """Return what changes when ticks of these sessions move, or what stands for them does."""
        return self._rows.state(sessions, self._departed.ranges)

    def choose(self, selection: Selection, *, at: datetime) -> Choice:
        """Return what goes of what was recorded up to `at`.

        In spite of damage (`StreamReader.in_spite_of_damage`) it is known of a segment that cannot be read which ticks
        it has where there is no gap between them, and from when they are.
        """
        # An erasure that goes on later leaves alone what was begun since, under a name that it erased too. What is
        # dated past this moment was recorded before it all the same.
        since = to_micros(at), to_micros(self._db.clock.now())
        places: Mapping[str, Ranges] | None = None
        tags: frozenset[str] = frozenset()
        if selection.tag is not None:
            places, tags = self._tagged(selection.tag)
        named = self._rows.sessions(
            session_id=selection.session,
            subject=selection.subject,
            without=since,
            among=None if places is None else (places.keys(), self._rows.tagged_records(tags)),
        )
        numbers = sorted(named)
        state = self.state(numbers)
        live, times = self._live(selection, named, places, since)
        unread = self._unread(selection, named, places, since)
        live = {
            number: union([*live.get(number, ()), *unread.meant.get(number, ())])
            for number in live.keys() | unread.meant.keys()
        }
        if unread.times is not None:
            times = unread.times if times is None else _hull(times, unread.times)
        picked = _RecordFilter(selection, named, places, tags, self._rows, self._departed, since=since)
        coarse, emptied_before = self._rows.coarse(numbers), self._rows.erased_sessions(numbers)
        going = [
            session
            for number in numbers
            for session in [picked.session(number, live.get(number, ()), coarse)]
            if session.ticks
            or (picked.whole and number not in emptied_before)
            or picked.touched_in(number, coarse)
        ]
        sessions = self._with_rest(going, unread)
        chosen = {session.number: session for session in sessions}
        removed, emptied = picked.records(coarse, chosen)
        sessions = [replace(session, vague=picked.vague(session, emptied)) for session in sessions]
        recounts = self._recounts(picked.blurred_ticks(chosen), removed, emptied)
        for record in (*removed, *(reply for session in sessions for reply in session.replies)):
            times = record.times if times is None else _hull(times, record.times)
        known = self.state([session.number for session in sessions])
        return Choice(
            sessions=sessions,
            removed=removed,
            emptied=emptied,
            recounts=recounts,
            times=times,
            state=known if state == self.state(numbers) else None,
            unsure=sorted(unread.unsure),
        )

    # In full detail ---------------------------------------------------------------------------------------------

    def _live(
        self,
        selection: Selection,
        named: Mapping[int, str],
        places: Mapping[str, Ranges] | None,
        dated: tuple[int, int],
    ) -> tuple[Places, tuple[int, int] | None]:
        times = None if selection.before is None else (_FIRST, selection.before)
        if places is not None:
            named_places = {name: places[name] for name in named.values() if places.get(name)}
            questions = [StepQuery(tagged=named_places, times=times)] if named_places else []
        elif selection.session is None and selection.subject is None:
            questions = [StepQuery(times=times)]
        else:
            questions = _questions(named, times)
        ranges: dict[int, list[tuple[int, int]]] = {}
        hull: tuple[int, int] | None = None
        for question in questions:
            for number, first, last, since, until in tick_runs(self._reader, question, dated=dated):
                ranges.setdefault(number, []).append((first, last))
                hull = (since, until) if hull is None else _hull(hull, (since, until))
        return {number: union(ranges) for number, ranges in ranges.items() if number in named}, hull

    def _unread(
        self,
        selection: Selection,
        named: Mapping[int, str],
        places: Mapping[str, Ranges] | None,
        since: tuple[int, int],
    ) -> _Unread:
        unread = _Unread()
        before = None if selection.before is None else to_micros(selection.before)
        for name, session_ranges in self._reader.readable.unreadable(named).items():
            for session_range in session_ranges:
                number, (start, end) = session_range.session, session_range.times
                left = difference([session_range.ticks], self._departed.ranges(number))
                unread.there[number] = union([*unread.there.get(number, ()), *left])
                if (before is not None and start >= before) or since[0] < start <= end <= since[1]:
                    continue  # of after
                is_one_side = (before is None or end < before) and (end <= since[0] or start > since[1])
                if not (is_one_side and session_range.has_all):
                    unread.unsure.add(name)
                    continue
                if places is not None:  # which ticks a tagged event has may be said there alone
                    left = intersection(left, places.get(named[number], ()))
                    unread.unsure.add(name)
                if left:
                    unread.meant[number] = union([*unread.meant.get(number, ()), *left])
                    unread.times = (start, end) if unread.times is None else _hull(unread.times, (start, end))
        return unread

    def _with_rest(self, going: Sequence[ChosenSession], unread: _Unread) -> list[ChosenSession]:
        """Return the sessions with what stays of them.

        Of one that goes as a whole that is what was recorded since: an erasure that was broken off is finished later.
        """
        names = {session.number: session.id for session in going}
        there: dict[int, list[tuple[int, int]]] = {
            number: [*unread.there.get(number, ())] for number in names
        }
        for question in _questions(names, None):
            for number, first, last, _, _ in tick_runs(self._reader, question):
                if number in there:
                    there[number].append((first, last))
        reached = self._rows.next_ticks(names)
        sessions: list[ChosenSession] = []
        for chosen in going:
            session = replace(chosen, unread=intersection(chosen.live, unread.meant.get(chosen.number, ())))
            everything = union([*there[session.number], *self._departed.cold(session.number)])
            if session.whole and not difference(everything, session.ticks):
                sessions.append(session)
                continue
            last = max([reached[session.number] - 1, *(end for _, end in everything)])
            rest = union([*difference(everything, session.ticks), (last + 1, TICK_LIMIT)])
            sessions.append(replace(session, rest=rest, whole=False))
        return sessions

    # How many are left ------------------------------------------------------------------------------------------

    def _recounts(
        self, erased: int, removed: Sequence[ColdRow], emptied: Sequence[ColdRow]
    ) -> dict[int, int]:
        """Return for how many timesteps records stand when so many of theirs are gone, where that changes.

        A record of several sessions does not say how many of its timesteps each has; the sum over all records is known.
        """
        left = erased - sum(row.timesteps for row in removed)
        recounts: dict[int, int] = {}
        known_row_nos = {row.no for row in (*removed, *emptied)}
        for row in (
            *sorted(emptied, key=lambda row: -row.timesteps),
            *self._rows.other_coarse(known_row_nos),
        ):
            if not left:
                break
            taken = min(left, max(row.timesteps - 1, 0))
            if taken:
                recounts[row.no] = row.timesteps - taken
                left -= taken
        return recounts


class _RecordFilter:
    """Says of records whether a selection takes them."""

    def __init__(
        self,
        selection: Selection,
        named: Mapping[int, str],
        places: Mapping[str, Ranges] | None,
        tags: frozenset[str],
        rows: StreamErasureRows,
        departed: ColdRanges,
        *,
        since: tuple[int, int],
    ) -> None:
        self._since = since
        self._named, self._places, self._tags = named, places, tags
        self._rows, self._departed = rows, departed
        self._before = None if selection.before is None else to_micros(selection.before)
        self.whole = selection.tag is None and selection.before is None
        self._blurred: dict[int, Ranges] = {}
        self._going: dict[int, Ranges] = {}

    def session(self, number: int, live: Ranges, coarse: Sequence[ColdRow]) -> ChosenSession:
        """Return what goes of a session; what stays is looked for later."""
        cold, replies = self._departed.cold(number), self._rows.replies(number)
        ticks = union(tick for reply in replies for tick in reply.ticks)
        blurred = self._blurred[number] = difference(cold, ticks)
        taken_rows = [reply for reply in replies if self._takes(number, reply)]
        going = self._going[number] = self._erased_blurred(number, blurred, coarse)
        return ChosenSession(
            number=number,
            id=self._named[number],
            live=live,
            cold=union([*(tick for reply in taken_rows for tick in reply.ticks), *going]),
            rest=(),
            replies=taken_rows,
            whole=self.whole,
        )

    def _is_since(self, record: ColdRow) -> bool:
        """Whether all that a record stands for was recorded after the erasure was asked for; when it was made tells
        nothing.
        """  # fmt: skip
        return self._since[0] < record.times[0] and record.times[1] <= self._since[1]

    def _takes(self, number: int, reply: ColdRow) -> bool:
        if self._is_since(reply):
            return False
        if self._before is not None and reply.times[0] >= self._before:
            return False
        if self._places is None:
            return True
        where = self._places.get(self._named[number], ())
        return not reply.tags.isdisjoint(self._tags) or bool(intersection(reply.ticks, where))

    def _erased_blurred(self, number: int, blurred: Ranges, coarse: Sequence[ColdRow]) -> Ranges:
        """Return which of the ticks go that only records of a session or more stand for."""
        if any(
            number in row.sessions
            and (self._is_since(row) or (self._before is not None and row.times[1] >= self._before))
            for row in coarse
        ):
            return ()  # some are not meant, and nobody knows which
        return (
            blurred
            if self._places is None
            else intersection(blurred, self._places.get(self._named[number], ()))
        )

    def touched_in(self, number: int, coarse: Sequence[ColdRow]) -> bool:
        """Whether a record of a session or more, which covers this session, tells of what goes."""
        return any(number in row.sessions and self._touches(row, number) for row in coarse)

    def _touches(self, record: ColdRow, number: int) -> bool:
        if self._is_since(record):
            return False
        if self._before is not None and record.times[0] >= self._before:
            return False
        return self._places is None or bool(self._going.get(number)) or not record.tags.isdisjoint(self._tags)

    def records(
        self, coarse: Sequence[ColdRow], chosen: Mapping[int, ChosenSession]
    ) -> tuple[list[ColdRow], list[ColdRow]]:
        """Return which records go, and which stay without texts because what they stand for goes in part."""
        removed: list[ColdRow] = []
        emptied: list[ColdRow] = []
        for record in coarse:
            if not any(number in chosen and self._touches(record, number) for number in record.sessions):
                continue
            stays = any(
                number not in chosen or difference(self._blurred[number], self._going[number])
                for number in record.sessions
            )
            (emptied if stays else removed).append(record)
        return removed, emptied

    def vague(self, session: ChosenSession, emptied: Sequence[ColdRow]) -> Ranges:
        """Return the ticks of a session that may be among what is meant and are not known to be."""
        if session.whole or not any(
            session.number in record.sessions and self._touches(record, session.number) for record in emptied
        ):
            return ()
        known = self._before is None and self._going[session.number]
        return () if known else difference(self._blurred[session.number], self._going[session.number])

    def blurred_ticks(self, chosen: Mapping[int, ChosenSession]) -> int:
        """Return how many ticks go of those that only records of a session or more stand for."""
        return sum(count(self._going[number]) for number in chosen)


def _questions(sessions: Mapping[int, str], times: tuple[datetime, datetime] | None) -> list[StepQuery]:
    """Return what asks for all of these sessions: of few each by itself, of many everything at once."""
    if len(sessions) <= _FEW:
        return [StepQuery(session_id=name, times=times) for name in sessions.values()]
    return [StepQuery(times=times)]


def _hull(span: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return min(span[0], other[0]), max(span[1], other[1])
