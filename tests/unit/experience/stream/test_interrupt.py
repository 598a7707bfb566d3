"""Who ends a question about the stream with Ctrl-C has ended it, and is told of no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexad.experience.stream.duckdb_engine import DuckDbEngine


def test_what_duckdb_says_of_an_interrupt_is_an_interrupt(tmp_path: Path) -> None:
    engine = DuckDbEngine()
    # When DuckDB looks whether somebody interrupts it depends on the plan; what it then raises does not.
    with pytest.raises(KeyboardInterrupt), engine.cursor(tmp_path):
        raise RuntimeError("Query interrupted")
    with pytest.raises(RuntimeError, match="another"), engine.cursor(tmp_path):
        raise RuntimeError("another")

    with engine.cursor(tmp_path) as cursor:
        assert [(1,)] == cursor.execute("SELECT 1").fetchall()
    engine.close()
