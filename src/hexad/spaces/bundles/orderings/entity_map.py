"""The entity map of `hybrid`: which words name what a memory is about, and how often each occurs in the space.

Entity tokens of a memory, repeats included: its path, split at white space, `/`, `_` and `-`; its tags, each as it is;
and what its metadata says in texts and in lists of texts, split the same way. All in lower case. What Hexad writes
itself (the project, the space, the hash, a path that it made) counts for frequencies, and is never what two memories
share.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROOM: Final = 1024
_TOKEN_BITS: Final = 32
_GARBAGE_SHARE: Final = 0.5
_FOUND_MOST: Final = 64
_MENDED_MOST: Final = 500
"""Overlaps that are counted one by one after a change; of more than these, all are counted anew when asked for."""
_CHANGES_MENDED_MOST: Final = 32
"""Changes after which overlaps are mended before anybody asks; after more, counting all at once costs less."""


def split_tokens(text: str) -> list[str]:
    """Return the lower-case tokens of a text, in order, repeats included."""
    return text.lower().replace("/", " ").replace("_", " ").replace("-", " ").split()


def entity_tokens(path: str, tags: Iterable[str], values: Iterable[str]) -> list[str]:
    """Return the entity tokens of a memory, repeats included."""
    found = split_tokens(" ".join((path, *values)))  # as of each alone: white space ends a token
    found.extend(tag.lower() for tag in tags)
    return found


class Named(NamedTuple):
    """Some memories: slots, paths and metadata values joined by white space, tags, and what Hexad wrote."""

    slots: Sequence[int]
    texts: Sequence[str]
    tags: Sequence[tuple[str, ...]]
    ours: Sequence[str]


class EntityMap:
    """The entity tokens of all memories of a space, by slot.

    One flat row per distinct token and memory, a memory's rows beside each other. Frequencies are added in the order
    of the tokens' characters, so the rows are brought into it when that is first asked for; memories that come
    later are put in it at once. Rows of what is gone have no owner.
    """

    def __init__(self) -> None:
        import numpy as np

        self._ids: defaultdict[str, int] = defaultdict(count().__next__)
        self._frequency = np.zeros(_ROOM, dtype=np.int64)  # by token: occurrences in all memories
        self._naming = np.zeros(_ROOM, dtype=np.int64)  # by token: memories of which somebody said it
        self._pinned = np.zeros(_ROOM, dtype=np.int64)  # by token: those of them that are pinned
        self._token = np.empty(_ROOM, dtype=np.int32)
        self._times = np.empty(_ROOM, dtype=np.int32)
        self._owner = np.empty(_ROOM, dtype=np.int32)
        self._told = np.empty(_ROOM, dtype=bool)  # whether somebody said it, and not Hexad alone
        self._used = 0
        self._lettered = True  # whether each memory's rows are in the order of characters
        self._garbage = 0
        self._spans: dict[int, tuple[int, int]] = {}
        self._is_pinned: set[int] = set()
        self._overlap: NDArray[np.int64] | None = None
        self._mended = 0  # changes since overlaps were last asked for
        self._found: dict[int, NDArray[np.int32]] = {}  # by token: slots, until the next change

    @classmethod
    def of(cls, blocks: Iterable[Named], pinned: NDArray[np.bool_]) -> EntityMap:
        """Return the map of many memories; `pinned` says by slot which are."""
        import numpy as np

        entity_map = cls()
        number = entity_map._ids.__getitem__
        keys = [np.empty(0, dtype=np.int64)]  # one for each occurrence: slot, then token
        ours = [np.empty(0, dtype=np.int64)]
        for block in blocks:
            slots = np.array(block.slots, dtype=np.int64)
            for texts, occurrences in ((block.texts, keys), (block.ours, ours)):
                words, mark = _tokens_between(texts)
                tokens = np.fromiter(map(number, words), dtype=np.int64, count=len(words))
                between = tokens == number(mark)
                occurrences.append((slots[np.cumsum(between)] << _TOKEN_BITS | tokens)[~between])
            tags = [tag.lower() for each in block.tags for tag in each]
            tokens = np.fromiter(map(number, tags), dtype=np.int64, count=len(tags))
            keys.append(np.repeat(slots, list(map(len, block.tags))) << _TOKEN_BITS | tokens)
        given = np.concatenate(keys)
        rows, times = np.unique(np.concatenate([given, *ours]), return_counts=True)
        told = np.zeros(len(rows), dtype=bool)
        told[np.searchsorted(rows, given)] = True
        owner, token = rows >> _TOKEN_BITS, rows & ((1 << _TOKEN_BITS) - 1)
        entity_map._reserve(len(rows))
        entity_map._used, entity_map._lettered = len(rows), False
        entity_map._token[: len(rows)], entity_map._times[: len(rows)], entity_map._owner[: len(rows)] = (
            token,
            times,
            owner,
        )
        entity_map._told[: len(rows)] = told
        np.add.at(entity_map._frequency, token, times)
        np.add.at(entity_map._naming, token[told], 1)
        np.add.at(entity_map._pinned, token[told & pinned[owner]], 1)
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        stops = [*starts[1:].tolist(), len(rows)]
        owners = owner[starts]
        entity_map._spans = dict(
            zip(owners.tolist(), zip(starts.tolist(), stops, strict=False), strict=False)
        )
        entity_map._is_pinned = set(owners[pinned[owners]].tolist())
        return entity_map

    def fill(self, rows: Iterable[tuple[int, Sequence[str], Sequence[str], bool]]) -> None:
        """Put many memories that the map has none of: slot, tokens, Hexad's own, whether it is pinned."""
        import numpy as np

        self._found.clear()
        tokens: list[int] = []
        times: list[int] = []
        owners: list[int] = []
        told: list[bool] = []
        of_pinned: list[int] = []
        for slot, words, ours, pinned in rows:
            start, given = self._used + len(tokens), set(words)
            distinct = sorted(given.union(ours))
            tokens += map(self._ids.__getitem__, distinct)
            if len(distinct) == len(words) + len(ours):
                times += [1] * len(distinct)
            else:
                times += map(Counter([*words, *ours]).__getitem__, distinct)
            owners += [slot] * len(distinct)
            told += map(given.__contains__, distinct)
            self._spans[slot] = (start, start + len(distinct))
            if pinned:
                self._is_pinned.add(slot)
                of_pinned += map(self._ids.__getitem__, given)
        self._reserve(len(tokens))
        new = slice(self._used, self._used + len(tokens))
        self._token[new], self._times[new], self._owner[new], self._told[new] = tokens, times, owners, told
        self._used = new.stop
        np.add.at(self._frequency, self._token[new], self._times[new])
        np.add.at(self._naming, self._token[new][self._told[new]], 1)
        np.add.at(self._pinned, np.array(of_pinned, dtype=np.int64), 1)
        self._overlap = None

    def put(self, slot: int, words: Sequence[str], *, pinned: bool, ours: Sequence[str] = ()) -> None:
        """Set the tokens of a memory, and those that Hexad wrote."""
        overlap = self._overlap
        before, pins = self._told_tokens(slot), pinned or slot in self._is_pinned
        self._take_away(slot)
        self.fill([(slot, words, ours, pinned)])
        self._mend(overlap, slot, before | self._told_tokens(slot), pins=pins)

    def drop(self, slot: int) -> None:
        """Forget a memory."""
        overlap = self._overlap
        before, pins = self._told_tokens(slot), slot in self._is_pinned
        self._take_away(slot)
        self._mend(overlap, slot, before, pins=pins)

    @property
    def wasteful(self) -> bool:
        """Whether most of the rows are of what is gone."""
        return self._garbage > _ROOM and self._garbage > _GARBAGE_SHARE * self._used

    def compacted(self) -> EntityMap:
        """Return the same map without what is gone."""
        names = {number: token for token, number in self._ids.items()}
        entries: list[tuple[int, Sequence[str], Sequence[str], bool]] = []
        for slot, (start, stop) in self._spans.items():
            both: tuple[list[str], list[str]] = ([], [])  # Hexad's own, and others
            for token, times, told in zip(
                self._token[start:stop].tolist(),
                self._times[start:stop].tolist(),
                self._told[start:stop].tolist(),
                strict=True,
            ):
                both[told].extend([names[token]] * times)
            entries.append((slot, both[True], both[False], slot in self._is_pinned))
        fresh = EntityMap()
        fresh.fill(entries)
        return fresh

    def frequency(self, token: str) -> int:
        """Return how often a token occurs in all memories."""
        number = self._ids.get(token)
        return 0 if number is None else int(self._frequency[number])

    def slots(self, token: str) -> NDArray[np.int32]:
        """Return the slots of the memories that have a token."""
        import numpy as np

        number = self._ids.get(token)
        if number is None:
            return np.empty(0, dtype=np.int32)
        slots = self._found.get(number)
        if slots is None:
            owners = self._owner[np.flatnonzero(self._token[: self._used] == number)]
            if len(self._found) >= _FOUND_MOST:
                self._found.clear()
            slots = self._found[number] = owners[owners >= 0]
        return slots

    def overlap(self, size: int) -> NDArray[np.int64]:
        """Return for each of `size` slots how many distinct tokens it has that another, pinned memory also has.

        For a pinned one it is how many any other has: what a pin gives to others it gives to itself at least, so that
        nobody passes it by its own pin.
        """
        import numpy as np

        self._mended = 0
        if self._overlap is None or len(self._overlap) < size:
            owner = self._owner[: self._used]
            alive = (owner >= 0) & self._told[: self._used]
            owner, token = owner[alive], self._token[: self._used][alive]
            is_pinned = np.zeros(size + _ROOM, dtype=bool)
            is_pinned[list(self._is_pinned)] = True
            shared = np.where(is_pinned[owner], self._naming[token] > 1, self._pinned[token] > 0)
            self._overlap = np.bincount(owner[shared], minlength=size + _ROOM)
        return self._overlap[:size]

    def rarity(self, members: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return for each slot the sum of 1 / frequency of its tokens, added in their order; 0 for no member."""
        import numpy as np

        if not self._lettered:
            self._letter()
        owner = self._owner[: self._used]
        rows = np.flatnonzero((owner >= 0) & members[owner])
        # `bincount` adds one row after the other, so the sum is that of a loop over the sorted tokens.
        weights = 1.0 / self._frequency[self._token[rows]]
        sums: NDArray[np.float64] = np.bincount(owner[rows], weights=weights, minlength=len(members)).astype(
            np.float64, copy=False
        )
        return sums

    def counts(self) -> dict[str, int]:
        """Return the tokens that occur, with how often."""
        return {
            token: int(self._frequency[number])
            for token, number in self._ids.items()
            if self._frequency[number]
        }

    def _take_away(self, slot: int) -> None:
        import numpy as np

        self._found.clear()
        start, stop = self._spans.pop(slot, (0, 0))
        tokens = self._token[start:stop]
        np.subtract.at(self._frequency, tokens, self._times[start:stop])
        told = tokens[self._told[start:stop]]
        np.subtract.at(self._naming, told, 1)
        if slot in self._is_pinned:
            np.subtract.at(self._pinned, told, 1)
            self._is_pinned.discard(slot)
        self._owner[start:stop] = -1
        self._garbage += stop - start

    def _told_tokens(self, slot: int) -> frozenset[int]:
        start, stop = self._spans.get(slot, (0, 0))
        return frozenset(self._token[start:stop][self._told[start:stop]].tolist())

    def _mend(
        self, overlap: NDArray[np.int64] | None, slot: int, tokens: frozenset[int], *, pins: bool
    ) -> None:
        """Bring the overlaps up to date after one memory changed; `tokens` are those that somebody said of it, `pins`
        whether it was or is pinned.
        """
        import numpy as np

        self._mended += 1
        if overlap is None or slot >= len(overlap) or self._mended > _CHANGES_MENDED_MOST:
            self._overlap = None
            return
        # One more or one less of many changes nothing: whether another one has it stays as it was.
        telling = [
            token
            for token in tokens
            if (pins and self._pinned[token] <= 1) or (self._pinned[token] and self._naming[token] <= 2)
        ]
        rows = np.empty(0, dtype=np.int64)
        if telling:
            moved = np.zeros(len(self._pinned), dtype=bool)
            moved[telling] = True
            rows = np.flatnonzero(moved[self._token[: self._used]])
        touched = {slot, *self._owner[rows].tolist()} - {-1}
        if len(touched) > _MENDED_MOST:
            self._overlap = None
            return
        for each in touched:
            start, stop = self._spans.get(each, (0, 0))
            token = self._token[start:stop][self._told[start:stop]]
            overlap[each] = np.count_nonzero(
                self._naming[token] > 1 if each in self._is_pinned else self._pinned[token] > 0
            )
        self._overlap = overlap

    def _letter(self) -> None:
        """Bring each memory's rows into the order of the tokens' characters."""
        import numpy as np

        names = list(self._ids)
        rank = np.empty(len(names), dtype=np.int64)
        rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        used = slice(0, self._used)
        memory = np.cumsum(np.diff(self._owner[used], prepend=-1) != 0)
        order = np.lexsort((rank[self._token[used]], memory))
        for column in (self._token, self._times, self._told):
            column[used] = column[used][order]
        self._lettered = True

    def _reserve(self, count: int) -> None:
        self._token = _grown(self._token, self._used + count)
        self._times = _grown(self._times, self._used + count)
        self._owner = _grown(self._owner, self._used + count)
        self._told = _grown(self._told, self._used + count)
        self._naming = _grown(self._naming, len(self._ids))
        self._frequency = _grown(self._frequency, len(self._ids))
        self._pinned = _grown(self._pinned, len(self._ids))


def _tokens_between(texts: Sequence[str]) -> tuple[list[str], str]:
    """Return the tokens of texts in a row, and the mark that stands between those of two texts."""
    mark = "\0"
    joined = f"\n{mark}\n".join(texts)
    if joined.count(mark) == len(texts) - 1:
        return split_tokens(joined), mark
    mark = " "  # no token: tokens are what stands between white space
    return [word for text in texts for word in (mark, *split_tokens(text))][1:], mark


def _grown(array: NDArray, size: int) -> NDArray:  # type: ignore[type-arg]
    """Return the array with room for `size` values; new ones are zero."""
    import numpy as np

    if size <= len(array):
        return array
    larger = np.zeros(max(size, len(array) + len(array) // 4), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
