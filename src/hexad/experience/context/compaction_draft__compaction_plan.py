"""Where a context window is cut: the older half by tokens, between two events where that is possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hexad.experience.query.window_steps import LiveStep

LEAST_SHARE, MOST_SHARE = 0.25, 0.75
"""A border between events is good enough from a quarter to three quarters; else an event is cut in two."""
ROWS_LIMIT: Final = 50_000
"""So many timesteps are compacted at once at most; of a longer window, the first."""


def older_half(steps: Sequence[LiveStep], tokens: int) -> int:
    """Return how many of the first timesteps of a window make its older half; `tokens` is what all of it has.

    At least one where there is any. Where `steps` are not the whole window and hold less than half of it, nearly all.

    >>> words = [LiveStep(tick, 10, tick // 4) for tick in range(12)]
    >>> older_half(words, 120), older_half(words[:2], 20), older_half([], 0)
    (4, 1, 0)
    """
    if not steps:
        return 0
    sums = list(_sums(steps))
    aim = min(tokens / 2, sums[-1])
    near = [at for at in borders(steps) if LEAST_SHARE * 2 * aim <= sums[at - 1] <= MOST_SHARE * 2 * aim]
    if near:
        return min(near, key=lambda at: (abs(sums[at - 1] - aim), at))
    return next((at for at, total in enumerate(sums, start=1) if total >= aim), len(steps))


def all_of(steps: Sequence[LiveStep], *, more: bool) -> int:
    """Return how many timesteps to take where the whole window goes; with `more` after them, up to a late border."""
    if not more:
        return len(steps)
    last = max(borders(steps), default=0)
    return last if last >= LEAST_SHARE * len(steps) else len(steps)


def borders(steps: Sequence[LiveStep]) -> Iterator[int]:
    """Yield after how many timesteps no event is left open, but for the end."""
    last = {step.event: at for at, step in enumerate(steps)}
    open_to = 0
    for at, step in enumerate(steps[:-1]):
        open_to = max(open_to, last[step.event])
        if open_to == at:
            yield at + 1


def cut_event(steps: Sequence[LiveStep], taken: int) -> list[int]:
    """Return the places of the timesteps whose event is cut in two, none where that is at a border."""
    crossing = {step.event for step in steps[:taken]} & {step.event for step in steps[taken:]}
    return [at for at, step in enumerate(steps) if step.event in crossing]


def _sums(steps: Sequence[LiveStep]) -> Iterator[int]:
    total = 0
    for step in steps:
        total += step.tokens
        yield total
