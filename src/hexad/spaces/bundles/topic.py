"""What has to do with a topic: by recall's own measure, so that a bundle and a recall agree on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hexad.core.arguments import is_text
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.search.recall.current_first import asks_past
from hexad.search.recall.query_terms import RecallOptions
from hexad.search.recall.recaller import TEXT_ALONE
from hexad.search.recall.relevance import LEAST_RELEVANCE
from hexad.search.recall.results import Seed, Seeds
from hexad.search.recall.successors import last_links, put_current_first
from hexad.spaces.bundles.bundle import BundleOptions
from hexad.spaces.bundles.orderings.all import Orderings

NEAREST: Final = 200
"""Memories near the topic that are looked at."""
PINNED_AMONG: Final = 2
"""What is pinned goes before the rest where it is among so many times `limit` of the nearest."""
WORDS_ALONE: Final = "What has to do with the topic was told by words alone: no embedder is open."
LEAST_SHARE: Final = 0.5
"""What is less likely to answer than `LEAST_RELEVANCE` stays where it has half of the words of the best, by weight."""
_DIGITS: Final = 3


Rank = Callable[[str, RecallOptions], Seeds]
"""Finds what a recall would, without its texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPart:
    """A space of a project; `numbers` are the rows that are meant where that is not all of it."""

    space: str
    numbers: frozenset[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicMatches:
    """What of some scopes has to do with a topic: the row numbers that a bundle is made of, and what each is worth.

    `relevances` has all that is near the topic, also what a bundle has no room for; `superseded` what gave way.
    """

    chosen: frozenset[int] = frozenset()
    relevances: Mapping[int, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    superseded: frozenset[int] = frozenset()


class TopicJudge:
    """Tells what has to do with a topic from what has not."""

    def __init__(self, stores: Stores, orderings: Orderings, rank: Rank) -> None:
        self._stores, self._orderings, self._rank = stores, orderings, rank

    def judge(self, topic: str, scopes: Sequence[ProjectPart], options: BundleOptions) -> TopicMatches:
        """Return what of these scopes has to do with the topic, and the `limit` that a bundle is made of.

        Those are the nearest, of what is pinned first; in which order they stand is not said here. What was
        said of earlier answers does not count: a bundle is the same whoever read it before.
        """
        spaces = tuple(dict.fromkeys(scope.space for scope in scopes))
        filters = Filters(spaces=spaces, path=options.path, roles=self._stores.roles)
        nearest = RecallOptions(
            filters=filters, limit=NEAREST, near=True, folds=False, feedback=False, unasked=True
        )
        found = self._rank(topic, nearest)
        near = [seed for seed in found.seeds if _touches(seed, found)]
        numbers, whole = {seed.no for seed in near}, 0
        inside: set[int] = set()
        for scope in scopes:
            space_no = self._stores.spaces.get(scope.space).no
            meant = numbers if scope.numbers is None else numbers & scope.numbers
            inside |= self._orderings.admitted(space_no, options, meant)
            whole += self._orderings.count(space_no, options, among=scope.numbers)
        seeds = [seed for seed in near if seed.no in inside]
        current, gave_way = self._current(seeds, topic)
        return TopicMatches(
            chosen=self._chosen(current, options),
            relevances={seed.no: round(seed.relevance, _DIGITS) for seed in seeds},
            notes=_notes(found.notes, near=len(near), inside=len(seeds), whole=whole),
            superseded=frozenset(seed.no for seed in gave_way),
        )

    def _current(self, seeds: Sequence[Seed], topic: str) -> tuple[Sequence[Seed], Sequence[Seed]]:
        """Return them without what was superseded, which would take the room of others, and that."""
        if asks_past(topic):
            return seeds, ()
        last = last_links(self._stores.updates.of([seed.no for seed in seeds]))
        return put_current_first(
            seeds,
            name=lambda seed: seed.no,
            successor=lambda seed: last[seed.no].new if seed.no in last else None,
            leads=lambda old, new: new.score >= old.score,
            keeps_old=False,
        )

    def _chosen(self, seeds: Sequence[Seed], options: BundleOptions) -> frozenset[int]:
        numbers = [seed.no for seed in seeds]
        pinned = self._stores.places.passing(numbers[: PINNED_AMONG * options.limit], Filters(pinned=True))
        first = [no for no in numbers[1:] if no in pinned]
        rest = [no for no in numbers[1:] if no not in pinned]
        return frozenset([*numbers[:1], *first, *rest][: options.limit])


def names_topic(topic: str) -> bool:
    """Whether a topic says anything that something could have to do with."""
    return is_text(topic) and bool(topic.strip())


def _touches(seed: Seed, found: Seeds) -> bool:
    """Whether a memory may answer, taken as the second best: a topic has no single right answer as a question has."""
    best = found.seeds[0]
    return (
        seed is best
        or seed.share >= LEAST_SHARE
        or found.evidence.relevance(lead=seed.score - best.score, rank=1) >= LEAST_RELEVANCE
    )


def _notes(of_recall: Sequence[str], *, near: int, inside: int, whole: int) -> tuple[str, ...]:
    if not whole:
        return ()
    notes = [WORDS_ALONE if note == TEXT_ALONE else note for note in of_recall]
    if near >= NEAREST:
        notes.append(f"Left out what is further from the topic than the {NEAREST} nearest memories.")
    elif inside < whole:
        notes.append(f"Left out as off the topic: {whole - inside} of {whole} memories.")
    return tuple(notes)
