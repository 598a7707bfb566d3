"""A plugin of pytest: the tests of CrewAI's memory, with `HexadStorage` in the place of `LanceDBStorage`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"

import crewai.memory.storage.lancedb_storage as lancedb
import pytest

import hexad
from hexad import Hexad
from hexad.integrations.crewai import HexadStorage

_OPENED: list[Hexad] = []


class _Storage(HexadStorage):
    def __init__(self, path: str | Path | None = None, **_settings: Any) -> None:
        where = Path(os.environ["CREWAI_STORAGE_DIR"]) / "memory" if path is None else path
        Path(where).mkdir(parents=True, exist_ok=True)
        _OPENED.append(hexad.open(where, embedder=None, background=False))
        super().__init__(_OPENED[-1])


lancedb.LanceDBStorage = _Storage


@pytest.fixture(autouse=True)
def _store_of_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path / "crewai"))
    yield
    while _OPENED:
        _OPENED.pop().close()
