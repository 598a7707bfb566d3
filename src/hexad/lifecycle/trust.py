"""Which settings of a project's file this user has trusted: where texts may go, and which key opens the store.

Whoever clones a repository has not written its `.hexad/hexad.toml`. What of it sends texts away or chooses a key counts
once its user has seen it; that is noted in the user's own data folder, by the store's path and the values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hexad.config import (
    CONFIG_FILE,
    STORE_DIRECTORY,
    purpose_of,
    read_trust,
    settings_needing_trust,
    trust_directory,
    trust_file,
)
from hexad.core.arguments import parse_path, quoted
from hexad.database.files import atomic_write, ensure_dir, unlink
from hexad.errors import InvalidInput, NotFound
from hexad.lifecycle.opening import directory_of

_ENDING: Final = "*.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedSettings:
    """Settings of one store's file, by name; `purposes` says what each does, and where what it sends goes."""

    store: Path
    settings: dict[str, str]

    @property
    def file(self) -> Path:
        """The file that has them."""
        return self.store / CONFIG_FILE

    @property
    def purposes(self) -> dict[str, str]:
        """What each of them does."""
        return {name: purpose_of(name, value) for name, value in self.settings.items()}

    def to_dict(self) -> dict[str, object]:
        """Return this as values of JSON."""
        return {"store": str(self.store), "settings": dict(self.settings), "purposes": self.purposes}


def untrusted_settings(path: str | Path | None = None) -> TrustedSettings:
    """Return the settings in a project's file that need this user's trust and do not have it.

    Raises `NotFound` where there is no store, `InvalidInput` for a file that cannot be used.
    """
    store = directory_of(path)
    return TrustedSettings(store=store, settings=settings_needing_trust(store)[1])


def trust_settings(
    path: str | Path | None = None, *, settings: TrustedSettings | None = None
) -> TrustedSettings:
    """Trust what a project's file says of where texts go and which key opens it, as it is now; returns what that is.

    A value that is changed afterwards needs trust again. `settings`, of `untrusted_settings`, trusts these values
    alone, as a person has seen them: what the file says since is not among them. Raises as `untrusted_settings` does.
    """
    if settings is not None and not isinstance(settings, TrustedSettings):
        raise InvalidInput(
            f"settings = {quoted(settings)} is not what `hexad.untrusted_settings` returns; give that.",
            argument="settings",
        )
    store = directory_of(path) if settings is None else settings.store
    needing, lacking = settings_needing_trust(store)
    seen = lacking if settings is None else settings.settings
    trusted = {name: value for name, value in needing.items() if name not in lacking} | seen
    file = trust_file(store)
    if trusted:
        ensure_dir(file.parent)
        note = {"store": str(store.resolve()), "settings": trusted}
        atomic_write(file, json.dumps(note, ensure_ascii=False, indent=1).encode("utf-8"))
    return TrustedSettings(store=store, settings=seen)


def trusted_settings() -> list[TrustedSettings]:
    """Return what this user has trusted, of all projects, by path; raises `StorageFailure` for a damaged note."""
    notes = [read_trust(file) for file in trust_directory().glob(_ENDING)]
    return [TrustedSettings(store=Path(store), settings=settings) for store, settings in sorted(notes)]


def revoke_trust(path: str | Path | None = None) -> bool:
    """Take back the trust in a project's settings; returns whether there was any.

    `path` is the project's folder or its store, which may be gone. Programs that have it open go on until they
    close it.
    """
    folder = Path.cwd() if path is None else parse_path(path, "path")
    try:
        stores = [directory_of(folder)]
    except NotFound:
        stores = [folder, folder / STORE_DIRECTORY]
    files = [file for file in map(trust_file, stores) if file.exists()]
    for file in files:
        unlink(file)
    return bool(files)
