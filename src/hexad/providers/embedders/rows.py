"""What every embedder does with its input and its output: checks, and rows of length one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hexad.errors import InvalidInput, ProviderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatRows = NDArray[np.float32]


def checked_texts(texts: Sequence[str]) -> list[str]:
    """Return `texts` as a list; raises `InvalidInput` for a lone string or an item that is none."""
    if isinstance(texts, str):
        raise InvalidInput("embed() got one string; give a list of texts, or use embed_query().")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidInput(f"Text {position} is of type {type(text).__name__}; embedders take strings.")
    return list(texts)


def unit_rows(matrix: NDArray[np.float64] | FloatRows) -> FloatRows:
    """Return the rows scaled to length one as float32; a row of zeros stays one."""
    import numpy as np

    rows = matrix.astype(np.float64)
    # First by the largest value, so that squaring can neither overflow nor vanish.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    rows /= np.where(largest == 0.0, 1.0, largest)
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    rows /= np.where(lengths == 0.0, 1.0, lengths)
    return rows.astype(np.float32)


def checked_rows(answer: object, *, count: int, dimensions: int | None, who: str) -> NDArray[np.float64]:
    """Return a foreign embedder's answer as `count` finite rows, of `dimensions` columns where that is known.

    Raises `ProviderError`, naming `who`, for anything else: text, ragged rows, NaN, infinity, no columns.
    """
    import numpy as np

    try:
        rows = np.asarray(answer)
    except (TypeError, ValueError) as error:
        raise ProviderError(f"{who} returned rows of unequal length, or something else than rows.") from error
    if rows.ndim != 2 or rows.dtype.kind not in "fiu":
        raise ProviderError(
            f"{who} returned an array of shape {rows.shape} and type {rows.dtype}; "
            f"expected {count} rows of numbers."
        )
    if len(rows) != count or rows.shape[1] == 0:
        raise ProviderError(f"{who} returned {len(rows)} rows of {rows.shape[1]} numbers for {count} texts.")
    if dimensions is not None and rows.shape[1] != dimensions:
        raise ProviderError(
            f"{who} returned vectors of {rows.shape[1]} numbers where {dimensions} were expected. "
            f"Has the model behind it changed? Vectors of two models cannot be compared: "
            f"set the dimensions, or reindex."
        )
    rows = rows.astype(np.float64)
    if not np.isfinite(rows).all():
        raise ProviderError(f"{who} returned NaN or infinity, which no similarity can be computed from.")
    return rows


def embed_nonblank(
    texts: Sequence[str], *, size: int, dimensions: int, embed_batch: Callable[[Sequence[str]], FloatRows]
) -> FloatRows:
    """Return one row per text in order: zeros for a blank one, what `embed_batch` says for the others."""
    import numpy as np

    rows = np.zeros((len(texts), dimensions), dtype=np.float32)
    spoken = [position for position, text in enumerate(texts) if text.strip()]
    for start in range(0, len(spoken), size):
        positions = spoken[start : start + size]
        rows[positions] = embed_batch([texts[position] for position in positions])
    return rows
