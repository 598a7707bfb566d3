"""What answers are linked with: one step over links, also into other spaces, never past what may be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hexad.memory.link import Linked
from hexad.memory.store import Stores

LINKED_LIMIT: Final = 20
"""Linked memories that one recall returns at most."""


def follow(
    stores: Stores, numbers: Sequence[int], *, limit: int = LINKED_LIMIT
) -> tuple[tuple[Linked, ...], int]:
    """Return what the memories `numbers`, in their order, are linked with, and how many more there are.

    A memory that is among `numbers`, or was reached before, is left out: it is in the answer already.
    """
    place = {no: at for at, no in enumerate(numbers)}
    answers = stores.memories.by_no(numbers)
    known_memory_ids = {memory.id for memory in answers.values()}
    links = sorted(stores.links.of(numbers), key=lambda pair: place[pair[0]])
    ends = [
        (no, link, link.target if link.source.id == answers[no].id else link.source) for no, link in links
    ]
    chosen = []
    for no, link, end in ends:
        if end.id not in known_memory_ids:
            known_memory_ids.add(end.id)
            chosen.append((no, link, end.id))
    targets = stores.memories.by_no([stores.memories.number(end) for _, _, end in chosen[:limit]])
    by_id = {memory.id: memory for memory in targets.values()}
    return (
        tuple(Linked(of=answers[no].id, link=link, memory=by_id[end]) for no, link, end in chosen[:limit]),
        max(0, len(chosen) - limit),
    )


def more_linked(beyond: int) -> tuple[str, ...]:
    """Return the note that says how many linked memories were left out, if any were."""
    return (f"{beyond} more linked memories were left out; `links` lists all of a memory.",) if beyond else ()
