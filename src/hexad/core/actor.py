"""Who acts on a store: a person, an agent, and the role that decides what it may see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hexad.core.arguments import NAME_CHARS_LIMIT, can_name, quoted
from hexad.errors import InvalidInput

OWNER: Final = "owner"
"""The role that sees everything; so does who opens a store without saying who it is."""
AS_OWNER: Final = "Open the store without {actor=}, or with the role 'owner'."
"""The remedy where only the store's owner may do something."""
_ROLE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_FIELDS: Final = ("user", "agent", "role")


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who opened the store. Whoever has the files can read them: roles divide agents, they are no encryption.

    Without any field it is the store's owner. `role` is compared with the roles that a space's policy admits.
    """

    user: str | None = None
    agent: str | None = None
    role: str | None = None

    @property
    def is_owner(self) -> bool:
        """Whether nothing is hidden from this actor."""
        return self.role == OWNER or (self.user, self.agent, self.role) == (None, None, None)

    @property
    def roles(self) -> tuple[str, ...] | None:
        """The roles to hold against an audience; None for the owner, who needs none."""
        if self.is_owner:
            return None
        return (self.role,) if self.role is not None else ()

    def describe(self) -> str:
        """Return the actor in a few words, for logs: `user alice, role lead`."""
        words = [f"{name} {value}" for name in _FIELDS if (value := getattr(self, name)) is not None]
        return ", ".join(words) or OWNER


def parse_actor(given: str | Mapping[str, str] | Actor | None) -> Actor:
    """Return the actor that a caller named; a text is a user's name. Raises `InvalidInput`."""
    if given is None:
        return Actor()
    if isinstance(given, str):
        given = {"user": given}
    if isinstance(given, Actor):
        given = {name: value for name in _FIELDS if (value := getattr(given, name)) is not None}
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"actor = {quoted(given)} cannot be used; give a user's name, or a mapping of user, agent and role.",
            argument="actor",
        )
    unknown = sorted(set(given) - set(_FIELDS), key=str)
    if unknown:
        raise InvalidInput(f"Unknown field {unknown[0]!r} of an actor; known are user, agent and role.")
    for name, value in given.items():
        if not isinstance(value, str) or not value.isprintable() or not can_name(value):
            raise InvalidInput(
                f"The actor's {name} {quoted(value)} cannot be used; give one of up to {NAME_CHARS_LIMIT:,} characters."
            )
    actor = Actor(**given)
    if actor.role is not None:
        check_role(actor.role)
    return actor


def check_role(role: object) -> str:
    """Return a role's name; raises `InvalidInput` for what is none."""
    if not isinstance(role, str) or _ROLE.fullmatch(role) is None:
        raise InvalidInput(
            f"Role {role!r} cannot be used; give 1 to 64 of a-z, 0-9, '_', '.' and '-', such as 'reviewer'."
        )
    return role
