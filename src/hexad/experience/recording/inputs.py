"""What `record_many` is given, as chunks of columns: rows, columns, or anything that Arrow can be read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from hexad.errors import InvalidInput
from hexad.experience.recording.moments import ROW_KEYS
from hexad.experience.stream.columns import ArrowStream, Chunk, chunks_of_arrow, cuts
from hexad.experience.stream.duckdb_engine import Duck

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = Sequence[Any] | NDArray[Any]

CHUNK_ROWS: Final = 8_192
COLUMN_KEYS: Final = ROW_KEYS | {"concepts", "scores"}
Rows = Iterable[Mapping[str, Any]] | Mapping[str, "Column"] | ArrowStream
"""Rows as mappings; a mapping of columns; or a table, a frame, a relation that speaks Arrow."""


def chunks(given: Rows, duck: Duck) -> Iterator[Chunk]:
    """Yield what was given in its order; raises `InvalidInput` for what holds no rows."""
    if isinstance(given, ArrowStream):
        yield from chunks_of_arrow(given, duck, known=COLUMN_KEYS)
    elif isinstance(given, Mapping):
        yield from _of_columns(given)
    else:
        try:
            rows = iter(given)
        except TypeError as error:
            raise InvalidInput(
                f"{str(given)[:80]!r} holds no rows; give mappings, a mapping of columns, or Arrow."
            ) from error
        yield from _of_rows(rows)


def _of_rows(rows: Iterator[Mapping[str, Any]]) -> Iterator[Chunk]:
    first = 0
    while some := list(islice(rows, CHUNK_ROWS)):
        try:
            sizes = [*map(len, map(itemgetter("content"), some))]
        except (KeyError, TypeError):
            # One of them is no row: that is refused, and nothing of the chunk is recorded.
            sizes = [0] * len(some)
        for start, end in cuts(sizes, rows=CHUNK_ROWS):
            yield _chunk_of_rows(some[start:end], first + start)
        first += len(some)


def _chunk_of_rows(rows: list[Mapping[str, Any]], first: int) -> Chunk:
    # Without columns it is taken row by row.
    odd = Chunk(first=first, columns={"content": rows}, counts=(), concepts=(), scores=(), rows=rows)
    try:
        shapes = {*map(tuple, rows)}
        if not all({"event_type", "content"} <= {*shape} <= ROW_KEYS for shape in shapes):
            return odd
        keys = {*chain.from_iterable(shapes)}
        if len(shapes) == 1:
            columns = {key: [*map(itemgetter(key), rows)] for key in keys}
        else:
            columns = {key: [row.get(key) for row in rows] for key in keys}
    except (AttributeError, TypeError):
        return odd
    given = columns.pop("concept_activations", None)
    if given is None:
        return Chunk(first=first, columns=columns, counts=[0] * len(rows), concepts=[], scores=[], rows=rows)
    if not {*map(type, given)} <= {dict, type(None)}:
        return odd
    activations = [activation or {} for activation in given]
    return Chunk(
        first=first,
        columns=columns,
        counts=[*map(len, activations)],
        concepts=[*chain.from_iterable(activations)],
        scores=[*chain.from_iterable(map(dict.values, activations))],
        distinct=True,
        rows=rows,
    )


def _of_columns(columns: Mapping[str, Column]) -> Iterator[Chunk]:
    _check_columns(columns)
    rows = len(columns["content"])
    try:
        sizes = [*map(len, columns["content"])]
    except TypeError:
        sizes = [0] * rows  # one of them is no text: it is refused
    for start, end in cuts(sizes, rows=CHUNK_ROWS):
        yield _chunk_of_columns({name: column[start:end] for name, column in columns.items()}, start)


def _check_columns(columns: Mapping[str, Column]) -> None:
    names = columns.keys()
    if not {"event_type", "content"} <= names <= COLUMN_KEYS:
        raise InvalidInput(
            f"Columns need event_type and content and may have {', '.join(sorted(COLUMN_KEYS))}; these are "
            f"{', '.join(map(str, names))}."
        )
    if ("concepts" in names) != ("scores" in names) or {"concepts", "concept_activations"} <= names:
        raise InvalidInput("Give either concept_activations, or concepts together with scores.")
    lengths = {}
    for name, column in columns.items():
        if isinstance(column, str | bytes | Mapping | ArrowStream):
            raise InvalidInput(f"The column {name} is {str(column)[:80]!r}; give a list or a NumPy array.")
        try:
            lengths[name] = len(column)
            column[0:0]
        except TypeError as error:
            raise InvalidInput(f"The column {name} is no list and no NumPy array ({error}).") from error
    if len({*lengths.values()}) > 1:
        said = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InvalidInput(f"The columns are not equally long: {said}.")


def _chunk_of_columns(columns: dict[str, Column], first: int) -> Chunk:
    import numpy as np

    rows = len(columns["content"])
    concepts, scores = columns.pop("concepts", None), columns.pop("scores", None)
    times = None
    timestamps = columns.get("timestamp")
    if isinstance(timestamps, np.ndarray) and timestamps.dtype.kind == "M":
        # A NaT is as good as none, and in microseconds what the stream takes for none.
        times = columns.pop("timestamp").astype("datetime64[us]").astype(np.int64)  # type: ignore[union-attr]
    listed = {name: _list(column) for name, column in columns.items()}
    flat: Any
    values: Any
    if concepts is None or scores is None:
        given = listed.pop("concept_activations", [None] * rows)
        for at, activation in enumerate(given, first):
            if activation is not None and not isinstance(activation, Mapping):
                raise InvalidInput(
                    f"Row {at:,}: {str(activation)[:80]!r} are no activations; give a mapping."
                )
        activations = [activation or {} for activation in given]
        counts = [*map(len, activations)]
        flat = [*chain.from_iterable(activations)]
        values = [*chain.from_iterable(activation.values() for activation in activations)]
    else:
        counts, flat = _flat(concepts, "concepts", first)
        others, values = _flat(scores, "scores", first)
        for at, (count, other) in enumerate(zip(counts, others, strict=True), first):
            if count != other:
                raise InvalidInput(f"Row {at:,} has {count} concepts and {other} scores.")
    return Chunk(
        first=first,
        columns=listed,
        counts=counts,
        concepts=flat if isinstance(flat, list) else _list(flat),
        scores=values,
        times=times,
        distinct=concepts is None,
    )


def _list(column: Column) -> list[Any]:
    import numpy as np

    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _flat(column: Column, name: str, first: int) -> tuple[list[int], Sequence[Any] | NDArray[Any]]:
    """Return how long each row's list is, and what is in them, one after the other."""
    import numpy as np

    if isinstance(column, np.ndarray) and column.ndim == 2:
        flat = column.ravel()
        return [column.shape[1]] * len(column), flat if flat.dtype.kind == "f" else flat.tolist()
    rows = [() if cell is None else cell for cell in column]
    if not {*map(type, rows)} <= {list, tuple, np.ndarray}:
        at = next(at for at, row in enumerate(rows) if not isinstance(row, list | tuple | np.ndarray))
        raise InvalidInput(f"Row {first + at:,}: {name} are {str(rows[at])[:80]!r}; give a list.")
    return [*map(len, rows)], [*chain.from_iterable(rows)]
