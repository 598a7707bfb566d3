"""How a setting becomes a text generator, and which model a call goes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from hexad.errors import InvalidInput
from hexad.providers.generators.base import Generator, GeneratorSpec
from hexad.providers.generators.endpoints import FORMS, GeneratorAccess, moved, parse_endpoint
from hexad.providers.generators.function import FunctionGenerator
from hexad.providers.generators.hosted import HostedGenerator

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
        f"{spec!r} is no generator; give {FORMS}, a function from a prompt to a text, or an object with "
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
