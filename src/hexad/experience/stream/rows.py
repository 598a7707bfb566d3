"""Rows of logs, as the flat NumPy columns that DuckDB takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Final

from hexad.core.event_types import EventType
from hexad.experience.stream.frames import ENDS, STARTS, Columns, Frames
from hexad.experience.values.records import KIND_CODES, TOP_ACTIVATIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MERGED_FRAMES: Final = 256
Keep = Callable[[Mapping[str, "NDArray[Any]"]], "NDArray[np.bool_]"]
Within = tuple[int | None, tuple[int, int] | None]
"""A session and a range of ticks, both ends included; None where all are meant."""

_POSITIONS: Final = range(TOP_ACTIVATIONS)
# The same columns for what is still in a log as for what is in a segment. A list is built from one array for each
# position: DuckDB takes one-dimensional arrays only.
RELATION: Final = (
    "SELECT session, tick, ts, kind, flags, CASE WHEN flags & 4 <> 0 THEN token END AS token, tokens,"
    " CASE WHEN flags & 8 <> 0 THEN role END AS role, CASE WHEN flags & 16 <> 0 THEN event END AS event, content,"
    f" list_value({', '.join(f'c{position}' for position in _POSITIONS)})[1:activations] AS concepts,"
    f" list_value({', '.join(f's{position}' for position in _POSITIONS)})[1:activations] AS scores FROM rows"
)

_PLAIN: Final = ("session", "tick", "ts", "kind", "flags", "token", "tokens")


def merged(frames: Sequence[Columns]) -> Columns:
    """Return several frames of one log as one."""
    import numpy as np

    return Columns(
        numbers={
            name: np.concatenate([frame.numbers[name] for frame in frames]) for name in frames[0].numbers
        },
        concepts=np.concatenate([frame.concepts for frame in frames]),
        scores=np.concatenate([frame.scores for frame in frames]),
        contents=b"".join(frame.contents for frame in frames),
    )


def merge_small(frames: Frames) -> None:
    """Join the frames of a log once they have become many: each costs a query some microseconds."""
    if len(frames.frames) >= MERGED_FRAMES:
        frames.frames = [merged(frames.frames)]


def flat(
    logs: Sequence[Frames],
    *,
    concept_numbers: Callable[[Sequence[str]], Sequence[int]],
    keep: Keep | None = None,
    events: Collection[str] | None = None,
    within: Within = (None, None),
    light: bool = False,
) -> dict[str, NDArray[Any]] | None:
    """Return the rows of logs as columns, those that `keep` wants, and of `events` only; None when there are none.

    `concept_numbers` gives the numbers under which concepts stand in the result. Outside of the session and the ticks
    `within` nothing is wanted. A `light` answer has neither texts nor concepts, only the room for them.
    """
    import numpy as np

    parts = []
    for log in logs:
        wanted_numbers = None if events is None else _numbers_of(log.strings, set(events))
        if wanted_numbers is not None and not len(wanted_numbers):
            continue
        chosen = [
            _take_rows(columns, rows)
            for columns, rows in _chosen_rows(log.frames, keep, wanted_numbers, within)
        ]
        numbers = None if light else _new_numbers(chosen, log.strings, concept_numbers)
        parts += [_part(columns, _Strings(log.strings), numbers) for columns in chosen]
    if not parts:
        return None
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _numbers_of(strings: Sequence[str], wanted_strings: Set[str]) -> NDArray[np.uint32]:
    """Return a log's numbers of some strings; number 0 is none."""
    import numpy as np

    return np.array([at for at, string in enumerate(strings) if at and string in wanted_strings], np.uint32)


def _chosen_rows(
    frames: Sequence[Columns], keep: Keep | None, events: NDArray[np.uint32] | None, within: Within
) -> Iterator[tuple[Columns, NDArray[np.intp]]]:
    import numpy as np

    for frame in frames:
        if not _meets(frame, within):
            continue
        rows = np.arange(len(frame)) if keep is None else np.flatnonzero(keep(frame.numbers))
        if events is not None:
            rows = rows[np.isin(frame.numbers["event"][rows], events)]
        if len(rows):
            yield frame, rows


def _meets(columns: Columns, within: Within) -> bool:
    session, ticks = within
    if columns.hull is None:
        numbers: dict[str, NDArray[Any]] = columns.numbers
        sessions, at = numbers["session"], numbers["tick"]
        columns.hull = (int(sessions.min()), int(sessions.max())), (int(at.min()), int(at.max()))
    sessions_of, ticks_of = columns.hull
    return (session is None or sessions_of[0] <= session <= sessions_of[1]) and (
        ticks is None or (ticks_of[0] <= ticks[1] and ticks_of[1] >= ticks[0])
    )


def _take_rows(columns: Columns, rows: NDArray[np.intp]) -> Columns:
    """Return these rows, in their order."""
    if len(rows) == len(columns):
        return columns
    numbers: dict[str, NDArray[Any]] = columns.numbers
    kept = _stretch(numbers["activations"], rows)
    ends = numbers["bytes"].cumsum(dtype="int64")
    starts = ends[rows] - numbers["bytes"][rows]
    contents = columns.contents
    return Columns(
        numbers={name: column[rows] for name, column in numbers.items()},
        concepts=columns.concepts[kept],
        scores=columns.scores[kept],
        contents=b"".join(
            contents[start:end] for start, end in zip(starts.tolist(), ends[rows].tolist(), strict=True)
        ),
    )


def _stretch(counts: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the places of what belongs to `rows`, where each row has so many items one after the other."""
    import numpy as np

    starts = counts.cumsum(dtype=np.int64)[rows] - counts[rows]
    sizes = counts[rows].astype(np.int64)
    before = sizes.cumsum() - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


class _Strings:
    """A log's strings by number."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = strings
        self._all: NDArray[np.object_] | None = None

    def of(self, numbers: NDArray[Any]) -> NDArray[np.object_]:
        import numpy as np

        if self._all is None and len(numbers) >= len(self._strings):
            self._all = np.array(self._strings, dtype=object)
        if self._all is not None:
            named: NDArray[np.object_] = self._all[numbers]
            return named
        strings: NDArray[np.object_] = np.empty(len(numbers), dtype=object)
        strings[:] = [self._strings[number] for number in numbers.tolist()]
        return strings


def _new_numbers(
    chosen: Sequence[Columns],
    strings: Sequence[str],
    concept_numbers: Callable[[Sequence[str]], Sequence[int]],
) -> NDArray[np.uint32]:
    """Return, by a log's own number of a string, its number in the result; 0 for what is no concept."""
    import numpy as np

    used = np.zeros(len(strings), np.bool_)
    for columns in chosen:
        used[columns.concepts] = True
    numbers = np.zeros(len(strings), np.uint32)
    own = np.flatnonzero(used)
    if len(own):
        numbers[own] = concept_numbers([strings[number] for number in own.tolist()])
    return numbers


def _part(columns: Columns, strings: _Strings, numbers: NDArray[np.uint32] | None) -> dict[str, NDArray[Any]]:
    """Return rows as flat columns; without `numbers` of concepts they have neither these nor texts."""
    import numpy as np

    part: dict[str, NDArray[Any]] = {name: columns.numbers[name] for name in _PLAIN}
    part["role"] = strings.of(columns.numbers["role"])
    part["event"] = strings.of(columns.numbers["event"])
    if numbers is None:
        part["content"] = np.full(len(columns), "", dtype=object)
        part["activations"] = np.zeros(len(columns), np.uint8)
        nothing = np.zeros(len(columns), np.uint32), np.zeros(len(columns), np.float32)
        for position in _POSITIONS:
            part[f"c{position}"], part[f"s{position}"] = nothing
        return part
    part["content"] = _texts(columns)
    counts: NDArray[Any] = columns.numbers["activations"]
    starts = np.cumsum(counts, dtype=np.int64) - counts
    part["activations"] = counts
    # Past a row's own activations stands anything; the list is cut there.
    ends = max(len(columns.concepts) - 1, 0)
    concepts = numbers[columns.concepts] if len(columns.concepts) else np.zeros(1, np.uint32)
    scores = columns.scores if len(columns.scores) else np.zeros(1, np.float32)
    for position in _POSITIONS:
        at = np.minimum(starts + position, ends)
        part[f"c{position}"], part[f"s{position}"] = concepts[at], scores[at]
    return part


def _texts(columns: Columns) -> NDArray[np.object_]:
    import numpy as np

    lengths: NDArray[Any] = columns.numbers["bytes"]
    ends = np.cumsum(lengths, dtype=np.int64)
    starts = ends - lengths
    contents = columns.contents
    texts = np.empty(len(columns), dtype=object)
    texts[:] = [
        contents[start:end].decode("utf-8") for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    return texts


OUTPUT: Final = KIND_CODES[EventType.OUTPUT]
# An event is all timesteps of its id. Without one a message, a call or a response is an event of its own, and
# generated tokens belong together until something else stands between them or one begins or ends an event.
KEYED: Final = (
    f"SELECT *, CASE WHEN event IS NULL THEN sum(begins) OVER (PARTITION BY session ORDER BY tick) ELSE 0 END AS run"
    f" FROM (SELECT *, CASE WHEN event IS NULL AND kind = {OUTPUT} AND lag(kind) OVER w = kind"
    " AND lag(event) OVER w IS NULL AND lag(role) OVER w IS NOT DISTINCT FROM role"
    f" AND flags & {STARTS} = 0 AND lag(flags) OVER w & {ENDS} = 0 THEN 0 ELSE 1 END AS begins"
    " {steps} WINDOW w AS (PARTITION BY session ORDER BY tick))"
)
"""To be formatted with `steps`, what stands after the columns of a SELECT. An event is a `session`, `event`, `run`."""

BREAK: Final = "\n"
"""Stands in an event's text between timesteps of different types, a call and its response; between others nothing."""
JOINED: Final = (
    "string_agg(CASE WHEN kind <> before THEN chr(10) || content ELSE content END, '' ORDER BY {tick})"
)
"""An event's text from its timesteps or pieces; `before` is the type that stands before each, if any does."""
