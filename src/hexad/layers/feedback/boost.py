"""What verdicts on earlier answers add to later ones: little, less with time, and never more than a share."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from hexad.database.codec import from_micros
from hexad.layers.feedback.values import Verdict
from hexad.memory.layer_names import MemoryLayer
from hexad.search.recall.query_terms import understand
from hexad.search.recall.results import Sway

if TYPE_CHECKING:
    from hexad.layers.feedback.table import Counted
    from hexad.search.recall.fusion import Fusion
    from hexad.search.recall.results import Found


SHARE: Final = 0.1
"""Of the best score of an answer: so much verdicts may move one item up or down, however many there are."""
ALIKE: Final = 0.5
"""From this share of words in common on, two questions are alike."""
ANY_QUESTION: Final = 0.5
"""How much a verdict without a question counts, whatever is asked."""
HALF_LIFE_DAYS: Final = 90.0
FACTOR_MOST: Final = 1.25
"""What verdicts may make of a layer's authority at most; at least it is 1 / 1.25 = 0.8."""
DOUBT: Final = 4.0
"""Verdicts that every layer is taken to have for and against it: a few change little."""
_STEM: Final = 6


def heed(
    judged: Iterable[tuple[int, str, str, int]],
    found: Found,
    fusion: Fusion,
    order: Sequence[int],
    *,
    asked: str | None,
    now: datetime,
) -> None:
    """Let what was said of the candidates in `order` count for this question, or for the sentence it was `asked` in."""
    terms = found.terms if asked is None else understand(asked, now=now)
    found.sways = sways(judged, terms.wanted, now=now)
    seats = {no: seat for seat, no in enumerate(order)}
    fusion.sway({seats[no]: sway.strength for no, sway in found.sways.items()}, share=SHARE)


def sways(
    judged: Iterable[tuple[int, str, str, int]], terms: Sequence[str], *, now: datetime
) -> dict[int, Sway]:
    """Return what verdicts say of memories as answers to a question of these words, by row number."""
    asked = stems(terms)
    found: dict[int, list[tuple[float, bool]]] = {}
    for no, verdict, words, at in judged:
        said = _words(words)
        if said is None:
            continue
        weight = likeness(asked, stems(said)) if said else ANY_QUESTION
        if weight:  # one of another question says nothing here
            faded = weight * _fading(at, now)
            found.setdefault(no, []).append((faded, verdict == Verdict.HELPFUL))
    return {
        no: Sway(
            strength=sum(weight if good else -weight for weight, good in some)
            / (1.0 + sum(weight for weight, _ in some)),
            helpful=sum(good for _, good in some),
            wrong=sum(not good for _, good in some),
        )
        for no, some in found.items()
    }


def _words(stored: str) -> list[str] | None:
    """Return the words of a question as they are stored; None for a damaged row, which then says nothing."""
    try:
        words = json.loads(stored)
    except ValueError:
        return None
    return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else None


def stems(words: Iterable[str]) -> frozenset[str]:
    """Return words by their beginnings, so that `deploys` and `deployed` are one.

    >>> sorted(stems(["deploys", "Deployed", "we"]))
    ['deploy', 'we']
    """
    return frozenset(word.casefold()[:_STEM] for word in words)


def likeness(asked: Collection[str], said: Collection[str]) -> float:
    """Return how alike two questions are, 0 below `ALIKE`: the words in common as a share of all.

    >>> likeness({"when", "deploy"}, {"deploy", "when"}), likeness({"deploy"}, {"rent", "due"})
    (1.0, 0.0)
    """
    every = {*asked, *said}
    share = len({*asked} & {*said}) / len(every) if every else 0.0
    return share if share >= ALIKE else 0.0


def layer_factors(counted: Iterable[Counted], *, now: datetime) -> Mapping[MemoryLayer, float]:
    """Return what verdicts make of each layer's authority, 0.8 to 1.25; a layer of which nothing was said is left out.

    It is 1.25 to the power of (helpful - wrong) / (helpful + wrong + 4), each verdict counted with what is left of it.
    """
    good: dict[str, float] = {}
    bad: dict[str, float] = {}
    for layer, verdict, at in counted:
        side = good if verdict == Verdict.HELPFUL else bad
        side[layer] = side.get(layer, 0.0) + _fading(at, now)
    factors = {}
    for layer in MemoryLayer:
        helpful, wrong = good.get(layer.value, 0.0), bad.get(layer.value, 0.0)
        if helpful or wrong:
            factors[layer] = FACTOR_MOST ** ((helpful - wrong) / (helpful + wrong + DOUBT))
    return factors


def _fading(at: int, now: datetime) -> float:
    """Return what is left of a verdict: half after 90 days, counted in whole days as ages are."""
    try:
        days = max(0, (now - from_micros(at)).days)
    except OverflowError:  # a damaged time, beyond all calendars
        return 0.0
    return float(0.5 ** (days / HALF_LIFE_DAYS))
