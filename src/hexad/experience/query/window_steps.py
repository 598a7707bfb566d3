"""The timesteps of a context window, as far as it takes to say where it can be cut: no text is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hexad.database.codec import from_micros
from hexad.experience.query.reader import Asked, StreamReader
from hexad.experience.query.totals import RangeTotals
from hexad.experience.stream.grouping_sql import KEYED
from hexad.experience.values.records import TICK_LIMIT, StepQuery


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
        found = _steps(reader, session_id, (after + 1, until), limit)
        if len(found) >= limit or until >= last:
            return found
        reach *= 8


def _steps(reader: StreamReader, session_id: str, ticks: tuple[int, int], limit: int) -> list[LiveStep]:
    if ticks[0] > ticks[1]:
        return []

    def read(asked: Asked) -> list[LiveStep]:
        if asked.steps is None:
            return []
        rows = asked.cursor.execute(
            f"SELECT tick, tokens, event, run FROM ({KEYED.format(steps=asked.steps)}) ORDER BY tick LIMIT ?",
            [*asked.params, limit],
        ).fetchall()
        return [LiveStep(tick, tokens, event or run) for tick, tokens, event, run in rows]

    return reader.ask(StepQuery(session_id=session_id, ticks=ticks), read, light=True)


def live_totals(reader: StreamReader, session_id: str, *, after: int) -> RangeTotals | None:
    """Return what is in the stream of a session after a tick, None when nothing is."""
    asked_for = (after + 1, TICK_LIMIT)
    row = reader.ask(StepQuery(session_id=session_id, ticks=asked_for), _totals, light=True)
    if row is None or not row[4]:
        return None
    lowest, highest, since, until, steps, tokens = row
    return RangeTotals(
        session_id=session_id,
        asked=asked_for,
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
        number: WindowTotals(last, timesteps, int(tokens))
        for number, last, timesteps, tokens in reader.ask(StepQuery(tagged=tagged), _by_session, light=True)
    }


def _by_session(asked: Asked) -> list[tuple[Any, ...]]:
    if asked.steps is None:
        return []
    return asked.cursor.execute(
        f"SELECT session, max(tick), count(*), sum(tokens) FROM (SELECT session, tick, tokens {asked.steps})"
        " GROUP BY session",
        list(asked.params),
    ).fetchall()


def _totals(asked: Asked) -> tuple[Any, ...] | None:
    if asked.steps is None:
        return None
    return asked.cursor.execute(
        "SELECT min(tick), max(tick), min(ts), max(ts), count(*), sum(tokens)"
        f" FROM (SELECT tick, ts, tokens {asked.steps})",
        list(asked.params),
    ).fetchone()
