"""What may stand for a node in a context: the whole, else a part that says as much as there is room for.

whole ─ the chunk that answers, or that is nearest to the question ─ long summary ─ short summary ─ micro summary
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hexad.honeycomb.tables.nodes import NodeText
from hexad.honeycomb.values import PieceForm
from hexad.memory.store import Stores
from hexad.search.vectors.quantization import cosines_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
