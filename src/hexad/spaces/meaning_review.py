"""Memories that instruct a model by what they mean: marked, and held for a review where they are not trusted.

It follows the vectors, whoever computed them and when: what was embedded since the last look, and all of a store that
is older than the model. Nothing is embedded anew but sentences of what seems suspect, and nothing waits for it: a
memory is stored, and recalled, before it is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from hexad.core.audit_notes import AuditEvent, AuditSink
from hexad.core.erasure import masked_item
from hexad.core.json_types import JSONObject
from hexad.database.component import Stop, never
from hexad.database.store_context import StoreContext
from hexad.ingest.write.guard import INSTRUCTIONS, Objection, quarantined
from hexad.memory.memory import INSTRUCTION_LIKE, QUARANTINE, Memory, Status
from hexad.memory.policy import parse_stored
from hexad.memory.store import Stores
from hexad.providers.embedders.base import Embedder
from hexad.redaction.injection.meaning import MEANING, MeaningModel
from hexad.search.indexer import Indexer
from hexad.search.vectors.table import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_REVIEWED: Final = "reviewed_by_meaning"
"""The model, and the number of the last vector that it looked at."""
_BATCH_VECTORS: Final = 4_096
HELD: Final = "quarantine_held"


class MeaningReview:
    """Looks at vectors that nobody looked at yet. Several processes may: who comes second finds it done."""

    def __init__(
        self, context: StoreContext, everything: Stores, *, catalog: Indexer, audit: AuditSink
    ) -> None:
        self._context, self._stores, self._catalog, self._audit = context, everything, catalog, audit
        self._vectors = Vectors(everything.db)
        self._model = MeaningModel()

    def run(self, embedder: Embedder, *, stop: Stop = never) -> int:
        """Look at what is new; return how many memories were marked. Vectors of another embedder tell it nothing."""
        weights = self._model.weights
        recorded = self._stores.meta.recorded_embedder()
        if embedder.name != weights.embedder or recorded is None or recorded[0] != weights.embedder:
            return 0
        noted, _, at = (self._stores.meta.get(_REVIEWED) or "").rpartition(" ")
        first = last = int(at) if noted == self._model.name else 0
        marked = 0
        while not stop():
            rows = self._vectors.after(last, dimensions=len(weights.vector), limit=_BATCH_VECTORS)
            if not len(rows.no):
                break
            last = int(rows.no[-1])
            scores = self._model.seeming(rows.matrix.astype("float32"))
            chosen = scores >= weights.seems
            if chosen.any():
                columns = (rows.memory_no[chosen], rows.chunk_no[chosen], scores[chosen])
                marked += self._review(*columns, embedder=embedder)
        if last != first:
            self._stores.meta.put(_REVIEWED, f"{self._model.name} {last}")
        return marked

    def _review(
        self,
        numbers: NDArray[np.int64],
        chunks: NDArray[np.int64],
        scores: NDArray[np.float32],
        *,
        embedder: Embedder,
    ) -> int:
        """Read what seems to instruct, outside of any transaction, and mark what does."""
        memories = self._stores.memories.by_no(sorted(set(numbers.tolist())))
        pieces = self._stores.memories.chunks_of(list(memories))
        flagged: dict[int, Memory] = {}
        for no, chunk_no, score in zip(numbers.tolist(), chunks.tolist(), scores.tolist(), strict=True):
            memory = memories.get(no)
            if memory is None or no in flagged or _is_settled(memory):
                continue
            chunk = next((stored.chunk for stored in pieces.get(no, ()) if stored.no == chunk_no), None)
            if chunk is not None and self._model.instructs(memory.chunk_text(chunk), score, embedder.embed):
                flagged[no] = memory
        return self._mark(flagged, whole={no for no in flagged if len(pieces[no]) == 1}) if flagged else 0

    def _mark(self, flagged: Mapping[int, Memory], *, whole: set[int]) -> int:
        at, marked = self._context.clock.now(), 0
        with self._stores.db.transaction():
            now_there = self._stores.memories.by_no(list(flagged))
            for no, seen in flagged.items():
                memory = now_there.get(no)
                if memory is None or memory.content_hash != seen.content_hash or _is_settled(memory):
                    continue
                kinds = sorted({*memory.instruction_like, MEANING})
                metadata: JSONObject = {**memory.metadata, INSTRUCTION_LIKE: kinds}
                if no in whole and self._may_not_stand(memory):
                    metadata = self._held(no, memory, metadata, at)
                self._stores.memories.set_metadata(no, metadata)
                marked += 1
        return marked

    def _may_not_stand(self, memory: Memory) -> bool:
        protection = parse_stored(self._stores.spaces.get(memory.space).policies).protection
        return protection.quarantine is not None and memory.trust.rank <= protection.quarantine.rank

    def _held(self, no: int, memory: Memory, metadata: JSONObject, at: datetime) -> JSONObject:
        """Take a memory out of recall until its store's owner has looked at it; return its metadata then."""
        held = quarantined(memory, Objection(reasons=(INSTRUCTIONS,)))
        self._catalog.archive(no, at=at)
        self._stores.memories.set_status(no, Status.QUARANTINED, at=at)
        self._audit.record(
            AuditEvent(
                what=HELD,
                at=at,
                detail={
                    "memory": masked_item(self._context.salt(), memory.id),
                    "space": memory.space,
                    "reasons": [INSTRUCTIONS],
                },
            )
        )
        return {**metadata, QUARANTINE: held.metadata[QUARANTINE]}


def _is_settled(memory: Memory) -> bool:
    """Whether nothing is to be said of it: out of recall, marked already, or let in by its owner."""
    return (
        memory.status is not Status.ACTIVE
        or MEANING in memory.instruction_like
        or isinstance(memory.metadata.get(QUARANTINE), Mapping)
    )
