"""What a login that is limited to some spaces may ask: its calls name one of them, or are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from hexad.client.verbs import Reach, Verb, parameters_of
from hexad.core.arguments import quoted
from hexad.errors import AccessDenied, Conflict, NotFound
from hexad.ingest.structured_calls import parse_object
from hexad.interfaces.http_server.tokens import Login
from hexad.layers.contract import MemoryItem
from hexad.layers.router.query_language import parse_query_text

_SEVERAL: Final = frozenset({"recall", "context"})
"""Calls that take several spaces at once."""
_LAYERS: Final = ("project", "governance", "vector")
"""The layers whose items are of a space."""
_BEYOND: Final[Mapping[str, tuple[str, ...]]] = {
    "recall": ("follow_links",),
    "recall_context": ("follow_links", "options"),
    "recall_kind": ("follow_links", "options"),
    "remember": ("derived_from",),
    "remember_structured": ("options",),
    "remember_raw": ("options",),
    "forget": ("session", "subject", "before", "purge"),
    "governance.decide": ("supersedes", "depends_on"),
    "project.remember_decision": ("supersedes",),
}
"""Arguments that lead out of a space."""
_BEYOND_PAYLOAD: Final = ("supersedes",)
"""Fields of a record that do."""
SpaceOf = Callable[[str], str | None]
"""Returns the space of the memory that has an id; None where there is none."""


def within(login: Login, verb: Verb, values: Mapping[str, Any], space_of: SpaceOf) -> dict[str, Any]:
    """Return the arguments of a call as a login may make it; raises `AccessDenied`, and `NotFound` for an id that is
    not that of a memory in the login's spaces: whether it is another one's is not said.
    """
    arguments = dict(values)
    if login.spaces is None:
        return arguments
    if verb.reach is Reach.WHOLE:
        raise AccessDenied(
            f"This token is for {_named(login)} alone, and {verb.name} is not about one space;",
            remedy="use a token without --space.",
        )
    for name in _BEYOND.get(verb.name, ()):
        if arguments.get(name):
            raise AccessDenied(
                f"{name} leads beyond {_named(login)}, which this token is for.", argument=name
            )
    _require_own_id(login, verb, arguments, space_of)
    if verb.reach is Reach.SPACE:
        _limit_space(login, verb, arguments)
    elif verb.reach is Reach.NAME:
        _require(login, arguments.get("name"), "name")
    if verb.name in _SEVERAL:
        layers = arguments.get("layers")
        _require_layers(login, layers or ())
        arguments["layers"] = layers if layers is not None else list(_LAYERS)
    if verb.name == "context":
        typed = parse_query_text(str(arguments.get("task")))
        _require_layers(login, typed.layers)
        if typed.space is not None:
            _require(login, typed.space, "space")
        arguments["plain"] = False  # a sentence may name a space too, in words that nobody has to quote
    return arguments


def _require_own_id(login: Login, verb: Verb, arguments: Mapping[str, Any], space_of: SpaceOf) -> None:
    """Refuse to write under an id that is not that of a memory in the login's spaces.

    A new id could be taken in another space, and to accept one and to refuse the other would tell which are.
    """
    wanted_id = arguments.get("id") if verb.name in ("remember", "remember_raw") else None
    if verb.name == "remember_structured":
        payload = parse_object(arguments.get("payload", {}), "memory payload")
        wanted_id = payload.get("id")
        for name in _BEYOND_PAYLOAD:
            if payload.get(name):
                raise AccessDenied(
                    f"{name} leads beyond {_named(login)}, which this token is for.", argument="payload"
                )
    if isinstance(wanted_id, str) and space_of(wanted_id) not in (login.spaces or ()):
        raise NotFound(
            f"There is no memory with the id {quoted(wanted_id)} in {_named(login)}, which this token is for;",
            argument="id",
            remedy="leave {id} out: the store gives a new memory its own.",
        )


def _require_layers(login: Login, layers: Iterable[str]) -> None:
    beyond = [layer for layer in layers if layer not in _LAYERS]
    if beyond:
        raise AccessDenied(
            f"The layer {beyond[0]!r} is of no space; this token is for {_named(login)} alone."
        )


def _limit_space(login: Login, verb: Verb, arguments: dict[str, Any]) -> None:
    space = arguments.get("space")
    if space is None:
        if verb.name in _SEVERAL:
            arguments["space"] = list(login.spaces or ())
        elif login.spaces is not None and len(login.spaces) == 1:
            arguments["space"] = login.spaces[0]
        else:
            raise AccessDenied(f"space is missing: this token is for {_named(login)}.", argument="space")
        return
    for name in space if isinstance(space, list) else [space]:
        _require(login, name, "space")


def _require(login: Login, name: object, argument: str) -> None:
    if name not in (login.spaces or ()):
        raise AccessDenied(
            f"{argument} = {quoted(name)} is not for this token, which is for {_named(login)}.",
            argument=argument,
        )


def visible(login: Login, verb: Verb, ask: Callable[[], Any]) -> Any:
    """Return an answer that a login may see; raises `NotFound` alike for what is of another space and for nothing."""
    if login.spaces is None or verb.reach is not Reach.ITEM:
        return ask()
    with suppress(NotFound, Conflict):  # a short id that several have names them, in whichever space
        answer = ask()
        if isinstance(answer, MemoryItem) and answer.space in login.spaces:
            return answer
    raise NotFound(
        "There is nothing with that id in the spaces of this token;",
        remedy="`POST /v1/recall` finds what is there.",
    )


def _named(login: Login) -> str:
    spaces = login.spaces or ()
    return f"the space{'s' if len(spaces) > 1 else ''} {', '.join(map(repr, spaces))}"


def takes_space(verb: Verb) -> bool:
    """Whether a call has a parameter `space`."""
    return any(parameter.name == "space" for parameter in parameters_of(verb))
