"""What a walk goes by, and how far it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from hexad.database.codec import to_micros
from hexad.honeycomb.tables.edges import EdgeRow
from hexad.honeycomb.tables.nodes import NodeText
from hexad.honeycomb.values import HoneycombRules, PieceForm
from hexad.honeycomb.walk.prefetch import Ahead, Bounds
from hexad.memory.store import Stores
from hexad.search.vectors.quantization import cosines_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkOptions:
    """How to walk. `thresholds` are by kind of node; `descend` lets the walk into overflow rings.

    `best_first` takes what the question points at most before what is nearer to the entry: a node's strength is its
    own, and `GAIN` × the strength that it was reached from × the edge.
    """

    max_tokens: int
    thresholds: Mapping[str, float]
    descend: bool = True
    best_first: bool = False
    bounds: Bounds = field(default_factory=Bounds)


class Entry(NamedTuple):
    """Where a walk may begin, from 0 to 1 how strongly the question points there, and the chunk that answers."""

    node: int
    strength: float
    chunk_no: int = 0


class Reached(NamedTuple):
    """A node on the way: in this order walks take them."""

    level: int  # how many edges away from an entry; 0 for all where the best comes first
    weakness: float  # the negated strength: the strongest comes first
    node: int
    push: int  # which of the walk's ways led here


class Way(NamedTuple):
    """How a node was reached."""

    depth: int
    edge: EdgeRow | None


class Taken(NamedTuple):
    """A piece, before it is compared with the query."""

    said: NodeText
    form: PieceForm
    text: str
    tokens: int
    way: Way


class Aging:
    """What edges are worth at one moment: `HoneycombRules.aged`, a hundred times in a walk."""

    def __init__(self, rules: HoneycombRules, now: datetime) -> None:
        self._now = to_micros(now)
        self._lives = [None if life is None else life // _MICROSECOND for life in rules.ring_half_lives]

    def aged(self, edge: EdgeRow) -> float:
        """Return what an edge counts now."""
        life = self._lives[min(edge.ring, len(self._lives) - 1)]
        age = self._now - edge.renewed_at
        return edge.score if life is None or age <= 0 else float(edge.score * 0.5 ** (age / life))


@dataclass(slots=True)
class Walk:
    """The state of one walk."""

    options: WalkOptions
    ahead: Ahead
    aging: Aging
    focus: NDArray[np.float64] | None = None  # what pieces are compared with
    heap: list[Reached] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    own: dict[int, Entry] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    depths: dict[int, int] = field(default_factory=dict)
    strengths: dict[int, float] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    level: int = 0
    unexpanded: list[int] = field(default_factory=list)  # what was visited of this level
    taken: list[Taken] = field(default_factory=list)
    text: str = ""
    misses: int = 0
    weak: set[int] = field(default_factory=set)  # where edges below the threshold lead
    left_out: Counter[str] = field(default_factory=Counter)


_SUMMARIES = (PieceForm.LONG, PieceForm.SHORT, PieceForm.MICRO)


def forms_of(
    stores: Stores, said: NodeText, *, chunk_no: int, focus: NDArray[np.float64] | None
) -> Iterator[tuple[PieceForm, str]]:
    """Yield the forms of a node, the best first; those after the whole are read when they are asked for.

    `chunk_no` is the chunk by which a memory was found, 0 for none; `focus` is the question. Nothing that is as long
    as the whole stands for it.
    """
    if said.text:
        yield PieceForm.WHOLE, said.text
    if said.memory_id is None:
        return
    for text in _chunk(stores, said.node_id, chunk_no, focus):
        if 0 < len(text) < len(said.text):
            yield PieceForm.CHUNK, text
    for form, text in zip(_SUMMARIES, stores.honeycomb.summaries(said.node_id), strict=False):
        if 0 < len(text) < len(said.text):
            yield form, text


def _chunk(stores: Stores, memory_no: int, chunk_no: int, focus: NDArray[np.float64] | None) -> list[str]:
    """Return the text of a chunk, or of the one whose vector is the nearest; nothing where there is neither."""
    if not chunk_no and focus is not None:
        import numpy as np

        chunks = stores.vectors.of_chunks(memory_no, dimensions=len(focus))
        if len(chunks) > 1:
            cosines = cosines_of(focus, np.stack([vector for _, vector in chunks]))
            chunk_no = chunks[int(np.argmax(cosines))][0]
    return stores.honeycomb.chunk_text(chunk_no) if chunk_no else []
