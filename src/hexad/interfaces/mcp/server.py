"""The server: requests of the protocol answered by calls of the library, each in a thread of a bounded pool."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import anyio
import mcp_types as types
from anyio import CapacityLimiter, to_thread
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

import hexad
from hexad.core.prompt_fence import defused_values
from hexad.core.redactions import redactions
from hexad.interfaces.mcp.messages import error_message
from hexad.interfaces.mcp.prompts import PromptSchema
from hexad.interfaces.mcp.resources import ListedResource
from hexad.interfaces.mcp.schemas import ToolSchema
from hexad.interfaces.mcp.tool_arguments import check_arguments

_log = logging.getLogger(__name__)
Context = ServerRequestContext[Any, Any]
Answered = TypeVar("Answered")

THREADS: Final = 16
"""So many calls are worked on at a time: writers share the disk's syncs, and readers one interpreter."""
_UNCHANGED_MS: Final = 3_600_000
"""What is listed is the same for as long as the server runs; a client may keep it for an hour."""
_FOREVER: Final = CacheHint(ttl_ms=_UNCHANGED_MS, scope="public")
_OWN: Final = CacheHint(ttl_ms=_UNCHANGED_MS, scope="private")
"""What depends on who asks."""


class Offer(Protocol):
    """What a server offers its clients, whatever the protocol: tools, resources and prompts over one store."""

    @property
    def instructions(self) -> str:
        """What a model is told of the server before its first call."""

    @property
    def tools(self) -> Sequence[ToolSchema]:
        """The tools, in the order in which they are listed."""

    @property
    def templates(self) -> Sequence[ListedResource]:
        """The templates of resources."""

    @property
    def prompts(self) -> Sequence[PromptSchema]:
        """The prompts."""

    def call(self, name: str, arguments: dict[str, Any], progress: Callable[[int], None]) -> dict[str, Any]:
        """Do what a tool does; raises `HexadError`."""

    def resources(self) -> list[ListedResource]:
        """Return the resources that are listed."""

    def read(self, uri: str) -> str:
        """Return a resource as JSON; raises `NotFound`."""

    def complete(self, uri: str, argument: str, value: str) -> list[str]:
        """Return what an argument of a template may be that begins with `value`."""

    def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """Return a prompt's text; raises `HexadError`."""


def build_server(offer: Offer, offer_to: Callable[[Context], Offer] | None = None) -> Server[Any]:
    """Return the SDK's server, which answers in every era of the protocol that it knows.

    `offer_to` says what whoever sent a request is offered, where that is not `offer` for all.
    """
    answers = _Answers(offer, offer_to or (lambda _: offer))
    own = _FOREVER if offer_to is None else _OWN
    return Server(
        "hexad",
        title="Hexad",
        version=hexad.__version__,
        instructions=offer.instructions,
        get_tool_input_schema=answers.input_schema,
        cache_hints={
            "server/discover": _FOREVER,
            "tools/list": own,
            "prompts/list": own,
            "resources/templates/list": _FOREVER,
        },
        on_list_tools=answers.list_tools,
        on_call_tool=answers.call_tool,
        on_list_resources=answers.list_resources,
        on_list_resource_templates=answers.list_templates,
        on_read_resource=answers.read_resource,
        on_list_prompts=answers.list_prompts,
        on_get_prompt=answers.get_prompt,
        on_completion=answers.complete,
    )


class _Answers:
    """The handlers of one server."""

    def __init__(self, offer: Offer, offer_to: Callable[[Context], Offer]) -> None:
        self._offer, self._offer_to = offer, offer_to
        self._tools = {tool.name: tool for tool in offer.tools}
        self._limiter = CapacityLimiter(THREADS)

    # Tools ------------------------------------------------------------------------------------------------------------

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """Return what a tool takes, None for a name that there is not."""
        tool = self._tools.get(name)
        return None if tool is None else tool.input_schema

    async def list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """List the tools of whoever asks."""
        del params
        return types.ListToolsResult(tools=[_listed(tool) for tool in self._offer_to(ctx).tools])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool; what goes wrong in it is an answer with `isError`, for the model to read."""
        tool = self._tools.get(params.name)
        if tool is None:
            known = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:80]!r}; there are {known}.")
        offer, arguments = self._offer_to(ctx), params.arguments or {}
        if tool.reads:
            return await self._in_thread(partial(self._called, offer, tool, arguments, _ignore), abandon=True)
        return await self._with_progress(ctx, partial(self._called, offer, tool, arguments))

    def _called(
        self, offer: Offer, tool: ToolSchema, arguments: Mapping[str, Any], progress: Callable[[int], None]
    ) -> types.CallToolResult:
        try:
            with redactions() as taken:
                answer = offer.call(tool.name, check_arguments(tool, arguments), progress)
            if taken and not tool.reads and "memories" not in answer:  # each of which says it
                answer = {**answer, "redacted": taken.total}
        except hexad.HexadError as error:
            return _failed(error_message(error))
        except Exception as error:  # noqa: BLE001 - the outermost handler of a call: its client gets a sentence
            _log.exception("%s failed", tool.name)
            return _failed(
                f"{type(error).__name__}: {hexad.HexadError(str(error))}. The server goes on; nothing is half done."
            )
        # A context is fenced as it is made; everything else a client may put before a model as it stands.
        answer = {
            name: value if name == tool.text else defused_values(value) for name, value in answer.items()
        }
        shown = answer if tool.text is None else answer[tool.text]
        text = (
            shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
        )
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=answer
        )

    async def _with_progress(
        self, ctx: Context, call: Callable[[Callable[[int], None]], types.CallToolResult]
    ) -> types.CallToolResult:
        """Run a call that writes, telling a client that asked for it how far it is.

        It is finished even when its client cancels it or goes away: an answer that nobody waits for costs nothing, a
        change that is half done does.
        """
        send, receive = anyio.create_memory_object_stream[int](max_buffer_size=float("inf"))
        loop = asyncio.get_running_loop()

        async def tell() -> None:
            async with receive:
                async for done in receive:
                    await ctx.session.report_progress(done)

        def progress(done: int) -> None:
            loop.call_soon_threadsafe(send.send_nowait, done)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tell)
            async with send:
                result = await self._in_thread(partial(call, progress))
        return result

    async def _in_thread(self, call: Callable[[], Answered], *, abandon: bool = False) -> Answered:
        return await to_thread.run_sync(call, limiter=self._limiter, abandon_on_cancel=abandon)

    # Resources --------------------------------------------------------------------------------------------------------

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the resources."""
        del params
        resources = await self._asked(self._offer_to(ctx).resources)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=each.uri, name=each.name, description=each.description, mime_type=each.mime_type
                )
                for each in resources
            ]
        )

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """List the templates of resources."""
        del ctx, params
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=each.uri,
                    name=each.name,
                    description=each.description,
                    mime_type=each.mime_type,
                )
                for each in self._offer.templates
            ]
        )

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a resource."""
        uri = str(params.uri)
        text = await self._asked(partial(self._offer_to(ctx).read, uri), uri=uri)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, text=text, mime_type="application/json")]
        )

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete an argument of a template of resources."""
        uri = params.ref.uri if isinstance(params.ref, types.ResourceTemplateReference) else ""
        argument = params.argument
        values = await self._asked(partial(self._offer_to(ctx).complete, uri, argument.name, argument.value))
        return types.CompleteResult(
            completion=types.Completion(values=values, total=len(values), has_more=False)
        )

    # Prompts ----------------------------------------------------------------------------------------------------------

    async def list_prompts(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """List the prompts of whoever asks."""
        del params
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=prompt.name,
                    description=prompt.description,
                    arguments=[
                        types.PromptArgument(name=name, description=description, required=True)
                        for name, description in prompt.arguments.items()
                    ],
                )
                for prompt in self._offer_to(ctx).prompts
            ]
        )

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return a prompt's text, as the user's."""
        text = await self._asked(partial(self._offer_to(ctx).prompt, params.name, params.arguments or {}))
        return types.GetPromptResult(
            messages=[types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))]
        )

    async def _asked(self, call: Callable[[], Answered], *, uri: str | None = None) -> Answered:
        """Run what only reads; what goes wrong is an error of the protocol, with the resource it is about."""
        data = None if uri is None else {"uri": uri}
        try:
            return await self._in_thread(call, abandon=True)
        except (hexad.NotFound, hexad.InvalidInput) as error:
            raise MCPError(types.INVALID_PARAMS, error_message(error), data) from error
        except hexad.HexadError as error:
            raise MCPError(types.INTERNAL_ERROR, error_message(error), data) from error


def _listed(tool: ToolSchema) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads,
            destructive_hint=None if tool.reads else tool.destroys,
            idempotent_hint=None if tool.reads else tool.repeatable,
            open_world_hint=False,
        ),
    )


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)


def _ignore(done: int) -> None:
    del done
