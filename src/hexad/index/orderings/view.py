"""The cached view of one space: what orderings ask of its memories, in columns, without their texts.

A memory has a slot, a place in every column, as long as it is active. Changed memories are read again one by one; the
order of paths, the clusters of tags, the entity map and the tree of paths follow each change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from hexad.index.orderings.bitmaps import Bitmaps
from hexad.index.orderings.calendar import CalendarTree
from hexad.index.orderings.entities import EntityMap, entity_tokens
from hexad.index.orderings.radix import RadixTree
from hexad.index.orderings.tags import TagClusters
from hexad.storage.codec import load_strings
from hexad.storage.stores import Stores
from hexad.storage.views import EntityRow, ViewRow, entity_sources
from hexad.text.paths import matches
from hexad.text.signature import needle_places

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXTS: Final = ("path", "short", "long", "raw")
_LEVELS: Final[Mapping[str, int]] = {"high": 2, "medium": 1}
_RELEVANCE: Final = (1.0, 2.5, 5.0)
_PINNED: Final = 4.0
_ROOM: Final = 64
_JOURNAL_MOST: Final = 4096
_FOLLOWED_LEAST: Final = 1000
_FOLLOWED_SHARE: Final = 0.1
_PATTERNS_MOST: Final = 16


class SpaceView:
    """The active memories of a space that may be seen, as of change `rev`."""

    def __init__(self, stores: Stores, space_no: int, rev: int) -> None:
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
        self._signed = {name: Bitmaps() for name in TEXTS}
        self._like_raw = {name: np.zeros(_ROOM, dtype=bool) for name in ("short", "long")}
        self._unsigned = np.zeros(_ROOM, dtype=bool)
        self._tree: RadixTree | None = None
        self._entities: EntityMap | None = None
        self._calendar: CalendarTree | None = None
        self._under: dict[str, NDArray[np.bool_]] = {}

    @classmethod
    def load(cls, stores: Stores, space_no: int, rev: int) -> SpaceView:
        """Return the view of a space as it is now, in the caller's `read()`, which stands at change `rev`."""
        view = cls(stores, space_no, rev)
        view._add(list(stores.views.rows(space_no)))
        return view

    def __len__(self) -> int:
        return len(self._slot_of)

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
        self._journal.append((rev, numbers))  # going back, these are more than lie before `rev`: no harm
        while sum(len(changed) for _, changed in self._journal) > _JOURNAL_MOST:
            self._journal_from = self._journal.popleft()[0]
        self.rev = rev
        return True

    def _apply(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        wanted = sorted(set(numbers))
        gone = [self._slot_of.pop(no) for no in wanted if no in self._slot_of]
        rows = self._stores.views.rows_of(self.space_no, wanted)
        self._remove(gone)
        self._add(rows)

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
        self._order = np.delete(self._order, self.rank[list(slots)])
        self._free.extend(slots)

    def _add(self, rows: Sequence[ViewRow]) -> None:
        import numpy as np

        if not rows:
            return
        slots = [self._slot(row) for row in rows]
        at = np.array(slots, dtype=np.int64)
        self.nos[at] = [row.no for row in rows]
        self.active[at] = True
        self.pinned[at] = [row.pinned for row in rows]
        self.level[at] = [_LEVELS.get(row.relevance, 0) for row in rows]
        self.kind[at] = [self._kinds.setdefault(row.kind, len(self._kinds)) for row in rows]
        self.depth[at] = [row.path.count("/") + 1 for row in rows]
        self.updated[at] = [row.updated_at for row in rows]
        self.standing[at] = np.array(_RELEVANCE)[self.level[at]] + np.where(self.pinned[at], _PINNED, 0.0)
        self._sign(slots, rows)
        known: dict[str, tuple[str, ...]] = {}
        for slot, row in zip(slots, rows, strict=True):
            if row.tags not in known:
                known[row.tags] = load_strings(row.tags)
            self.tags.put(slot, known[row.tags])
            if self._tree is not None:
                self._tree.insert(parts_of(self.lowered[slot]), slot)
            for pattern, held in self._under.items():
                held[slot] = matches(row.path, pattern)
        if self._entities is not None:
            for each in self._stores.views.entities_of([row.no for row in rows]):
                slot = self._slot_of[each.no]
                self._entities.put(slot, _tokens(each), pinned=bool(self.pinned[slot]))
        self._rank(slots)

    def _slot(self, row: ViewRow) -> int:
        """Return a free slot for a memory, with its strings in it."""
        lowered = row.path.lower()
        if lowered == row.path:
            lowered = row.path  # one string, not two
        if self._free:
            slot = self._free.pop()
            self.paths[slot], self.lowered[slot], self._ids[slot] = row.path, lowered, row.id
        else:
            slot = self.size
            self.size += 1
            self.paths.append(row.path)
            self.lowered.append(lowered)
            self._ids.append(row.id)
            if slot == len(self.nos):
                self._grow()
        self._slot_of[row.no] = slot
        return slot

    def _grow(self) -> None:
        for name in (
            "nos",
            "active",
            "pinned",
            "level",
            "kind",
            "depth",
            "updated",
            "standing",
            "rank",
            "_unsigned",
        ):
            setattr(self, name, _doubled(getattr(self, name)))
        self._like_raw = {name: _doubled(held) for name, held in self._like_raw.items()}
        self._under = {pattern: _doubled(held) for pattern, held in self._under.items()}

    def _sign(self, slots: Sequence[int], rows: Sequence[ViewRow]) -> None:
        for place, name in enumerate(TEXTS, start=len(ViewRow._fields) - len(TEXTS)):
            at: list[int] = []
            signatures: list[bytes] = []
            for slot, row in zip(slots, rows, strict=True):
                made = row[place]
                usable = isinstance(made, bytes) and len(made) & (len(made) - 1) == 0
                if name in self._like_raw:
                    self._like_raw[name][slot] = usable and not made
                if name == "path":
                    self._unsigned[slot] = False
                if not usable or (not made and name not in self._like_raw):
                    self._unsigned[slot] = True
                elif made:
                    at.append(slot)
                    signatures.append(made)  # type: ignore[arg-type]
            self._signed[name].fill(at, signatures)

    def _rank(self, slots: Sequence[int]) -> None:
        """Put slots into the order of paths and ids, and number all anew."""
        import numpy as np

        def key(slot: int) -> tuple[str, str]:
            return self.paths[slot], self._ids[slot]

        if len(slots) > len(self._order):
            self._order = np.array(sorted([*self._order.tolist(), *slots], key=key), dtype=np.int64)
        else:
            ordered = sorted(slots, key=key)
            places = [bisect_left(self._order, key(slot), key=key) for slot in ordered]
            self._order = np.insert(self._order, places, ordered)
        self.rank[self._order] = np.arange(len(self._order))

    # Asking -------------------------------------------------------------------------------------------------------

    def everything(self) -> NDArray[np.bool_]:
        """Return which slots hold a memory."""
        return self.active[: self.size].copy()

    def of_kind(self, kind: str) -> NDArray[np.bool_]:
        """Return which slots hold a memory of a kind; a kind that no memory has is in none."""
        found: NDArray[np.bool_] = self.active[: self.size] & (
            self.kind[: self.size] == self._kinds.get(kind, -1)
        )
        return found

    def may_hold(self, text: str, needle: str) -> NDArray[np.bool_]:
        """Return which slots' texts (`path`, `short`, `long`, `raw`), in lower case, may contain a needle."""
        import numpy as np

        places = needle_places(needle)
        if not places:
            return np.ones(self.size, dtype=bool)
        found = self._unsigned[: self.size].copy()
        if text in self._like_raw:
            self._signed["raw"].mark(places, found)
            found &= self._like_raw[text][: self.size] | self._unsigned[: self.size]
        self._signed[text].mark(places, found)
        return found

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
        found: NDArray[np.bool_] = held[: self.size] & self.active[: self.size]
        return found

    def tree(self) -> RadixTree:
        """Return the tree of paths, built when it is first asked for."""
        if self._tree is None:
            self._tree = RadixTree()
            for slot in self._slot_of.values():
                self._tree.insert(parts_of(self.lowered[slot]), slot)
        return self._tree

    def entities(self) -> EntityMap:
        """Return the entity map, built when it is first asked for."""
        if self._entities is None:
            made = EntityMap()
            pinned = self.pinned.tolist()
            slots = self._slot_of
            made.fill(
                (slots[row.no], _tokens(row), pinned[slots[row.no]])
                for row in self._stores.views.entities(self.space_no)
            )
            self._entities = made
        return self._entities

    def calendar(self) -> CalendarTree:
        """Return the tree of years, months and weeks."""
        if self._calendar is None:
            self._calendar = CalendarTree()
        return self._calendar

    def texts(self, slots: Iterable[int], fields: Sequence[str]) -> dict[int, tuple[str, ...]]:
        """Return lower-cased texts by slot: `fields` of `short`, `long` and `raw`."""
        by_no = {int(self.nos[slot]): slot for slot in slots}
        found = self._stores.views.texts(by_no, fields)
        return {by_no[no]: tuple(text.lower() for text in texts) for no, texts in found.items()}


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


def _tokens(row: EntityRow) -> Counter[str]:
    tags, values = entity_sources(row)
    return entity_tokens(row.path, tags, values)


def _doubled(array: NDArray) -> NDArray:  # type: ignore[type-arg]
    import numpy as np

    return np.concatenate([array, np.zeros(len(array), dtype=array.dtype)])
