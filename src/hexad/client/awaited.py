"""Stores whose calls are awaited: `hexad.aopen` in this process, `hexad.aconnect` behind a server.

The types of the calls stand in the stub beside this module, which is made from those of an open store.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from hexad.client.connection import ATTRIBUTES, TIMEOUT_S, Address, export_item, export_params, load_httpx
from hexad.client.invoke import invoke
from hexad.client.pool import THREADS, CallPool, iterate
from hexad.client.proxies import CurrentSessions, facade_class
from hexad.client.verbs import ROOT, Verb
from hexad.core.arguments import parse_whole
from hexad.core.clock import Clock
from hexad.engine import Hexad
from hexad.lifecycle.opening import open
from hexad.privacy.report import ExportItem

_STORE: Final = "hexad-await"


class _Awaiting:
    """Answers calls on an open store from a bounded number of threads."""

    def __init__(self, hx: Hexad, threads: int) -> None:
        self.hx = hx
        self.pool = CallPool(threads, name=_STORE)

    def __repr__(self) -> str:
        return repr(self.hx)

    async def nothing(self) -> None:
        """Answer without asking."""

    async def send(self, verb: Verb, values: Mapping[str, Any]) -> Any:
        """Make a call in a thread and return its answer; raises what the call raises."""
        return await self.pool.run(verb, functools.partial(invoke, self.hx, verb, values))

    def close(self) -> None:
        """Wait for what is being answered, then close the store."""
        self.pool.close()
        self.hx.close()

    def leave(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close as a block with the store does that ends so."""
        self.pool.close()
        self.hx.__exit__(kind, error, trace)


class AsyncHexad(facade_class("", local=True)):  # type: ignore[misc]  # made from the calls of an open store
    """An open store whose calls are awaited; made by `hexad.aopen`.

    Each call runs whole in one of a bounded number of threads. Cancelling the task that awaits it leaves nothing half
    done: a call that no thread has yet is not made, one that runs is finished. `close` waits for it.
    """

    def __init__(self, hx: Hexad, *, threads: int = THREADS) -> None:
        self._awaiting = _Awaiting(hx, threads)
        super().__init__(self._awaiting, CurrentSessions())
        for name in ATTRIBUTES:
            setattr(self, name, facade_class(name, local=True)(self._sender, self._sessions))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.shield(asyncio.to_thread(self._awaiting.leave, kind, error, trace))

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self._awaiting.hx.path

    @property
    def clock(self) -> Clock:
        """Where this store takes its times from."""
        return self._awaiting.hx.clock

    async def close(self) -> None:
        """Wait for the calls that run, and release the store; may be called twice."""
        await asyncio.shield(asyncio.to_thread(self._awaiting.close))

    async def export(
        self, scope: str | None = None, *, session: str | None = None, subject: str | None = None
    ) -> AsyncIterator[ExportItem]:
        """Iterate over everything that is held about a scope, or about a person, as `Hexad.export` does."""
        hx = self._awaiting.hx
        async for items in iterate(lambda: hx.export(scope, session=session, subject=subject)):
            for item in items:
                yield item


class _AsyncSending:
    """Sends calls, whose answers are awaited."""

    def __init__(self, address: Address) -> None:
        httpx2 = load_httpx()
        self.address = address
        self.refusals = (httpx2.TransportError,)
        self.client = httpx2.AsyncClient(**address.options)

    def __repr__(self) -> str:
        return repr(self.address.url)

    async def nothing(self) -> None:
        """Answer without asking."""

    async def send(self, verb: Verb, values: Mapping[str, Any]) -> Any:
        """Send a call and return its answer; raises what the call raises, and `ServerUnreachable`."""
        self.address.require_open(self.client)
        with self.address.span(verb):
            try:
                response = await self.client.request(**self.address.request(verb, values))
            except self.refusals as error:
                raise self.address.unreachable(error) from error
            return self.address.answer(response)


class AsyncRemoteHexad(facade_class("")):  # type: ignore[misc]  # made from the calls of an open store
    """A store behind a server, whose calls are awaited; made by `hexad.aconnect`."""

    def __init__(self, address: Address) -> None:
        self._sending = _AsyncSending(address)
        super().__init__(self._sending, CurrentSessions())
        for name in ATTRIBUTES:
            setattr(self, name, facade_class(name)(self._sender, self._sessions))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._sending.address.url

    async def close(self) -> None:
        """Close the connection; the server goes on."""
        await self._sending.client.aclose()

    async def export(
        self, scope: str | None = None, *, session: str | None = None, subject: str | None = None
    ) -> AsyncIterator[ExportItem]:
        """Iterate over everything that is held about a scope, or about a person, as it comes in."""
        address, params = self._sending.address, export_params(scope, session, subject)
        address.require_open(self._sending.client)
        try:
            async with self._sending.client.stream("GET", f"{ROOT}/export", params=params) as response:
                if response.status_code != 200:
                    await response.aread()
                    address.answer(response)
                async for line in response.aiter_lines():
                    yield export_item(line)
        except self._sending.refusals as error:
            raise address.unreachable(error) from error


class Opening:
    """A store that is being opened: `await` it, or enter it with `async with`."""

    def __init__(self, make: Callable[[], AsyncHexad]) -> None:
        self._make = make
        self._opened: AsyncHexad | None = None

    def __await__(self) -> Generator[Any, None, AsyncHexad]:
        return asyncio.to_thread(self._make).__await__()

    async def __aenter__(self) -> AsyncHexad:
        self._opened = await self
        return self._opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)


def aopen(path: str | Path | None = None, *, threads: int = THREADS, **options: Any) -> Opening:
    """Open a store whose calls are awaited: `async with hexad.aopen(".") as hx`, or `hx = await hexad.aopen(".")`.

    The calls are those of `hexad.open`, answered by at most `threads` threads; what is not for awaiting (`watch`, files
    read piece by piece, listeners) is left out. `hx.session.current` is awaited as a call is, and `hx.xdb` has a
    current session for each task. Everything else is as for `hexad.open`, and raises the same.

    >>> import asyncio, hexad
    >>> async def ask():
    ...     async with hexad.aopen(":memory:", embedder=None) as hx:
    ...         await hx.remember("Deploys happen on Tuesday.")
    ...         return [hit.text for hit in await hx.recall("when do we deploy?")]
    >>> asyncio.run(ask())
    ['Deploys happen on Tuesday.']
    """
    parse_whole(threads, "threads", least=1)
    return Opening(lambda: AsyncHexad(open(path, **options), threads=threads))


def aconnect(
    url: str,
    *,
    token: str | Path | None = None,
    timeout_s: float = TIMEOUT_S,
    certificate: str | Path | None = None,
) -> AsyncRemoteHexad:
    """Return a store behind `hexad serve` whose calls are awaited; parameters and errors are those of `connect`."""
    return AsyncRemoteHexad(Address(url, token=token, timeout_s=timeout_s, certificate=certificate))
