"""Which memories without vectors recent questions touched, and the vectors of passages computed for those questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final

from hexad.core.lazy import ByteCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatRow = NDArray[np.float32]

WANTED: Final = 2_000
"""Memories remembered at most; past this the ones asked for longest ago are forgotten, which costs only their turn."""
PASSAGES_BYTES: Final = 16 << 20
"""So much of the vectors of passages is kept, with their texts; a forgotten one is computed again."""


class WantedVectors:
    """What questions asked for, kept in memory: the job that embeds begins with it and computes nothing of it twice."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._numbers: dict[int, None] = {}
        self._complete: dict[int, None] = {}
        self.passages = ByteCache[str, "FloatRow"](PASSAGES_BYTES)

    def want(self, numbers: Sequence[int]) -> None:
        """Remember memories that a question touched, the best first."""
        with self._lock:
            for no in reversed(numbers):
                self._numbers.pop(no, None)
                self._numbers[no] = None
            _forget(self._numbers, WANTED)

    def first(self, limit: int) -> list[int]:
        """Return what was asked for last, the best of the last question first."""
        with self._lock:
            return list(self._numbers)[: -limit - 1 : -1]

    def complete(self, numbers: Iterable[int]) -> None:
        """Note memories of which every passage has a vector here: storing them computes sentences of turns alone."""
        with self._lock:
            self._complete.update(dict.fromkeys(numbers))
            _forget(self._complete, WANTED)

    def take_complete(self) -> list[int]:
        """Return the memories that were noted as complete, and forget them."""
        with self._lock:
            numbers, self._complete = list(self._complete), {}
            return numbers

    def settle(self, numbers: Collection[int]) -> None:
        """Forget memories that have their vectors, or can have none."""
        with self._lock:
            for no in numbers:
                self._numbers.pop(no, None)
                self._complete.pop(no, None)

    def embed(
        self, texts: Sequence[str], compute: Callable[[Sequence[str]], Iterable[FloatRow]]
    ) -> list[FloatRow]:
        """Return the vectors of passages, computing and keeping those that are not here."""
        vectors = self.known(texts, compute)
        for text, vector in zip(texts, vectors, strict=True):
            self.passages.put(text, vector)
        return vectors

    def known(
        self, texts: Sequence[str], compute: Callable[[Sequence[str]], Iterable[FloatRow]]
    ) -> list[FloatRow]:
        """Return the vectors of passages, computing those that are not here; nothing is kept."""
        here = {text: vector for text in texts if (vector := self.passages.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in here]
        if missing:
            here.update(zip(missing, compute(missing), strict=True))
        return [here[text] for text in texts]


def _forget(entries: dict[int, None], most: int) -> None:
    """Drop the oldest entries past `most`."""
    for key in list(entries)[: max(0, len(entries) - most)]:
        del entries[key]
