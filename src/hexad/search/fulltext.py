"""Full text over chunks: FTS5 with three columns, in the same transaction as the memories."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

import apsw

from hexad.database.change_counters import BoundedChangeCache, bump
from hexad.database.connection import Database, SQLValue
from hexad.errors import IntegrityError
from hexad.memory.query import Filters
from hexad.memory.tables.ranking_columns import MemoryChanges, MemoryState
from hexad.memory.tables.rows import filter_sql
from hexad.search.postings import (
    APPENDED,
    FAMILY,
    K1,
    NEVER_READ,
    B,
    IndexState,
    IndexStates,
    PostingLists,
    best_of,
    bm25_weight,
    tokens_in,
)
from hexad.text.literals import SoughtName, literal_pattern, match_phrases, parts_of_name

CHUNK_FTS_DDL: Final = """
CREATE VIRTUAL TABLE chunk_fts USING fts5(
  body, context, identifiers,
  content='chunk_texts', content_rowid='no', tokenize="porter unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE chunk_terms USING fts5vocab('chunk_fts', 'row');
"""
CHUNK_FTS_FORGETS: Final = "INSERT INTO chunk_fts(chunk_fts, rank) VALUES('secure-delete', 1)"

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
            K1 * (1 - B + B * self.tokens[no] / mean) for mean in (self.mean_everywhere, self.mean)
        )
        frequency = round(frequency_factor * everywhere / (K1 + 1 - frequency_factor), _FREQUENCY_DIGITS)
        return (K1 + 1) * frequency / (frequency + here)


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


def any_word(words: Sequence[str]) -> str:
    """Return the FTS5 expression of chunks that hold any of some words.

    >>> any_word(["heron", 'a"b'])
    '"heron" OR "a""b"'
    """
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


class FullText:
    """The full-text index of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._memory_changes = MemoryChanges(db)
        self._counted: tuple[IndexState, dict[str, tuple[IndexState, int]]] = (NEVER_READ, {})
        self._parts: dict[tuple[Filters, bool], tuple[MemoryState, IndexState, IndexPart]] = {}
        self._owners: tuple[IndexState, dict[int, int | None]] = (NEVER_READ, {})
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
        self._counted = (NEVER_READ, {})

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
            before, count = counted.get(key, (NEVER_READ, 0))
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
            no: tokens_in(sizes) for no, sizes in self._db.query("SELECT id, sz FROM chunk_fts_docsize")
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
            now = NEVER_READ if con.writing else self._states.now()
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
