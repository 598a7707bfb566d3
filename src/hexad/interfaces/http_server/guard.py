"""Who is let in: the address that is asked for, the page that asks, the token, the size and the number of requests.

A page in a browser can have any name resolve to this machine, so what a request calls the server is compared with what
it is called; and a token is asked for always, also on loopback, where every user of the machine may connect.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from hexad.client.problems import PROBLEM_TYPE, problem_of
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.errors import AccessDenied, HexadError, LimitExceeded, StoreLocked
from hexad.interfaces.http_server.tokens import Login, TokenFile

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_BYTES_LIMIT: Final = 16 << 20
"""So much may be in a body, but for one that is read line by line."""
RATE_LIMIT: Final = 2_000.0
"""Requests a second of one token, on average over some seconds; with a token that is none, of one address."""
BURST_S: Final = 2.0
WAITING_LIMIT: Final = 512
"""Requests that may be under way at once, of one token half of them."""
STREAMS_LIMIT: Final = 256
"""Streams that may be open at once, likewise."""
HEAD_S: Final = 10.0
"""How long a client may take for the head of a request."""
SILENCE_S: Final = 30.0
"""How long a client may be silent in the middle of a body."""
OPEN_PATHS: Final = frozenset({"/healthz"})
LINES: Final = frozenset({"/v1/xdb/tokens"})
_STREAMS: Final = frozenset(
    {("GET", "/v1/changes"), ("GET", "/v1/export"), ("POST", "/v1/xdb/tokens"), ("GET", "/mcp")}
)
"""What stays open as long as its client likes, and so takes no place of a request."""
_BUCKETS: Final = 4_096
_SCHEME: Final = "bearer "


class Refusal(Exception):
    """A request is answered with a problem before any call is made."""

    def __init__(self, error: HexadError, *, status: int, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(str(error))
        self.error, self.status, self.headers = error, status, dict(headers or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a server allows."""

    body_bytes: int = BODY_BYTES_LIMIT
    rate: float = RATE_LIMIT
    waiting: int = WAITING_LIMIT
    streams: int = STREAMS_LIMIT
    silence_s: float = SILENCE_S
    head_s: float = HEAD_S


class Buckets:
    """Counts requests of each name against a rate; what was not used in two seconds is not saved up."""

    def __init__(self, rate: float, clock: Clock) -> None:
        self._rate, self._clock = rate, clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, name: str) -> float:
        """Count a request; return 0 when it may go on, else after how many seconds to ask again."""
        now, most = self._clock.monotonic(), max(self._rate * BURST_S, 1.0)
        level, at = self._levels.pop(name, (most, now))
        level = min(most, level + (now - at) * self._rate)
        allowed = level >= 1.0
        self._levels[name] = (level - 1.0 if allowed else level, now)
        if len(self._levels) > _BUCKETS:
            self._levels.popitem(last=False)
        return 0.0 if allowed else (1.0 - level) / self._rate


class RequestPlaces:
    """Counts what is under way of each login; none has more than half of the places, so that others find one."""

    def __init__(self, limit: int, what: str) -> None:
        self._limit, self._what = limit, what
        self._counts: Counter[str] = Counter()

    def take(self, name: str) -> None:
        """Count one; raises `Refusal` where there is no place."""
        if self._counts[name] >= max(self._limit // 2, 1):
            raise Refusal(
                LimitExceeded(
                    f"{self._counts[name]} {self._what} of this token are under way;",
                    remedy="ask again in a second.",
                ),
                status=429,
                headers={"retry-after": "1"},
            )
        if self._counts.total() >= self._limit:
            raise Refusal(
                StoreLocked(f"{self._limit} {self._what} are under way;", remedy="ask again in a second."),
                status=503,
                headers={"retry-after": "1"},
            )
        self._counts[name] += 1

    def release(self, name: str) -> None:
        """Count one less."""
        self._counts[name] -= 1
        if not self._counts[name]:
            del self._counts[name]


class RequestGuard:
    """Stands before the application and answers what is not let in; notes the login of what is."""

    def __init__(
        self,
        app: App,
        *,
        tokens: TokenFile,
        hosts: Collection[str],
        origins: Collection[str],
        limits: Limits,
        clock: Clock,
    ) -> None:
        self._app, self._tokens, self._limits = app, tokens, limits
        self._hosts = {host.lower() for host in hosts}
        self._origins = {origin.lower().rstrip("/") for origin in origins}
        self._rate, self._failures = Buckets(limits.rate, clock), Buckets(limits.rate, clock)
        self._requests, self._streams = (
            RequestPlaces(limits.waiting, "requests"),
            RequestPlaces(limits.streams, "streams"),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        places = self._streams if (scope["method"], scope["path"]) in _STREAMS else self._requests
        try:
            name = self._check(scope, headers)
            places.take(name)
        except Refusal as refusal:
            await send_problem(send, refusal)
            return
        try:
            await self._app(scope, self._bounded(scope, receive), send)
        finally:
            places.release(name)

    def _check(self, scope: Scope, headers: Mapping[str, str]) -> str:
        """Return for whom a request counts: its login, or whoever needs none; raises `Refusal`."""
        host, origin = headers.get("host", "").lower(), headers.get("origin", "").lower()
        if host not in self._hosts:
            raise Refusal(
                AccessDenied(
                    f"Host {host[:80]!r} is not served here;",
                    remedy="`hexad serve --allow-host` adds a name.",
                ),
                status=421,
            )
        if origin and origin not in self._origins:
            raise Refusal(
                AccessDenied(
                    f"Pages of {origin[:80]!r} may not ask here;",
                    remedy="`hexad serve --allow-origin` adds one.",
                ),
                status=403,
            )
        if scope["path"] in OPEN_PATHS:
            return ""
        login = self._login(scope, headers)
        scope.setdefault("state", {})["login"] = login
        length = headers.get("content-length", "0")
        if scope["path"] not in LINES and (not length.isdecimal() or int(length) > self._limits.body_bytes):
            raise too_large(self._limits.body_bytes)
        return login.name

    def _login(self, scope: Scope, headers: Mapping[str, str]) -> Login:
        header = headers.get("authorization", "")
        token = header[len(_SCHEME) :].strip() if header.lower().startswith(_SCHEME) else ""
        login = self._tokens.login(token) if token else None
        if login is None:
            client = (scope.get("client") or ("",))[0]
            self._require_rate(self._failures, client, "requests without a valid token")
            what = "is not valid, has been revoked or is over" if token else "is missing"
            raise Refusal(
                AccessDenied(
                    f"The token {what};",
                    argument="token",
                    remedy="send `Authorization: Bearer TOKEN`; `hexad serve token add` makes one.",
                ),
                status=401,
                headers={"www-authenticate": 'Bearer realm="hexad"'},
            )
        self._require_rate(self._rate, login.name, "requests with this token")
        return login

    def _require_rate(self, buckets: Buckets, name: str, what: str) -> None:
        wait_s = buckets.wait_s(name)
        if wait_s:
            raise Refusal(
                LimitExceeded(f"Too many {what};", remedy=f"ask again in {max(wait_s, 0.1):.1f} s."),
                status=429,
                headers={"retry-after": str(int(wait_s) + 1)},
            )

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        """Return what reads a body within its limits."""
        limits, lines, size, ended = self._limits, scope["path"] in LINES, 0, False

        async def bounded() -> Message:
            nonlocal size, ended
            if ended:  # what comes now is the end of the connection, which may take as long as it likes
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), limits.silence_s)
            except TimeoutError:
                raise Refusal(
                    LimitExceeded(
                        f"Nothing came for {limits.silence_s:g} seconds, in the middle of a body;",
                        remedy="send it again, whole.",
                    ),
                    status=408,
                ) from None
            size += len(message.get("body", b""))
            ended = message["type"] != "http.request" or not message.get("more_body", False)
            if not lines and size > limits.body_bytes:
                raise too_large(limits.body_bytes)
            return message

        return bounded


def too_large(limit: int) -> Refusal:
    """Return the refusal of a body that is too large."""
    return Refusal(
        LimitExceeded(
            f"The body is larger than {limit:,} bytes;",
            remedy="send less at once; a memory holds 1 MiB of text.",
        ),
        status=413,
    )


def problem_bytes(
    error: HexadError, *, status: int | None = None, words: Mapping[str, str] | None = None
) -> bytes:
    """Return an error as the bytes of a problem."""
    problem: dict[str, JSONValue] = problem_of(error, words)
    if status is not None:
        problem["status"] = status
    return json.dumps(problem).encode("ascii")


async def send_problem(send: Send, refusal: Refusal) -> None:
    """Send a refusal as a whole answer."""
    body = problem_bytes(refusal.error, status=refusal.status)
    named = {
        "content-type": PROBLEM_TYPE,
        "content-length": str(len(body)),
        "connection": "close",
        **refusal.headers,
    }
    headers = [(name.encode("ascii"), value.encode("ascii")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
