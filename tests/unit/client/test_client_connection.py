from __future__ import annotations

import asyncio
import sys

import pytest

import hexad


def test_a_connection_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)

    with pytest.raises(hexad.HexadError, match=r"'httpx2'.*pip install 'hexad\[client\]'"):
        hexad.connect("http://127.0.0.1:8765", token="t")


def test_an_awaited_connection_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)

    async def connect() -> None:
        async with hexad.aconnect("http://127.0.0.1:8765", token="t"):
            pass

    with pytest.raises(hexad.HexadError, match=r"'httpx2'.*pip install 'hexad\[client\]'"):
        asyncio.run(connect())
