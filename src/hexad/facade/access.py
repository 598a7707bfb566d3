"""Who may do what shows or changes a whole space."""

from __future__ import annotations

from hexad.errors import AccessDenied
from hexad.model.actor import Actor
from hexad.model.policy import Policies


def require_whole(actor: Actor, policies: Policies, *, space: str, doing: str) -> None:
    """Raise `AccessDenied` for an actor from whom the policies may hide something of the space."""
    if policies.hides and not actor.is_owner:
        raise AccessDenied(
            f"Space {space!r} hides memories by role, and {actor.describe()} is not its owner: {doing} is about all "
            "of it. Open the store without an actor, or with the role 'owner'."
        )
