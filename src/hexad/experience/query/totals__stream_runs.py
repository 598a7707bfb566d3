"""Which ticks are in the stream, as runs of ticks one after the other: no text is read."""

from __future__ import annotations

from typing import Any, Final, cast

from hexad.experience.query.reader import Asked, StreamReader
from hexad.experience.values.records import StepQuery

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

    def read(asked: Asked) -> list[tuple[Any, ...]]:
        if asked.steps is None:
            return []
        return asked.cursor.execute(_RUNS.format(steps=asked.steps, when=when), list(asked.params)).fetchall()

    return cast("list[TickRun]", reader.ask(question, read, light=True))
