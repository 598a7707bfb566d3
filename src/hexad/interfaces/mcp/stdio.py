"""The server on a program's own stdin and stdout, one message a line.

The SDK has such a transport. This one ends on SIGTERM while its client keeps the pipe open, reads no line that has no
end, answers what is no message instead of dropping it, and lets what was asked before the end of the input be
answered.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Final

import anyio
import mcp_types as types
import pydantic_core
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage

from hexad.core.arguments import encodable, is_whole

LINE_BYTES_LIMIT: Final = 16 << 20
"""So long may a message be: a memory holds 1 MiB, a conversation many."""
_CHUNK_BYTES: Final = 1 << 16
_LAST_ANSWERS_S: Final = 60.0
"""So long is waited, after the end of the input, for what was asked before it, while somebody reads the answers."""
_LAST_LINE_S: Final = 5.0
"""So long is waited for the last answer to be taken by a client that has nothing more to ask."""
_LOOK_S: Final = 0.1
_ENDLESS: Final = frozenset({"subscriptions/listen"})

Message = SessionMessage
_Lines = list[bytes | None]
"""Lines as they were read; None stands for one that was too long."""


async def serve_stdio(server: Server[Any]) -> int | None:
    """Serve one client until its input ends, or a signal does; returns the signal's number."""
    with _wires() as (source, sink):
        return await _Connection(server, source, sink).serve()


@dataclass(slots=True)
class _Connection:
    server: Server[Any]
    source: int
    sink: int
    _ended_by: int | None = None
    _waiting: set[int | str] = field(default_factory=set)
    """Ids of requests that have no answer yet."""
    _answered: anyio.Event = field(default_factory=anyio.Event)
    _all_written: anyio.Event = field(default_factory=anyio.Event)

    async def serve(self) -> int | None:
        send_in, receive_in = anyio.create_memory_object_stream[Message | Exception](0)
        send_out, receive_out = anyio.create_memory_object_stream[Message](0)
        async with anyio.create_task_group() as tasks:
            with self._signals(tasks):
                tasks.start_soon(self._read, send_in, send_out.clone())
                tasks.start_soon(self._write, receive_out, tasks)
                options = self.server.create_initialization_options()
                await self.server.run(receive_in, send_out, options)
                with anyio.move_on_after(_LAST_LINE_S):
                    await self._all_written.wait()
                tasks.cancel_scope.cancel()
        return self._ended_by

    @contextmanager
    def _signals(self, tasks: TaskGroup) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def end(number: int) -> None:
            self._ended_by = number
            tasks.cancel_scope.cancel()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end, number)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    # In ---------------------------------------------------------------------------------------------------------------

    async def _read(
        self,
        messages: MemoryObjectSendStream[Message | Exception],
        answers: MemoryObjectSendStream[Message],
    ) -> None:
        lines: asyncio.Queue[_Lines | None] = asyncio.Queue(maxsize=1)
        loop = asyncio.get_running_loop()

        def deliver(batch: _Lines | None) -> None:
            asyncio.run_coroutine_threadsafe(lines.put(batch), loop).result()

        threading.Thread(
            target=_read_lines, args=(self.source, deliver), daemon=True, name="hexad-mcp-in"
        ).start()
        async with messages, answers:
            while (batch := await lines.get()) is not None:
                for line in batch:
                    message = parsed(line)
                    if message is None:
                        continue
                    if isinstance(message, types.JSONRPCError):
                        await answers.send(SessionMessage(message))
                        continue
                    self._note_asked(message)
                    await messages.send(SessionMessage(message))
            with anyio.move_on_after(_LAST_ANSWERS_S):
                while self._waiting and not _is_closed(self.sink):
                    self._answered = anyio.Event()
                    with anyio.move_on_after(_LOOK_S):
                        await self._answered.wait()

    def _note_asked(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest) and message.method not in _ENDLESS:
            self._waiting.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._note_answered((message.params or {}).get("requestId"))

    def _note_answered(self, request_id: Any) -> None:
        if isinstance(request_id, int | str):
            self._waiting.discard(request_id)
            self._answered.set()

    # Out --------------------------------------------------------------------------------------------------------------

    async def _write(self, messages: MemoryObjectReceiveStream[Message], tasks: TaskGroup) -> None:
        lines: SimpleQueue[tuple[bytes, Callable[[OSError | None], None]]] = SimpleQueue()
        threading.Thread(
            target=_write_lines, args=(self.sink, lines), daemon=True, name="hexad-mcp-out"
        ).start()
        loop = asyncio.get_running_loop()
        async with messages:
            async for message in messages:
                written: asyncio.Future[OSError | None] = loop.create_future()
                lines.put((_line(message.message), _settling(loop, written)))
                if await written is not None:
                    tasks.cancel_scope.cancel()  # nobody reads any more
                    return
                if isinstance(message.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._note_answered(message.message.id)
        self._all_written.set()


def _settling(
    loop: asyncio.AbstractEventLoop, written: asyncio.Future[OSError | None]
) -> Callable[[OSError | None], None]:
    def settle(error: OSError | None) -> None:
        if not written.done():
            written.set_result(error)

    def done(error: OSError | None) -> None:
        loop.call_soon_threadsafe(settle, error)

    return done


# Threads that a client may block; the program ends without waiting for them ----------------------------------------


def _read_lines(source: int, deliver: Callable[[_Lines | None], None]) -> None:
    rest, skipping = bytearray(), False
    try:
        while chunk := os.read(source, _CHUNK_BYTES):
            head, newline, tail = chunk.rpartition(b"\n")
            if newline:
                batch: _Lines = [bytes(line) for line in (rest + head).split(b"\n")]
                if skipping or len(batch[0] or b"") > LINE_BYTES_LIMIT:
                    batch[0] = None
                deliver(batch)
                rest, skipping = bytearray(), False
            if not skipping:
                rest += tail
            if len(rest) > LINE_BYTES_LIMIT:
                rest, skipping = bytearray(), True
        if rest or skipping:
            deliver([None if skipping else bytes(rest)])
    except (OSError, RuntimeError):
        pass  # the pipe broke, or the loop is over: both are the end
    finally:
        with suppress(RuntimeError):
            deliver(None)


def _write_lines(sink: int, lines: SimpleQueue[tuple[bytes, Callable[[OSError | None], None]]]) -> None:
    while True:
        line, done = lines.get()
        error = None
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(sink, view) :]
        except OSError as failure:
            error = failure
        try:
            done(error)
        except RuntimeError:
            return  # the loop is over


# Messages -----------------------------------------------------------------------------------------------------------


def parsed(line: bytes | None) -> types.JSONRPCMessage | None:
    """Return a line's message, the error that answers one that is none, or None for a blank line."""
    if line is None:
        return _refusal(
            types.INVALID_REQUEST,
            f"The message is longer than {LINE_BYTES_LIMIT:,} bytes; send less at a time.",
        )
    if not line.strip():
        return None
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        pass
    try:
        value = pydantic_core.from_json(line)
    except ValueError as error:
        try:
            value = json.loads(line.decode(errors="replace"))
        except (ValueError, RecursionError):
            return _refusal(types.PARSE_ERROR, f"The message is no JSON: {error}.")
        half = "The message holds half of a character (a lone surrogate), or bytes that are no UTF-8; send whole ones."
        return _refusal(types.PARSE_ERROR, half, _request_id(value))
    return _refusal(
        types.INVALID_REQUEST, "What came is JSON and no JSON-RPC 2.0 message.", _request_id(value)
    )


def _request_id(value: object) -> int | str | None:
    request_id = value.get("id") if isinstance(value, dict) else None
    if isinstance(request_id, str):
        return request_id if encodable(request_id) else None
    return request_id if is_whole(request_id) else None


def _refusal(code: int, message: str, request_id: int | str | None = None) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))


def _line(message: types.JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


# The two descriptors ------------------------------------------------------------------------------------------------


def _is_closed(sink: int) -> bool:
    """Whether nobody reads from a pipe any more."""
    look = select.poll()
    look.register(sink, 0)
    return bool(look.poll(0))


@contextmanager
def _wires() -> Iterator[tuple[int, int]]:
    """Give stdin and stdout under numbers of their own; meanwhile what others print goes to stderr, and they read
    nothing.
    """
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield source, sink
    finally:
        sys.stdout.flush()
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(nothing)
