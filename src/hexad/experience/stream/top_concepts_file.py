"""The strongest timesteps of each concept of a segment, whole, in a file of their own beside it.

Who asks where a concept was strongest reads a part of that file, a few thousand rows, instead of every activation of
the segment. It holds as many timesteps of each concept as a fifth of the segment's rows allows, at most a hundred:
what is asked beyond that is answered from the segment, and so is everything where the file is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hexad.experience.stream.duckdb_engine import quoted

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

KIND: Final = "tops"
TOP_ROWS: Final = 100
"""What `recall_by_concept` gives unless told otherwise."""
SIDE_ROWS: Final = 50_000
"""A smaller segment is read as a whole in a few milliseconds."""
_SHARE: Final = 5
_BINS: Final = 1 << 22
# Larger groups than the segment's own rows deserve: opening a file costs more with each group than reading one does.
_PARQUET: Final = (
    "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, PARQUET_VERSION V2, ROW_GROUP_SIZE 8192"
)


def write_tops(cursor: duckdb.DuckDBPyConnection, segment: str, to: str) -> None:
    """Write the strongest timesteps of each concept: by concept, score (the highest first), session and tick.

    The files are given by their names for DuckDB.

    The columns are those of the segment, and `concept`, `score`, and `more`: whether the segment has others of it.
    """
    found = cursor.execute(
        "SELECT unnest(concepts) AS concept, unnest(scores) AS score, file_row_number AS row"
        " FROM read_parquet(?, hive_partitioning = false, file_row_number = true)",
        [segment],
    ).fetchnumpy()
    ((total,),) = cursor.execute(
        "SELECT count(*) FROM read_parquet(?, hive_partitioning = false)", [segment]
    ).fetchall()
    cursor.register("tops", _strongest(found["concept"], found["score"], found["row"], total=total))
    cursor.execute(
        "COPY (SELECT tops.concept, tops.score, tops.more, steps.* EXCLUDE (file_row_number)"
        f" FROM read_parquet('{quoted(segment)}', hive_partitioning = false, file_row_number = true) steps"
        " JOIN tops ON steps.file_row_number = tops.row"
        f" ORDER BY tops.concept, tops.score DESC, session, tick) TO '{quoted(to)}' ({_PARQUET})"
    )


def _strongest(
    concepts: NDArray[np.uint32], scores: NDArray[np.float32], rows: NDArray[np.int64], *, total: int
) -> dict[str, NDArray[Any]]:
    """Return of each concept the strongest rows; of equals the first, as rows are in the order of the stream."""
    import numpy as np

    if not len(concepts):
        return {"concept": concepts, "score": scores, "more": np.zeros(0, np.bool_), "row": rows}
    present = np.flatnonzero(np.bincount(concepts))
    numbers = np.zeros(int(present[-1]) + 1, np.int64)
    numbers[present] = np.arange(len(present))
    own = numbers[concepts]
    counts = np.bincount(own)
    kept = _kept(counts, total // _SHARE)
    # Sorting all would cost as much as sealing does: a rough count says below which score nothing can be kept.
    bins = int(np.clip(_BINS // len(present), 2, 256))
    low, high = float(scores.min()), float(scores.max())
    rough = ((scores.astype(np.float64) - low) * ((bins - 1) / max(high - low, 1e-300))).astype(np.int64)
    rough = np.clip(rough, 0, bins - 1)
    histogram = np.bincount(own * bins + rough, minlength=len(present) * bins).reshape(len(present), bins)
    reached = histogram[:, ::-1].cumsum(axis=1)[:, ::-1] >= kept
    lowest = np.maximum(reached.sum(axis=1) - 1, 0)
    chosen = np.flatnonzero(rough >= lowest[own])
    chosen = chosen[np.lexsort((rows[chosen], -scores[chosen], own[chosen]))]
    sorted_own = own[chosen]
    rank = np.arange(len(chosen)) - np.searchsorted(sorted_own, np.arange(len(present)))[sorted_own]
    chosen = chosen[rank < kept]
    return {
        "concept": concepts[chosen],
        "score": scores[chosen],
        "more": counts[own[chosen]] > kept,
        "row": rows[chosen],
    }


def _kept(counts: NDArray[np.intp], allowed: int) -> int:
    """Return how many rows of each concept make at most `allowed` together; at least one."""
    import numpy as np

    low, high = 1, TOP_ROWS
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(counts, middle).sum()) <= allowed:
            low = middle
        else:
            high = middle - 1
    return low
