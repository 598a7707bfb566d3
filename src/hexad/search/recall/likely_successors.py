"""Which of the best candidates seem to say otherwise what an older one of them said: the newer stands first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Final

from hexad.memory.tables.updates import PlainText, UpdateLink
from hexad.search.recall.successors import LIKELY
from hexad.text.claims.assertion import Assertion
from hexad.text.claims.likelihood import Wording, alike, answer_likelihood, names_older

_LIKELIHOOD: Final = 0.06
"""From this likelihood on: a wrong one only makes two that are near the question change places."""
_RIVAL: Final = 0.5
"""A likelihood below this share of that of another pair with one of the same texts says nothing beside it."""


def likely_successors(
    question: str,
    texts: Sequence[PlainText],
    order: Sequence[int],
    weak: Sequence[UpdateLink] = (),
    *,
    wording: Callable[[str], Wording] = Wording,
) -> list[UpdateLink]:
    """Return links between texts, by how likely the newer takes the place of the older as an answer to `question`.

    Nothing is stored of it, and nothing is called superseded. `order` has their numbers, the best candidate first. A
    question about what was is left alone, and so are texts of one moment, which came together, and a newer text that
    is trusted less. The `weak` links that were stored come along, but for those whose older text is named. `wording`
    takes a text apart.

    What says only what was or what may be takes the place of nothing that says what is, whenever it was said: that one
    takes its place. Asked for what was or may be it is the other way round.
    """
    asked = Wording(question)
    if asked.tells_past and not asked.asks_former:
        return []
    rank = {no: at for at, no in enumerate(order)}
    in_time = sorted(texts, key=lambda text: (text.happened_at, text.no))
    wordings = {text.no: wording(text.text) for text in in_time}
    answers = {no: _answers(asked, wording) for no, wording in wordings.items()}
    links: list[UpdateLink] = []
    for old, new in combinations(in_time, 2):
        if _gives_way(new.no, old.no, answers, wordings):
            old, new = new, old
        if old.space_no != new.space_no or rank[old.no] > rank[new.no] or new.trust.rank < old.trust.rank:
            continue
        if answers[old.no] < answers[new.no]:
            likelihood = alike(asked, wordings[old.no], wordings[new.no])
        elif old.happened_at == new.happened_at or asked.asks_former:
            continue
        else:
            likelihood = answer_likelihood(asked, wordings[old.no], wordings[new.no])
        if likelihood >= _LIKELIHOOD and old.text != new.text:
            links.append(UpdateLink(old.no, new.no, LIKELY, likelihood))
    best: dict[int, float] = {}
    for link in links:
        for no in (link.old, link.new):
            best[no] = max(best.get(no, 0.0), link.confidence)
    likely = [link for link in links if link.confidence >= _RIVAL * max(best[link.old], best[link.new])]
    if asked.asks_former:
        return likely
    for link in weak:
        older, newer = wordings.get(link.old), wordings.get(link.new)
        if (
            older is None
            or newer is None
            or not (_gives_way(link.new, link.old, answers, wordings) or names_older(asked, older, newer))
        ):
            likely.append(link)
    return likely


_IS, _ASKED = 1, 2


def _answers(asked: Wording, text: Wording) -> int:
    """Return how well a text answers by its grammar: what is asked for before what is, and that before all else."""
    if text.assertion is None:
        return _IS
    return _ASKED if asked.asks_for(text) else 0


def _gives_way(new: int, old: int, answers: Mapping[int, int], wordings: Mapping[int, Wording]) -> bool:
    """Whether the newer of two texts answers worse by its grammar; not where it says the older one to be so no more."""
    if answers[new] >= answers[old]:
        return False
    return wordings[new].assertion is not Assertion.FORMER or not wordings[new].names_all_of(wordings[old])
