"""The cached view of one space: what orderings ask of its memories, in columns, without their texts.

A memory has a slot, a place in every column, as long as it is active. Changed memories are read again one by one; the
order of paths, the clusters of tags, the entity map and the tree of paths follow each change.
"""

from __future__ import annotations

import gc
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import compress
from typing import TYPE_CHECKING, Final, TypeVar, cast

from hexad.database.codec import load_strings
from hexad.memory.store import Stores
from hexad.memory.tables.space_columns import EntityRow, ViewColumns
from hexad.spaces.bundles.orderings.entity_map import EntityMap, Named, entity_tokens, split_tokens
from hexad.spaces.bundles.orderings.ngram_bitmaps import Bitmaps
from hexad.spaces.bundles.orderings.radix_tree import RadixTree
from hexad.text.paths import matches
from hexad.text.similarity.ngram_filter import needle_places

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Number = TypeVar("Number", bound=np.generic)


YEAR_WEIGHT, MONTH_WEIGHT, WEEK_WEIGHT = 1.0, 1.5, 2.0
_HALF: Final = 0.5
_DAY_MICROS: Final = 86_400_000_000
_EPOCH: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A week within a month: `week` is its Monday, in days since 1970."""

    year: int
    month: int
    week: int


@dataclass(slots=True)
class _Month:
    weeks: dict[int, int] = field(default_factory=dict)  # Monday -> number of the leaf


@dataclass(slots=True)
class _Year:
    months: dict[int, _Month] = field(default_factory=dict)


class CalendarTree:
    """The weeks in which something changed, under their months and years."""

    def __init__(self) -> None:
        self._years: dict[int, _Year] = {}
        self._leaves: list[Leaf] = []
        self._by_day: dict[int, int] = {}

    def leaf(self, day: int) -> int:
        """Return the number of the leaf that a day (since 1970) is on, grown when it is new."""
        number = self._by_day.get(day)
        if number is None:
            at = leaf_of(day)
            weeks = self._years.setdefault(at.year, _Year()).months.setdefault(at.month, _Month()).weeks
            number = weeks.setdefault(at.week, len(self._leaves))
            if number == len(self._leaves):
                self._leaves.append(at)
            self._by_day[day] = number
        return number

    def decays(self, updated: NDArray[np.int64], now: datetime) -> NDArray[np.float64]:
        """Return the decay of each time, given in microseconds since 1970.

        1.0·0.5^years + 1.5·0.5^months + 2.0·0.5^weeks, added from left to right; the distances are those of whole
        calendar years, calendar months and ISO weeks, and what lies ahead of `now` has distance 0.
        """
        import numpy as np

        if not len(updated):
            return np.empty(0, dtype=np.float64)
        days = updated // _DAY_MICROS
        first = int(days.min())
        days -= first
        today = leaf_of((now.astimezone(UTC).date() - _EPOCH).days)
        by_day = np.zeros(int(days.max()) + 1, dtype=np.float64)
        by_leaf: dict[int, float] = {}
        for day in np.flatnonzero(np.bincount(days)).tolist():
            number = self.leaf(first + day)
            if number not in by_leaf:
                by_leaf[number] = decay(self._leaves[number], today)
            by_day[day] = by_leaf[number]
        return by_day[days]


def leaf_of(day: int) -> Leaf:
    """Return the leaf that a day since 1970 is on."""
    at = _EPOCH + timedelta(days=day)
    return Leaf(at.year, at.month, day - at.weekday())


def decay(at: Leaf, today: Leaf) -> float:
    """Return what is left at `today` of a memory changed at `at`: 4.5 in the same week, less with every bucket."""
    years = max(0, today.year - at.year)
    months = max(0, 12 * (today.year - at.year) + today.month - at.month)
    weeks = max(0, (today.week - at.week) // 7)
    return YEAR_WEIGHT * _HALF**years + MONTH_WEIGHT * _HALF**months + WEEK_WEIGHT * _HALF**weeks


class TagClusters:
    """Slots by tag. Putting the same tags again changes nothing, so that an update may arrive more than once."""

    def __init__(self) -> None:
        self._members: dict[str, set[int]] = {}
        self._arrays: dict[str, NDArray[np.int64]] = {}
        self._tags: dict[int, tuple[str, ...]] = {}

    def put(self, slots: Sequence[int], tags: tuple[str, ...]) -> None:
        """Set the tags of slots, the same for all of them."""
        for slot in slots:
            if slot in self._tags:
                self.drop(slot)
        for tag in tags:
            self._members.setdefault(tag, set()).update(slots)
            self._arrays.pop(tag, None)
        self._tags.update(dict.fromkeys(slots, tags))

    def drop(self, slot: int) -> None:
        """Forget a slot."""
        for tag in self._tags.pop(slot, ()):
            self._leave(slot, tag)

    def of(self, slot: int) -> tuple[str, ...]:
        """Return the tags of a slot."""
        return self._tags.get(slot, ())

    def slots(self, tag: str) -> NDArray[np.int64]:
        """Return the slots that carry a tag."""
        import numpy as np

        if tag not in self._arrays:
            members = self._members.get(tag, ())
            array = np.fromiter(members, dtype=np.int64, count=len(members))
            if not members:
                return array  # not kept: anybody may ask for any word
            self._arrays[tag] = array
        return self._arrays[tag]

    def count(self, tags: Iterable[str], size: int) -> NDArray[np.int64]:
        """Return for each of `size` slots how many of these different tags it carries."""
        import numpy as np

        counts = np.zeros(size, dtype=np.int64)
        for tag in tags:
            counts[self.slots(tag)] += 1
        return counts

    def tags(self) -> dict[str, frozenset[int]]:
        """Return all clusters that have a member."""
        return {tag: frozenset(members) for tag, members in self._members.items()}

    def _leave(self, slot: int, tag: str) -> None:
        members = self._members[tag]
        members.discard(slot)
        self._arrays.pop(tag, None)
        if not members:
            del self._members[tag]


TEXTS: Final = ("path", "short", "long", "raw")
_LEVELS: Final[Mapping[str, int]] = {"high": 2, "medium": 1}
_RELEVANCE: Final = (1.0, 2.5, 5.0)
_PINNED: Final = 4.0
_ROOM: Final = 64
_JOURNAL_MOST: Final = 4096
_FOLLOWED_LEAST: Final = 1000
_FOLLOWED_SHARE: Final = 0.1
_PATTERNS_MOST: Final = 16
_SETTLED_MOST: Final = 136  # more than one question asks: two clusters of 64 words, and a topic in two texts
_OPEN, _NO, _YES = 0, 1, 2


_MEMORY_BYTES: Final = 1_000
"""What a view takes for a memory besides its signatures, measured with trees and tokens."""


class SpaceView:
    """The active memories of a space that may be seen, as of change `rev`."""

    def __init__(self, stores: Stores, space_no: int, rev: int, *, expected: int = 0) -> None:
        import numpy as np

        self._stores = stores
        self.space_no = space_no
        self.rev = rev
        self._journal: deque[tuple[int, list[int]]] = deque()
        self._journal_from = rev
        self._slot_of: dict[int, int] = {}
        self._free: list[int] = []
        self.size = 0  # slots that were ever used: how much of each column counts
        self.paths: list[str] = []
        self.lowered: list[str] = []
        self._ids: list[str] = []
        self._kinds: dict[str, int] = {}
        self.nos = np.zeros(_ROOM, dtype=np.int64)
        self.active = np.zeros(_ROOM, dtype=bool)
        self.pinned = np.zeros(_ROOM, dtype=bool)
        self.level = np.zeros(_ROOM, dtype=np.int8)
        self.kind = np.zeros(_ROOM, dtype=np.int32)
        self.depth = np.zeros(_ROOM, dtype=np.int32)
        self.updated = np.zeros(_ROOM, dtype=np.int64)
        self.standing = np.zeros(_ROOM, dtype=np.float64)  # relevance + pinned, as `basic` begins
        self.rank = np.zeros(_ROOM, dtype=np.int64)  # by path, then id
        self._order = np.empty(0, dtype=np.int64)
        self.tags = TagClusters()
        self._signed = {name: Bitmaps(expected=expected) for name in TEXTS}
        self._like_raw = {name: np.zeros(_ROOM, dtype=bool) for name in ("short", "long")}
        self._unsigned = np.zeros(_ROOM, dtype=bool)
        self._tree: RadixTree | None = None
        self._entities: EntityMap | None = None
        self._calendar: CalendarTree | None = None
        self._under: dict[str, NDArray[np.bool_]] = {}
        self._settled: dict[tuple[str, str], NDArray[np.uint8]] = {}

    @classmethod
    def load(cls, stores: Stores, space_no: int, rev: int) -> SpaceView:
        """Return the view of a space as it is now, in the caller's `read()`, which stands at change `rev`."""
        view = cls(stores, space_no, rev, expected=stores.views.count(space_no))
        with _uncollected():
            view._add(stores.views.rows(space_no))
            view._number()
        return view

    def __len__(self) -> int:
        return len(self._slot_of)

    def nbytes(self) -> int:
        """Return about how much memory it takes: `benchmarks bundles` measures it."""
        return _MEMORY_BYTES * len(self.active) + sum(signed.nbytes() for signed in self._signed.values())

    # Following changes --------------------------------------------------------------------------------------------

    def follow(self, rev: int) -> bool:
        """Bring the view to the caller's `read()`, which stands at change `rev`; False when it cannot go there.

        A reader may stand before what another thread has already seen: the memories that changed in between are then
        read as they are for that reader.
        """
        if rev == self.rev:
            return True
        if rev < self._journal_from:
            return False
        if rev > self.rev:
            numbers = self._stores.views.changed(self.space_no, since=self.rev)
        else:
            numbers = [no for at, changed in self._journal if at > rev for no in changed]
        if len(numbers) > max(_FOLLOWED_LEAST, len(self) * _FOLLOWED_SHARE):
            return False  # reading everything anew is faster
        self._apply(numbers)
        while self._journal and self._journal[-1][0] > rev:
            self._journal.pop()
        if numbers:  # going back, these are more than lie before `rev`: no harm
            self._journal.append((rev, numbers))
        while sum(len(changed) for _, changed in self._journal) > _JOURNAL_MOST:
            self._journal_from = self._journal.popleft()[0]
        self.rev = rev
        return True

    def _apply(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        wanted_numbers = sorted(set(numbers))
        self._remove([self._slot_of.pop(no) for no in wanted_numbers if no in self._slot_of])
        self._add(self._stores.views.rows_of(self.space_no, wanted_numbers))
        self._number()

    def _remove(self, slots: Sequence[int]) -> None:
        import numpy as np

        if not slots:
            return
        for slot in slots:
            self.active[slot] = False
            self.tags.drop(slot)
            for bitmaps in self._signed.values():
                bitmaps.drop(slot)
            if self._tree is not None:
                self._tree.remove(parts_of(self.lowered[slot]), slot)
            if self._entities is not None:
                self._entities.drop(slot)
        if self._entities is not None and self._entities.wasteful:
            self._entities = self._entities.compacted()
        for states in self._settled.values():
            states[list(slots)] = _OPEN
        self._order = np.delete(self._order, self.rank[list(slots)])
        self._free.extend(slots)

    def _add(self, blocks: Iterable[ViewColumns]) -> None:
        import numpy as np

        added: list[int] = []
        for block in blocks:
            slots = self._slots(block)
            at = np.array(slots, dtype=np.int64)
            self.nos[at] = block.nos
            self.active[at] = True
            self.pinned[at] = block.pinned
            self.level[at] = [_LEVELS.get(word, 0) for word in block.relevance]
            self.kind[at] = [self._kinds.setdefault(kind, len(self._kinds)) for kind in block.kinds]
            self.depth[at] = [path.count("/") + 1 for path in block.paths]
            self.updated[at] = block.updated_at
            self.standing[at] = np.array(_RELEVANCE)[self.level[at]] + np.where(self.pinned[at], _PINNED, 0.0)
            self._sign(at, block)
            tagged: defaultdict[str, list[int]] = defaultdict(list)
            for slot, text in zip(slots, block.tags, strict=True):
                tagged[text].append(slot)
            for text, alike in tagged.items():
                self.tags.put(alike, load_strings(text))
            self._derive(slots, block)
            added += slots
        if added:
            self._place(added)

    def _derive(self, slots: Sequence[int], block: ViewColumns) -> None:
        """Put new memories into what was asked for so far."""
        if self._tree is not None:
            for slot in slots:
                self._tree.insert(parts_of(self.lowered[slot]), slot)
        for pattern, array in self._under.items():
            array[list(slots)] = [matches(path, pattern) for path in block.paths]
        if self._entities is not None:
            for row in self._stores.views.entities_of(block.nos):
                slot = self._slot_of[row.no]
                self._entities.put(
                    slot,
                    entity_tokens("", self.tags.of(slot), row.texts),
                    ours=split_tokens(" ".join(row.ours)),
                    pinned=bool(self.pinned[slot]),
                )

    def _slots(self, block: ViewColumns) -> list[int]:
        """Return free slots for memories, with their strings in them."""
        lowered = [
            low if (low := path.lower()) != path else path for path in block.paths
        ]  # one string, not two
        reused = [self._free.pop() for _ in range(min(len(self._free), len(block.nos)))]
        for slot, path, low, memory_id in zip(reused, block.paths, lowered, block.ids, strict=False):
            self.paths[slot], self.lowered[slot], self._ids[slot] = path, low, memory_id
        self.paths += block.paths[len(reused) :]
        self.lowered += lowered[len(reused) :]
        self._ids += block.ids[len(reused) :]
        slots = [*reused, *range(self.size, len(self.paths))]
        self.size = len(self.paths)
        while self.size > len(self.nos):
            self._grow()
        self._slot_of.update(zip(block.nos, slots, strict=True))
        return slots

    def _grow(self) -> None:
        self.nos, self.active, self.pinned = _doubled(self.nos), _doubled(self.active), _doubled(self.pinned)
        self.level, self.kind, self.depth = _doubled(self.level), _doubled(self.kind), _doubled(self.depth)
        self.updated, self.standing, self.rank = (
            _doubled(self.updated),
            _doubled(self.standing),
            _doubled(self.rank),
        )
        self._unsigned = _doubled(self._unsigned)
        self._like_raw = {name: _doubled(array) for name, array in self._like_raw.items()}
        self._under = {pattern: _doubled(array) for pattern, array in self._under.items()}
        self._settled = {claim: _doubled(states) for claim, states in self._settled.items()}

    def _sign(self, at: NDArray[np.int64], block: ViewColumns) -> None:
        import numpy as np

        unsigned = np.zeros(len(at), dtype=bool)
        for name, signatures in zip(TEXTS, (block.path, block.short, block.long, block.raw), strict=True):
            sizes = np.array([-1 if signature is None else len(signature) for signature in signatures])
            like_raw = sizes == 0
            if name in self._like_raw:
                self._like_raw[name][at] = like_raw
            else:
                unsigned |= like_raw
            usable = (sizes > 0) & (sizes & (sizes - 1) == 0)
            unsigned |= ~(usable | like_raw)
            made = list(compress(signatures, usable.tolist()))
            self._signed[name].fill(at[usable], cast("list[bytes]", made), among=len(at))
        self._unsigned[at] = unsigned

    def _place(self, slots: Sequence[int]) -> None:
        """Put slots into the order of paths and ids."""
        import numpy as np

        def key(slot: int) -> tuple[str, str]:
            return self.paths[slot], self._ids[slot]

        if len(slots) > len(self._order):
            self._order = np.array(sorted([*self._order.tolist(), *slots], key=key), dtype=np.int64)
        else:
            ordered = sorted(slots, key=key)
            places = [bisect_left(self._order, key(slot), key=key) for slot in ordered]
            self._order = np.insert(self._order, places, ordered)

    def _number(self) -> None:
        """Write each slot's place in the order of paths and ids beside it."""
        import numpy as np

        self.rank[self._order] = np.arange(len(self._order))

    # Asking -------------------------------------------------------------------------------------------------------

    def everything(self) -> NDArray[np.bool_]:
        """Return which slots hold a memory."""
        return self.active[: self.size].copy()

    def numbered(self, numbers: Collection[int]) -> NDArray[np.bool_]:
        """Return which slots hold a memory with one of these row numbers."""
        import numpy as np

        mask = np.zeros(self.size, dtype=bool)
        mask[[slot for no in numbers if (slot := self._slot_of.get(no)) is not None]] = True
        return mask & self.active[: self.size]

    def of_kind(self, kind: str) -> NDArray[np.bool_]:
        """Return which slots hold a memory of a kind; a kind that no memory has is in none."""
        mask: NDArray[np.bool_] = self.active[: self.size] & (
            self.kind[: self.size] == self._kinds.get(kind, -1)
        )
        return mask

    def may_hold(self, text: str, needle: str) -> NDArray[np.bool_]:
        """Return which slots' texts (`path`, `short`, `long`, `raw`), in lower case, may contain a needle."""
        import numpy as np

        places = needle_places(needle)
        mask = np.ones(self.size, dtype=bool) if not places else self._unsigned[: self.size].copy()
        if places and text in self._like_raw:
            self._signed["raw"].mark(places, mask)
            mask &= self._like_raw[text][: self.size] | self._unsigned[: self.size]
        if places:
            self._signed[text].mark(places, mask)
        states = self._settled.get((text, needle))
        if states is not None:
            mask &= states[: self.size] != _NO
        return mask

    def is_settled(self, text: str, needle: str, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for which slots it is known from their texts whether they contain a needle."""
        import numpy as np

        states = self._settled.get((text, needle))
        return np.zeros(len(slots), dtype=bool) if states is None else states[slots] != _OPEN

    def settle(self, text: str, needle: str, slots: NDArray[np.int64], holds: NDArray[np.bool_]) -> None:
        """Keep what the texts of slots said about a needle, until they change; the last asked needles are kept."""
        import numpy as np

        states = self._settled.pop((text, needle), None)
        if states is None:
            states = np.zeros(len(self.nos), dtype=np.uint8)
            if len(self._settled) >= _SETTLED_MOST:
                del self._settled[next(iter(self._settled))]
        states[slots] = np.where(holds, _YES, _NO)
        self._settled[text, needle] = states

    def under(self, pattern: str) -> NDArray[np.bool_]:
        """Return which slots' paths a filter matches, as `text.paths.matches` says; read only."""
        import numpy as np

        held = self._under.pop(pattern, None)
        if held is None:
            held = np.zeros(len(self.nos), dtype=bool)
            for slot in self.tree().under(_literal(pattern)).tolist():
                held[slot] = matches(self.paths[slot], pattern)
            if len(self._under) >= _PATTERNS_MOST:
                del self._under[next(iter(self._under))]
        self._under[pattern] = held
        mask: NDArray[np.bool_] = held[: self.size] & self.active[: self.size]
        return mask

    def tree(self) -> RadixTree:
        """Return the tree of paths, built when it is first asked for."""
        if self._tree is None:
            with _uncollected():
                self._tree = RadixTree(
                    (parts_of(self.lowered[slot]), slot) for slot in self._slot_of.values()
                )
        return self._tree

    def entities(self) -> EntityMap:
        """Return the entity map, built when it is first asked for."""
        if self._entities is None:
            with _uncollected():
                self._entities = EntityMap.of(
                    map(self._named, self._stores.views.entities(self.space_no)), self.pinned
                )
        return self._entities

    def _named(self, rows: Sequence[EntityRow]) -> Named:
        slots = [self._slot_of[row.no] for row in rows]
        return Named(
            slots,
            [" ".join(row.texts) for row in rows],
            [self.tags.of(slot) for slot in slots],
            [" ".join(row.ours) for row in rows],
        )

    def calendar(self) -> CalendarTree:
        """Return the tree of years, months and weeks."""
        if self._calendar is None:
            self._calendar = CalendarTree()
        return self._calendar

    def texts(self, slots: Iterable[int], fields: Sequence[str]) -> dict[int, tuple[str, ...]]:
        """Return lower-cased texts by slot: `fields` of `short`, `long` and `raw`."""
        by_no = {int(self.nos[slot]): slot for slot in slots}
        texts = self._stores.views.texts(by_no, fields)
        return {by_no[no]: tuple(text.lower() for text in texts) for no, texts in texts.items()}


@contextmanager
def _uncollected() -> Iterator[None]:
    """Hold Python's cycle collector back while a hundred thousand small objects are made, all of which stay.

    It would walk through all of them again and again, which doubles the time; there is no cycle among them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def parts_of(path: str) -> tuple[str, ...]:
    """Return the parts of a path."""
    return tuple(path.split("/"))


def _literal(pattern: str) -> tuple[str, ...]:
    """Return the leading parts that every path matched by `pattern` has, in lower case."""
    parts: list[str] = []
    for part in pattern.strip("/").lower().split("/"):
        if not part or any(wildcard in part for wildcard in "*?["):
            break
        parts.append(part)
    return tuple(parts)


def _doubled(array: NDArray[Number]) -> NDArray[Number]:
    import numpy as np

    return np.concatenate([array, np.zeros(len(array), dtype=array.dtype)])
