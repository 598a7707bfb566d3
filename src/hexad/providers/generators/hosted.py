"""Text generators of providers: one bounded call, tried again where that can help, its failures in our words."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from hexad.core.clock import Clock, SystemClock
from hexad.core.tracing import carried
from hexad.errors import ProviderError
from hexad.providers.generators.base import Prompt, Reply, instructions
from hexad.providers.generators.endpoints import Endpoint, GeneratorAccess, moved
from hexad.providers.http_requests import Backoff
from hexad.providers.spending import Spend

if TYPE_CHECKING:
    from collections.abc import Coroutine

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


_ATTEMPTS: Final = 3
_GRACE_S: Final = 2.0
"""How long a call may take to end after its time is over: what blocks a thread cannot be cancelled."""
_REFUSES_FORMAT: Final = frozenset((400, 415, 422, 501))
"""What endpoints answer that do not know the way in which the schema was handed over."""
_HINTS: Final = {
    400: "Check the model's name and what it accepts.",
    401: "Check the key.",
    402: "The account is exhausted.",
    403: "Check the key and what it may use.",
    404: "Check the model's name and the URL.",
    413: "The text is too long for this model.",
    422: "Check the model's name and what it accepts.",
    429: "The provider limits the rate, or the account is exhausted; try later.",
}


@dataclass(slots=True)
class _Outcome:
    """What a call came to, handed from its thread to the caller's."""

    reply: Reply | None = None
    error: ProviderError | None = None
    done: threading.Event = field(default_factory=threading.Event)


class HostedGenerator:
    """Asks a provider's model. Safe to share between threads, and to call where an event loop runs.

    One call takes at most `access.timeout_s` seconds from the first attempt to the end of the answer, however slowly
    it drips. After 429, 5xx or no connection it is tried again, at most twice, pausing as `Retry-After` says; a
    request that was answered is not repeated. No redirect is followed, no proxy setting is read, and messages
    hold neither key nor text nor the provider's own words.
    """

    def __init__(self, home: Endpoint, access: GeneratorAccess) -> None:
        self._home = home
        self._access = access
        self._clock: Clock = SystemClock()  # a provider takes real time, whatever time the store has
        self._lock = threading.Lock()
        self._unconstrained: set[Endpoint] = set()

    @property
    def name(self) -> str:
        """`provider:model`."""
        return self._home.name

    def provider_of(self, model: str | None) -> tuple[str, str]:
        """Return the provider, `openai` or `openai@host`, and the model; raises `InvalidInput`."""
        endpoint = moved(self._home, model)
        return endpoint.provider, endpoint.model

    def generate(self, prompt: Prompt) -> Reply:
        """Return the answer; raises `ProviderError`, naming provider, model, status and remedy."""
        endpoint = moved(self._home, prompt.model)
        require_library(endpoint)
        key = self._key(endpoint)
        outcome = _Outcome()
        call = _Call(
            endpoint=endpoint,
            prompt=prompt,
            key=key,
            access=self._access,
            clock=self._clock,
            ends_at=self._clock.monotonic() + self._access.timeout_s,
            constrained=prompt.schema is not None and endpoint not in self._unconstrained,
        )
        # A loop of its own in a thread of its own: the caller may be inside one, and loops do not nest.
        ask = carried(lambda: _in_loop(call, outcome))
        thread = threading.Thread(target=ask, name="hexad-generator", daemon=True)
        thread.start()
        if not outcome.done.wait(self._access.timeout_s + _GRACE_S):
            raise call.late()
        if outcome.error is not None:
            raise outcome.error
        assert outcome.reply is not None
        if call.gave_up_format:
            with self._lock:
                self._unconstrained.add(endpoint)
        return outcome.reply

    def _key(self, endpoint: Endpoint) -> str | None:
        chosen = endpoint.kind is self._home.kind
        key = self._access.key_for(endpoint, chosen=chosen)
        if key is None and endpoint.kind.needs_key and not endpoint.own:
            variables = [*(["HEXAD_LLM_API_KEY"] if chosen else []), endpoint.kind.variable or ""]
            raise ProviderError(
                f"There is no key for {endpoint.name}: set {' or '.join(filter(None, variables))}.",
                charged=False,
            )
        return key


@dataclass(slots=True, kw_only=True)
class _Call:
    """One call: its attempts until there is an answer, or no use in another."""

    endpoint: Endpoint
    prompt: Prompt
    key: str | None
    access: GeneratorAccess
    clock: Clock
    ends_at: float
    constrained: bool
    gave_up_format: bool = False

    async def run(self) -> Reply:
        import asyncio

        backoff = Backoff(_ATTEMPTS)
        while True:
            seen = Seen()
            answer = await self._attempt(seen)
            if isinstance(answer, Reply):
                return answer
            if seen.status in _REFUSES_FORMAT and self.constrained:
                self.constrained, self.gave_up_format = False, True
                continue  # the schema in words: not an attempt at the same thing
            pause_s = None if seen.elsewhere else backoff.pause_s(seen.status, seen.retry_after)
            if pause_s is None or pause_s >= self.ends_at - self.clock.monotonic():
                raise answer
            await asyncio.sleep(pause_s)

    async def _attempt(self, seen: Seen) -> Reply | ProviderError:
        import asyncio

        left_s = self.ends_at - self.clock.monotonic()
        request = exchange(
            self.endpoint,
            self.prompt,
            key=self.key,
            max_tokens=self.prompt.max_tokens or self.access.max_tokens,
            constrained=self.constrained,
            seen=seen,
        )
        try:
            return await asyncio.wait_for(request, max(left_s, 0.0))
        except TimeoutError as error:
            if self.clock.monotonic() >= self.ends_at:
                raise self.late() from None
            return self._failure(seen, error)
        # The one broad handler here: the providers' libraries raise what they like at an answer that they cannot
        # read, and put the answer, the request or the key into their words. None of it goes further than its
        # type's name; what was seen on the wire says the rest.
        except Exception as error:  # noqa: BLE001
            return self._failure(seen, error)

    def late(self) -> ProviderError:
        return ProviderError(
            f"{self.endpoint.name} gave no whole answer in {self.access.timeout_s:g} s; raise llm_timeout_s, ask for "
            "fewer tokens, or choose a faster model."
        )

    def _failure(self, seen: Seen, error: Exception) -> ProviderError:
        where, status = self.endpoint.name, seen.status
        if seen.elsewhere or (status is not None and 300 <= status < 400):
            answered = f"{where} answered {status}" if status else where
            return ProviderError(
                f"{answered}: it sends requests elsewhere, and redirects are not followed; give the final URL.",
                charged=False,
            )
        if seen.too_large:
            return ProviderError(
                f"{where} sent over {ANSWER_BYTES:,} bytes, which is no answer; check the URL."
            )
        if seen.packed:
            return ProviderError(f"{where} sent a compressed answer that was not asked for; check the URL.")
        if status is None:
            return ProviderError(
                f"{where} could not be reached ({type(error).__name__}); check the URL and the network.",
                charged=False,
            )
        if status != 200:
            hint = _HINTS.get(
                status, "The provider is failing; try later." if status >= 500 else "Check the URL."
            )
            return ProviderError(f"{where} answered {status}. {hint}", charged=False)
        return ProviderError(
            f"{where} answered with {seen.unusable or f'something that cannot be read ({type(error).__name__})'}; "
            "try again, or choose another model."
        )


def _in_loop(call: _Call, outcome: _Outcome) -> None:
    import asyncio

    try:
        outcome.reply = asyncio.run(_settled(call, outcome))
    finally:
        outcome.done.set()


async def _settled(call: _Call, outcome: _Outcome) -> Reply | None:
    running: Coroutine[None, None, Reply] = call.run()
    try:
        return await running
    except ProviderError as error:
        outcome.error = error
        return None
