"""A plugin of pytest: the tests of Anthropic's tool for local files, over `HexadMemoryTool`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anthropic.lib.tools._beta_builtin_memory_tool as builtin
import anyio
import pytest

import hexad
from hexad import Hexad
from hexad.integrations.anthropic import AsyncHexadMemoryTool, HexadMemoryTool
from hexad.integrations.memory_files import _text

_STORES: dict[str, Hexad] = {}
"""The open store in the place of each folder."""


def _opened(base_path: str) -> Hexad:
    return _STORES.setdefault(base_path, hexad.open(":memory:", embedder=None, background=False))


def _folder(base_path: str) -> Path:
    """Return an empty folder: tests ask whether it is there; no file of the tool is in it."""
    folder = Path(base_path) / "memories"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class _Tool(HexadMemoryTool):
    def __init__(self, base_path: str) -> None:
        super().__init__(_opened(base_path))
        self.base_path, self.memory_root = base_path, _folder(base_path)


class _AsyncTool(AsyncHexadMemoryTool):
    def __init__(self, base_path: str) -> None:
        super().__init__(_opened(base_path))
        self.base_path, self.memory_root = base_path, anyio.Path(_folder(base_path))


builtin.BetaLocalFilesystemMemoryTool = _Tool  # type: ignore[misc, assignment]
builtin.BetaAsyncLocalFilesystemMemoryTool = _AsyncTool  # type: ignore[misc, assignment]


def _snapshot(base_path: str) -> dict[str, str]:
    """Return the files, read from the store in the place of the disk."""
    return {memory.path: _text(memory) for memory in _STORES[base_path].memories(limit=1000)}


@pytest.fixture(autouse=True)
def _files_of_the_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(request.module, "get_directory_snapshot", _snapshot, raising=False)
    yield
    while _STORES:
        _STORES.popitem()[1].close()
