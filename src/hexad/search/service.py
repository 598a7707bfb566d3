"""Search in an open store: recall, and the vectors of the embedder that it was opened with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from hexad.core.lazy import ByteCache, size_of
from hexad.database.change_counters import BoundedChangeCache, ChangeReader, while_unchanged
from hexad.database.connection import Database
from hexad.database.encryption.cipher import CACHE, cipher_of
from hexad.database.meta import STORE_ID
from hexad.database.store_context import StoreContext
from hexad.memory.store import Stores
from hexad.providers.budgets.metering import query_embedder
from hexad.providers.embedders.base import Embedder
from hexad.providers.embedders.first_vectors import FirstVectorModel
from hexad.providers.embedders.hashing import HashEmbedder
from hexad.providers.embedders.minilm import MiniLmEmbedder
from hexad.search.embedding_job import EmbeddingJob
from hexad.search.first_vectors import FirstVectors
from hexad.search.fulltext import FullText
from hexad.search.recall.candidate_search import CandidateSearch, FindUses
from hexad.search.recall.candidate_vectors import CandidateVectors
from hexad.search.recall.recall_log import RecallLog
from hexad.search.recall.recaller import CheckCitations, Recaller, Rings, Successions
from hexad.search.vectors.index import VectorIndex
from hexad.search.vectors.table import Vectors
from hexad.search.wanted_vectors import WantedVectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hexad.memory.query import Filters
    from hexad.memory.tables.ranking_columns import RankingRow, StandingText
    from hexad.memory.tables.updates import PlainText, UpdateLink
    from hexad.search.recall.fusion import Fusion
    from hexad.search.recall.mentions import ScoredPassage
    from hexad.search.recall.overdue_facts import OverdueFact
    from hexad.search.recall.reranking import Reranking
    from hexad.search.recall.results import Candidates
    from hexad.search.recall.standing import Embed
    from hexad.text.claims.likelihood import Wording


ASSERTIONS_BYTES: Final = 1 << 20
WORDINGS_BYTES: Final = 8 << 20
SENTENCES_BYTES: Final = 1 << 20
"""Short texts that questions compare with each other are taken apart once, as long as no memory changes."""
_WORDING_BYTES: Final = 2_000
_TOKEN_BYTES: Final = 500


class TextReadings:
    """What questions read out of short texts, which is kept until a memory changes."""

    def __init__(self, db: Database) -> None:
        self.assertions = BoundedChangeCache[tuple[str | None]](
            db, ("memories",), limit_bytes=ASSERTIONS_BYTES, size=size_of
        )
        self.wordings = BoundedChangeCache["Wording"](
            db, ("memories",), limit_bytes=WORDINGS_BYTES, size=_wording_bytes
        )
        self.sentences = ByteCache[str, tuple[str, ...]](SENTENCES_BYTES)
        db.caches.add("assertions of texts", self.assertions.kept)
        db.caches.add("wordings of texts", self.wordings.kept)
        db.caches.add("sentences of instructions", self.sentences)

    def successions(self) -> Successions:
        """Return how a recall finds what came in the place of a candidate, with what is kept here."""
        return Successions(_overdue, self.likely_successors, self.fitting, _code_first, self.assertion)

    def assertion(self, text: str) -> str | None:
        """Return what a short text says that does not say what is."""
        return self.assertions.get(text, lambda: (_assertion(text),))[0]

    def fitting(
        self, texts: Sequence[StandingText], question: NDArray[np.float32], embed: Embed
    ) -> Sequence[StandingText]:
        """Return what holds for the answer to a request; loaded where a conversation has something that may."""
        from hexad.search.recall.standing import fitting

        return fitting(texts, question, embed, self.sentences)

    def likely_successors(
        self, question: str, texts: Sequence[PlainText], order: Sequence[int], weak: Sequence[UpdateLink]
    ) -> Sequence[UpdateLink]:
        """Return which texts seem to take the place of which; loads what compares them only where there are two."""
        from hexad.search.recall.likely_successors import likely_successors
        from hexad.text.claims.likelihood import Wording

        def wording(text: str) -> Wording:
            return self.wordings.get(text, lambda: Wording(text))

        return likely_successors(question, texts, order, weak, wording=wording)


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
        rings: Rings,
        reranking: Reranking | None,
        citations: Callable[[], CheckCitations],
        uses: FindUses,
    ) -> None:
        """`everything` hides nothing: vectors are computed of what whoever opened the store may not see, too."""
        self.embedder = embedder
        self._context, self._stores = context, stores
        self._vectors = Vectors(context.db)
        self._index: VectorIndex | None = None
        wanted = WantedVectors()
        context.db.caches.add("vectors of passages", wanted.passages)
        self.job = (
            None
            if embedder is None
            else EmbeddingJob(
                everything,
                embedder,
                wanted=wanted,
                split=_sentences,
                clock=context.clock,
                owner=context.owner,
                alive=context.alive,
            )
        )
        if isinstance(embedder, MiniLmEmbedder | HashEmbedder):
            context.db.caches.add("words of the embedder", embedder.remembered)
            context.db.caches.on_release(embedder.forget_words)
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
        self.readings = TextReadings(context.db)
        self.recaller = Recaller(
            stores,
            CandidateSearch(
                stores,
                fulltext,
                self.index,
                fitting=self.readings.fitting,
                calibrated=embedder is not None and embedder.name == MiniLmEmbedder.name,
                on_the_spot=None
                if embedder is None
                else CandidateVectors(everything, embedder, wanted, clock=context.clock),
                first=self.first,
            ),
            embed_query=None if embedder is None else query_embedder(embedder),
            handouts=None if context.db.readonly else handouts,
            clock=context.clock,
            boost=None if context.settings.router.get("feedback") is False else _boost,
            rings=rings,
            successions=self.readings.successions(),
            background=context.background and not context.db.readonly,
        )
        self.recaller.reranking, self.recaller.citations = reranking, citations
        self.recaller.search.uses = uses

    def steady_recaller(self) -> Recaller:
        """Return a recaller that computes no vectors in a question: its answers hang on the store, not on time."""
        return self.recaller.with_query_embedder(lambda embed: embed)

    def index(self) -> VectorIndex | None:
        """Return the index, made when the first vector search needs it; None while no vector is from our embedder.

        Asked each time: another process may have re-embedded the store, and vectors of two embedders cannot be
        compared.
        """
        recorded = while_unchanged(self._context.db, "embedder", self._stores.meta.recorded_embedder)
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
            self._context.db.caches.add("vectors", self._index)
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

    def last_vector(self) -> int:
        """Return the number of the last vector that the default embedder gave; 0 with another one."""
        if self.embedder is None or self.embedder.name != MiniLmEmbedder.name:
            return 0
        return self._vectors.last_no()

    def store_computed(self) -> int:
        """Store the vectors that questions had computed; return of how many memories."""
        return 0 if self.job is None or self._context.db.readonly else self.job.store_computed()

    def compute_first(self, stop: Callable[[], bool]) -> None:
        """Compute the first vectors that questions left out, if there were questions."""
        if self.first is not None:
            self.first.fill(stop)


# Few questions need these: each loads what it takes when it is called.


def _boost(
    judged: Iterable[tuple[int, str, str, int]],
    candidates: Candidates,
    fusion: Fusion,
    order: Sequence[int],
    *,
    asked: str | None,
    now: datetime,
) -> None:
    """Let what was said of earlier answers count; loaded where something was said of a candidate."""
    from hexad.search.recall.feedback_boost import apply_boost

    apply_boost(judged, candidates, fusion, order, asked=asked, now=now)


def _wording_bytes(wording: Wording) -> int:
    """Return about how much a text takes that was taken apart."""
    return _WORDING_BYTES + _TOKEN_BYTES * len(wording.tokens)


_WORD: Final = re.compile(r"\w+")


def _assertion(text: str) -> str | None:
    """Return what a short text says that does not say what is; its grammar is loaded for what may be such a text."""
    from hexad.text.claims import english

    if not english.may_say_otherwise(_WORD.findall(text.lower())):
        return None
    from hexad.text.claims.assertion import assertion_of

    assertion = assertion_of(text)
    return None if assertion is None else assertion.value


def _code_first(
    search: CandidateSearch,
    candidates: Candidates,
    order: Sequence[int],
    places: Mapping[int, RankingRow],
    fusion: Fusion,
    *,
    filters: Filters,
) -> Mapping[int, Sequence[ScoredPassage]]:
    """Bring code before what speaks of it: loaded where there is code among the candidates."""
    from hexad.search.recall.candidate_passages import CandidatePassages
    from hexad.search.recall.code_ranking import put_code_first

    passages = CandidatePassages(search, candidates, order, fusion, filters=filters)
    return put_code_first(candidates.terms.question, order, places, fusion, passages)


def _sentences(text: str) -> Iterable[tuple[int, int]]:
    """Find the sentences of a text; loaded where turns of conversations are embedded."""
    from hexad.text.summary.sentences import iter_sentences

    return iter_sentences(text)


def _overdue(stores: Stores, keys: Iterable[tuple[str, int]], *, now: datetime) -> Mapping[int, OverdueFact]:
    """Find facts that are over; loaded where the time of a fact has come."""
    from hexad.search.recall.overdue_facts import overdue

    return overdue(stores, keys, now=now)
