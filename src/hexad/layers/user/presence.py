"""Where the user layer is, and whether anything is known of a person: asked before any of the layer is loaded."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from hexad.config import PREFERENCES_FILE
from hexad.database.meta import Meta
from hexad.database.store_context import StoreContext

DATABASE: Final = "user.db"
DEFAULT_USER: Final = "default"


def default_user_dir() -> Path:
    """Return where the user layer is unless somebody says otherwise: with this user's data, in no project."""
    import platformdirs

    return Path(platformdirs.user_data_dir("hexad", appauthor=False))


def is_there(folder: Path) -> bool:
    """Whether there is a user layer in a folder."""
    return (folder / DATABASE).exists()


def place_of(folder: Path, user_id: str) -> str:
    """Return the layer's folder and user, as a project's notes name them."""
    named = f"{folder.absolute()}\0{user_id}".encode("utf-8", "surrogateescape")
    return hashlib.blake2b(named, digest_size=16).hexdigest()


def is_anything_known(context: StoreContext, folder: Path | None) -> bool:
    """Whether the layer in a folder (None: the default) has something to say to whoever opened a store.

    False is sure; of a layer that is lost, it has that to say.
    """
    if not context.may_see_user:
        return False
    folder = folder or default_user_dir()
    return (
        is_there(folder)
        or (folder / PREFERENCES_FILE).exists()
        or Meta(context.db).user_layer(place_of(folder, context.actor.user or DEFAULT_USER)) is not None
    )
