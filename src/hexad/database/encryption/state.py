"""What is said of a store's encryption, and of a change of it; never a secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hexad.core.json_types import JSONValue


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionState:
    """How a store is encrypted: where its key comes from, and the cipher of each part."""

    provider: str
    key_id: str
    key_file: str | None
    parts: Mapping[str, str]

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the state as JSON."""
        return {
            "provider": self.provider,
            "key_id": self.key_id,
            "key_file": self.key_file,
            "parts": dict(self.parts),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionReport:
    """What `encrypt`, `decrypt` or `rekey` did, or would do. `left` are files that are no part of a store."""

    path: str
    what: str
    provider: str | None  # None: the store is plain now
    key_id: str | None = None
    key_file: str | None = None
    files: int = 0
    bytes: int = 0
    needed_bytes: int = 0
    left: tuple[str, ...] = ()
    dry_run: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        told: dict[str, JSONValue] = {name: getattr(self, name) for name in self.__slots__}
        return {**told, "left": list(self.left)}


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionProgress:
    """How far a change of a store's encryption is, in bytes."""

    done: int
    total: int
    current: str
