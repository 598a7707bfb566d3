"""Whether a timestep was recorded, mostly without asking DuckDB: before something is put on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hexad.core import tick_ranges as ticks
from hexad.experience.query.reader import StreamReader
from hexad.experience.query.totals import range_totals
from hexad.experience.stream.frames import Frames
from hexad.experience.stream.manifest import Manifest
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.values.records import TICK_LIMIT, StepQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray


def was_recorded(
    reader: StreamReader, manifest: Manifest, cold: ColdRanges, session_id: str, tick: int
) -> bool:
    """Return whether a session has a tick, also one that a COLD record stands for, but none that was erased; raises
    `NotFound` for an unknown session.
    """  # fmt: skip
    question = StepQuery(session_id=session_id, ticks=(tick, tick), limit=1)
    sources = reader.sources(question)
    session = sources.session
    if session is None:
        return False
    if ticks.holds(sources.gone.get(session, ()), tick):
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
    found = range_totals(reader, {session_id: (everything,)})
    return max(
        [one.ticks[1] for one in found] + [end for _, end in cold.ranges(number, everything)], default=0
    )


def _in_logs(logs: Sequence[Frames], session: int, tick: int) -> bool:
    for log in logs:
        for frame in log.frames:
            numbers: dict[str, NDArray[Any]] = frame.numbers
            if ((numbers["tick"] == tick) & (numbers["session"] == session)).any():
                return True
    return False
