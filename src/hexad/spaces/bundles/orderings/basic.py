"""`basic` (document 1, section 5.1).

For a topic: relevance (5.0 high, 2.5 medium, 1.0 otherwise) + 4.0 if pinned + 3.0, 2.0 and 1.5 where the whole topic
stands in the path, in `summary_short` and in `raw`, all in lower case (nothing for an empty topic) + 1.0 if the kind is
preferred + 0.8 × the number of preferred tags that it carries; added in this order. For a kind: newest first; the
score is `updated_at` in whole milliseconds since 1970, divided by 1e9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hexad.spaces.bundles.orderings.question import ContainmentQuery, Slots, TopicQuestion
from hexad.spaces.bundles.orderings.space_view import SpaceView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WHOLE_TOPIC: Final = (("path", 3.0), ("short", 2.0), ("raw", 1.5))
_KIND: Final = 1.0
_TAG: Final = 0.8


class BasicTopic:
    """The score that every other ordering of a topic begins with."""

    def __init__(self, view: SpaceView, question: TopicQuestion) -> None:
        self._view = view
        self._weights = [weight for _, weight in _WHOLE_TOPIC] if question.topic else []
        self.claims: Sequence[ContainmentQuery] = (
            [
                ContainmentQuery(text, question.topic, view.may_hold(text, question.topic))
                for text, _ in _WHOLE_TOPIC
            ]
            if question.topic
            else []
        )
        self._kinds = [view.of_kind(kind) for kind in question.prefer_kinds]
        self._tags = view.tags.count(question.prefer_tags, view.size) if question.prefer_tags else None

    def scores(self, slots: Slots, holds: Sequence[NDArray[np.bool_]]) -> NDArray[np.float64]:
        """Return the sums, in the order above."""
        total = self._view.standing[slots]
        for weight, array in zip(self._weights, holds, strict=False):
            total = total + weight * array
        for of_kind in self._kinds:
            total = total + _KIND * of_kind[slots]
        if self._tags is not None:
            total = total + _TAG * self._tags[slots]
        return total


class NewestFirst:
    """The order of a kind's memories by time alone."""

    claims: Sequence[ContainmentQuery] = ()

    def __init__(self, view: SpaceView) -> None:
        self._view = view

    def scores(
        self,
        slots: Slots,
        holds: Sequence[NDArray[np.bool_]],  # noqa: ARG002 - there are no claims
    ) -> NDArray[np.float64]:
        """Return whole milliseconds since 1970, divided by 1e9."""
        return (self._view.updated[slots] // 1000) / 1e9
