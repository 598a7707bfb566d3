"""How a setting becomes a text generator, and which model a call goes to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Final, cast

from hexad.core.arguments import quoted
from hexad.errors import HexadError, InvalidInput, ProviderError
from hexad.providers.generators.base import Generator, GeneratorSpec, Prompt, Reply, instructions
from hexad.providers.generators.endpoints import FORMS, GeneratorAccess, moved, parse_endpoint
from hexad.providers.generators.hosted import HostedGenerator
from hexad.providers.spending import Spend
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
    required_count = sum(
        parameter.kind in positional and parameter.default is parameter.empty
        for parameter in signature.parameters.values()
    )
    texts = 2 if required_count == 2 else 1
    try:
        signature.bind(*(["text"] * texts))
    except TypeError as error:
        raise InvalidInput(
            f"{quoted(function)} cannot be a generator: it takes neither a prompt nor a system text and a prompt."
        ) from error
    return texts


_PROTOCOL: Final = ("name", "provider_of", "generate")
_NONE: Final = "none"


def resolve_generator(spec: GeneratorSpec, *, access: GeneratorAccess | None = None) -> Generator | None:
    """Return the generator that `spec` names; None for None and "none". Nothing is loaded or sent yet.

    Raises `InvalidInput` for what is no generator.
    """
    if spec is None or spec == _NONE:
        return None
    if isinstance(spec, str):
        endpoint = parse_endpoint(spec)
        if endpoint is None:
            raise InvalidInput(f"Unknown generator {spec[:80]!r}; give {FORMS}, or 'none'.")
        return HostedGenerator(endpoint, access or GeneratorAccess())
    if not isinstance(spec, type):
        # Asked of the type: on an instance, a name may be a property that does something.
        names = {
            name for name in _PROTOCOL if hasattr(type(spec), name) or name in getattr(spec, "__dict__", ())
        }
        if names.issuperset(_PROTOCOL):
            return cast("Generator", spec)
        if callable(spec):
            return FunctionGenerator(spec)
    raise InvalidInput(
        f"{quoted(spec)} is no generator; give {FORMS}, a function from a prompt to a text, or an object with "
        f"{', '.join(_PROTOCOL)}."
    )


def first_model(generator: str | None, models: Sequence[str | None]) -> tuple[str | None, str | None]:
    """Return the generator that settings name, and the model that its calls ask for unless they name one.

    The first of `models` that is set wins over the generator's own; it may itself name the provider, which is
    then the generator where none is set. Raises `InvalidInput` for a bare model of no provider.
    """
    model = next((model for model in models if model and model.strip()), None)
    if model is None or generator == _NONE:
        return generator, None
    named = parse_endpoint(model)
    if generator is None or (named is not None and named.own):
        if named is None:
            raise InvalidInput(
                f"The model {model[:80]!r} of the settings (memory_semantic_model, llm_model, or a variable for them) "
                "is of no provider; write it as provider:MODEL, or set `generator`."
            )
        return model, None
    home = parse_endpoint(generator)
    if home is not None:
        moved(home, model)  # says now what cannot be asked for
    return generator, model
