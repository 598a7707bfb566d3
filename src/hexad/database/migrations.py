"""Numbered changes of a database's schema, each applied once, in its own transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.core.clock import Clock
from hexad.database.connection import Connection, Database
from hexad.errors import IntegrityError

SCHEMA_VERSION: Final = 25
"""The newest migration of all components: a store that is opened has to know it, and loads none of them for that."""

_DDL = """
CREATE TABLE IF NOT EXISTS schema_migrations (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step: `apply` changes schema or rows in a transaction that it neither begins nor ends."""

    number: int
    name: str
    apply: Callable[[Connection], None]


def apply(database: Database, migrations: Sequence[Migration], clock: Clock) -> list[int]:
    """Bring the store up to date; return the numbers that this call applied, often none.

    Each migration commits together with its row, so a killed run goes on where it stopped, and of several
    processes exactly one applies it. A new store gets all of them in one commit, with one sync instead of one for
    each. Raises `IntegrityError` for a store that a newer version has migrated.
    """
    numbers = [migration.number for migration in migrations]
    if numbers != list(range(1, len(numbers) + 1)):
        raise ValueError(f"migrations must be numbered 1, 2, 3, … without gaps, not {numbers}")
    newest = _newest(database, len(migrations))
    if newest == len(migrations):
        hold_to(database, newest)
        return []
    database.guard_writes(None)
    commits = [[migration] for migration in migrations] if newest else [migrations]
    applied = [number for together in commits for number in _commit(database, together, clock)]
    _newest(database, len(migrations))
    hold_to(database, len(migrations))
    return applied


def hold_to(database: Database, number: int) -> None:
    """Refuse every later transaction of this `Database` once another program has migrated the file beyond `number`.

    What this program would write is meant for tables that are not those any more.
    """

    def look(con: Connection) -> None:
        row = con.execute("SELECT max(number) FROM schema_migrations").fetchone()
        if row is None or row[0] != number:
            raise IntegrityError(
                f"The store {database.path} was migrated meanwhile by another version of Hexad: it has schema "
                f"{None if row is None else row[0]!r}, this program was started with {number}. Nothing was written. "
                "Start it again, with the newer version."
            )

    database.guard_writes(look)


def newest(database: Database) -> int:
    """Return the number of the last migration that the store has, 0 for none."""
    with database.read() as con:
        if not con.execute("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").fetchone():
            return 0
        row = con.execute("SELECT max(number) FROM schema_migrations").fetchone()
    return row[0] if row and isinstance(row[0], int) else 0


def _commit(database: Database, migrations: Sequence[Migration], clock: Clock) -> list[int]:
    """Apply migrations in one transaction; return the numbers of those that were not applied yet."""
    applied: list[int] = []
    with database.transaction() as con:
        con.execute(_DDL)
        for migration in migrations:
            # Asked again in line: another process may have applied it since.
            if con.execute(
                "SELECT 1 FROM schema_migrations WHERE number = ?", (migration.number,)
            ).fetchone():
                continue
            migration.apply(con)
            con.execute(
                "INSERT INTO schema_migrations(number, name, applied_at) VALUES(?, ?, ?)",
                (migration.number, migration.name, clock.now().isoformat()),
            )
            applied.append(migration.number)
    return applied


def _newest(database: Database, known: int) -> int:
    """Return the highest migration that the store has; raise when it is above `known`."""
    with database.read() as con:
        if not con.execute("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").fetchone():
            return 0
        newest, name = con.execute(
            "SELECT number, name FROM schema_migrations ORDER BY number DESC LIMIT 1"
        ).fetchone() or (0, "")
    number = newest if isinstance(newest, int) else 0
    if number > known:
        raise IntegrityError(
            f"The store {database.path} was written by a newer version of Hexad: it has schema {number} "
            f"({name!r}), this version knows up to {known}. Install the newer version; "
            "the store was left unchanged."
        )
    return number
