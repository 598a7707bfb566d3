"""What was said of answers, in numbers: the share that helped, how it changes, and what is wrong most often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from hexad.memory.feedback import Feedback, FeedbackStats, Mistake, Verdict, VerdictPeriod, VerdictTally
from hexad.memory.layer_names import MemoryLayer, QueryClass

PERIOD: Final = timedelta(days=30)
PERIODS: Final = 6
LEAST: Final = 5
"""With fewer verdicts than these the share of a period says nothing of a change."""


def feedback_stats(feedbacks: Sequence[Feedback], *, now: datetime, limit: int | None) -> FeedbackStats:
    """Return verdicts in numbers, with the `limit` most frequent mistakes; `feedbacks` begin with the last given."""
    trend = _trend(feedbacks, now)
    before, last = trend[-2].tally, trend[-1].tally
    return FeedbackStats(
        tally=_tally(feedbacks),
        layers={
            layer.value: _tally(of_layer)
            for layer in MemoryLayer
            if (of_layer := [feedback for feedback in feedbacks if feedback.layer is layer])
        },
        query_classes={
            query_class.value: _tally(of_class)
            for query_class in QueryClass
            if (of_class := [feedback for feedback in feedbacks if feedback.query_class is query_class])
        },
        trend=trend,
        change=_change(before, last),
        mistakes=_mistakes(feedbacks)[:limit],
    )


def _tally(feedbacks: Iterable[Feedback]) -> VerdictTally:
    verdicts = [feedback.verdict for feedback in feedbacks]
    helpful = verdicts.count(Verdict.HELPFUL)
    return VerdictTally(
        helpful=helpful,
        wrong=len(verdicts) - helpful,
        share=helpful / len(verdicts) if verdicts else None,
    )


def _trend(feedbacks: Iterable[Feedback], now: datetime) -> tuple[VerdictPeriod, ...]:
    """Return the periods up to now; what another clock put into the future is of the last one."""
    by_age: list[list[Feedback]] = [[] for _ in range(PERIODS)]
    for feedback in feedbacks:
        age = max(now - feedback.given_at, timedelta(0)) // PERIOD
        if age < PERIODS:
            by_age[age].append(feedback)
    return tuple(
        VerdictPeriod(start=now - (age + 1) * PERIOD, end=now - age * PERIOD, tally=_tally(by_age[age]))
        for age in reversed(range(PERIODS))
    )


def _change(before: VerdictTally, last: VerdictTally) -> float | None:
    if before.share is None or last.share is None:
        return None
    if min(before.helpful + before.wrong, last.helpful + last.wrong) < LEAST:
        return None
    return last.share - before.share


def _mistakes(feedbacks: Iterable[Feedback]) -> tuple[Mistake, ...]:
    """Return what was called wrong: most often first, then what was so last."""
    by_item: dict[tuple[str | None, MemoryLayer | None], list[Feedback]] = {}
    for feedback in feedbacks:
        layer = feedback.layer if feedback.memory_id is None else None
        by_item.setdefault((feedback.memory_id, layer), []).append(feedback)
    mistakes = [mistake for of_item in by_item.values() if (mistake := _mistake(of_item)) is not None]
    latest_first = sorted(mistakes, key=lambda mistake: mistake.last_at, reverse=True)
    return tuple(sorted(latest_first, key=lambda mistake: mistake.tally.wrong, reverse=True))


def _mistake(feedbacks: Sequence[Feedback]) -> Mistake | None:
    wrong = [feedback for feedback in feedbacks if feedback.verdict is Verdict.WRONG]
    if not wrong:
        return None
    return Mistake(
        memory_id=wrong[0].memory_id,
        layer=wrong[0].layer,
        tally=_tally(feedbacks),
        queries=_each_once(feedback.query for feedback in wrong),
        notes=_each_once(feedback.note for feedback in wrong),
        last_at=max(feedback.given_at for feedback in wrong),
    )


def _each_once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
