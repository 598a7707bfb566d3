"""What a token's login is offered: what its role may see, and within the spaces that the token is for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, unquote

import hexad
from hexad.client.verbs import VERBS, Reach
from hexad.core.arguments import quoted
from hexad.interfaces.http_server.logins import within
from hexad.interfaces.http_server.tokens import Login
from hexad.interfaces.mcp.prompts import PromptSchema
from hexad.interfaces.mcp.resources import MEMORY_URI, SPACE_URI, ListedResource
from hexad.interfaces.mcp.schemas import ToolSchema
from hexad.interfaces.mcp.server import Offer

_VERBS: Final[Mapping[str, str]] = {"decide": "governance.decide", "why": "governance.why"}
"""The calls that tools make, where they are called otherwise."""


class LoginOffer:
    """An offer as one login has it. A role is held by the store itself; here spaces are."""

    def __init__(self, offer: Offer, login: Login) -> None:
        self._offer, self._login = offer, login

    @property
    def instructions(self) -> str:
        """What a model is told of the server."""
        return self._offer.instructions

    @property
    def tools(self) -> Sequence[ToolSchema]:
        """The tools; for a token for some spaces those that are about one space, or about what is in it."""
        return [
            tool
            for tool in self._offer.tools
            if self._login.spaces is None or self._is_about_spaces(tool.name)
        ]

    @property
    def templates(self) -> Sequence[ListedResource]:
        """The templates of resources."""
        return self._offer.templates

    @property
    def prompts(self) -> Sequence[PromptSchema]:
        """The prompts, which are about all spaces: a token for some has none."""
        return self._offer.prompts if self._login.spaces is None else ()

    def call(self, name: str, arguments: dict[str, Any], progress: Callable[[int], None]) -> dict[str, Any]:
        """Do what a tool does; raises `AccessDenied` for what leads beyond the token's spaces."""
        if self._login.spaces is None:
            return self._offer.call(name, arguments, progress)
        if not self._is_about_spaces(name):
            raise self._denied(name)
        verb = VERBS[_VERBS.get(name, name)]
        allowed = within(self._login, verb, arguments, self._space_of)
        if name != "expand":
            return self._offer.call(name, allowed, progress)
        with suppress(hexad.NotFound, hexad.Conflict):
            answer = self._offer.call(name, allowed, progress)
            if answer.get("space") in self._login.spaces:
                return answer
        named = quoted(arguments.get("id"))
        raise hexad.NotFound(
            f"There is nothing with the id {named} in the spaces of this token; recall finds what is there."
        )

    def resources(self) -> list[ListedResource]:
        """Return the resources of the token's spaces."""
        listed = self._offer.resources()
        return listed if self._login.spaces is None else [each for each in listed if self._reaches(each.uri)]

    def read(self, uri: str) -> str:
        """Return a resource; raises `NotFound` for one of another space."""
        spaces = self._login.spaces
        if spaces is None or self._reaches(uri):
            return self._offer.read(uri)
        if uri.startswith(MEMORY_URI):
            with suppress(hexad.NotFound, hexad.Conflict):
                text = self._offer.read(uri)
                if json.loads(text).get("space") in spaces:
                    return text
        raise hexad.NotFound(
            "There is no such resource in the spaces of this token; the list of resources names them."
        )

    def complete(self, uri: str, argument: str, value: str) -> list[str]:
        """Return what an argument of a template may be, of the token's spaces."""
        names, spaces = self._offer.complete(uri, argument, value), self._login.spaces
        return names if spaces is None else [name for name in names if name in spaces]

    def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """Return a prompt's text. Raises `InvalidInput` where the token is for some spaces: it has none."""
        if self._login.spaces is not None:
            raise hexad.InvalidInput(str(self._denied(name)))
        return self._offer.prompt(name, arguments)

    @staticmethod
    def _is_about_spaces(tool: str) -> bool:
        verb = VERBS.get(_VERBS.get(tool, tool))
        return verb is not None and verb.reach is not Reach.WHOLE

    def _space_of(self, memory_id: str) -> str | None:
        try:
            memory = json.loads(self._offer.read(MEMORY_URI + quote(memory_id, safe="")))
        except hexad.HexadError:  # nothing, something hidden, or a short id of several
            return None
        return str(memory["space"]) if memory["id"] == memory_id else None

    def _reaches(self, uri: str) -> bool:
        return uri.startswith(SPACE_URI) and unquote(uri.removeprefix(SPACE_URI)) in (
            self._login.spaces or ()
        )

    def _denied(self, name: str) -> hexad.AccessDenied:
        spaces = ", ".join(map(repr, self._login.spaces or ()))
        return hexad.AccessDenied(
            f"This token is for the spaces {spaces} alone, and {name} is not about one space;",
            remedy="use a token without --space.",
        )
