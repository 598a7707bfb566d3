"""A line of work that a process has in hand, and what the desk that keeps it is handed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from hexad.core.clock import Clock
from hexad.core.ids import IdSource
from hexad.database.connection import Database
from hexad.errors import NotFound
from hexad.ingest.sources.checkout import Checkout, Workplace, checkout
from hexad.layers.session.changes import Change
from hexad.layers.session.table import WorkingSets
from hexad.layers.session.working_set import Boundary, WorkingSet


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskNeeds:
    """What it is handed. `folder` is where work is done when nobody says; `mask` takes secrets out of a text."""

    db: Database
    clock: Clock
    ids: IdSource
    owner: str
    alive: Callable[[], Collection[str]]
    folder: Path
    mask: Callable[[str], str]
    background: bool


@dataclass(slots=True, eq=False)
class Line:
    """One line of work; `state` is its working set with what waits in `pending`. `checkout` None: it
    has come to its end.
    """  # fmt: skip

    state: WorkingSet
    checkout: Checkout | None
    folder: Path
    stamp: tuple[int, ...] = ()
    pending: list[Change] = field(default_factory=list)
    saved_s: float = -1.0
    resting: bool = False
    guest: bool = False
    """Whether another process has it in hand too: it stays with that one."""

    def apply(self, change: Change) -> None:
        """Make a change, and have it written."""
        self.state = change(self.state)
        self.pending.append(change)


def known_place(needs: DeskNeeds, folder: Path | None) -> Checkout:
    """Return where a folder is, by names that hold no secret; None is the store's own folder."""
    found = checkout(needs.folder if folder is None else folder)
    place, mask = found.place, needs.mask
    return Checkout(
        Workplace(
            repository=mask(place.repository),
            worktree=mask(place.worktree),
            branch=None if place.branch is None else mask(place.branch),
        ),
        found.head,
        found.folder,
    )


def left_at(boundary: Boundary, following: WorkingSet, sets: WorkingSets) -> WorkingSet | None:
    """Return what was left at a boundary of this kind and is now come back to."""
    ticket = following.ticket if boundary is Boundary.TICKET else None
    if boundary is Boundary.TICKET and ticket is None:
        return None
    found = [
        *sets.latest(following.place, ticket=ticket, left_by=boundary),
        *sets.latest(following.place, ticket=ticket),
    ]
    free = [working_set for working_set in found if not working_set.active and not working_set.is_empty]
    return max(free, key=lambda working_set: working_set.updated_at, default=None)


def moved(working_set: WorkingSet, place: Workplace) -> WorkingSet:
    """Return a working set as one of another place."""
    return replace(working_set, place=place)


def require_going_on(line: Line) -> None:
    """Raise `NotFound` for a line that has come to its end."""
    if line.checkout is None:
        raise NotFound(f"Session {line.state.id!r} has ended; `hx.session.resume` goes on with it.")
