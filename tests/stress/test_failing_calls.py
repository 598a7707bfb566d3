"""Every call to the system fails once, below every kind of call to a store: whoever calls is told in Hexad's words."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from stress_calls import FailingCalls, FailingSqlite

import hexad
from hexad import Hexad, HexadError

SHORT_STRIDE = 41
SHORT_CALLS = 12  # of an operation of very many calls
"""The short form fails every 41st call, the long one every call, each with all kinds of failure."""
CODES = {name: getattr(errno, name) for name in ("EIO", "ENOSPC", "EACCES", "EMFILE")}

OPERATIONS: dict[str, Callable[[Hexad, Path], object]] = {
    "remember": lambda hx, _: hx.remember("A note of today.", id="new"),
    "recall": lambda hx, _: hx.recall("gateway"),
    "context": lambda hx, _: hx.context("gateway", wait=True),
    "record": lambda hx, _: (hx.xdb.record("input", "fresh", session_id="talk"), hx.xdb.flush()),
    "recall of the stream": lambda hx, _: hx.xdb.recall(session_id="talk"),
    "seal": lambda hx, _: hx.xdb.seal(),
    "session": lambda hx, _: (hx.session.start("a task"), hx.session.snapshot()),
    "ingest": lambda hx, project: hx.ingest(project / "notes.md"),
    "export": lambda hx, _: list(hx.export()),
    "space file": lambda hx, _: hx.spaces.write_file("default"),
    "maintain": lambda hx, _: hx.maintain(),
    "check": lambda hx, _: hx.check(),
    "reindex": lambda hx, _: hx.reindex(),
    "status": lambda hx, _: hx.status(),
    "forget": lambda hx, _: hx.forget("note-1", purge=True, confirm=True),
}


def opened(project: Path) -> Hexad:
    return hexad.open(project, embedder="hashing", background=False, user_dir=project / "user")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with memories, a sealed segment, a log, a decision and a session."""
    project = tmp_path_factory.mktemp("filled")
    (project / "notes.md").write_text("# Notes\n\nThe pool has ten connections.\n")
    with opened(project) as hx:
        for number in range(5):
            hx.remember(f"Note {number}: the gateway retries {number} times.", id=f"note-{number}")
        hx.governance.decide("Keep tokens in SQLite")
        hx.xdb.start_session("talk")
        for number in range(20):
            hx.xdb.record("input", f"hello {number}", {"work::Talk": 0.5}, session_id="talk")
        hx.xdb.flush()
        hx.xdb.seal()
        hx.maintain()
    with opened(project) as hx:
        hx.xdb.record("input", "more", session_id="talk")
        hx.xdb.flush()
    return project


def outcome(filled: Path, project: Path, name: str, calls: FailingCalls) -> str | None:
    """Open a copy, do it and close, with one call that fails; return what went wrong that must not."""
    shutil.copytree(filled, project)
    hx = None
    error: HexadError | None = None
    with FailingSqlite(calls).installed(), calls.armed():
        try:
            hx = opened(project)
            OPERATIONS[name](hx, project)
        except HexadError as refused:
            error = refused
        except Exception as foreign:
            return f"{calls.failed}: {type(foreign).__name__} leaves the call: {foreign}"
        finally:
            if hx is not None:
                try:
                    hx.close()
                except HexadError as refused:
                    error = refused
    if error is not None and calls.failed is None:
        return f"refused without a failure: {error}"
    return _left_behind(project, name, calls, told=error)


def _left_behind(project: Path, name: str, calls: FailingCalls, *, told: HexadError | None) -> str | None:
    with opened(project) as hx:
        hx.maintain()
        if problems := hx.check():
            return f"{calls.failed}: {problems[0]}"
        ids = {memory.id for memory in hx.memories(status=None, limit=None)}
        if name == "remember" and told is None and "new" not in ids:
            return f"{calls.failed}: what was acknowledged is lost"
        if name == "forget" and ("note-1" in ids) == (len(hx.erasures()) == 1):
            return f"{calls.failed}: a memory that is gone has no receipt, or one that is there has one"
    shutil.rmtree(project)
    return None


def wrong(filled: Path, folder: Path, name: str, *, stride: int) -> list[str]:
    counting = FailingCalls(errno.EIO)
    assert None is outcome(filled, folder / "counted", name, counting)
    assert counting.count > 100
    found = []
    if stride > 1:
        stride = max(stride, counting.count // SHORT_CALLS)
    for at in range(0, counting.count, stride):
        for code_name, code in list(CODES.items()) if stride == 1 else [list(CODES.items())[at % len(CODES)]]:
            problem = outcome(filled, folder / f"{at}-{code_name}", name, FailingCalls(code, at=at))
            found += [] if problem is None else [f"{code_name} at {at}, {problem}"]
    return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_failing_call_is_told_in_hexads_words(filled: Path, tmp_path: Path, name: str) -> None:
    assert [] == wrong(filled, tmp_path, name, stride=SHORT_STRIDE)


@pytest.mark.long
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_failing_call_is_told_in_hexads_words(filled: Path, tmp_path: Path, name: str) -> None:
    assert [] == wrong(filled, tmp_path, name, stride=1)
