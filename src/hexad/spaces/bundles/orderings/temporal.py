"""`temporal`, the TemporalTree of document 1's roadmap: what lies in near years, months and weeks comes first.

The decay is 1.0·0.5^years + 1.5·0.5^months + 2.0·0.5^weeks, the distances being those of whole calendar years, calendar
months and ISO weeks in UTC between `updated_at` and `now`, 0 for what lies ahead. For a topic: `basic` + decay. For a
kind: decay + 5.0 if pinned.
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

_PINNED: Final = 5.0


class TemporalTopic:
    """`basic`, and how near in the calendar."""

    def __init__(self, view: SpaceView, question: TopicQuestion) -> None:
        self._view, self._now = view, question.now
        self._basic = BasicTopic(view, question)
        self.claims = self._basic.claims

    def scores(self, slots: Slots, holds: Sequence[NDArray[np.bool_]]) -> NDArray[np.float64]:
        """Return `basic` + decay."""
        decays = self._view.calendar().decays(self._view.updated[slots], self._now)
        return self._basic.scores(slots, holds) + decays


class TemporalKind:
    """How near in the calendar, pins before all."""

    claims: Sequence[ContainmentQuery] = ()

    def __init__(self, view: SpaceView, question: TopicQuestion) -> None:
        self._view, self._now = view, question.now

    def scores(
        self,
        slots: Slots,
        holds: Sequence[NDArray[np.bool_]],  # noqa: ARG002 - there are no claims
    ) -> NDArray[np.float64]:
        """Return decay + pinned."""
        decays = self._view.calendar().decays(self._view.updated[slots], self._now)
        return decays + _PINNED * self._view.pinned[slots]
