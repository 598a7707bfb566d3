"""The benchmarks about code: a package is embedded once for all its questions, and what is not installed is named."""

from __future__ import annotations

import importlib
import importlib.util
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hexad.testing import HashEmbedder

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    return lambda name: importlib.import_module(f"benchmarks.{name}")


class Counting:
    """An embedder that counts how often it was given each text."""

    def __init__(self) -> None:
        self._model = HashEmbedder()
        self.name, self.dimensions = self._model.name, self._model.dimensions
        self.given: Counter[str] = Counter()

    def embed(self, texts: Sequence[str]) -> Any:
        self.given.update(texts)
        return np.asarray(self._model.embed(texts))

    def embed_query(self, text: str) -> Any:
        return np.asarray(self._model.embed([text]))[0]

    def save(self) -> None:
        """Nothing is kept."""


def test_a_package_is_embedded_once_for_the_questions_of_both_halves(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions, report = bench("package_questions"), bench("report")
    package = tmp_path / "packages" / "shop-1.0"
    package.mkdir(parents=True)
    (package / "cart.py").write_text(
        'def total(lines):\n    """Add the prices of a cart."""\n    return sum(lines)\n', encoding="utf-8"
    )
    asked = {
        "development": [
            {"package": "shop-1.0", "question": "add the prices of a cart", "answers": ["cart.py::total"]}
        ],
        "unseen": [{"package": "shop-1.0", "question": "total of lines", "answers": ["cart.py::total"]}],
    }
    embedder = Counting()
    monkeypatch.setenv("PACKAGES_FOLDER", str(package.parent))
    monkeypatch.setattr(questions, "records", lambda _, half: asked[half])
    monkeypatch.setattr(questions, "RememberedVectors", lambda *, keep: embedder)

    found = questions.run(report.Options(data=None, work=tmp_path / "work"))

    assert [1, 1] == [figure.value for figure in found.figures if figure.name.endswith(": first")]
    assert [] == [text for text, times in embedder.given.items() if times > 1]
    assert any("Add the prices" in text for text in embedder.given)


def test_the_code_graph_names_each_package_that_is_not_installed(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code_graph, report = bench("code_graph"), bench("report")
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text("import shop.cart\n", encoding="utf-8")
    (package / "cart.py").write_text("def total(lines):\n    return sum(lines)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(code_graph, "PACKAGES", ("shop", "no_such_package"))
    monkeypatch.setattr(
        code_graph, "find_spec", lambda name: None if name == "grimp" else importlib.util.find_spec(name)
    )
    monkeypatch.setattr(code_graph, "in_child", lambda function, *given: function(*given))

    found = code_graph.run(report.Options(data=None, work=tmp_path / "work"))

    assert ["shop"] == [row[0] for row in found.tables[0].rows]
    assert [
        "`no_such_package` is not installed: it is not measured.",
        "`grimp` is not installed: no import edges are compared.",
        "No copies of the largest package: `--files 10000` indexes so many files.",
    ] == found.notes

    many = code_graph.run(report.Options(data=None, work=tmp_path / "more", files=6))

    assert ["shop", "copies of shop up to 6 files"] == [row[0] for row in many.tables[0].rows]
    assert 6 == many.tables[0].rows[1][1]
