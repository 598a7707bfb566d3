"""Fidelity tiers: what is pinned, what it may take, what becomes of a window that is let go (document 2, section 4).

A window protects the timesteps in it. Whoever stops protecting them says so in one transaction; turning them into
REPLY records comes after it, and `settle` does what a program that was killed in between left to do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from hexad.core.arguments import quoted
from hexad.core.tick_ranges import Ranges, count, difference, intersection, union
from hexad.database.connection import Database
from hexad.database.store_context import StoreContext
from hexad.errors import Conflict, InvalidInput, NotFound, QuotaExceeded
from hexad.experience.query.reader import StreamReader
from hexad.experience.query.totals import RangeTotals, last_recorded, range_totals
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.cold_records import ColdRecords
from hexad.experience.tables.compactions import Compactions
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.windows import (
    PROTECTING,
    FullDetail,
    NewWindow,
    SubmissionTable,
    WindowRow,
    Windows,
)
from hexad.experience.tags.visibility import ConceptVisibility
from hexad.experience.tiers.compression import compress_records
from hexad.experience.tiers.replies import ReplyMaker
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.records import StepQuery
from hexad.experience.values.tags import NOTE_BYTES_LIMIT, check_size, check_ticks
from hexad.experience.values.tiers import CompressedRecord, TickIds, TimeWindow


class WindowValues:
    """Makes `TimeWindow`s out of rows."""

    def __init__(self, db: Database, visibility: ConceptVisibility) -> None:
        self._db, self._visibility = db, visibility
        self._submissions, self._compactions = SubmissionTable(db), Compactions(db)
        self._compressed, self._departed = ColdRecords(db), ColdRanges(db)

    def of(self, rows: Sequence[WindowRow]) -> list[TimeWindow]:
        """Return the windows of rows, in their order, with what may be seen of them."""
        with self._db.read():
            named = self._submissions.unresolved([row.no for row in rows])
            cold = self._cold(rows)
            remains = {
                session: _Substitutes(
                    self._compressed,
                    self._departed,
                    [row for row in cold.values() if row.session_no == session],
                )
                for session in {row.session_no for row in cold.values()}
            }
            windows = [
                _cold_window(_window(row, ()), remains[row.session_no].of(row))
                if row.no in cold
                else _window(row, named.get(row.no, ()))
                for row in rows
            ]
        return [self._visibility.window(window) for window in windows]

    def _cold(self, rows: Sequence[WindowRow]) -> Mapping[int, WindowRow]:
        """Return those that are COLD, by number: compaction moves on without a word to windows that protect nothing."""
        through = {
            session: self._compactions.state(session).compacted_through
            for session in {row.session_no for row in rows if row.fidelity is Fidelity.HOT}
        }
        return {
            row.no: row
            for row in rows
            if row.fidelity is Fidelity.COLD
            or (row.fidelity is Fidelity.HOT and row.ticks[1] <= through[row.session_no])
        }


class _Substitutes:
    """What stands for the ticks of some windows of one session: replies, or what those were compressed to."""

    def __init__(self, compressed: ColdRecords, departed: ColdRanges, rows: Sequence[WindowRow]) -> None:
        self._compressed, self._rows = compressed, rows
        hull = (min(row.ticks[0] for row in rows), max(row.ticks[1] for row in rows))
        self._departed = departed.cold(rows[0].session_no, hull)
        self._places: list[tuple[int, int, str]] = []
        self._replies: dict[str, CompressedRecord] = {}
        for reply in self._records(StepQuery(session_id=rows[0].session_id, ticks=hull)):
            if isinstance(reply.source_record_ids, TickIds):
                self._replies[reply.id] = reply
                self._places += [(first, last, reply.id) for first, last in reply.source_record_ids.ranges]
        # A tick is in one record, so these are apart.
        self._places.sort()
        self._lasts = [last for _, last, _ in self._places]
        self._coarse: list[CompressedRecord] | None = None

    def _records(self, question: StepQuery) -> list[CompressedRecord]:
        numbers = [match.no for match in self._compressed.matches(question, self._rows[0].session_no)]
        return list(self._compressed.by_numbers(numbers).values())

    def of(self, row: WindowRow) -> list[CompressedRecord]:
        """Return the records that stand for a window, in order; none while another window protects all of it."""
        records: dict[str, CompressedRecord] = {}
        ticks: list[tuple[int, int]] = []
        for first, last, reply in self._places[bisect_left(self._lasts, row.ticks[0]) :]:
            if first > row.ticks[1]:
                break
            records[reply] = self._replies[reply]
            ticks.append((first, last))
        if records and not difference(intersection(self._departed, [row.ticks]), union(ticks)):
            return list(records.values())
        if self._coarse is None:
            question = StepQuery(session_id=row.session_id)
            self._coarse = sorted(
                (record for record in self._records(question) if record.level > CompressionLevel.REPLY),
                key=lambda record: (record.start_time, record.id),
            )
        coarse = (
            record
            for record in self._coarse
            if record.start_time <= row.end_time and record.end_time >= row.start_time
        )
        return [*coarse, *records.values()]


def _window(row: WindowRow, submission_ids: Sequence[str]) -> TimeWindow:
    return TimeWindow(
        id=row.id,
        session_id=row.session_id,
        start_tick=row.ticks[0],
        end_tick=row.ticks[1],
        start_time=row.start_time,
        end_time=row.end_time,
        fidelity=row.fidelity,
        pinned=row.pinned,
        pinned_reason=row.pinned_reason,
        submission_ids=tuple(submission_ids),
        token_count=row.token_count,
        grace_until=row.grace_until,
    )


def _cold_window(window: TimeWindow, records: Sequence[CompressedRecord]) -> TimeWindow:
    level = max((record.level for record in records), default=CompressionLevel.REPLY)
    window = replace(window, fidelity=Fidelity.COLD, compression_level=level)
    if not records:
        return window
    gist = records[0]
    if len(records) > 1:
        gist = compress_records(records, max(level, CompressionLevel.SESSION))
    return replace(
        window,
        summary=gist.summary,
        top_k_activations=gist.top_k_activations,
        significant_tags=tuple(gist.significant_tags),
        source_record_ids=tuple(record.id for record in records),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PinRequest:
    """What was seen when a pin was asked for, before its turn to write came."""

    session_no: int
    totals: RangeTotals
    departed: Ranges
    pinned: Sequence[WindowRow]
    used_tokens: int
    after_tokens: int


class PinnedWindows:
    """Pins windows and lets go of them. Safe to share between threads and processes."""

    def __init__(
        self,
        context: StoreContext,
        *,
        reader: StreamReader,
        replies: ReplyMaker,
        flush: Callable[[], None],
        warm_quota: Callable[[], int],
        mask: Callable[[str], str],
        visibility: ConceptVisibility,
    ) -> None:
        """`warm_quota` says how many tokens may be pinned, `mask` takes secrets out of texts, `visibility` hidden
        concepts out of what is shown.
        """  # fmt: skip
        db = context.db
        self._db, self._ids, self._reader, self._replies = db, context.ids, reader, replies
        self._flush, self._warm_quota, self._mask = flush, warm_quota, mask
        self._grace = timedelta(days=context.settings.xdb_submission_grace_days)
        self._windows, self._submissions = Windows(db), SubmissionTable(db)
        self._sessions, self._compactions = Sessions(db), Compactions(db)
        self._departed = ColdRanges(db)
        self._values = WindowValues(db, visibility)

    # Pins -------------------------------------------------------------------------------------------------------

    def pin(self, session_id: str, ticks: Sequence[int], *, reason: str | None = None) -> TimeWindow:
        """Keep ticks in full detail until they are unpinned; the same ticks again are the same window.

        Of a range that is partly COLD what is left is pinned: the window says from where to where, and how many
        tokens. Raises `QuotaExceeded`, `NotFound` for ticks that were never recorded, `Conflict` for such as are COLD.
        """
        checked_ticks = check_ticks(ticks)
        note = self._reason(reason)
        self._sessions.get(session_id)
        self._flush()
        number = self._db.prepare_and_act(
            prepare=lambda _: self._request(session_id, checked_ticks),
            is_current=self._still_so,
            act=lambda request: self._pin(request, note),
        )
        return self.get_by_number(number)

    def _reason(self, reason: str | None) -> str | None:
        if reason is None:
            return None
        return self._mask(check_size(reason, "reason", limit_bytes=NOTE_BYTES_LIMIT))

    def _request(self, session_id: str, ticks: tuple[int, int]) -> _PinRequest:
        number = self._sessions.number(session_id)
        assert number is not None
        departed = self._departed.ranges(number, ticks)
        totals = range_totals(self._reader, {session_id: (ticks,)})
        reached = max([totals.ticks[1] for totals in totals] + [last for _, last in departed], default=0)
        if reached < ticks[1]:
            self._check_recorded(session_id, number, ticks)
        if not totals:
            shown = f"{ticks[0]} to {ticks[1]} of session {session_id!r}"
            if self._departed.cold(number, ticks):
                raise Conflict(
                    f"Ticks {shown} are COLD already: their tokens are gone, nothing can be pinned."
                )
            raise NotFound(f"Ticks {shown} were never recorded; nothing can be pinned.")
        pinned = self._windows.find(pinned=True, fidelities=[Fidelity.WARM])
        return _PinRequest(
            session_no=number,
            totals=totals[0],
            departed=departed,
            pinned=pinned,
            used_tokens=self._tokens(pinned),
            after_tokens=self._tokens(pinned, totals[0]),
        )

    def _check_recorded(self, session_id: str, number: int, ticks: tuple[int, int]) -> None:
        """Raise `NotFound` for a range that ends after what was ever recorded; a gap in between is none."""
        last = last_recorded(self._reader, self._departed, session_id, number)
        if last < ticks[1]:
            raise NotFound(
                f"Session {session_id!r} has no tick {ticks[1]} yet; its last is {last}. Pin what was recorded."
            )

    def _still_so(self, request: _PinRequest) -> bool:
        return request.departed == self._departed.ranges(request.session_no, request.totals.requested) and [
            (row.no, row.ticks) for row in request.pinned
        ] == [(row.no, row.ticks) for row in self._windows.find(pinned=True, fidelities=[Fidelity.WARM])]

    def _pin(self, request: _PinRequest, reason: str | None) -> int:
        totals = request.totals
        limit = self._warm_quota()
        if request.after_tokens > max(limit, request.used_tokens):
            raise QuotaExceeded(
                f"Pinning ticks {totals.ticks[0]} to {totals.ticks[1]} of session {totals.session_id!r} would take"
                f" {request.after_tokens - request.used_tokens:,} tokens more; {request.used_tokens:,} of the WARM"
                f" quota of {limit:,} are used.",
                remedy="Unpin a window (`{windows(pinned=True)}` lists them), or agree on a"
                " contract with a larger `warm_quota_tokens`. Nothing was pinned.",
            )
        for row in self._windows.exactly(request.session_no, totals.ticks):
            if row.fidelity in (Fidelity.WARM, Fidelity.HOT):
                self._windows.pin(row.no, _holds(totals), reason=reason)
                return row.no
        return self._windows.insert(
            NewWindow(
                id=self._ids.new("window"),
                session_no=request.session_no,
                ticks=totals.ticks,
                holds=_holds(totals),
                fidelity=Fidelity.WARM,
                pinned=True,
                pinned_reason=reason,
            ),
            at=self._db.clock.now(),
        )

    def _tokens(self, rows: Iterable[WindowRow], more: RangeTotals | None = None) -> int:
        """Return the tokens of the union of windows; where some of a session overlap, counted from the stream."""
        by_session: dict[str, list[tuple[tuple[int, int], int]]] = {}
        for row in rows:
            by_session.setdefault(row.session_id, []).append((row.ticks, row.token_count))
        if more is not None:
            by_session.setdefault(more.session_id, []).append((more.ticks, more.tokens))
        total = 0
        overlapping: dict[str, Ranges] = {}
        for session_id, some in by_session.items():
            ranges = [ticks for ticks, _ in some]
            if count(union(ranges)) == count(ranges):
                total += sum(tokens for _, tokens in some)
            else:
                overlapping[session_id] = union(ranges)
        return total + sum(range_total.tokens for range_total in range_totals(self._reader, overlapping))

    def warm_tokens(self) -> int:
        """Return how many tokens are pinned, those under several pins once."""
        self._flush()
        return self._tokens(self._windows.find(pinned=True, fidelities=[Fidelity.WARM]))

    # Letting go -------------------------------------------------------------------------------------------------

    def unpin(self, window_id: str) -> TimeWindow:
        """Let go of a pinned window, or of one in its grace; what has left the context becomes REPLY records.

        Raises `Conflict` for one that an unresolved submission names. One that nothing keeps stays as it is.
        """
        with self._db.transaction():
            row = self._windows.get(window_id)
            if row.fidelity is Fidelity.SUBMITTED:
                named = ", ".join(map(repr, self._submissions.unresolved([row.no]).get(row.no, ())))
                raise Conflict(
                    f"Window {window_id!r} is the evidence of {named}; it is let go when that is resolved."
                )
            if row.fidelity is Fidelity.WARM:
                self._windows.release(row.no, Fidelity.HOT, CompressionLevel.TOKEN)
        self.settle([row])
        return self.get(window_id)

    def release_when_due(self) -> int:
        """Let go of the windows whose grace is over, and settle what was let go before; returns how many were due."""
        with self._db.read():
            is_due = bool(self._windows.grace_ended(self._db.clock.now()))
            waiting = self._windows.unprotected()
        rows: list[WindowRow] = []
        if is_due:
            with self._db.transaction():
                rows = self._windows.grace_ended(self._db.clock.now())
                for row in rows:
                    self._windows.release(row.no, Fidelity.HOT, CompressionLevel.TOKEN)
        self.settle([*waiting, *rows])
        return len(rows)

    def settle(self, rows: Collection[WindowRow]) -> None:
        """Turn into REPLY records what windows that were let go hold: of accepted ones everything, of others what has
        left the context. What another window protects stays.
        """  # fmt: skip
        touched = union_by_session((row.session_no, row.ticks) for row in rows)
        ranges: dict[int, list[tuple[int, int]]] = {}
        done_rows: list[WindowRow] = []
        with self._db.read():
            for session, some in touched.items():
                through = self._compactions.state(session).compacted_through
                # Those too that were let go before, and whose ticks one of these protected until now.
                for row in self._windows.unprotected(session_no=session, ticks=(some[0][0], some[-1][1])):
                    ticks = _to_go(row, through) if intersection(some, [row.ticks]) else None
                    if ticks is not None:
                        ranges.setdefault(session, []).append(ticks)
                        if ticks == row.ticks:
                            done_rows.append(row)
            names = self._sessions.names(ranges)
        for number, going in ranges.items():
            self._replies.release(names[number], union(going))
        self._note_cold(done_rows)

    def _note_cold(self, rows: Collection[WindowRow]) -> None:
        """Note of windows that nothing of theirs is in full detail any more, where that is so."""
        if not rows:
            return
        with self._db.transaction():
            now = self._windows.by_numbers([row.no for row in rows])
            kept_ranges = {
                session: union(
                    ticks
                    for ranges in self._windows.protected(session, (some[0][0], some[-1][1])).values()
                    for ticks in ranges
                )
                for session, some in union_by_session((row.session_no, row.ticks) for row in now).items()
            }
            for row in now:
                if row.fidelity not in PROTECTING and not intersection(
                    kept_ranges[row.session_no], [row.ticks]
                ):
                    self._windows.release(row.no, Fidelity.COLD, CompressionLevel.REPLY)

    # Questions --------------------------------------------------------------------------------------------------

    def get(self, window_id: str) -> TimeWindow:
        """Return one window; raises `NotFound`."""
        return self._values.of([self._windows.get(window_id)])[0]

    def get_by_number(self, number: int) -> TimeWindow:
        """Return the window of a row."""
        return self._values.of(self._windows.by_numbers([number]))[0]

    def by_numbers(self, numbers: Collection[int]) -> list[TimeWindow]:
        """Return the windows of some rows, by session and first tick."""
        return self._values.of(self._windows.by_numbers(numbers))

    def find(
        self,
        *,
        session_id: str | None = None,
        ticks: tuple[int, int] | None = None,
        fidelity: Fidelity | None = None,
        pinned: bool | None = None,
    ) -> list[TimeWindow]:
        """Return the windows that pass, by session and first tick; raises `NotFound` for an unknown session."""
        number = None
        if session_id is not None:
            self._sessions.get(session_id)
            number = self._sessions.number(session_id)
        if pinned is not None and not isinstance(pinned, bool):
            raise InvalidInput(f"pinned = {quoted(pinned)} is neither True nor False.", argument="pinned")
        # HOT and COLD depend on how far the context has moved on since.
        stored = None if fidelity is None else [fidelity]
        if fidelity in (Fidelity.HOT, Fidelity.COLD):
            stored = [Fidelity.HOT, Fidelity.COLD]
        rows = self._windows.find(session_no=number, ticks=ticks, fidelities=stored, pinned=pinned)
        windows = self._values.of(rows)
        return windows if fidelity is None else [window for window in windows if window.fidelity is fidelity]

    # Submissions' windows ---------------------------------------------------------------------------------------

    def in_stream(self, ranges: Mapping[str, Ranges]) -> list[RangeTotals]:
        """Return what of each range is in full detail."""
        self._flush()
        return range_totals(self._reader, ranges)

    def submit(self, session_no: int, totals: RangeTotals) -> int:
        """Keep a range as evidence, in the caller's transaction; returns the window's number, a shared one's too."""
        same = [
            row
            for row in self._windows.exactly(session_no, totals.ticks)
            if row.fidelity is not Fidelity.COLD
        ]
        if same:
            strongest = min(same, key=lambda row: (row.fidelity is not Fidelity.SUBMITTED, row.no))
            self._windows.submit(strongest.no, _holds(totals))
            return strongest.no
        return self._windows.insert(
            NewWindow(
                id=self._ids.new("window"),
                session_no=session_no,
                ticks=totals.ticks,
                holds=_holds(totals),
                fidelity=Fidelity.SUBMITTED,
            ),
            at=self._db.clock.now(),
        )

    def resolve(self, numbers: Collection[int], *, accepted: bool) -> None:
        """Let go of these windows, in the caller's transaction, but for those that other submissions name."""
        named = self._submissions.unresolved(numbers)
        until = self._db.clock.now() + self._grace
        for number in numbers:
            if number in named:
                continue
            if accepted:
                self._windows.release(number, Fidelity.COLD, CompressionLevel.TOKEN)
            else:
                self._windows.warm(number, until=until)

    def settle_numbers(self, numbers: Collection[int]) -> None:
        """Settle the windows of some rows."""
        self.settle(self._windows.by_numbers(numbers))


def union_by_session(pairs: Iterable[tuple[int, tuple[int, int]]]) -> dict[int, Ranges]:
    """Return ticks by the session's number."""
    ticks_by_session: dict[int, list[tuple[int, int]]] = {}
    for session, ticks in pairs:
        ticks_by_session.setdefault(session, []).append(ticks)
    return {session: union(ranges) for session, ranges in ticks_by_session.items()}


def _holds(totals: RangeTotals) -> FullDetail:
    return FullDetail(start_time=totals.start_time, end_time=totals.end_time, token_count=totals.tokens)


def _to_go(row: WindowRow, compacted_through: int) -> tuple[int, int] | None:
    """Return the ticks of a window that was let go which are to be REPLY records by now."""
    if row.fidelity is Fidelity.COLD:
        return row.ticks
    return None if compacted_through < row.ticks[0] else (row.ticks[0], min(row.ticks[1], compacted_through))
