"""Rows on their way into the stream as columns, before anything about them is checked; and how Arrow becomes such."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from hexad.errors import InvalidInput
from hexad.experience.stream.duckdb_engine import DuckDbEngine
from hexad.experience.stream.frames import NO_TIME

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

CHUNK_CHARS: Final = 8 << 20
"""A chunk becomes a frame of the log, which must stay far below 4 GiB."""
_ARROW_ROWS: Final = 30_720
_WHOLE: Final = r"U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)"
_NUMBER: Final = rf"(?:{_WHOLE}|FLOAT|DOUBLE|DECIMAL\([\d,]+\))"
_TEXT: Final = r"(?:VARCHAR|ENUM\(.*\))"
# For each column the types that DuckDB may find in it, what they are called in a refusal, and what is read.
_FORMS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "event_type": ((_TEXT, "CAST({0} AS VARCHAR)"),),
    "content": ((_TEXT, "CAST({0} AS VARCHAR)"),),
    "event_id": ((_TEXT, "CAST({0} AS VARCHAR)"),),
    "role": ((_TEXT, "CAST({0} AS VARCHAR)"),),
    "event_start": (("BOOLEAN", "{0}"),),
    "event_end": (("BOOLEAN", "{0}"),),
    "token_id": ((_WHOLE, "CAST({0} AS BIGINT)"),),
    "token_count": ((_WHOLE, "CAST({0} AS BIGINT)"),),
    "timestamp": (
        (r"TIMESTAMP(?: WITH TIME ZONE)?", "epoch_us({0})"),
        (r"TIMESTAMP_N?M?S|DATE", "epoch_us(CAST({0} AS TIMESTAMP))"),
        ("VARCHAR", "{0}"),
    ),
    "concepts": ((rf"{_TEXT}\[\d*\]", "CAST({0} AS VARCHAR[])"),),
    "scores": ((rf"{_NUMBER}\[\d*\]", "CAST({0} AS DOUBLE[])"),),
}  # fmt: skip
_WORDS: Final[Mapping[str, str]] = {
    "event_start": "booleans", "event_end": "booleans", "token_id": "whole numbers", "token_count": "whole numbers",
    "timestamp": "timestamps", "concepts": "lists of texts", "scores": "lists of numbers",
}  # fmt: skip
_EACH: Final = "list_transform(concept_activations, lambda one: one.{})"
_PAIRS: Final = (
    (rf"MAP\({_TEXT}, {_NUMBER}\)", "map_keys(concept_activations)", "map_values(concept_activations)"),
    (rf'STRUCT\("?concept"? {_TEXT}, "?score"? {_NUMBER}\)\[\d*\]',
     _EACH.format("concept"), _EACH.format("score")),
    (rf'STRUCT\("?key"? {_TEXT}, "?value"? {_NUMBER}\)\[\d*\]',
     _EACH.format('"key"'), _EACH.format('"value"')),
)  # fmt: skip


@runtime_checkable
class ArrowStream(Protocol):
    """A table or a stream of batches that can be read by the Arrow PyCapsule interface, whoever made it."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(slots=True, kw_only=True)
class ColumnChunk:
    """Some rows as columns, of which those of the activations stand one after the other.

    `columns` has event_type and content; None in another is as good as none. `times` stands for its `timestamp`, in
    microseconds. `concepts` are the ids themselves, or places in `ids`, of which the last is None. `first` is the
    number of its first row. `distinct` says that no concept can be there twice in a row. `rows` are what it was made
    of, if it was of rows.
    """

    first: int
    columns: Mapping[str, Sequence[Any]]
    counts: Sequence[int]
    concepts: Sequence[str] | NDArray[np.integer[Any]]
    scores: Sequence[float] | NDArray[np.floating[Any]]
    ids: Sequence[str | None] | None = None
    times: NDArray[np.int64] | None = None
    distinct: bool = False
    rows: Sequence[Mapping[str, Any]] | None = None

    def __len__(self) -> int:
        return len(self.columns["content"])


def cuts(sizes: Sequence[int], *, rows: int) -> Iterator[tuple[int, int]]:
    """Yield where to cut contents of these sizes so that a chunk has at most `rows`, and is not too large."""
    for first in range(0, len(sizes), rows):
        end = min(first + rows, len(sizes))
        if sum(sizes[first:end]) <= CHUNK_CHARS:
            yield first, end
            continue
        size = 0
        for at in range(first, end):
            if at > first and size + sizes[at] > CHUNK_CHARS:
                yield first, at
                first, size = at, 0
            size += sizes[at]
        yield first, end


def chunks_of_arrow(
    stream: ArrowStream, engine: DuckDbEngine, *, known: frozenset[str]
) -> Iterator[ColumnChunk]:
    """Yield the rows of anything that Arrow can be read from; `known` are the columns that there may be.

    Raises `InvalidInput` for columns of other names or types, `LimitExceeded` for more than can be held at once.
    """
    with engine.arrow(stream.__arrow_c_stream__()) as cursor:
        described = cursor.execute("DESCRIBE stream").fetchall()
        types = {str(row[0]): str(row[1]) for row in described if str(row[1]) != '"NULL"'}
        if not {"event_type", "content"} <= types.keys() <= known:
            raise InvalidInput(
                f"Columns need event_type and content and may have {', '.join(sorted(known))}; these are "
                f"{', '.join(str(row[0]) for row in described)}."
            )
        read = ", ".join(f"{expression} AS {name}" for name, expression in _expressions(types).items())
        cursor.execute(f"CREATE TEMP TABLE given AS SELECT {read} FROM stream")
        # DuckDB numbers the concepts: to make a text of each was half of the time.
        cursor.execute(
            "CREATE TEMP TYPE concept AS ENUM (SELECT DISTINCT concept FROM"
            " (SELECT unnest(concepts) AS concept FROM given) WHERE concept IS NOT NULL)"
        )
        named = cursor.execute("SELECT unnest(enum_range(NULL::concept))").fetchall()
        ids = [str(row[0]) for row in named]
        sizes = cursor.execute("SELECT coalesce(strlen(content), 0) AS size FROM given").fetchnumpy()["size"]
        for start, end in cuts(sizes.tolist(), rows=_ARROW_ROWS):
            yield _chunk(cursor, ids, start, end)


def _expressions(types: Mapping[str, str]) -> dict[str, str]:
    """Return what to read of each column; the activations as the lists `concepts` and `scores`."""
    expressions = {}
    for name, type in types.items():
        if name == "concept_activations":
            continue
        for form, expression in _FORMS[name]:
            if re.fullmatch(form, type, re.DOTALL):
                expressions[name] = expression.format(name)
                break
        else:
            raise InvalidInput(f"The column {name} is {type[:80]}; give {_WORDS.get(name, 'texts')}.")
    mapped = types.get("concept_activations")
    if ("concepts" in expressions) != ("scores" in expressions) or (
        mapped is not None and "concepts" in expressions
    ):
        raise InvalidInput("Give either concept_activations, or concepts together with scores.")
    if mapped is None:
        return {"concepts": "CAST([] AS VARCHAR[])", "scores": "CAST([] AS DOUBLE[])", **expressions}
    for form, keys, values in _PAIRS:
        if re.fullmatch(form, mapped, re.DOTALL):
            expressions["concepts"] = f"CAST({keys} AS VARCHAR[])"
            expressions["scores"] = f"CAST({values} AS DOUBLE[])"
            return expressions
    raise InvalidInput(
        f"The column concept_activations is {mapped[:80]}; give a map, or lists of (concept, score)."
    )


def _chunk(cursor: duckdb.DuckDBPyConnection, ids: Sequence[str], start: int, end: int) -> ColumnChunk:
    import numpy as np

    where = f"FROM given WHERE rowid >= {start} AND rowid < {end}"
    columns = cursor.execute(
        "SELECT * EXCLUDE (concepts, scores), coalesce(len(concepts), 0) AS concepts,"
        f" coalesce(len(scores), 0) AS scores {where}"
    ).fetchnumpy()
    counts, others = columns.pop("concepts"), columns.pop("scores")
    if (counts != others).any():
        at = int(np.flatnonzero(counts != others)[0])
        raise InvalidInput(f"Row {start + at:,} has {counts[at]} concepts and {others[at]} scores.")
    times = None
    if "timestamp" in columns and columns["timestamp"].dtype.kind == "i":
        times = np.ma.filled(columns.pop("timestamp"), NO_TIME)
    flat = cursor.execute(
        "SELECT enum_code(CAST(concept AS concept)) AS concept, score"
        f" FROM (SELECT unnest(concepts) AS concept, unnest(scores) AS score {where})"
    ).fetchnumpy()
    score = flat["score"]
    return ColumnChunk(
        first=start,
        columns={name: column.tolist() for name, column in columns.items()},
        counts=counts.tolist(),
        concepts=np.ma.filled(flat["concept"].astype(np.int64), len(ids)),
        # None is no number: the row that has one is refused.
        scores=score.tolist() if np.ma.is_masked(score) else np.ma.getdata(score),
        ids=[*ids, None],
        times=times,
    )
