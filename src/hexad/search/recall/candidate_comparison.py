"""How the best candidates compare: which has the form of an answer, and which says otherwise what an older one said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from hexad.memory.tables.updates import PlainText, UpdateLink
from hexad.search.recall.successors import LIKELY
from hexad.text.claims.answer_form import FormFit, form_fits
from hexad.text.claims.likelihood import Wording, answer_likelihood

FORM_MOST: Final = 3.0
"""By so many rooms at most the form of an answer brings a text forward. None falls behind by its form: a clause that
cannot be read well has none."""
_LIKELY: Final = 0.06
"""From this likelihood on: a wrong one only makes two that are near the question change places."""
_RIVAL: Final = 0.5
"""A likelihood below this share of that of another pair with one of the same texts says nothing beside it."""


class Comparison(NamedTuple):
    """By how much the scores of candidates change by their form, and links between them; by row number."""

    forms: Mapping[int, float]
    links: Sequence[UpdateLink]


def form_room(best: float) -> float:
    """Return what the form of an answer is measured in, for candidates of which the first has this score."""
    return 0.2 * abs(best) + 0.1


def compare_candidates(
    question: str,
    texts: Sequence[PlainText],
    scores: Mapping[int, float],
    *,
    literals: Mapping[int, Mapping[str, float]],
    stored: Sequence[UpdateLink],
) -> Comparison:
    """Compare the plain ones of the best candidates, `scores` best first, with a question and with each other.

    `literals` are held by which candidate of what the question names literally; `stored` are the links that are there.
    """
    first = next(iter(scores))
    fits = dict(
        zip((text.no for text in texts), form_fits(question, [text.text for text in texts]), strict=True)
    )
    forms: dict[int, float] = {}
    if first in fits and fits[first].words:
        held = literals.get(first, {}).keys()
        for no, fit in fits.items():
            gain = min(FORM_MOST, fit.worth - fits[first].worth)
            if gain > 0 and fit.words >= fits[first].words and held <= literals.get(no, {}).keys():
                forms[no] = gain * form_room(scores[first])
    order = sorted(scores, key=lambda no: -scores[no] - forms.get(no, 0.0))
    return Comparison(forms, likely_successors(question, texts, order, fits=fits, stored=stored))


def likely_successors(
    question: str,
    texts: Sequence[PlainText],
    order: Sequence[int],
    *,
    fits: Mapping[int, FormFit],
    stored: Sequence[UpdateLink] = (),
) -> list[UpdateLink]:
    """Return links between texts, by how likely the newer takes the place of the older as an answer to `question`.

    What is `stored` of the same texts rivals it: beside a sure successor few others are likely. Of these links nothing
    is stored, and nothing is called superseded. `order` has the numbers of the texts, the best candidate first. A
    question about what was is left alone, and so are texts of one moment: they came together.
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
        likelihood = answer_likelihood(
            asked, wordings[old.no], wordings[new.no], form=fits[new.no].worth - fits[old.no].worth
        )
        if likelihood >= _LIKELY and old.text != new.text:
            links.append(UpdateLink(old.no, new.no, LIKELY, likelihood))
    best: dict[int, float] = {}
    for link in (*links, *stored):
        for no in (link.old, link.new):
            best[no] = max(best.get(no, 0.0), link.confidence)
    return [link for link in links if link.confidence >= _RIVAL * max(best[link.old], best[link.new])]
