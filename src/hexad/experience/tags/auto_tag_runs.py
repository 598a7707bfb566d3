"""Where in the logs of the stream a concept was active: runs of ticks, each to be found once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hexad.database.connection import Database
from hexad.experience.stream.frames import Columns, Frames

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SEALED: Final = "SELECT 1 FROM stream_retired_logs WHERE name = ?"
_NAMES: Final = ("session", "tick", "concept", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Ticks of a session, one after the other, in all of which a concept was active; its highest score.

    `open_left` and `open_right` say that the tick beside it was not looked at: the run may go on there.
    """

    session: int
    concept: str
    ticks: tuple[int, int]
    score: float
    open_left: bool
    open_right: bool


class AutoTagged:
    """How far each log was looked at, so that each of its timesteps is tagged once, by whichever process."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def rows(self, log: str) -> int | None:
        """Return how many timesteps of a log were looked at; None for one that became part of a segment."""
        with self._db.read() as con:
            if con.execute(_SEALED, (log,)).fetchone():
                return None
            row = con.execute("SELECT rows FROM auto_tagged_logs WHERE log = ?", (log,)).fetchone()
        return 0 if row is None else row[0]

    def advance(self, log: str, *, before: int, now: int) -> bool:
        """Note in the caller's transaction that a log was looked at from `before` up to `now`.

        False when somebody else has been there since, or the log has become part of a segment.
        """
        with self._db.joined() as con:
            if con.execute(_SEALED, (log,)).fetchone():
                return False
            con.execute("INSERT OR IGNORE INTO auto_tagged_logs(log, rows) VALUES(?, 0)", (log,))
            con.execute("UPDATE auto_tagged_logs SET rows = ? WHERE log = ? AND rows = ?", (now, log, before))
            return con.changes > 0

    def forget_sealed(self) -> None:
        """Drop what is noted of logs that are in a segment."""
        sealed = "log IN (SELECT name FROM stream_retired_logs)"
        if self._db.query_one(f"SELECT 1 FROM auto_tagged_logs WHERE {sealed}") is None:
            return
        with self._db.transaction() as con:
            con.execute(f"DELETE FROM auto_tagged_logs WHERE {sealed}")


def runs(
    log: Frames, rows: tuple[int, int], *, threshold: float, permits: Callable[[str], bool]
) -> Sequence[Run]:
    """Return where concepts were active from `threshold` on, in the rows of a log from the first up to the second.

    In the order of sessions, concepts and ticks. `permits` says which concepts count.
    """
    import numpy as np

    parts = list(_frames(log.frames, rows))
    if not parts:
        return []
    pieces = [_strong(frame, some, threshold) for frame, some in parts]
    found = {name: np.concatenate([piece[name] for piece in pieces]) for name in _NAMES}
    allowed = [concept for concept in np.unique(found["concept"]).tolist() if permits(log.strings[concept])]
    found = _taken(found, np.flatnonzero(np.isin(found["concept"], allowed)))
    if not len(found["tick"]):
        return []
    found = _taken(found, np.lexsort((found["tick"], found["concept"], found["session"])))
    goes_on = (
        (np.diff(found["session"]) == 0) & (np.diff(found["concept"]) == 0) & (np.diff(found["tick"]) == 1)
    )
    firsts = np.flatnonzero(np.concatenate([[True], ~goes_on]))
    lasts = np.append(firsts[1:], len(found["tick"])) - 1
    highest = np.maximum.reduceat(found["score"], firsts)
    begins, ends = _borders(parts)
    result = []
    for session, concept, first, last, score in zip(
        found["session"][firsts].tolist(),
        found["concept"][firsts].tolist(),
        found["tick"][firsts].tolist(),
        found["tick"][lasts].tolist(),
        highest,
        strict=True,
    ):
        result.append(
            Run(
                session=session,
                concept=log.strings[concept],
                ticks=(first, last),
                score=float(str(score)),  # as single precision writes it: 0.8, not 0.800000011920929
                open_left=(session, first) in begins,
                open_right=(session, last) in ends,
            )
        )
    return result


def _frames(frames: Sequence[Columns], rows: tuple[int, int]) -> Iterator[tuple[Columns, tuple[int, int]]]:
    """Yield the frames that have some of these rows, with the places of those rows in them."""
    at = 0
    for frame in frames:
        first, last = max(rows[0] - at, 0), min(rows[1] - at, len(frame))
        if first < last:
            yield frame, (first, last)
        at += len(frame)


def _strong(frame: Columns, rows: tuple[int, int], threshold: float) -> dict[str, NDArray[Any]]:
    import numpy as np

    counts: NDArray[Any] = frame.numbers["activations"]
    ends = np.cumsum(counts, dtype=np.int64)
    first, last = rows
    low, high = int(ends[first] - counts[first]), int(ends[last - 1])
    scores = frame.scores[low:high]
    # Scores are kept in single precision, so the bound is rounded as they were.
    chosen = np.flatnonzero(scores >= np.float32(threshold))
    owners = np.repeat(np.arange(first, last), counts[first:last])[chosen]
    return {
        "session": frame.numbers["session"][owners].astype(np.int64),
        "tick": frame.numbers["tick"][owners],
        "concept": frame.concepts[low:high][chosen].astype(np.int64),
        "score": scores[chosen],
    }


def _taken(columns: dict[str, NDArray[Any]], rows: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    return {name: column[rows] for name, column in columns.items()}


def _borders(
    parts: Sequence[tuple[Columns, tuple[int, int]]],
) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Return the first and the last ticks, with their sessions, of what lies together among the rows."""
    import numpy as np

    sessions = np.concatenate([columns.numbers["session"][a:b].astype(np.int64) for columns, (a, b) in parts])
    ticks = np.concatenate([columns.numbers["tick"][a:b] for columns, (a, b) in parts])
    order = np.lexsort((ticks, sessions))
    sessions, ticks = sessions[order], ticks[order]
    apart = (np.diff(sessions) != 0) | (np.diff(ticks) != 1)
    first = np.flatnonzero(np.concatenate([[True], apart]))
    last = np.append(first[1:], len(ticks)) - 1
    return (
        set(zip(sessions[first].tolist(), ticks[first].tolist(), strict=True)),
        set(zip(sessions[last].tolist(), ticks[last].tolist(), strict=True)),
    )
