"""The application: a route for each served call, made from the table of calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Route

import hexad
from hexad.client.invoke import invoke
from hexad.client.problems import PROBLEM_TYPE, problem_of, status_of
from hexad.client.verbs import VERBS, Verb, python_call
from hexad.client.wire import MEDIA_TYPE, encode
from hexad.core.as_json import plain
from hexad.core.clock import Clock
from hexad.errors import HexadError, InvalidInput, NotFound
from hexad.interfaces.http_server.bodies import MalformedBody, arguments_of_body, arguments_of_query
from hexad.interfaces.http_server.guard import Limits, Refusal, RequestGuard
from hexad.interfaces.http_server.logins import visible, within
from hexad.interfaces.http_server.metrics import Metrics
from hexad.interfaces.http_server.openapi import described, operation
from hexad.interfaces.http_server.stores import ServedStore, readable
from hexad.interfaces.http_server.tokens import Login, TokenFile

_JSON: Final = "application/json"
_WORDS: Final[Mapping[str, str]] = {
    name: f"{verb.method} {verb.path}" for verb in VERBS.values() for name in {verb.name, verb.call}
}
"""What HTTP calls the calls that a remedy names."""


class Desk:
    """Answers calls on one store, each in a thread of its pool."""

    def __init__(self, store: ServedStore, metrics: Metrics) -> None:
        self.store, self.metrics = store, metrics

    async def answer(self, verb: Verb, request: Request) -> Response:
        """Return the answer to a request; a problem where the call raises."""
        login: Login = request.state.login
        with self.metrics.measured(verb.name) as measured:
            is_query = request.method == "GET"
            body = b"" if is_query else await request.body()
            pairs = request.query_params.multi_items() if is_query else []
            if not is_query:
                _require_json(request)
            is_exact = MEDIA_TYPE in request.headers.get("accept", "")

            def work() -> bytes:
                given = arguments_of_query(verb, pairs) if is_query else arguments_of_body(verb, body)
                hx = self.store.of(login.role)
                value = visible(login, verb, invoke(hx, verb, within(login, verb, given), acknowledged=True))
                if is_exact:
                    return json.dumps(encode(value)).encode("ascii")
                return json.dumps(plain(readable(verb, value)), ensure_ascii=False, allow_nan=False).encode()

            loop = asyncio.get_running_loop()
            try:
                content = await loop.run_in_executor(self.store.pool_for(verb), work)
            except HexadError as error:
                measured.status = _status(error)
                return problem_response(error)
            return Response(content, media_type=MEDIA_TYPE if is_exact else _JSON)


def _require_json(request: Request) -> None:
    """Refuse a body of another type: a form is what a page may send anywhere without asking."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON and not kind.endswith("+json") and request.headers.get("content-length", "0") != "0":
        raise Refusal(
            InvalidInput(f"The body is {kind[:60] or 'of no type'!r};", remedy="send application/json."),
            status=415,
        )


def _status(error: HexadError) -> int:
    return 400 if isinstance(error, MalformedBody) else status_of(error)


def problem_response(
    error: HexadError, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error as a problem."""
    status = _status(error) if status is None else status
    problem = problem_of(error, _WORDS)
    if isinstance(error, MalformedBody):
        problem.update(type="urn:hexad:error:InvalidInput", title="InvalidInput")
    retry = {"retry-after": "1"} if status == 503 else {}
    return JSONResponse(
        {**problem, "status": status}, status, headers={**retry, **(headers or {})}, media_type=PROBLEM_TYPE
    )


def build(
    store: ServedStore,
    tokens: TokenFile,
    *,
    hosts: Collection[str],
    origins: Collection[str] = (),
    limits: Limits | None = None,
    clock: Clock,
) -> RequestGuard:
    """Return the application that serves a store, behind what lets requests in."""
    metrics = Metrics(store)
    desk = Desk(store, metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        yield
        await asyncio.to_thread(store.close)

    app = FastAPI(
        title="Hexad",
        version=hexad.__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    for verb in VERBS.values():
        for method in filter(None, (verb.method, verb.alias)):
            app.add_api_route(
                verb.path,
                _endpoint(desk, verb),
                methods=[method],
                name=verb.name,
                response_model=None,
                operation_id=f"{verb.name}{'_' if method == verb.alias else ''}",
                openapi_extra=operation(verb, method),
            )
    _add_others(app, desk, metrics)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(HTTPException, _not_routed)
    app.add_exception_handler(Exception, _failed)
    return RequestGuard(
        app, tokens=tokens, hosts=hosts, origins=origins, limits=limits or Limits(), clock=clock
    )


def _endpoint(desk: Desk, verb: Verb) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await desk.answer(verb, request)

    endpoint.__doc__ = python_call(verb).__doc__
    return endpoint


def _add_others(app: FastAPI, desk: Desk, metrics: Metrics) -> None:
    """Add what is no call: health, metrics, the description."""

    async def healthz(request: Request) -> Response:
        del request
        return JSONResponse({"status": "ok", "version": hexad.__version__})

    async def metrics_text(request: Request) -> Response:
        del request
        content, kind = await asyncio.get_running_loop().run_in_executor(desk.store.pool, metrics.text)
        return Response(content, headers={"content-type": kind})

    description: dict[str, Any] = {}

    async def openapi(request: Request) -> Response:
        del request
        if not description:
            description.update(described(app))
        return JSONResponse(description)

    for path, endpoint in (("/healthz", healthz), ("/metrics", metrics_text), ("/openapi.json", openapi)):
        app.router.routes.append(Route(path, endpoint, methods=["GET"]))


async def _refused(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, Refusal)
    return problem_response(error.error, status=error.status, headers=error.headers)


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = f"{request.method[:20]} {request.url.path[:120]!r}"
    reason = NotFound(f"{what} is not served;", remedy="GET /openapi.json lists what is.")
    return problem_response(reason, status=error.status_code, headers=error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    del request, error  # its words may hold what was sent; the server's log has them
    return problem_response(HexadError("The server failed;", remedy="its log says why."))
