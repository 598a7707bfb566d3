"""What the tests of the engine share: a frozen clock, and stores that are checked when a test is done with them."""

from __future__ import annotations

import functools
import gc
import hashlib
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import hexad
from hexad import FrozenClock, Hexad, TimeSortedIds
from hexad.audit import AuditLog, AuditLogWriter
from hexad.config import DATABASE, STORE_DIRECTORY
from hexad.core.ids import IdSource
from hexad.database import migrations
from hexad.database.connection import Database
from hexad.interfaces.cli.app.main import main
from hexad.lifecycle.opening import directory_of
from hexad.lifecycle.schema import migrations as store_migrations
from hexad.providers.generators.base import GeneratorSpec
from hexad.providers.rerankers import RerankSpec
from hexad.testing import HashEmbedder
from llm_server import LlmServer, llm_server
from opener import EmbedderSpec, Opener
from ran import Ran, Run

# Nothing is judged by the clock: a busy machine is no defect.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

_TESTS = itertools.count()
_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 2 << 30


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Keep what tests write in memory where there is room, and let the programs that they start find bytecode."""
    # Hundreds of them are started, and each would compile the package again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # Made to be slow, and asked for the same key again and again: each is computed once, with its real cost.
    hashlib.scrypt = functools.cache(hashlib.scrypt)
    if "long" in str(config.getoption("-m")) or "TMPDIR" in os.environ or not _roomy(_MEMORY):
        return  # the long forms are for a disk
    # Tests wait for thousands of syncs. What they show of durability they show by faults that they put in and by
    # processes that they kill: a page that a killed process wrote stays, in memory as on a disk.
    os.environ["TMPDIR"] = str(_MEMORY)
    tempfile.tempdir = None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let no pass of the collector look again at modules and at thousands of collected tests: what tests make is young."""
    gc.collect()
    gc.freeze()


def _roomy(folder: Path) -> bool:
    """Whether files can be kept, and started, in a folder of memory: containers often have one of 64 MB."""
    if not os.access(folder, os.W_OK):
        return False
    system = os.statvfs(folder)
    return system.f_bavail * system.f_frsize >= _ROOM_BYTES and not system.f_flag & os.ST_NOEXEC


@pytest.fixture(autouse=True)
def _no_settings_from_outside(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in [*os.environ]:
        if name.startswith(("HEXAD_", "LEXON_")) and name != "HEXAD_REGENERATE_GOLDEN":
            monkeypatch.delenv(name)
    # Of each test's own; it is made only where something is learned of somebody.
    monkeypatch.setenv("HEXAD_USER_DIR", str(tmp_path_factory.getbasetemp() / f"user-{next(_TESTS)}"))


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands at 2026-01-01T00:00:00Z until it is told to move."""
    return FrozenClock()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--encrypted", action="store_true", help="let the stores of `project` be encrypted ones")


@pytest.fixture
def encrypted(request: pytest.FixtureRequest) -> bool:
    """Whether the store of `project` is encrypted; a module may say so of all its tests."""
    return bool(request.config.getoption("--encrypted"))


@pytest.fixture
def project(tmp_path: Path, encrypted: bool) -> Path:
    """A project's folder, always called `project`: its name is part of generated paths."""
    folder = tmp_path / "project"
    folder.mkdir()
    if encrypted:
        (tmp_path / "key").write_bytes(bytes(range(32)))
        (tmp_path / "key").chmod(0o600)
        hexad.open(folder, key=tmp_path / "key", embedder=None, background=False, clock=FrozenClock()).close()
    return folder


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a new store as `FrozenClock` makes it, without an id: opening a copy of it makes a new store."""
    path = tmp_path_factory.mktemp("empty") / DATABASE
    database = Database.open(path, clock=FrozenClock())
    migrations.apply(database, store_migrations(), FrozenClock())
    database.close()
    return path


@pytest.fixture
def opened(project: Path, clock: FrozenClock, empty_database: Path) -> Iterator[Opener]:
    """Open stores by hand: again, beside each other, with other embedders.

    All take their ids from one seeded source, so that a store that is opened twice does not give an id twice.
    At the end each folder is opened once more and asked for an empty `check()`.
    """
    shared = TimeSortedIds(clock, seed=1)
    stores: list[Hexad] = []

    def open_store(
        path: Path | None = None,
        *,
        embedder: EmbedderSpec = "hashing",
        generator: GeneratorSpec = None,
        rerank: RerankSpec = None,
        ids: IdSource | None = None,
        background: bool | None = False,
        readonly: bool = False,
        create: bool = True,
        role: str | None = None,
        clock: hexad.Clock | None = clock,
    ) -> Hexad:
        if create and not readonly:
            _begin(path or project, empty_database)
        hx = hexad.open(
            path or project,
            embedder=HashEmbedder() if embedder == "hashing" else embedder,
            generator=generator,
            rerank=rerank,
            clock=clock,
            ids=ids or shared,
            background=background,
            readonly=readonly,
            create=create,
            actor=None if role is None else {"role": role},
        )
        stores.append(hx)
        return hx

    yield open_store
    folders = dict.fromkeys(hx.path for hx in stores)
    for hx in stores:
        hx.close()
    for folder in folders:
        with hexad.open(folder, embedder=None, background=False) as hx:
            assert [] == hx.check()


def _begin(path: Path, database: Path) -> None:
    """Put the tables of a new store where none is: making them takes ten times as long as copying them."""
    store = path / STORE_DIRECTORY
    if not path.is_dir() or directory_of(path, create=True) != store.resolve() or store.exists():
        return
    store.mkdir(mode=0o700)
    shutil.copy(database, store / DATABASE)


@pytest.fixture
def hx(opened: Opener) -> Hexad:
    """A store in a folder of its own: frozen clock, hashed vectors, seeded ids, no background thread."""
    return opened()


@pytest.fixture
def llm() -> Iterator[LlmServer]:
    """A scripted text generator behind real HTTP on loopback; its `base_url` is an OpenAI-compatible endpoint."""
    with llm_server() as server:
        yield server


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in a folder of its own, where nobody can be asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEXAD_EMBEDDER", "none")

    def call(*args: str) -> Ran:
        code = main(list(args))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Ran(code=code, out=out, err=err)

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the ledger of `writer` and `log` lies."""
    return tmp_path / "audit"


@pytest.fixture
def writer(folder: Path, clock: FrozenClock) -> Iterator[AuditLogWriter]:
    """The writer `be-1` of a ledger of its own."""
    with AuditLogWriter(folder, "be-1", clock=clock) as made:
        yield made


@pytest.fixture
def log(writer: AuditLogWriter, folder: Path, clock: FrozenClock) -> Iterator[AuditLog]:
    """A reader of what `writer` writes."""
    with AuditLog(folder, clock=clock) as made:
        yield made
