"""What `use_context` returns: a value to read, a block to enter, or a decorator for the step itself."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, wraps
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar, cast

from hexad.errors import InvalidInput
from hexad.spaces.bundles.bundle import Bundle, ProjectContext

Given = ParamSpec("Given")
Result = TypeVar("Result")
Topic = str | Callable[..., str]
Recall = Callable[[str], ProjectContext]

CONTEXT: Final = "context"
PROMPT: Final = "prompt"
MESSAGES: Final = "messages"
_NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_GIVEN: Final = (inspect.Parameter.POSITIONAL_ONLY, *_NAMED)


class ContextHook:
    """A project's context for a topic. Nothing is recalled before it is asked for.

    Read as a value (`text`, `bundle`, `messages()`, …) it recalls once and keeps that answer. `with` recalls at
    each entry, a decorated function at each call.
    """

    def __init__(self, recall: Recall, topic: Topic) -> None:
        self._recall = recall
        self._topic = topic

    def recall(self) -> ProjectContext:
        """Return the context as it is now. Raises what `use_context` names, and `InvalidInput` for a topic that
        is a function: only a decorated function has the arguments for it.
        """
        if not isinstance(self._topic, str):
            raise InvalidInput(
                f"The topic is the function {_name(self._topic)}, which only a decorated function has the arguments "
                "for; give a text."
            )
        return self._recall(self._topic)

    # As a value -------------------------------------------------------------------------------------------------

    @cached_property
    def context(self) -> ProjectContext:
        """The context as it was when it was first asked for."""
        return self.recall()

    @property
    def bundle(self) -> Bundle:
        """The bundle behind the text."""
        return self.context.bundle

    @property
    def spaces(self) -> tuple[str, ...]:
        """The spaces that the bundle is from."""
        return self.context.spaces

    @property
    def text(self) -> str:
        """The text to place before a step; empty when nothing was found."""
        return self.context.text

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, replaced, or late."""
        return self.context.notes

    def prepend(self, prompt: str) -> str:
        """Return the text and then `prompt`."""
        return self.context.prepend(prompt)

    def messages(self, *, role: str = "user") -> list[dict[str, str]]:
        """Return the text as a list of one chat message; empty without a text."""
        return self.context.messages(role=role)

    # As a block -------------------------------------------------------------------------------------------------

    def __enter__(self) -> ProjectContext:
        return self.recall()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    # As a decorator ---------------------------------------------------------------------------------------------

    def __call__(self, function: Callable[Given, Result]) -> Callable[Given, Result]:
        """Return `function` with the context handed over at each call.

        As keyword `context` where the function has that parameter; else before the text of its parameter `prompt`,
        else before the list of its parameter `messages`. A `context` that the caller gives is left alone. Works
        for functions, coroutine functions and methods. Raises `InvalidInput` for a function with none of the three,
        and for a topic that is a function of other arguments.
        """
        if isinstance(function, classmethod | staticmethod):
            # The decorator above the other one: it is what stands inside that is decorated.
            return cast("Callable[Given, Result]", type(function)(self(function.__func__)))
        signature = _signature(function)
        target = _target(signature, _name(function))
        topic_of = self._topic_of(signature, _name(function))

        def prepare(args: tuple[object, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
            bound = signature.bind_partial(*args, **kwargs)
            if not (target == CONTEXT and CONTEXT in bound.arguments):
                _hand_over(bound, target, self._recall(topic_of(bound)))
            return bound

        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
            # Only a program that has an event loop has imported it already.
            import asyncio

            step = cast("Callable[..., Awaitable[object]]", function)

            @wraps(function)
            async def awaited(*args: Given.args, **kwargs: Given.kwargs) -> object:
                bound = await asyncio.to_thread(prepare, args, dict(kwargs))
                return await step(*bound.args, **bound.kwargs)

            return cast("Callable[Given, Result]", awaited)

        @wraps(function)
        def called(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            bound = prepare(args, dict(kwargs))
            return function(*bound.args, **bound.kwargs)

        return called

    def _topic_of(self, signature: inspect.Signature, name: str) -> Callable[[inspect.BoundArguments], str]:
        topic = self._topic
        if isinstance(topic, str):
            return lambda _bound: topic
        wanted_parameters = _signature(topic).parameters.values()
        nameless = [
            parameter.name
            for parameter in wanted_parameters
            if parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is parameter.empty
        ]
        if nameless:
            raise InvalidInput(
                f"The topic's function takes {nameless[0]!r} by position; arguments are handed to it by name."
            )
        takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in wanted_parameters)
        names = [parameter.name for parameter in wanted_parameters if parameter.kind in _NAMED]
        known_parameter_names = [
            parameter.name
            for parameter in signature.parameters.values()
            if parameter.kind in _GIVEN and parameter.name != CONTEXT
        ]
        required = [
            parameter.name
            for parameter in wanted_parameters
            if parameter.kind in _NAMED and parameter.default is parameter.empty
        ]
        strange = [parameter for parameter in required if parameter not in known_parameter_names]
        if strange:
            raise InvalidInput(
                f"The topic's function asks for {strange[0]!r}, which {name} does not take; "
                f"it has {', '.join(known_parameter_names)}."
            )

        def context_of(bound: inspect.BoundArguments) -> str:
            full = inspect.BoundArguments(signature, bound.arguments.copy())
            full.apply_defaults()
            arguments = {
                parameter: full.arguments[parameter]
                for parameter in (known_parameter_names if takes_any else names)
                if parameter in full.arguments
            }
            missing = [parameter for parameter in required if parameter not in arguments]
            if missing:
                raise InvalidInput(f"{name} was called without {missing[0]!r}, which its topic is made from.")
            return topic(**arguments)

        return context_of


def _signature(function: Callable[..., object]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{function!r} cannot be asked for its parameters ({error}); wrap it in a function."
        ) from error


def _name(function: object) -> str:
    return repr(getattr(function, "__qualname__", function))


def _target(signature: inspect.Signature, name: str) -> str:
    parameters: Mapping[str, inspect.Parameter] = signature.parameters
    for target in (CONTEXT, PROMPT, MESSAGES):
        if target in parameters and parameters[target].kind in _NAMED:
            return target
    raise InvalidInput(
        f"{name} takes neither 'context' nor 'prompt' nor 'messages', so that no context can be handed to it; "
        "give it a parameter `context`."
    )


def _hand_over(bound: inspect.BoundArguments, target: str, context: ProjectContext) -> None:
    if target == CONTEXT:
        bound.arguments[CONTEXT] = context
        return
    text = bound.arguments.get(target)
    if target == PROMPT and isinstance(text, str):
        bound.arguments[PROMPT] = context.prepend(text)
    elif target == MESSAGES and isinstance(text, list | tuple):
        bound.arguments[MESSAGES] = [*context.messages(), *text]
    else:
        expected = "a text" if target == PROMPT else "a list of messages"
        raise InvalidInput(
            f"The argument {target!r} is {text!r}; the context can only be put before {expected}."
        )
