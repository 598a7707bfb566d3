"""What a question to the stream lets through: as conditions for DuckDB, and as masks over columns of logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from hexad.core.tick_ranges import Ranges
from hexad.database.codec import to_micros
from hexad.experience.stream.frames import Frames
from hexad.experience.stream.manifest import SegmentManifest
from hexad.experience.stream.rows import Keep
from hexad.experience.tables.cold_ranges import range_columns
from hexad.experience.tables.sessions import Sessions
from hexad.experience.values.records import KIND_CODES, StepQuery
from hexad.text.search_terms import folded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_PROVISIONAL: Final = 3_000_000_000


class ConceptNumbers:
    """The numbers of concepts in one query: each is looked up once, so that it cannot change on the way."""

    def __init__(self, manifest: SegmentManifest) -> None:
        self._manifest = manifest
        self._numbers: dict[str, int] = {}
        self._ids: dict[int, str] = {}

    def numbers(self, ids: Sequence[str]) -> list[int]:
        """Return the number of each concept, a provisional one where it has none."""
        for concept in ids:
            if concept not in self._numbers:
                known = self._manifest.concept_number(concept)
                number = _PROVISIONAL + len(self._numbers) if known is None else known
                self._numbers[concept], self._ids[number] = number, concept
        return [self._numbers[concept] for concept in ids]

    def id(self, number: int) -> str:
        """Return the concept of a number."""
        return self._ids.get(number) or self._manifest.concept_id(number) or f"#{number}"


_BLOCK_BITS: Final = 12
_BLOCKS_LIMIT: Final = 200_000


class TickRanges:
    """Ranges of ticks by session, as a table for DuckDB and what keeps the rows of `steps` inside or outside of them.

    Every range stands there once for each block of ticks that it shares one with, so that a row is held against the
    ranges of its own block alone. As a condition with `EXISTS` DuckDB kept every row of the stream in memory.
    """

    def __init__(self, ranges: Mapping[int, Ranges]) -> None:
        import numpy as np

        plain = range_columns(dict(ranges))
        first, last = plain["first_tick"], plain["last_tick"]
        bits = _BLOCK_BITS
        while float(((last >> bits) - (first >> bits) + 1).sum(dtype=np.float64)) > _BLOCKS_LIMIT + len(
            first
        ):
            bits += 2
        counts = (last >> bits) - (first >> bits) + 1
        rows = np.repeat(np.arange(len(first)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.plain = plain
        self.table = {name: column[rows] for name, column in plain.items()}
        self.table["block"] = (first >> bits)[rows] + within
        self._bits = bits

    @property
    def only(self) -> tuple[int, tuple[int, int]] | None:
        """The one session that has all of the ranges, with their first and last tick; None where there is no such."""
        sessions = self.plain["session"]
        if not len(sessions) or (sessions != sessions[0]).any():
            return None
        return int(sessions[0]), (int(self.plain["first_tick"].min()), int(self.plain["last_tick"].max()))

    def inside(self, name: str) -> str:
        """Return what follows `steps` in a statement, where the table is registered under `name`."""
        return f" SEMI JOIN {name} ON {self._on(name)}"

    def outside(self, name: str) -> str:
        """Return the contrary of `inside`."""
        return f" ANTI JOIN {name} ON {self._on(name)}"

    def _on(self, name: str) -> str:
        return (
            f"{name}.session = steps.session AND {name}.block = (steps.tick >> {self._bits})"
            f" AND steps.tick BETWEEN {name}.first_tick AND {name}.last_tick"
        )


def row_filter(
    question: StepQuery,
    session: int | None,
    places: TickRanges | None,
    departed: TickRanges | None,
) -> Keep:
    """Return what rules rows of logs out by their numbers, before any text is touched."""
    kinds = (
        None
        if question.event_types is None
        else [KIND_CODES[event_type] for event_type in question.event_types]
    )

    def keep(numbers: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        import numpy as np

        mask = np.ones(len(numbers["tick"]), np.bool_)
        if session is not None:
            mask &= numbers["session"] == session
        if question.ticks is not None:
            mask &= (numbers["tick"] >= question.ticks[0]) & (numbers["tick"] <= question.ticks[1])
        if question.times is not None:
            since, until = map(to_micros, question.times)
            mask &= (numbers["ts"] >= since) & (numbers["ts"] < until)
        if kinds is not None:
            mask &= np.isin(numbers["kind"], kinds)
        if not mask.any():  # mostly: a window is a small part of a log
            return mask
        if places is not None:
            mask &= placed(numbers, places.plain)
        if departed is not None:
            mask &= ~placed(numbers, departed.plain)
        return mask

    return keep


def placed(numbers: Mapping[str, NDArray[Any]], places: Mapping[str, NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Return which rows lie in `places`, made by `range_columns`: ranges in order and apart, session by session."""
    import numpy as np

    sessions, ticks = numbers["session"], numbers["tick"]
    inside = np.zeros(len(ticks), np.bool_)
    if not len(ticks):
        return inside
    known, starts, counts = np.unique(places["session"], return_index=True, return_counts=True)
    # Rows come mostly in runs of one session, so putting them in order is no work.
    order = None if sessions.min() == sessions.max() else np.argsort(sessions, kind="stable")
    there = sessions[:1] if order is None else sessions[order]
    begins = np.searchsorted(there, known, side="left")
    ends = np.searchsorted(there, known, side="right")
    for at in np.flatnonzero(ends > begins).tolist():
        mine = slice(starts[at], starts[at] + counts[at])
        firsts, lasts = places["first_tick"][mine], places["last_tick"][mine]
        rows = slice(None) if order is None else order[begins[at] : ends[at]]
        some = ticks[rows]
        before = np.searchsorted(firsts, some, side="right") - 1
        inside[rows] = (before >= 0) & (some <= lasts[np.maximum(before, 0)])
    return inside


def sessions_of(logs: Iterable[Frames]) -> set[int]:
    """Return the numbers of the sessions that logs have records of."""
    import numpy as np

    numbers: set[int] = set()
    for log in logs:
        for frame in log.frames:
            if frame.sessions is None:
                frame.sessions = frozenset(np.unique(frame.numbers["session"]).tolist())
            numbers |= frame.sessions
    return numbers


def tagged_places(question: StepQuery, sessions: Sessions) -> TickRanges | None:
    """Return where tags let timesteps through; None where no tag is asked for."""
    if question.tagged is None:
        return None
    ranges: dict[int, Ranges] = {}
    for session_id, some in question.tagged.items():
        number = sessions.number(session_id)
        if number is not None:
            ranges[number] = tuple(some)
    return TickRanges(ranges)


def conditions_of(
    question: StepQuery, session: int | None, concepts: ConceptNumbers
) -> tuple[str, list[Any]]:
    """Return the conditions on rows called `steps`, and their parameters; tags are looked up in a table `places`."""
    conditions, params = ["true"], list[Any]()

    def add(condition: str, *values: object) -> None:
        conditions.append(condition)
        params.extend(values)

    if session is not None:
        add("session = ?", session)
    if question.ticks is not None:
        add("tick BETWEEN ? AND ?", *question.ticks)
    if question.times is not None:
        add("ts >= ? AND ts < ?", *map(to_micros, question.times))
    if question.event_types is not None:
        add("list_contains(?, kind)", [KIND_CODES[event_type] for event_type in question.event_types])
    if question.event_id is not None:
        add("event = ?", question.event_id)
    if question.events is not None:
        add("event IN (SELECT unnest(?::VARCHAR[]))", list(question.events))
    if question.text is not None and question.text.isascii():
        add("contains(lower(content), lower(?))", question.text)
    elif question.text is not None:
        add("contains(replace(lower(content), 'ς', 'σ'), ?)", folded(question.text))
    for concept, (low, high) in question.activations.items():
        # Scores are kept in single precision, so the bounds are rounded as they were.
        add(
            "scores[list_position(concepts, ?)] BETWEEN CAST(? AS FLOAT) AND CAST(? AS FLOAT)",
            concepts.numbers([concept])[0],
            low,
            high,
        )
    return " AND ".join(conditions), params
