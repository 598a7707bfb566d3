"""The orderings of document 1 over the memories of a space, exact, from views that follow every change.

The formulas stand in the modules `basic`, `patricia`, `raptor`, `hybrid` and `temporal`. Every ordering ends with the
same ties: score descending, `updated_at` descending, path, id. `order="strict"` puts what is pinned before the rest
and, inside each half, high relevance before medium before everything else, whatever the scores.

Only active memories of the space are ordered, and only what `stores.roles` may see: the numbers of how often a word
occurs, and what is pinned, are those of the visible memories, so that they betray nothing. `require_high_relevance`
and `path` (as `text.paths.matches` says) choose among them and leave those numbers as they are. Stored data is never
changed.
"""

from __future__ import annotations

import threading
from bisect import insort
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from hexad.core.arguments import quoted
from hexad.database.change_counters import ChangeReader
from hexad.database.connection import Connection
from hexad.errors import InvalidInput
from hexad.memory.policy import Backend
from hexad.memory.store import Stores
from hexad.memory.tables.ngram_filters import REBUILT
from hexad.spaces.bundles.bundle import BundleOptions
from hexad.spaces.bundles.orderings.basic import BasicTopic, NewestFirst
from hexad.spaces.bundles.orderings.hybrid import HybridKind, HybridTopic
from hexad.spaces.bundles.orderings.patricia import PatriciaKind, PatriciaTopic
from hexad.spaces.bundles.orderings.question import ContainmentQuery, Scorer, TopicQuestion, ask
from hexad.spaces.bundles.orderings.raptor import RaptorKind, RaptorTopic
from hexad.spaces.bundles.orderings.space_view import SpaceView
from hexad.spaces.bundles.orderings.temporal import TemporalKind, TemporalTopic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_BATCH_LEAST: Final = 16
_BATCH_MOST: Final = 256
_HEAD_LEAST: Final = 256
_WHOLE_SHARE: Final = 4
"""From this share of all slots on, bounds are computed for all of them."""

Place = tuple[float, int, int, int]
"""Where a memory comes, smaller first: score and time negated, rank of path and id, slot."""


def first(view: SpaceView, scorer: Scorer, pool: NDArray[np.int64], *, limit: int) -> list[tuple[int, float]]:
    """Return `(slot, score)` of the first `limit` of the slots in `pool`, in order."""
    if limit <= 0 or not len(pool):
        return []
    bounds = _bounds(view, scorer, pool)
    best: list[Place] = []
    for batch, next_bound in _in_order_of_bounds(view, pool, bounds, limit=limit):
        slots = pool[batch]
        scores = scorer.scores(slots, _settled(view, scorer, slots)) if scorer.claims else bounds[batch]
        for slot, score in zip(slots.tolist(), scores.tolist(), strict=True):
            insort(best, (-score, -int(view.updated[slot]), int(view.rank[slot]), slot))
        del best[limit:]
        if next_bound is None or (len(best) == limit and best[-1] < next_bound):
            break
    return [(slot, -score) for score, _, _, slot in best]


def _bounds(view: SpaceView, scorer: Scorer, pool: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the scores in which every claim holds that signatures do not rule out."""
    if _WHOLE_SHARE * len(pool) < view.size:
        return scorer.scores(pool, [claim.maybe[pool] for claim in scorer.claims])
    bounds = scorer.scores(slice(0, view.size), [claim.maybe for claim in scorer.claims])
    return bounds if len(pool) == view.size else bounds[pool]


def _in_order_of_bounds(
    view: SpaceView, pool: NDArray[np.int64], bounds: NDArray[np.float64], *, limit: int
) -> Iterator[tuple[NDArray[np.int64], Place | None]]:
    """Give indexes of the pool in batches, the highest bounds first, with the place of the next one by its bound."""
    import numpy as np

    updated, rank = view.updated[pool], -view.rank[pool]
    left = np.arange(len(pool))
    want, size = max(_HEAD_LEAST, 2 * limit), max(_BATCH_LEAST, limit)
    while len(left):
        # One more than is given: the place of the next one must be known.
        head = _leading(left, (bounds, updated, rank), want + 1)
        places = head if len(head) == len(left) else head[:-1]
        at = 0
        while at < len(places):
            batch = places[at : at + size]
            at += len(batch)
            place = None
            if at < len(head):
                following = head[at]
                place = (-float(bounds[following]), -int(updated[following]), -int(rank[following]), -1)
            yield batch, place
            size = min(2 * size, _BATCH_MOST)
        rest = np.ones(len(pool), dtype=bool)
        rest[places] = False
        left = left[rest[left]]
        want *= 4


def _leading(
    numbers: NDArray[np.int64], columns: Sequence[NDArray[np.generic]], count: int
) -> NDArray[np.int64]:
    """Return the first `count` of `numbers`, ordered: the largest by the first column, ties by the next ones."""
    import numpy as np

    chosen: list[NDArray[np.int64]] = []
    rest = numbers
    for column in columns:
        if len(rest) <= count:
            break
        values = column[rest]
        border = np.partition(values, len(values) - count)[len(values) - count]
        above = rest[values > border]
        chosen.append(above)
        count -= len(above)
        rest = rest[values == border]
    order = np.concatenate([*chosen, rest])
    return order[np.lexsort([-column[order] for column in reversed(columns)])]


def _settled(view: SpaceView, scorer: Scorer, batch: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Return what holds of each claim, for a batch of slots, after reading the texts that are needed for it."""
    import numpy as np

    settled = [claim.maybe[batch] for claim in scorer.claims]
    unread = np.zeros(len(batch), dtype=bool)
    waiting: list[tuple[ContainmentQuery, NDArray[np.bool_], NDArray[np.int64]]] = []
    for claim, array in zip(scorer.claims, settled, strict=True):
        if claim.text == "path":
            for at in np.flatnonzero(array).tolist():
                array[at] = claim.needle in view.lowered[batch[at]]
            continue
        at_open = np.flatnonzero(array & ~view.is_settled(claim.text, claim.needle, batch))
        if len(at_open):
            unread[at_open] = True
            waiting.append((claim, array, at_open))
    fields = sorted({claim.text for claim, _, _ in waiting})
    texts = view.texts(batch[unread].tolist(), fields) if fields else {}
    for claim, array, at_open in waiting:
        place = fields.index(claim.text)
        for at in at_open.tolist():
            array[at] = claim.needle in texts[int(batch[at])][place]
        view.settle(claim.text, claim.needle, batch[at_open], array[at_open])
    return settled


VIEWS_BYTES: Final = 1 << 30
VIEWS_MOST: Final = 8
"""Spaces whose views are kept, the last used ones."""
FAMILY: Final = "memories"
_TOPIC: Final[Mapping[Backend, Callable[[SpaceView, TopicQuestion], Scorer]]] = {
    Backend.BASIC: BasicTopic,
    Backend.PATRICIA: PatriciaTopic,
    Backend.RAPTOR: RaptorTopic,
    Backend.HYBRID: HybridTopic,
    Backend.TEMPORAL: TemporalTopic,
}


@dataclass(frozen=True, slots=True)
class Ordered:
    """A memory by its row number, and the score by which it stands where it does."""

    no: int
    score: float


class Orderings:
    """Orders the memories of spaces; safe to share between threads.

    A call reads one moment of the store. Inside `stores.db.read()` that is the moment of the block, also when another
    thread has seen a later one meanwhile.
    """

    def __init__(self, stores: Stores, changes: ChangeReader) -> None:
        self._stores = stores
        self._changes = changes
        self._views: OrderedDict[int, SpaceView] = OrderedDict()
        self._rebuilt = 0  # the change of the signatures that the views were read after
        stores.db.caches.add("views of spaces", self)
        self._lock = threading.RLock()

    def topic(
        self,
        space_no: int,
        topic: str,
        options: BundleOptions,
        *,
        backend: Backend,
        now: datetime,
        limit: int,
        among: Collection[int] | None = None,
    ) -> list[Ordered]:
        """Return the first `limit` memories of a space for a topic, in order; of those numbered `among` where given."""
        question = ask(topic, options, now=now)
        with self._stores.db.read() as con, self._lock:
            view = self._view(con, space_no)
            pool = _filtered(view, view.everything(), options)
            if among is not None:
                pool = pool & view.numbered(among)
            return _ordered(view, _TOPIC[backend](view, question), pool, options, limit=limit)

    def kind(
        self,
        space_no: int,
        kind: str,
        options: BundleOptions,
        *,
        backend: Backend,
        now: datetime,
        limit: int,
    ) -> list[Ordered]:
        """Return the first `limit` memories of a kind, in order; none for a kind that no memory has."""
        question = ask("", options, now=now)
        with self._stores.db.read() as con, self._lock:
            view = self._view(con, space_no)
            pool = _filtered(view, view.of_kind(kind.strip().lower()), options)
            if not pool.any():
                return []
            return _ordered(view, _kind_scorer(view, question, pool, backend), pool, options, limit=limit)

    def count(self, space_no: int, options: BundleOptions, *, among: Collection[int] | None = None) -> int:
        """Return how many memories the options let through, whatever the topic; of those `among` where given."""
        with self._stores.db.read() as con, self._lock:
            view = self._view(con, space_no)
            pool = _filtered(view, view.everything(), options)
            return int((pool if among is None else pool & view.numbered(among)).sum())

    def admitted(self, space_no: int, options: BundleOptions, numbers: Collection[int]) -> set[int]:
        """Return those of these memories that are of the space and that the options let through."""
        with self._stores.db.read() as con, self._lock:
            view = self._view(con, space_no)
            slots = (_filtered(view, view.everything(), options) & view.numbered(numbers)).nonzero()[0]
            return {int(no) for no in view.nos[slots]}

    def under(self, space_no: int, prefix: str) -> list[int]:
        """Return the row numbers of what is at or under a path, by path and id; case and whole parts count."""
        with self._stores.db.read() as con, self._lock:
            view = self._view(con, space_no)
            slots = view.under(prefix).nonzero()[0]
            return [int(view.nos[slot]) for slot in slots[view.rank[slots].argsort()]]

    def _view(self, con: Connection, space_no: int) -> SpaceView:
        rev, rebuilt = self._changes.current(FAMILY), self._changes.current(REBUILT)
        if con.writing:
            # What is not committed may never be: no other caller may see it.
            return SpaceView.load(self._stores, space_no, rev)
        if rebuilt != self._rebuilt:
            self._views.clear()
            self._rebuilt = rebuilt
        view = self._views.get(space_no)
        try:
            if view is None or not view.follow(rev):
                fresh = SpaceView.load(self._stores, space_no, rev)
                if view is not None and view.rev > rev:
                    return fresh  # for this reader alone, who stands before what is kept
                view = self._views[space_no] = fresh
        except BaseException:
            self._views.pop(space_no, None)  # half a step is worse than none
            raise
        self._views.move_to_end(space_no)
        while len(self._views) > VIEWS_MOST or self.nbytes() > self.limit_bytes:
            self._views.popitem(last=False)
        return view

    @property
    def limit_bytes(self) -> int:
        """How much the views take at most; a larger one is made for its question and let go of."""
        return VIEWS_BYTES

    def nbytes(self) -> int:
        """Return about how much the views take."""
        return sum(view.nbytes() for view in list(self._views.values()))


def _filtered(view: SpaceView, slots: NDArray[np.bool_], options: BundleOptions) -> NDArray[np.bool_]:
    if options.require_high_relevance:
        slots = slots & (view.level[: view.size] == 2)
    if options.path is not None:
        slots = slots & view.under(options.path)
    return slots


def _kind_scorer(
    view: SpaceView, question: TopicQuestion, pool: NDArray[np.bool_], backend: Backend
) -> Scorer:
    match backend:
        case Backend.PATRICIA:
            return PatriciaKind(view, question)
        case Backend.RAPTOR:
            return RaptorKind(view, question)
        case Backend.HYBRID:
            return HybridKind(view, pool)
        case Backend.TEMPORAL:
            return TemporalKind(view, question)
        case Backend.BASIC:
            return NewestFirst(view)


def _ordered(
    view: SpaceView, scorer: Scorer, pool: NDArray[np.bool_], options: BundleOptions, *, limit: int
) -> list[Ordered]:
    if options.order == "score":
        groups = [pool]
    elif options.order == "strict":
        pinned, level = view.pinned[: view.size], view.level[: view.size]
        groups = [
            pool & (pinned == is_pinned) & (level == high)
            for is_pinned in (True, False)
            for high in (2, 1, 0)
        ]
    else:
        raise InvalidInput(
            f"order = {quoted(options.order)} is unknown; choose 'score' or 'strict'.", argument="order"
        )
    places: list[tuple[int, float]] = []
    for group in groups:
        places += first(view, scorer, group.nonzero()[0], limit=limit - len(places))
        if len(places) >= limit:
            break
    return [Ordered(int(view.nos[slot]), score) for slot, score in places]
