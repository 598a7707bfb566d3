"""The engine of the stream's files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hexad.experience.stream import duckdb_engine
from hexad.experience.stream.duckdb_engine import DuckDbEngine

MARK = Path("mark")


@pytest.fixture
def engine() -> Iterator[DuckDbEngine]:
    engine = DuckDbEngine()
    yield engine
    engine.close()


def is_marked(engine: DuckDbEngine) -> bool:
    """Return whether DuckDB is still the one that was marked; it is from now on."""
    with engine.cursor(MARK) as cursor:
        marks = cursor.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'mark'").fetchone()
        cursor.execute("CREATE TABLE IF NOT EXISTS mark(a INTEGER)")
    return marks == (1,)


def test_duckdb_is_opened_anew_after_so_many_cursors(
    engine: DuckDbEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb_engine, "CURSORS_MOST", 3, raising=False)

    assert [False, True, True, False, True, True, False] == [is_marked(engine) for _ in range(7)]


def test_duckdb_stays_open_while_a_cursor_is_used(
    engine: DuckDbEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb_engine, "CURSORS_MOST", 3, raising=False)
    is_marked(engine)

    with engine.cursor(MARK) as cursor:
        assert [True] * 4 == [is_marked(engine) for _ in range(4)]
        assert (0,) == cursor.execute("SELECT count(*) FROM mark").fetchone()

    assert not is_marked(engine)
