"""When nothing is relevant: an empty answer is better than the least bad one."""

from __future__ import annotations

from typing import Final

from hexad.index.vectors import VectorAnswer

NEAR_DEVIATIONS: Final = 2.5
"""A cosine this many deviations over the mean of the question's cosines counts as near."""
FAINT: Final = 0.25
"""Cosines under this are never near, however far over the mean they are."""


class Relevance:
    """Judges single candidates of one question."""

    def __init__(self, answer: VectorAnswer | None) -> None:
        self._answer = answer
        self._floor = (
            max(answer.mean + NEAR_DEVIATIONS * answer.deviation, FAINT) if answer is not None else 0.0
        )

    def admits(self, no: int, *, matched: bool) -> bool:
        """Whether memory `no` may answer: by a telling word of the question, or by meaning."""
        if matched:
            return True
        near = self._answer.best.get(no) if self._answer is not None else None
        return near is not None and near[0] >= self._floor
