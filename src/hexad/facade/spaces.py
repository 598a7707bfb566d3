"""`hx.spaces`: named containers of memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from hexad.clock import Clock
from hexad.errors import Conflict, InvalidSpace
from hexad.model.memory import JSONValue
from hexad.model.query import Filters
from hexad.storage.spacefile import write_space_file
from hexad.storage.stores import Stores


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceInfo:
    """One space, as a caller sees it."""

    name: str
    memories: int
    metadata: Mapping[str, JSONValue]
    policies: Mapping[str, JSONValue]
    created_at: datetime
    updated_at: datetime


class SpacesFacade:
    """Creates, lists and describes spaces, and sets what is redacted in them."""

    def __init__(
        self,
        stores: Stores,
        *,
        clock: Clock,
        directory: Path,
        check_policy: Callable[[Mapping[str, JSONValue]], None],
    ) -> None:
        self._check_policy = check_policy
        self._stores = stores
        self._clock = clock
        self._directory = directory

    def create(self, name: str, metadata: Mapping[str, JSONValue] | None = None) -> SpaceInfo:
        """Create a space; raises `Conflict` when there is one of that name, `InvalidSpace` for a bad name."""
        if self._stores.spaces.find(name) is not None:
            raise Conflict(f"Space {name!r} is there already; choose another name, or use it as it is.")
        with self._stores.db.transaction():
            self._stores.spaces.ensure(name, at=self._clock.now())
            if metadata:
                self._stores.spaces.set_metadata(name, metadata, at=self._clock.now())
        return self.get(name)

    def list(self) -> Sequence[SpaceInfo]:
        """Return all spaces by name."""
        return [self.get(space.name) for space in self._stores.spaces.list()]

    def get(self, name: str) -> SpaceInfo:
        """Return one space; raises `NotFound`."""
        space = self._stores.spaces.get(name)
        return SpaceInfo(
            name=space.name,
            memories=self._stores.memories.count_where(Filters(spaces=(name,))),
            metadata=space.metadata,
            policies=space.policies,
            created_at=space.created_at,
            updated_at=space.updated_at,
        )

    def set_policy(self, name: str, policy: Mapping[str, JSONValue]) -> SpaceInfo:
        """Replace a space's policy. Enforced today: `pii_redaction` (document 1, section 3.1), `env_allow`.

        `pii_redaction` lists detectors (`"email"`, `"phone"`, `"all"`, …) or objects `{"name", "regex"}`;
        they apply to what is written from now on. Raises `InvalidInput` for an entry that cannot be used and
        `InvalidSpace` for a key that nothing enforces, so that no policy is taken for granted in vain.
        """
        unknown = sorted(set(policy) - {"pii_redaction", "env_allow"})
        if unknown:
            raise InvalidSpace(
                f"Invalid space policy {unknown[0]!r}: nothing enforces it; known are 'env_allow' and 'pii_redaction'."
            )
        self._check_policy(policy)
        self._stores.spaces.set_policies(name, policy, at=self._clock.now())
        return self.get(name)

    def write_file(self, name: str) -> Path:
        """Write the space as `spaces/<name>.json` beside the store and return the path."""
        self._stores.db.require_writable()
        with self._stores.db.read():
            space = self._stores.spaces.get(name)
            numbers = self._stores.memories.numbers(Filters(spaces=(name,)), status=None)
            memories = list(self._stores.memories.by_no(numbers).values())
        return write_space_file(self._directory, space, memories)
