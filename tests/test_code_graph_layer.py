"""The graph layer: questions about code in plain words, in recall, contexts and over MCP."""

from __future__ import annotations

import pytest

from hexad import Hexad, InvalidInput, MemoryLayer
from mcp_clients import answer, failure, in_process
from test_code_graph import SHOP, write


@pytest.fixture
def shop(hx: Hexad, project) -> Hexad:
    write(project, SHOP)
    hx.ingest(project, space="code")
    return hx


@pytest.mark.row("A043", "A044")
@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("what imports the cart module", "src/shop/__init__.py imports src/shop/cart.py, line 1"),
        (
            "Who calls PriceList.sum_of?",
            "src/shop/cart.py:11 def total(self) -> float calls src/shop/prices.py:7, line 12",
        ),
        ("show me store dependents", "src/shop/cart.py imports src/shop/store.py, line 4"),
        ("is the store module used anywhere?", "src/shop/cart.py imports src/shop/store.py, line 4"),
        ("does anything still use store.py?", "src/shop/cart.py imports src/shop/store.py, line 4"),
        ("references to the store module", "src/shop/cart.py imports src/shop/store.py, line 4"),
        ("dependencies of prices.py", "src/shop/prices.py imports requests (a library), line 1"),
        (
            "path from test_cart.py to Cart",
            "tests/test_cart.py references src/shop/cart.py:7 class Cart(kept.Saved), line 2",
        ),
    ],
)
def test_a_question_about_code_is_answered_from_the_graph(shop, question, first):
    hits = shop.recall(question, layers=["graph"])

    assert first == hits[0].text
    assert {"graph"} == {hit.layer for hit in hits}
    assert hits[0].id.startswith("code:")


def test_a_definition_comes_with_its_code_and_expand_with_what_is_around_it(shop):
    (hit,) = shop.recall("where is open_cart defined?", layers=["graph"])
    assert hit.text.splitlines()[1:] == ["def open_cart() -> Cart:", "    return Cart(PriceList())"]

    text = shop.expand(hit.id).text
    assert "called by: src/shop/empty/deep.py:4" in text
    assert "calls: src/shop/cart.py:7 class Cart(kept.Saved)" in text


@pytest.mark.row("A061")
def test_what_is_further_away_or_less_sure_is_less_relevant(shop):
    hits = shop.recall("what breaks if I change PriceList.sum_of", layers=["graph"])

    assert ["src/shop/cart.py", "src/shop/empty/deep.py", "tests/test_cart.py"] == [
        hit.text.partition(":")[0] for hit in hits
    ]
    assert sorted({hit.relevance for hit in hits}, reverse=True) == [hit.relevance for hit in hits]
    assert [hit.text for hit in shop.recall("which tests cover PriceList.sum_of", layers=["graph"])] == [
        hit.text for hit in hits if "a test that" in hit.text
    ]


def test_a_context_has_the_graph_beside_the_code_that_was_found(shop):
    asked = shop.context("what imports the cart module", deterministic=True)
    assert MemoryLayer.GRAPH in {block.item.layer for block in asked.evidence_blocks}
    assert MemoryLayer.GRAPH not in asked.absent

    found = shop.context(
        "explain the sum of prices of a cart in def sum_of", deterministic=True, layers=["graph"]
    )
    assert any(
        "src/shop/cart.py:11 def total(self) -> float calls" in block.item.text or "sum_of" in block.item.text
        for block in found.evidence_blocks
    )


@pytest.mark.parametrize(
    "more",
    [{"as_of": "2020-01-01"}, {"tags": ["x"]}, {"path": "src"}, {"kinds": ["note"]}, {"space": "empty"}],
)
def test_what_the_graph_cannot_know_it_does_not_answer(shop, more):
    shop.spaces.create("empty")
    assert [] == list(shop.recall("what imports the cart module", layers=["graph"], **more))


def test_a_question_of_something_else_gets_nothing_from_the_graph(shop):
    for question in ("what imports the nothing module", "how is the weather", "where is Waldo defined"):
        assert [] == list(shop.recall(question, layers=["graph"]))
    with pytest.raises(InvalidInput, match="the graph layer say, is not reranked"):
        shop.recall("what imports cart", layers=["graph"], rerank=True)


def test_code_that_was_indexed_since_is_there_for_the_next_context(hx, project):
    assert MemoryLayer.GRAPH in hx.context("what imports cart", deterministic=True).absent
    write(project, SHOP)
    hx.graph.index()
    assert MemoryLayer.GRAPH not in hx.context("what imports cart", deterministic=True).absent


def test_an_agent_asks_over_mcp(project):
    write(project, SHOP)

    async def ask(client):
        indexed = await answer(client, "graph", question="index")
        impact = await answer(client, "graph", target="src/shop/prices.py")
        shown = await answer(client, "graph", question="show")
        wrong = await failure(client, "graph", question="callers")
        return indexed, impact, shown, wrong

    indexed, impact, shown, wrong = in_process(ask, project)
    assert 8 == indexed["report"]["created"]
    assert {"where": "src/shop/cart.py", "how": "imported by"}.items() <= impact["hits"][0].items()
    assert {"tests/test_cart.py"} == {hit["where"] for hit in impact["hits"] if hit.get("test")}
    assert {"python": 8} == shown["overview"]["languages"]
    assert "give target" in wrong


@pytest.mark.parametrize(
    "question",
    [
        "what imports the auth module",
        "show me auth dependents",
        "list everything that imports auth",
        "which files import the auth module?",
        "all modules that depend on auth",
    ],
)
def test_a_module_is_found_by_its_name_without_underscores_and_before_a_member(hx, project, question):
    write(
        project,
        {
            "web/__init__.py": "",
            "web/_auth.py": "import hmac\n\n\nclass Auth:\n    pass\n",
            "web/client.py": "from web._auth import Auth\n\n\nclass Client:\n    @property\n    def auth(self) -> Auth:\n"
            "        return Auth()\n",
            "tests/auth/test_login.py": "from web.client import Client\n\n\ndef test_it():\n    assert Client().auth\n",
        },
    )
    hx.graph.index()

    assert "web/client.py imports web/_auth.py, line 1" == hx.recall(question, layers=["graph"])[0].text


def test_what_a_module_imports_is_asked_in_other_words(hx, project):
    write(project, {"web/_auth.py": "import hmac\n", "web/client.py": "from web import _auth\n"})
    hx.graph.index()

    for question in (
        "show me auth dependencies",
        "which modules does auth import?",
        "what does the auth module import?",
    ):
        assert (
            "web/_auth.py imports hmac (a library), line 1" == hx.recall(question, layers=["graph"])[0].text
        )


def test_tests_are_told_however_many_other_files_stand_before_them(hx, project):
    users = {f"web/user_{number}.py": "from web._auth import KEY\n" for number in range(12)}
    tests = {"tests/test_far.py": "from web.user_1 import KEY\n"}
    write(project, {"web/__init__.py": "", "web/_auth.py": "KEY = 1\n", **users, **tests})
    hx.graph.index()

    hits = hx.recall("which tests cover the auth module?", layers=["graph"], limit=3)
    assert ["tests/test_far.py"] == [hit.text.partition(":")[0] for hit in hits]
