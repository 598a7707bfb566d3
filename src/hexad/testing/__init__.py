"""What tests of programs that use Hexad need: a frozen clock, a deterministic embedder, a text generator that follows
a script, a temporary store.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hexad.core.clock import FrozenClock
from hexad.core.ids import TimeSortedIds
from hexad.engine import Hexad
from hexad.lifecycle.opening import open as open_store
from hexad.providers.embedders.hashing import HashEmbedder
from hexad.providers.generators.base import GeneratorSpec
from hexad.providers.generators.scripted import ScriptedGenerator
from hexad.providers.rerankers import RerankSpec

__all__ = ["FrozenClock", "HashEmbedder", "ScriptedGenerator", "temporary_store"]


@contextmanager
def temporary_store(
    *,
    clock: FrozenClock | None = None,
    embedder: HashEmbedder | None = None,
    generator: GeneratorSpec = None,
    rerank: RerankSpec = None,
) -> Iterator[Hexad]:
    """Yield a private store with a frozen clock, seeded ids and no background thread; check it at the end.

    Raises `AssertionError` when the store is not whole after the block.
    """
    clock = clock or FrozenClock()
    with open_store(
        ":memory:",
        clock=clock,
        ids=TimeSortedIds(clock, seed=1),
        embedder=embedder or HashEmbedder(),
        generator=generator,
        rerank=rerank,
        background=False,
    ) as hx:
        yield hx
        problems = hx.check()
        assert problems == [], problems
