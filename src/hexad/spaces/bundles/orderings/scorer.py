"""What every ordering is to the selection: claims that only a text can settle, and scores that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Slots: TypeAlias = "NDArray[np.int64] | slice"
"""Some slots by number, or all as a slice: picking from every column by number is what takes the time."""


@dataclass(frozen=True, slots=True, eq=False)
class ContainmentQuery:
    """That `needle` stands in a text (`path`, `short`, `long`, `raw`) of a memory, lower-cased.

    `maybe` says by slot where signatures do not rule it out.
    """

    text: str
    needle: str
    maybe: NDArray[np.bool_]


class Scorer(Protocol):
    """One ordering, for one question, over one view. A claim that holds never lowers a score."""

    @property
    def claims(self) -> Sequence[ContainmentQuery]:
        """What scores depend on and only texts can tell."""

    def scores(self, slots: Slots, holds: Sequence[NDArray[np.bool_]]) -> NDArray[np.float64]:
        """Return the scores of slots; `holds` says of each claim for which of them it is taken to be true."""
