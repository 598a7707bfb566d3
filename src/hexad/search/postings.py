"""The postings of words in the full-text index, which are kept, and follow what is added to it.

To score a match, FTS5 reads the length of its chunk, a microsecond for each. A word of one question is often a word of
the next, so what was scored is kept. bm25 of several words is the sum of that of each, added in their order: what is
added here is to the last bit what FTS5 returns for all of them at once. A question often follows a text that was
written, which has a number above those of all others: what is kept of these is followed, and computed as FTS5 does from
how many chunks there are by then. Where anything else changed, everything is read anew.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, Final, NamedTuple

from hexad.core.lazy import ByteCache
from hexad.database.change_counters import ChangeReader
from hexad.database.connection import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.uint32]

FAMILY: Final = "fulltext"
APPENDED: Final = "chunks appended"
"""Every change counts in the first, and in the second too where all that it did was to add chunks after all others."""

K1: Final = 1.2
B: Final = 0.75
"""FTS5's constants of bm25."""
_LEAST_WEIGHT: Final = 1e-6
"""What FTS5 gives a word that half of the chunks hold."""

POSTINGS_BYTES: Final = 16 << 20
"""A posting takes 16 bytes, and one that was followed 20."""
LENGTHS_BYTES: Final = 16 << 20
"""The length of a chunk takes 4 bytes. Where there are more chunks, postings are not followed."""
_SUMMED_SINGLY: Final = 256
"""So many postings are added up before it takes longer than with NumPy."""


def bm25_weight(count: int, rows: int) -> float:
    """Return the weight that FTS5 gives a word which `count` of `rows` chunks hold."""
    weight = log(max(rows - count + 0.5, 0.5) / (count + 0.5))
    return weight if weight > 0.0 else _LEAST_WEIGHT


class IndexState(NamedTuple):
    """How often an index was changed and added to, its last chunk, and how many chunks and tokens it has."""

    changes: int
    appended: int
    last: int
    rows: int
    tokens: int

    def only_grew_to(self, now: IndexState) -> bool:
        """Return whether nothing but chunks with higher numbers came since: what is known of others still holds."""
        return 0 <= now.changes - self.changes == now.appended - self.appended

    def bm25(self, holders: int, occurrences: Counts, tokens: Counts) -> NDArray[np.float64]:
        """Return to the last bit what FTS5 gives chunks for a phrase that `holders` chunks hold."""
        weight, mean = bm25_weight(holders, self.rows), self.tokens / self.rows
        return weight * (occurrences * (K1 + 1.0) / (occurrences + K1 * (1 - B + B * tokens / mean)))

    def occurrences(self, holders: int, scores: NDArray[np.float64], tokens: Counts) -> Counts | None:
        """Return how often a phrase occurs in each of its chunks, from what bm25 makes of it.

        None where that does not give the same bm25: then this machine computes otherwise than FTS5 does.
        """
        import numpy as np

        if not len(scores):
            return scores.astype(np.uint32)
        full, mean = (K1 + 1.0) * bm25_weight(holders, self.rows), self.tokens / self.rows
        times = np.rint(scores * K1 * (1 - B + B * tokens / mean) / (full - scores)).astype(np.uint32)
        return times if np.array_equal(self.bm25(holders, times, tokens), scores) else None


NEVER_READ: Final = IndexState(changes=-1, appended=-1 << 62, last=0, rows=0, tokens=0)
"""What no state grew from."""


class IndexStates:
    """Tells the state of the full-text index of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._changes = ChangeReader(db)
        self._known: IndexState | None = None

    def now(self) -> IndexState:
        """Return the state in the caller's view; not within a transaction that writes, which may be undone."""
        changes, known = self._changes.current(FAMILY), self._known
        if known is None or known.changes != changes:
            row = self._db.query_one(
                "SELECT (SELECT block FROM chunk_fts_data WHERE id = 1), (SELECT max(id) FROM chunk_fts_docsize)"
            )
            averages, last = row or (None, None)
            rows, *tokens = _varints(averages or b"\0")
            known = IndexState(changes, self._changes.current(APPENDED), last or 0, rows, sum(tokens))
            self._known = known
        return known


class Postings(NamedTuple):
    """The chunks that hold a phrase, by number and in order, and the bm25 of each: positive, higher is better."""

    numbers: array[int]
    scores: array[float]


class _KeptPostings(NamedTuple):
    """Postings with the state that they are of and, where they were followed, how often their phrase occurs in each."""

    state: IndexState
    postings: Postings
    occurrences: Counts | None = None

    @property
    def nbytes(self) -> int:
        times = self.occurrences
        return 16 * len(self.postings.numbers) + (0 if times is None else times.nbytes)


class PostingLists:
    """The postings of phrases of one full-text index, as FTS5 has them."""

    def __init__(self, db: Database, states: IndexStates, *, score: str) -> None:
        """`score` is the call of bm25 in SQL."""
        self._db, self._states = db, states
        self._sql = (
            f"SELECT rowid, -{score} FROM chunk_fts WHERE chunk_fts MATCH ? AND rowid > ? ORDER BY rowid"
        )
        self._kept = ByteCache[str, _KeptPostings](POSTINGS_BYTES, lambda kept: kept.nbytes)
        # By chunk, 0 if not needed yet. One tuple, read once: what is of an older state stays out of a newer.
        self._tokens = ByteCache[str, "tuple[IndexState, Counts | None]"](LENGTHS_BYTES)
        db.caches.add("postings", self._kept)
        db.caches.add("chunk lengths", self._tokens)

    def of(self, phrases: Sequence[str]) -> list[Postings]:
        """Return the postings of FTS5 expressions, each of one phrase."""
        with self._db.read() as con:
            if con.writing:  # what was indexed here may be undone, and nothing would tell
                return [self._read(phrase) for phrase in phrases]
            now = self._states.now()
            known_at, tokens = self._tokens.get("") or (NEVER_READ, None)
            if now != known_at:
                if not known_at.only_grew_to(now):
                    self._kept.clear()
                    tokens = None
                tokens = _room(tokens, now.last)
                self._tokens.put("", (now, tokens))
            return [self._of(phrase, now, tokens) for phrase in phrases]

    def count_of(self, phrase: str) -> int | None:
        """Return how many chunks hold a phrase; None where its postings are not kept."""
        return len(self.of([phrase])[0].numbers) if self._kept.get(phrase) is not None else None

    def _of(self, phrase: str, now: IndexState, tokens: Counts | None) -> Postings:
        kept = self._kept.get(phrase)
        if kept is None or kept.state != now:
            followed = None if kept is None or tokens is None else self._followed(phrase, kept, now, tokens)
            kept = self._kept.put(phrase, followed or _KeptPostings(now, self._read(phrase)))
        return kept.postings

    def _read(self, phrase: str, *, after: int = 0) -> Postings:
        rows = self._db.query(self._sql, (phrase, after))
        numbers, scores = zip(*rows, strict=True) if rows else ((), ())
        return Postings(array("q", numbers), array("d", scores))

    def _followed(
        self, phrase: str, kept: _KeptPostings, now: IndexState, tokens: Counts
    ) -> _KeptPostings | None:
        """Return what is kept as it is after chunks were added; None where it is to be read anew."""
        import numpy as np

        numbers, occurrences = kept.postings.numbers, kept.occurrences
        if not kept.state.only_grew_to(now):
            return None
        new = self._read(phrase, after=kept.state.last)
        if occurrences is None:
            occurrences = self._occurrences(kept.state, kept.postings, tokens)
        if new.numbers and occurrences is not None:
            numbers = numbers + new.numbers
            of_new = self._occurrences(now, new, tokens, holders=len(numbers))
            occurrences = None if of_new is None else np.concatenate((occurrences, of_new))
        if occurrences is None:
            return None
        scores = array("d")
        if numbers:
            lengths = tokens[np.frombuffer(numbers, np.int64)]
            scores.frombytes(now.bm25(len(numbers), occurrences, lengths).tobytes())
        return _KeptPostings(now, Postings(numbers, scores), occurrences)

    def _occurrences(
        self, state: IndexState, postings: Postings, tokens: Counts, *, holders: int | None = None
    ) -> Counts | None:
        import numpy as np

        numbers, scores = np.array(postings.numbers, np.int64), np.array(postings.scores, np.float64)
        if (holders := holders or len(numbers)) > state.rows:  # the index is damaged
            return None
        missing = numbers[tokens[numbers] == 0]
        if len(missing):
            sizes = self._db.query(
                "SELECT d.sz FROM json_each(?) j CROSS JOIN chunk_fts_docsize d ON d.id = j.value",
                (json.dumps(missing.tolist()),),
            )
            if len(sizes) != len(missing):
                return None
            tokens[missing] = [tokens_in(record) for (record,) in sizes]
        return state.occurrences(holders, scores, tokens[numbers])


def _room(tokens: Counts | None, last: int) -> Counts | None:
    """Return the tokens of chunks with room for the last; None without NumPy, which nothing loads for this."""
    if "numpy" not in sys.modules or 4 * last >= LENGTHS_BYTES:
        return None
    if tokens is not None and len(tokens) > last:
        return tokens
    import numpy as np

    wider = np.zeros(last + 1 + last // 8, np.uint32)
    if tokens is not None:
        wider[: len(tokens)] = tokens
    return wider


def best_of(postings: Sequence[Postings], *, limit: int) -> list[tuple[int, float]]:
    """Return the chunks with the highest sums and these, best first; ties by number."""
    # Nothing loads NumPy for this: where there are no vectors, its import takes longer than many questions.
    if "numpy" in sys.modules and sum(len(each.numbers) for each in postings) > _SUMMED_SINGLY:
        return _best_by_columns(postings, limit=limit)
    found = dict(zip(*postings[0], strict=True)) if postings else {}
    for numbers, scores in postings[1:]:
        for no, score in zip(numbers, scores, strict=True):
            found[no] = found.get(no, 0.0) + score
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def _best_by_columns(postings: Sequence[Postings], *, limit: int) -> list[tuple[int, float]]:
    import numpy as np

    numbers = np.concatenate([np.frombuffer(each.numbers, np.int64) for each in postings])
    scores = np.concatenate([np.frombuffer(each.scores, np.float64) for each in postings])
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    begins = np.empty(len(numbers), np.bool_)
    begins[0] = True
    np.not_equal(numbers[1:], numbers[:-1], out=begins[1:])
    # One after the other in the order of the words: `np.add.reduceat` adds many in another order.
    sums = np.bincount(np.cumsum(begins) - 1, weights=scores[order])
    numbers = numbers[begins]
    if len(sums) > limit:
        best = np.flatnonzero(sums >= np.partition(sums, -limit)[-limit])
        numbers, sums = numbers[best], sums[best]
    falling = np.argsort(-sums, kind="stable")[:limit]
    return list(zip(numbers[falling].tolist(), sums[falling].tolist(), strict=True))


def tokens_in(sizes: bytes) -> int:
    """Return the tokens of a chunk, from FTS5's record of its columns."""
    return sum(sizes) if max(sizes, default=0) < 0x80 else sum(_varints(sizes))


def _varints(record: bytes) -> list[int]:
    """Return the numbers of one of FTS5's records, in SQLite's varints.

    >>> _varints(bytes([5, 0x81, 0x00]))
    [5, 128]
    """
    numbers, value = list[int](), 0
    for byte in record:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(value)
            value = 0
    return numbers
