"""Who ends a question about the stream with Ctrl-C has ended it, and is told of no error."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from hexad.experience.stream.duckdb_engine import DuckDbEngine


def test_an_interrupt_while_duckdb_works_is_an_interrupt(tmp_path: Path) -> None:
    engine = DuckDbEngine()
    press = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), engine.cursor(tmp_path) as cursor:
        press.start()
        cursor.execute(
            "SELECT sum(a.range * b.range) FROM range(1000000000) a, range(1000000000) b"
        ).fetchall()

    with engine.cursor(tmp_path) as cursor:
        assert [(1,)] == cursor.execute("SELECT 1").fetchall()
    engine.close()
