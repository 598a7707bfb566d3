from __future__ import annotations

import doctest
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
PAGES = [
    page
    for page in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    if ">>>" in page.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run_as_they_are_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    failed, tried = doctest.testfile(str(page), module_relative=False)

    assert (0, True) == (failed, tried > 0)


def test_some_page_has_examples():
    assert PAGES
