"""LangChain's standard suites, run by `make frameworks`: their package brings plugins that other tests do without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import hexad
from hexad import Hexad
from hexad.providers.embedders.hashing import HashEmbedder

standard = pytest.importorskip(
    "langchain_tests.integration_tests", reason="langchain-tests is not installed; `make frameworks` does"
)

from hexad.integrations.langchain import HexadByteStore, HexadCache, HexadRetriever, HexadVectorStore  # noqa: E402


@pytest.fixture
def fresh() -> Iterator[Hexad]:
    with hexad.open(":memory:", embedder=HashEmbedder(), background=False) as hx:
        yield hx
        assert [] == hx.check()


class TestStandardVectorStore(standard.VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, fresh: Hexad) -> HexadVectorStore:
        return HexadVectorStore(fresh)


class TestStandardRetriever(standard.RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _filled(self, fresh: Hexad) -> None:
        for at in range(5):
            fresh.remember(f"Ferry number {at} leaves the harbour at {at} o'clock.")
        self._store = fresh

    @property
    def retriever_constructor(self) -> type[HexadRetriever]:
        return HexadRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"store": self._store}

    @property
    def retriever_query_example(self) -> str:
        return "when does the ferry leave the harbour?"


class TestStandardCache(standard.SyncCacheTestSuite):
    @pytest.fixture
    def cache(self, fresh: Hexad) -> HexadCache:
        return HexadCache(fresh)


class TestStandardCacheOfCoroutines(standard.AsyncCacheTestSuite):
    @pytest.fixture
    def cache(self, fresh: Hexad) -> HexadCache:
        return HexadCache(fresh)


class TestStandardByteStore(standard.BaseStoreSyncTests):
    @pytest.fixture
    def kv_store(self, fresh: Hexad) -> HexadByteStore:
        return HexadByteStore(fresh)

    @pytest.fixture
    def three_values(self) -> tuple[bytes, bytes, bytes]:
        return b"foo", b"\x00\xff", b""


class TestStandardByteStoreOfCoroutines(standard.BaseStoreAsyncTests):
    @pytest.fixture
    def kv_store(self, fresh: Hexad) -> HexadByteStore:
        return HexadByteStore(fresh)

    @pytest.fixture
    def three_values(self) -> tuple[bytes, bytes, bytes]:
        return b"foo", b"\x00\xff", b""
