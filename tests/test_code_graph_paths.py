"""Ways through the code graph that lead into what stands in a file, a class or the root."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexad import Hexad
from hexad.ingest.sources.formats import syntax

NEEDS = pytest.mark.skipif(not syntax.is_readable("typescript"), reason="the extra `code` is not installed")

PK = {
    "pk/__init__.py": "",
    "pk/u.py": "def deep():\n    return 1\n\n\ndef lone():\n    return 2\n",
    "pk/v.py": "from pk import u\n\n\ndef go():\n    return u.deep()\n\n\ndef idle():\n    return 0\n",
    "pk/w.py": "from pk.u import deep\n\n\nclass Cart:\n    def size(self):\n        return deep()\n\n\nclass Bag(Cart):\n    pass\n",
    "pk/x.py": "import pk.w\n\n\ndef other():\n    return 3\n",
}
TS = {
    "src/u.ts": "export function deep(): number {\n  return 1;\n}\n",
    "src/v.ts": "import { deep } from './u';\n\nexport function go(): number {\n  return deep();\n}\n",
    "src/w.ts": "import * as u from './u';\n\nexport function run(): number {\n  return u.deep();\n}\n",
}


def indexed(hx: Hexad, folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    hx.graph.index()


def steps(hx: Hexad, start: str, to: str) -> list[tuple[str, str, str]]:
    hits = hx.graph.query("path", start, to=to).hits
    return [((hit.via or "").partition(":")[0], hit.relation, hit.node.id) for hit in hits]


@pytest.mark.parametrize(
    ("start", "to", "expected"),
    [
        ("pk/v.py", "deep", [("pk/v.py", "calls", "code:pk/u.py::deep")]),
        ("pk/w.py", "pk/u.py::deep", [("pk/w.py", "references", "code:pk/u.py::deep")]),
        ("Cart", "deep", [("pk/w.py", "calls", "code:pk/u.py::deep")]),
        ("pk/u.py", "lone", [("pk/u.py", "holds", "code:pk/u.py::lone")]),
        ("pk/w.py", "Cart.size", [
            ("pk/w.py", "holds", "code:pk/w.py::Cart"), ("pk/w.py", "holds", "code:pk/w.py::Cart.size"),
        ]),
        ("pk/v.py", "lone", [
            ("pk/v.py", "imports", "code:pk/u.py"), ("pk/u.py", "holds", "code:pk/u.py::lone"),
        ]),
    ],
)  # fmt: skip
def test_a_path_leads_from_a_file_or_a_class_to_what_is_used_in_it(hx, project, start, to, expected):
    indexed(hx, project, PK)

    assert expected == steps(hx, start, to)
    assert () == hx.graph.query("path", start, to=to).notes


@pytest.mark.parametrize(("start", "to"), [("idle", "deep"), ("go", "idle"), ("other", "Cart.size")])
def test_a_path_does_not_lead_out_of_a_function_into_what_stands_beside_it(hx, project, start, to):
    indexed(hx, project, PK)

    answer = hx.graph.query("path", start, to=to)

    assert () == answer.hits
    assert "Nothing leads from" in answer.notes[0]


@NEEDS
@pytest.mark.parametrize("start", ["src/v.ts", "src/w.ts"])
def test_a_path_leads_from_a_file_of_typescript_to_what_a_function_in_it_calls(hx, project, start):
    indexed(hx, project, TS)

    assert ("calls" if start == "src/w.ts" else "references", "code:src/u.ts::deep") == steps(
        hx, start, "deep"
    )[0][1:]
    assert [] == [note for note in hx.graph.query("path", start, to="deep").notes if "none" in note]


def test_a_path_from_a_file_to_a_symbol_is_recalled(hx, project):
    indexed(hx, project, PK)

    hits = hx.recall("path from pk/v.py to deep", layers=["graph"])

    assert "pk/u.py" in hits[0].text and "deep" in hits[0].text


def test_a_neighbourhood_has_what_it_stands_in(hx, project):
    indexed(hx, project, PK)

    hits = hx.graph.query("neighbourhood", "Cart.size").hits

    assert [("belongs_to", "Cart"), ("calls", "deep")] == [(hit.relation, hit.node.name) for hit in hits]


@pytest.mark.parametrize("absolute", [False, True])
def test_the_root_is_a_folder_like_others(hx, project, absolute):
    indexed(hx, project, {**PK, "top.py": "import requests\n"})

    answer = hx.graph.query("dependencies", str(project) if absolute else ".")

    assert {*PK, "top.py"} == {node.path for node in answer.targets}
    assert ["library:requests"] == [hit.node.id.removeprefix("code:") for hit in answer.hits]
