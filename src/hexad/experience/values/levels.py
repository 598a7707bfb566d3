"""In what detail experience is kept, and what stands for it once it is compressed."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Fidelity(StrEnum):
    """In what detail experience is kept."""

    HOT = "hot"
    WARM = "warm"
    SUBMITTED = "submitted"
    COLD = "cold"


class CompressionLevel(IntEnum):
    """What one COLD record stands for, from the finest to the coarsest."""

    TOKEN = 0
    REPLY = 1
    SESSION = 2
    DAY = 3
    WEEK = 4
    MONTH = 5
    QUARTER = 6
    YEAR = 7
