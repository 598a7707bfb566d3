"""Embeddings as bytes: float32 as they came, float16 in half the room, int8 with a scale in a quarter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbeddingFormat(StrEnum):
    """How a node's embedding is stored."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    INT8 = "int8"


_STEPS: Final = 127
_TYPES: Final = {
    EmbeddingFormat.FLOAT32: "<f4",
    EmbeddingFormat.FLOAT16: "<f2",
    EmbeddingFormat.INT8: "i1",
}


def encode(vector: Sequence[float], form: EmbeddingFormat) -> tuple[bytes, float]:
    """Return the bytes of a vector and their scale, which is 1 but for int8."""
    import numpy as np

    exact = np.asarray(vector, dtype=np.float64)
    if form is not EmbeddingFormat.INT8:
        return exact.astype(_TYPES[form]).tobytes(), 1.0
    largest = float(np.abs(exact).max(initial=0.0))
    scale = largest / _STEPS if largest else 1.0
    return np.rint(exact / scale).astype("i1").tobytes(), scale


def decode(data: bytes, form: str, scale: float) -> NDArray[np.float32]:
    """Return the vector that bytes and scale stand for."""
    import numpy as np

    kind = EmbeddingFormat(form)
    row = np.frombuffer(data, dtype=_TYPES[kind])
    if kind is EmbeddingFormat.INT8:
        # Steps times scale may lie beyond the largest float32 by a rounding, and a scale below the smallest.
        row = row.astype(np.float64) * scale
    exact: NDArray[np.float32] = row.astype(np.float32)
    return exact


def decode_rows(rows: Sequence[tuple[bytes, str, float]]) -> NDArray[np.float32]:
    """Return vectors of one length, at least one, that bytes, formats and scales stand for, as rows."""
    import numpy as np

    forms = {form for _, form, _ in rows}
    if len(forms) > 1:
        return np.stack([decode(*row) for row in rows])
    kind = EmbeddingFormat(forms.pop())
    block = np.frombuffer(b"".join([data for data, _, _ in rows]), dtype=_TYPES[kind]).reshape(len(rows), -1)
    if kind is EmbeddingFormat.INT8:
        block = block.astype(np.float64) * np.array([scale for _, _, scale in rows])[:, None]
    exact: NDArray[np.float32] = block.astype(np.float32, copy=False)
    return exact


def direction(vector: Sequence[float]) -> NDArray[np.float64]:
    """Return a vector that points the same way, with numbers whose squares fit into a float."""
    import numpy as np

    exact = np.asarray(vector, dtype=np.float64)
    most = float(np.abs(exact).max(initial=0.0))
    return exact / most if most else exact


def cosine_of(vector: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    """Return `cosine_similarity` of stored vectors or directions, a hundred times as fast.

    They are finite, and squares of float32 fit into float64. The two functions agree to the last digits.
    """
    return MeasuredVector.of(vector).cosine(MeasuredVector.of(other))


class MeasuredVector(NamedTuple):
    """A vector in float64 and its length, for cosines with many others."""

    exact: NDArray[np.float64]
    length: float

    @classmethod
    def of(cls, vector: NDArray[np.floating]) -> MeasuredVector:
        """Return a vector with its length."""
        import numpy as np

        exact = vector.astype(np.float64)
        return cls(exact, math.sqrt(exact @ exact))

    def cosine(self, other: MeasuredVector) -> float:
        """Return `cosine_of` both."""
        lengths = self.length * other.length
        return min(max(float(self.exact @ other.exact) / lengths, 0.0), 1.0) if lengths else 0.0


def cosines_of(vector: NDArray[np.floating], rows: NDArray[np.floating]) -> list[float]:
    """Return `cosine_of` one vector and each of some rows. What a row gets does not depend on the others."""
    import numpy as np

    first, others = vector.astype(np.float64), rows.astype(np.float64)
    lengths = np.sqrt(first @ first) * np.sqrt(np.einsum("ij,ij->i", others, others))
    products = np.einsum("ij,j->i", others, first)
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return list(np.clip(cosines, 0.0, 1.0).tolist())


def largest(form: EmbeddingFormat) -> float:
    """Return the largest number that a format holds."""
    import numpy as np

    return float(np.finfo(_dtype(form)).max)


def smallest(form: EmbeddingFormat) -> float:
    """Return the smallest number that a format holds with all of its digits; below, they fade to zero."""
    import numpy as np

    return float(np.finfo(_dtype(form)).tiny)


def _dtype(form: EmbeddingFormat) -> type[np.float16 | np.float32]:
    import numpy as np

    return np.float16 if form is EmbeddingFormat.FLOAT16 else np.float32
