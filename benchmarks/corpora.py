"""Texts and questions: the development data as it is, and larger collections recombined from its sentences."""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_STOP_WORDS = (
    "a about after all also am an and any are as at be because been before being but by can could did do does doing"
    " for from had has have he her here hers him his how i if in into is it its just me more most my no nor not of on"
    " only or other our out over own s same she should so some such t than that the their them then there these they"
    " this those to too under until up very was we were what when where which while who whom why will with would you"
    " your"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
DIMENSIONS = 384
_TABLE_ROWS = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, where it is asked, and the ids of the texts that answer it."""

    text: str
    conversation: str | None
    evidence: frozenset[str]


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_lines(path: Path, records: Iterator[dict[str, Any]] | Sequence[dict[str, Any]]) -> Path:
    """Write records as JSON lines; returns the path."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return path


def questions(path: Path) -> list[Question]:
    """Return the questions of a collection that have evidence."""
    return [
        Question(
            text=record["question"],
            conversation=record.get("conversation"),
            evidence=frozenset(record["evidence"]),
        )
        for record in read_lines(path)
        if record["evidence"]
    ]


def random_words(vocabulary: Path, *, count: int, seed: int) -> list[str]:
    """Return questions of five words drawn from a vocabulary; they ask for nothing."""
    source = random.Random(seed)
    known = [
        word for word in vocabulary.read_text(encoding="utf-8").split() if word.isalpha() and len(word) > 3
    ]
    return [" ".join(source.sample(known, 5)) for _ in range(count)]


def invented_words(*, count: int, seed: int) -> list[str]:
    """Return questions of five words that no language has."""
    source = random.Random(seed)
    return [
        " ".join("".join(source.choices("bcdfghjklmnpqrstvwxz", k=source.randint(5, 9))) for _ in range(5))
        for _ in range(count)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """The sentences of the development data, and questions that were asked about them."""

    sentences: Sequence[str]
    functions: Sequence[str]
    questions: Sequence[str]

    @classmethod
    def load(cls, data: Path) -> Sentences:
        """Return them from the folder of development data."""
        found: dict[str, None] = {}
        for record in read_lines(data / "conversations" / "items.jsonl"):
            found.update(dict.fromkeys(s for s in _SENTENCE.split(record["text"]) if len(s) > 20))
        return cls(
            sentences=tuple(found),
            functions=tuple(
                record["text"] for record in read_lines(data / "code_questions" / "corpus.jsonl")
            ),
            questions=tuple(q.text for q in questions(data / "conversations" / "questions.jsonl")),
        )

    def texts(self, *, start: int, stop: int, seed: int = 7) -> Iterator[str]:
        """Give the texts numbered `start` to `stop`: two to five sentences each, with a name of their own.

        Text 5 is the same whoever asks for it, so that a collection can be made in steps.
        """
        for number in range(start, stop):
            source = random.Random(f"{seed} {number}")
            chosen = source.choices(self.sentences, k=source.randint(2, 5))
            yield f"{' '.join(chosen)} (note {number:x}-{source.randrange(1 << 20):x})"

    def documents(self, *, start: int, stop: int) -> Iterator[dict[str, Any]]:
        """Give the same texts as records of a documents file."""
        for number, text in enumerate(self.texts(start=start, stop=stop), start=start):
            yield {"id": f"doc-{number}", "text": text}

    def folder(self, target: Path, *, files: int, seed: int = 7) -> int:
        """Write notes (headings and paragraphs) and modules of functions, half and half; returns their bytes."""
        source = random.Random(seed)
        size = 0
        for number in range(files):
            below = target / f"part-{number % 8}"
            below.mkdir(parents=True, exist_ok=True)
            if number % 2:
                text = "\n\n\n".join(source.sample(self.functions, 6)) + "\n"
                size += (below / f"module_{number}.py").write_text(text, encoding="utf-8")
            else:
                sections = (
                    f"## Part {section}\n\n{' '.join(source.choices(self.sentences, k=12))}\n"
                    for section in range(4)
                )
                text = f"# Note {number}\n\n" + "\n".join(sections)
                size += (below / f"note_{number}.md").write_text(text, encoding="utf-8")
        return size


class WordVectors:
    """An embedder that costs next to nothing: the sum of its words' fixed random vectors, rare words louder.

    Texts that share sentences point the same way, as they would with a model, so that a large collection can be
    made in seconds. Implements the `Embedder` protocol.
    """

    name = "benchmark-words-384@1"
    dimensions = DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of length one for each text."""
        table = _table()
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for at, text in enumerate(texts):
            places = [
                zlib.crc32(word.encode()) % _TABLE_ROWS for word in words(text) if word not in STOP_WORDS
            ]
            if places:
                rows[at] = table[places].sum(axis=0)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths == 0, 1, lengths)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the row of one question."""
        row: NDArray[np.float32] = self.embed([text])[0]
        return row


@cache
def _table() -> NDArray[np.float32]:
    # A common direction, as every real model has one: centring must earn its keep.
    source = np.random.default_rng(7)
    table = source.standard_normal((_TABLE_ROWS, DIMENSIONS), dtype=np.float32)
    return table + 0.25 * source.standard_normal(DIMENSIONS, dtype=np.float32)
