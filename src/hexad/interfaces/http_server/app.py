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
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route

import hexad
from hexad.client.invoke import invoke
from hexad.client.problems import PROBLEM_TYPE, problem_of, status_of
from hexad.client.verbs import VERBS, Verb, python_call
from hexad.client.wire import MEDIA_TYPE, REDACTED_HEADER, encode
from hexad.core.as_json import plain
from hexad.core.clock import Clock
from hexad.core.prompt_fence import fenced_json
from hexad.core.redactions import redactions
from hexad.engine import Hexad
from hexad.errors import HexadError, InvalidInput, NotFound
from hexad.interfaces.http_server.bodies import MalformedRequest, arguments_of_body, arguments_of_query
from hexad.interfaces.http_server.call_names import CALL_NAMES, is_exact
from hexad.interfaces.http_server.guard import Limits, Refusal, RequestGuard
from hexad.interfaces.http_server.logins import visible, within
from hexad.interfaces.http_server.metrics import Metrics
from hexad.interfaces.http_server.openapi import described, operation
from hexad.interfaces.http_server.reviews import HEADER, REVIEW_VERBS, require_reviewer, review
from hexad.interfaces.http_server.stores import ServedStore, readable
from hexad.interfaces.http_server.streams import (
    EVENTS,
    NDJSON,
    Streaming,
    TokenStream,
    change_stream,
    export_lines,
    require_whole,
)
from hexad.interfaces.http_server.tokens import Login, TokenFile

_JSON: Final = "application/json"


class Desk:
    """Answers calls on one store, each in a thread of its pool."""

    def __init__(self, store: ServedStore, metrics: Metrics) -> None:
        self.store, self.metrics = store, metrics

    async def answer(self, verb: Verb, request: Request) -> Response:
        """Return the answer to a request; a problem where the call raises."""
        login: Login = request.state.login

        def ask(values: dict[str, Any]) -> Any:
            hx = self.store.of(login.role)
            arguments = within(login, verb, values, lambda memory_id: _space_of(hx, memory_id))
            return visible(login, verb, lambda: invoke(hx, verb, arguments, acknowledged=True))

        return await self._answered(verb, request, ask)

    async def review(self, verb: Verb, request: Request) -> Response:
        """Return what the ledger answers to a reviewer."""
        login: Login = request.state.login
        credential = request.headers.get(HEADER, "")

        def ask(values: dict[str, Any]) -> Any:
            require_reviewer(login)
            require_whole(login, "the ledger")
            return review(self.store.path, self.store.key, verb, values, credential)

        return await self._answered(verb, request, ask)

    async def _answered(self, verb: Verb, request: Request, ask: Callable[[dict[str, Any]], Any]) -> Response:
        with self.metrics.measured(verb.name) as measured:
            is_query = request.method == "GET"
            body = b"" if is_query else await request.body()
            pairs = request.query_params.multi_items() if is_query else []
            if body:
                _require_json(request)
            exact = is_exact(request)

            def work() -> tuple[bytes, str]:
                with redactions() as taken:
                    value = ask(
                        arguments_of_query(verb, pairs) if is_query else arguments_of_body(verb, body)
                    )
                self.metrics.note_records(verb.name, value)
                if exact:
                    return json.dumps(encode(value)).encode("ascii"), taken.written()
                text = json.dumps(plain(readable(verb, value)), ensure_ascii=False, allow_nan=False)
                return fenced_json(text).encode(), taken.written()

            try:
                content, taken = await self.store.pool.run(verb, work)
            except HexadError as error:
                measured.status = _status(error)
                return problem_response(request, error)
            headers = {REDACTED_HEADER: taken} if taken else None
            return Response(content, headers=headers, media_type=MEDIA_TYPE if exact else _JSON)


def _space_of(hx: Hexad, memory_id: str) -> str | None:
    try:
        memory = hx.get(memory_id)
    except HexadError:  # nothing, something hidden, or a short id of several
        return None
    return memory.space if memory.id == memory_id else None


def _require_json(request: Request) -> None:
    """Refuse a body of another type: a form is what a page may send anywhere without asking."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON and not kind.endswith("+json"):
        raise Refusal(
            InvalidInput(f"The body is {kind[:60] or 'of no type'!r};", remedy="send application/json."),
            status=415,
        )


def _status(error: HexadError) -> int:
    return 400 if isinstance(error, MalformedRequest) else status_of(error)


def problem_response(
    request: Request,
    error: HexadError,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error as a problem, in the words of who asks."""
    status = _status(error) if status is None else status
    problem = problem_of(error, CALL_NAMES, is_exact=is_exact(request))
    if isinstance(error, MalformedRequest):
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
        metrics.close()
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
    for verb, answer in (
        *((verb, desk.answer) for verb in VERBS.values()),
        *((verb, desk.review) for verb in REVIEW_VERBS),
    ):
        for method in filter(None, (verb.method, verb.alias)):
            app.add_api_route(
                verb.path,
                _endpoint(answer, verb),
                methods=[method],
                name=verb.name,
                response_model=None,
                operation_id=f"{verb.name}{'_' if method == verb.alias else ''}",
                openapi_extra=operation(verb, method),
            )
    _add_others(app, desk, metrics)
    _route_by_path(app)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(HexadError, _raised)
    app.add_exception_handler(HTTPException, _not_routed)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _failed)
    return RequestGuard(
        app, tokens=tokens, hosts=hosts, origins=origins, limits=limits or Limits(), clock=clock
    )


def _endpoint(
    answer: Callable[[Verb, Request], Awaitable[Response]], verb: Verb
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await answer(verb, request)

    endpoint.__doc__ = python_call(verb).__doc__
    return endpoint


def _add_others(app: FastAPI, desk: Desk, metrics: Metrics) -> None:
    """Add what is no call: streams, health, metrics, the description."""
    store = desk.store

    async def healthz(request: Request) -> Response:
        del request
        return JSONResponse({"status": "ok", "version": hexad.__version__})

    async def metrics_text(request: Request) -> Response:
        require_whole(request.state.login, "what a server counts")
        content, kind = await store.pool.run(None, metrics.text)
        return Response(content, headers={"content-type": kind})

    async def tokens(request: Request) -> Streaming:
        return Streaming(TokenStream(store, metrics, request).answers(), media_type=NDJSON, reads=True)

    async def export(request: Request) -> Streaming:
        login: Login = request.state.login
        return Streaming(export_lines(store.of(login.role), request), media_type=NDJSON)

    async def changes(request: Request) -> Streaming:
        return Streaming(change_stream(store, request).events(), media_type=EVENTS)

    description: dict[str, Any] = {}

    async def openapi(request: Request) -> Response:
        del request
        if not description:
            description.update(described(app))
        return JSONResponse(description)

    others: dict[str, tuple[str, Callable[[Request], Awaitable[Any]]]] = {
        "/healthz": ("GET", healthz),
        "/metrics": ("GET", metrics_text),
        "/openapi.json": ("GET", openapi),
        "/v1/xdb/tokens": ("POST", tokens),
        "/v1/export": ("GET", export),
        "/v1/changes": ("GET", changes),
    }
    for path, (method, endpoint) in others.items():
        app.router.routes.append(Route(path, endpoint, methods=[method]))


def _route_by_path(app: FastAPI) -> None:
    """Find a route by its path alone: no path here has a parameter, and to try 200 patterns takes a millisecond."""
    router, routes = app.router, dict[str, list[Any]]()
    for route in router.routes:
        routes.setdefault(getattr(route, "path", ""), []).append(route)
    whole = router.middleware_stack

    async def by_path(scope: Any, receive: Any, send: Any) -> None:
        for route in routes.get(scope.get("path", ""), ()):
            match, child_scope = route.matches(scope)
            if match is Match.FULL:
                scope.update(child_scope)
                await route.handle(scope, receive, send)
                return
        if scope["type"] == "http" and scope["path"] in routes:
            methods = {method for route in routes[scope["path"]] for method in route.methods or ()}
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(methods))})
        await whole(scope, receive, send)

    router.middleware_stack = by_path


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return problem_response(request, error.error, status=error.status, headers=error.headers)


async def _raised(request: Request, error: Exception) -> Response:
    assert isinstance(error, HexadError)
    return problem_response(request, error)


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = f"{request.method[:20]} {request.url.path[:120]!r}"
    reason: HexadError = NotFound(f"{what} is not served;", remedy="GET /openapi.json lists what is.")
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "another method")
        reason = InvalidInput(f"{what} is not served;", remedy=f"send {allowed}.")
    return problem_response(request, reason, status=error.status_code, headers=error.headers)


async def _gone(request: Request, error: Exception) -> Response:
    del request, error  # in the middle of a body: nothing was done, and nobody reads the answer
    return Response(status_code=400)


async def _failed(request: Request, error: Exception) -> Response:
    del error  # its words may hold what was sent; the server's log has them
    return problem_response(request, HexadError("The server failed;", remedy="its log says why."))
