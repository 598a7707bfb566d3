"""A caller's own function as a text generator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Final

from hexad.errors import HexadError, InvalidInput, ProviderError
from hexad.providers.budgets.spending import Spend
from hexad.providers.generators.base import Prompt, Reply, instructions
from hexad.text.tokens import estimate_tokens

PROVIDER: Final = "function"


class FunctionGenerator:
    """Wraps `prompt -> str`, or `(system, prompt) -> str`. It may be called from several threads at once.

    A schema is spelt out in the system text; a function of one parameter gets both texts as one. What it
    used is estimated. Raises `InvalidInput` for a function that takes neither one text nor two.
    """

    def __init__(self, function: Callable[..., str]) -> None:
        self._function = function
        named = function if hasattr(function, "__qualname__") else type(function)
        self._model = f"{named.__module__}.{named.__qualname__}"
        self._parameters = _texts_taken(function)

    @property
    def name(self) -> str:
        """`function:module.name`."""
        return f"{PROVIDER}:{self._model}"

    def provider_of(self, model: str | None) -> tuple[str, str]:
        """Return `("function", name)`: a function has one model, whatever is asked for."""
        del model
        return PROVIDER, self._model

    def generate(self, prompt: Prompt) -> Reply:
        """Return what the function says; raises `ProviderError` when it raises, or returns no text."""
        system = instructions(prompt)
        texts = (
            (system, prompt.text)
            if self._parameters == 2
            else ("\n\n".join(filter(None, (system, prompt.text))),)
        )
        try:
            answer: object = self._function(*texts)
        except (HexadError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        # The one broad handler here: foreign code may raise anything, and whoever waits for a text must be able
        # to tell a failed generator from a defect of ours. Its words may hold the prompt: they go no further.
        except BaseException as error:  # what asyncio raises where it cancels is no Exception
            raise ProviderError(
                f"Generator {self.name!r} raised {type(error).__name__}; mend the function, or set another generator."
            ) from error
        if not isinstance(answer, str):
            raise ProviderError(f"Generator {self.name!r} returned {type(answer).__name__}, not a text.")
        spend = Spend(
            input_tokens=estimate_tokens("".join(texts)), output_tokens=estimate_tokens(answer), usd=None
        )
        return Reply(text=answer, model=self.name, spend=spend)


def _texts_taken(function: Callable[..., str]) -> int:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return 1  # a builtin that does not say
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    # `prompt, model="x"` takes two as well, but its second is no prompt: only what has no default counts.
    wanted = sum(
        parameter.kind in positional and parameter.default is parameter.empty
        for parameter in signature.parameters.values()
    )
    texts = 2 if wanted == 2 else 1
    try:
        signature.bind(*(["text"] * texts))
    except TypeError as error:
        raise InvalidInput(
            f"{function!r} cannot be a generator: it takes neither a prompt nor a system text and a prompt."
        ) from error
    return texts
