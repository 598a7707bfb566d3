"""What is in the stream of some ranges of ticks, counted without reading a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hexad.core import tick_ranges as ticks
from hexad.core.tick_ranges import Ranges
from hexad.database.codec import from_micros
from hexad.database.connection import Database
from hexad.errors import IntegrityError
from hexad.experience.query.reader import StepSelection, StreamReader
from hexad.experience.stream.frames import Frames
from hexad.experience.stream.manifest import SegmentManifest
from hexad.experience.stream.rows import KEYED
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.sessions import Sessions
from hexad.experience.values.pressure import Amount
from hexad.experience.values.records import TICK_LIMIT, StepQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeTotals:
    """What is in full detail of one range of ticks of a session: `ticks` from the first to the last that is there."""

    session_id: str
    requested: tuple[int, int]
    ticks: tuple[int, int]
    start_time: datetime
    end_time: datetime
    timesteps: int
    tokens: int


def range_totals(reader: StreamReader, ranges: Mapping[str, Ranges]) -> list[RangeTotals]:
    """Return what each range holds, by session and first tick; a range without a timestep is left out.

    The ranges of a session are sorted and apart, as `union` returns them.
    """
    totals: list[RangeTotals] = []
    for session_id in sorted(ranges):
        some = ranges[session_id]
        if not some:
            continue
        hull = (some[0][0], some[-1][1])
        question = StepQuery(session_id=session_id, ticks=hull, tagged={session_id: some})
        rows = reader.ask(question, _totals, light=True)
        totals += [
            RangeTotals(
                session_id=session_id,
                requested=(first, last),
                ticks=(lowest, highest),
                start_time=from_micros(since),
                end_time=from_micros(until),
                timesteps=steps,
                tokens=int(tokens),
            )
            for first, last, lowest, highest, since, until, steps, tokens in rows
        ]
    return totals


def tick_at(reader: StreamReader, session_id: str, ranges: Ranges, place: int) -> int | None:
    """Return the tick of the timestep at a place, counted from 0, among those of some ranges that are in full detail;
    None where there are no more than that.
    """  # fmt: skip
    question = StepQuery(
        session_id=session_id, ticks=(ranges[0][0], ranges[-1][1]), tagged={session_id: ranges}
    )

    def at(selection: StepSelection) -> int | None:
        if selection.steps is None:
            return None
        row = selection.cursor.execute(
            f"SELECT tick FROM (SELECT tick {selection.steps}) ORDER BY tick LIMIT 1 OFFSET {place:d}",
            list(selection.params),
        ).fetchone()
        return None if row is None else int(row[0])

    return reader.ask(question, at)


def _totals(selection: StepSelection) -> list[tuple[Any, ...]]:
    if selection.steps is None:
        return []
    return selection.cursor.execute(
        "SELECT p.first_tick, p.last_tick, min(s.tick), max(s.tick), min(s.ts), max(s.ts), count(*), sum(s.tokens)"
        f" FROM (SELECT tick, ts, tokens {selection.steps}) s"
        # A place is there once for each block of ticks that it shares.
        " JOIN (SELECT DISTINCT first_tick, last_tick FROM places) p ON s.tick BETWEEN p.first_tick AND p.last_tick"
        " GROUP BY ALL ORDER BY p.first_tick",
        list(selection.params),
    ).fetchall()


def session_totals(db: Database, reader: StreamReader) -> dict[str, Amount]:
    """Return for each session that has any: `records` in full detail and COLD, the timesteps and tokens they stand for.

    COLD records of a day or more are of several sessions and count for none.
    """
    counts: Counter[tuple[int, str]] = Counter()
    for number, timesteps, tokens in reader.ask(StepQuery(), _session_counts, light=True):
        counts[number, "records"] += timesteps
        counts[number, "timesteps"] += timesteps
        counts[number, "tokens"] += tokens
    rows = db.query(
        "SELECT session_no, count(*), sum(timesteps), sum(token_count) FROM compressed_records"
        " WHERE session_no IS NOT NULL GROUP BY session_no"
    )
    for number, records, timesteps, tokens in rows:
        counts[number, "records"] += records
        counts[number, "timesteps"] += timesteps
        counts[number, "tokens"] += tokens
    names = Sessions(db).names(number for number, _ in counts)
    return {
        name: Amount(
            records=counts[number, "records"],
            timesteps=counts[number, "timesteps"],
            tokens=counts[number, "tokens"],
        )
        for number, name in names.items()
    }


def _session_counts(selection: StepSelection) -> Sequence[tuple[int, int, int]]:
    if selection.steps is None:
        return ()
    rows = selection.cursor.execute(
        f"SELECT session, count(*), sum(tokens) FROM (SELECT session, tokens {selection.steps}) GROUP BY session",
        selection.params,
    ).fetchall()
    return [(int(number), int(timesteps), int(tokens)) for number, timesteps, tokens in rows]


def was_recorded(
    reader: StreamReader, manifest: SegmentManifest, cold: ColdRanges, session_id: str, tick: int
) -> bool:
    """Return whether a session has a tick, also one that a COLD record stands for, but none that was erased; raises
    `NotFound` for an unknown session.
    """  # fmt: skip
    question = StepQuery(session_id=session_id, ticks=(tick, tick), limit=1)
    sources = reader.sources(question)
    session = sources.session
    if session is None:
        return False
    if ticks.holds(sources.departed.get(session, ()), tick):
        return bool(cold.cold(session, (tick, tick)))
    if _in_logs(sources.logs, session, tick):
        return True
    if not sources.paths:
        return False
    # Most segments have every tick between their first and their last of a session.
    return manifest.has_all(session, tick) or bool(reader.query(question))


def last_recorded(reader: StreamReader, cold: ColdRanges, session_id: str, number: int) -> int:
    """Return the last tick that a session has, also one that left the stream; 0 where nothing was recorded."""
    everything = (0, TICK_LIMIT)
    totals = range_totals(reader, {session_id: (everything,)})
    return max(
        [totals.ticks[1] for totals in totals] + [end for _, end in cold.ranges(number, everything)],
        default=0,
    )


def _in_logs(logs: Sequence[Frames], session: int, tick: int) -> bool:
    for log in logs:
        for frame in log.frames:
            numbers: dict[str, NDArray[Any]] = frame.numbers
            if ((numbers["tick"] == tick) & (numbers["session"] == session)).any():
                return True
    return False


_RUNS: Final = (
    "SELECT session, min(tick), max(tick), min(ts), max(ts) FROM (SELECT session, tick, ts,"
    " tick - row_number() OVER (PARTITION BY session ORDER BY tick) AS run FROM (SELECT session, tick, ts {steps})"
    " WHERE {when}) GROUP BY session, run ORDER BY session, 2"
)

TickRun = tuple[int, int, int, int, int]
"""A session's number, the first and the last tick, the earliest and the latest time."""


def tick_runs(
    reader: StreamReader, question: StepQuery, *, dated: tuple[int, int] | None = None
) -> list[TickRun]:
    """Return the ticks for which a question holds, by session; with `dated`, in microseconds, only those of timesteps
    dated up to the first or after the second.
    """  # fmt: skip
    when = "true" if dated is None else f"(ts <= {dated[0]:d} OR ts > {dated[1]:d})"

    def read(selection: StepSelection) -> list[tuple[Any, ...]]:
        if selection.steps is None:
            return []
        return selection.cursor.execute(
            _RUNS.format(steps=selection.steps, when=when), list(selection.params)
        ).fetchall()

    return reader.ask(question, read, light=True)


class LiveStep(NamedTuple):
    """A timestep in the window; those of one event have the same `event`."""

    tick: int
    tokens: int
    event: object


def live_steps(reader: StreamReader, session_id: str, *, after: int, last: int, limit: int) -> list[LiveStep]:
    """Return the first timesteps of a session that are in the stream after a tick, up to the tick `last`, in order."""
    reach = 2 * limit
    while True:
        # All ticks at once would put a long session in order to look at its beginning.
        until = min(after + reach, last)
        steps = _steps(reader, session_id, (after + 1, until), limit)
        if len(steps) >= limit or until >= last:
            return steps
        reach *= 8


def _steps(reader: StreamReader, session_id: str, ticks: tuple[int, int], limit: int) -> list[LiveStep]:
    if ticks[0] > ticks[1]:
        return []

    def read(selection: StepSelection) -> list[LiveStep]:
        if selection.steps is None:
            return []
        rows = selection.cursor.execute(
            f"SELECT tick, tokens, event, run FROM ({KEYED.format(steps=selection.steps)}) ORDER BY tick LIMIT ?",
            [*selection.params, limit],
        ).fetchall()
        return [LiveStep(tick, tokens, event or run) for tick, tokens, event, run in rows]

    return reader.ask(StepQuery(session_id=session_id, ticks=ticks), read, light=True)


def live_totals(reader: StreamReader, session_id: str, *, after: int) -> RangeTotals | None:
    """Return what is in the stream of a session after a tick, None when nothing is."""
    asked_for = (after + 1, TICK_LIMIT)
    row = reader.ask(StepQuery(session_id=session_id, ticks=asked_for), _live_totals, light=True)
    if row is None or not row[4]:
        return None
    lowest, highest, since, until, steps, tokens = row
    return RangeTotals(
        session_id=session_id,
        requested=asked_for,
        ticks=(lowest, highest),
        start_time=from_micros(since),
        end_time=from_micros(until),
        timesteps=steps,
        tokens=int(tokens),
    )


class WindowTotals(NamedTuple):
    """What is in the stream of a session after a tick: up to the tick `last`."""

    last: int
    timesteps: int
    tokens: int


def windows_totals(reader: StreamReader, windows: Mapping[str, tuple[int, int]]) -> dict[int, WindowTotals]:
    """Return what is in the stream of sessions between two ticks of each, both included, in one question.

    By the session's number; one that has nothing there is left out.
    """
    tagged = {session: (ticks,) for session, ticks in windows.items() if ticks[0] <= ticks[1]}
    if not tagged:
        return {}
    return {
        number: WindowTotals(last, timesteps, _whole(tokens, number))
        for number, last, timesteps, tokens in reader.ask(StepQuery(tagged=tagged), _by_session, light=True)
    }


def _whole(tokens: int | None, session: int) -> int:
    if tokens is None:
        raise IntegrityError(
            f"The store is damaged: the steps of session number {session} have no number of tokens. "
            "Run `hexad check`, and put a backup in its place."
        )
    return int(tokens)


def _by_session(selection: StepSelection) -> list[tuple[Any, ...]]:
    if selection.steps is None:
        return []
    return selection.cursor.execute(
        f"SELECT session, max(tick), count(*), sum(tokens) FROM (SELECT session, tick, tokens {selection.steps})"
        " GROUP BY session",
        list(selection.params),
    ).fetchall()


def _live_totals(selection: StepSelection) -> tuple[Any, ...] | None:
    if selection.steps is None:
        return None
    return selection.cursor.execute(
        "SELECT min(tick), max(tick), min(ts), max(ts), count(*), sum(tokens)"
        f" FROM (SELECT tick, ts, tokens {selection.steps})",
        list(selection.params),
    ).fetchone()
