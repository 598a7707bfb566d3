"""What is not one answer to one request: tokens that come in line by line, an export, changes as they happen."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request

from hexad.client.pool import iterate
from hexad.client.problems import problem_of
from hexad.client.wire import encode
from hexad.core.arguments import json_fault, parse_time
from hexad.core.as_json import as_json, plain
from hexad.core.clock import format_time
from hexad.core.json_types import JSONObject, JSONValue
from hexad.engine import Hexad
from hexad.errors import AccessDenied, HexadError, InvalidInput, LimitExceeded
from hexad.interfaces.http_server.call_names import CALL_NAMES, is_exact
from hexad.interfaces.http_server.guard import Receive, Refusal, Scope, Send
from hexad.interfaces.http_server.metrics import Metrics
from hexad.interfaces.http_server.stores import ServedStore
from hexad.interfaces.http_server.tokens import Login
from hexad.memory.memory import Memory

NDJSON: Final = "application/x-ndjson"
EVENTS: Final = "text/event-stream"
LINE_BYTES_LIMIT: Final = 2 << 20
"""A token's text may have 1 MiB, and some notations take more."""
BATCH_ROWS: Final = 4_096
LOOK_S: Final = 0.25
"""How often a store is asked for changes while somebody waits for them."""
HEARTBEAT_S: Final = 15.0
SEND_S: Final = 60.0
"""How long a reader may take for what was sent before it is let go."""
_MEMORIES: Final = "memories"
_LISTED: Final = 1_000
_SHOWN: Final = ("id", "space", "path", "kind", "status", "updated_at")


class Streaming:
    """An answer that is written as it comes into being; it ends when its reader goes or does not read.

    `reads` says that the parts read the request's body, and see by that when its sender has gone.
    """

    def __init__(self, parts: AsyncGenerator[bytes], *, media_type: str, reads: bool = False) -> None:
        self._parts, self._media_type, self._reads = parts, media_type, reads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what the parts hold; an error before the first one is the whole answer."""
        del scope
        async with aclosing(self._parts) as parts:
            first = await anext(parts, b"")
            headers = [(b"content-type", self._media_type.encode("ascii")), (b"cache-control", b"no-store")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            sending = asyncio.create_task(self._send_all(send, first, parts))
            waiting = {sending} if self._reads else {sending, asyncio.create_task(_until_gone(receive))}
            try:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in waiting - {sending}:
                    task.cancel()
                if not sending.done():
                    sending.cancel()
                    await asyncio.wait({sending})
            if not sending.cancelled():
                sending.result()

    async def _send_all(self, send: Send, first: bytes, parts: AsyncGenerator[bytes]) -> None:
        await self._send(send, first)
        async for part in parts:
            await self._send(send, part)
        await send({"type": "http.response.body", "body": b""})

    async def _send(self, send: Send, part: bytes) -> None:
        try:
            await asyncio.wait_for(
                send({"type": "http.response.body", "body": part, "more_body": True}), SEND_S
            )
        except TimeoutError as error:
            raise ConnectionAbortedError(f"nothing was read for {SEND_S:g} seconds") from error


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def require_whole(login: Login, what: str) -> None:
    """Raise `AccessDenied` for a login that is limited to some spaces."""
    if login.spaces is not None:
        raise AccessDenied(f"This token is for some spaces alone, and {what} is of no single one.")


# Tokens that come in --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _StreamProgress:
    """How far a stream was recorded."""

    rows: int = 0
    last: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        return as_json(self)


class TokenStream:
    """Records lines of JSON as they come in; each line of the answer says how many are on the disk by then."""

    def __init__(self, store: ServedStore, metrics: Metrics, request: Request) -> None:
        login: Login = request.state.login
        require_whole(login, "experience")
        self._session_id = request.query_params.get("session_id")
        if not self._session_id:
            raise InvalidInput(
                "session_id is missing;", argument="session_id", remedy="name it in the address."
            )
        self._store, self._metrics, self._request = store, metrics, request
        self._role = login.role
        self._recorded = _StreamProgress()
        self._lines = 0

    async def answers(self) -> AsyncGenerator[bytes]:
        """Yield an acknowledgement for each batch, at last how it ended; what was acknowledged stays."""
        left = b""
        try:
            async for chunk in self._request.stream():
                *lines, left = (left + chunk).split(b"\n")
                _require_short(left)
                if await self._record(lines):
                    yield _line(self._recorded.to_dict())
            if await self._record([left]):
                yield _line(self._recorded.to_dict())
            yield _line({**self._recorded.to_dict(), "done": True})
        except ClientDisconnect:
            return  # whole lines that came before are recorded; nobody is there to be told
        except Refusal as refusal:
            yield self._problem(refusal.error)
        except HexadError as error:
            if not self._recorded.rows:
                raise  # a whole answer, with its own status
            yield self._problem(error)

    def _problem(self, error: HexadError) -> bytes:
        return _line({**self._recorded.to_dict(), "done": False, "problem": self._problem_of(error)})

    def _problem_of(self, error: HexadError) -> dict[str, JSONValue]:
        return problem_of(error, CALL_NAMES, is_exact=is_exact(self._request))

    async def _record(self, lines: list[bytes]) -> bool:
        """Record lines; raises for the first that cannot be, when those before it are recorded."""
        texts = [(self._lines + place, line) for place, line in enumerate(lines, start=1) if line.strip()]
        self._lines += len(lines)
        for start in range(0, len(texts), BATCH_ROWS):
            await self._store.pool.run(
                None, functools.partial(self._record_batch, texts[start : start + BATCH_ROWS])
            )
        return bool(texts)

    def _record_batch(self, lines: list[tuple[int, bytes]]) -> None:
        xdb = self._store.of(self._role).xdb
        rows: list[Mapping[str, Any]] = []
        bad: HexadError | None = None
        for number, line in lines:
            try:
                rows.append(_row(line))
            except InvalidInput as error:
                bad = _at(error, number)
                break
        if rows:
            try:
                self._note(xdb.record_many(rows, session_id=self._session_id))
            except InvalidInput:
                self._record_each(xdb, rows, lines)
        if bad is not None:
            raise bad

    def _record_each(self, xdb: Any, rows: list[Mapping[str, Any]], lines: list[tuple[int, bytes]]) -> None:
        """Record what stands before the row that cannot be, and say which that is."""
        for (number, _), row in zip(lines, rows, strict=False):
            try:
                self._note(xdb.record_many([row], session_id=self._session_id))
            except InvalidInput as error:
                raise _at(error, number) from error

    def _note(self, ids: list[str]) -> None:
        self._recorded.rows += len(ids)
        self._recorded.last = ids[-1]
        self._metrics.tokens.inc(len(ids))


def _row(line: bytes) -> Mapping[str, Any]:
    _require_short(line)
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"this is no JSON: {json_fault(error)}.") from None
    if not isinstance(row, dict):
        raise InvalidInput('this is no JSON object, such as {"event_type": "output", "content": "Hello"}.')
    return row


def _require_short(line: bytes) -> None:
    if len(line) > LINE_BYTES_LIMIT:
        raise LimitExceeded(
            f"A line has more than {LINE_BYTES_LIMIT:,} bytes; a timestep holds 1 MiB of text."
        )


def _at(error: HexadError, number: int) -> InvalidInput:
    return InvalidInput(
        f"Line {number}: {error.reason}", argument=error.argument or "line", remedy=error.remedy
    )


# An export ------------------------------------------------------------------------------------------------------------


async def export_lines(hx: Hexad, request: Request) -> AsyncGenerator[bytes]:
    """Yield what an export holds, an item a line."""
    login: Login = request.state.login
    require_whole(login, "an export")
    params = request.query_params
    unknown = sorted(set(params) - {"scope", "session", "subject"})
    if unknown:
        raise InvalidInput(
            f"There is no parameter {unknown[0]!r};",
            argument=unknown[0],
            remedy="known are scope, session, subject.",
        )
    exact = is_exact(request)
    begin = functools.partial(
        hx.export, params.get("scope"), session=params.get("session"), subject=params.get("subject")
    )
    async with aclosing(iterate(begin)) as pages:
        async for items in pages:
            yield b"".join(_line(encode(item) if exact else plain(item)) for item in items)


# Changes --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ChangeStream:
    """Events of what changed in a store, by whichever process, as far as a login may see it.

    A reader that is slow is not sent what it missed one by one: each look compares with what was sent last.
    """

    store: ServedStore
    hx: Hexad
    login: Login
    since: datetime | None
    _numbers: dict[str, int] = field(default_factory=dict)

    async def events(self) -> AsyncGenerator[bytes]:
        """Yield events until the reader goes: the counters at first, then each that moved, and memories by id.

        Counters are of all spaces: a login that is limited to some is told of memories alone.
        """
        self._numbers = dict(await self.store.pool.run(None, self.hx.changes))
        since = self.since or self.hx.clock.now()
        yield _event("state", self._numbers if self.login.spaces is None else {}, since)
        if self.since is not None:  # what changed while this reader was away
            yield await self.store.pool.run(None, lambda: b"".join(self._memory_events()))
        self.since = self.since or since
        silent_s = 0.0
        while not self.store.is_ending():
            events = await self.store.pool.run(None, self._look)
            silent_s = 0.0 if events else silent_s + LOOK_S
            if silent_s >= HEARTBEAT_S:
                silent_s, events = 0.0, b": still here\n\n"
            if events:
                yield events
            await asyncio.sleep(LOOK_S)

    def _look(self) -> bytes:
        numbers = dict(self.hx.changes())
        moved = {name: number for name, number in numbers.items() if number != self._numbers.get(name)}
        self._numbers = numbers
        parts = self._memory_events() if _MEMORIES in moved else []
        assert self.since is not None
        if moved and self.login.spaces is None:
            parts.append(_event("change", moved, self.since))
        return b"".join(parts)

    def _memory_events(self) -> list[bytes]:
        return [
            _event("memory", as_json(memory, *_SHOWN), memory.updated_at)
            for memory in self._changed_memories()
        ]

    def _changed_memories(self) -> list[Memory]:
        """Return the memories that changed since the last look, the oldest change first."""
        since = self.since
        memories = self.hx.memories(status=None, limit=_LISTED)
        changed = [memory for memory in memories if since is None or memory.updated_at > since]
        if changed:
            self.since = changed[0].updated_at
        allowed = self.login.spaces
        return [memory for memory in reversed(changed) if allowed is None or memory.space in allowed]


def _event(name: str, data: JSONObject | dict[str, int], at: datetime) -> bytes:
    return f"id: {format_time(at)}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode("ascii")


def change_stream(store: ServedStore, request: Request) -> ChangeStream:
    """Return the changes that a request asks for, after the last event that it has seen."""
    login: Login = request.state.login
    last = parse_time(request.headers.get("last-event-id") or None, "Last-Event-ID")
    return ChangeStream(store=store, hx=store.of(login.role), login=login, since=last)
