"""Which of the best candidates seem to say otherwise what an older one of them said: the newer stands first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

from hexad.memory.tables.updates import PlainText, UpdateLink
from hexad.search.recall.successors import LIKELY
from hexad.text.claims.likelihood import Wording, answer_likelihood, names_older

_LIKELIHOOD: Final = 0.06
"""From this likelihood on: a wrong one only makes two that are near the question change places."""
_RIVAL: Final = 0.5
"""A likelihood below this share of that of another pair with one of the same texts says nothing beside it."""


def likely_successors(
    question: str, texts: Sequence[PlainText], order: Sequence[int], weak: Sequence[UpdateLink] = ()
) -> list[UpdateLink]:
    """Return links between texts, by how likely the newer takes the place of the older as an answer to `question`.

    Nothing is stored of it, and nothing is called superseded. `order` has their numbers, the best candidate first. A
    question about what was is left alone, and so are texts of one moment, which came together, and a newer text that
    is trusted less. The `weak` links that were stored come along, but for those whose older text is named.
    """
    asked = Wording(question)
    if asked.tells_past:
        return []
    rank = {no: at for at, no in enumerate(order)}
    in_time = sorted(texts, key=lambda text: (text.happened_at, text.no))
    wordings = {text.no: Wording(text.text) for text in in_time}
    links: list[UpdateLink] = []
    for old, new in combinations(in_time, 2):
        if old.space_no != new.space_no or old.happened_at == new.happened_at or rank[old.no] > rank[new.no]:
            continue
        if new.trust.rank < old.trust.rank:
            continue
        likelihood = answer_likelihood(asked, wordings[old.no], wordings[new.no])
        if likelihood >= _LIKELIHOOD and old.text != new.text:
            links.append(UpdateLink(old.no, new.no, LIKELY, likelihood))
    best: dict[int, float] = {}
    for link in links:
        for no in (link.old, link.new):
            best[no] = max(best.get(no, 0.0), link.confidence)
    likely = [link for link in links if link.confidence >= _RIVAL * max(best[link.old], best[link.new])]
    return [*likely, *(link for link in weak if not _names_older(asked, link, wordings))]


def _names_older(asked: Wording, link: UpdateLink, wordings: Mapping[int, Wording]) -> bool:
    older, newer = wordings.get(link.old), wordings.get(link.new)
    return older is not None and newer is not None and names_older(asked, older, newer)
