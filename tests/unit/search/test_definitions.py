"""Where a name is defined is the same whether all that hold it are looked at, or the best of them are ranked first."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

from hexad import Hexad
from hexad.memory.query import Filters
from hexad.search.fulltext import FullText

FORMS = (
    "def {}(self): ...",
    "# {}\n\nSays how.",
    "{}: a tree of the north",
    "{} = 100",
    "We asked {} twice.",
)
NAMES = ("Birch", "load_all", "Cache.get", "line-length")
LIMITS = (1, 3, 9, 10, 11, 12, 200)


def test_ranking_what_holds_a_name_changes_no_definition(hx: Hexad) -> None:
    for (form, name), space in zip(
        product(FORMS, (*NAMES, "get", "birch")), ("team", "board") * 15, strict=True
    ):
        hx.remember(form.format(name), space=space)
    fulltext = hx._services.fulltext

    some = 0
    for name, limit, filters in product(NAMES, LIMITS, (None, Filters(spaces=("board",)))):
        defined = fulltext.defining(name, limit=limit, filters=filters)
        with patch.object(FullText, "_held_by", return_value=None):
            assert fulltext.defining(name, limit=limit, filters=filters) == defined, (name, limit, filters)
        some += bool(defined)
    assert some > len(NAMES) * len(LIMITS)
