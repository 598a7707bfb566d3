"""What the stress suites do to a whole store, through the public interface.

The functions must be importable by name, because worker processes start fresh.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import hexad
from hexad import Hexad
from hexad.testing import HashEmbedder

Write = tuple[int, int]


def open_store(folder: Path) -> Hexad:
    folder.mkdir(exist_ok=True, parents=True)
    return hexad.open(folder, embedder=HashEmbedder(), background=False)


def text_of(worker: int, n: int) -> str:
    return f"Boat {worker} logged entry {n}: " + " ".join(
        f"wave{(worker * 7 + n * 3 + i) % 90}" for i in range(12)
    )


def write(store: Hexad, worker: int, n: int) -> None:
    """One durable memory; every fifth is changed at once, so that versions and reindexing are under way too."""
    store.remember(text_of(worker, n), id=f"w{worker}-{n}", tags=["log", f"boat-{worker}"])
    if n % 5 == 4:
        store.remember(text_of(worker, n) + " Corrected.", id=f"w{worker}-{n}")


def written(store: Hexad) -> set[Write]:
    found = set()
    for memory in store.memories(limit=None, status=None):
        if memory.id.startswith("w"):
            worker, _, n = memory.id[1:].partition("-")
            found.add((int(worker), int(n)))
    return found


def problems(store: Hexad) -> list[str]:
    """Half-written memories, wrong texts, and indexes that disagree with them."""
    wrong = store.check()
    for memory in store.memories(limit=None, status=None):
        if memory.id.startswith("w"):
            worker, _, n = memory.id[1:].partition("-")
            if not memory.raw.startswith(text_of(int(worker), int(n))):
                wrong.append(f"{memory.id} says {memory.raw[:60]!r}")
    return wrong


def missing(store: Hexad, acknowledged: Iterable[Write]) -> list[Write]:
    return sorted(set(acknowledged) - written(store))
