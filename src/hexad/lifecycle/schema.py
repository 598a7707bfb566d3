"""The tables of `memory.db`, as numbered migrations, put together from what each system adds.

Times are integers: microseconds since 1970 in UTC. Truth and index meet here: `chunk_fts` and `vectors` can be
rebuilt from `memories` and `chunks`; everything else is truth.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from hexad.core.clock import Clock
from hexad.database.connection import Connection, Database
from hexad.database.migrations import SCHEMA_VERSION, Migration, apply, hold_to, newest
from hexad.database.sqlite_setup import refuse_lost_store
from hexad.errors import IntegrityError
from hexad.services import components

if TYPE_CHECKING:
    from hexad.database.component import SchemaStep


def migrations() -> tuple[Migration, ...]:
    """Return all migrations of a store, from the first."""
    steps = (step for component in components() for step in component.schema)
    in_order = sorted(steps, key=lambda step: (step.number, step.place))
    return tuple(
        _migration(number, list(of_number))
        for number, of_number in groupby(in_order, lambda step: step.number)
    )


def _migration(number: int, steps: list[SchemaStep]) -> Migration:
    def run(con: Connection) -> None:
        for step in steps:
            step.apply(con)

    return Migration(number=number, name=steps[0].name, apply=run)


def bring_up_to_date(db: Database, clock: Clock) -> None:
    """Apply the migrations that a store does not have yet; what they are is loaded only then.

    Raises `IntegrityError` for a database without tables among the files of a store that had some.
    """
    if newest(db) != SCHEMA_VERSION:
        refuse_lost_store(db.path, is_lost=lambda: newest(db) == 0)
        apply(db, migrations(), clock)
    else:
        hold_to(db, SCHEMA_VERSION)


def require_current(db: Database) -> None:
    """Raise `IntegrityError` unless the store has exactly this version's schema; for opening read-only."""
    number = newest(db)
    if number != SCHEMA_VERSION:
        raise IntegrityError(
            f"The store {db.path} has schema {number!r}, this version needs {SCHEMA_VERSION}. "
            "Open it once for writing to bring it up to date, or install the version of Hexad that wrote it."
        )
