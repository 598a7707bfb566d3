"""The code graph of the languages of the extra `code`: what imports lead to, who calls whom, what is read of broken files."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.code_graph import languages
from hexad.code_graph.syntax_code import read_syntax
from hexad.ingest.sources.formats import syntax

NEEDS = pytest.mark.skipif(not syntax.is_readable("typescript"), reason="the extra `code` is not installed")

WEB = {
    "package.json": '{"name": "shop", "workspaces": ["packages/*"]}',
    "tsconfig.json": '{\n  // short names\n  "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"],}},\n}',
    "packages/prices/package.json": '{"name": "@shop/prices", "main": "dist/index.js", "exports": {".": "./dist/index.js", "./tax": {"import": "./dist/tax.mjs"}}}',
    "packages/prices/src/index.ts": "export * from './list';\nexport { rate as taxRate } from './tax';\n",
    "packages/prices/src/list.ts": "export class PriceList {\n  sum(cart: object): number {\n    return 1;\n  }\n}\n",
    "packages/prices/src/tax.ts": "export const rate = 1.2;\nexport function tax(n: number): number {\n  return n * rate;\n}\n",
    "src/cart/index.ts": (
        "import { PriceList, taxRate } from '@shop/prices';\nimport { tax } from '@shop/prices/tax';\nimport * as store from '../store.js';\n"
        "import React from 'react';\n\nexport default class Cart extends store.Saved {\n  private prices = new PriceList();\n"
        "  total(discount = 'sk-not-to-be-kept'): number {\n    return tax(this.prices.sum(this)) * taxRate + this.weigh();\n  }\n\n"
        "  weigh(): number {\n    return 0;\n  }\n}\n\nexport const openCart = (): Cart => new Cart();\n"
    ),
    "src/store.ts": "export abstract class Saved {\n  save(): void {}\n}\n",
    "src/view.tsx": (
        "import Cart, { openCart } from '@/cart';\n\nexport function View() {\n  openCart().save();\n  return <Line of={new Cart()} />;\n}\n\n"
        "function Line(cart: Cart) {\n  return <p>{cart.total()}</p>;\n}\n"
    ),
    "src/lazy.js": "const { View } = require('./view');\n\nmodule.exports.start = function () {\n  View();\n};\n",
    "src/view.spec.ts": "import { View } from './view';\n\nView();\n",
}
GO = {
    "go.mod": "module example.com/shop\n\ngo 1.22\n",
    "main.go": 'package main\n\nimport (\n\t"fmt"\n\n\tstore "example.com/shop/internal/kept"\n)\n\nfunc main() {\n\tcart := store.Open("a")\n\tfmt.Println(cart.Total())\n}\n',
    "internal/kept/cart.go": "package kept\n\ntype Cart struct {\n\tprices *PriceList\n}\n\nfunc (c *Cart) Total() int {\n\treturn c.prices.Sum() + weigh()\n}\n",
    "internal/kept/prices.go": "package kept\n\nconst Rate = 2\n\ntype PriceList struct{}\n\nfunc (p *PriceList) Sum() int {\n\treturn Rate\n}\n\nfunc weigh() int { return 1 }\n\nfunc Open(name string) *Cart { return &Cart{} }\n",
    "internal/kept/cart_test.go": 'package kept\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tOpen("a").Total()\n}\n',
}
RUST = {
    "Cargo.toml": '[package]\nname = "shop-core"\nversion = "0.1.0"\n',
    "src/lib.rs": "pub mod cart;\nmod prices;\n\npub use prices::PriceList;\n",
    "src/cart/mod.rs": "mod weight;\n\nuse crate::PriceList;\nuse self::weight::weigh;\nuse serde::Serialize;\n\npub struct Cart {\n    prices: PriceList,\n}\n\nimpl Cart {\n    pub fn new() -> Self {\n        Cart { prices: PriceList::new() }\n    }\n\n    pub fn total(&self) -> f64 {\n        self.prices.sum() + weigh(self) * super::prices::rate()\n    }\n}\n",
    "src/cart/weight.rs": "use super::Cart;\n\npub fn weigh(_cart: &Cart) -> f64 {\n    1.0\n}\n",
    "src/prices.rs": "pub struct PriceList;\n\nimpl PriceList {\n    pub fn new() -> Self {\n        PriceList\n    }\n\n    pub fn sum(&self) -> f64 {\n        rate()\n    }\n}\n\npub fn rate() -> f64 {\n    1.2\n}\n",
    "tests/total.rs": "use shop_core::cart::Cart;\n\n#[test]\nfn total() {\n    Cart::new().total();\n}\n",
}
JAVA = {
    "src/main/java/org/shop/Cart.java": "package org.shop;\n\nimport java.util.List;\nimport org.shop.prices.*;\n\npublic class Cart extends Saved {\n    private final PriceList prices = new PriceList();\n\n    public double total() {\n        return prices.sum(this) * Rates.TAX + weigh();\n    }\n\n    double weigh() {\n        return 0;\n    }\n}\n",
    "src/main/java/org/shop/Saved.java": "package org.shop;\n\nabstract class Saved {\n    void save() {\n    }\n}\n",
    "src/main/java/org/shop/prices/PriceList.java": "package org.shop.prices;\n\npublic class PriceList {\n    public double sum(Object cart) {\n        return Rates.TAX;\n    }\n}\n",
    "src/main/java/org/shop/prices/Rates.java": "package org.shop.prices;\n\npublic final class Rates {\n    public static final double TAX = 1.2;\n}\n",
    "src/test/java/org/shop/CartTest.java": "package org.shop;\n\nclass CartTest {\n    void total() {\n        Cart cart = new Cart();\n        cart.total();\n        cart.save();\n    }\n}\n",
}
CPP = {
    "include/shop/cart.h": '#pragma once\n#include "shop/prices.h"\n\nnamespace shop {\nclass Cart {\n public:\n  double total() const;\n\n private:\n  PriceList prices_;\n};\n}  // namespace shop\n',
    "include/shop/prices.h": "#pragma once\n#define TAX 2\n\nnamespace shop {\nclass PriceList {\n public:\n  double sum() const;\n};\ndouble weigh(int grams);\n}  // namespace shop\n",
    "src/cart.cpp": '#include "shop/cart.h"\n\n#include <vector>\n\nnamespace shop {\ndouble Cart::total() const {\n  return prices_.sum() * TAX + weigh(3);\n}\n}  // namespace shop\n',
    "src/prices.cpp": "#include <shop/prices.h>\n\nnamespace shop {\ndouble PriceList::sum() const {\n  return TAX;\n}\n\ndouble weigh(int grams) {\n  return grams;\n}\n}  // namespace shop\n",
    "src/list.c": '#include "list.h"\n\nstatic int depth(struct list *one) {\n  return one->next ? depth(one->next) : 0;\n}\n\nint list_depth(struct list *of) {\n  return depth(of);\n}\n',
    "src/list.h": "struct list {\n  struct list *next;\n};\n\nint list_depth(struct list *of);\n",
    "tests/list_test.c": '#include "../src/list.h"\n\nint main(void) {\n  return list_depth(0);\n}\n',
}


def indexed(folder: Path, files: dict[str, str]) -> Hexad:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    hx = hexad.open(folder, embedder=None, background=False)
    hx.graph.index()
    return hx


def imports(hx: Hexad, path: str) -> set[str]:
    return {hit.node.path or hit.node.name for hit in hx.graph.query("dependencies", path).hits}


def callers(hx: Hexad, symbol: str, *, least: float = 0.6) -> set[str]:
    hits = hx.graph.query("callers", symbol).hits
    return {f"{hit.node.path}:{hit.node.name}" for hit in hits if hit.confidence >= least}


@NEEDS
@pytest.mark.row("A043", "A044")
def test_scripts_import_by_paths_aliases_and_packages_of_the_same_root(tmp_path):
    with indexed(tmp_path, WEB) as hx:
        assert {
            "packages/prices/src/index.ts",
            "packages/prices/src/tax.ts",
            "src/store.ts",
            "react",
        } == imports(hx, "src/cart/index.ts")
        assert {"src/cart/index.ts"} == imports(hx, "src/view.tsx")
        assert {"src/view.tsx"} == imports(hx, "src/lazy.js")
        assert {"packages/prices/src/list.ts", "packages/prices/src/tax.ts"} == imports(
            hx, "packages/prices/src/index.ts"
        )
        assert {"src/cart/index.ts:Cart.total"} == callers(hx, "PriceList.sum")
        assert {"src/cart/index.ts:Cart.total"} == callers(hx, "tax")
        assert {"src/view.tsx:Line"} == callers(hx, "Cart.total")
        assert {"src/view.tsx:View"} == callers(hx, "Saved.save")
        assert {"src/view.tsx:View"} == callers(hx, "Line")
        assert {"src/lazy.js:start", "src/view.spec.ts:view.spec.ts"} == callers(hx, "View")
        impact = [hit.node.path for hit in hx.graph.impact("src/store.ts").hits]
        assert {"src/cart/index.ts", "src/view.tsx", "src/view.spec.ts", "src/lazy.js"} == set(impact)
        assert "sk-not-to-be-kept" not in str(hx.graph.query("definition", "Cart.total").hits)


@NEEDS
@pytest.mark.row("A043", "A044")
def test_a_change_of_aliases_moves_the_imports_that_use_them(tmp_path):
    with indexed(tmp_path, WEB) as hx:
        (tmp_path / "other").mkdir()
        (tmp_path / "other/cart.ts").write_text(
            "export default class Cart {}\nexport const openCart = () => 1;\n"
        )
        (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"paths": {"@/*": ["other/*"]}}}')
        hx.graph.index()

        assert {"other/cart.ts"} == imports(hx, "src/view.tsx")


@NEEDS
@pytest.mark.row("A043", "A044")
def test_go_imports_lead_to_the_files_that_define_what_is_used(tmp_path):
    with indexed(tmp_path, GO) as hx:
        assert {"fmt", "internal/kept/prices.go"} == imports(hx, "main.go")
        assert {"main.go:main", "internal/kept/cart_test.go:TestTotal"} == callers(hx, "Cart.Total")
        assert {"internal/kept/cart.go:Cart.Total"} == callers(hx, "PriceList.Sum")
        assert {"internal/kept/cart.go:Cart.Total"} == callers(hx, "weigh")


@NEEDS
@pytest.mark.row("A043", "A044")
def test_rust_paths_lead_through_modules_and_what_they_give_on(tmp_path):
    with indexed(tmp_path, RUST) as hx:
        assert {"src/cart/weight.rs", "src/lib.rs", "src/prices.rs", "serde"} == imports(
            hx, "src/cart/mod.rs"
        )
        assert {"src/cart/mod.rs"} == imports(hx, "tests/total.rs")
        assert {"src/cart/mod.rs:Cart.total"} == callers(hx, "PriceList.sum")
        assert {"src/cart/mod.rs:Cart.total", "src/prices.rs:PriceList.sum"} == callers(hx, "rate")
        assert {"tests/total.rs:total"} == callers(hx, "Cart.total")


@NEEDS
@pytest.mark.row("A043", "A044")
def test_java_packages_are_searched_and_a_package_needs_no_import(tmp_path):
    prices = "src/main/java/org/shop/prices/"
    with indexed(tmp_path, JAVA) as hx:
        assert {f"{prices}PriceList.java", f"{prices}Rates.java", "java.util"} == imports(hx, "Cart.java")
        assert {"src/test/java/org/shop/CartTest.java:CartTest.total"} == callers(hx, "Cart.total")
        assert {"src/test/java/org/shop/CartTest.java:CartTest.total"} == callers(hx, "Saved.save")
        assert {"src/main/java/org/shop/Cart.java:Cart.total"} == callers(hx, "PriceList.sum")


@NEEDS
@pytest.mark.row("A043", "A044")
def test_c_and_cpp_calls_lead_to_the_definition_behind_the_header(tmp_path):
    with indexed(tmp_path, CPP) as hx:
        assert {"include/shop/cart.h", "vector"} == imports(hx, "src/cart.cpp")
        assert {"include/shop/prices.h"} == imports(hx, "include/shop/cart.h")
        assert {"src/list.h"} == imports(hx, "tests/list_test.c")
        assert {"tests/list_test.c:main"} == callers(hx, "list_depth")
        assert {"src/cart.cpp:shop.Cart.total"} == callers(hx, "weigh")
        assert {"src/cart.cpp:shop.Cart.total"} == callers(hx, "PriceList.sum")


@NEEDS
@pytest.mark.parametrize(
    ("files", "written", "meant"),
    [
        (GO, "kept.Open", "internal/kept/prices.go:Open"),
        (GO, "internal.kept.Cart.Total", "internal/kept/cart.go:Cart.Total"),
        (RUST, "Cart::total", "src/cart/mod.rs:Cart.total"),
        (RUST, "crate::cart::Cart::new", "src/cart/mod.rs:Cart.new"),
        (RUST, "shop_core::prices::rate", "src/prices.rs:rate"),
        (RUST, "super::weight::weigh()", "src/cart/weight.rs:weigh"),
        (JAVA, "org.shop.prices.PriceList.sum", "src/main/java/org/shop/prices/PriceList.java:PriceList.sum"),
        (JAVA, "org.shop.Saved", "src/main/java/org/shop/Saved.java:Saved"),
        (JAVA, "Saved#save", "src/main/java/org/shop/Saved.java:Saved.save"),
        (CPP, "shop::Cart::total", "src/cart.cpp:shop.Cart.total"),
        (WEB, "store.Saved", "src/store.ts:Saved"),
    ],
)
def test_a_symbol_is_taken_as_its_language_writes_it(tmp_path, files, written, meant):
    with indexed(tmp_path, files) as hx:
        answer = hx.graph.query("definition", written)

    assert meant in {f"{hit.node.path}:{hit.node.name}" for hit in answer.hits}


@NEEDS
@pytest.mark.parametrize(
    "written", ["other::Cart::total", "org.Cart.total", "::", "Cart::", "crate::nothing"]
)
def test_a_symbol_that_stands_elsewhere_is_not_meant(tmp_path, written):
    with indexed(tmp_path, RUST) as hx, pytest.raises(hexad.errors.NotFound):
        hx.graph.query("definition", written)


@NEEDS
@pytest.mark.parametrize(
    ("files", "changed", "touched"),
    [
        (JAVA, "Saved.java", {"src/main/java/org/shop/Cart.java", "src/test/java/org/shop/CartTest.java"}),
        (GO, "internal/kept/cart.go", {"internal/kept/cart_test.go", "internal/kept/prices.go", "main.go"}),
        (CPP, "src/prices.cpp", {"src/cart.cpp"}),
    ],
)
def test_a_change_of_a_file_touches_who_uses_it_without_an_import(tmp_path, files, changed, touched):
    with indexed(tmp_path, files) as hx:
        answer = hx.graph.query("impact", changed)
        dependents = hx.graph.query("dependents", changed)

    assert touched == {hit.node.path for hit in answer.hits}
    assert any("without an import" in note for note in dependents.notes)


@NEEDS
def test_a_path_leads_through_what_stands_in_a_file_that_nobody_imports(tmp_path):
    with indexed(tmp_path, JAVA) as hx:
        steps = hx.graph.query("path", "CartTest.java", to="Saved.java").hits

    assert "src/main/java/org/shop/Saved.java" == steps[-1].node.path


KINDS = {
    "shapes.py": "class Shape: ...\n\n\nclass Square(Shape):\n    def grow(self) -> Shape: ...\n\n\nclass Cube(Square): ...\n\n\n"
    "class Pile(list[Shape]):\n    first: Shape\n\n\ndef draw(shape: Shape): ...\n",
    "Box.java": "public class Box extends Crate implements Lid, Handle<Crate> {\n    Other other;\n}\n\nclass Crate {}\n\n"
    "interface Lid {}\n\ninterface Handle<T> {}\n\nclass Other {}\n",
    "view.ts": "export class View {}\nexport class List extends View implements Open {}\ninterface Open {}\n",
    "Cargo.toml": '[package]\nname = "kinds"\nversion = "0.1.0"\n',
    "src/lib.rs": "pub trait Priced { fn price(&self) -> u32; }\n\npub struct Item { n: u32 }\n\nimpl Priced for Item {\n"
    "    fn price(&self) -> u32 { self.n }\n}\n\npub struct Shelf { items: Vec<Box<dyn Priced>> }\n",
    "tree.hpp": "class Node {};\nclass Leaf : public Node {};\n",
}


@NEEDS
@pytest.mark.parametrize(
    ("base", "extending"),
    [
        ("Shape", {"Square"}),
        ("Crate", {"Box"}),
        ("Lid", {"Box"}),
        ("Other", set()),
        ("View", {"List"}),
        ("Open", {"List"}),
        ("Priced", {"Item"}),
        ("Node", {"Leaf"}),
    ],
)
def test_subclasses_are_what_states_that_it_extends_or_implements_something(tmp_path, base, extending):
    with indexed(tmp_path, KINDS) as hx:
        hits = hx.graph.query("subclasses", base).hits

    assert extending == {hit.node.name for hit in hits}
    assert {"extended by"} >= {hit.relation for hit in hits}


def test_subclasses_of_subclasses_are_found_with_more_depth_and_in_plain_words(tmp_path):
    with indexed(tmp_path, KINDS) as hx:
        far = hx.graph.query("subclasses", "Shape", depth=2).hits
        items = hx.context("what are the subclasses of Shape?", layers=["graph"], wait=True)

    assert [("Square", 1), ("Cube", 2)] == [(hit.node.name, hit.distance) for hit in far]
    assert any("class Square(Shape) extends" in block.text for block in items.evidence_blocks)


@NEEDS
@pytest.mark.row("A043")
def test_a_broken_file_gives_what_can_be_read_of_it(tmp_path):
    with indexed(
        tmp_path,
        {
            "a.ts": "import { b } from './b';\n\nfunction c( {\n\nexport function d() {\n  b();\n}\n",
            "b.ts": "export function b() {}\n",
        },
    ) as hx:
        assert {"b.ts"} == imports(hx, "a.ts")
        assert ("a.ts", "line 3 does not parse") in hx.graph.show().problems


@NEEDS
@pytest.mark.row("A043", "A044")
def test_super_leads_out_of_a_module_in_the_file_before_it_leads_out_of_the_file(tmp_path):
    weight = (
        "use super::Cart;\n\npub fn weigh(_cart: &Cart) -> f64 {\n    1.0\n}\n\n#[cfg(test)]\nmod tests {\n"
        "    use super::*;\n\n    #[test]\n    fn light() {\n        super::weigh(&super::super::open());\n        self::heavy();\n    }\n\n"
        "    fn heavy() {}\n}\n"
    )
    rates = "pub fn rate() -> f64 {\n    1.2\n}\n\nmod tests {\n    use super::rate;\n\n    fn one() {\n        rate();\n    }\n}\n"
    cart = RUST["src/cart/mod.rs"] + "\npub fn open() -> Cart {\n    Cart::new()\n}\n"
    files = {**RUST, "src/cart/weight.rs": weight, "src/prices/rates.rs": rates, "src/cart/mod.rs": cart}
    files["src/prices.rs"] = "mod rates;\n" + RUST["src/prices.rs"]
    with indexed(tmp_path, files) as hx:
        assert set() == imports(hx, "src/prices/rates.rs")
        assert {"src/cart/mod.rs"} == imports(hx, "src/cart/weight.rs")
        assert {"src/cart/weight.rs:tests.light"} == callers(hx, "open")
        assert {"src/cart/weight.rs:tests.light"} == callers(hx, "heavy")
        assert {"src/cart/mod.rs:Cart.total", "src/cart/weight.rs:tests.light"} == callers(hx, "weigh")
        assert {"src/prices/rates.rs:tests.one"} == {each for each in callers(hx, "rate") if "rates" in each}


@NEEDS
@pytest.mark.row("A049")
def test_a_class_is_extended_under_the_name_that_it_is_exported_as(tmp_path):
    files = {
        "base.ts": "class App {\n  run(): void {}\n}\n\nexport { App as AppBase };\nexport default class Door {}\n",
        "app.ts": "import Gate, { AppBase } from './base';\n\nexport class App extends AppBase {}\nexport class Port extends Gate {}\n",
    }
    with indexed(tmp_path, files) as hx:
        for base, extending in (("base.ts::App", "App"), ("Door", "Port")):
            hits = hx.graph.query("subclasses", base).hits
            assert [("app.ts", extending)] == [(hit.node.path, hit.node.name) for hit in hits]
        (target,) = hx.graph.query("callers", "app.ts::App.run").targets
        assert "code:base.ts::App.run" == target.id


@NEEDS
@pytest.mark.row("A044")
def test_what_a_module_inside_of_a_file_gives_on_is_followed(tmp_path):
    files = {
        **RUST,
        "src/lib.rs": RUST["src/lib.rs"] + "\npub mod prelude {\n    pub use crate::cart::Cart;\n}\n",
        "tests/total.rs": "use shop_core::prelude::Cart;\n\n#[test]\nfn total() {\n    Cart::new().total();\n}\n",
        "tests/all.rs": "use shop_core::prelude::*;\n\n#[test]\nfn all() {\n    Cart::new().total();\n}\n",
    }
    with indexed(tmp_path, files) as hx:
        assert {"tests/total.rs:total", "tests/all.rs:all"} == callers(hx, "Cart.total")


MOVED = {
    "Cargo.toml": RUST["Cargo.toml"],
    "src/lib.rs": '#[cfg_attr(unix, path = "sys/unix.rs")]\n#[cfg_attr(windows, path = "sys/windows.rs")]\nmod sys;\n\n// as others know it\n#[path = "store_v2.rs"]\npub mod store;\n\nmod outer {\n    #[path = "deep.rs"]\n    mod inner;\n}\n\npub fn limit() -> u32 {\n    1\n}\n\npub fn start() {\n    sys::open();\n}\n',
    "src/sys/unix.rs": "mod socket;\n\npub fn open() -> u32 {\n    super::limit()\n}\n",
    "src/sys/windows.rs": "pub fn open() -> u32 {\n    0\n}\n",
    "src/sys/socket.rs": "pub fn bind() -> u32 {\n    super::open()\n}\n",
    "src/store_v2.rs": "pub fn save() {}\n",
    "src/outer/deep.rs": "pub fn sink() {}\n",
    "src/user.rs": "use crate::store;\n\npub fn keep() {\n    store::save();\n    crate::store::save();\n}\n",
}


@NEEDS
@pytest.mark.row("A043", "A044")
def test_a_module_of_rust_is_in_the_file_that_its_attribute_names(tmp_path):
    with indexed(tmp_path, MOVED) as hx:
        files = {"src/sys/unix.rs", "src/sys/windows.rs", "src/store_v2.rs", "src/outer/deep.rs"}
        assert files == imports(hx, "src/lib.rs")
        assert {"src/lib.rs:start", "src/sys/socket.rs:bind"} == callers(hx, "src/sys/unix.rs::open")
        assert {"src/sys/unix.rs:open"} == callers(hx, "limit")
        assert {"src/user.rs:keep"} == callers(hx, "save")
        assert {"src/sys/socket.rs", "src/lib.rs"} == imports(hx, "src/sys/unix.rs")


@NEEDS
@pytest.mark.row("A043")
def test_an_attribute_for_a_tool_of_rust_is_no_library(tmp_path):
    text = "#[rustfmt::skip]\n#[tokio::main]\nasync fn main() {\n    std::mem::drop(1);\n}\n"
    with indexed(tmp_path, {"Cargo.toml": RUST["Cargo.toml"], "src/main.rs": text}) as hx:
        assert {"tokio", "std"} == imports(hx, "src/main.rs")


@NEEDS
@pytest.mark.row("A045")
def test_a_module_of_rust_that_is_moved_by_an_attribute_is_followed(tmp_path):
    before = MOVED["src/lib.rs"].replace('#[path = "store_v2.rs"]\n', "")
    with indexed(tmp_path, {**MOVED, "src/lib.rs": before}) as hx:
        assert set() == callers(hx, "save")
        (tmp_path / "src/lib.rs").write_text(MOVED["src/lib.rs"])
        hx.graph.index()
        assert {"src/user.rs:keep"} == callers(hx, "save")


@NEEDS
@pytest.mark.row("A044")
def test_a_constant_of_an_enum_of_java_with_a_body_is_a_class_of_its_own(tmp_path):
    files = {
        "org/shop/Op.java": "package org.shop;\n\npublic enum Op implements Step {\n    PLUS {\n        @Override\n        public int apply(int a) {\n            return this.twice(a) + add(a) + skip();\n        }\n\n        private int add(int a) {\n            return a;\n        }\n    },\n    MINUS;\n\n    public int apply(int a) {\n        return a;\n    }\n\n    int twice(int a) {\n        return 2 * a;\n    }\n}\n",
        "org/shop/Step.java": "package org.shop;\n\npublic interface Step {\n    default int skip() {\n        return 0;\n    }\n}\n",
        "org/shop/Run.java": "package org.shop;\n\nclass Run {\n    int all() {\n        return Op.PLUS.apply(1) + Op.MINUS.twice(2);\n    }\n}\n",
    }
    with indexed(tmp_path, files) as hx:
        plus, run = "org/shop/Op.java:Op.PLUS.apply", "org/shop/Run.java:Run.all"
        assert {run} == callers(hx, "Op.PLUS.apply")
        assert {plus, run} == callers(hx, "Op.twice")
        assert {plus} == callers(hx, "Op.PLUS.add")
        assert {plus} == callers(hx, "Step.skip")
        (defined,) = hx.graph.query("definition", "Op.PLUS.apply").hits
        assert ("method", 5, 8) == (defined.node.kind, defined.node.line, defined.node.end_line)


@NEEDS
@pytest.mark.row("A043", "A044")
def test_crates_are_called_by_paths_without_a_use_and_by_the_names_that_manifests_give_them(tmp_path):
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["core", "app"]\n\n[workspace.dependencies]\nbase = {path = "core", package = "shop-core"}\n',
        "core/Cargo.toml": '[package]\nname = "shop-core"\nversion = "0.1.0"\n\n[lib]\nname = "shop"\n',
        "core/src/lib.rs": "pub mod cart;\n",
        "core/src/cart.rs": "pub struct Cart;\n\nimpl Cart {\n    pub fn new() -> Self {\n        Cart\n    }\n}\n\npub fn open() -> Cart {\n    Cart::new()\n}\n",
        "app/Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\n\n[dependencies]\nbase.workspace = true\n\n[dev-dependencies]\nold = {path = "../core", package = "shop-core"}\n',
        "app/src/lib.rs": "pub fn run() -> u32 {\n    base::cart::open();\n    std::mem::drop(u32::from(true));\n    u32::MAX\n}\n",
        "app/src/bin/tool.rs": "fn main() {\n    app::run();\n    shop::cart::Cart::new();\n}\n",
        "app/tests/all.rs": "use old::cart::open;\n\n#[test]\nfn all() {\n    open();\n}\n",
    }
    with indexed(tmp_path, files) as hx:
        assert {"core/src/cart.rs", "std"} == imports(hx, "app/src/lib.rs")
        assert {"app/src/lib.rs", "core/src/cart.rs"} == imports(hx, "app/src/bin/tool.rs")
        assert {"core/src/cart.rs"} == imports(hx, "app/tests/all.rs")
        assert {"app/src/lib.rs:run", "app/tests/all.rs:all"} == callers(hx, "open")
        assert {"app/src/bin/tool.rs:main"} == callers(hx, "run")
        assert {"core/src/cart.rs:open", "app/src/bin/tool.rs:main"} == callers(hx, "Cart.new")


SOUND = {
    "java": "class X { int f() { return 1; } }\n",
    "typescript": "function f(a: number) { return 1; }\n",
    "rust": "fn f(a: u8) -> u8 { 1 }\n",
    "c": "int f(int a) { return 1; }\n",
}
DEEP = {
    "members": ("java", "class A { int x = a", ".f", "", ";}"),
    "calls": ("java", "class A { int x = a", ".f()", "", ";}"),
    "sums": ("java", "class A { int x = 1", "+a", "", ";}"),
    "comments": ("java", "", "//a\n", "", "class A { }"),
    "classes": ("java", "", "class A{", "}", ""),
    "classes in functions": ("java", "class A{ void f(){", "new A(){void g(){Object x=", "1;}};", "}}"),
    "functions": ("typescript", "", "function g(){", "}", ""),
    "modules": ("rust", "", "mod a{ use super::b; ", "}", ""),
    "lists": ("rust", "use a::", "{b::", "}", ";"),
    "attributes": ("rust", "", "#[a]\n", "", "mod b;"),
    "branches": ("c", "", '#if A\n#include "a.h"\n', "#endif\n", ""),
}


@NEEDS
@pytest.mark.parametrize("name", DEEP)
def test_what_is_deep_in_one_another_takes_time_that_grows_with_the_text(name):
    language, before, opened, closed, after = DEEP[name]
    sound = SOUND[language] * (2_100 // len(SOUND[language]) + 1)  # what begins like this is taken for code

    def seconds(times: int) -> float:
        text = f"{sound}{before}{opened * times}{closed * times}{after}\n"
        shortest = 1e9
        for _ in range(3):
            started = time.thread_time()
            read_syntax(text, language)
            syntax.syntax_definitions(text, language)
            shortest = min(shortest, time.thread_time() - started)
        return shortest

    short = max(1_000, 12_000 // len(opened))
    assert seconds(8 * short) < max(20 * seconds(short), 0.05)


@NEEDS
def test_an_import_of_rust_in_a_thousand_lists_is_read_as_far_as_it_can_be():
    lists = "use std::io;\nuse a::" + "{b::" * 3_000 + "c" + "}" * 3_000 + ";\n"
    facts = read_syntax(SOUND["rust"] * 100 + lists, "rust")
    assert {"std"} == {imported.module for imported in facts.imports}


@NEEDS
@pytest.mark.row("A043")
@pytest.mark.parametrize(
    ("before", "after", "confidence"),
    [
        ("", "", 1.0),
        ("#ifndef MAIN_H\n#define MAIN_H\n", "#endif\n", 1.0),
        ("#if !defined(MAIN_H)\n/* once */\n#define MAIN_H\n", "#endif\n", 1.0),
        ("#ifdef _WIN32\n", "#endif\n", 0.7),
        ("#ifndef MAIN_H\n#define MAIN_H\n#if A > 1\n#else\n", "#endif\n#endif\n", 0.7),
        ("#ifndef NO_PORT\n#define PORT 1\n", "#endif\n", 0.7),
        ('#ifdef _WIN32\n#include "port.h"\n#endif\n', "", 1.0),
    ],
)
def test_an_include_in_a_branch_of_a_condition_is_less_sure(tmp_path, before, after, confidence):
    files = {
        "port.h": "int port(void);\n",
        "main.c": f'{before}#include "port.h"\n{after}int main(void) {{ return port(); }}\n',
    }
    with indexed(tmp_path, files) as hx:
        (hit,) = hx.graph.query("dependencies", "main.c").hits

    assert ("port.h", confidence) == (hit.node.path, hit.confidence)


@NEEDS
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.go", "package a\n\ntype A interface {\n\tRun() error\n}\n"),
        ("a.c", "int a(void);\n#define LIMIT 3\n"),
        ("a.rs", "fn a() {}\n// the end\n"),
    ],
)
def test_the_last_line_of_a_file_is_whole(tmp_path, name, text):
    with indexed(tmp_path, {name: text}) as hx:
        assert () == hx.graph.show().problems


@NEEDS
@pytest.mark.row("A044")
def test_a_function_may_be_called_like_a_method_that_gives_what_it_is_called_on(tmp_path):
    text = "export function clone() {\n  return { a: 1 };\n}\n\nexport function b() {\n  clone().toJson(clone());\n}\n"
    with indexed(tmp_path, {"a.ts": text}) as hx:
        assert {"a.ts:b"} == callers(hx, "clone")


@NEEDS
@pytest.mark.row("A043", "A044")
def test_an_ingest_and_a_look_at_the_folder_make_the_same_graph(tmp_path):
    (tmp_path / "looked").mkdir()
    (tmp_path / "ingested").mkdir()
    with (
        indexed(tmp_path / "looked", WEB) as looked,
        hexad.open(tmp_path / "ingested", embedder=None) as ingested,
    ):
        for name, text in WEB.items():
            path = tmp_path / "ingested" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        ingested.ingest(tmp_path / "ingested")

        edges = {**ingested.graph.show().edges, "belongs_to": 21}  # slices are found by an index alone
        assert edges == looked.graph.show().edges
        assert looked.graph.show().languages == ingested.graph.show().languages


def test_without_the_extra_a_graph_says_what_it_did_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(languages, "is_readable", lambda _language: False)
    for name, text in {**WEB, "a.py": "def a(): ...\n"}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        report = hx.graph.index()

        assert (1, {"typescript": 7, "javascript": 1}) == (report.files, report.unread)
        with pytest.raises(hexad.NotFound, match=r"extra `code`"):
            hx.graph.query("dependents", "src/store.ts")
