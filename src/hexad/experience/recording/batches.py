"""Many records at once, from rows or from columns: checked and cut as single ones are, column by column.

The fast way takes what is plain and leaves the rest alone: a chunk in which anything is not plain goes through
`moment`, row by row. So both say the same of every row, and a refusal is worded in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hexad.core.arguments import quoted
from hexad.core.event_types import EventType
from hexad.database.codec import from_micros
from hexad.errors import InvalidInput, LimitExceeded
from hexad.experience.recording.moments import (
    COUNT_LIMIT,
    FLOAT_LIMIT,
    KIND_BY_WORD,
    ROW_KEYS,
    StreamIntake,
    fields_of_row,
    time_micros,
)
from hexad.experience.recording.recorder import RecordFields
from hexad.experience.stream.columns import ArrowStream, ColumnChunk, chunks_of_arrow, cuts
from hexad.experience.stream.duckdb_engine import DuckDbEngine
from hexad.experience.stream.frames import ENDS, HAS_EVENT, HAS_ROLE, HAS_TOKEN, NO_TIME, STARTS, Batch
from hexad.experience.values.records import CONTENT_BYTES_LIMIT, KIND_CODES, TOP_ACTIVATIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


HELD_BYTES: Final = 64 << 20
_OUTPUT: Final = KIND_CODES[EventType.OUTPUT]
_TIMES: Final = (-62_135_596_800_000_000, 253_402_300_799_999_999)
"""The years 1 to 9999, in microseconds since 1970."""


class _Unusual(Exception):
    """Something in the chunk is not plain: row by row is the way to say what."""


def held_together(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield the batches when those of the first 64 MiB are there: what refuses a row before refuses all of them."""
    coming = iter(batches)
    held_batches, size = [], 0
    for batch in coming:
        held_batches.append(batch)
        size += batch.size
        if size > HELD_BYTES:
            break
    yield from held_batches
    yield from coming


def batches(chunks: Iterable[ColumnChunk], intake: StreamIntake) -> Iterator[Batch]:
    """Yield what is to be recorded; raises `InvalidInput` or `LimitExceeded`, with the row, for what cannot be."""
    for chunk in chunks:
        try:
            yield _batch(chunk, intake)
        except _Unusual:
            yield _of_moments(list(_moments(chunk, intake)))


def _moments(chunk: ColumnChunk, intake: StreamIntake) -> Iterator[RecordFields]:
    number = chunk.first
    try:
        for row in _rows(chunk):
            yield fields_of_row(row, intake=intake)
            number += 1
    except (InvalidInput, LimitExceeded) as error:
        raise type(error)(f"Row {number:,}: {error}", argument=error.argument) from error


def _rows(chunk: ColumnChunk) -> Iterator[Mapping[str, Any]]:
    """Yield the rows as `record_many` takes them; raises `InvalidInput` for a concept that is twice in one."""
    if chunk.rows is not None:
        yield from chunk.rows
        return
    end = 0
    ids = chunk.ids
    concepts = chunk.concepts if ids is None else [ids[int(concept)] for concept in chunk.concepts]
    for at, count in enumerate(chunk.counts):
        start, end = end, end + count
        activations = dict(zip(concepts[start:end], chunk.scores[start:end], strict=True))
        if len(activations) != count:
            raise InvalidInput("A concept is there twice; give each once, with one score.")
        row = {name: column[at] for name, column in chunk.columns.items()}
        if chunk.times is not None and chunk.times[at] != NO_TIME:
            row["timestamp"] = _time(int(chunk.times[at]))
        yield {**row, "concept_activations": activations}


def _time(micros: int) -> datetime:
    if not _TIMES[0] <= micros <= _TIMES[1]:
        raise InvalidInput(f"timestamp is {micros:,} microseconds after 1970, outside the years 1 to 9999.")
    return from_micros(micros)


def _of_moments(moments: Sequence[RecordFields]) -> Batch:
    import numpy as np

    at, kind, flags, token, tokens, role, event, activations, contents = zip(*moments, strict=True)
    numbers = _PlaceNumbers({None: 0})
    texts = [content.encode("utf-8") for content in contents]
    return Batch(
        kind=np.array(kind, np.uint8),
        flags=np.array(flags, np.uint8),
        token=np.array(token, np.int64),
        tokens=np.array(tokens, np.uint32),
        roles=np.array([numbers[name] for name in role], np.intp),
        events=np.array([numbers[event_id] for event_id in event], np.intp),
        activations=np.array([len(activation) for activation in activations], np.uint8),
        concepts=np.array([numbers[concept] for row in activations for concept in row], np.intp),
        scores=np.array([score for row in activations for score in row.values()], np.float32),
        lengths=np.array([len(text) for text in texts], np.uint32),
        contents=b"".join(texts),
        at=np.array([NO_TIME if time is None else time for time in at], np.int64),
        strings=list(numbers),
    )


class _PlaceNumbers(dict[str | None, int]):
    """Numbers strings as they come."""

    def __missing__(self, text: str | None) -> int:
        number = self[text] = len(self)
        return number


def _batch(chunk: ColumnChunk, intake: StreamIntake) -> Batch:
    """Return a chunk as a batch; raises `_Unusual` when not everything in it is plain."""
    import numpy as np

    columns = chunk.columns
    try:
        kind = np.array([KIND_BY_WORD[word] for word in columns["event_type"]], np.uint8)
    except (KeyError, TypeError) as error:
        raise _Unusual from error
    texts = _texts(columns["content"], kind, intake)
    contents, lengths = _encoded(texts)
    flags = np.zeros(len(chunk), np.uint8)
    numbers = _PlaceNumbers({None: 0})
    named = {}
    for key, flag in (("event_id", HAS_EVENT), ("role", HAS_ROLE)):
        named[key] = _name_places(columns.get(key), key, len(chunk), numbers, intake)
        flags[named[key] > 0] |= flag
    token, present = _whole(columns.get("token_id"), len(chunk), 0, (-1 << 63, (1 << 63) - 1))
    flags[present] |= HAS_TOKEN
    tokens, counted = _whole(columns.get("token_count"), len(chunk), 1, (0, COUNT_LIMIT))
    generated = kind == _OUTPUT
    for at in np.flatnonzero(~counted & ~(generated & present)).tolist():
        tokens[at] = intake.tokens(texts[at], may_be_token=bool(generated[at]))
    for key, flag in (("event_start", STARTS), ("event_end", ENDS)):
        column = columns.get(key, ())
        if not {*map(type, column)} <= {bool, type(None)}:
            raise _Unusual
        if any(column):
            flags[np.fromiter(map(bool, column), np.bool_, len(chunk))] |= flag
    strings = list(numbers)
    counts, concepts, scores = _activations(chunk, strings, intake)
    return Batch(
        kind=kind,
        flags=flags,
        token=token,
        tokens=tokens.astype(np.uint32),
        roles=named["role"],
        events=named["event_id"],
        activations=counts.astype(np.uint8),
        concepts=concepts,
        scores=scores.astype(np.float32),
        lengths=lengths,
        contents=contents,
        at=_times(chunk),
        strings=strings,
    )


def _texts(column: Sequence[Any], kind: NDArray[np.uint8], intake: StreamIntake) -> Sequence[str]:
    """Return the contents, without secrets where they are not generated."""
    import numpy as np

    if {*map(type, column)} != {str} or max(map(len, column)) > CONTENT_BYTES_LIMIT // 4:
        raise _Unusual
    looked_at = np.flatnonzero(kind != _OUTPUT).tolist()
    if not looked_at:
        return column
    texts = list(column)
    for at, text in intake.masked([texts[at] for at in looked_at]):
        texts[looked_at[at]] = text
    return texts


def _encoded(texts: Sequence[str]) -> tuple[bytes, NDArray[np.uint32]]:
    """Return texts one after the other, and their lengths."""
    import numpy as np

    joined = "".join(texts)
    if joined.isascii():
        return joined.encode("ascii"), np.array([*map(len, texts)], np.uint32)
    try:
        encoded = [text.encode("utf-8") for text in texts]
    except UnicodeEncodeError as error:
        raise _Unusual from error
    return b"".join(encoded), np.array([*map(len, encoded)], np.uint32)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Unusual
    return value


def _name_places(
    column: Sequence[Any] | None, what: str, rows: int, numbers: _PlaceNumbers, intake: StreamIntake
) -> NDArray[np.intp]:
    """Return the places of names in `numbers`, 0 for none."""
    import numpy as np

    if column is None:
        return np.zeros(rows, np.intp)
    count = len(numbers)
    try:
        places = np.array([numbers[name] for name in column], np.intp)
        intake.take_names(map(_text, list(numbers)[count:]), what)
    except (InvalidInput, TypeError) as error:
        raise _Unusual from error
    return places


def _whole(
    column: Sequence[Any] | None, rows: int, default: int, bounds: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return whole numbers, and where there were any."""
    import numpy as np

    if column is None:
        return np.full(rows, default, np.int64), np.zeros(rows, np.bool_)
    types = {*map(type, column)}
    present = np.ones(rows, np.bool_)
    if not types <= {int, type(None)}:
        raise _Unusual
    if type(None) in types:
        present = np.array([item is not None for item in column], np.bool_)
        column = [default if item is None else item for item in column]
    try:
        whole = np.array(column, np.int64)
    except OverflowError as error:
        raise _Unusual from error
    if len(whole) and not (bounds[0] <= whole.min() and whole.max() <= bounds[1]):
        raise _Unusual
    return whole, present


def _times(chunk: ColumnChunk) -> NDArray[np.int64]:
    import numpy as np

    times, column = chunk.times, chunk.columns.get("timestamp")
    if times is not None:
        timed = times[times != NO_TIME]
        if len(timed) and not (_TIMES[0] <= timed.min() and timed.max() <= _TIMES[1]):
            raise _Unusual
        return times
    if column is None:
        return np.full(len(chunk), NO_TIME, np.int64)
    try:
        return np.array([NO_TIME if time is None else time_micros(time) for time in column], np.int64)
    except InvalidInput as error:
        raise _Unusual from error


def _activations(
    chunk: ColumnChunk, strings: list[str | None], intake: StreamIntake
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.float64]]:
    """Return how many activations each row has, their places in `strings`, which are added, and their scores."""
    import numpy as np

    counts = np.array(chunk.counts, np.int64)
    places, ids = _places(chunk, intake)
    scores = _scores(chunk.scores)
    rows = np.repeat(np.arange(len(counts)), counts)
    if not chunk.distinct:
        pairs = np.sort(rows << 32 | places)
        if (pairs[1:] == pairs[:-1]).any():
            raise _Unusual
    if intake.permitted is not None:
        seen = np.fromiter(map(intake.permitted, ids), np.bool_, len(ids))[places]
        rows, places, scores = rows[seen], places[seen], scores[seen]
        counts = np.bincount(rows, minlength=len(counts))
    if len(counts) and counts.max() > TOP_ACTIVATIONS:
        kept = _strongest(rows, places, scores, ids)
        rows, places, scores = rows[kept], places[kept], scores[kept]
        counts = np.minimum(counts, TOP_ACTIVATIONS)
    used = np.zeros(len(ids), np.bool_)
    used[places] = True
    number = np.cumsum(used) + (len(strings) - 1)
    strings += [ids[at] for at in np.flatnonzero(used).tolist()]
    return counts, number[places], scores


def _places(chunk: ColumnChunk, intake: StreamIntake) -> tuple[NDArray[np.intp], Sequence[str]]:
    """Return the concepts as places in a list of ids, which may be recorded."""
    import numpy as np

    try:
        if chunk.ids is not None:
            places = np.asarray(chunk.concepts, np.intp)
            ids = [event_id for event_id in chunk.ids if event_id is not None]
            if len(places) and places.max() >= len(ids):
                raise _Unusual
        else:
            numbers = _PlaceNumbers()
            places = np.array([numbers[concept] for concept in chunk.concepts], np.intp)
            ids = [*map(_text, numbers)]
        intake.take_concepts(ids)
    except (InvalidInput, TypeError) as error:
        raise _Unusual from error
    return places, ids


def _scores(raw_scores: Sequence[float] | NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    import numpy as np

    if not isinstance(raw_scores, np.ndarray):
        if not {*map(type, raw_scores)} <= {float, int, np.float64, np.float32}:
            raise _Unusual
        try:
            raw_scores = np.array(raw_scores, np.float64)
        except OverflowError as error:
            raise _Unusual from error
    scores = raw_scores.astype(np.float64)
    if not (np.abs(scores) <= FLOAT_LIMIT).all():
        raise _Unusual
    return scores


def _strongest(
    rows: NDArray[np.intp], places: NDArray[np.intp], scores: NDArray[np.float64], ids: Sequence[str]
) -> NDArray[np.intp]:
    """Return which activations are among the strongest of their row; of equal ones the first by id."""
    import numpy as np

    rank = np.empty(len(ids), np.intp)
    rank[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    order = np.lexsort((rank[places], -scores, rows))
    ordered = rows[order]
    starts = np.searchsorted(ordered, ordered)  # where each one's row begins
    return order[np.arange(len(order)) - starts < TOP_ACTIVATIONS]


Column: TypeAlias = "Sequence[Any] | NDArray[Any]"
CHUNK_ROWS: Final = 8_192
COLUMN_KEYS: Final = ROW_KEYS | {"concepts", "scores"}
Rows = Iterable[Mapping[str, Any]] | Mapping[str, Column] | ArrowStream
"""Rows as mappings; a mapping of columns; or a table, a frame, a relation that speaks Arrow."""


def chunks(stream: Rows, engine: DuckDbEngine) -> Iterator[ColumnChunk]:
    """Yield what was given in its order; raises `InvalidInput` for what holds no rows."""
    if isinstance(stream, ArrowStream):
        yield from chunks_of_arrow(stream, engine, known=COLUMN_KEYS)
    elif isinstance(stream, Mapping):
        yield from _of_columns(stream)
    else:
        try:
            rows = iter(stream)
        except TypeError as error:
            raise InvalidInput(
                f"{quoted(stream)} holds no rows; give mappings, a mapping of columns, or Arrow."
            ) from error
        yield from _of_rows(rows)


def _of_rows(rows: Iterator[Mapping[str, Any]]) -> Iterator[ColumnChunk]:
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


def _chunk_of_rows(rows: list[Mapping[str, Any]], first: int) -> ColumnChunk:
    # Without columns it is taken row by row.
    odd = ColumnChunk(first=first, columns={"content": rows}, counts=(), concepts=(), scores=(), rows=rows)
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
    column = columns.pop("concept_activations", None)
    if column is None:
        return ColumnChunk(
            first=first, columns=columns, counts=[0] * len(rows), concepts=[], scores=[], rows=rows
        )
    if not {*map(type, column)} <= {dict, type(None)}:
        return odd
    activations = [activation or {} for activation in column]
    return ColumnChunk(
        first=first,
        columns=columns,
        counts=[*map(len, activations)],
        concepts=[*chain.from_iterable(activations)],
        scores=[*chain.from_iterable(map(dict.values, activations))],
        distinct=True,
        rows=rows,
    )


def _of_columns(columns: Mapping[str, Column]) -> Iterator[ColumnChunk]:
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
        lengths_text = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InvalidInput(f"The columns are not equally long: {lengths_text}.")


def _chunk_of_columns(columns: dict[str, Column], first: int) -> ColumnChunk:
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
        column = listed.pop("concept_activations", [None] * rows)
        for at, activation in enumerate(column, first):
            if activation is not None and not isinstance(activation, Mapping):
                raise InvalidInput(
                    f"Row {at:,}: {str(activation)[:80]!r} are no activations; give a mapping."
                )
        activations = [activation or {} for activation in column]
        counts = [*map(len, activations)]
        flat = [*chain.from_iterable(activations)]
        values = [*chain.from_iterable(activation.values() for activation in activations)]
    else:
        counts, flat = _flat(concepts, "concepts", first)
        others, values = _flat(scores, "scores", first)
        for at, (count, other) in enumerate(zip(counts, others, strict=True), first):
            if count != other:
                raise InvalidInput(f"Row {at:,} has {count} concepts and {other} scores.")
    return ColumnChunk(
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
