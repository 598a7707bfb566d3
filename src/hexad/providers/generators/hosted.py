"""Text generators of providers: one bounded call, tried again where that can help, its failures in our words."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hexad.core.clock import Clock, SystemClock
from hexad.errors import ProviderError
from hexad.providers.generators.base import Prompt, Reply
from hexad.providers.generators.endpoints import Access, Endpoint, moved
from hexad.providers.generators.request import ANSWER_BYTES, Seen, exchange, require_library

if TYPE_CHECKING:
    from collections.abc import Coroutine

_ATTEMPTS: Final = 3
_FIRST_PAUSE_S: Final = 0.5
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

    def __init__(self, home: Endpoint, access: Access) -> None:
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
        thread = threading.Thread(target=_in_loop, args=(call, outcome), name="hexad-generator", daemon=True)
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
    access: Access
    clock: Clock
    ends_at: float
    constrained: bool
    gave_up_format: bool = False

    async def run(self) -> Reply:
        import asyncio

        pause_s, attempt = _FIRST_PAUSE_S, 1
        while True:
            seen = Seen()
            answer = await self._attempt(seen)
            if isinstance(answer, Reply):
                return answer
            if seen.status in _REFUSES_FORMAT and self.constrained:
                self.constrained, self.gave_up_format = False, True
                continue  # the schema in words: not an attempt at the same thing
            again = (
                (seen.status is None and not seen.elsewhere)
                or seen.status == 429
                or (seen.status or 0) >= 500
            )
            asked_s = _seconds(seen.retry_after)
            wait_s = pause_s if asked_s is None else asked_s
            if not again or attempt == _ATTEMPTS or wait_s >= self.ends_at - self.clock.monotonic():
                raise answer
            await asyncio.sleep(wait_s)
            attempt, pause_s = attempt + 1, pause_s * 2

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


def _seconds(retry_after: str | None) -> float | None:
    """Return a `Retry-After` given in seconds; its form as a date is left to the usual pause."""
    text = (retry_after or "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
