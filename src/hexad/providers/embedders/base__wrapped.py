"""A caller's own function as an embedder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hexad.core.arguments import said_by
from hexad.errors import HexadError, ProviderError
from hexad.providers.embedders.rows import checked_rows, checked_texts, embed_nonblank, unit_rows

if TYPE_CHECKING:
    from hexad.providers.embedders.rows import FloatRows

_TEXTS_PER_CALL = 128


class CallableEmbedder:
    """Wraps a function from a list of texts to one vector each, as lists or as anything NumPy reads.

    The vectors need no particular length; they are scaled here. Their number of dimensions is learned from
    the first answer (reading `dimensions` before that calls the function once) and must stay the same.
    The function may be called from several threads, never with a blank text, with at most 128 texts at once.
    """

    def __init__(self, function: Callable[[Sequence[str]], object]) -> None:
        self._function = function
        named = function if hasattr(function, "__qualname__") else type(function)
        self.name = f"callable:{named.__module__}.{named.__qualname__}"
        self._lock = threading.Lock()
        self._dimensions: int | None = None

    @property
    def dimensions(self) -> int:
        """The length of the function's vectors. Raises `ProviderError` when it has to be asked and fails."""
        if self._dimensions is None:
            self._embed_batch(["dimensions"])
        assert self._dimensions is not None
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> FloatRows:
        """Return one row of length one per text, in order; zeros for a blank text.

        Raises `ProviderError` when the function raises, or returns anything but one finite vector per text.
        """
        spoken = checked_texts(texts)
        return embed_nonblank(
            spoken, size=_TEXTS_PER_CALL, dimensions=self.dimensions, embed_batch=self._embed_batch
        )

    def embed_query(self, text: str) -> FloatRows:
        """Return the row of one text."""
        row: FloatRows = self.embed([text])[0]
        return row

    def _embed_batch(self, texts: Sequence[str]) -> FloatRows:
        try:
            answer = self._function(texts)
        except HexadError:
            raise
        # The one broad handler here: foreign code may raise anything, and whoever waits for a vector must be
        # able to tell a failed embedder from a defect of ours. Nothing is swallowed.
        except Exception as error:
            raise ProviderError(f"Embedder {self.name!r} raised {said_by(error, texts)}") from error
        who = f"Embedder {self.name!r}"
        with self._lock:
            rows = checked_rows(answer, count=len(texts), dimensions=self._dimensions, who=who)
            self._dimensions = rows.shape[1]
        return unit_rows(rows)
