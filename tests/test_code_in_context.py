"""Code in a context: whole definitions, what they call, what tests them; nothing that only stands around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexad import FusedContext, Hexad, MemoryLayer
from test_code_graph import write

_FILLER = "".join(
    f"    # Step {number} of the sum leaves what was rounded before it alone.\n" for number in range(40)
)
TOTAL = f'''@cached(
    "totals",
)
def total_of_cart(items: list[int], *, tax: float = 0.2) -> float:
    """Return the total of a cart with its tax.

    Rounded at the end.
    """
    amount = 0.0
    for item in items:
        amount += item * rate_of(item)
{_FILLER}    return amount * (1 + tax)
'''
SHOP = {
    "src/shop.py": '"""Shop."""\n\nimport os\nimport sys\nfrom collections import (\n    OrderedDict,\n    deque,\n)\n\n'
    f"from prices import rate_of\n\n\n{TOTAL}",
    "src/prices.py": "def rate_of(item: int) -> float:\n    return 1.0 * item\n",
    "src/box.py": 'class Box:\n    """A box that parcels are put into."""\n\n    def fold(self) -> None:\n        """Fold the box flat."""\n        self.flat = True\n',
    "src/truck.py": 'class Truck:\n    """A truck that is loaded with parcels."""\n\n    wheels = 6\n\n'
    + "".join(
        f'    def load_{number}(self) -> int:\n        """Load ramp {number}."""\n' + "        # nothing\n" * (2 if number == 0 else 30) + f"        return {number}\n\n"
        for number in range(20)
    ),
    "tests/test_shop.py": "from src.shop import total_of_cart\n\n\ndef test_total():\n    assert total_of_cart([1]) == 1.2\n",
    "CHANGES.rst": "Version 1.2\n-----------\n\n- The total of a cart has tax, and is computed once.\n",
    "docs/api.rst": "Cart totals\n===========\n\n.. module:: shop\n\n.. autofunction:: total_of_cart\n\n"
    ".. autoclass:: Cart\n   :members:\n   :inherited-members:\n",
    "docs/guide.rst": "Totals\n======\n\nThe total of a cart is computed with its tax when somebody asks for it the first time.\n\n"
    ".. autofunction:: total_of_cart\n\nIt is kept then.\n",
}  # fmt: skip
QUESTION = "how is the total of a cart with its tax computed?"


@pytest.fixture
def shop(hx: Hexad, project: Path) -> Hexad:
    write(project, SHOP)
    hx.ingest(project)
    return hx


def _texts(context: FusedContext) -> dict[str, str]:
    sources = [block for block in context.evidence_blocks if block.item.layer is MemoryLayer.VECTOR]
    return {block.item.location: block.item.text for block in sources}


@pytest.mark.row("A043")
def test_a_context_has_the_whole_definition_with_its_path_and_its_lines(shop):
    context = shop.context(QUESTION, format="markdown", max_tokens=2_000)

    first = SHOP["src/shop.py"].split("\n").index("@cached(") + 1
    last = first + TOTAL.count("\n") - 1
    assert TOTAL.rstrip("\n") == _texts(context)[f"src/shop.py:{first}-{last}"]
    assert "\n".join(f"> {line}".rstrip() for line in TOTAL.splitlines()) in context.render()
    assert f"src/shop.py:{first}-{last}" in context.render()


def test_what_a_definition_calls_and_which_tests_cover_it_stand_beside_it(shop):
    shop.embed_pending()
    graph = [
        block.item.text
        for block in shop.context(QUESTION, deterministic=True).evidence_blocks
        if block.item.layer is MemoryLayer.GRAPH
    ]

    lines = next(text for text in graph if "total_of_cart" in text.partition("\n")[0]).splitlines()
    assert "calls src/prices.py:1 def rate_of(item: int) -> float" in lines
    assert "tested by tests/test_shop.py:4 def test_total()" in lines


def test_a_changelog_answers_what_changed_and_not_how_something_behaves(shop):
    assert not any(place.startswith("CHANGES") for place in _texts(shop.context(QUESTION)))
    asked = shop.context("what changed in version 1.2 about the total of a cart?")
    assert any(place.startswith("CHANGES") for place in _texts(asked))


def test_an_import_list_is_no_part_of_a_context(shop):
    context = shop.context("OrderedDict deque collections rate_of total of a cart")
    assert not any("OrderedDict" in text for text in _texts(context).values())


def test_documentation_stands_without_directives_that_a_program_fills(shop):
    context = shop.context(QUESTION, max_tokens=3_000)
    texts = _texts(context)

    assert not any(place.startswith("docs/api") for place in texts)
    (guide,) = (text for place, text in texts.items() if place.startswith("docs/guide"))
    assert "autofunction" not in guide
    assert "It is kept then." in guide
    assert "autofunction" not in context.render()


def test_a_method_of_a_short_class_comes_with_the_class_and_of_a_long_class_alone(shop):
    texts = _texts(shop.context("how is the box folded flat?", max_tokens=3_000))
    assert SHOP["src/box.py"].rstrip("\n") == texts["src/box.py:1-6"]

    texts = _texts(shop.context("what loads ramp 7 of the truck? load_7", max_tokens=6_000))
    (method,) = (text for place, text in texts.items() if place.startswith("src/truck.py"))
    assert ("    def load_7(self) -> int:", "        return 7") == (
        method.splitlines()[0],
        method.splitlines()[-1],
    )


def test_of_a_long_class_its_head_stands_and_what_its_methods_take(shop):
    texts = _texts(shop.context("a truck that is loaded with parcels, with wheels", max_tokens=3_000))
    (truck,) = (text for place, text in texts.items() if place.startswith("src/truck.py"))

    assert truck.startswith('class Truck:\n    """A truck that is loaded with parcels."""\n\n    wheels = 6')
    assert "return 0" in truck
    assert "load_19(self) -> int" in truck
    assert "return 7" not in truck


def test_code_that_the_graph_does_not_know_is_shown_as_it_was_found(hx, project):
    write(
        project,
        {
            "job.rb": "# Sends the mail of the night to everybody.\ndef send_mail(list)\n  list.each { |x| x.go }\nend\n"
        },
    )
    hx.ingest(project)
    assert any(
        "def send_mail" in text for text in _texts(hx.context("who sends the mail of the night?")).values()
    )
