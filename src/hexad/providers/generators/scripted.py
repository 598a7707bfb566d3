"""A text generator that says what it was told to say."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence

from hexad.core.json_types import JSONValue
from hexad.errors import HexadError
from hexad.providers.generators.base import Prompt, Reply, instructions
from hexad.providers.spending import Spend
from hexad.text.tokens import estimate_tokens

Answer = str | Mapping[str, JSONValue] | HexadError


class ScriptedGenerator:
    """Answers from a list, one after the other, or by a function; `prompts` holds what it was asked.

    An answer is a text, an object (said as JSON), or an error (raised). Asking more often than a list has answers
    raises `AssertionError`. It uses tokens as it would by the estimate of four characters each. Safe to share
    between threads.

    >>> script = ScriptedGenerator(["first", {"path": "docs/a"}])
    >>> [script.generate(Prompt(system="", text="?")).text for _ in range(2)]
    ['first', '{"path": "docs/a"}']
    >>> [prompt.text for prompt in script.prompts]
    ['?', '?']
    """

    def __init__(
        self,
        answers: Sequence[Answer] | Callable[[Prompt], Answer],
        *,
        provider: str = "scripted",
        model: str = "script",
    ) -> None:
        self.prompts: list[Prompt] = []
        self._function = answers if callable(answers) else None
        self._left = [] if callable(answers) else list(answers)
        self._provider, self._model = provider, model
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """`provider:model`."""
        return f"{self._provider}:{self._model}"

    def provider_of(self, model: str | None) -> tuple[str, str]:
        """Return the script's provider and the model as it was given."""
        return self._provider, model or self._model

    def generate(self, prompt: Prompt) -> Reply:
        """Return the next answer, or raise it."""
        with self._lock:
            self.prompts.append(prompt)
            if self._function is None and not self._left:
                raise AssertionError(
                    f"{self.name} was asked {len(self.prompts)} times; its script is shorter."
                )
            answer = self._left.pop(0) if self._function is None else None
        if self._function is not None:
            answer = self._function(prompt)
        if isinstance(answer, HexadError):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        used = estimate_tokens(instructions(prompt) + prompt.text)
        spend = Spend(input_tokens=used, output_tokens=estimate_tokens(text))
        return Reply(text=text, model=":".join(self.provider_of(prompt.model)), spend=spend)
