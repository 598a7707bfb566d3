"""What an adapter needs of the store that it is handed."""

from __future__ import annotations

from hexad.core.actor import AS_OWNER
from hexad.core.arguments import quoted
from hexad.database.store_context import StoreContext
from hexad.engine import Hexad
from hexad.errors import AccessDenied, InvalidInput


def require_open_store(store: object, *, by: str) -> Hexad:
    """Return `store`, which is an open one; raises `InvalidInput` for anything else, `hexad.connect` among it."""
    if not isinstance(store, Hexad):
        raise InvalidInput(
            f"store = {quoted(store)} must be an open store, as `hexad.open` returns it: {by} writes to its database.",
            argument="store",
        )
    return store


def owned_context(store: object, *, by: str) -> StoreContext:
    """Return what a store's systems are handed, for bytes that belong to no space.

    Raises `AccessDenied` for an actor with a role: no policy says who may see them.
    """
    context = require_open_store(store, by=by)._services.context
    if not context.actor.is_owner:
        raise AccessDenied(
            f"What {by} keeps is in no space, where roles are, and {context.actor.describe()} is not the store's "
            "owner.",
            remedy=AS_OWNER,
        )
    return context
