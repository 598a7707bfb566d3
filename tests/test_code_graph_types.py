"""What a value is in Java and C++: the type that is declared, what a call returns, and names in namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexad import Hexad
from hexad.ingest.sources.formats import syntax

pytestmark = pytest.mark.skipif(not syntax.is_readable("java"), reason="the extra `code` is not installed")

JAVA = {
    "Q.java": "class Q {\n    static Q of() { return new Q(); }\n    void n() {}\n}\n",
    "Sub.java": "class Sub extends Q {\n    void own() {}\n}\n",
    "R.java": "class R {\n    static <T> T make() { return null; }\n    static Q plain() { return null; }\n    Q here() { return null; }\n}\n",
}
NA = {
    "na.hpp": "#pragma once\nnamespace na {\nint one();\nnamespace deep { int two(); }\n}\n",
    "impl.cpp": '#include "na.hpp"\nnamespace na {\nint one() { return 1; }\nnamespace deep { int two() { return 2; } }\n}\n',
    "main.cpp": '#include "na.hpp"\nint start() { return na::one() + na::deep::two(); }\n',
}
BOX = {
    "box.hpp": "#pragma once\nnamespace box {\nclass Box {\n public:\n  int size() const;\n};\nBox make();\nint lid();\n}\n",
    "box.cpp": '#include "box.hpp"\nnamespace box {\nint Box::size() const { return 1; }\nBox make() { return Box(); }\nint lid() { return 1; }\n}\n',
}


def callers(hx: Hexad, folder: Path, files: dict[str, str], symbol: str) -> list[str]:
    for name, text in files.items():
        (folder / name).write_text(text)
    hx.graph.index()
    return [hit.node.name for hit in hx.graph.query("callers", symbol).hits if hit.confidence > 0.4]


@pytest.mark.parametrize(
    "value",
    ["Q v = Q.of();", "Q v = R.make();", "Q v = new R().here();", "Q v = null;", "Q v = new Q();", "Q v = unknown();",
     "var v = Q.of();", "var v = R.plain();", "var v = new R().here();"],
)  # fmt: skip
def test_a_local_of_java_is_of_the_type_that_is_declared_or_returned(hx, project, value):
    use = f"class Use {{\n    void run() {{\n        {value}\n        v.n();\n    }}\n}}\n"

    assert ["Use.run"] == callers(hx, project, {**JAVA, "Use.java": use}, "Q.n")


def test_a_local_that_is_made_of_a_class_is_of_that_one_where_another_is_declared(hx, project):
    use = "class Use {\n    void run() {\n        Q v = new Sub();\n        v.own();\n        v.n();\n    }\n}\n"
    files = {**JAVA, "Use.java": use}

    assert ["Use.run"] == callers(hx, project, files, "Sub.own")
    assert ["Use.run"] == callers(hx, project, files, "Q.n")


@pytest.mark.parametrize("use", [
    "int two() { box::Box c = box::make(); return c.size(); }",
    "int two() { auto c = box::make(); return c.size(); }",
    "int two() { box::Box c = unknown(); return c.size(); }",
    "int two() { box::Box c; return c.size(); }",
    "int two(const box::Box& c) { return c.size(); }",
    "int two(box::Box* c) { return c->size(); }",
])  # fmt: skip
@pytest.mark.parametrize("stem", ["box", "store"])
def test_a_value_of_cpp_is_of_a_class_in_a_namespace(hx, project, use, stem):
    files = {name.replace("box", stem): text.replace("box.hpp", f"{stem}.hpp") for name, text in BOX.items()}
    main = f'#include "{stem}.hpp"\n{use}\n'

    assert ["two"] == callers(hx, project, {**files, "main.cpp": main}, "Box.size")


def test_a_function_in_a_namespace_is_called_where_its_declaration_is_included(hx, project):
    assert ["start"] == callers(hx, project, NA, "one")
    assert ["start"] == callers(hx, project, NA, "two")


def test_a_function_of_another_namespace_is_not_meant(hx, project):
    other = '#include "na.hpp"\nnamespace nb {\nint one() { return 3; }\n}\n'
    files = {**NA, "other.cpp": other, "third.cpp": '#include "na.hpp"\nint third() { return nb::one(); }\n'}

    assert ["start"] == callers(hx, project, files, "na::one")
    assert ["third"] == callers(hx, project, files, "nb::one")


def test_a_function_in_a_namespace_that_is_called_like_its_file_is_called(hx, project):
    main = '#include "box.hpp"\nint start() { return box::lid(); }\n'

    assert ["start"] == callers(hx, project, {**BOX, "main.cpp": main}, "lid")
