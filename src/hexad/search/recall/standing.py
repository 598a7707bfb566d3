"""Which standing instructions and preferences of a conversation hold for the answer to a request: by meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from hexad.memory.tables.ranking_columns import StandingText
from hexad.text.standing import standing_sentences

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hexad.core.lazy import ByteCache


SENTENCES: Final = 48
"""So many sentences are compared, of the newest turns: each is embedded once, and kept in memory."""


Embed = Callable[[Sequence[str]], Sequence["NDArray[np.float32]"]]
"""Computes the vectors of a few short texts."""


class FindFitting(Protocol):
    """Finds which of the things that somebody wants of answers hold for the answer to a request."""

    def __call__(
        self, texts: Sequence[StandingText], question: NDArray[np.float32], embed: Embed
    ) -> Sequence[StandingText]:
        """Return the turns in the order in which a sentence of them comes near the question."""


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(standing_sentences(text))


def fitting(
    texts: Sequence[StandingText],
    question: NDArray[np.float32],
    embed: Embed,
    known: ByteCache[str, tuple[str, ...]],
) -> list[StandingText]:
    """Return the turns of which a sentence comes nearest to the question, best first.

    `known` are sentences by text: the rules take 40 µs for each.
    A sentence is compared and not its turn: it stands among others there.
    """
    sentences_of = known.remembering(_sentences)
    sentences = [(text.no, sentence) for text in texts for sentence in sentences_of(text.text)][:SENTENCES]
    if not sentences:
        return []
    best: dict[int, float] = {}
    for (no, _), vector in zip(sentences, embed([sentence for _, sentence in sentences]), strict=True):
        best[no] = max(best.get(no, -1.0), float(vector @ question))
    return sorted((text for text in texts if text.no in best), key=lambda text: (-best[text.no], text.no))
