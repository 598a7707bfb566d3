"""The code graph: what is read of files, what imports and calls lead to, and that a change finds its way."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

import hexad
from hexad import Hexad, InvalidInput, NotFound
from hexad.code_graph import indexer
from hexad.code_graph.facts import FileFacts
from hexad.code_graph.python_code import read_python
from hexad.code_graph.slices import SlicedFile, SymbolUse, slices
from tables import BEFORE_CODE_GRAPH

SHOP = {
    "src/shop/__init__.py": "from .cart import Cart\n",
    "src/shop/cart.py": (
        "from __future__ import annotations\n"
        "import json\n"
        "from shop.prices import PriceList, RATE\n"
        "from . import store as kept\n\n\n"
        "class Cart(kept.Saved):\n"
        "    def __init__(self, prices: PriceList) -> None:\n"
        "        self._prices = prices\n\n"
        "    def total(self) -> float:\n"
        "        return self._prices.sum_of(self) * RATE + self.weigh()\n\n"
        "    def weigh(self) -> float:\n"
        "        return float(json.loads('1'))\n\n\n"
        "def open_cart() -> Cart:\n"
        "    return Cart(PriceList())\n"
    ),
    "src/shop/prices.py": (
        "import requests\n\n"
        "RATE = 1.2\n\n\n"
        "class PriceList:\n"
        "    def sum_of(self, cart: object) -> float:\n"
        "        return _fetched(cart)\n\n\n"
        "def _fetched(cart: object) -> float:\n"
        "    return requests.get('https://prices.example').json()\n"
    ),
    "src/shop/store.py": "class Saved:\n    def save(self) -> None:\n        pass\n",
    "src/shop/empty/__init__.py": "",
    "src/shop/empty/deep.py": "from ..cart import open_cart\n\n\ndef run(thing):\n    thing.sum_of(open_cart().total())\n",
    "tests/helpers.py": "def cart():\n    return 1\n",
    "tests/test_cart.py": (
        "from helpers import cart\nfrom shop import Cart\n\n\n"
        "def test_total():\n    Cart(cart()).total()\n    Cart(1).save()\n"
    ),
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def shop(project: Path) -> Path:
    write(project, SHOP)
    return project


def found(hx: Hexad, question: str, target: str, **more: object) -> list[str]:
    return [
        f"{hit.node.path or hit.node.name}{'::' + hit.node.name if hit.node.type == 'symbol' else ''}"
        for hit in hx.graph.query(question, target, **more).hits  # type: ignore[arg-type]
    ]


def edges(hx: Hexad) -> list[tuple[object, ...]]:
    """All edges by names, for comparing two graphs."""
    return sorted(
        hx._services.db.query(
            "SELECT fa.qualified, iif(a.node_type = 'symbol', a.qualified, ''), coalesce(fb.qualified, ''),"
            " iif(b.node_type = 'file', '', b.qualified), e.edge_type, e.weight, e.line, e.confidence"
            " FROM code_edges e JOIN code_nodes a ON a.no = e.from_no JOIN code_nodes fa ON fa.no = a.file_no"
            " JOIN code_nodes b ON b.no = e.to_no LEFT JOIN code_nodes fb ON fb.no = b.file_no"
            " WHERE b.node_type <> 'slice'"
        )
    )


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.row("A043", "A046", "A047")
def test_imports_lead_to_files_and_libraries(hx, shop):
    report = hx.graph.index()

    assert (8, 8, 0) == (report.files, report.created, report.skipped)
    assert ["src/shop/prices.py", "src/shop/store.py", "__future__", "json"] == sorted(
        found(hx, "dependencies", "src/shop/cart.py"), key=lambda name: ("/" not in name, name)
    )
    assert ["src/shop/__init__.py", "src/shop/empty/deep.py"] == sorted(found(hx, "dependents", "cart.py"))
    assert ["src/shop/prices.py"] == found(hx, "dependents", "requests")
    assert ["tests/test_cart.py"] == found(hx, "dependents", "tests/helpers.py")
    assert ["tests/test_cart.py"] == found(hx, "dependents", "shop")[:1] or "tests/test_cart.py" in found(
        hx, "dependents", "src/shop/__init__.py"
    )


@pytest.mark.row("A044", "A046", "A047")
def test_calls_lead_to_symbols_with_a_confidence(hx, shop):
    hx.graph.index()

    callees = hx.graph.query("callees", "Cart.total").hits
    assert {"src/shop/prices.py::PriceList.sum_of": 0.9, "src/shop/cart.py::Cart.weigh": 0.9} == {
        f"{hit.node.path}::{hit.node.name}": hit.confidence for hit in callees
    }
    assert ["src/shop/cart.py::open_cart", "tests/test_cart.py::test_total"] == found(hx, "callers", "Cart")
    assert ["tests/test_cart.py::test_total"] == found(hx, "callers", "Saved.save")
    assert ["src/shop/prices.py::PriceList.sum_of"] == found(hx, "callers", "_fetched")


@pytest.mark.row("A044")
def test_a_call_on_an_unknown_value_is_told_with_little_confidence_where_few_things_have_the_name(hx, shop):
    hx.graph.index()

    hits = hx.graph.query("callers", "PriceList.sum_of").hits
    assert [("src/shop/cart.py", 0.9), ("src/shop/empty/deep.py", 0.4)] == [
        (hit.node.path, hit.confidence) for hit in hits
    ]
    assert "by the name alone" in hx.graph.query("callers", "PriceList.sum_of").notes[0]


@pytest.mark.row("A044")
def test_names_that_came_with_a_star_are_called_and_mentioned(hx, project):
    write(
        project,
        {
            "base.py": "LIMIT = 3\n\n\ndef pub(): ...\n\n\nclass Kept:\n    def save(self): ...\n",
            "use.py": "from base import *\n\n\ndef f(save):\n    pub()\n    Kept().save()\n    print(LIMIT, len([save]))\n\n\n"
            "run = lambda kept=Kept(): kept.save()\n",
        },
    )
    hx.graph.index()

    (hit,) = hx.graph.query("callers", "pub").hits
    assert ("use.py:4", 5, 0.8) == (hit.node.location, hit.line, hit.confidence)
    assert ["use.py", "use.py::f"] == sorted(found(hx, "callers", "Kept"))
    assert "use.py::f" in found(hx, "callers", "Kept.save")
    assert ["use.py::f"] == found(hx, "dependents", "LIMIT")
    (project / "base.py").write_text("def pub(): ...\n\n\ndef other(): ...\n")
    hx.graph.index()
    assert ["use.py::f"] == found(hx, "callers", "pub")


def test_a_definition_says_where_it_is_and_what_it_takes(hx, shop):
    hx.graph.index()

    (hit,) = hx.graph.query("definition", "Cart.total").hits
    assert ("src/shop/cart.py:11", 12, "def total(self) -> float", "method") == (
        hit.node.location, hit.node.end_line, hit.node.signature, hit.node.kind,
    )  # fmt: skip
    for name in ("shop.cart.Cart.total", "cart.py::Cart.total", "src/shop/cart.py:12", "Cart.total()"):
        assert [hit.node.id] == [each.node.id for each in hx.graph.query("definition", name).hits], name


def test_impact_ranks_files_and_tests(hx, shop):
    hx.graph.index()

    answer = hx.graph.impact("PriceList.sum_of")
    assert ["src/shop/cart.py", "src/shop/empty/deep.py", "tests/test_cart.py"] == [
        hit.node.path for hit in answer.hits
    ]
    assert [False, False, True] == [hit.node.is_test for hit in answer.hits]
    assert sorted((hit.score for hit in answer.hits), reverse=True) == [hit.score for hit in answer.hits]
    assert ("2 files and 1 file of tests may be touched.",) == answer.notes
    assert "tests/test_cart.py" in found(hx, "impact", "src/shop/store.py")


def test_the_impact_of_a_symbol_names_its_own_file_where_something_else_in_it_uses_it(hx, shop):
    hx.graph.index()

    (own,) = (hit for hit in hx.graph.impact("_fetched").hits if hit.node.path == "src/shop/prices.py")
    assert ("called by", 8, 1.0) == (own.relation, own.line, own.score)
    assert "src/shop/prices.py" not in found(hx, "impact", "PriceList.sum_of")
    assert "src/shop/prices.py" not in found(hx, "impact", "src/shop/prices.py")


def test_a_path_has_its_steps_in_order_and_says_when_it_leads_the_other_way(hx, shop):
    hx.graph.index()

    answer = hx.graph.query("path", "tests/test_cart.py", to="src/shop/prices.py")
    assert ("src/shop/prices.py", "src/shop/cart.py") == (
        answer.hits[-1].node.path,
        answer.hits[-2].node.path,
    )
    back = hx.graph.query("path", "src/shop/prices.py", to="tests/test_cart.py")
    assert "There is none from 'src/shop/prices.py'" in back.notes[0]
    assert [hit.node.id for hit in answer.hits] == [hit.node.id for hit in back.hits]
    assert "Nothing leads from" in hx.graph.query("path", "helpers.py", to="store.py").notes[0]


def test_a_neighbourhood_has_what_stands_in_it_and_what_is_around_it(hx, shop):
    hx.graph.index()

    relations = {(hit.node.name, hit.relation) for hit in hx.graph.query("neighbourhood", "PriceList").hits}
    assert {("PriceList.sum_of", "holds"), ("open_cart", "called by")} <= relations


@pytest.mark.parametrize(
    ("question", "target", "more", "words"),
    [
        ("who", "cart.py", {}, "question"),
        ("callers", " ", {}, "target"),
        ("path", "cart.py", {}, "{to}|to"),
        ("callers", "cart.py", {"to": "x"}, "to"),
        ("callers", "cart.py", {"depth": 0}, "depth"),
        ("callers", "cart.py", {"depth": 99}, "depth = 99"),
        ("callers", "cart.py", {"limit": -1}, "limit"),
    ],
)
def test_what_cannot_be_asked_is_named(hx, shop, question, target, more, words):
    hx.graph.index()
    with pytest.raises(InvalidInput, match=words):
        hx.graph.query(question, target, **more)


def test_a_name_that_means_nothing_is_answered_with_those_that_look_like_it(hx, shop):
    hx.graph.index()
    with pytest.raises(NotFound, match=r"nothing called 'PriceLst'.*PriceList"):
        hx.graph.query("callers", "PriceLst")
    with pytest.raises(NotFound, match="elsewhere"):
        hx.graph.index("elsewhere")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("{root}/src/shop/cart.py", "src/shop/cart.py"),
        ("{root}/src/shop/cart.py::Cart.total", "src/shop/cart.py::Cart.total"),
        ("{root}/src/shop/cart.py:12", "src/shop/cart.py::Cart.total"),
        ("src\\shop\\cart.py", "src/shop/cart.py"),
        ("SRC/shop/Cart.py", "src/shop/cart.py"),
        ("code:src/shop/cart.py::Cart.total", "src/shop/cart.py::Cart.total"),
        ("code:library:json", "library:json"),
        ("library:json", "library:json"),
    ],
)
def test_a_name_is_taken_as_editors_and_answers_write_it(hx, shop, written, meant):
    hx.graph.index()
    (target,) = hx.graph.query("definition", written.format(root=shop)).targets
    assert f"code:{meant}" == target.id


@pytest.mark.parametrize("written", ["*", "c*", "?art", "src/*", "[c]art", "code:*"])
def test_a_name_is_no_pattern(hx, shop, written):
    hx.graph.index()
    with pytest.raises(NotFound, match="nothing called"):
        hx.graph.query("definition", written)


@pytest.mark.row("A049")
def test_a_member_that_a_class_inherits_is_meant_by_its_name(hx, shop):
    (shop / "src/shop/big.py").write_text(
        "from shop.cart import Cart\n\n\nclass BigCart(Cart):\n    def fill(self):\n        return self.total()\n"
    )
    hx.graph.index()

    answer = hx.graph.query("callers", "BigCart.total")
    assert ["code:src/shop/cart.py::Cart.total"] == [node.id for node in answer.targets]
    assert "src/shop/big.py::BigCart.fill" in found(hx, "callers", "BigCart.total")
    assert "'BigCart.total' is inherited: this is src/shop/cart.py::Cart.total." in answer.notes
    assert ["src/shop/store.py::Saved.save"] == found(hx, "definition", "shop.big.BigCart.save")
    with pytest.raises(NotFound, match=r"It has Cart.total"):
        hx.graph.query("callers", "BigCart.totals")


@pytest.mark.row("A049")
def test_a_class_is_extended_under_the_name_that_it_is_imported_as(hx, shop):
    (shop / "src/shop/sea.py").write_text(
        "from shop.cart import Cart as _Cart\nfrom shop.prices import PriceList as Prices\n\n\n"
        "class Cart(_Cart):\n    pass\n\n\nclass Held:\n    of: Prices\n"
    )
    hx.graph.index()
    assert ["src/shop/sea.py::Cart"] == found(hx, "subclasses", "src/shop/cart.py::Cart")
    assert ["src/shop/cart.py::Cart.weigh"] == found(hx, "definition", "src/shop/sea.py::Cart.weigh")
    assert [] == found(hx, "subclasses", "PriceList")


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("src/shop/crt.py", "src/shop/cart.py"),
        ("pricelst", "PriceList"),
        ("riceList", "PriceList"),
        ("Cart.wiegh", "Cart.weigh"),
        ("cart.py::Cart.wiegh", "Cart.weigh"),
    ],
)
def test_what_is_called_nearly_so_is_named_with_what_it_stands_in(hx, shop, written, named):
    hx.graph.index()
    with pytest.raises(NotFound, match=f"It has {named}"):
        hx.graph.query("callers", written)


def test_a_library_is_meant_beside_a_file_that_is_called_like_it(hx, shop):
    (shop / "src/shop/requests.py").write_text("")
    (shop / "src/shop/send.py").write_text("from shop import requests\n")
    hx.graph.index()
    assert {"src/shop/prices.py", "src/shop/send.py"} == set(found(hx, "dependents", "requests"))


@pytest.mark.row("A045")
@pytest.mark.parametrize("how", ["indexed", "ingested"])
def test_an_answer_says_which_files_changed_since_they_were_read(hx, shop, how):
    def read_again():
        hx.graph.index() if how == "indexed" else hx.ingest(shop)

    def notes():
        return [note for note in hx.graph.query("callers", "Cart.total").notes if "Changed or gone" in note]

    read_again()
    assert [] == notes()
    (shop / "src/shop/cart.py").write_text("# longer\n" + SHOP["src/shop/cart.py"])
    (shop / "src/shop/empty/deep.py").unlink()
    assert [
        "Changed or gone since it was read: src/shop/cart.py, src/shop/empty/deep.py; `hexad graph index` reads it again."
    ] == notes()
    read_again()
    assert [] == notes()


@pytest.mark.row("A043")
def test_a_package_whose_init_has_only_white_space_is_a_package(opened, project):
    """Two distributions side by side: the imports between them lead through files that say nothing."""
    write(
        project,
        {
            "one/src/alpha/__init__.py": "\n",
            "one/src/alpha/core.py": "def begin(): ...\n",
            "two/src/beta/__init__.py": "  \n\n",
            "two/src/beta/use.py": "from alpha.core import begin\n\nbegin()\n",
        },
    )
    with opened() as hx:
        hx.graph.index()
        looked = edges(hx)

        assert ["one/src/alpha/core.py"] == found(hx, "dependencies", "use.py")
        hx.graph.index()
        assert looked == edges(hx)
        (project / "two/src/beta/__init__.py").write_text("from beta.use import begin\n")
        hx.graph.index()
        assert ["two/src/beta/__init__.py"] == found(hx, "dependents", "two/src/beta/use.py")
        (project / "two/src/beta/__init__.py").write_text("\n")
        hx.ingest(project)
        assert looked == edges(hx)
        assert [] == hx.check()


@pytest.mark.row("A043")
def test_a_namespace_package_has_modules_of_several_folders(opened, project):
    write(
        project,
        {
            "storage/src/cloud/storage/__init__.py": "from cloud.core import client\nfrom cloud.core.retry import again\n",
            "core/src/cloud/core/__init__.py": "",
            "core/src/cloud/core/client.py": "import cloud.storage\n",
            "core/tests/unit/test_client.py": "from cloud.core import client\nimport cloud.core.retry\nimport cloud.none\n",
        },
    )
    with opened() as hx:
        hx.graph.index()
        write(project, {"core/src/cloud/core/retry.py": "def again(): ...\n"})
        hx.graph.index()

        assert ["core/src/cloud/core/client.py", "core/src/cloud/core/retry.py"] == sorted(
            found(hx, "dependencies", "storage/src/cloud/storage/__init__.py")
        )
        assert ["storage/src/cloud/storage/__init__.py"] == found(hx, "dependencies", "core/client.py")
        assert ["cloud", "core/src/cloud/core/client.py", "core/src/cloud/core/retry.py"] == sorted(
            found(hx, "dependencies", "test_client.py")
        )


@pytest.mark.row("A043")
def test_of_packages_of_one_name_that_of_the_own_distribution_is_meant(hx, project):
    files = {
        f"packages/{name}/{path}": text
        for name in ("a", "b", "c")
        for path, text in {
            "src/common/__init__.py": "",
            "src/common/log.py": "def say(): ...\n",
            "tests/test_log.py": "from common.log import say\n\nsay()\n",
        }.items()
    }
    write(
        project,
        {**files, "packages/b/tests/data/common/__init__.py": "", "packages/b/tests/data/common/log.py": ""},
    )
    hx.graph.index()

    for name in ("a", "b", "c"):
        assert [f"packages/{name}/src/common/log.py"] == found(
            hx, "dependencies", f"packages/{name}/tests/test_log.py"
        )


@pytest.mark.parametrize("line", [0, 20, 99_999])
def test_a_line_that_a_file_does_not_have_is_said(hx, shop, line):
    hx.graph.index()
    with pytest.raises(NotFound, match=rf"src/shop/cart.py has no line {line:,}. It has 19."):
        hx.graph.query("callers", f"cart.py:{line}")


def test_a_line_of_several_files_means_what_stands_there_in_each(hx, shop):
    hx.graph.index()

    assert ["tests/helpers.py::cart", "tests/test_cart.py::test_total"] == sorted(
        name
        for name in (*found(hx, "definition", "helpers.py:1"), *found(hx, "definition", "test_cart.py:6"))
    )
    nodes = {hit.node.location for hit in hx.graph.query("definition", "__init__.py:1").hits}
    assert {"src/shop/__init__.py", "src/shop/empty/__init__.py"} == nodes


# Reading --------------------------------------------------------------------------------------------------------------


def test_a_broken_file_still_gives_what_can_be_read(hx, project):
    write(
        project,
        {
            "good.py": "def helper(): ...\n",
            "bad.py": (
                "from good import helper\n\n\nclass Half:\n    def broken(self):\n        return 1 +\n\n"
                "    def whole(self):\n        helper()\n\n\ndef after():\n    helper()\n\n\nprint 'old'\n"
            ),
        },
    )
    report = hx.graph.index()

    assert [("bad.py", "line 6 does not parse")] == report.problems == list(hx.graph.show().problems)
    assert ["bad.py::Half.whole", "bad.py::after"] == sorted(found(hx, "callers", "helper"))
    assert ["bad.py::Half.broken"] == found(hx, "definition", "Half.broken")


@pytest.mark.parametrize(
    "text", ["", "\n\n", "def", "(" * 5_000, "\0", "class A:\n", "x = '''", "if True:\n\tpass\n  y"]
)
def test_no_text_is_too_broken(text):
    facts = read_python(text)

    assert facts == FileFacts.from_json(facts.to_json())


def test_what_a_parameter_is_by_default_is_not_kept(hx, project):
    key = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    write(project, {"pay.py": f"def pay(key='{key}'): ...\n\n\ndef {key}(): ...\n"})
    hx.graph.index()

    assert ["def pay(key = …)"] == [
        hit.node.signature for hit in hx.graph.query("definition", "pay").hits if hit.node.type == "symbol"
    ]
    rows = hx._services.db.query(
        "SELECT name, signature FROM code_nodes UNION ALL SELECT facts, '' FROM code_files"
    )
    assert not [row for row in rows if key in row[0] + row[1]]


# Changes --------------------------------------------------------------------------------------------------------------


def test_what_is_unchanged_is_not_read_again(hx, shop):
    hx.graph.index()
    report = hx.graph.index()

    # The empty file is looked at, for it has no text to compare.
    assert (8, 0, 0, 0, 8, 0) == (
        report.files, report.created, report.updated, report.removed, report.unchanged, report.resolved,
    )  # fmt: skip


def test_a_file_under_a_new_name_keeps_its_symbols(hx, shop):
    hx.graph.index()
    (before,) = hx._services.db.query("SELECT no FROM code_nodes WHERE qualified = 'PriceList.sum_of'")
    (shop / "src/shop/prices.py").rename(shop / "src/shop/tariff.py")
    cart = shop / "src/shop/cart.py"
    cart.write_text(cart.read_text().replace("shop.prices", "shop.tariff"))
    report = hx.graph.index()

    assert (1, 0, 0) == (report.renamed, report.created, report.removed)
    assert [before] == hx._services.db.query("SELECT no FROM code_nodes WHERE qualified = 'PriceList.sum_of'")
    assert ["src/shop/tariff.py::PriceList.sum_of"] == found(hx, "definition", "PriceList.sum_of")

    moved = shop / "src/shop/tariff.py"
    (shop / "src/shop/rates.py").write_text(moved.read_text() + "\n\ndef more(): ...\n")
    moved.unlink()
    assert 1 == hx.graph.index().renamed
    assert [before] == hx._services.db.query("SELECT no FROM code_nodes WHERE qualified = 'PriceList.sum_of'")


def test_a_graph_kept_up_to_date_is_the_one_made_anew(opened, tmp_path):
    """Whatever is added, changed, renamed and removed: the edges are those of the files as they are."""
    folder = tmp_path / "work"
    write(folder, SHOP)
    chance = random.Random(4)
    names = sorted(SHOP)
    extra = [
        "def weigh(x): ...\n",
        "from shop.cart import open_cart as oc\noc()\n",
        "class Saved: ...\n",
        "from shop import *\nCart()\n",
    ]
    hx = opened()
    for step in range(25):
        path = folder / chance.choice(names)
        action = chance.choice(["append", "remove", "restore", "rename"])
        if action == "append" and path.exists():
            path.write_text(path.read_text() + "\n\n" + chance.choice(extra))
        elif action == "remove" and path.exists():
            path.unlink()
        elif action == "rename" and path.exists():
            path.rename(path.with_name(f"moved{step}.py"))
        else:
            path.write_text(SHOP[str(path.relative_to(folder))])
        hx.graph.index(folder)
        with hexad.open(":memory:", embedder=None, background=False) as other:
            other.graph.index(folder)
            assert edges(other) == edges(hx), (step, action, path.name)
    assert [] == hx.check()


def test_a_function_that_calls_on_an_unknown_value_can_go(hx, shop):
    hx.graph.index()
    deep = shop / "src/shop/empty/deep.py"
    assert "src/shop/empty/deep.py::run" in found(hx, "callers", "PriceList.sum_of")
    deep.write_text(deep.read_text().replace("def run(", "def ran("))

    assert 1 == hx.graph.index().updated
    assert "src/shop/empty/deep.py::ran" in found(hx, "callers", "PriceList.sum_of")
    assert [] == hx.check()


def test_a_run_that_was_cut_short_is_made_up_for(opened, shop, monkeypatch):
    hx = opened()
    hx.graph.index()
    whole = edges(hx)
    cart = shop / "src/shop/cart.py"
    text = cart.read_text()
    cart.write_text("def other(): ...\n")
    from hexad.code_graph.indexer import _IndexRun

    with monkeypatch.context() as patch:
        patch.setattr(_IndexRun, "finish", lambda run: run._flush())
        hx.graph.index()
    cart.write_text(text)
    hx.graph.index()

    assert whole == edges(hx)


# Beside memories ------------------------------------------------------------------------------------------------------


def test_ingest_builds_it_and_follows_what_vanishes(hx, shop):
    hx.ingest(shop)
    whole = edges(hx)
    with hexad.open(":memory:", embedder=None, background=False) as other:
        other.graph.index(shop)
        assert edges(other) == whole

    (shop / "src/shop/empty/deep.py").unlink()
    hx.ingest(shop)
    assert ["src/shop/__init__.py"] == found(hx, "dependents", "cart.py")
    hx.ingest(shop, dry_run=True)
    assert [] == hx.check()


def test_a_part_of_the_project_has_the_paths_of_the_project(hx, shop):
    hx.ingest(shop / "src")
    hx.graph.index(shop / "tests" / "test_cart.py")

    assert ["tests/test_cart.py::test_total"] == found(hx, "callers", "Saved.save")
    assert (str(shop),) == hx.graph.show().roots


def test_what_is_forgotten_leaves_the_graph(hx, shop):
    hx.ingest(shop)
    memory = next(memory for memory in hx.memories(limit=None) if memory.source_id == "src/shop/prices.py")
    hx.forget(memory.id)
    with pytest.raises(NotFound):
        hx.graph.query("callers", "PriceList")
    hx.restore(memory.id)
    assert found(hx, "callers", "PriceList")

    receipt = hx.forget(memory.id, purge=True, confirm=True)
    assert 1 == {each.place: each.count for each in receipt.erased}["files of the code graph"]
    assert [] == hx._services.db.query("SELECT no FROM code_nodes WHERE name = 'PriceList'")
    assert [] == hx.check()


def test_what_was_indexed_alone_is_exported_and_erased(hx, shop):
    hx.graph.index(space="work")
    held = {item.value["path"]: item.value for item in hx.export() if item.section == "code_files"}
    assert set(SHOP) == set(held)
    assert ["PriceList", "PriceList.sum_of"] == [
        symbol["name"] for symbol in held["src/shop/prices.py"]["symbols"] if symbol["name"].startswith("P")
    ]

    hx.forget(source="src/shop/prices.py", purge=True, confirm=True)
    assert "src/shop/prices.py" not in str(
        [item.value for item in hx.export() if item.section == "code_files"]
    )
    hx.forget(space="work", purge=True, confirm=True)
    assert 0 == hx.graph.show().nodes["file"]
    hx.graph.index()
    hx.wipe("project", confirm=True, dry_run=True)
    assert 8 == hx.graph.show().nodes["file"]
    hx.wipe("project", confirm=True)
    assert [] == hx._services.db.query(
        "SELECT 1 FROM code_nodes UNION ALL SELECT 1 FROM code_edges UNION ALL SELECT 1 FROM code_roots"
    )


def test_a_space_that_is_deleted_takes_its_code_along(hx, shop):
    hx.graph.index(space="work")
    hx.graph.index(space="other")
    hx.spaces.set_policy("work", {"allow_delete": True})
    hx.spaces.delete("work")

    assert {"other"} == {hit.node.space for hit in hx.graph.query("definition", "Cart").hits}
    assert [] == hx.check()


def test_what_a_role_may_not_see_is_not_in_its_graph(opened, shop):
    """Files of a space that is closed to it, and files of an open one that a rule hides: nothing tells of them."""
    write(
        shop,
        {
            "open/plain.py": "import requests\n\n\ndef plain(): ...\n",
            "vault/deep.py": "import sesame\n\n\ndef sum_of(): ...\n",
        },
    )
    hx = opened()
    hx.spaces.create("secret")
    hx.spaces.set_policy("secret", {"roles": ["board"]})
    hx.ingest(shop / "src", space="secret")
    hx.spaces.create("public")
    hx.ingest(shop / "open", space="public")
    before = {name: getattr(hx.graph.show(space="public"), name) for name in ("nodes", "edges", "languages")}
    hx.ingest(shop / "vault", space="public")
    hx.spaces.set_policy("public", {"visibility": [{"path": "vault", "roles": ["board"]}]})
    hx.close()

    with hexad.open(hx.path.parent, embedder=None, background=False, actor={"role": "reader"}) as reader:
        assert ["open/plain.py"] == found(reader, "dependents", "requests")
        for name in ("PriceList", "sum_of", "vault", "sesame", "deep.py", "cart.py"):
            with pytest.raises(NotFound) as error:
                reader.graph.query("definition", name)
            assert name not in str(error.value).replace(f"{name!r}", "")
        assert before == {name: getattr(reader.graph.show(), name) for name in before}
        with pytest.raises(NotFound):
            reader.graph.show(space="secret")


def test_a_store_of_the_version_before_gets_a_graph(opened, shop):
    hx = opened()
    hx.ingest(shop)
    with hx._services.db.transaction() as con:
        con.execute("DELETE FROM code_roots")
        con.execute(BEFORE_CODE_GRAPH)
        con.execute("DELETE FROM schema_migrations WHERE number >= 19")
    hx.close()

    again = opened()
    assert 0 == again.graph.show().nodes["file"]
    again.ingest(shop)  # nothing changed: the texts are there
    assert "tests/test_cart.py::test_total" in found(again, "callers", "Cart")


def test_folders_of_two_spaces_are_two_graphs(hx, shop, tmp_path):
    shutil.copytree(shop / "src", tmp_path / "copy" / "src")
    hx.graph.index(space="one")
    hx.graph.index(tmp_path / "copy", space="two")

    assert {"one"} == {hit.node.space for hit in hx.graph.query("callers", "Cart", space="one").hits}
    assert ["src/shop/cart.py::open_cart"] == found(hx, "callers", "Cart", space="two")


# Slices ---------------------------------------------------------------------------------------------------------------


def _ring(folder: str, letter: str, name: str) -> dict[str, str]:
    """Four files of a folder that import each other."""
    package = folder.replace("/", ".")
    return {
        f"{folder}/{letter}{n}.py": f"from {package} import {letter}{(n + 1) % 4}\n"
        f"from {package}.{letter}{(n + 2) % 4} import {name}\n\n\ndef {name}(): ...\n"
        for n in range(4)
    }


TWO = {
    **_ring("app/pay", "p", "charge_card"),
    **_ring("app/mail", "m", "send"),
    "app/mail/bridge.py": "from app.pay.p0 import charge_card\nfrom app.mail.m0 import send\nfrom app.mail.m1 import send\n",
}


@pytest.mark.row("A045")
def test_slices_are_files_that_hang_together_named_after_their_folder(hx, project):
    write(project, TWO)
    hx.graph.index()

    slices = {each.name: each.paths for each in hx.graph.show().slices}
    assert {"app/mail": 5, "app/pay": 4} == {name: len(paths) for name, paths in slices.items()}
    assert ["app/pay/p0.py"] == found(hx, "dependencies", "app/mail")
    assert {"file"} == {node.type for node in hx.graph.query("dependencies", "app/mail").targets}, (
        "the folder"
    )
    assert [(9,)] == hx._services.db.query(
        "SELECT count(*) FROM code_edges e JOIN code_nodes n ON n.no = e.to_no"
        " WHERE n.node_type = 'slice' AND e.edge_type = 'belongs_to'"
    )

    (project / "app/mail/m3.py").unlink()
    hx.graph.index()
    assert {"app/mail": 4, "app/pay": 4} == {each.name: each.files for each in hx.graph.show().slices}
    assert [] == hx.check()


def test_slices_are_found_by_a_look_at_a_folder_that_was_ingested_before(hx, project):
    write(project, TWO)
    hx.ingest(project)
    assert () == hx.graph.show().slices

    hx.graph.index()

    assert {"app/mail", "app/pay"} == {each.name for each in hx.graph.show().slices}


def test_one_file_by_name_leaves_slices_as_they_are_until_the_folder_is_looked_at(hx, project):
    write(project, TWO)
    hx.graph.index()
    write(project, {"app/mail/late.py": "".join(f"from app.mail.m{n} import send\n" for n in range(4))})
    write(project, {"app/pay/p0.py": TWO["app/pay/p0.py"] + "\n\ndef refund(): ...\n"})

    for name in ("app/mail/late.py", "app/pay/p0.py"):
        hx.graph.index(project / name)
    before = {each.name: each.files for each in hx.graph.show().slices}
    hx.graph.index()

    assert {"app/mail": 5, "app/pay": 4} == before
    after = {each.name: each.paths for each in hx.graph.show().slices}
    assert "app/mail/late.py" in after["app/mail"]
    assert 10 == sum(map(len, after.values()))
    assert [] == hx.check()


def test_a_slice_does_not_hide_the_folder_of_its_name(hx, project):
    imports = "".join(f"from app.mail.m{n} import send\n" for n in range(4))
    write(project, {**TWO, "tests/test_mail.py": f"{imports}\n\ndef test_sends(): send()\n"})
    hx.graph.index()

    assert "tests/test_mail.py" in {
        path for each in hx.graph.show().slices if each.name == "app/mail" for path in each.paths
    }
    assert "tests/test_mail.py" in found(hx, "impact", "app/mail")


def test_slices_in_one_folder_are_told_apart_by_what_their_files_use_most():
    files = [SlicedFile(n, f"lib/{'pay' if n < 3 else 'mail'}_{n}.py") for n in range(6)]
    edges = [(a, b, 1.0) for a in range(6) for b in range(6) if a < b and (a < 3) == (b < 3)]
    uses = [SymbolUse(0, 1, "charge", 2.0), SymbolUse(2, 1, "refund", 1.0), SymbolUse(0, 4, "send", 9.0)]

    assert {"lib (charge)": [0, 1, 2], "lib (mail_5)": [3, 4, 5]} == {
        name: [file.no for file in group] for name, group in slices(files, edges, uses).items()
    }


def test_tests_name_no_slice_that_has_other_files(hx, project):
    """Of a package and its tests, which are more, each slice has the name of what is tested in it."""
    files = {}
    for part, name in (("pay", "Charge"), ("mail", "Letter")):
        files[f"src/app/{part}.py"] = f"class {name}: ...\n\n\ndef {part}_all() -> {name}: ...\n"
        files[f"src/app/{part}_run.py"] = (
            f"from app.{part} import {name}, {part}_all\n\n\ndef run_{part}(): return {name}()\n"
        )
        for n in range(5):
            files[f"tests/test_{part}_{n}.py"] = (
                f"from app.{part} import {name}\nfrom app.{part}_run import run_{part}\nfrom helpers import info_of_{part}\n\n\n"
                f"def test_{n}():\n    info_of_{part}({name}())\n    run_{part}()\n    {name}()\n"
            )
    files["tests/helpers.py"] = "def info_of_pay(it): ...\n\n\ndef info_of_mail(it): ...\n"
    write(project, {"src/app/__init__.py": "", **files})
    hx.graph.index()

    assert {"src/app (Charge)", "src/app (Letter)"} == {each.name for each in hx.graph.show().slices}


def test_a_slice_of_tests_alone_and_one_of_many_folders_have_names():
    tests = [SlicedFile(n, f"tests/test_{n}.py", is_test=True) for n in range(3)]
    spread = [SlicedFile(n, f"{folder}x{n}.py") for n, folder in enumerate(("", "a/", "b/c/"), start=3)]
    edges = [(a, b, 1.0) for a in range(6) for b in range(6) if a < b and (a < 3) == (b < 3)]

    assert {"tests", "b/c (x5)"} == set(slices([*tests, *spread], edges))
    assert {"tests", "Main"} == set(slices([*tests, *spread], edges, [SymbolUse(4, 3, "Main", 1.0)]))


def test_without_the_library_there_are_no_slices_and_all_else(hx, project, monkeypatch):
    monkeypatch.setattr(indexer, "can_slice", lambda: False)
    write(project, TWO)

    assert 9 == hx.graph.index().files
    assert () == hx.graph.show().slices


@pytest.mark.parametrize("line", ["²", "1²", "9" * 5_000], ids=["superscript", "mixed", "long"])
def test_a_line_that_is_no_number_of_a_line_is_a_name_that_is_not_there(hx, tmp_path, line):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "gate.py").write_text("def gate():\n    return 1\n")
    hx.graph.index(tmp_path / "code")

    with pytest.raises(hexad.NotFound, match=r"gate\.py"):
        hx.graph.query("callers", f"gate.py:{line}")
