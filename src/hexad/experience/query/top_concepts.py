"""Which segments need not be read for a question about concepts, because their strongest timesteps answer it.

The list of a concept beside a segment (`segment_tops`) goes down to some place in the order of scores, sessions and
ticks: its floor. A list that has everything, or whose floor is below the lowest score that is asked for, holds every
answer that the segment has. Any other may do when the strongest are asked for; whether it did, the answers say: it did
when the last of them stands before its floor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.experience.query.spans import Part
from hexad.experience.stream.filters import ConceptNumbers
from hexad.experience.values.records import StepQuery

if TYPE_CHECKING:
    import duckdb

Place = tuple[float, int, int]
"""Where something stands among the strongest: less is before. The score with its sign turned, session, tick."""
LISTS_FROM_ROWS: Final = 300_000
"""Where all segments in question have fewer rows together, reading them is as quick as to ask their lists first."""
_FLOORS: Final = (
    "SELECT filename, concept, bool_or(more), max({'score': -score, 'session': session, 'tick': tick})"
    " FROM read_parquet(?, hive_partitioning = false, filename = true) WHERE list_contains(?, concept)"
    " GROUP BY filename, concept"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What is read for a question: segments as a whole, and of others the list of one concept.

    `uncertain` are the segments whose list may not be long enough, with its floor. `name` gives what stands for a path
    in a statement.
    """

    whole: Sequence[str]
    lists: Mapping[str, int]
    uncertain: Mapping[str, Place]
    name: Callable[[str], str]

    def failed(self, last: Place | None) -> set[str]:
        """Return the segments that must be read as a whole after all; `last` is where the last answer stands."""
        return {segment for segment, floor in self.uncertain.items() if last is None or last > floor}

    def relations(
        self, columns: str, sides: Mapping[str, str], parts: Sequence[Part] | None = None
    ) -> tuple[list[str], list[Any]]:
        """Return the statements that read all of it, and their parameters; of whole segments only these `parts`."""
        found, params = list[str](), list[Any]()
        for part in [Part(paths=self.whole, condition="true")] if parts is None else parts:
            paths = [path for path in part.paths if path in self.whole]
            if paths:
                # Else DuckDB takes a folder above the store that is called `session=7` for a column.
                found.append(
                    f"SELECT {columns} FROM read_parquet(?, hive_partitioning = false) WHERE {part.condition}"
                )
                params.append([self.name(path) for path in paths])
        for concept in sorted(set(self.lists.values())):
            found.append(
                f"SELECT {columns} FROM read_parquet(?, hive_partitioning = false) WHERE concept = ?"
            )
            lists = [self.name(sides[path]) for path, number in self.lists.items() if number == concept]
            params += [lists, concept]
        return found, params


def plan_reading(
    cursor: duckdb.DuckDBPyConnection,
    question: StepQuery,
    concepts: ConceptNumbers,
    *,
    paths: Sequence[str],
    sides: Mapping[str, str],
    name: Callable[[str], str],
) -> Reading:
    """Return what to read of the segments `paths`; `sides` gives for some of them the file of their lists."""
    wanted = dict(
        zip(concepts.numbers(list(question.activations)), question.activations.values(), strict=True)
    )
    if not wanted or not sides:
        return Reading(whole=paths, lists={}, uncertain={}, name=name)
    strongest = None if question.strongest is None else concepts.numbers([question.strongest])[0]
    floors: dict[str, dict[int, tuple[bool, Place]]] = {}
    for file, concept, more, last in cursor.execute(
        _FLOORS, [sorted(map(name, sides.values())), list(wanted)]
    ).fetchall():
        floors.setdefault(Path(file).name, {})[concept] = (
            more,
            (last["score"], last["session"], last["tick"]),
        )
    whole, lists, uncertain = list[str](), dict[str, int](), dict[str, Place]()
    for path in paths:
        if path not in sides:
            whole.append(path)
            continue
        there = floors.get(Path(sides[path]).name, {})
        if not all(concept in there for concept in wanted):
            continue  # all concepts are asked for, and one of them the segment has not
        complete = [concept for concept in wanted if _is_complete(*there[concept], lowest=wanted[concept][0])]
        if complete:
            lists[path] = complete[0]
        elif strongest in there:
            lists[path], uncertain[path] = strongest, there[strongest][1]
        else:
            whole.append(path)
    return Reading(whole=whole, lists=lists, uncertain=uncertain, name=name)


def _is_complete(more: bool, floor: Place, *, lowest: float) -> bool:
    import numpy as np

    return not more or -floor[0] < float(np.float32(lowest))
