"""`check`: rows, full text, vectors, files and hashes, and in words what is wrong."""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from hexad.database.component import Component
from hexad.database.encryption.file_swap import FOLDER as CONVERSION
from hexad.database.encryption.inventory import exposed, inventory_of
from hexad.database.store_context import StoreContext
from hexad.maintenance.row_checks import check_rows, check_vectors
from hexad.memory.policy import audience, parse_stored
from hexad.memory.store import Stores
from hexad.search.fulltext import FullText
from hexad.search.indexer import EMBED


def check(
    context: StoreContext,
    stores: Stores,
    fulltext: FullText,
    components: Sequence[Component],
    *,
    dimensions: int | None,
) -> list[str]:
    """Return in words what is wrong with a store; an empty list when all is well."""
    promises = [promise for component in components for promise in component.promises]
    problems = list(check_rows(context.db, promises))
    if not problems:
        problems += fulltext.check()
        problems += check_vectors(context.db, dimensions=dimensions, awaited=EMBED)
        problems += _audiences(stores)
        for component in components:
            for look in component.checks:
                problems += look(context)
        for component in components:
            for look in component.file_checks:
                problems += look(context)
    inventory = inventory_of(components)
    problems += _files(context.directory, inventory.expected_names)
    problems += exposed(context.directory, inventory, encrypted=context.crypt is not None)
    problem = context.keys.state().problem
    if problem is not None and problem not in problems:
        problems.append(problem)
    return problems


def _audiences(stores: Stores) -> Iterator[str]:
    """Yield whom a space's policy hides from somebody who may see it, and the other way round."""
    for space in stores.spaces.list():
        policies = parse_stored(space.policies)
        for row, roles in stores.audiences.of_space(space.no):
            admitted = audience(policies, row)
            # A folder's summary may be closed to more people until the next ingest writes it anew.
            narrower = (
                row.kind == "overview" and roles is not None and (admitted is None or roles <= admitted)
            )
            if roles != admitted and not narrower:
                yield (
                    f"A memory of space {space.name!r} ({row.path!r}) is open to {_roles(roles)} instead of "
                    f"{_roles(admitted)}. Set the space's policy again: `hexad spaces policy`."
                )
                break


def _roles(roles: frozenset[str] | None) -> str:
    return "everybody" if roles is None else ", ".join(sorted(roles)) or "the owner alone"


def _files(directory: Path, expected: Collection[str]) -> Iterator[str]:
    for path in sorted(directory.iterdir()):
        if path.name == CONVERSION:
            yield (
                f"{path} is what an interrupted change of the encryption left, and its files may be plain. Open the "
                "store once for writing, which removes it."
            )
        elif path.name not in expected and not path.name.startswith("."):
            yield f"{path} is not part of a store; nothing reads it. Move it away if it is yours."
    for name in ("memory.db",):  # the key file is looked at with what it holds
        path = directory / name
        if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            mode = stat.S_IMODE(path.stat().st_mode)
            yield f"{path} can be read by others (mode {mode:04o}). Run `chmod 600 {path}`."
