"""Data in two halves: whoever chooses rules or constants reads `development` only, `unseen` is for judging them.

What was learned from `development` is tried on `validation`, where there is one; rules and words are not made for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from benchmarks.corpora import read_lines

DATA: Final = Path(__file__).resolve().parent / "data"
DEVELOPMENT, VALIDATION, UNSEEN = "development", "validation", "unseen"
HALVES: Final = (DEVELOPMENT, UNSEEN)


def records(name: str, half: str) -> list[dict[str, Any]]:
    """Return the records of one half of a data set."""
    return read_lines(DATA / f"{name}.{half}.jsonl")


def halves(*, quick: bool) -> tuple[str, ...]:
    """Return the halves that a run measures."""
    return (DEVELOPMENT,) if quick else HALVES


def share(parts: int, whole: int) -> float | None:
    """Return a share; None of nothing."""
    return parts / whole if whole else None
