"""Tags that nobody applied: a concept that was active enough tags the ticks at which it was (source `auto`)."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.core.ids import IdSource
from hexad.core.tick_ranges import difference
from hexad.database.connection import Database
from hexad.database.encryption.cipher import FileCipher
from hexad.errors import IntegrityError
from hexad.experience.stream.frames import Columns, Frames
from hexad.experience.stream.log import list_logs, read_log
from hexad.experience.tables.annotations import TagApplications
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.tags import Tags
from hexad.experience.tags.visibility import Lenses
from hexad.experience.values.tags import (
    TAG_NAME_CHARS_LIMIT,
    Tag,
    TagApplication,
    TagSource,
    TagType,
    Target,
    TargetType,
    TickRange,
    range_target,
)
from hexad.redaction.masking import Masking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_SEALED: Final = "SELECT 1 FROM stream_retired_logs WHERE name = ?"
_NAMES: Final = ("session", "tick", "concept", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveRun:
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
) -> Sequence[ActiveRun]:
    """Return where concepts were active from `threshold` on, in the rows of a log from the first up to the second.

    In the order of sessions, concepts and ticks. `permits` says which concepts count.
    """
    import numpy as np

    parts = list(_frames(log.frames, rows))
    if not parts:
        return []
    pieces = [_strong(frame, some, threshold) for frame, some in parts]
    columns = {name: np.concatenate([piece[name] for piece in pieces]) for name in _NAMES}
    allowed = [concept for concept in np.unique(columns["concept"]).tolist() if permits(log.strings[concept])]
    found = _take_rows(columns, np.flatnonzero(np.isin(columns["concept"], allowed)))
    if not len(found["tick"]):
        return []
    found = _take_rows(found, np.lexsort((found["tick"], found["concept"], found["session"])))
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
            ActiveRun(
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


def _take_rows(columns: dict[str, NDArray[Any]], rows: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
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


SLICE_ROWS: Final = 50_000
"""So many timesteps are tagged in one transaction."""
_SYSTEM: Final = "system"
_SEPARATOR: Final = "::"


class AutoTagger:
    """Tags what stands in the logs, a slice at a time. Safe to share between threads and processes.

    How far a log was looked at is noted in the transaction that stores the tags, so a timestep is looked at once,
    whoever is killed when. Ticks that follow each other are one range, also where slices meet. What sealing takes
    away is tagged before.
    """

    def __init__(
        self,
        db: Database,
        directory: Path,
        *,
        ids: IdSource,
        masking: Masking,
        lenses: Lenses | None,
        threshold: float,
        cipher: FileCipher | None = None,
    ) -> None:
        self._db, self._directory, self._ids, self._masking = db, directory, ids, masking
        self._lenses, self._threshold, self._cipher = lenses, threshold, cipher
        self._progress, self._sessions = AutoTagged(db), Sessions(db)
        self._tags, self._applications = Tags(db), TagApplications(db)
        self._departed = ColdRanges(db)
        self._turn = threading.Lock()
        self._logs: dict[str, _LogReader] = {}

    def run(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Tag what was recorded since, by whomever; return how many applications that made.

        A log that is damaged is left to sealing and to `check`, which name it. Inside somebody's transaction nothing is
        done: it may be undone, and whoever tags meanwhile waits for it to end.
        """
        with self._db.read() as con:
            if con.depth > 1:
                return 0
        made = 0
        with self._turn:
            before, self._logs = self._logs, {}
            for path in list_logs(self._directory):
                log = before.pop(path.name, None) or _LogReader()
                try:
                    log.read(path, self._cipher)
                except IntegrityError:
                    continue
                self._logs[path.name] = log
                made += self._log(path.name, log, stop)
            self._progress.forget_sealed()
        return made

    def before_sealing(self, logs: Iterable[tuple[Path, Frames]]) -> None:
        """Tag all of these logs, which nobody writes to any more."""
        with self._turn:
            for path, log_frames in logs:
                # A list of its own: what was looked at goes from it, and is still to be sealed.
                frames = replace(log_frames, frames=list(log_frames.frames))
                self._log(path.name, _LogReader(frames=frames), lambda: False)

    def _log(self, name: str, log: _LogReader, stop: Callable[[], bool]) -> int:
        made = 0
        noted = self._progress.rows(name)
        while noted is not None and not stop():
            log.at = max(log.at, noted)
            end = min(log.at + SLICE_ROWS, log.rows)
            if log.at >= end:
                break
            runs = log.runs(end, threshold=self._threshold, permits=self._permits())
            if runs:
                with self._db.transaction():
                    mine = self._progress.advance(name, before=noted, now=end)
                    if mine:
                        made += self._store(runs)
                if not mine:
                    noted = self._progress.rows(name)  # somebody else was faster, or sealed it
                    continue
                noted = end
            log.at = end
        log.forget()
        return made

    def _permits(self) -> Callable[[str], bool]:
        return (lambda _: True) if self._lenses is None else self._lenses.refresh()

    def _store(self, runs: Sequence[ActiveRun]) -> int:
        names = self._sessions.names({run.session for run in runs})
        tagged = {concept: self._tag(concept) for concept in sorted({run.concept for run in runs})}
        neighbours = _Neighbours(self._applications)
        now = self._db.clock.now()
        new: list[TagApplication] = []
        for run in self._without_erased(runs):
            tag_id, session_id = tagged[run.concept], names.get(run.session)
            if tag_id is None or session_id is None:
                continue
            before = neighbours.ending(session_id, run.ticks[0] - 1, tag_id) if run.open_left else None
            after = neighbours.beginning(session_id, run.ticks[1] + 1, tag_id) if run.open_right else None
            confidence = min(run.score, 1.0)
            if before is None and after is None:
                new.append(
                    TagApplication(
                        id=self._ids.new("ta"),
                        tag_id=tag_id,
                        target=_target(session_id, run.ticks),
                        confidence=confidence,
                        source=TagSource.AUTO,
                        created_at=now,
                    )
                )
                continue
            self._join(
                session_id,
                run.ticks,
                confidence,
                [application for application in (before, after) if application is not None],
            )
            neighbours.forget()
        self._applications.add(new)
        return len(new)

    def _without_erased(self, runs: Sequence[ActiveRun]) -> Iterator[ActiveRun]:
        """Yield what is left of runs: a log holds what was erased until it is sealed."""
        erased = {session: self._departed.erased(session) for session in {run.session for run in runs}}
        for run in runs:
            for ticks in difference([run.ticks], erased[run.session]):
                yield replace(
                    run,
                    ticks=ticks,
                    open_left=run.open_left and ticks[0] == run.ticks[0],
                    open_right=run.open_right and ticks[1] == run.ticks[1],
                )

    def _join(
        self,
        session_id: str,
        ticks: TickRange,
        confidence: float,
        beside_applications: Sequence[TagApplication],
    ) -> None:
        """Make one application of a run and of those that it touches; the first of them stays."""
        first, last = ticks
        for application in beside_applications:
            first = min(first, application.target.range_start or 0)
            last = max(last, application.target.range_end or 0)
            confidence = max(confidence, application.confidence)
        kept_application, *rest = beside_applications
        for application in rest:
            self._applications.remove(application.id)
        self._applications.change(
            replace(kept_application, target=_target(session_id, (first, last)), confidence=confidence)
        )

    def _tag(self, concept: str) -> str | None:
        """Return the id of the concept's tag, which is made where there is none; None for what can be no tag."""
        if self._tags.get(concept) is not None:
            return concept
        if self._masking.secret_in(concept) is not None:  # recorded by a version that did not look
            return None
        term = concept.rpartition(_SEPARATOR)[2]
        shown = "".join("\ufffd" if _unprintable(char) else char for char in term or concept).strip()
        if not shown:
            return None
        self._tags.insert(
            Tag(
                id=concept,
                name=shown[:TAG_NAME_CHARS_LIMIT],
                tag_type=TagType.CONCEPT,
                concept_id=concept,
                created_at=self._db.clock.now(),
                created_by=_SYSTEM,
            )
        )
        return concept


@dataclass(slots=True)
class _LogReader:
    """A log as far as it was read; what was looked at is not kept."""

    frames: Frames | None = None
    base: int = 0  # how many of its timesteps stand before those that are kept
    at: int = 0  # how many were looked at

    @property
    def rows(self) -> int:
        return self.base + (0 if self.frames is None else sum(map(len, self.frames.frames)))

    def read(self, path: Path, cipher: FileCipher | None) -> None:
        """Read what was added to the file since; what cannot be read yet is left for another time."""
        known_frames = self.frames if self.frames is not None and self.frames.offset else None
        frames = read_log(path, known_frames, cipher=cipher)
        if (
            frames is not None and frames is not known_frames
        ):  # from the beginning: it was cut after a failed write
            self.frames, self.base = frames, 0

    def runs(self, end: int, *, threshold: float, permits: Callable[[str], bool]) -> Sequence[ActiveRun]:
        """Return where concepts were active in what was not looked at yet, up to `end`."""
        assert self.frames is not None
        rows = (self.at - self.base, end - self.base)
        return runs(self.frames, rows, threshold=threshold, permits=permits)

    def forget(self) -> None:
        """Let go of the frames that were looked at as a whole."""
        if self.frames is None:
            return
        while self.frames.frames and self.base + len(self.frames.frames[0]) <= self.at:
            self.base += len(self.frames.frames.pop(0))


class _Neighbours:
    """What a rule applied beside a tick, each place looked up once."""

    def __init__(self, applications: TagApplications) -> None:
        self._applications = applications
        self._known: dict[tuple[str, int], list[TagApplication]] = {}

    def forget(self) -> None:
        """Look again: something was changed."""
        self._known.clear()

    def ending(self, session_id: str, tick: int, tag_id: str) -> TagApplication | None:
        """Return the application of the tag that ends at a tick, None when there is none."""
        return next((a for a in self._at(session_id, tick, tag_id) if a.target.range_end == tick), None)

    def beginning(self, session_id: str, tick: int, tag_id: str) -> TagApplication | None:
        """Return the application of the tag that begins at a tick, None when there is none."""
        return next((a for a in self._at(session_id, tick, tag_id) if a.target.range_start == tick), None)

    def _at(self, session_id: str, tick: int, tag_id: str) -> list[TagApplication]:
        place = (session_id, tick)
        if place not in self._known:
            touching = self._applications.touching(session_id, (tick, tick))
            self._known[place] = [
                application for application in touching if application.source is TagSource.AUTO
            ]
        return [application for application in self._known[place] if application.tag_id == tag_id]


def _target(session_id: str, ticks: TickRange) -> Target:
    if ticks[0] != ticks[1]:
        return range_target(session_id, ticks)
    return Target(
        session_id=session_id, target_type=TargetType.TIMESTEP, range_start=ticks[0], range_end=ticks[1]
    )


def _unprintable(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
