"""`hexad.open` and `hexad.init`: from a path and settings to an open store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import ReferenceType, finalize, ref

from hexad.clock import Clock, SystemClock
from hexad.config import (
    CONFIG_FILE,
    DATABASE,
    STORE_DIRECTORY,
    TEMPLATE,
    Settings,
    find_store,
    load_settings,
    store_root,
)
from hexad.engine import Hexad
from hexad.errors import Conflict, IntegrityError, InvalidInput, NotFound
from hexad.ids import IdSource, TimeSortedIds
from hexad.index.fulltext import FullText
from hexad.metered import MeteredModels, ModelPlan
from hexad.model.actor import Actor, parse_actor
from hexad.model.durability import StreamDurability
from hexad.model.lenses import parse_lenses
from hexad.providers.base import Embedder, resolve
from hexad.providers.generator import GeneratorSpec
from hexad.providers.generators.choose import resolve_generator
from hexad.providers.orderings import OrderingSpec, resolve_orderings
from hexad.storage import migrations
from hexad.storage.commit import Durability
from hexad.storage.connection import Database
from hexad.storage.files import atomic_write, ensure_dir
from hexad.storage.keys import KeyStore
from hexad.storage.leases import OpenLock
from hexad.storage.meta import STORE_ID
from hexad.storage.schema import MIGRATIONS, require_current
from hexad.storage.stores import Stores
from hexad.telemetry import attach
from hexad.upkeep.embed import check_embedder
from hexad.wiring import Base, Parts, Place

MEMORY = ":memory:"
KEYS = "keys.json"
GITIGNORE = ".gitignore"
PROJECT = "project"
"""First part of generated paths where the folder has no telling name."""
EmbedderSpec = str | Embedder | Callable[[Sequence[str]], object] | None


def open(
    path: str | Path | None = None,
    *,
    actor: str | Mapping[str, str] | Actor | None = None,
    embedder: EmbedderSpec = "default",
    generator: GeneratorSpec = "default",
    orderings: Mapping[str, OrderingSpec] | None = None,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    background: bool | None = None,
    readonly: bool = False,
    create: bool = True,
    purpose: str | None = None,
) -> Hexad:
    """Open the store of a project, creating it when it is missing.

    `path` is a folder of the project (None: the current one); its `.hexad`, or that of a folder above it up
    to the repository's root, is the store. `":memory:"` is a private temporary store that is removed at close.
    `embedder` is `"default"` (the one in `hexad.toml`, else the one the store was built with, else the small
    local model), `"hashing"`, `"openai:MODEL@URL"`, a function from texts to vectors, an object with the
    `Embedder` protocol, or None for lexical recall only. `generator` writes what `remember_raw` infers: `"default"`
    (what `hexad.toml` names, else none), `"openai:MODEL"`, `"anthropic:MODEL"`, `"google:MODEL"`, `"ollama:MODEL"`,
    `"huggingface:MODEL"`, `"openai:MODEL@URL"`, a function from a prompt to a text, an object with the `Generator`
    protocol, or None. `orderings` are the program's own, by name: a recall's `backend` may name one, which then says
    which memories stand first in a bundle. `actor` says who acts: a user's name, or user, agent and role; a
    space's policy may hide memories from roles. Without it, and without a role in the settings, it is the store's
    owner, who sees everything. `purpose` is shown to others who wait for the store. `background=False` starts no
    thread: `maintain` then does its work. `readonly` never writes. `create=False` raises instead of creating.

    Raises `NotFound` when there is no store and none may be created, `Conflict` for another embedder than the
    store's, `IntegrityError` for a store that is damaged or from a newer version, `StorageFailure` for a disk
    that refuses, `InvalidInput` for a setting that cannot be used.
    """
    clock = clock or SystemClock()
    if path is not None and str(path) == MEMORY:
        temporary = TemporaryDirectory(prefix="hexad-")
        directory = Path(temporary.name) / STORE_DIRECTORY
    else:
        temporary, directory = None, _directory(path, create=create and not readonly)
    try:
        settings = load_settings(directory)
        _check_settings(settings, embedder, generator)
        if settings.otel:
            attach(SystemClock())
        return _open(
            directory,
            settings,
            temporary=temporary,
            purpose=purpose,
            actor=_actor(actor, settings),
            embedder=embedder,
            generator=generator,
            orderings=orderings,
            clock=clock,
            ids=ids or TimeSortedIds(clock),
            background=background is not False,
            readonly=readonly,
        )
    except BaseException:
        if temporary is not None:
            temporary.cleanup()
        raise


def _close_what_is_left(parts: ReferenceType[Parts]) -> None:
    left = parts()
    if left is not None:
        left.close()


def init(path: str | Path | None = None, *, clock: Clock | None = None) -> Path:
    """Create a store in `path` (None: the current folder) with a commented `hexad.toml`; returns its folder.

    A store that is there without a `hexad.toml` gets one, and is left as it is otherwise. Raises `Conflict` when there
    is a store with one, `NotFound` when the folder is not there.
    """
    folder = Path.cwd() if path is None else Path(path)
    if not folder.is_dir():
        raise NotFound(f"There is no folder {str(folder)!r}; create it first.")
    directory = _not_a_file(folder.resolve() / STORE_DIRECTORY)
    config = directory / CONFIG_FILE
    if (directory / DATABASE).exists():
        if config.exists():
            raise Conflict(f"There is a store at {directory} already; it was left as it is.")
        atomic_write(config, TEMPLATE.encode(), mode=0o644)
        return directory
    with _create(directory, clock):
        if not config.exists():
            atomic_write(config, TEMPLATE.encode(), mode=0o644)
    return directory


def _directory(path: str | Path | None, *, create: bool) -> Path:
    start = Path.cwd() if path is None else Path(path)
    if start.name == STORE_DIRECTORY and start.is_dir():
        return start.resolve()
    if start.exists() and not start.is_dir():
        raise InvalidInput(f"{str(start)!r} is a file; give the folder of a project.")
    if not start.exists():
        raise NotFound(f"There is no folder {str(start)!r}; create it, or give another path.")
    found = find_store(start)
    if found is not None:
        return found
    if not create:
        raise NotFound(
            f"There is no store in {str(start.resolve())!r} or above it. "
            "`hexad init`, `remember` or `ingest` create one."
        )
    return _not_a_file(store_root(start) / STORE_DIRECTORY)


def _not_a_file(directory: Path) -> Path:
    if directory.exists() and not directory.is_dir():
        raise InvalidInput(f"{directory} is not a folder; move it away, then run `hexad init`.")
    return directory


def _actor(given: str | Mapping[str, str] | Actor | None, settings: Settings) -> Actor:
    """Return who acts: the role that the settings name is that of whoever names none."""
    actor = parse_actor(given)
    if actor.role is not None or settings.role is None:
        return actor
    with _naming(settings, "role"):
        return parse_actor(replace(actor, role=settings.role))


def _check_settings(settings: Settings, embedder: EmbedderSpec, generator: GeneratorSpec) -> None:
    """Raise `InvalidInput` for what cannot be used, before anything is made; no model is loaded yet."""
    with _naming(settings, "durability"):
        _durability(settings)
    with _naming(settings, "stream_durability"):
        _stream_durability(settings)
        _honeycomb(settings)
    with _naming(settings, "lenses"):
        parse_lenses(settings.lenses or ())
    if generator == "default" and settings.generator is not None:
        with _naming(settings, "generator"):
            resolve_generator(settings.generator)
    ModelPlan(settings, generator)
    if embedder != "default":
        resolve(embedder)
        return
    with _naming(settings, "embedder"):
        resolve(settings.embedder)


@contextmanager
def _naming(settings: Settings, name: str) -> Iterator[None]:
    """Say of a setting that cannot be used where it is from."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{settings.called(name)}: {error}") from error


def _create(directory: Path, clock: Clock | None) -> Hexad:
    clock = clock or SystemClock()
    return _open(
        directory,
        Settings(),
        temporary=None,
        purpose=None,
        actor=Actor(),
        embedder=None,
        generator=None,
        orderings=None,
        clock=clock,
        ids=TimeSortedIds(clock),
        background=False,
        readonly=False,
    )


def _open(
    directory: Path,
    settings: Settings,
    *,
    temporary: TemporaryDirectory[str] | None,
    purpose: str | None,
    actor: Actor,
    embedder: EmbedderSpec,
    generator: GeneratorSpec,
    orderings: Mapping[str, OrderingSpec] | None,
    clock: Clock,
    ids: IdSource,
    background: bool,
    readonly: bool,
) -> Hexad:
    if readonly and not (directory / DATABASE).exists():
        raise NotFound(f"There is no store at {directory}; open it for writing to create it.")
    if not readonly:
        _refuse_lost_database(directory)
        ensure_dir(directory)
        if not (directory / GITIGNORE).exists():
            # Memories and keys are not source: nobody should commit them by accident.
            atomic_write(directory / GITIGNORE, b"*\n")
    lock = None if readonly else OpenLock(directory, clock=clock, purpose=purpose or actor.agent or "library")
    db: Database | None = None
    try:
        db = Database.open(
            directory / DATABASE,
            clock=clock,
            readonly=readonly,
            durability=_durability(settings),
            lock_timeout_s=settings.lock_timeout_s,
        )
        if not readonly:
            migrations.apply(db, MIGRATIONS, clock)
        else:
            require_current(db)
        stores = Stores(db, roles=actor.roles)
        if not readonly:
            stores.meta.ensure(STORE_ID, ids.new("store"))
        models = MeteredModels(db, settings, generator, clock=clock)
        chosen = models.embedder(_embedder(stores, settings, embedder))
        base = Base(
            orderings=resolve_orderings(orderings),
            place=Place(directory=directory, lock=lock, keys=KeyStore(directory / KEYS), temporary=temporary),
            settings=settings,
            clock=clock,
            ids=ids,
            db=db,
            stores=stores,
            fulltext=FullText(db),
            background=background,
            actor=actor,
            models=models,
            project=settings.project
            or (PROJECT if temporary is not None else directory.parent.name)
            or PROJECT,
        )
        parts = Parts(base, chosen)
        if temporary is not None:
            # Made after the folder's own, it runs before it when the program ends: nobody writes where it is removed.
            finalize(temporary, _close_what_is_left, ref(parts))
        return Hexad(parts)
    except BaseException:
        if db is not None:
            db.close()
        if lock is not None:
            lock.close()
        raise


def _refuse_lost_database(directory: Path) -> None:
    """Raise `IntegrityError` for a store whose database is gone while the rest of it is there."""
    database = directory / DATABASE
    if (database.exists() and database.stat().st_size) or not (directory / KEYS).exists():
        return
    wal = directory / f"{DATABASE}-wal"
    if database.exists() and wal.exists() and wal.stat().st_size:
        return  # everything is still in the log
    raise IntegrityError(
        f"{database} is {'empty' if database.exists() else 'gone'}, but {KEYS} of its store is there. Put a backup "
        f"in its place, or move {directory} away to begin a new store."
    )


def _durability(settings: Settings) -> Durability:
    try:
        return Durability(settings.durability)
    except ValueError as error:
        valid = ", ".join(str(member.value) for member in Durability)
        raise InvalidInput(f"durability = {settings.durability!r} is not one of {valid}.") from error


def _honeycomb(settings: Settings) -> None:
    if settings.honeycomb:
        from hexad.honeycombing import rules_of

        rules_of(settings.honeycomb)


def _stream_durability(settings: Settings) -> None:
    valid = [member.value for member in StreamDurability]
    if settings.stream_durability not in valid:
        raise InvalidInput(
            f"stream_durability = {settings.stream_durability!r} is not one of {', '.join(valid)}."
        )


def _embedder(stores: Stores, settings: Settings, given: EmbedderSpec) -> Embedder | None:
    if given == "default":
        given = settings.embedder
        recorded = stores.meta.recorded_embedder()
        if given == "default" and recorded is not None:
            # What the store was built with, where a name is enough to make it again.
            given = next((spec for prefix, spec in _NAMED if recorded[0].startswith(prefix)), given)
    embedder = resolve(
        given, api_key=settings.embedder_api_key, openai_key=settings.provider_keys.get("openai")
    )
    check_embedder(stores, embedder)
    return embedder


_NAMED = (("hashing-256@", "hashing"),)
