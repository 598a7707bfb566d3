"""First vectors of the default embedder: estimates of a text's vector from its pieces alone, thousands a second.

The mean of the model's own embeddings of the text's pieces, weighted by how rare a piece is, times a linear map that
was fitted to the vectors of the whole model (`benchmarks/fit_first_vectors.py`). A question's real vector finds with
these most of what it finds with real ones; their cosines are on a scale of their own.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.errors import ProviderError
from hexad.providers.embedders.minilm import REMEDY, WordPiece, load_vocabulary, model_file
from hexad.providers.embedders.rows import unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hexad.providers.embedders.rows import FloatRows

MAP_FILE: Final = Path(__file__).parent / "data" / "first_vectors.npz"

# Where the one model file that is accepted has the embeddings of its pieces: int8, and each piece's scale.
_PIECES, DIMENSIONS = 30_522, 384
_TABLE_AT, _SCALES_AT = 161_538, 11_882_049
_TABLE_SHA256 = "97fb7962a86aef8120cb7685dc9cc09e51080b80b5b9b1b1c1abdbca0937e0df"
_FIRST_WORD: Final = 1_996
"""From here on the vocabulary has words, the most frequent first: its order tells how rare a piece is."""


class PieceMeans:
    """The means of texts' pieces, weighted by rarity, of length one, and a 1 behind them; zeros without a piece."""

    def __init__(self, model_dir: Path | None) -> None:
        """Read the table of the model's file. Raises `ProviderError` when there is none, or it is another."""
        import numpy as np

        path = model_file(model_dir)
        try:
            with path.open("rb") as file:
                file.seek(_TABLE_AT)
                table = file.read(_PIECES * DIMENSIONS)
                file.seek(_SCALES_AT)
                scales = file.read(_PIECES * 4)
        except OSError as error:
            raise ProviderError(
                f"The embedding model {path} cannot be read ({error.strerror}). {REMEDY}"
            ) from error
        if hashlib.sha256(table + scales).hexdigest() != _TABLE_SHA256:
            raise ProviderError(f"The embedding model {path} has other embeddings than expected. {REMEDY}")
        self._table = np.frombuffer(table, np.int8).reshape(_PIECES, DIMENSIONS)
        rarity = np.log(np.maximum(np.arange(_PIECES) - _FIRST_WORD + 1, 2))
        self._weights = (np.frombuffer(scales, "<f4") * rarity).astype(np.float32)
        self._pieces = WordPiece(load_vocabulary())

    def of(self, texts: Sequence[str]) -> FloatRows:
        """Return one row for each text, in order."""
        import numpy as np

        means = np.zeros((len(texts), DIMENSIONS + 1), dtype=np.float32)
        for row, text in zip(means, texts, strict=True):
            if pieces := self._pieces.encode(text)[1:-1]:
                mean = self._weights[pieces] @ self._table[pieces].astype(np.float32)
                row[:-1] = mean / max(float(np.linalg.norm(mean)), 1e-9)
                row[-1] = 1.0
        return means


class FirstVectorModel:
    """Estimates the vectors of texts. Making one costs nothing: the tables are read at the first text, once."""

    def __init__(self, model_dir: Path | None = None) -> None:
        self._model_dir = model_dir
        self._lock = threading.Lock()
        self._loaded: tuple[PieceMeans, NDArray[np.float32]] | None = None

    def embed(self, texts: Sequence[str]) -> FloatRows:
        """Return one row of length one per text, in order; zeros for a text without words."""
        means, fit = self._load()
        return unit_rows(means.of(texts) @ fit)

    def _load(self) -> tuple[PieceMeans, NDArray[np.float32]]:
        import numpy as np

        with self._lock:
            if self._loaded is None:
                with np.load(MAP_FILE, allow_pickle=False) as arrays:
                    fit = arrays["map"].astype(np.float32)
                self._loaded = (PieceMeans(self._model_dir), fit)
            return self._loaded
