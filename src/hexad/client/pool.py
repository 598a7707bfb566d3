"""Threads that answer calls on open stores for callers that must not wait themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import islice
from typing import Final, TypeVar

from hexad.client.verbs import Verb

Result = TypeVar("Result")
THREADS: Final = 8
_ITEMS: Final = 64
_OWN_THREAD: Final = frozenset({"xdb.start_session"})
"""Calls that make something current for the thread that makes them: nobody else may be answered by it."""


class CallPool:
    """A bounded number of threads; what is cancelled before a thread has it is not done, what one has is done whole."""

    def __init__(self, threads: int, *, name: str) -> None:
        self._many = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._single = ThreadPoolExecutor(1, thread_name_prefix=f"{name}-sessions")

    async def run(self, verb: Verb | None, call: Callable[[], Result]) -> Result:
        """Return what a call returns in one of the threads; raises what it raises."""
        pool = self._single if verb is not None and verb.name in _OWN_THREAD else self._many
        # In the caller's context: who listens there (`redactions`) is told what the call does.
        return await asyncio.get_running_loop().run_in_executor(pool, copy_context().run, call)

    def close(self) -> None:
        """Wait for the calls that threads have; those that wait for one are not made."""
        for pool in (self._many, self._single):
            pool.shutdown(wait=True, cancel_futures=True)


async def iterate(make: Callable[[], Iterator[Result]]) -> AsyncGenerator[list[Result]]:
    """Yield what an iterator gives, some at a time, from a thread of its own: a store's page is read where it began."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix="hexad-iterate") as pool:
        items = await loop.run_in_executor(pool, make)
        while some := await loop.run_in_executor(pool, lambda: list(islice(items, _ITEMS))):
            yield some
