"""Search in an open store: recall, and the vectors of the embedder that it was opened with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hexad.database.change_counters import ChangeReader
from hexad.database.encryption.cipher import CACHE, cipher_of
from hexad.database.meta import STORE_ID
from hexad.database.store_context import StoreContext
from hexad.memory.store import Stores
from hexad.providers.budgets.metering import query_embedder
from hexad.providers.embedders.base import Embedder
from hexad.providers.embedders.first_vectors import FirstVectorModel
from hexad.providers.embedders.minilm import MiniLmEmbedder
from hexad.search.embedding_job import EmbeddingJob, SplitText
from hexad.search.first_vectors import FirstVectors
from hexad.search.fulltext import FullText
from hexad.search.recall.candidate_search import CandidateSearch
from hexad.search.recall.candidate_vectors import CandidateVectors
from hexad.search.recall.recall_log import RecallLog
from hexad.search.recall.recaller import ApplyBoost, Recaller, Rings, Successions
from hexad.search.vectors.index import VectorIndex
from hexad.search.vectors.table import Vectors
from hexad.search.wanted_vectors import WantedVectors

if TYPE_CHECKING:
    from hexad.search.recall.reranking import Reranking


class SearchService:
    """What depends on the embedder; a store that gets another one gets another of these."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        everything: Stores,
        fulltext: FullText,
        embedder: Embedder | None,
        *,
        handouts: RecallLog,
        boost: ApplyBoost,
        rings: Rings,
        successions: Successions,
        reranking: Reranking | None,
        split: SplitText,
    ) -> None:
        """`everything` hides nothing: vectors are computed of what whoever opened the store may not see, too."""
        self.embedder = embedder
        self._context, self._stores = context, stores
        self._vectors = Vectors(context.db)
        self._index: VectorIndex | None = None
        wanted = WantedVectors()
        self.job = (
            None
            if embedder is None
            else EmbeddingJob(
                everything,
                embedder,
                wanted=wanted,
                split=split,
                clock=context.clock,
                owner=context.owner,
                alive=context.alive,
            )
        )
        self.first = (
            FirstVectors(
                everything,
                FirstVectorModel(embedder.model_dir if isinstance(embedder, MiniLmEmbedder) else None),
                ChangeReader(context.db),
                clock=context.clock,
            )
            if embedder is not None and embedder.name == MiniLmEmbedder.name
            else None
        )
        self.recaller = Recaller(
            stores,
            CandidateSearch(
                stores,
                fulltext,
                self.index,
                changes=ChangeReader(context.db),
                fitting=successions.fitting,
                calibrated=embedder is not None and embedder.name == MiniLmEmbedder.name,
                on_the_spot=None
                if embedder is None
                else CandidateVectors(everything, embedder, wanted, clock=context.clock),
                first=self.first,
            ),
            embed_query=None if embedder is None else query_embedder(embedder),
            handouts=None if context.db.readonly else handouts,
            clock=context.clock,
            boost=None if context.settings.router.get("feedback") is False else boost,
            rings=rings,
            successions=successions,
            background=context.background and not context.db.readonly,
        )
        self.recaller.reranking = reranking

    def steady_recaller(self) -> Recaller:
        """Return a recaller that computes no vectors in a question: its answers hang on the store, not on time."""
        return self.recaller.with_query_embedder(lambda embed: embed)

    def index(self) -> VectorIndex | None:
        """Return the index, made when the first vector search needs it; None while no vector is from our embedder.

        Asked each time: another process may have re-embedded the store, and vectors of two embedders cannot be
        compared.
        """
        recorded = self._stores.meta.recorded_embedder()
        if recorded is None or self.embedder is None or recorded[0] != self.embedder.name:
            return None
        if self._index is None:
            name, dimensions = recorded
            self._index = VectorIndex(
                self._vectors,
                ChangeReader(self._context.db),
                dimensions=dimensions,
                cache=None if self._context.db.readonly else self._context.directory / "cache",
                identity=f"{self._stores.meta.get(STORE_ID)} {name}",
                cipher=cipher_of(self._context.crypt, CACHE),
            )
        return self._index

    def embed(
        self,
        *,
        limit: int | None = None,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Compute vectors that are missing; return of how many memories. Without an embedder there is nothing to do."""
        return 0 if self.job is None else self.job.run(limit=limit, stop=stop, progress=progress)

    def store_computed(self) -> int:
        """Store the vectors that questions had computed; return of how many memories."""
        return 0 if self.job is None or self._context.db.readonly else self.job.store_computed()

    def compute_first(self, stop: Callable[[], bool]) -> None:
        """Compute the first vectors that questions left out, if there were questions."""
        if self.first is not None:
            self.first.fill(stop)
