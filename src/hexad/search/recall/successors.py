"""What takes the place of candidates by its words: brought in, and ranked before them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Final, TypeVar

from hexad.memory.query import Successor
from hexad.memory.store import Stores
from hexad.memory.tables.updates import SURE, UpdateLink

T = TypeVar("T")
NEAR: Final = 0.35
"""Of two that are linked less surely the newer stands first where it is at most this share of the best score behind."""
_STEP: Final = 1e-6
LIKELY: Final = "likely"
"""The reason of what is linked for one question alone: the likelier, the farther behind it may be."""


def lifts(links: Sequence[UpdateLink], seats: Mapping[int, int], scores: Sequence[float]) -> dict[int, float]:
    """Return by how much the scores of successors grow, by their seats.

    What surely takes the place of another one stands before it, and so before what that one took the place of. Which of
    the two holds is settled then: what is linked less surely is lifted over neither.
    """
    best = max(scores, default=0.0)
    risen = dict(enumerate(scores))
    here = [link for link in links if link.old in seats and link.new in seats]
    settled = {no for link in here if link.confidence >= SURE for no in (link.old, link.new)}
    in_order = sorted(
        (link for link in here if link.confidence >= SURE or link.old not in settled),
        key=lambda link: (link.new, link.old),
    )  # mostly as they were written: one pass settles it
    for _ in in_order:
        moved = False
        for link in in_order:
            old, new = seats[link.old], seats[link.new]
            if risen[new] > risen[old]:
                continue
            room = NEAR + (link.confidence if link.reason == LIKELY else 0.0)
            if link.confidence < SURE and scores[old] - scores[new] > room * abs(best):
                continue
            risen[new] = risen[old] + _STEP
            moved = True
        if not moved:
            break
    return {seat: score - scores[seat] for seat, score in risen.items() if score != scores[seat]}


def last_links(links: Sequence[UpdateLink]) -> dict[int, UpdateLink]:
    """Return, by row number, the link to what surely takes a memory's place in the end."""
    sure = {link.old: link for link in reversed(links) if link.confidence >= SURE}
    last: dict[int, UpdateLink] = {}
    for no in sure:
        link, seen = sure.get(no), {no}
        while link is not None and link.new not in seen:
            seen.add(link.new)
            last[no] = link
            link = sure.get(link.new)
    return last


def successors(stores: Stores, links: Sequence[UpdateLink], numbers: Collection[int]) -> dict[int, Successor]:
    """Return, by row number, what surely takes the place of these memories in the end."""
    last = {no: link for no, link in last_links(links).items() if no in numbers}
    memories = stores.memories.by_no(sorted({link.new for link in last.values()})) if last else {}
    return {
        no: Successor(
            id=memories[link.new].id,
            text=memories[link.new].summary_micro or memories[link.new].raw,
            since=memories[link.new].valid_from or memories[link.new].created_at,
            reason=link.reason,
            confidence=link.confidence,
        )
        for no, link in last.items()
        if link.new in memories
    }


def put_current_first(
    items: Sequence[T],
    *,
    name: Callable[[T], Hashable],
    successor: Callable[[T], Hashable | None],
    leads: Callable[[T, T], bool],
    keeps_old: bool,
) -> tuple[list[T], list[T]]:
    """Return items in their order, but what took the place of others before them; and what gave way to that.

    `name` tells memories apart, `successor` gives the name of what took an item's place, and `leads` says of an item
    and its successor whether that goes first. The older one gives way then, unless it is kept; without its successor
    among the items it stays where it is.
    """
    by_name = {name(item): item for item in items}
    placed: dict[int, T] = {}
    gave_way: list[T] = []
    for item in items:
        later = successor(item)
        current = None if later is None else by_name.get(later)
        if current is not None and leads(item, current):
            placed.setdefault(id(current), current)
            if not keeps_old:
                gave_way.append(item)
                continue
        placed.setdefault(id(item), item)
    return list(placed.values()), gave_way
