"""`hexad.open`: from a path and settings to an open store."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from inspect import currentframe
from pathlib import Path
from threading import Thread, current_thread
from typing import TYPE_CHECKING, Final
from weakref import ReferenceType, finalize, ref

from hexad.config import (
    DATABASE,
    STORE_DIRECTORY,
    Settings,
    StreamDurability,
    captures_contents,
    find_store,
    load_settings,
    store_above,
    store_root,
)
from hexad.core.actor import Actor, parse_actor
from hexad.core.arguments import absence, flags_checked, parse_name, parse_path, quoted, require_key
from hexad.core.clock import Clock, SystemClock
from hexad.core.ids import IdSource, TimeSortedIds
from hexad.core.tracing import attach, log
from hexad.database.commit_queue import Durability
from hexad.database.connection import Database
from hexad.database.encryption.cipher import MEMORY_DB
from hexad.database.encryption.secrets_file import KeyStore
from hexad.database.exit_hooks import ENDING_S, ExitPhase, forget, register
from hexad.database.files import atomic_write, ensure_dir
from hexad.database.leases import OpenLock, ReadShare, StoreHold
from hexad.database.meta import KEY_FILE, PROJECT_NAME, STORE_ID, Meta
from hexad.database.sqlite_errors import failures_translated
from hexad.database.sqlite_setup import refuse_lost_store
from hexad.database.store_context import StoreContext
from hexad.engine import Hexad
from hexad.errors import HexadError, InvalidInput, NotFound
from hexad.experience.values.lenses import parse_lenses
from hexad.lifecycle.schema import bring_up_to_date, require_current
from hexad.providers.budgets.metering import MeteredModels, ModelPlan
from hexad.providers.embedders.base import Embedder, resolve
from hexad.providers.generators.base import GeneratorSpec
from hexad.providers.generators.resolve import resolve_generator
from hexad.redaction.pii_setting import parse_pii
from hexad.search.embedding_job import check_embedder
from hexad.services import CONVERSION, Program, Services, check_honeycomb, reranker_of, unlock
from hexad.spaces.bundles.orderings.external import NamedOrdering, OrderingSpec, resolve_orderings

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from hexad.database.encryption.cipher import StoreKeys
    from hexad.providers.rerankers import RerankSpec

MEMORY = ":memory:"
KEYS = "keys.json"
GITIGNORE = ".gitignore"
READONLY = "readonly"
"""Names an opening that has no lock."""
PROJECT = "project"
"""First part of generated paths where the folder has no telling name."""
_PACKAGE: Final = __name__.partition(".")[0]
CLOSING: Final = "hexad-dropped"
"""The name of a thread that closes a store which nobody closed."""
EmbedderSpec = str | Embedder | Callable[[Sequence[str]], object] | None


@failures_translated
@flags_checked
def open(  # noqa: PLR0913 - one keyword for each thing that a program may bring along
    path: str | Path | None = None,
    *,
    actor: str | Mapping[str, str] | Actor | None = None,
    embedder: EmbedderSpec = "default",
    generator: GeneratorSpec = "default",
    rerank: RerankSpec = "default",
    orderings: Mapping[str, OrderingSpec] | None = None,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    background: bool | None = None,
    readonly: bool = False,
    create: bool = True,
    purpose: str | None = None,
    key: bytes | str | Path | None = None,
    user_dir: str | Path | None = None,
    user_key: bytes | str | Path | None = None,
) -> Hexad:
    """Open the store of a project, creating it when it is missing.

    `path` is a folder of the project (None: the current one); its `.hexad`, or that of a folder above it up
    to the repository's root, is the store; a warning says so where another folder than the one that is named has it.
    `":memory:"` is a private temporary store that is removed at close.
    `embedder` is `"default"` (the one in `hexad.toml`, else the one the store was built with, else the small
    local model), `"hashing"`, `"openai:MODEL@URL"`, a function from texts to vectors, an object with the
    `Embedder` protocol, or None for lexical recall only. `generator` writes what `remember_raw` infers: `"default"`
    (what `hexad.toml` names, else none), `"openai:MODEL"`, `"anthropic:MODEL"`, `"google:MODEL"`, `"ollama:MODEL"`,
    `"huggingface:MODEL"`, `"openai:MODEL@URL"`, a function from a prompt to a text, an object with the `Generator`
    protocol, or None. `rerank` reorders the best 50 of a recall: `"default"` (what `hexad.toml` names, else nobody),
    `"cohere:MODEL"`, `"jina:MODEL"`, `"openai:MODEL@URL"`, a function from a question and texts to scores, or None
    (docs/generators.md). `orderings` are the program's own, by name: a recall's `backend` may name one, which then says
    which memories stand first in a bundle. `actor` says who acts: a user's name, or user, agent and role; a
    space's policy may hide memories from roles. Without it, and without a role in the settings, it is the store's
    owner, who sees everything. `purpose` is shown to others who wait for the store. `background=False` starts no
    thread: `maintain` then does its work. `readonly` never writes. `create=False` raises instead of creating; a `with`
    block that ends with a `HexadError` takes the store with it that was created for it, where nothing is stored there.
    `key` opens an encrypted store: 32 bytes, its passphrase as text, or the `Path` of its key file; None is what its
    settings and its provider give. A store that is created with a key is encrypted from its first byte. `user_dir` is
    the folder of the user layer, `user_key` opens that one: without them it is what HEXAD_USER_DIR names, else this
    user's data folder; a `":memory:"` store has one of its own.

    Raises `NotFound` when there is no store and none may be created, `Conflict` for another embedder than the
    store's, `AccessDenied` for an encrypted store without its key, and `InvalidInput` for a plain one with a key,
    `UntrustedSettings` where `hexad.toml` names an endpoint or a key file that this user has not trusted
    (`trust_settings`),
    `IntegrityError` for a store that is damaged or from a newer version, `StorageFailure` for a disk
    that refuses, `InvalidInput` for a setting that cannot be used.
    """
    _require_sources(clock, ids)
    if purpose is not None:
        parse_name(purpose, "purpose")
    require_key(key, "key")
    require_key(user_key, "user_key")
    own_orderings = resolve_orderings(orderings)
    layer = None if user_dir is None else parse_path(user_dir, "user_dir").expanduser()
    clock = clock or SystemClock()
    if path is not None and str(path) == MEMORY:
        from tempfile import TemporaryDirectory

        temporary = TemporaryDirectory(prefix="hexad-")
        directory = Path(temporary.name) / STORE_DIRECTORY
    else:
        temporary, directory = None, directory_of(path, create=create and not readonly)
        if path is not None and (words := store_above(path, directory)) is not None:
            warnings.warn(words, stacklevel=_outside())
    try:
        settings = load_settings(directory)
        plan = _plan(settings, embedder, generator, rerank)
        settings.require_trust(*_sending(embedder, generator, rerank))
        if settings.otel:
            attach(contents=captures_contents())
        hx = _open(
            directory,
            settings,
            temporary=temporary,
            purpose=purpose,
            actor=_actor(actor, settings),
            embedder=embedder,
            plan=plan,
            orderings=own_orderings,
            clock=clock,
            ids=ids or TimeSortedIds(clock),
            background=background is not False,
            readonly=readonly,
            key=key,
            user=(layer or (None if temporary is None else directory.parent / "user"), user_key),
        )
        try:
            for words in hx._services.context.lost_files():
                warnings.warn(words, stacklevel=_outside())
        except BaseException:  # of a program for which warnings are errors
            hx.close()
            raise
        return hx
    except BaseException:
        if temporary is not None:
            temporary.cleanup()
        raise


def _close_what_is_left(services: ReferenceType[Services]) -> None:
    remaining = services()
    if remaining is not None:
        remaining.close()


def directory_of(path: str | Path | None, *, create: bool = False) -> Path:
    """Return the folder of the store for a path, as `open` finds it; raises `NotFound` and `InvalidInput`."""
    start = Path.cwd() if path is None else parse_path(path, "path")
    if start.name == STORE_DIRECTORY and start.is_dir():
        return start.resolve()
    if start.exists() and not start.is_dir():
        raise InvalidInput(f"{str(start)!r} is a file; give the folder of a project.")
    if not start.exists():
        raise NotFound(f"{absence(start, 'folder')}; create it, or give another path.")
    found_path = find_store(start)
    if found_path is not None:
        return found_path
    if not create:
        raise NotFound(
            f"There is no store in {str(start.resolve())!r} or above it. "
            "`hexad init`, `remember` or `ingest` create one."
        )
    return not_a_file(store_root(start) / STORE_DIRECTORY)


def not_a_file(directory: Path) -> Path:
    """Return the folder of a store that may be made; raises `InvalidInput` where a file is in its place."""
    if directory.exists() and not directory.is_dir():
        raise InvalidInput(f"{directory} is not a folder; move it away, then run `hexad init`.")
    return directory


def _actor(value: str | Mapping[str, str] | Actor | None, settings: Settings) -> Actor:
    """Return who acts: the role that the settings name is that of whoever names none."""
    actor = parse_actor(value)
    if actor.role is not None or settings.role is None:
        return actor
    with _naming(settings, "role"):
        return parse_actor(replace(actor, role=settings.role))


def _require_sources(clock: Clock | None, ids: IdSource | None) -> None:
    """Raise `InvalidInput` for a clock that tells no time, and for a source of ids that makes none."""
    for value, name, methods in ((clock, "clock", ("now", "monotonic")), (ids, "ids", ("new",))):
        if value is not None and not all(callable(getattr(value, method, None)) for method in methods):
            raise InvalidInput(
                f"{name} = {quoted(value)} cannot be used; give an object with "
                f"{' and '.join(f'`{method}`' for method in methods)}, or None for the default.",
                argument=name,
            )


def _plan(
    settings: Settings, embedder: EmbedderSpec, generator: GeneratorSpec, rerank: RerankSpec
) -> ModelPlan:
    """Return which models there are. Raises `InvalidInput` for what cannot be used, before anything is made."""
    with _naming(settings, "durability"):
        _durability(settings)
    with _naming(settings, "stream_durability"):
        _stream_durability(settings)
    with _naming(settings, "privacy"):
        parse_pii(settings.pii)
    with _naming(settings, "honeycomb"):
        check_honeycomb(settings.honeycomb)
    with _naming(settings, "lenses"):
        parse_lenses(settings.lenses or ())
    if generator == "default" and settings.generator is not None:
        with _naming(settings, "generator"):
            resolve_generator(settings.generator)
    if rerank == "default" and settings.rerank is not None:
        with _naming(settings, "rerank"):
            reranker_of(settings, rerank)
    plan = ModelPlan(settings, generator, reranker_of(settings, rerank))
    if embedder != "default":
        resolve(embedder)
        return plan
    with _naming(settings, "embedder"):
        resolve(settings.embedder)
    return plan


def _sending(embedder: EmbedderSpec, generator: GeneratorSpec, rerank: RerankSpec) -> Iterator[str]:
    """Name the settings that say where texts go, but for those that the program's own arguments replace."""
    given = {"embedder": embedder, "generator": generator, "rerank": rerank}
    # With a generator of the program's own, a model may still name another provider for a call.
    yield from (name for name, value in given.items() if isinstance(value, str) and value == "default")
    if generator is not None:
        yield from ("llm_model", "memory_semantic_model", "compaction_model")


@contextmanager
def _naming(settings: Settings, name: str) -> Iterator[None]:
    """Say of a setting that cannot be used where it is from."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{settings.label_of(name)}: {error}") from error


def _open(
    directory: Path,
    settings: Settings,
    *,
    temporary: TemporaryDirectory[str] | None,
    purpose: str | None,
    actor: Actor,
    embedder: EmbedderSpec,
    plan: ModelPlan,
    orderings: Mapping[str, NamedOrdering],
    clock: Clock,
    ids: IdSource,
    background: bool,
    readonly: bool,
    key: bytes | str | Path | None = None,
    user: tuple[Path | None, bytes | str | Path | None] = (None, None),
) -> Hexad:
    is_new = _require_folder(directory, readonly=readonly) and temporary is None
    share = ReadShare(directory, clock=clock) if readonly else None
    lock = None if readonly else OpenLock(directory, clock=clock, purpose=purpose or actor.agent or "library")
    hold = StoreHold(lock=lock, share=share, temporary=temporary, is_new=is_new)
    db: Database | None = None
    try:
        crypt = unlock(directory, settings, key, lock=lock)
        db = _database(directory, settings, crypt, clock=clock, readonly=readonly)
        meta, project = Meta(db), settings.project or _name(directory, temporary is not None)
        if not readonly:
            meta.ensure(STORE_ID, ids.new("store"))
            meta.update(PROJECT_NAME, project)
        models = MeteredModels(db, plan, clock=clock)
        chosen = models.embedder(_embedder(meta, settings, embedder))
        context = StoreContext(
            directory=directory,
            settings=settings,
            db=db,
            clock=clock,
            ids=ids,
            actor=actor,
            keys=KeyStore(directory / KEYS, crypt=crypt, known=lambda: meta.get(KEY_FILE)),
            crypt=crypt,
            project=project,
            background=background and not readonly,
            owner=READONLY if lock is None else lock.identity,
            alive=tuple if lock is None else lock.alive,
        )
        program = Program(
            models=models,
            orderings=orderings,
            user_dir=user[0] or settings.user_dir,
            user_key=user[1],
        )
        services = Services(context, hold, program, chosen)
        if temporary is not None:
            # Made after the folder's own, it runs before it when the program ends: nobody writes where it is removed.
            finalize(temporary, _close_what_is_left, ref(services))
        return _close_when_dropped(Hexad(services), services)
    except BaseException:
        if db is None:
            hold.undo(lambda: not (directory / DATABASE).exists())
        else:
            db.close()
        hold.release()
        raise


def _outside() -> int:
    """Return the `stacklevel` of whoever called us from outside of the package, through whatever of ours."""
    frame, level = currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return level


def _close_when_dropped(hx: Hexad, services: Services) -> Hexad:
    """Have `services` closed when nobody has `hx` any more, with a `ResourceWarning`; return `hx`."""
    # When the program ends, `exit_hooks` do what is owed, in the order in which it must happen.
    finalize(hx, _dropped, services, os.getpid()).atexit = False
    return hx


def _dropped(services: Services, pid: int) -> None:
    # A forked child closes nothing of its parent's, and nobody closes what is used by a part of it.
    if services.closed or os.getpid() != pid or services.parts.any_held():
        return
    # In a thread of its own: a last reference may go in the middle of anything, under any lock, in the store's own
    # threads as well.
    Thread(target=_close, args=(services,), name=CLOSING, daemon=True).start()
    warnings.warn(
        f"The store {services.context.directory} was dropped without `close()`; use it in a `with` block.",
        ResourceWarning,
        stacklevel=2,
    )


def _close(services: Services) -> None:
    thread = current_thread()
    register(ExitPhase.BACKGROUND, thread, partial(thread.join, ENDING_S))
    try:
        services.close()
    except HexadError as error:
        log.warning("The store %s was not closed well: %s", services.context.directory, error)
    finally:
        forget(ExitPhase.BACKGROUND, thread)


def _require_folder(directory: Path, *, readonly: bool) -> bool:
    """Raise what there is against a store's folder, and make it where it may be made; return whether it was."""
    # Its database may be among what an interrupted change of the encryption has yet to move there.
    if not (directory / CONVERSION).exists():
        refuse_lost_store(directory / DATABASE)
    is_new = not directory.exists()
    if not readonly:
        ensure_dir(directory)
    elif not (directory / DATABASE).exists():
        raise NotFound(f"There is no store at {directory}; open it for writing to create it.")
    return is_new


def _name(directory: Path, temporary: bool) -> str:
    return (PROJECT if temporary else directory.parent.name) or PROJECT


def _database(
    directory: Path, settings: Settings, crypt: StoreKeys | None, *, clock: Clock, readonly: bool
) -> Database:
    """Return the store's database with its tables as this version has them."""
    refuse_lost_store(directory / DATABASE)
    if not readonly and not (directory / GITIGNORE).exists():
        # Memories and keys are not source: nobody should commit them by accident.
        atomic_write(directory / GITIGNORE, b"*\n")
    db = Database.open(
        directory / DATABASE,
        clock=clock,
        readonly=readonly,
        durability=_durability(settings),
        lock_timeout_s=settings.lock_timeout_s,
        key=None if crypt is None else crypt.derive(MEMORY_DB),
    )
    try:
        if readonly:
            require_current(db)
        else:
            bring_up_to_date(db, clock)
    except BaseException:
        db.close()
        raise
    return db


def _durability(settings: Settings) -> Durability:
    try:
        return Durability(settings.durability)
    except ValueError:
        valid = ", ".join(str(member.value) for member in Durability)
        raise InvalidInput(
            f"durability = {quoted(settings.durability)} is not one of {valid}.", argument="durability"
        ) from None


def _stream_durability(settings: Settings) -> None:
    valid = [member.value for member in StreamDurability]
    if settings.stream_durability not in valid:
        raise InvalidInput(
            f"stream_durability = {quoted(settings.stream_durability)} is not one of {', '.join(valid)}.",
            argument="stream_durability",
        )


def _embedder(meta: Meta, settings: Settings, value: EmbedderSpec) -> Embedder | None:
    if value == "default":
        value = settings.embedder
        recorded = meta.recorded_embedder()
        if value == "default" and recorded is not None:
            # What the store was built with, where a name is enough to make it again.
            value = next((spec for prefix, spec in _NAMED if recorded[0].startswith(prefix)), value)
    embedder = resolve(
        value, api_key=settings.embedder_api_key, openai_key=settings.provider_keys.get("openai")
    )
    check_embedder(meta, embedder)
    return embedder


_NAMED = (("hashing-256@", "hashing"),)
