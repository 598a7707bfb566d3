"""The examples in docstrings run as they are shown."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
SOURCE = REPOSITORY / "src"


def _name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = sorted(_name(path) for path in SOURCE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run_as_they_are_shown(name, monkeypatch):
    monkeypatch.chdir(REPOSITORY)

    failed, tried = doctest.testmod(importlib.import_module(name))

    assert 0 == failed
    assert tried


def test_many_modules_have_examples():
    assert len(MODULES) > 30
