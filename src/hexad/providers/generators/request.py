"""One attempt at an answer: a request through pydantic-ai, behind a transport that trusts nobody.

The libraries of the providers read variables, follow redirects, and print what they were given. So they get no key:
the transport puts it into requests to the endpoint's own host, refuses every other host, drops every header that
is not needed, and stops reading where an answer cannot be an answer any more.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from hexad.errors import ProviderError
from hexad.providers.budgets.spending import Spend
from hexad.providers.generators.base import Prompt, Reply, instructions
from hexad.providers.generators.endpoints import Endpoint

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.profiles.openai import OpenAIModelProfile

ANSWER_BYTES: Final = 4 * 1024 * 1024
"""Most bytes of one answer that are read: a million tokens as JSON, and far more than any request asks for."""
_MOST_TOKENS: Final = 100_000_000
_NO_KEY: Final = "none"
_HEADERS: Final = frozenset(
    ("host", "content-type", "content-length", "accept", "user-agent", "anthropic-version", "anthropic-beta")
)


@dataclass(slots=True, kw_only=True)
class Seen:
    """What the transport saw of an attempt; it says more, and more surely, than the libraries' own errors."""

    status: int | None = None
    retry_after: str | None = None
    too_large: bool = False
    packed: bool = False
    elsewhere: bool = False
    unusable: str | None = field(default=None)


class _Refused(Exception):
    """The transport stopped an exchange; `Seen` says why."""


def require_library(endpoint: Endpoint) -> None:
    """Load what requests to an endpoint need. Raises `ProviderError` with the remedy when it is not installed."""
    try:
        import pydantic_ai.direct

        if endpoint.kind.name == "anthropic":
            import pydantic_ai.models.anthropic
        elif endpoint.kind.name == "google":
            import pydantic_ai.models.google
        else:
            import pydantic_ai.models.openai  # noqa: F401
    except ImportError as error:
        raise ProviderError(
            f"{endpoint.name} needs packages that are not installed: pip install 'hexad[llm]'.", charged=False
        ) from error


async def exchange(
    endpoint: Endpoint, prompt: Prompt, *, key: str | None, max_tokens: int, constrained: bool, seen: Seen
) -> Reply:
    """Ask once and return the answer; anything may be raised, and `seen` says what happened on the wire.

    `constrained` holds the model to the prompt's schema by the provider's own means, where it has any.
    """
    import httpx2
    from pydantic_ai import ModelRequest
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import SystemPromptPart, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.settings import ModelSettings

    # A connection has no bound of its own: the caller bounds the whole call.
    client = httpx2.AsyncClient(
        transport=_transport(endpoint, key, seen), timeout=None, follow_redirects=False, trust_env=False
    )
    async with client:
        model = _model(endpoint, client)
        native = constrained and prompt.schema is not None and can_constrain(model)
        parameters = ModelRequestParameters()
        if native and prompt.schema is not None:
            output = OutputObjectDefinition(json_schema=dict(prompt.schema), name="answer")
            parameters = ModelRequestParameters(output_mode="native", output_object=output)
        settings = ModelSettings(max_tokens=max_tokens, max_retries=0)
        if prompt.temperature is not None:
            settings["temperature"] = prompt.temperature
        system = _sendable(prompt.system if native else instructions(prompt))
        parts = [UserPromptPart(content=_sendable(prompt.text))]
        response = await model_request(
            model,
            [ModelRequest(parts=[SystemPromptPart(content=system), *parts] if system else parts)],
            model_settings=settings,
            model_request_parameters=parameters,
            instrument=False,  # texts go to the endpoint and nowhere else
        )
    return _reply(endpoint, response, seen)


def can_constrain(model: Model) -> bool:
    """Return whether the provider can hold this model to a schema."""
    return bool(model.profile.get("supports_json_schema_output", False))


def _reply(endpoint: Endpoint, response: ModelResponse, seen: Seen) -> Reply:
    from pydantic_ai.messages import TextPart, ToolCallPart

    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if not text.strip():
        called = any(isinstance(part, ToolCallPart) for part in response.parts)
        seen.unusable = "a call of a tool that nobody offered" if called else "an empty answer"
        raise _Refused
    usage = response.usage
    return Reply(
        text=text,
        model=endpoint.name,
        spend=Spend(input_tokens=_sane(usage.input_tokens), output_tokens=_sane(usage.output_tokens)),
    )


def _sendable(text: str) -> str:
    """Return a text that UTF-8 can carry: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _sane(tokens: int) -> int:
    """Return a count that an endpoint claims; 0, which means unknown, for one that no call can have used."""
    return tokens if 0 <= tokens <= _MOST_TOKENS else 0


def _model(endpoint: Endpoint, client: httpx2.AsyncClient) -> Model:
    """Return pydantic-ai's model for an endpoint, without a key: the transport has it."""
    kind = endpoint.kind.name
    if kind == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        anthropic = AnthropicProvider(api_key=_NO_KEY, base_url=endpoint.base_url, http_client=client)
        return AnthropicModel(endpoint.model, provider=anthropic)
    if kind == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        google = GoogleProvider(api_key=_NO_KEY, base_url=endpoint.base_url, http_client=client)
        return GoogleModel(endpoint.model, provider=google)
    from pydantic_ai.models.openai import OpenAIChatModel

    if kind == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        ollama = OllamaProvider(api_key=_NO_KEY, base_url=endpoint.base_url, http_client=client)
        return OllamaModel(endpoint.model, provider=ollama, profile=_named_max_tokens())
    if kind == "openai" and not endpoint.own:
        from pydantic_ai.providers.openai import OpenAIProvider

        openai = OpenAIProvider(api_key=_NO_KEY, base_url=endpoint.base_url, http_client=client)
        return OpenAIChatModel(endpoint.model, provider=openai)
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    profile = _named_max_tokens()
    profile["supports_json_schema_output"] = True  # whether it is so shows when it is asked
    compatible = OpenAICompatibleProvider(
        kind, api_key=_NO_KEY, base_url=endpoint.base_url, http_client=client, profile=profile
    )
    return OpenAIChatModel(endpoint.model, provider=compatible)


def _named_max_tokens() -> OpenAIModelProfile:
    """Return what makes an endpoint be told `max_tokens`, the bound's older name, which all of them know."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


def _transport(endpoint: Endpoint, key: str | None, seen: Seen) -> httpx2.AsyncBaseTransport:
    import httpx2

    home = urlsplit(endpoint.base_url)

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: httpx2.AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in self._stream:
                size += len(part)
                if size > ANSWER_BYTES:
                    seen.too_large = True
                    raise _Refused
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Guarded(httpx2.AsyncBaseTransport):
        def __init__(self) -> None:
            self._wire = httpx2.AsyncHTTPTransport(trust_env=False, retries=0)

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            target = urlsplit(str(request.url))
            if (target.scheme, target.netloc) != (home.scheme, home.netloc):
                seen.elsewhere = True
                raise _Refused
            for name in [name for name in request.headers if name.lower() not in _HEADERS]:
                del request.headers[name]
            request.headers["accept-encoding"] = "identity"  # a packed answer could unpack without end
            if key is not None:
                header = endpoint.kind.header
                request.headers[header] = f"Bearer {key}" if header == "authorization" else key
            response = await self._wire.handle_async_request(request)
            seen.status, seen.retry_after = response.status_code, response.headers.get("retry-after")
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                seen.packed = True
                await response.aclose()
                raise _Refused
            stream: Any = response.stream
            return httpx2.Response(
                response.status_code,
                headers=response.headers,
                stream=Bounded(stream),
                extensions=response.extensions,
            )

        async def aclose(self) -> None:
            await self._wire.aclose()

    return Guarded()
