"""Fit the map that makes a first vector of a text's own pieces: run when the default embedder changes.

    python -m benchmarks.fit_first_vectors --data DIR

A text's first vector is the mean of its pieces' embeddings, weighted by rarity, times this map: the least squares to
the vectors that the model gives the same texts. Fitted on one half of the functions of the questions about code (by
the hash of the text), on the concept pack and on this project's documents; no conversation takes part.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.quality import RememberedVectors
from hexad.providers.embedders.first_vectors import MAP_FILE, PieceMeans

RIDGE: Final = 0.3
MOST_CHARACTERS: Final = 1_200
LEAST_CHARACTERS: Final = 40
CONCEPTS: Final = 1_500
"""Texts of the concept pack; it has many more."""
PARAGRAPHS: Final = 500
SEED: Final = 3
_NOTE: Final = (
    "Made by `python -m benchmarks.fit_first_vectors` for {name} from {count:,} texts: functions of the questions "
    "about code (MIT), the concept pack (MIT) and the documents of this project."
)


def fitted(text: str) -> bool:
    """Return whether a function belongs to the half that the map is fitted on."""
    return not hashlib.sha256(text.encode()).digest()[0] & 1


def texts_of(data: Path) -> list[str]:
    """Return the texts to fit on: functions, concepts, paragraphs."""
    lines = (data / "code_questions" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    functions = [text for line in lines if fitted(text := json.loads(line)["text"])]
    concepts: list[str] = []
    with gzip.open(data / "concepts" / "first-light.jsonl.gz", "rt", encoding="utf-8") as pack:
        for line in pack:
            concept = json.loads(line)
            concepts += [text for text in concept["positive_examples"][:1] if isinstance(text, str)]
            concepts.append(f"{concept['term']}: {concept['definition']}")
    documents = sorted((Path(__file__).parent.parent / "docs").glob("*.md"))
    paragraphs = [text for path in documents for text in path.read_text(encoding="utf-8").split("\n\n")]
    paragraphs = [text for text in paragraphs if LEAST_CHARACTERS < len(text) < MOST_CHARACTERS]
    shuffle = random.Random(SEED).shuffle
    shuffle(concepts)
    shuffle(paragraphs)
    functions = [text for text in functions if len(text) < MOST_CHARACTERS]
    return [*functions, *concepts[:CONCEPTS], *paragraphs[:PARAGRAPHS]]


def main() -> int:
    """Fit the map, tell how near it comes to texts that took no part, and write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fit_first_vectors", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    given = parser.parse_args()
    texts, model = texts_of(given.data), RememberedVectors(keep=True)
    rows = model.embed(texts)
    model.save()
    means = PieceMeans(None).of(texts)
    held = np.arange(len(texts)) % 5 == 0
    estimates = means[held] @ _least_squares(means[~held], rows[~held])
    estimates /= np.linalg.norm(estimates, axis=1, keepdims=True).clip(1e-9)
    print(
        f"{len(texts):,} texts; mean cosine of every fifth, held out: {(estimates * rows[held]).sum(1).mean():.3f}"
    )
    note = _NOTE.format(name=model.name, count=len(texts))
    np.savez(MAP_FILE, map=_least_squares(means, rows).astype(np.float16), note=np.array(note))
    return 0


def _least_squares(means: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.linalg.solve(means.T @ means + RIDGE * np.eye(means.shape[1]), means.T @ rows)


if __name__ == "__main__":
    sys.exit(main())
