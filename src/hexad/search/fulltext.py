"""Full text over chunks: FTS5 with three columns, in the same transaction as the memories.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import apsw

from hexad.core.lazy import ByteCache
from hexad.database.change_counters import BoundedChangeCache, ChangeReader, bump
from hexad.database.connection import Database, SQLValue
from hexad.errors import IntegrityError
from hexad.memory.query import Filters
from hexad.memory.tables.ranking_columns import MemoryChanges, MemoryState
from hexad.memory.tables.rows import filter_sql
from hexad.text.literals import SoughtName, literal_pattern, match_phrases, parts_of_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.uint32]

CHUNK_FTS_DDL: Final = """
CREATE VIRTUAL TABLE chunk_fts USING fts5(
  body, context, identifiers,
  content='chunk_texts', content_rowid='no', tokenize="porter unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE chunk_terms USING fts5vocab('chunk_fts', 'row');
"""
CHUNK_FTS_FORGETS: Final = "INSERT INTO chunk_fts(chunk_fts, rank) VALUES('secure-delete', 1)"

FAMILY: Final = "fulltext"
APPENDED: Final = "chunks appended"
"""Every change counts in the first, and in the second too where all that it did was to add chunks after all others."""

_LEAST_WEIGHT: Final = 1e-6
"""What FTS5 gives a word that half of the chunks hold."""
_K1: Final = 1.2
_B: Final = 0.75
"""FTS5's constants of bm25."""

POSTINGS_BYTES: Final = 16 << 20
"""A posting takes 16 bytes, and one that was followed 20."""
LENGTHS_BYTES: Final = 16 << 20
"""The length of a chunk takes 4 bytes. Where there are more chunks, postings are not followed."""
_SUMMED_SINGLY: Final = 256
"""So many postings are added up before it takes longer than with NumPy."""

COLUMN_WEIGHTS: Final = (1.0, 1.0, 1.0)
"""Weights of body, context and identifiers in bm25."""

_BM25: Final = f"bm25(chunk_fts, {', '.join(str(weight) for weight in COLUMN_WEIGHTS)})"
_FREQUENCY_DIGITS: Final = 6
"""How often a word stands in a chunk is a whole number, weighed by column: what is beyond comes from computing."""

COUNTS_KEPT: Final = 10_000
OWNERS_KEPT: Final = 20_000
"""Of so many chunks it is kept which memory they are of."""
DEFINITIONS_BYTES: Final = 4 << 20
"""Which memories define the names that were asked for; each takes some 200 bytes."""
_DEFINITION_BYTES: Final = 200
PARTS_KEPT: Final = 16
"""Filters whose passing chunks are remembered."""
_CHUNKS_PER_ROW: Final = 20
"""To join a match with its memory takes as long as to list so many chunks of the whole index."""
_MERGED_PAGES: Final = 400
_MERGES_LIMIT: Final = 100_000
_TOKENIZER: Final = ("unicode61", "remove_diacritics", "2")
_COUNT_AFTER: Final = "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ? AND rowid > ?"
_INSERT: Final = "INSERT INTO chunk_fts(rowid, body, context, identifiers) VALUES(?,?,?,?)"
_DELETE: Final = (
    "INSERT INTO chunk_fts(chunk_fts, rowid, body, context, identifiers) VALUES('delete',?,?,?,?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedChunk:
    """What full text holds of a chunk."""

    no: int
    body: str
    context: str
    identifiers: str


class TextMatch(NamedTuple):
    """A chunk that matched; `bm25` is positive, higher is better."""

    chunk_no: int
    memory_no: int
    bm25: float


@dataclass(frozen=True, slots=True)
class PartLengths:
    """How many tokens the chunks of a part have, by number, and the means of the part and of the whole index.

    With them a match weighs as if the part were all there is, the lengths of its texts included.
    """

    tokens: Sequence[int]
    mean: float
    mean_everywhere: float

    def adjusted(self, no: int, frequency_factor: float) -> float:
        """Return what bm25 makes of how often a term stands in a chunk, from what it makes of it in the whole index.

        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with FTS5's constants.
        """
        everywhere, here = (
            _K1 * (1 - _B + _B * self.tokens[no] / mean) for mean in (self.mean_everywhere, self.mean)
        )
        frequency = round(frequency_factor * everywhere / (_K1 + 1 - frequency_factor), _FREQUENCY_DIGITS)
        return (_K1 + 1) * frequency / (frequency + here)


@dataclass(frozen=True, slots=True)
class IndexPart:
    """Some chunks of an index, by number, how many they are, and for what an actor may see their lengths."""

    mask: bytes
    count: int
    lengths: PartLengths | None = None

    @classmethod
    def of(cls, numbers: Sequence[int], lengths: PartLengths | None = None) -> IndexPart:
        """Return the part of these chunks."""
        mask = bytearray(max(numbers, default=-1) + 1)
        for no in numbers:
            mask[no] = 1
        return cls(bytes(mask), len(numbers), lengths)

    def changed(self, numbers: Sequence[int], passing: Sequence[int]) -> IndexPart:
        """Return the part where of these chunks those that are `passing` are of it, and the others are not."""
        mask = bytearray(self.mask)
        mask.extend(bytes(max(0, max(passing, default=-1) + 1 - len(mask))))
        count = self.count - sum(map(self.holds, numbers)) + len(passing)
        for no in filter(self.holds, numbers):
            mask[no] = 0
        for no in passing:
            mask[no] = 1
        return IndexPart(bytes(mask), count)

    def holds(self, no: int) -> bool:
        """Return whether a chunk is of it."""
        return no < len(self.mask) and self.mask[no] == 1


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

    def _weight(self, holders: int) -> float:
        weight = log((self.rows - holders + 0.5) / (holders + 0.5))
        return weight if weight > 0.0 else _LEAST_WEIGHT

    def bm25(self, holders: int, occurrences: Counts, tokens: Counts) -> NDArray[np.float64]:
        """Return to the last bit what FTS5 gives chunks for a phrase that `holders` chunks hold."""
        weight, mean = self._weight(holders), self.tokens / self.rows
        return weight * (occurrences * (_K1 + 1.0) / (occurrences + _K1 * (1 - _B + _B * tokens / mean)))

    def occurrences(self, holders: int, scores: NDArray[np.float64], tokens: Counts) -> Counts | None:
        """Return how often a phrase occurs in each of its chunks, from what bm25 makes of it.

        None where that does not give the same bm25: then this machine computes otherwise than FTS5 does.
        """
        import numpy as np

        if not len(scores):
            return scores.astype(np.uint32)
        full, mean = (_K1 + 1.0) * self._weight(holders), self.tokens / self.rows
        times = np.rint(scores * _K1 * (1 - _B + _B * tokens / mean) / (full - scores)).astype(np.uint32)
        return times if np.array_equal(self.bm25(holders, times, tokens), scores) else None


_NEVER: Final = IndexState(changes=-1, appended=-1 << 62, last=0, rows=0, tokens=0)
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
            known_at, tokens = self._tokens.get("") or (_NEVER, None)
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
            tokens[missing] = [_tokens(record) for (record,) in sizes]
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


def any_word(words: Sequence[str]) -> str:
    """Return the FTS5 expression of chunks that hold any of some words.

    >>> any_word(["heron", 'a"b'])
    '"heron" OR "a""b"'
    """
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


def bm25_weight(count: int, rows: int) -> float:
    """Return the weight that FTS5 gives a word which `count` of `rows` chunks hold."""
    return max(_LEAST_WEIGHT, log(max(rows - count + 0.5, 0.5) / (count + 0.5)))


class FullText:
    """The full-text index of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._memory_changes = MemoryChanges(db)
        self._counted: tuple[IndexState, dict[str, tuple[IndexState, int]]] = (_NEVER, {})
        self._parts: dict[tuple[Filters, bool], tuple[MemoryState, IndexState, IndexPart]] = {}
        self._owners: tuple[IndexState, dict[int, int | None]] = (_NEVER, {})
        self._states = IndexStates(db)
        self._postings = PostingLists(db, self._states, score=_BM25)
        self._definitions = BoundedChangeCache[dict[int, tuple[int, float]]](
            db,
            ("memories", FAMILY),
            limit_bytes=DEFINITIONS_BYTES,
            size=lambda found: _DEFINITION_BYTES * len(found),
        )
        db.caches.add("definitions", self._definitions.kept)
        db.caches.on_release(self.forget_counts)

    def add(self, chunks: Sequence[IndexedChunk]) -> None:
        """Index chunks in the caller's transaction."""
        self.add_rows([(c.no, c.body, c.context, c.identifiers) for c in chunks])

    def add_rows(self, rows: Sequence[tuple[int, str, str, str]], *, changes: int = 1) -> None:
        """Index chunks, each a row of what `IndexedChunk` holds, as so many changes of the index."""
        with self._db.joined() as con:
            last = con.execute("SELECT max(id) FROM chunk_fts_docsize").fetchone()
            if all(row[0] > ((last and last[0]) or 0) for row in rows):
                bump(con, APPENDED, times=changes)
            con.executemany(_INSERT, rows)
            bump(con, FAMILY, times=changes)

    def remove(self, chunks: Sequence[IndexedChunk]) -> None:
        """Take chunks out; they must be given as they were indexed."""
        with self._db.joined() as con:
            con.executemany(_DELETE, [(c.no, c.body, c.context, c.identifiers) for c in chunks])
            bump(con, FAMILY)

    def remove_memories(self, numbers: Sequence[int]) -> None:
        """Take all chunks of active memories out, in the caller's transaction and before their texts go."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO chunk_fts(chunk_fts, rowid, body, context, identifiers)"
                " SELECT 'delete', t.no, t.body, t.context, t.identifiers FROM chunk_texts t"
                " WHERE t.no IN (SELECT no FROM chunks WHERE memory_no IN (SELECT value FROM json_each(?)))",
                (json.dumps(list(numbers)),),
            )
            bump(con, FAMILY)

    def scrub(self) -> None:
        """Merge the index's segments, so that it keeps no word of what was taken out.

        In many short transactions of its own: others write in between. What a kill leaves is done by the next
        scrub, or in time by FTS5 itself.
        """
        pages = -_MERGED_PAGES  # negative: all segments, not only as many as are of one size
        for _ in range(_MERGES_LIMIT):
            with self._db.transaction() as con:
                before = con.total_changes
                con.execute("INSERT INTO chunk_fts(chunk_fts, rank) VALUES('merge', ?)", (pages,))
                if con.total_changes - before < 2:  # FTS5's own sign that there was nothing to merge
                    return
            pages = _MERGED_PAGES

    def rebuild(self) -> None:
        """Build the index anew from the chunks."""
        with self._db.joined() as con:
            con.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
            bump(con, FAMILY)

    def recreate(self) -> None:
        """Drop the index, however damaged it is, and build it anew."""
        with self._db.joined() as con:
            con.execute("DROP TABLE IF EXISTS chunk_terms; DROP TABLE IF EXISTS chunk_fts;" + CHUNK_FTS_DDL)
            con.execute(CHUNK_FTS_FORGETS)
        self.rebuild()

    def optimize(self) -> None:
        """Merge the index's segments, for speed."""
        with self._db.joined() as con:
            con.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('optimize')")

    def check(self) -> list[str]:
        """Return in words what is wrong with the index; an empty list when it agrees with the chunks.

        FTS5's own check is a write by its form: a store that is open read-only is left to SQLite's.
        """
        if self._db.readonly:
            return []
        try:
            with self._db.joined() as con:
                con.execute("INSERT INTO chunk_fts(chunk_fts, rank) VALUES('integrity-check', 1)")
        except IntegrityError as error:
            return [f"Full text disagrees with the memories ({error}). `hexad reindex` rebuilds it."]
        return []

    def count(self) -> int:
        """Return how many chunks are indexed."""
        with self._db.read() as con:
            if con.writing:
                return self._once("", None, "SELECT count(*) FROM chunk_fts_docsize")
            return self._states.now().rows

    def document_frequencies(self, words: Sequence[str]) -> Mapping[str, int]:
        """Return in how many chunks each word occurs, in any of its forms; words that occur nowhere are left out."""
        frequencies: dict[str, int] = {}
        with self._db.read() as con:
            tokenizer = con.sqlite.fts5_tokenizer("porter", list(_TOKENIZER))
            for word in words:
                stems = cast(
                    "list[str]",
                    tokenizer(
                        word.encode(),
                        apsw.FTS5_TOKENIZE_QUERY,
                        None,
                        include_offsets=False,
                        include_colocated=False,
                    ),
                )
                match = any_word([word]) if len(stems) == 1 else None
                rarest = min((self._occurrences(stem, match) for stem in stems), default=0)
                if rarest:
                    frequencies[word] = rarest
        return frequencies

    def _occurrences(self, token: str, match: str | None) -> int:
        known = None if match is None else self._postings.count_of(match)
        if known is not None:
            return known
        return self._once(token, match, "SELECT doc FROM chunk_terms WHERE term = ?", token)

    def forget_counts(self) -> None:
        """Let go of the words whose chunks were counted."""
        self._counted = (_NEVER, {})

    def _once(self, key: str, match: str | None, sql: str, *params: str) -> int:
        """Return a count, which costs as much as the rows that it counts: where chunks were added, of these alone.

        `match` is the expression that it counts the chunks of, None where none does.
        """
        with self._db.read() as con:
            if con.writing:  # what was indexed here may be undone, and nothing would tell
                row = self._db.query_one(sql, params)
                return row[0] if row else 0
            now = self._states.now()
            # One tuple, read once: a thread that still reads an older state must not count into a newer one's.
            counted_at, counted = self._counted
            if counted_at != now or len(counted) >= COUNTS_KEPT:
                if not counted_at.only_grew_to(now) or len(counted) >= COUNTS_KEPT:
                    counted = {}
                self._counted = (now, counted)
            before, count = counted.get(key, (_NEVER, 0))
            if before != now:
                if match is not None and before.only_grew_to(now):
                    row = self._db.query_one(_COUNT_AFTER, (match, before.last))
                else:
                    count, row = 0, self._db.query_one(sql, params)
                count += row[0] if row else 0
                counted[key] = (now, count)
            return count

    def search(self, match: str, *, limit: int, filters: Filters | None = None) -> list[TextMatch]:
        """Return the best matches of an FTS5 expression, best first; ties by row number."""
        score = _BM25
        if filters is None or filters.empty:
            sql = (
                "SELECT f.rowid, c.memory_no, -f.score FROM"
                f" (SELECT rowid, {score} AS score FROM chunk_fts WHERE chunk_fts MATCH ?"
                " ORDER BY score, rowid LIMIT ?) f JOIN chunks c ON c.no = f.rowid"
                " ORDER BY f.score, f.rowid"
            )
            params: tuple[SQLValue, ...] = (match, limit)
        elif (part := self._worthwhile_part(match, filters)) is not None:
            # The mask is looked at before bm25 is computed, and without a call of Python for each match.
            sql = (
                f"SELECT rowid, -{score} AS score FROM chunk_fts WHERE chunk_fts MATCH ?"
                " AND substr(?, rowid + 1, 1) = x'01' ORDER BY score DESC, rowid LIMIT ?"
            )
            return self.locate(self._db.query(sql, (match, part.mask, limit)))
        else:
            where, values = filter_sql(filters)
            sql = (
                f"SELECT c.no, c.memory_no, -{score} AS score FROM chunk_fts"
                " JOIN chunks c ON c.no = chunk_fts.rowid JOIN memories m ON m.no = c.memory_no"
                f" JOIN spaces s ON s.no = m.space_no WHERE chunk_fts MATCH ? AND {' AND '.join(where) or '1'}"
                " ORDER BY score DESC, c.no LIMIT ?"
            )
            params = (match, *values, limit)
        # Many rows are on the way to every answer.
        return list(map(TextMatch._make, self._db.query(sql, params)))

    def search_words(self, words: Sequence[str], *, limit: int) -> list[TextMatch]:
        """Return what `search` does of any of some words, from what is kept of each."""
        with self._db.read():
            return self.locate(best_of(self._postings.of([any_word([word]) for word in words]), limit=limit))

    def _worthwhile_part(self, match: str, filters: Filters) -> IndexPart | None:
        """Return the chunks of memories that pass the filters, where that costs less than to look at all that match."""
        if (part := self._known_part(filters, lengths=False)) is not None:
            return part
        few = self.count() // _CHUNKS_PER_ROW
        rows = self._db.query("SELECT 1 FROM chunk_fts WHERE chunk_fts MATCH ? LIMIT ?", (match, few + 1))
        return self._of_part(filters, lengths=False) if len(rows) > few else None

    def part(self, filters: Filters) -> IndexPart:
        """Return which chunks are of memories that pass the filters; worked out once for each state of the index."""
        return self._of_part(filters, lengths=filters.roles is not None)

    def _known_part(self, filters: Filters, *, lengths: bool) -> IndexPart | None:
        """Return what is kept of a part, with what changed since; None where it is to be worked out."""
        with self._db.read() as con:
            known = self._parts.get((filters, lengths))
            if con.writing or known is None:
                return None
            memories, index, part = known
            now = (self._memory_changes.now(), self._states.now())
            if now == (memories, index):
                return part
            changed = self._memory_changes.between(memories, now[0])
            if lengths or changed is None or not index.only_grew_to(now[1]):
                return None
            listed = json.dumps(changed)
            of_changed = self._db.query(
                "SELECT no FROM chunks WHERE memory_no IN (SELECT value FROM json_each(?))", (listed,)
            )
            where, values = filter_sql(filters)
            passing = self._db.query(
                "SELECT c.no FROM json_each(?) j CROSS JOIN memories m ON m.no = j.value"
                " CROSS JOIN chunks c ON c.memory_no = m.no JOIN spaces s ON s.no = m.space_no"
                f" WHERE {' AND '.join([*where, 'm.status = ?'])}",
                (listed, *values, "active"),
            )
            part = part.changed([no for (no,) in of_changed], [no for (no,) in passing])
            self._parts[filters, lengths] = (*now, part)
            return part

    def _of_part(self, filters: Filters, *, lengths: bool) -> IndexPart:
        with self._db.read() as con:
            if (known := self._known_part(filters, lengths=lengths)) is not None:
                return known
            where, values = filter_sql(filters)
            row = self._db.query_one(
                "SELECT group_concat(c.no) FROM chunks c JOIN memories m ON m.no = c.memory_no"
                f" JOIN spaces s ON s.no = m.space_no WHERE {' AND '.join([*where, 'm.status = ?'])}",
                (*values, "active"),
            )
            numbers = [int(no) for no in row[0].split(",")] if row and row[0] else []
            part = IndexPart.of(numbers, self._lengths(numbers) if lengths else None)
            if not con.writing:
                if len(self._parts) >= PARTS_KEPT:
                    self._parts.clear()
                self._parts[filters, lengths] = (self._memory_changes.now(), self._states.now(), part)
            return part

    def _lengths(self, numbers: Sequence[int]) -> PartLengths:
        everywhere = {
            no: _tokens(sizes) for no, sizes in self._db.query("SELECT id, sz FROM chunk_fts_docsize")
        }
        tokens = array("I", bytes(4 * (max(numbers, default=-1) + 1)))
        for no in numbers:
            tokens[no] = everywhere.get(no, 0)
        mean = sum(everywhere.values()) / max(len(everywhere), 1)
        return PartLengths(tokens, sum(tokens) / max(len(numbers), 1), mean)

    def counts_in(self, terms: Sequence[str], part: IndexPart) -> dict[str, int]:
        """Return in how many chunks of a part each term occurs; terms that occur nowhere in it are left out."""
        listed = self._postings.of([match_phrases([term]) for term in terms])
        held = {term: sum(map(part.holds, each.numbers)) for term, each in zip(terms, listed, strict=True)}
        return {term: count for term, count in held.items() if count}

    def search_part(
        self, terms: Sequence[str], part: IndexPart
    ) -> tuple[list[tuple[int, float]], dict[str, int]]:
        """Return the chunks of a part that hold any of the terms with their bm25, and in how many each term occurs.

        Words weigh as if the part were all there is: FTS5 counts them in the whole index. Where it has its lengths,
        these do too. Best first; ties by number.
        """
        rows, found, counts = self.count(), dict[int, float](), dict[str, int]()
        listed = self._postings.of([match_phrases([term]) for term in terms])
        for term, everywhere in zip(terms, listed, strict=True):
            here = [pair for pair in zip(*everywhere, strict=True) if part.holds(pair[0])]
            if here:
                counts[term] = len(here)
                weight_here = bm25_weight(len(here), part.count)
                weight_everywhere = bm25_weight(len(everywhere.numbers), rows)
                for no, bm25 in here:
                    factor = bm25 / weight_everywhere
                    if part.lengths is not None:
                        factor = part.lengths.adjusted(no, factor)
                    found[no] = found.get(no, 0.0) + weight_here * factor
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0])), counts

    def locate(self, chunks: Sequence[tuple[int, float]]) -> list[TextMatch]:
        """Return the matches of chunks with their bm25, in order; chunks that are gone are left out."""
        memories = self._owners_of([no for no, _ in chunks])
        return [
            TextMatch._make((no, owner, bm25)) for no, bm25 in chunks if (owner := memories[no]) is not None
        ]

    def _owners_of(self, chunks: Sequence[int]) -> Mapping[int, int | None]:
        """Return the memories of chunks, None of those that are gone, and perhaps those of more."""
        with self._db.read() as con:
            kept_at, kept = self._owners
            now = _NEVER if con.writing else self._states.now()
            if con.writing or not kept_at.only_grew_to(now) or len(kept) + len(chunks) > OWNERS_KEPT:
                kept = {}
            self._owners = (now, kept)
            if missing := [no for no in chunks if no not in kept]:
                rows = self._db.query(
                    "SELECT j.value, c.memory_no FROM json_each(?) j LEFT JOIN chunks c ON c.no = j.value",
                    (json.dumps(missing),),
                )
                kept.update(rows)
            return kept

    def matching(self, term: str, filters: Filters) -> int:
        """Return how many chunks of memories that pass the filters hold a term."""
        where, values = filter_sql(filters)
        row = self._db.query_one(
            "SELECT count(*) FROM chunk_fts JOIN chunks c ON c.no = chunk_fts.rowid"
            " JOIN memories m ON m.no = c.memory_no JOIN spaces s ON s.no = m.space_no"
            f" WHERE chunk_fts MATCH ? AND {' AND '.join(where) or '1'}",
            (match_phrases([term]), *values),
        )
        return row[0] if row else 0

    def occurrences(self, name: str, part: IndexPart | None, *, most: int) -> int:
        """Return how many chunks, of a part where one is given, hold a name's words in a row, at most `most`."""
        phrase = match_phrases([name])
        if part is None:
            sql = f"SELECT count(*) FROM (SELECT 1 FROM chunk_fts WHERE chunk_fts MATCH ? LIMIT {most:d})"
            return min(most, self._once(f"{most} {phrase}", phrase, sql, phrase))
        rows = self._db.query("SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?", (phrase,))
        return min(most, sum(part.holds(no) for (no,) in rows))

    def matches_in(self, chunk_no: int, term: str) -> bool:
        """Return whether a chunk holds a term."""
        sql = "SELECT 1 FROM chunk_fts WHERE chunk_fts MATCH ? AND rowid = ?"
        return self._db.query_one(sql, (match_phrases([term]), chunk_no)) is not None

    def holding(self, literal: str, *, limit: int, filters: Filters | None = None) -> list[TextMatch]:
        """Return the best of the chunks that hold `literal` as it is written, but for its case.

        The index knows words alone: of `limit` chunks with the same words in a row the texts are compared.
        """
        matches = self.search(match_phrases([literal]), limit=limit, filters=filters)
        texts = self._db.query(
            "SELECT no, context || char(10) || body FROM chunk_texts WHERE no IN (SELECT value FROM json_each(?))",
            (json.dumps([match.chunk_no for match in matches]),),
        )
        pattern = literal_pattern(literal)
        holding = {no for no, text in texts if pattern.search(text)}
        return [match for match in matches if match.chunk_no in holding]

    def _held_by(self, match: str, *, limit: int, filters: Filters | None) -> dict[int, int] | None:
        """Return the memories of all chunks that match, by the chunk; None where there are more than `limit`.

        That takes a third of the time of ranking them.
        """
        where, values = filter_sql(filters or Filters())
        joined = "JOIN memories m ON m.no = c.memory_no JOIN spaces s ON s.no = m.space_no" if where else ""
        rows = self._db.query(
            f"SELECT c.no, c.memory_no FROM chunk_fts JOIN chunks c ON c.no = chunk_fts.rowid {joined}"
            f" WHERE chunk_fts MATCH ? AND {' AND '.join(where) or '1'} LIMIT ?",
            (match, *values, limit + 1),
        )
        return None if len(rows) > limit else dict(rows)

    def defining(
        self, name: str, *, limit: int, filters: Filters | None = None
    ) -> Mapping[int, tuple[int, float]]:
        """Return the memories of which a span defines or states `name`: its best chunk, and how much it does.

        Turns of conversations define nothing. Of `limit` chunks that hold the name's last part, and of as many that
        stand under it, the texts are looked at. Among all memories the answer is kept: names come again.
        """
        if filters is not None and not filters.empty:
            return self._read_defining(name, limit=limit, filters=filters)
        return self._definitions.get(
            (name, limit), lambda: self._read_defining(name, limit=limit, filters=None)
        )

    def _read_defining(
        self, name: str, *, limit: int, filters: Filters | None
    ) -> dict[int, tuple[int, float]]:
        parts = parts_of_name(name)
        phrase = match_phrases([parts[-1]])
        memories = self._held_by(phrase, limit=limit, filters=filters)
        if memories is None:  # the best of them, as they are so many
            matches = self.search(f"{{context}} : ({phrase})", limit=limit, filters=filters)
            matches += self.search(phrase, limit=limit, filters=filters)
            memories = {match.chunk_no: match.memory_no for match in matches}
        texts = self._db.query(
            "SELECT c.no, c.heading, t.body, t.context FROM chunk_texts t JOIN chunks c ON c.no = t.no"
            " WHERE c.no IN (SELECT value FROM json_each(?))"
            " AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.memory_no = c.memory_no)",
            (json.dumps(list(memories)),),
        )
        named = SoughtName(name)
        degrees = {
            no: named.defined_by(heading=heading, body=body, around=context.partition("\n")[0])
            for no, heading, body, context in texts
        }
        found: dict[int, tuple[int, float]] = {}
        for no in sorted(degrees):  # the first chunk of a definition is where it begins
            if degrees[no] > found.get(memories[no], (0, 0.0))[1]:
                found[memories[no]] = (no, degrees[no])
        return found


def _tokens(sizes: bytes) -> int:
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
