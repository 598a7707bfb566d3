"""Recall quality: what share of the texts that answer a question comes back, beside six other ways to rank.

Two collections: long two-person conversations (each asked in a space of its own, and all in one space) and
questions about Python functions. Everything goes through the public API: `ingest` of JSON lines, then `recall`.
The baselines rank the same words and the same vectors, read from the store's file.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import hexad
from benchmarks import peers
from benchmarks.corpora import Question, invented_words, questions, random_words, read_lines, write_lines
from benchmarks.report import Options, Report, Table
from hexad.providers.embedders.base import resolve

DEPTH = 100
"""How deep rankings are looked at: sessions need more than ten turns."""
METRICS = ("R@1", "R@5", "R@10", "NDCG@10", "MRR", "session R@5", "session R@10", "all in 5", "all in 10")
_EMBEDDED_AT_ONCE = 256
BEST_KNOWN = {"conversations, own space": 0.753, "code questions": 0.818}
"""R@10 of one fixed formula in the trial that the design started from: a floor."""

Ranker = Callable[[Question], Sequence[str]]


class RememberedVectors:
    """The default embedder, asked once for each text: three stores and the questions share their vectors.

    With `keep`, vectors are also kept in a file of the system's temporary folder for the next run.
    """

    def __init__(self, *, keep: bool) -> None:
        model = resolve("default")
        assert model is not None
        self._model = model
        self.name, self.dimensions = model.name, model.dimensions
        name = hashlib.sha256(model.name.encode()).hexdigest()[:12]
        self._file = Path(tempfile.gettempdir()) / "hexad-benchmarks" / f"{name}.npz" if keep else None
        self._known: dict[bytes, NDArray[np.float32]] = {}
        if self._file is not None and self._file.exists():
            with np.load(self._file) as kept:
                self._known = dict(zip(map(bytes, kept["keys"]), kept["rows"], strict=True))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of length one for each text."""
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            self._known.update(zip(missing, self._model.embed(list(missing.values())), strict=True))
        return np.stack([self._known[key] for key in keys])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the row of one question."""
        row: NDArray[np.float32] = self.embed([text])[0]
        return row

    def save(self) -> None:
        """Write the file, where one is kept: what other processes saved meanwhile stays, and no reader meets a half."""
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._file.exists():
                with np.load(self._file) as kept:
                    self._known |= dict(zip(map(bytes, kept["keys"]), kept["rows"], strict=True))
            keys = np.array([np.frombuffer(key, dtype=np.uint8) for key in self._known])
            new = self._file.with_suffix(f".{os.getpid()}.npz")
            np.savez(new, keys=keys, rows=np.stack(list(self._known.values())))
            new.replace(self._file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A store and the questions that are asked of it; `spaces` when each has a space of its own."""

    name: str
    folder: Path
    questions: Sequence[Question]
    session_of: Mapping[str, str]
    spaces: bool = False


def run(options: Options) -> Report:
    """Measure quality on both collections."""
    report = Report(name="Recall quality")
    if options.data is None:
        report.skipped = "the development data is not there (give --data DIR)."
        return report
    embedder = RememberedVectors(keep=options.reuse_vectors)
    conversations = options.work / "conversations"
    stores = [*conversation_stores(options, options.data, conversations), code_store(options, options.data)]
    for asked in stores:
        build(asked, embedder)
        _measure(asked, embedder, report)
    _emptiness(options, stores[1], stores[2], embedder, report)
    embedder.save()
    report.notes.append(
        "R@k: mean share of a question's evidence among the first k memories. NDCG with binary relevance; MRR to rank "
        f"{DEPTH}. Session R@k: share of the sessions that hold evidence among the first k different sessions. All in k: "
        "share of questions whose whole evidence is among the first k. Baselines: BM25 with k1 1.2 and b 0.75; FTS5 with "
        "its default tokenizer; cosine of the best of a memory's vectors; the joins take BM25 without stop words and "
        "cosine."
    )
    return report


# Building -------------------------------------------------------------------------------------------------------


def conversation_stores(options: Options, data: Path, work: Path) -> list[Asked]:
    """Return the conversations to be built, each in a space of its own, and all in one."""
    turns = read_lines(data / "conversations" / "items.jsonl")
    asked = questions(data / "conversations" / "questions.jsonl")
    names = sorted({turn["conversation"] for turn in turns})
    if options.quick:
        names = names[:2]
    turns = [turn for turn in turns if turn["conversation"] in names]
    asked = [question for question in asked if question.conversation in names]
    if options.quick:
        asked = asked[::3]
    sessions = {turn["id"]: turn["session"] for turn in turns}
    apart, together = work / "apart", work / "together"
    for folder in (apart, together):
        (folder / "source").mkdir(parents=True)
    for name in names:
        write_lines(
            apart / "source" / f"{name}.jsonl", [turn for turn in turns if turn["conversation"] == name]
        )
    write_lines(together / "source" / "conversations.jsonl", turns)
    own = Asked(
        name="conversations, own space", folder=apart, questions=asked, session_of=sessions, spaces=True
    )
    case = Asked(
        name="conversations, all in one space", folder=together, questions=asked, session_of=sessions
    )
    return [own, case]


def code_store(options: Options, data: Path) -> Asked:
    """Return the questions about code, whose store is to be built."""
    functions = read_lines(data / "code_questions" / "corpus.jsonl")
    asked = questions(data / "code_questions" / "questions.jsonl")
    if options.quick:
        asked = asked[:150]
        needed = {name for question in asked for name in question.evidence}
        functions = [f for number, f in enumerate(functions) if number % 6 == 0 or f["id"] in needed]
    folder = options.work / "code"
    (folder / "source").mkdir(parents=True)
    write_lines(folder / "source" / "functions.jsonl", functions)
    return Asked(name="code questions", folder=folder, questions=asked, session_of={})


def build(asked: Asked, embedder: RememberedVectors) -> None:
    """Ingest and embed what a store is made of."""
    with hexad.open(asked.folder, embedder=embedder, background=False) as hx:
        for source in sorted((asked.folder / "source").iterdir()):
            space = source.stem if asked.spaces else "default"
            ingested = hx.ingest(source, space=space, embed=True)
            if ingested.skips:
                raise SystemExit(f"{source.name}: {ingested.skipped[:3]}")


# Measuring ------------------------------------------------------------------------------------------------------


def _measure(asked: Asked, embedder: RememberedVectors, report: Report) -> None:
    rows = []
    with hexad.open(asked.folder, embedder=embedder, background=False) as hx:
        for name, semantic in (("**hexad**", None), ("hexad, full text alone", False)):
            rows.append((name, evaluate(asked, _hexad(hx, asked, semantic=semantic))))
    for name, rank in _baselines(asked, embedder).items():
        rows.append((name, evaluate(asked, rank)))
    columns = METRICS if asked.session_of else tuple(name for name in METRICS if "session" not in name)
    report.tables.append(
        Table(
            title=f"{asked.name}: {len(asked.questions)} questions",
            columns=("", *columns),
            rows=[(name, *(found[column] for column in columns)) for name, found in rows],
        )
    )
    ours, others = rows[0][1]["R@10"], rows[2:]
    best_name, best = max(others, key=lambda row: row[1]["R@10"])
    report.at_least(f"{asked.name}: R@10 over the best baseline ({best_name})", ours / best["R@10"], 1.0, "×")
    if asked.name in BEST_KNOWN:
        report.at_least(f"{asked.name}: R@10", ours, BEST_KNOWN[asked.name])


def _hexad(hx: hexad.Hexad, asked: Asked, *, semantic: bool | None) -> Ranker:
    def rank(question: Question) -> Sequence[str]:
        space = question.conversation if asked.spaces else None
        return [
            hit.source_id or hit.id
            for hit in hx.recall(question.text, space=space, limit=DEPTH, semantic=semantic)
        ]

    return rank


def _baselines(asked: Asked, embedder: RememberedVectors) -> dict[str, Ranker]:
    whole = peers.read_store(asked.folder)
    parts = {space: whole.only(space) for space in set(whole.spaces)} if asked.spaces else {None: whole}
    bm25 = {space: peers.Bm25(part.texts, stop_words=False) for space, part in parts.items()}
    telling = {space: peers.Bm25(part.texts, stop_words=True) for space, part in parts.items()}
    fts5 = {space: peers.PlainFts5(part.texts) for space, part in parts.items()}

    def cosine(space: str | None, text: str) -> peers.Scores:
        return peers.cosines(parts[space], embedder.embed_query(text))

    arms: dict[str, Callable[[str | None, str], peers.Scores]] = {
        "BM25": lambda space, text: bm25[space].scores(text),
        "BM25 without stop words": lambda space, text: telling[space].scores(text),
        "FTS5, all words (its default)": lambda space, text: fts5[space].scores(text, join=" "),
        "FTS5, any word": lambda space, text: fts5[space].scores(text, join=" OR "),
        "cosine": cosine,
        "reciprocal ranks, k = 60": lambda space, text: peers.reciprocal_ranks(
            telling[space].scores(text), cosine(space, text)
        ),
        "min–max, half and half": lambda space, text: peers.min_max(
            telling[space].scores(text), cosine(space, text)
        ),
    }

    def ranker(score: Callable[[str | None, str], peers.Scores]) -> Ranker:
        def rank(question: Question) -> Sequence[str]:
            space = question.conversation if asked.spaces else None
            scores = score(space, question.text)
            order = np.argsort(-scores, kind="stable")[:DEPTH]
            return [parts[space].ids[at] for at in order.tolist() if scores[at] != 0]

        return rank

    return {name: ranker(score) for name, score in arms.items()}


def evaluate(asked: Asked, rank: Ranker) -> dict[str, float]:
    """Return the mean of every metric over the questions."""
    found = [metrics(rank(question), question.evidence, asked.session_of) for question in asked.questions]
    return {name: float(np.mean([row[name] for row in found])) for name in found[0]}


def metrics(
    ranking: Sequence[str], evidence: frozenset[str], session_of: Mapping[str, str]
) -> dict[str, float]:
    """Return the metrics of one ranking."""
    ranks = sorted(rank for rank, name in enumerate(ranking) if name in evidence)
    ideal = sum(1 / np.log2(rank + 2) for rank in range(min(10, len(evidence))))
    result = {f"R@{k}": sum(rank < k for rank in ranks) / len(evidence) for k in (1, 5, 10)}
    result["NDCG@10"] = float(sum(1 / np.log2(rank + 2) for rank in ranks if rank < 10) / ideal)
    result["MRR"] = 1 / (1 + ranks[0]) if ranks else 0.0
    for k in (5, 10):
        result[f"all in {k}"] = float(sum(rank < k for rank in ranks) == len(evidence))
    if session_of:
        sessions = list(dict.fromkeys(session_of[name] for name in ranking))
        wanted = {session_of[name] for name in evidence}
        for k in (5, 10):
            result[f"session R@{k}"] = len(wanted.intersection(sessions[:k])) / len(wanted)
    return result


# When nothing is relevant ---------------------------------------------------------------------------------------


def _emptiness(
    options: Options, conversations: Asked, code: Asked, embedder: RememberedVectors, report: Report
) -> None:
    assert options.data is not None
    count = 60 if options.quick else 300
    nothing = {
        "five random words": random_words(options.data / "embedder" / "vocab.txt", count=count, seed=11),
        "five invented words": invented_words(count=count, seed=12),
    }
    rows = []
    for asked, other in ((conversations, code), (code, conversations)):
        own = [question.text for question in asked.questions][:count]
        foreign = [question.text for question in other.questions][:count]
        groups = {"its own questions": own, "the other collection's": foreign, **nothing}
        fts5 = peers.PlainFts5(peers.read_store(asked.folder).texts)
        with hexad.open(asked.folder, embedder=embedder, background=False) as hx:
            for name, texts in groups.items():
                hybrid = np.mean([bool(hx.recall(text, limit=10)) for text in texts])
                lexical = np.mean([bool(hx.recall(text, limit=10, semantic=False)) for text in texts])
                every, some = (
                    np.mean([bool(fts5.search(text, join=join, limit=1)) for text in texts])
                    for join in (" ", " OR ")
                )
                rows.append((asked.name, name, len(texts), *map(float, (hybrid, lexical, every, some))))
                answered = name == "its own questions"
                what = "answered" if answered else "answered with nothing"
                value = float(hybrid if answered else 1 - hybrid)
                report.figure(f"{asked.name}: {name}, {what}", value)
    report.tables.append(
        Table(
            title="Share of questions answered with something (plain cosine answers every one)",
            columns=(
                "store",
                "asked",
                "questions",
                "hexad",
                "hexad, full text",
                "FTS5 all words",
                "FTS5 any word",
            ),
            rows=rows,
        )
    )
