"""A program that has a store open while a newer version migrates it, or while files run out, writes nothing wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

import hexad
from hexad import FrozenClock
from hexad.audit import AuditLogWriter
from hexad.database.connection import Database
from hexad.lifecycle.session_capture import open_session
from programs import Program

WRITER = """
import sys, hexad
hx = hexad.open(sys.argv[1], embedder=None, background=False)
hx.remember("Before the migration.")
print("open", flush=True)
for line in sys.stdin:
    try:
        hx.remember("After the migration.")
    except hexad.IntegrityError as error:
        print(error, flush=True)
    else:
        print("stored", flush=True)
    print(hx.count(), flush=True)
hx.close()
"""


def migrate(path: Path) -> None:
    """Do what a newer version does, as far as another one can tell."""
    database = Database.open(path, clock=FrozenClock())
    with database.transaction() as con:
        con.execute(
            "INSERT INTO schema_migrations SELECT max(number) + 1, 'newer', max(applied_at) FROM schema_migrations"
        )
    database.close()


def roll_back(path: Path) -> None:
    database = Database.open(path, clock=FrozenClock())
    with database.transaction() as con:
        con.execute("DELETE FROM schema_migrations WHERE name = 'newer'")
    database.close()


def test_a_program_that_was_open_before_a_migration_writes_no_more(project: Path) -> None:
    with Program(WRITER, project) as program:
        assert "open\n" == program.stdout.readline()
        program.stdin.write("once\n")
        program.stdin.flush()
        assert ["stored\n", "2\n"] == [program.stdout.readline() for _ in range(2)]
        migrate(project / ".hexad" / "memory.db")

        program.stdin.write("again\n")
        program.stdin.flush()
        said, count = (program.stdout.readline() for _ in range(2))

        assert "was migrated meanwhile by another version" in said
        assert "Nothing was written. Start it again" in said
        assert "2\n" == count  # it still reads
    roll_back(project / ".hexad" / "memory.db")
    with hexad.open(project, embedder=None, background=False) as hx:
        assert 2 == hx.count()
        assert [] == hx.check()


def _through_a_hook(project: Path) -> Iterator[None]:
    clock = FrozenClock()
    with open_session(project / ".hexad", project, clock=clock, ids=hexad.TimeSortedIds(clock)) as session:
        yield
        session.record_edits(["src/cart.py"])


def _through_the_user_layer(project: Path) -> Iterator[None]:
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.user.prefer("testing", "pytest")
        yield
        hx.user.prefer("testing", "unittest")


def _through_the_ledger(project: Path) -> Iterator[None]:
    with AuditLogWriter(project, "being-1") as writer:
        writer.record("monday", 1, "output", "Before.", {}, [])
        yield
        writer.record("monday", 2, "output", "After.", {}, [])


@pytest.mark.parametrize(
    ("way", "place"),
    [
        (_through_a_hook, lambda folder: folder / "memory.db"),
        (_through_the_user_layer, lambda _folder: Path(os.environ["HEXAD_USER_DIR"]) / "user.db"),
        (_through_the_ledger, lambda folder: folder / "audit" / "audit.db"),
    ],
)
def test_neither_hook_nor_user_layer_nor_ledger_writes_the_old_tables(
    project: Path, way: Callable[[Path], Iterator[None]], place: Callable[[Path], Path]
) -> None:
    hexad.open(project, embedder=None, background=False).close()
    steps = way(project)
    next(steps)
    path = place(project / ".hexad")
    migrate(path)

    with pytest.raises(hexad.IntegrityError, match="was migrated meanwhile"):
        next(steps)

    roll_back(path)


class _ReadOnlyAgain(apsw.VFS):
    """Opens what is to be written read-only, as SQLite does when the first try met a passing lack of file numbers."""

    def __init__(self) -> None:
        self.name = "read-only-again"
        super().__init__(self.name, "")

    def xOpen(self, name: object, flags: list[int]) -> apsw.VFSFile:
        flags[0] = (
            flags[0] & ~(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE) | apsw.SQLITE_OPEN_READONLY
        )
        return apsw.VFSFile("", name, flags)


def test_a_connection_that_may_only_read_is_none_for_writing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Database.open(path, clock=FrozenClock()).close()
    vfs = _ReadOnlyAgain()

    try:
        with pytest.raises(hexad.StorageFailure, match=r"could be opened for reading only: .*ulimit -n"):
            Database.open(path, clock=FrozenClock(), vfs=vfs.name)
    finally:
        vfs.unregister()
