"""Independent baselines, written for comparison only: BM25, plain FTS5, cosine, and two ways to join rankings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import STOP_WORDS, words

Scores = NDArray[np.float64]
_K1, _B, _RRF = 1.2, 0.75, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """What a store holds, for baselines to search: the same words and the same vectors.

    `texts` are the words that full text holds of each memory (its chunks, where they come from, the words inside
    identifiers); `owner[i]` is the memory that row `i` of `vectors` is about.
    """

    ids: Sequence[str]
    spaces: Sequence[str]
    texts: Sequence[str]
    vectors: NDArray[np.float32]
    owner: NDArray[np.int64]

    def only(self, space: str) -> Collection:
        """Return the part of the collection that is in one space."""
        kept = [at for at, name in enumerate(self.spaces) if name == space]
        place = {at: new for new, at in enumerate(kept)}
        rows = [row for row, at in enumerate(self.owner.tolist()) if at in place]
        return Collection(
            ids=[self.ids[at] for at in kept],
            spaces=[space] * len(kept),
            texts=[self.texts[at] for at in kept],
            vectors=self.vectors[rows],
            owner=np.array([place[int(self.owner[row])] for row in rows], dtype=np.int64),
        )


def read_store(folder: Path) -> Collection:
    """Return what the store in `folder` holds, read from its file."""
    con = apsw.Connection(str(folder / ".hexad" / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    ids, spaces, texts, place = [], [], [], {}
    sql = (
        "SELECT m.no, coalesce(m.source_id, m.id), s.name, group_concat(t.body || ' ' || t.context || ' ' ||"
        " t.identifiers, ' ') FROM memories m JOIN spaces s ON s.no = m.space_no JOIN chunks c ON c.memory_no = m.no"
        " JOIN chunk_texts t ON t.no = c.no WHERE m.status = 'active' GROUP BY m.no ORDER BY m.no"
    )
    for no, name, space, text in con.execute(sql):
        place[no] = len(ids)
        ids.append(name)
        spaces.append(space)
        texts.append(text)
    rows = [
        (place[no], blob) for no, blob in con.execute("SELECT memory_no, vector FROM vectors") if no in place
    ]
    con.close()
    vectors = np.frombuffer(b"".join(blob for _, blob in rows), dtype="<f2").astype(np.float32)
    return Collection(
        ids=ids,
        spaces=spaces,
        texts=texts,
        vectors=vectors.reshape(len(rows), -1) if rows else np.zeros((0, 1), dtype=np.float32),
        owner=np.array([at for at, _ in rows], dtype=np.int64),
    )


class Bm25:
    """Okapi BM25 over whole texts, k1 = 1.2, b = 0.75."""

    def __init__(self, texts: Sequence[str], *, stop_words: bool) -> None:
        self._stop = STOP_WORDS if stop_words else frozenset[str]()
        self._size = len(texts)
        lists = [[word for word in words(text) if word not in self._stop] for text in texts]
        lengths = np.array([len(found) for found in lists], dtype=np.float64)
        self._norm = _K1 * (1 - _B + _B * lengths / max(lengths.mean(), 1e-9))
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, found in enumerate(lists):
            for word, count in Counter(found).items():
                postings[word].append((at, count))
        self._postings: Mapping[str, list[tuple[int, int]]] = postings

    def scores(self, question: str) -> Scores:
        """Return the score of every text."""
        total = np.zeros(self._size)
        for word in set(words(question)) - self._stop:
            found = self._postings.get(word)
            if not found:
                continue
            rows = np.array([at for at, _ in found])
            counts = np.array([count for _, count in found], dtype=np.float64)
            idf = log(1 + (self._size - len(found) + 0.5) / (len(found) + 0.5))
            total[rows] += idf * counts * (_K1 + 1) / (counts + self._norm[rows])
        return total


class PlainFts5:
    """FTS5 as it comes: one column, the default tokenizer, `bm25()`."""

    def __init__(self, texts: Sequence[str], path: str = ":memory:") -> None:
        self._con = apsw.Connection(path)
        self._size = len(texts)
        self._con.execute("CREATE VIRTUAL TABLE f USING fts5(text)")
        with self._con:
            self._con.executemany("INSERT INTO f(rowid, text) VALUES(?,?)", enumerate(texts, start=1))

    def scores(self, question: str, *, join: str) -> Scores:
        """Return the score of every text; `join` is " " (all words) or " OR " (any word)."""
        total = np.zeros(self._size)
        for no, score in self.search(question, join=join, limit=self._size):
            total[no - 1] = -score
        return total

    def search(
        self, question: str, *, join: str, limit: int, stop_words: bool = False
    ) -> list[tuple[int, float]]:
        """Return row numbers and ranks, best first."""
        wanted = [word for word in dict.fromkeys(words(question)) if not (stop_words and word in STOP_WORDS)]
        if not wanted:
            return []
        match = join.join(f'"{word}"' for word in wanted)
        return list(
            self._con.execute(
                "SELECT rowid, rank FROM f WHERE f MATCH ? ORDER BY rank LIMIT ?", (match, limit)
            )
        )


def cosines(collection: Collection, question: NDArray[np.float32]) -> Scores:
    """Return each memory's best cosine; -1 for one without a vector."""
    total = np.full(len(collection.ids), -1.0)
    if len(collection.owner):
        np.maximum.at(total, collection.owner, (collection.vectors @ question).astype(np.float64))
    return total


def reciprocal_ranks(*arms: Scores) -> Scores:
    """Join full rankings by the sum of 1 / (60 + rank); what an arm does not match, it does not rank."""
    total = np.zeros(len(arms[0]))
    for scores in arms:
        order = np.argsort(-scores, kind="stable")
        order = order[scores[order] != 0]
        total[order] += 1 / (_RRF + 1 + np.arange(len(order)))
    return total


def min_max(*arms: Scores) -> Scores:
    """Join by the mean of each arm's scores, stretched from 0 to 1."""
    return np.mean([(s - s.min()) / (np.ptp(s) or 1.0) for s in arms], axis=0)
