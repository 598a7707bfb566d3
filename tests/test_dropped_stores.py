"""What an open store takes of the system, and what becomes of one that nobody closed."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.layers.router import parallel
from hexad.lifecycle.opening import CLOSING

THREADS_LIMIT = 6
STORES = 5
_TASKS, _HANDLES = Path("/proc/self/task"), Path("/proc/self/fd")

pytestmark = pytest.mark.skipif(not _TASKS.exists(), reason="counts threads and handles as Linux shows them")


def threads() -> int:
    return len(os.listdir(_TASKS))


def handles() -> list[str]:
    return [
        target
        for name in os.listdir(_HANDLES)
        if (target := _target(name)) is not None and target.startswith("/") and "/.hexad" in target
    ]


def _target(name: str) -> str | None:
    try:
        return os.readlink(_HANDLES / name)
    except FileNotFoundError:  # that of the listing itself
        return None


def settled(holds: Callable[[], bool]) -> bool:
    """Whether it holds, at the latest after a minute."""
    for _ in range(1_200):
        if holds():
            return True
        time.sleep(0.05)
    return False


def used(project: Path) -> Hexad:
    """Open a store and use all that has threads."""
    project.mkdir()
    hx = hexad.open(project, embedder="hashing", user_dir=project / "user")
    hx.remember("The gateway retries five times.")
    hx.governance.why("gateway")
    hx.user.prefer("editor", "vim")
    hx.project.get_patterns()
    hx.session.start("retries")
    hx.context("gateway retries")
    hx.xdb.start_session("talk")
    hx.xdb.record("input", "hello", session_id="talk")
    hx.xdb.flush()
    assert 1 == len(hx.xdb.recall(session_id="talk"))
    hx.wait_for_background()
    return hx


def drop(folder: Path, *, stores: int) -> None:
    for number in range(stores):
        used(folder / str(number))
    gc.collect()


@pytest.fixture
def before(tmp_path: Path) -> int:
    """How many threads there are when all libraries are loaded and no store is open."""
    used(tmp_path / "first").close()
    gc.collect()
    return threads()


def test_an_open_store_has_at_most_six_threads(
    before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "IDLE_S", 3_600.0)
    with used(tmp_path / "a"):
        assert settled(lambda: threads() - before <= THREADS_LIMIT), [
            thread.name for thread in threading.enumerate()
        ]


def test_stores_that_are_dropped_are_closed_with_one_warning_each(before: int, tmp_path: Path) -> None:
    held = handles()

    with pytest.warns(ResourceWarning, match=r"was dropped without `close\(\)`") as warned:
        drop(tmp_path, stores=STORES)

    assert settled(lambda: not any(thread.name == CLOSING for thread in threading.enumerate()))
    assert STORES == len([each for each in warned if each.category is ResourceWarning])
    assert settled(lambda: threads() <= before)
    assert held == handles()


@pytest.mark.parametrize(
    "part", ["xdb", "session", "spaces", "graph", "facts", "governance", "project", "user", "honeycomb"]
)
def test_a_store_of_which_somebody_has_a_part_stays_open(tmp_path: Path, part: str) -> None:
    hx = hexad.open(tmp_path, embedder=None, user_dir=tmp_path / "user")
    hx.remember("The gateway retries five times.")
    for name in ("xdb", "session", "spaces", "graph", "facts", "governance", "project", "user", "honeycomb"):
        getattr(hx, name)
    services, held = hx._services, getattr(hx, part)

    del hx
    gc.collect()
    assert not services.closed
    assert not any(thread.name == CLOSING for thread in threading.enumerate())

    assert held is not None
    services.close()


def test_what_a_dropped_store_acknowledged_is_there(before: int, tmp_path: Path) -> None:
    with pytest.warns(ResourceWarning):
        drop(tmp_path, stores=1)
    assert settled(lambda: not any(thread.name == CLOSING for thread in threading.enumerate()))

    with hexad.open(tmp_path / "0", embedder="hashing", user_dir=tmp_path / "0" / "user") as hx:
        assert ["The gateway retries five times."] == [memory.raw for memory in hx.memories()]
        assert "retries" == hx.session.list()[0].task
        assert [] == hx.check()


def test_a_store_that_was_closed_says_nothing_when_it_is_dropped(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    used(tmp_path / "a").close()
    gc.collect()

    assert [] == list(recwarn)
