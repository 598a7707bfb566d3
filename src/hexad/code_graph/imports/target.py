"""What an import leads to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class ImportTarget(NamedTuple):
    """What an import leads to: a file, and what is taken of it (empty for the file itself).

    `path` None is outside of the root, or not there; then `outside` names the library, where it is one.
    """

    path: str | None
    name: str = ""
    outside: str = ""


class DefinedName(NamedTuple):
    """A definition of a name that was asked for: `confidence` 0 to 1 says how sure it is that this one is meant."""

    path: str
    qualified: str
    signature: str = ""
    confidence: float = 1.0


Definitions = Callable[[str], Sequence[DefinedName]]
"""Gives all definitions of a root that have a name as the last part of theirs."""


class ImportRules(Protocol):
    """What an import means in the language of a file."""

    def target(self, path: str, module: str, name: str) -> ImportTarget:
        """Return what an import in the file `path` leads to."""


@runtime_checkable
class SharedNames(Protocol):
    """Rules of a language whose files use names of others without an import of them."""

    def elsewhere(self, path: str, name: str) -> DefinedName | None:
        """Return where a name is defined that a file uses without an import of it; None where nothing says so."""


def nearest(path: str, candidates: Sequence[str]) -> str | None:
    """Return the candidate that shares most folders with a path, the shortest of these; None where there is none."""
    folders = path.split("/")[:-1]

    def distance(candidate: str) -> tuple[int, int, str]:
        others = candidate.split("/")[:-1]
        pairs = zip(folders, others, strict=False)
        shared = next(
            (number for number, (own, other) in enumerate(pairs) if own != other),
            min(len(folders), len(others)),
        )
        return -shared, len(others), candidate

    return min(candidates, key=distance, default=None)
