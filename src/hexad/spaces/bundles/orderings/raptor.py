"""`raptor` (document 1, section 5.3): clusters of tags and summaries.

A cluster of words scores 1.5 × the number of distinct words that equal a tag of the memory or stand in its
`summary_long`, in lower case. For a topic: `basic` + the larger cluster of the topic's words (split at white space) and
of the preferred tags + max(0, 1 − age / 30), where the age is that of `updated_at` in days, 0 for a time ahead of
`now`. For a kind: `updated_at` in whole milliseconds / 1e9 + the cluster of the preferred tags + 5.0 if pinned.

Of a topic's words, and of the preferred tags, the first 64 are counted in a cluster: each is looked up in what all
memories say, and nobody means ten thousand.
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

CLUSTER_WORDS_MOST: Final = 64
_WORD: Final = 1.5
_DAY_MICROS: Final = 86_400_000_000
_FRESH_DAYS: Final = 30.0
_PINNED: Final = 5.0


def uncounted(question: TopicQuestion) -> list[str]:
    """Return notes of what is left out of the clusters of a question."""
    return [
        f"raptor counted the first {CLUSTER_WORDS_MOST} of {len(words):,} {what}."
        for words, what in ((question.words, "topic words"), (question.prefer_tags, "preferred tags"))
        if len(words) > CLUSTER_WORDS_MOST
    ]


class _Cluster:
    """How many of some words are tags of a memory or stand in its long summary."""

    def __init__(self, view: SpaceView, words: Sequence[str]) -> None:
        import numpy as np

        self._view = view
        words = words[:CLUSTER_WORDS_MOST]
        self.claims = [ContainmentQuery("long", word, view.may_hold("long", word)) for word in words]
        self._tagged = []
        for word in words:
            tagged = np.zeros(view.size, dtype=bool)
            tagged[view.tags.slots(word)] = True
            self._tagged.append(tagged)

    def hits(self, slots: Slots, holds: Sequence[NDArray[np.bool_]]) -> NDArray[np.int32]:
        """Return the number of words that hit."""
        import numpy as np

        count = np.zeros(len(self._view.nos[: self._view.size][slots]), dtype=np.int32)
        for tagged, array in zip(self._tagged, holds, strict=True):
            count += tagged[slots] | array
        return count


class RaptorTopic:
    """`basic`, the better of two clusters, and a bonus for what is young."""

    def __init__(self, view: SpaceView, question: TopicQuestion) -> None:
        self._view, self._now = view, question.now_micros
        self._basic = BasicTopic(view, question)
        self._words = _Cluster(view, question.words)
        self._preferred = _Cluster(view, question.prefer_tags)
        self._cuts = (
            len(self._basic.claims),
            len(self._basic.claims) + len(self._words.claims),
        )
        self.claims = [*self._basic.claims, *self._words.claims, *self._preferred.claims]

    def scores(self, slots: Slots, holds: Sequence[NDArray[np.bool_]]) -> NDArray[np.float64]:
        """Return (`basic` + cluster) + recency."""
        import numpy as np

        first, second = self._cuts
        words = self._words.hits(slots, holds[first:second])
        cluster = _WORD * np.maximum(words, self._preferred.hits(slots, holds[second:]))
        age_days = np.maximum(0, self._now - self._view.updated[slots]) / _DAY_MICROS
        recency = np.maximum(0.0, 1.0 - age_days / _FRESH_DAYS)
        total: NDArray[np.float64] = (self._basic.scores(slots, holds[:first]) + cluster) + recency
        return total


class RaptorKind:
    """Newest first, moved by the cluster of the preferred tags and by pins."""

    def __init__(self, view: SpaceView, question: TopicQuestion) -> None:
        self._view = view
        self._newest = NewestFirst(view)
        self._preferred = _Cluster(view, question.prefer_tags)
        self.claims = self._preferred.claims

    def scores(self, slots: Slots, holds: Sequence[NDArray[np.bool_]]) -> NDArray[np.float64]:
        """Return (time + cluster) + pinned."""
        cluster = _WORD * self._preferred.hits(slots, holds)
        return (self._newest.scores(slots, ()) + cluster) + _PINNED * self._view.pinned[slots]
