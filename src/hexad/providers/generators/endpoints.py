"""Where hosted text generators are: `provider:MODEL`, or `provider:MODEL@URL` for an endpoint of one's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlsplit

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput, ProviderError
from hexad.memory.policy import PROVIDER_ALIASES

TIMEOUT_S: Final = 60.0
MAX_TOKENS: Final = 4_096
"""Most tokens of an answer where nothing else is asked for: it is sent along, so that an estimate is a bound."""
_TIMEOUT_MOST_S: Final = 3_600.0
_MODEL_CHARS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A provider: where it is, how the key is handed over, and which variable usually holds it."""

    name: str
    base_url: str
    header: str = "authorization"
    variable: str | None = None
    needs_key: bool = True


KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind(name="openai", base_url="https://api.openai.com/v1", variable="OPENAI_API_KEY"),
        Kind(
            name="anthropic",
            base_url="https://api.anthropic.com",
            header="x-api-key",
            variable="ANTHROPIC_API_KEY",
        ),
        Kind(
            name="google",
            base_url="https://generativelanguage.googleapis.com",
            header="x-goog-api-key",
            variable="GOOGLE_API_KEY",
        ),
        Kind(
            name="ollama",
            base_url="http://localhost:11434/v1",
            variable="OLLAMA_API_KEY",
            needs_key=False,
        ),
        Kind(name="huggingface", base_url="https://router.huggingface.co/v1", variable="HF_TOKEN"),
    )
}
FORMS: Final = (
    "'openai:MODEL', 'anthropic:MODEL', 'google:MODEL', 'ollama:MODEL', 'huggingface:MODEL', any of them with "
    "'@URL' of an endpoint of your own"
)
_MODEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+~-]*")
_PLACE: Final = re.compile(
    r"localhost|\[.*|\d+(\.\d+){3}|[^@/]+:\d{1,5}|[^@/]+/.*|[^@/]+\.[a-z][a-z0-9-]*", re.IGNORECASE
)
"""What after an @ is a host, a port or the path of a URL, and not the version of a model."""
_SPEC: Final = re.compile(r"(?P<kind>[A-Za-z]+):(?P<model>.+?)(?:@(?P<url>[A-Za-z][A-Za-z0-9+.-]*://.*))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model at a place. `own` says that the place was named by its URL, and is not the provider's usual one."""

    kind: Kind
    model: str
    base_url: str
    own: bool = False

    @property
    def provider(self) -> str:
        """`openai`, or `openai@host` (with the port when it is named) for an endpoint of one's own."""
        return f"{self.kind.name}@{urlsplit(self.base_url).netloc}" if self.own else self.kind.name

    @property
    def name(self) -> str:
        """`provider:model`."""
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorAccess:
    """What a generator may use: keys and bounds. Keys stay out of every text that this object prints.

    `key` is for the generator that the settings or the caller named, wherever it is; `keys` holds those of the
    providers by name, and each of them is sent to that provider's usual host alone.
    """

    key: str | None = field(default=None, repr=False)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = TIMEOUT_S
    max_tokens: int = MAX_TOKENS

    def __post_init__(self) -> None:
        if not 0 < self.timeout_s <= _TIMEOUT_MOST_S:
            raise InvalidInput(
                f"llm_timeout_s = {quoted(self.timeout_s)} cannot be used; give seconds, up to {_TIMEOUT_MOST_S:g}.",
                argument="llm_timeout_s",
            )
        if not 1 <= self.max_tokens <= 1_000_000:
            raise InvalidInput(
                f"llm_max_tokens = {quoted(self.max_tokens)} cannot be used; give a number from 1 to 1,000,000.",
                argument="llm_max_tokens",
            )

    def key_for(self, endpoint: Endpoint, *, chosen: bool) -> str | None:
        """Return the key for an endpoint; `chosen` when it is the one that the settings or the caller named.

        Raises `ProviderError` for a key that no header can hold: now, and not when the settings are read, because
        most of the keys in an environment are for somebody else.
        """
        usual = None if endpoint.own else self.keys.get(endpoint.kind.name)
        key = self.key if chosen and self.key is not None else usual
        if key is not None and (not key or not key.isascii() or not key.isprintable() or " " in key):
            # Said without the key: it must not reach a log, not even a broken one.
            raise ProviderError(
                f"The key for {endpoint.name} is empty, or holds a space, a line end or a character beyond ASCII.",
                charged=False,
            )
        return key


def parse_endpoint(
    spec: str, kinds: Mapping[str, Kind] = KINDS, *, key_variable: str = "HEXAD_LLM_API_KEY"
) -> Endpoint | None:
    """Return the endpoint that `provider:MODEL[@URL]` names; None when it begins with no name of `kinds`.

    Raises `InvalidInput` for a provider with a model or a URL that cannot be used.
    """
    match = _SPEC.fullmatch(spec.strip())
    kind = (
        None
        if match is None
        else kinds.get(PROVIDER_ALIASES.get(match["kind"].lower(), match["kind"].lower()))
    )
    if match is None or kind is None:
        return None
    model = _check_model(match["model"])
    if match["url"] is None:
        return Endpoint(kind=kind, model=model, base_url=kind.base_url)
    return Endpoint(kind=kind, model=model, base_url=_check_url(match["url"], kind, key_variable), own=True)


def moved(home: Endpoint, model: str | None) -> Endpoint:
    """Return where a call with this `model` goes: None home, a bare name and one of home's provider to home's
    place, `provider:MODEL` to that provider. Raises `InvalidInput` for what names a URL: that is for settings.
    """
    if model is None:
        return home
    named = parse_endpoint(model)
    if "://" in model or (named is not None and named.own):
        raise InvalidInput(
            "A model that is given with a call names no URL; set the endpoint as `generator` instead."
        )
    if named is None or named.kind is home.kind:
        return replace(home, model=_check_model(model if named is None else named.model))
    return named


def _check_model(model: str) -> str:
    name, at, place = model.rpartition("@")
    if at and name and _PLACE.fullmatch(place):
        # Taken for a part of the name, it would send what was meant for a machine of one's own to the provider.
        raise InvalidInput(
            f"What follows the @ in the model's name, {place[:80]!r}, reads like an endpoint without its scheme; write "
            "@http:// or @https:// before it."
        )
    # It becomes part of a path at some providers: nothing may lead elsewhere from there.
    if len(model) > _MODEL_CHARS or _MODEL.fullmatch(model) is None or ".." in model:
        raise InvalidInput(f"{model[:80]!r} cannot be a model's name; give the name that the provider knows.")
    return model


def _check_url(url: str, kind: Kind, key_variable: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            f"The URL of the endpoint holds a user name or password; set {key_variable} instead."
        )
    unusable = parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment
    if unusable or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidInput(f"URL {url!r} cannot be used; give one like https://host/v1.")
    if kind.name == "ollama" and parts.path in ("", "/"):
        return f"{url.rstrip('/')}/v1"  # where its OpenAI-compatible endpoint is
    return url.rstrip("/")
