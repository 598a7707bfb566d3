"""What a text generator is, and how a setting becomes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from hexad.errors import InvalidInput
from hexad.model.contract import Spend
from hexad.model.memory import JSONValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request to a text generator.

    `schema` is the JSON schema that the answer has to meet; a generator that can hold a model to it does, every
    other one is told in the text. None asks for plain text. `model` None means the generator's own.
    """

    system: str
    text: str
    schema: Mapping[str, JSONValue] | None = None
    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a generator answered, which model it was (`provider:model`), and what it cost."""

    text: str
    model: str
    spend: Spend


class Generator(Protocol):
    """Writes text. Safe to share between threads."""

    @property
    def name(self) -> str:
        """`provider:model`, or what a function is called."""

    def provider_of(self, model: str | None) -> tuple[str, str]:
        """Return `(provider, model)` that a prompt with this `model` would be sent to."""

    def generate(self, prompt: Prompt) -> Reply:
        """Return the answer to a prompt. Raises `ProviderError` when there is none to be had."""


GeneratorSpec = str | Generator | Callable[[str], str] | None


def resolve_generator(spec: GeneratorSpec) -> Generator | None:
    """Return the generator that `spec` names; None for None. Nothing is loaded and nothing is sent yet.

    Raises `InvalidInput` for what is no generator.
    """
    if spec is None:
        return None
    if isinstance(spec, str):
        raise InvalidInput(f"Unknown generator {spec!r}.")
    if callable(spec):
        raise InvalidInput(f"Unknown generator {spec!r}.")
    return spec
