"""What the command line says: in its own words, with what helps next."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from hexad.interfaces.cli.main import main


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEXAD_EMBEDDER", "none")

    def call(*args: str) -> Ran:
        code = main(list(args))
        out, err = capsys.readouterr()
        return Ran(code=code, out=out, err=err)

    return call


def test_init_gives_a_store_its_settings_later(run, tmp_path):
    run("remember", "Deploys happen on Tuesday.")

    late = run("init")

    assert (0, True, True) == (late.code, "Wrote" in late.out, (tmp_path / ".hexad" / "hexad.toml").exists())
    assert 4 == run("init").code


def test_doctor_names_an_ordering_that_is_none(run, monkeypatch):
    run("init")
    assert "memory_backend" not in run("doctor").out
    monkeypatch.setenv("HEXAD_MEMORY_BACKEND", "foo")

    found = run("doctor")

    assert "memory_backend = 'foo'" in " ".join(found.out.split())
    assert 0 == found.code
