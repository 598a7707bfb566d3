"""The tools, resources and prompts that the public conformance suite of MCP calls, beside those of `hexad mcp`.

The suite looks for them by name. They stand here and in no server that a user meets: `add_fixture` puts them before the
handlers of the real one, which answers everything else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

Context = ServerRequestContext[Any, Any]
Answer = types.CallToolResult | types.InputRequiredResult
Tool = Callable[[Context, types.CallToolRequestParams], Awaitable[Answer]]

PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SILENCE: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
_NO_ARGUMENTS: Final[dict[str, Any]] = {"type": "object", "properties": {}}


def _told(*texts: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text) for text in texts])


def _of(*blocks: types.ContentBlock) -> types.CallToolResult:
    return types.CallToolResult(content=list(blocks))


def _image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PIXEL, mime_type="image/png")


def _resource(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        type="resource", resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    )


def _always(answer: Callable[[], types.CallToolResult]) -> Tool:
    async def tool(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        del ctx, params
        return answer()

    return tool


async def _failing(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del ctx, params
    text = "This tool intentionally returns an error for testing"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


async def _logging(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del params
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", text, related_request_id=ctx.request_id)
        await asyncio.sleep(0.05)
    return _told("done")


async def _progress(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del params
    for step in (0, 50, 100):
        await ctx.session.report_progress(step, 100, f"Completed step {step} of 100")
        await asyncio.sleep(0.05)
    return _told("done")


# Asking the client, until 2025-11-25 ----------------------------------------------------------------------------------


async def _sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    prompt = str((params.arguments or {}).get("prompt", ""))
    result = await ctx.session.create_message(
        messages=[types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    content = result.content
    return _told(f"LLM response: {content.text if isinstance(content, types.TextContent) else ''}")


def _eliciting(schema: dict[str, Any]) -> Tool:
    async def tool(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        message = str((params.arguments or {}).get("message", "Please answer"))
        result = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
        return _told(f"User response: action={result.action}, content={json.dumps(result.content)}")

    return tool


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_PERSON: Final = _object(username={"type": "string"}, email={"type": "string"})
_DEFAULTS: Final = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
_ENUMS: Final = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)],
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {
            "type": "array",
            "items": {
                "anyOf": [{"const": f"value{number}", "title": f"Choice {number}"} for number in (1, 2, 3)]
            },
        },
    },
}


async def _reconnecting(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del params
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    return _told("Reconnection test completed")


# Asking the client, since 2026-07-28 ----------------------------------------------------------------------------------


def _elicit(message: str, **properties: dict[str, Any]) -> types.ElicitRequest:
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=_object(**properties))
    )


def _sample(text: str, max_tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


def _needs(state: str | None = None, **requests: types.InputRequest) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def _answered(params: types.InputResponseRequestParams, name: str) -> Any:
    """The client's answer to a question, None where there is none that fits."""
    return (params.input_responses or {}).get(name)


def _content(params: types.InputResponseRequestParams, question: str, field: str) -> str | None:
    answer = _answered(params, question)
    content = answer.content if isinstance(answer, types.ElicitResult) else None
    return str(content[field]) if content and field in content else None


async def _asks_name(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del ctx
    name = _content(params, "user_name", "name")
    if name is None:
        return _needs(user_name=_elicit("What is your name?", name={"type": "string"}))
    return _told(f"Hello, {name}!")


async def _asks_model(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del ctx
    answer = _answered(params, "capital_question")
    if answer is None:
        return _needs(capital_question=_sample("What is the capital of France?", 100))
    content = getattr(answer, "content", None)
    return _told(content.text if isinstance(content, types.TextContent) else "")


async def _asks_roots(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del ctx
    answer = _answered(params, "client_roots")
    if not isinstance(answer, types.ListRootsResult):
        return _needs(client_roots=types.ListRootsRequest())
    return _told(", ".join(str(root.uri) for root in answer.roots))


async def _keeps_state(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del ctx
    if params.request_state != "asked" or _answered(params, "confirm") is None:
        return _needs("asked", confirm=_elicit("Please confirm", ok={"type": "boolean"}))
    return _told("state-ok")


async def _asks_all(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del ctx
    if {"user_name", "greeting", "client_roots"} - set(params.input_responses or {}):
        return _needs(
            "asked",
            user_name=_elicit("What is your name?", name={"type": "string"}),
            greeting=_sample("Generate a greeting", 50),
            client_roots=types.ListRootsRequest(),
        )
    return _told("all answered")


async def _asks_twice(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del ctx
    if params.request_state == "two" and _answered(params, "step2") is not None:
        return _told("both answered")
    if params.request_state == "one" and _answered(params, "step1") is not None:
        return _needs("two", step2=_elicit("Step 2: What is your favorite color?", color={"type": "string"}))
    return _needs("one", step1=_elicit("Step 1: What is your name?", name={"type": "string"}))


async def _asks_what_is_declared(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    declared = ctx.session.client_capabilities
    requests: dict[str, types.InputRequest] = {}
    if declared is not None and declared.elicitation is not None:
        requests["user_name"] = _elicit("What is your name?", name={"type": "string"})
    if declared is not None and declared.sampling is not None:
        requests["greeting"] = _sample("Generate a greeting", 50)
    if params.input_responses or not requests:
        return _told("done")
    return _needs(**requests)


async def _needs_sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    del params
    declared = ctx.session.client_capabilities
    if declared is None or declared.sampling is None:
        needed = types.ClientCapabilities(sampling=types.SamplingCapability())
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "The tool needs sampling",
            data.model_dump(by_alias=True, mode="json", exclude_none=True),
        )
    return _told("done")


_2020_12: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
_HEADERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "query": {"type": "string", "x-mcp-header": "Query"},
    },
}
_SCHEMAS: Final = {
    "test_sampling": _object(prompt={"type": "string"}),
    "test_elicitation": _object(message={"type": "string"}),
    "json_schema_2020_12_tool": _2020_12,
    "test_custom_headers": _HEADERS,
}


class _Fixture:
    """The handlers of a server with the fixture's before them."""

    def __init__(self, server: Server[Any]) -> None:
        self._real = {
            method: entry.handler
            for method in (
                "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
                "prompts/list", "prompts/get",
            )
            if (entry := server.get_request_handler(method)) is not None
        }  # fmt: skip
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus)
        self.tools: dict[str, Tool] = {
            "test_simple_text": _always(lambda: _told("This is a simple text response for testing.")),
            "test_image_content": _always(lambda: _of(_image())),
            "test_audio_content": _always(
                lambda: _of(types.AudioContent(type="audio", data=SILENCE, mime_type="audio/wav"))
            ),
            "test_embedded_resource": _always(
                lambda: _of(
                    _resource("test://embedded-resource", "text/plain", "This is an embedded resource.")
                )
            ),
            "test_multiple_content_types": _always(
                lambda: _of(
                    types.TextContent(type="text", text="Multiple content types test:"),
                    _image(),
                    _resource("test://mixed-content-resource", "application/json", '{"test": "data"}'),
                )
            ),
            "test_error_handling": _failing,
            "test_tool_with_logging": _logging,
            "test_logging_tool": _logging,
            "test_tool_with_progress": _progress,
            "test_sampling": _sampling,
            "test_elicitation": _eliciting(_PERSON),
            "test_elicitation_sep1034_defaults": _eliciting(_DEFAULTS),
            "test_elicitation_sep1330_enums": _eliciting(_ENUMS),
            "test_reconnection": _reconnecting,
            "test_input_required_result_elicitation": _asks_name,
            "test_streaming_elicitation": _asks_name,
            "test_input_required_result_sampling": _asks_model,
            "test_input_required_result_list_roots": _asks_roots,
            "test_input_required_result_request_state": _keeps_state,
            "test_input_required_result_tampered_state": _keeps_state,
            "test_input_required_result_multiple_inputs": _asks_all,
            "test_input_required_result_multi_round": _asks_twice,
            "test_input_required_result_capabilities": _asks_what_is_declared,
            "test_missing_capability": _needs_sampling,
            "test_trigger_tool_change": self._changing(ToolsListChanged()),
            "test_trigger_prompt_change": self._changing(PromptsListChanged()),
            "json_schema_2020_12_tool": _always(lambda: _told("ok")),
            "test_custom_headers": _always(lambda: _told("ok")),
        }

    def _changing(self, event: ToolsListChanged | PromptsListChanged) -> Tool:
        async def tool(ctx: Context, params: types.CallToolRequestParams) -> Answer:
            del ctx, params
            await self._bus.publish(event)
            return _told("changed")

        return tool

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """What a tool of the fixture takes."""
        return _SCHEMAS.get(name, _NO_ARGUMENTS) if name in self.tools else None

    async def list_tools(self, ctx: Context, params: Any) -> types.ListToolsResult:
        """The real tools and the fixture's."""
        listed = await self._real["tools/list"](ctx, params)
        own = [
            types.Tool(name=name, description=name, input_schema=_SCHEMAS.get(name, _NO_ARGUMENTS))
            for name in self.tools
        ]
        return types.ListToolsResult(tools=[*listed.tools, *own])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> Answer:
        """Call one."""
        tool = self.tools.get(params.name)
        return await (self._real["tools/call"](ctx, params) if tool is None else tool(ctx, params))

    async def list_resources(self, ctx: Context, params: Any) -> types.ListResourcesResult:
        """The real resources and the fixture's."""
        listed = await self._real["resources/list"](ctx, params)
        names = ("static-text", "static-binary", "watched-resource")
        own = [types.Resource(uri=f"test://{name}", name=name, description=name) for name in names]
        return types.ListResourcesResult(resources=[*listed.resources, *own])

    async def list_templates(self, ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
        """The real templates and the fixture's."""
        listed = await self._real["resources/templates/list"](ctx, params)
        own = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
        return types.ListResourceTemplatesResult(resource_templates=[*listed.resource_templates, own])

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read one."""
        uri = str(params.uri)
        content: types.TextResourceContents | types.BlobResourceContents
        if uri == "test://static-binary":
            content = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)
        elif uri in ("test://static-text", "test://watched-resource"):
            text = "This is the content of the static text resource."
            content = types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
        elif uri.startswith("test://template/") and uri.endswith("/data"):
            name = uri.removeprefix("test://template/").removesuffix("/data")
            data = {"id": name, "templateTest": True, "data": f"Data for ID: {name}"}
            content = types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(data))
        else:
            result: types.ReadResourceResult = await self._real["resources/read"](ctx, params)
            return result
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(self, ctx: Context, params: Any) -> types.ListPromptsResult:
        """The real prompts and the fixture's."""
        listed = await self._real["prompts/list"](ctx, params)
        arguments = {
            "test_simple_prompt": (),
            "test_prompt_with_arguments": ("arg1", "arg2"),
            "test_prompt_with_embedded_resource": ("resourceUri",),
            "test_prompt_with_image": (),
            "test_input_required_result_prompt": (),
        }
        own = [
            types.Prompt(
                name=name,
                description=name,
                arguments=[types.PromptArgument(name=each, required=True) for each in given],
            )
            for name, given in arguments.items()
        ]
        return types.ListPromptsResult(prompts=[*listed.prompts, *own])

    async def prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        """Return one."""
        given = params.arguments or {}
        match params.name:
            case "test_simple_prompt":
                return _prompt(_text("This is a simple prompt for testing."))
            case "test_prompt_with_arguments":
                words = f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
                return _prompt(_text(words))
            case "test_prompt_with_embedded_resource":
                uri, text = given.get("resourceUri", ""), "Embedded resource content for testing."
                return _prompt(
                    _resource(uri, "text/plain", text), _text("Please process the embedded resource above.")
                )
            case "test_prompt_with_image":
                return _prompt(_image(), _text("Please analyze the image above."))
            case "test_input_required_result_prompt":
                context = _content(params, "user_context", "context")
                if context is None:
                    question = "What context should the prompt use?"
                    return _needs(user_context=_elicit(question, context={"type": "string"}))
                return _prompt(_text(f"With the context {context}."))
        result: types.GetPromptResult = await self._real["prompts/get"](ctx, params)
        return result


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _prompt(*blocks: types.ContentBlock) -> types.GetPromptResult:
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=block) for block in blocks]
    )


async def _acknowledged(ctx: Context, params: Any) -> types.EmptyResult:
    del ctx, params
    return types.EmptyResult()


def add_fixture(server: Server[Any]) -> Server[Any]:
    """Put the fixture before the handlers of a server, and return it."""
    fixture = _Fixture(server)
    schema_of = server.get_tool_input_schema
    server.get_tool_input_schema = lambda name: (
        fixture.input_schema(name) or (schema_of(name) if schema_of is not None else None)
    )
    paginated = types.PaginatedRequestParams
    server.add_request_handler("tools/list", paginated, fixture.list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, fixture.call_tool)
    server.add_request_handler("resources/list", paginated, fixture.list_resources)
    server.add_request_handler("resources/templates/list", paginated, fixture.list_templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, fixture.read)
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, _acknowledged)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, _acknowledged)
    server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, fixture.listen)
    server.add_request_handler("prompts/list", paginated, fixture.list_prompts)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, fixture.prompt)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _acknowledged)
    server.middleware.append(
        RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name)
    )
    return server
