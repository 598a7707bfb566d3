"""`patricia` (document 1, section 5.2): paths in a radix tree.

For a topic: `basic` + 2.0 × the number of leading topic parts (split at `/` and white space) that equal the path's
leading parts (split at `/` alone) one by one; both in lower case. For a kind: 1 / the number of the path's parts + 2.0
if pinned + 1.0 if it carries any preferred tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hexad.spaces.bundles.orderings.basic import BasicTopic
from hexad.spaces.bundles.orderings.question import ContainmentQuery, Slots, TopicQuestion
from hexad.spaces.bundles.orderings.space_view import SpaceView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PART: Final = 2.0
_PINNED: Final = 2.0
_TAG: Final = 1.0


class PatriciaTopic:
    """`basic`, and how far the path goes along with the topic."""

    def __init__(self, view: SpaceView, question: TopicQuestion) -> None:
        import numpy as np

        self._basic = BasicTopic(view, question)
        self.claims = self._basic.claims
        self._depth = np.zeros(view.size, dtype=np.int64)
        tree = view.tree()
        for depth in range(1, len(question.parts) + 1):
            under = tree.under(question.parts[:depth])
            if not len(under):
                break
            self._depth[under] = depth

    def scores(self, slots: Slots, holds: Sequence[NDArray[np.bool_]]) -> NDArray[np.float64]:
        """Return `basic` + 2.0 × depth."""
        return self._basic.scores(slots, holds) + _PART * self._depth[slots]


class PatriciaKind:
    """Short paths first, what is pinned or tagged as preferred before them."""

    claims: Sequence[ContainmentQuery] = ()

    def __init__(self, view: SpaceView, question: TopicQuestion) -> None:
        self._view = view
        self._tagged = view.tags.count(question.prefer_tags, view.size) > 0

    def scores(
        self,
        slots: Slots,
        holds: Sequence[NDArray[np.bool_]],  # noqa: ARG002 - there are no claims
    ) -> NDArray[np.float64]:
        """Return the sums, in the order above."""
        view = self._view
        return (1.0 / view.depth[slots] + _PINNED * view.pinned[slots]) + _TAG * self._tagged[slots]
