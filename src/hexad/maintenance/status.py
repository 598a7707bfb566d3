"""What can be said of an open store: what `hexad doctor` prints. Apart from `services`, because only that asks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.core.lazy import CacheUse
from hexad.core.version import __version__
from hexad.database.component import Component
from hexad.database.connection import sqlite_library_is_safe
from hexad.database.encryption.inventory import inventory_of, state_of
from hexad.database.encryption.record import EncryptionState, read_record
from hexad.database.store_context import StoreContext
from hexad.memory.policy import is_backend
from hexad.memory.store import Stores
from hexad.search.service import SearchService


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
    queue_age_s: int  # how long the source waits that waits longest
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
    caches: Mapping[str, CacheUse] = field(default_factory=dict)  # of this process, by what they hold

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the status as JSON."""
        return as_json(self)


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
    copies: int = 0  # working copies of documents that were missing or outdated
    consolidated: int = 0  # changes that consolidation made, where it was due
    detected: tuple[str, ...] = ()  # facts that a look at the repository noted, where it says something new
    user_layer: str = ""  # what became of what is known across projects
    links_pending: int = (
        0  # memories that still wait for their links: another process makes some, and did not get on
    )

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self)


def describe(
    context: StoreContext,
    search: SearchService,
    components: Sequence[Component],
    *,
    schema: int,
    generator: str | None,
    orderings: Collection[str],
    consolidation: Mapping[str, JSONValue] | None,
    user_layer: str,
    holders: Sequence[str],
) -> StoreStatus:
    """Return the state of a store, and of its files."""
    counts = [count(context) for component in components for count in component.counts]
    sqlite = Stores(context.db).meta.sqlite_version()
    backend = context.settings.memory_backend
    return StoreStatus(
        path=str(context.directory),
        version=__version__,
        sqlite=sqlite,
        sqlite_safe=sqlite_library_is_safe(_numbers(sqlite)),
        durability=context.db.durability.value,
        encrypted=context.crypt is not None,
        encryption=None if context.crypt is None else _encryption(context.directory, components),
        readonly=context.db.readonly,
        schema=schema,
        embedder=search.embedder.name if search.embedder is not None else None,
        keys=str(context.keys.state()),
        embeddings_paused=search.job.paused() if search.job is not None else None,
        generator=generator,
        backend=backend,
        backend_known=is_backend(backend) or backend in orderings,
        consolidation=consolidation,
        user_layer=user_layer,
        holders=tuple(holders),
        # Whoever may not see all would learn from it how much there is besides.
        sizes=_sizes(context.directory) if context.actor.roles is None else {},
        caches=context.db.caches.uses() if context.actor.roles is None else {},
        **{name: value for fields in counts for name, value in fields.items()},
    )


def _encryption(directory: Path, components: Sequence[Component]) -> EncryptionState | None:
    record = read_record(directory)
    return None if record is None else state_of(record, inventory_of(components))


def _numbers(version: str) -> tuple[int, int, int]:
    major, minor, patch = (int(part) for part in version.split(".")[:3])
    return major, minor, patch


def _sizes(directory: Path) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            name = path.relative_to(directory).parts[0]
            sizes[name] = sizes.get(name, 0) + path.stat().st_size
    return sizes
