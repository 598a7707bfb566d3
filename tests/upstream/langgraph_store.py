"""A plugin of pytest: the tests of LangGraph's store in SQLite, over `HexadStore`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import langgraph.store.sqlite as theirs

import hexad
from hexad.integrations.langgraph import HexadStore


class Store(HexadStore):
    """The adapter, made as LangGraph's own store is made; a store of its own each time, in a temporary folder."""

    __slots__ = ()

    @classmethod
    @contextmanager
    def from_conn_string(cls, _: str, *, index: Any = None, ttl: Any = None) -> Iterator[HexadStore]:
        index = index or {}
        embedder = index.get("embed")
        with hexad.open(":memory:", embedder=embedder and _embedding(embedder), background=False) as store:
            yield cls(store, fields=index.get("text_fields") or index.get("fields") or ("$",), ttl=ttl)

    def setup(self) -> None:
        """Nothing is to be set up."""


def _embedding(embedder: Any) -> Callable[[Sequence[str]], object]:
    return lambda texts: embedder.embed_documents([*texts])


theirs.SqliteStore = Store  # type: ignore[misc,assignment]
