"""What is in the stream of some ranges of ticks, counted without reading a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hexad.core.tick_ranges import Ranges
from hexad.database.codec import from_micros
from hexad.experience.query.reader import Asked, StreamReader
from hexad.experience.values.records import StepQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeTotals:
    """What is in full detail of one range of ticks of a session: `ticks` from the first to the last that is there."""

    session_id: str
    asked: tuple[int, int]
    ticks: tuple[int, int]
    start_time: datetime
    end_time: datetime
    timesteps: int
    tokens: int


def range_totals(reader: StreamReader, ranges: Mapping[str, Ranges]) -> list[RangeTotals]:
    """Return what each range holds, by session and first tick; a range without a timestep is left out.

    The ranges of a session are sorted and apart, as `union` returns them.
    """
    found: list[RangeTotals] = []
    for session_id in sorted(ranges):
        some = ranges[session_id]
        if not some:
            continue
        hull = (some[0][0], some[-1][1])
        question = StepQuery(session_id=session_id, ticks=hull, tagged={session_id: some})
        rows = reader.ask(question, _totals, light=True)
        found += [
            RangeTotals(
                session_id=session_id,
                asked=(first, last),
                ticks=(lowest, highest),
                start_time=from_micros(since),
                end_time=from_micros(until),
                timesteps=steps,
                tokens=int(tokens),
            )
            for first, last, lowest, highest, since, until, steps, tokens in rows
        ]
    return found


def tick_at(reader: StreamReader, session_id: str, ranges: Ranges, place: int) -> int | None:
    """Return the tick of the timestep at a place, counted from 0, among those of some ranges that are in full detail;
    None where there are no more than that.
    """  # fmt: skip
    question = StepQuery(
        session_id=session_id, ticks=(ranges[0][0], ranges[-1][1]), tagged={session_id: ranges}
    )

    def at(asked: Asked) -> int | None:
        if asked.steps is None:
            return None
        row = asked.cursor.execute(
            f"SELECT tick FROM (SELECT tick {asked.steps}) ORDER BY tick LIMIT 1 OFFSET {place:d}",
            list(asked.params),
        ).fetchone()
        return None if row is None else int(row[0])

    return reader.ask(question, at)


def _totals(asked: Asked) -> list[tuple[Any, ...]]:
    if asked.steps is None:
        return []
    return asked.cursor.execute(
        "SELECT p.first_tick, p.last_tick, min(s.tick), max(s.tick), min(s.ts), max(s.ts), count(*), sum(s.tokens)"
        f" FROM (SELECT tick, ts, tokens {asked.steps}) s"
        # A place is there once for each block of ticks that it shares.
        " JOIN (SELECT DISTINCT first_tick, last_tick FROM places) p ON s.tick BETWEEN p.first_tick AND p.last_tick"
        " GROUP BY ALL ORDER BY p.first_tick",
        list(asked.params),
    ).fetchall()
