"""Who may do what shows or changes a whole space."""

from __future__ import annotations

from hexad.core.actor import AS_OWNER, Actor
from hexad.errors import AccessDenied
from hexad.memory.policy import Policies, parse_stored
from hexad.memory.store import Stores


def require_whole(actor: Actor, policies: Policies, *, space: str, doing: str) -> None:
    """Raise `AccessDenied` for an actor from whom the policies may hide something of the space."""
    if policies.hides and not actor.is_owner:
        raise AccessDenied(
            f"Space {space!r} hides memories by role, and {actor.describe()} is not its owner: {doing} is about all "
            "of it.",
            remedy=AS_OWNER,
        )


def require_owner(actor: Actor, everything: Stores, *, doing: str) -> None:
    """Raise `AccessDenied` for an actor from whom any space of the store hides something.

    `everything` are the store's own families, which hide nothing.
    """
    if not actor.is_owner and any(parse_stored(space.policies).hides for space in everything.spaces.list()):
        raise AccessDenied(
            f"A space of this store hides memories by role, and {actor.describe()} is not its owner: {doing} is "
            "about all of the store.",
            remedy=AS_OWNER,
        )


def require_owner_for_good(actor: Actor, *, doing: str) -> None:
    """Raise `AccessDenied` for anybody but the store's owner: `doing` is for good, and about no space."""
    if not actor.is_owner:
        raise AccessDenied(
            f"{doing[0].upper()}{doing[1:]} is for good and for the store's owner alone, and {actor.describe()} is "
            "not: it belongs to no space. `deactivate` keeps walks out of a node."
        )
