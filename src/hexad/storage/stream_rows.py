"""Rows of logs, as the flat NumPy columns that DuckDB takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Final

from hexad.model.experience import TOP_ACTIVATIONS
from hexad.storage.stream_frames import Columns, Frames

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MERGED_FRAMES: Final = 256
Keep = Callable[[Mapping[str, "NDArray[Any]"]], "NDArray[np.bool_]"]

_POSITIONS: Final = range(TOP_ACTIVATIONS)
# The same columns for what is still in a log as for what is in a segment. A list is built from one array for each
# position: DuckDB takes one-dimensional arrays only.
RELATION: Final = (
    "SELECT session, tick, ts, kind, flags, CASE WHEN flags & 4 <> 0 THEN token END AS token, tokens,"
    " CASE WHEN flags & 8 <> 0 THEN role END AS role, CASE WHEN flags & 16 <> 0 THEN event END AS event, content,"
    f" list_value({', '.join(f'c{one}' for one in _POSITIONS)})[1:activations] AS concepts,"
    f" list_value({', '.join(f's{one}' for one in _POSITIONS)})[1:activations] AS scores FROM rows"
)

_PLAIN: Final = ("session", "tick", "ts", "kind", "flags", "token", "tokens")


def merged(frames: Sequence[Columns]) -> Columns:
    """Return several frames of one log as one."""
    import numpy as np

    return Columns(
        numbers={name: np.concatenate([one.numbers[name] for one in frames]) for name in frames[0].numbers},
        concepts=np.concatenate([one.concepts for one in frames]),
        scores=np.concatenate([one.scores for one in frames]),
        contents=b"".join(one.contents for one in frames),
    )


def merge_small(found: Frames) -> None:
    """Join the frames of a log once they have become many: each costs a query some microseconds."""
    if len(found.frames) >= MERGED_FRAMES:
        found.frames = [merged(found.frames)]


def flat(
    logs: Sequence[Frames],
    *,
    concept_numbers: Callable[[Sequence[str]], Sequence[int]],
    keep: Keep | None = None,
    events: Collection[str] | None = None,
) -> dict[str, NDArray[Any]] | None:
    """Return the rows of logs as columns, those that `keep` wants, and of `events` only; None when there are none.

    `concept_numbers` gives the numbers under which concepts stand in the result.
    """
    import numpy as np

    parts = []
    for log in logs:
        wanted = None if events is None else _numbered(log.strings, set(events))
        if wanted is not None and not len(wanted):
            continue
        strings = np.array(log.strings, dtype=object)
        chosen = list(_chosen(log.frames, keep, wanted))
        used = [one.concepts for one, _ in chosen]
        numbers = _renumbered(used, log.strings, concept_numbers)
        parts += [_part(one, rows, strings, numbers) for one, rows in chosen]
    if not parts:
        return None
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _numbered(strings: Sequence[str], wanted: Set[str]) -> NDArray[np.uint32]:
    """Return a log's numbers of some strings; number 0 is none."""
    import numpy as np

    return np.array([at for at, one in enumerate(strings) if at and one in wanted], np.uint32)


def _chosen(
    frames: Sequence[Columns], keep: Keep | None, events: NDArray[np.uint32] | None
) -> Iterator[tuple[Columns, NDArray[np.intp]]]:
    import numpy as np

    for one in frames:
        rows = np.arange(len(one)) if keep is None else np.flatnonzero(keep(one.numbers))
        if events is not None:
            rows = rows[np.isin(one.numbers["event"][rows], events)]
        if len(rows):
            yield one, rows


def _renumbered(
    used: Sequence[NDArray[np.uint32]],
    strings: Sequence[str],
    concept_numbers: Callable[[Sequence[str]], Sequence[int]],
) -> NDArray[np.uint32]:
    """Return, by a log's own number of a string, its number in the result; 0 for what is no concept."""
    import numpy as np

    numbers = np.zeros(len(strings), np.uint32)
    own = np.unique(np.concatenate(used)) if used else np.zeros(0, np.uint32)
    if len(own):
        numbers[own] = concept_numbers([strings[one] for one in own.tolist()])
    return numbers


def _part(
    one: Columns, rows: NDArray[np.intp], strings: NDArray[np.object_], numbers: NDArray[np.uint32]
) -> dict[str, NDArray[Any]]:
    import numpy as np

    part: dict[str, NDArray[Any]] = {name: one.numbers[name][rows] for name in _PLAIN}
    part["role"] = strings[one.numbers["role"][rows]]
    part["event"] = strings[one.numbers["event"][rows]]
    part["content"] = _texts(one, rows)
    counts: NDArray[Any] = one.numbers["activations"]
    starts = np.cumsum(counts, dtype=np.int64) - counts
    part["activations"] = counts[rows]
    # Past a row's own activations stands anything; the list is cut there.
    ends = max(len(one.concepts) - 1, 0)
    concepts = numbers[one.concepts] if len(one.concepts) else np.zeros(1, np.uint32)
    scores = one.scores if len(one.scores) else np.zeros(1, np.float32)
    for position in _POSITIONS:
        at = np.minimum(starts[rows] + position, ends)
        part[f"c{position}"], part[f"s{position}"] = concepts[at], scores[at]
    return part


def _texts(one: Columns, rows: NDArray[np.intp]) -> NDArray[np.object_]:
    import numpy as np

    lengths: NDArray[Any] = one.numbers["bytes"]
    ends = np.cumsum(lengths, dtype=np.int64)
    starts = ends - lengths
    contents = one.contents
    texts = np.empty(len(rows), dtype=object)
    texts[:] = [
        contents[start:end].decode("utf-8")
        for start, end in zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)
    ]
    return texts
