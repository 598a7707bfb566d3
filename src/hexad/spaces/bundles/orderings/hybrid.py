"""`hybrid`, also called `graphrag` (document 1, section 5.4): rare entity tokens, and what is pinned about them.

Frequencies are counted over all active memories of the space that the reader may see, repeats included. For a topic:
`basic` + for each distinct topic token (split at white space, `/`, `_`, `-`), in their order, that is among the
memory's entity tokens, 2.5 / its frequency + 1.5 × the number of distinct entity tokens that another, pinned memory
has too (of a pinned memory itself: that any other has), of those that somebody wrote. For a kind: `updated_at` in
whole milliseconds / 1e9 + the sum of 1 / frequency over the memory's distinct tokens, added in the order of their
characters + 5.0 if pinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hexad.spaces.bundles.orderings.basic import BasicTopic, NewestFirst
from hexad.spaces.bundles.orderings.question import ContainmentQuery, Slots, TopicQuestion
from hexad.spaces.bundles.orderings.space_view import SpaceView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RARE: Final = 2.5
_SHARED: Final = 1.5
_PINNED: Final = 5.0


class HybridTopic:
    """`basic`, rare topic tokens, and tokens shared with pinned memories."""

    def __init__(self, view: SpaceView, question: TopicQuestion) -> None:
        import numpy as np

        self._basic = BasicTopic(view, question)
        self.claims = self._basic.claims
        entities = view.entities()
        self._rare = np.zeros(view.size, dtype=np.float64)
        for token in question.tokens:
            frequency = entities.frequency(token)
            if frequency:
                self._rare[entities.slots(token)] += _RARE / frequency
        self._shared = entities.overlap(view.size)

    def scores(self, slots: Slots, holds: Sequence[NDArray[np.bool_]]) -> NDArray[np.float64]:
        """Return (`basic` + rare) + shared."""
        return (self._basic.scores(slots, holds) + self._rare[slots]) + _SHARED * self._shared[slots]


class HybridKind:
    """Newest first, moved by rare tokens and by pins."""

    claims: Sequence[ContainmentQuery] = ()

    def __init__(self, view: SpaceView, members: NDArray[np.bool_]) -> None:
        self._view = view
        self._newest = NewestFirst(view)
        self._rarity = view.entities().rarity(members)

    def scores(
        self,
        slots: Slots,
        holds: Sequence[NDArray[np.bool_]],  # noqa: ARG002 - there are no claims
    ) -> NDArray[np.float64]:
        """Return (time + rarity) + pinned."""
        time = self._newest.scores(slots, ())
        return (time + self._rarity[slots]) + _PINNED * self._view.pinned[slots]
