"""What a text generator is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from hexad.core.json_types import JSONValue
from hexad.providers.spending import Spend


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
        """Return `(provider, model)` that a prompt with this `model` would be sent to.

        Raises `InvalidInput` for a model that cannot be asked for.
        """

    def generate(self, prompt: Prompt) -> Reply:
        """Return the answer to a prompt.

        Raises `ProviderError` when there is none to be had; its `charged` is False when the provider cannot have
        charged for the attempt.
        """


GeneratorSpec = str | Generator | Callable[[str], str] | Callable[[str, str], str] | None


def instructions(prompt: Prompt) -> str:
    """Return the prompt's system text, with its schema spelt out for a model that nothing else holds to it.

    It stands with the instructions and not beside the text, which may be anybody's.
    """
    if prompt.schema is None:
        return prompt.system
    schema = json.dumps(prompt.schema, ensure_ascii=False, sort_keys=True)
    text = (
        "Answer with one JSON object that meets this JSON schema. Write nothing before or after it, and no "
        f"Markdown around it.\n{schema}"
    )
    return f"{prompt.system}\n\n{text}" if prompt.system else text
