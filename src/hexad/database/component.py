"""What a system of a store hands to the place that puts all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from hexad.core.erasure import ErasureBook, ErasurePlan, Selection
from hexad.database.connection import Connection, Database
from hexad.database.store_context import StoreContext

Check = Callable[[StoreContext], Iterable[str]]
"""Yields in words what is wrong; nothing when all is well."""
Promise = tuple[str, str]
"""A query for rows that break a promise of the tables, and what is wrong with one, in words with its columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaStep:
    """What a system adds to the store in the migration with a `number`; `place` orders the steps of one migration."""

    number: int
    apply: Callable[[Connection], object]
    place: int = 0


def script(number: int, sql: str, *, place: int = 0) -> SchemaStep:
    """Return the step that runs statements."""
    return SchemaStep(number=number, apply=lambda con: con.execute(sql), place=place)


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


class RowEraser(Protocol):
    """Takes out of a system's tables what a selection names and what is no memory."""

    def plan(self, selection: Selection, beside: ErasurePlan) -> ErasurePlan:
        """Return how many would go, beside what would go elsewhere."""

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove them, and note how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One system. A store's schema, its checks and its erasures are made by walking the list of all of them."""

    name: str
    schema: tuple[SchemaStep, ...] = ()
    memory_tables: tuple[MemoryTable, ...] = ()
    promises: tuple[Promise, ...] = ()
    checks: tuple[Check, ...] = ()
    file_checks: tuple[Check, ...] = ()
    erasers: tuple[Callable[[Database], RowEraser], ...] = ()
