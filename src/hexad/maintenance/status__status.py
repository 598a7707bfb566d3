"""What a store says about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hexad.database.encryption.state import EncryptionState
from hexad.memory.memory import JSONValue


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus:
    """The state of a store, for `hexad doctor` and for programs. Sizes are in bytes."""

    path: str
    version: str
    sqlite: str
    sqlite_safe: bool
    durability: str
    encrypted: bool
    readonly: bool
    schema: int
    memories: int
    archived: int
    chunks: int
    vectors: int
    embedder: str | None
    store_embedder: str | None
    embeddings_pending: int
    embeddings_failed: int
    queue_waiting: int
    queue_failed: int
    sizes: Mapping[str, int] = field(default_factory=dict)
    keys: str = ""
    holders: tuple[str, ...] = ()
    embeddings_paused: str | None = None  # the budget that is used up
    generator: str | None = None
    backend: str = "basic"  # the setting `memory_backend`
    backend_known: bool = True
    encryption: EncryptionState | None = None  # None: nothing is encrypted
    quarantined: int = 0  # memories that wait for the owner's review; nobody else is told
    links_pending: int = 0  # memories that have vectors and wait for their links in the honeycomb
    links_made_by: str | None = None  # the process that has the right to make links at this moment
    consolidation: Mapping[str, JSONValue] | None = (
        None  # when it ran, what is due and over quota; None for a role
    )
    user_layer: str = ""  # where what is known across projects stands

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the status as JSON."""
        return {
            name: (
                dict(value)
                if isinstance(value, Mapping)
                else list(value)
                if isinstance(value, tuple)
                else value.to_dict()
                if isinstance(value, EncryptionState)
                else value
            )
            for name, value in ((name, getattr(self, name)) for name in self.__slots__)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What `maintain` did."""

    embedded: int = 0
    linked: int = 0  # memories connected in the honeycomb
    ingested: int = 0
    handouts: int = 0
    archived: int = 0  # by gc, as the spaces' policies say
    purged: int = 0
    sealed: int = 0  # timesteps of the experience stream
    compacted: int = 0  # compactions of windows that were left full, or unused for long
    let_go: int = 0  # windows whose grace after a rejection was over
    freed_bytes: int = 0  # of timesteps for which a COLD record stands
    compressed: int = 0  # COLD records of it that became part of coarser ones
    problems: tuple[str, ...] = ()  # logs that are damaged and stay, with the remedy
    consolidated: int = 0  # changes that consolidation made, where it was due
    user_layer: str = ""  # what became of what is known across projects
    links_pending: int = (
        0  # memories that still wait for their links: another process makes some, and did not get on
    )

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        told: dict[str, JSONValue] = {name: getattr(self, name) for name in self.__slots__}
        return {**told, "problems": list(self.problems)}
