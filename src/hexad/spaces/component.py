"""Spaces' policies, as the store puts them together with the other systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.lazy import Lazy
from hexad.database.component import Component, FileGroup, Job, Report, Treatment
from hexad.database.encryption.cipher import EXPORTS
from hexad.database.encryption.store_files import own_files
from hexad.database.store_context import StoreContext
from hexad.errors import HexadError, IntegrityError
from hexad.memory.policy import audience, parse_stored
from hexad.memory.store import Stores
from hexad.spaces.files.reader import load_json, parse_space

if TYPE_CHECKING:
    from hexad.spaces.service import SpacesService


class SpacesSystems(Protocol):
    """What the jobs ask for."""

    spaces: Lazy[SpacesService]


def _sweep(systems: SpacesSystems, report: Report) -> None:
    swept = systems.spaces().sweeper.sweep()
    report["archived"], report["purged"] = swept.archived, swept.purged


def _audiences(context: StoreContext) -> Iterator[str]:
    """Yield whom a space's policy hides from somebody who may see it, and the other way round."""
    stores = Stores(context.db)
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


def _space_files(context: StoreContext) -> Iterator[str]:
    """Yield which files of spaces cannot be read back."""
    own = own_files(context.directory, context.crypt, EXPORTS)
    for file in sorted((context.directory / "spaces").glob("*.json")):
        try:
            parse_space(load_json(file, own), file=file)
        except IntegrityError:
            continue  # plain in an encrypted store, or the other way round: that is said of all files
        except HexadError as error:
            yield str(error)


def _roles(roles: frozenset[str] | None) -> str:
    return "everybody" if roles is None else ", ".join(sorted(roles)) or "the owner alone"


COMPONENT: Final = Component(
    name="spaces",
    jobs=(
        Job(
            name="sweep",
            place=8,
            maintain=_sweep,
            step=lambda systems, stop: systems.spaces().sweeper.sweep_when_due(stop=stop),
        ),
    ),
    checks=(_audiences,),
    file_checks=(_space_files,),
    files=tuple(
        FileGroup(
            pattern=pattern,
            form=Treatment.FILE,
            purpose=EXPORTS,
            label="exports, evidence, space files",
            place=5,
        )
        for pattern in ("spaces/*", "exports/*")
    ),
)
