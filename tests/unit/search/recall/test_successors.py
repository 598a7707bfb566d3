"""How far what takes the place of another one is lifted."""

from __future__ import annotations

from hexad.memory.tables.updates import UpdateLink
from hexad.search.recall.successors import LIKELY, lifts

OLD, CURRENT, LATER = 11, 12, 13
SEATS = {OLD: 0, CURRENT: 1, LATER: 2}
SCORES = [10.0, 9.0, 8.0]


def order(*links: UpdateLink, scores: list[float] = SCORES) -> list[int]:
    """Return the numbers of all three, the best first, with these links."""
    risen = lifts(links, SEATS, scores)
    return sorted(SEATS, key=lambda no: -(scores[SEATS[no]] + risen.get(SEATS[no], 0.0)))


def test_the_likely_is_lifted_where_nothing_is_sure() -> None:
    assert [LATER, OLD, CURRENT] == order(UpdateLink(OLD, LATER, LIKELY, 0.3))


def test_over_a_pair_that_is_sure_nothing_is_lifted_that_is_less_sure() -> None:
    sure = UpdateLink(OLD, CURRENT, "value", 0.95)
    for reason in (LIKELY, "value"):
        assert [CURRENT, OLD, LATER] == order(sure, UpdateLink(OLD, LATER, reason, 0.4))
        assert [CURRENT, OLD, LATER] == order(sure, UpdateLink(CURRENT, LATER, reason, 0.4))


def test_of_a_chain_the_last_is_lifted_where_it_is_as_sure() -> None:
    links = (UpdateLink(OLD, CURRENT, "value", 0.95), UpdateLink(CURRENT, LATER, LIKELY, 0.9))
    assert [LATER, CURRENT, OLD] == order(*links)


def test_what_is_sure_of_a_text_that_is_no_candidate_settles_nothing() -> None:
    links = (UpdateLink(OLD, 99, "value", 0.95), UpdateLink(OLD, LATER, LIKELY, 0.3))
    assert [LATER, OLD, CURRENT] == order(*links)
