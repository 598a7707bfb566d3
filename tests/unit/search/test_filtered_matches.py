"""What full text finds of memories that pass filters is the same, whichever way is the cheaper one to look for it."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

from hexad import Hexad
from hexad.memory.query import Filters
from hexad.search.fulltext import FullText

FILTERS = (
    Filters(kinds=("guide",)),
    Filters(tags=("tag3",)),
    Filters(spaces=("board",), kinds=("note", "guide")),
    Filters(path="notes/1"),
    Filters(roles=("reader",)),
    Filters(kinds=("task",)),
)


def test_a_part_of_the_index_finds_what_a_look_at_each_match_finds(hx: Hexad) -> None:
    for number in range(60):
        hx.remember(
            f"The harbour {'harbour ' * (number % 3)}opens at {number}." + " Ships wait." * (number % 7),
            id=f"m{number}",
            space=("team", "board")[number % 2],
            kind=("note", "guide", "log")[number % 3],
            tags=[f"tag{number % 5}"],
            path=f"notes/{number % 4}/{number}",
        )
    fulltext = hx._services.fulltext

    def found(filters: Filters, limit: int) -> list[tuple[int, int, float]]:
        return [tuple(match) for match in fulltext.search('"harbour"', limit=limit, filters=filters)]

    some = 0
    for _ in range(2):
        for filters, limit in product(FILTERS, (1, 7, 200)):
            with patch.object(FullText, "_worthwhile_part", return_value=None):
                expected = found(filters, limit)
            with patch("hexad.search.fulltext._CHUNKS_PER_ROW", 1_000):
                assert found(filters, limit) == expected, (filters, limit)
            assert found(filters, limit) == expected, "the part is known by now"
            some += len(expected)
        hx.forget("m0")  # the parts of before count no more
        hx.tag("m1", add=["tag3"])
    assert some > 200
