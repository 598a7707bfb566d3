"""What a system of a store hands to the place that puts all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from hexad.database.connection import Connection, Database
from hexad.database.statements import Row, SQLValue
from hexad.database.store_context import StoreContext
from hexad.errors import HexadError

if TYPE_CHECKING:
    from hexad.core.erasure import ErasureBook, Selection

Check = Callable[[StoreContext], Iterable[str]]
"""Yields in words what is wrong; nothing when all is well."""
Count = Callable[[StoreContext], Mapping[str, Any]]
"""Returns fields of a `StoreStatus`, by name: what may be seen by who opened the store."""
SessionLook = Callable[[Database, str], bool]
"""Says whether there is anything of a session, named by its id, that is no memory."""
Wipe = Callable[[Database, bool], Mapping[str, int]]
"""Removes what is a project's and no purge takes, or only counts it for a dry run; returns fields of a `WipeReport`."""
Execute = Callable[[str, Sequence[SQLValue]], Iterable[Row]]
"""Runs a statement on a `memory.db` whose keys are being changed."""
Promise = tuple[str, str]
"""A query for rows that break a promise of the tables, and what is wrong with one, in words with its columns."""
Stop = Callable[[], bool]
"""Asked between small pieces of work, whether to end."""
Report = dict[str, Any]
"""Fields of a `MaintenanceReport`, by name."""


def never() -> bool:
    """Let work go on until it is done."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work that is done now and then, in the order of `place`; nothing happens where there is nothing to do.

    `maintain` does all of it and notes in the report what that was; `step` does in the background what is due. Both are
    handed the systems of the open store: a component names in a protocol which of those its jobs ask for.
    """

    name: str
    place: int
    maintain: Callable[[Any, Report], object] | None = None
    step: Callable[[Any, Stop], object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaStep:
    """What a system adds to the store in the migration with a `number`.

    `place` orders the steps of one migration, and the first of them has its `name`.
    """

    number: int
    apply: Callable[[Connection], object]
    name: str = ""
    place: int = 0


def script(number: int, sql: str, name: str = "", *, place: int = 0) -> SchemaStep:
    """Return the step that runs statements."""
    return SchemaStep(number=number, apply=lambda con: con.execute(sql), name=name, place=place)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTable:
    """A table whose rows belong to one memory each, named in `column`.

    They go with it, unless `stays`: then something else of the purge takes out what they say. `counted_as` is what a
    receipt calls them, None where they are derived.
    """

    name: str
    column: str = "memory_no"
    counted_as: str | None = None
    stays: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSection:
    """A list of the export, read page by page; the lists come in the order of their `place`.

    The first column is the key of the page, greater than `:after`; of the others the names say what they are: `at` and
    `…_at` are times, `json_…` is JSON, `timed_…` a JSON list of objects with times, `is_…` is true or false. What is
    asked for is in `:whole`, `:subject` and `:sessions`, a JSON list that is null where all of them are.
    """

    name: str
    tables: tuple[str, ...]
    columns: str
    source: str
    key: str = "no"
    where: str = "1"
    whole_only: bool = False
    place: int = 100


OF_SESSIONS: Final = "(:sessions IS NULL OR {} IN (SELECT value FROM json_each(:sessions)))"
"""The condition of a section whose rows each name a session, in the column that stands for the braces."""


class Treatment(Enum):
    """What is done with a file when a store's encryption changes."""

    DATABASE = "database"
    FILE = "file"
    DROPPED = "dropped"  # derived, or of a process that has ended
    KEPT = "kept"  # readable in every store
    UNKNOWN = "unknown"  # no part of a store


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroup:
    """Files of a store that are treated alike: the one with a name, or those that a pattern takes in (`stream/*`).

    `purpose` is what their key is for, and `label` what people call them, in the order of `place`. Those that
    are `hidden` are shown to nobody, decrypted or not.
    """

    pattern: str
    form: Treatment
    purpose: str = ""
    label: str = ""
    place: int = 100
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFile:
    """A file of a store, by its path below it."""

    name: str
    form: Treatment
    purpose: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldStore:
    """A store that nobody else has, with its old keys; `execute` asks its `memory.db`."""

    directory: Path
    files: Sequence[StoreFile]
    encrypted: bool
    execute: Execute


class Unprepared(HexadError):
    """Something is not yet in the files that are to be written anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChangeHooks:
    """What a system has to do with it when a store's files are written anew under other keys.

    `prepare` is handed the open store before, where that has `folder`. `require` raises as long as nothing is written:
    `Unprepared` to have `prepare` called again. `note` changes in the new `memory.db` what rows say of files; it
    is handed the bytes and the SHA-256 of each new file, by its name.
    """

    folder: str
    prepare: Callable[[Any], object]
    require: Callable[[HeldStore], object]
    note: Callable[[Execute, Mapping[str, tuple[int, str]]], object]


class RowEraser(Protocol):
    """Takes out of a system's tables what a selection names and what is no memory."""

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove them, and note how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One system. A store's schema, upkeep, checks, erasures, exports, wipes, status and new keys walk the list of all.

    Every table is in a section of `export`, or told with one or with a memory or link (`told_with`), or says nothing of
    anybody (`derived`): indexes, manifests, counts, and concepts of packs that came from outside. `subjects` are
    queries for the names of people whose data its own rows are.
    """

    name: str
    schema: tuple[SchemaStep, ...] = ()
    jobs: tuple[Job, ...] = ()
    memory_tables: tuple[MemoryTable, ...] = ()
    promises: tuple[Promise, ...] = ()
    checks: tuple[Check, ...] = ()
    file_checks: tuple[Check, ...] = ()
    erasers: tuple[Callable[[Database], RowEraser], ...] = ()
    export: tuple[ExportSection, ...] = ()
    told_with: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    counts: tuple[Count, ...] = ()
    session_looks: tuple[SessionLook, ...] = ()
    subjects: tuple[str, ...] = ()
    wipes: tuple[Wipe, ...] = ()
    files: tuple[FileGroup, ...] = ()
    key_changes: tuple[KeyChangeHooks, ...] = ()
