"""What an adapter needs of the store that it is handed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TypeVar

from hexad.core.actor import AS_OWNER
from hexad.core.arguments import quoted, value_list
from hexad.database.store_context import StoreContext
from hexad.engine import Hexad
from hexad.errors import AccessDenied, InvalidInput

_T = TypeVar("_T")


def require_open_store(store: object, *, by: str) -> Hexad:
    """Return `store`, which is an open one; raises `InvalidInput` for anything else, `hexad.connect` and a closed store
    among it.
    """  # fmt: skip
    if not isinstance(store, Hexad):
        raise InvalidInput(
            f"store = {quoted(store)} must be an open store, as `hexad.open` returns it: {by} writes to its database.",
            argument="store",
        )
    store._services.db.require_open()
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


def values_of(kind: type[_T], values: Iterable[_T], *, name: str, such_as: str) -> tuple[_T, ...]:
    """Return a framework's values; raises `InvalidInput` for what is no list of them, naming the first that is none."""
    listed = value_list(values, name, of=name)
    for value in listed:
        if not isinstance(value, kind):
            raise InvalidInput(f"{name} has {quoted(value)}; give {name} of {such_as}.", argument=name)
    return listed


async def in_thread(call: Callable[[], _T]) -> _T:
    """Return what a call in a thread gives; who is cancelled waits until what was begun is stored."""
    task = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
