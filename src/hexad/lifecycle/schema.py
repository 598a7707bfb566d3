"""The tables of `memory.db`, as numbered migrations, put together from what each system adds.

Times are integers: microseconds since 1970 in UTC. Truth and index meet here: `chunk_fts` and `vectors` can be
rebuilt from `memories` and `chunks`; everything else is truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from hexad.core.clock import Clock
from hexad.database.connection import Connection, Database
from hexad.database.migrations import Migration, apply, newest
from hexad.errors import IntegrityError
from hexad.services import components

if TYPE_CHECKING:
    from hexad.database.component import SchemaStep

_NAMES: Final = (
    "foundation", "structured", "stream", "folksonomy", "documents", "tiers", "sidecars", "upkeep", "erasure",
    "stream erasure", "derivations", "facts by their look", "memories named by notes", "honeycomb", "layers",
)  # fmt: skip
VERSION: Final = len(_NAMES)
"""The number of the last migration."""


def migrations() -> tuple[Migration, ...]:
    """Return all migrations of a store, from the first."""
    steps = [step for component in components() for step in component.schema]
    return tuple(
        Migration(
            number=number, name=name, apply=_in_order([step for step in steps if step.number == number])
        )
        for number, name in enumerate(_NAMES, 1)
    )


def _in_order(steps: Sequence[SchemaStep]) -> Callable[[Connection], None]:
    def run(con: Connection) -> None:
        for step in sorted(steps, key=lambda step: step.place):
            step.apply(con)

    return run


def bring_up_to_date(db: Database, clock: Clock) -> None:
    """Apply the migrations that a store does not have yet; what they are is loaded only then."""
    if newest(db) != VERSION:
        apply(db, migrations(), clock)


def require_current(db: Database) -> None:
    """Raise `IntegrityError` unless the store has exactly this version's schema; for opening read-only."""
    number = newest(db)
    if number != VERSION:
        raise IntegrityError(
            f"The store {db.path} has schema {number!r}, this version needs {VERSION}. "
            "Open it once for writing to bring it up to date, or install the version of Hexad that wrote it."
        )
