"""Sets of ticks as ranges: sorted, disjoint, not touching, both ends included."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter

Ranges = tuple[tuple[int, int], ...]


def union(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the ticks that any of `ranges` covers; they may come in any order and overlap."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            if last > merged[-1][1]:
                merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def intersection(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> Ranges:
    """Return the ticks that both cover. Both must be as `union` returns them."""
    spans: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        first, last = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if first <= last:
            spans.append((first, last))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(spans)


def difference(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> Ranges:
    """Return the ticks that `left` covers and `right` does not. Both must be as `union` returns them."""
    rest: list[tuple[int, int]] = []
    at = 0
    for first, last in left:
        while at < len(right) and right[at][1] < first:
            at += 1
        taken = at
        while taken < len(right) and right[taken][0] <= last:
            if first < right[taken][0]:
                rest.append((first, right[taken][0] - 1))
            first = right[taken][1] + 1
            taken += 1
        if first <= last:
            rest.append((first, last))
    return tuple(rest)


def holds(ranges: Sequence[tuple[int, int]], tick: int) -> bool:
    """Whether one of the ranges, sorted and apart, holds the tick."""
    at = bisect_right(ranges, tick, key=itemgetter(0)) - 1
    return at >= 0 and tick <= ranges[at][1]


def count(ranges: Iterable[tuple[int, int]]) -> int:
    """Return how many ticks disjoint ranges cover."""
    return sum(last - first + 1 for first, last in ranges)
