"""What verdicts on earlier answers add to later ones: little, less with time, and never more than a share."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

from hexad.database.codec import from_micros
from hexad.memory.feedback import Verdict
from hexad.search.recall.fusion import Fusion
from hexad.search.recall.query_terms import understand
from hexad.search.recall.results import Boost, Candidates

SHARE: Final = 0.1
"""Of the best score of an answer: so much verdicts may move one item up or down, however many there are."""
ALIKE: Final = 0.5
"""From this share of words in common on, two questions are alike."""
ANY_QUESTION: Final = 0.5
"""How much a verdict without a question counts, whatever is asked."""
HALF_LIFE_DAYS: Final = 90.0
_STEM: Final = 6


def apply_boost(
    judged: Iterable[tuple[int, str, str, int]],
    candidates: Candidates,
    fusion: Fusion,
    order: Sequence[int],
    *,
    asked: str | None,
    now: datetime,
) -> None:
    """Let what was said of the candidates in `order` count for this question, or for the sentence it was `asked` in."""
    terms = candidates.terms if asked is None else understand(asked, now=now)
    candidates.boosts = boosts(judged, terms.wanted, now=now)
    seats = {no: seat for seat, no in enumerate(order)}
    fusion.boost({seats[no]: boost.strength for no, boost in candidates.boosts.items()}, share=SHARE)


def boosts(
    judged: Iterable[tuple[int, str, str, int]], terms: Sequence[str], *, now: datetime
) -> dict[int, Boost]:
    """Return what verdicts say of memories as answers to a question of these words, by row number."""
    asked_stems = stems(terms)
    boosts_by_memory: dict[int, list[tuple[float, bool]]] = {}
    for no, verdict, words, at in judged:
        query_words = _words(words)
        if query_words is None:
            continue
        weight = likeness(asked_stems, stems(query_words)) if query_words else ANY_QUESTION
        if weight:  # one of another question says nothing here
            faded = weight * freshness(at, now)
            boosts_by_memory.setdefault(no, []).append((faded, verdict == Verdict.HELPFUL))
    return {
        no: Boost(
            strength=sum(weight if good else -weight for weight, good in some)
            / (1.0 + sum(weight for weight, _ in some)),
            helpful=sum(good for _, good in some),
            wrong=sum(not good for _, good in some),
        )
        for no, some in boosts_by_memory.items()
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


def likeness(asked_words: Collection[str], words: Collection[str]) -> float:
    """Return how alike two questions are, 0 below `ALIKE`: the words in common as a share of all.

    >>> likeness({"when", "deploy"}, {"deploy", "when"}), likeness({"deploy"}, {"rent", "due"})
    (1.0, 0.0)
    """
    every = {*asked_words, *words}
    share = len({*asked_words} & {*words}) / len(every) if every else 0.0
    return share if share >= ALIKE else 0.0


def freshness(at: int, now: datetime) -> float:
    """Return what is left of a verdict: half after 90 days, counted in whole days as ages are."""
    try:
        days = max(0, (now - from_micros(at)).days)
    except OverflowError:  # a damaged time, beyond all calendars
        return 0.0
    return float(0.5 ** (days / HALF_LIFE_DAYS))
