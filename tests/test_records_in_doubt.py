"""Records that may not be on the disk are told of by the next flush, whatever was recorded meanwhile."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import pytest

from hexad import StorageFailure
from hexad.database import files
from hexad.experience.stream.log import RowsInDoubt
from opener import Opener


@pytest.mark.parametrize("between", ["nothing", "more"])
def test_a_flush_says_what_is_in_doubt_though_later_records_were_written(
    opened: Opener, between: str
) -> None:
    hx = opened()
    hx.xdb.start_session("s")
    hx.xdb.record("input", "first")
    hx.xdb.flush()
    inside, goes_on = threading.Event(), threading.Event()
    failing: list[Path] = []

    def fail(operation: str, path: Path) -> None:
        if path.suffix != ".log" or (failing and path != failing[0]):
            return
        if operation == "fdatasync" and not failing:
            failing.append(path)  # the log that the background writes the first record to
            inside.set()
            goes_on.wait(30)
        if failing and operation in ("fdatasync", "write"):  # cutting is a write of the hook's
            raise OSError(errno.EIO, "Input/output error")

    previous = files.set_hook(fail)
    try:
        hx.xdb.record("input", "in doubt")
        assert inside.wait(30)
        if between == "more":  # another thread records while the disk is waited for
            hx.xdb.record("input", "sure")
        goes_on.set()
        with pytest.raises(RowsInDoubt, match="could not be taken back"):
            hx.xdb.flush()
    finally:
        files.set_hook(previous)
        goes_on.set()

    hx.xdb.record("input", "later")
    hx.xdb.flush()
    said = {step.content for step in hx.xdb.recall(session_id="s")}
    assert said >= ({"later", "sure"} if between == "more" else {"later"})


def test_a_refusal_that_follows_does_not_hide_the_doubt(opened: Opener) -> None:
    hx = opened()
    hx.xdb.start_session("s")
    hx.xdb.record("input", "first")
    hx.xdb.flush()
    inside, goes_on = threading.Event(), threading.Event()
    logs: list[Path] = []

    def fail(operation: str, path: Path) -> None:
        if ".log" not in path.name:
            return
        if operation == "fdatasync" and not logs:
            logs.append(path)
            inside.set()
            goes_on.wait(30)
        if path in logs and operation in ("fdatasync", "write"):
            raise OSError(errno.EIO, "Input/output error")
        if logs and path not in logs and operation == "open":  # the new log cannot be made
            raise OSError(errno.ENOSPC, "No space left on device")

    previous = files.set_hook(fail)
    try:
        hx.xdb.record("input", "in doubt")
        assert inside.wait(30)
        hx.xdb.record("input", "kept")
        goes_on.set()
        with pytest.raises(StorageFailure, match="disk is full"):
            hx.xdb.flush()
    finally:
        files.set_hook(previous)
        goes_on.set()

    with pytest.raises(RowsInDoubt):
        hx.xdb.flush()
    hx.xdb.flush()
    assert "kept" in {step.content for step in hx.xdb.recall(session_id="s")}


def test_closing_says_what_nobody_was_told_of_and_lets_go_of_the_store(opened: Opener) -> None:
    hx = opened()
    hx.xdb.start_session("s")
    hx.xdb.record("input", "first")
    hx.xdb.flush()
    logs: list[Path] = []

    def fail(operation: str, path: Path) -> None:
        if path.suffix == ".log" and operation == "fdatasync" and not logs:
            logs.append(path)
        if path in logs and operation in ("fdatasync", "write"):
            raise OSError(errno.EIO, "Input/output error")

    previous = files.set_hook(fail)
    try:
        hx.xdb.record("input", "in doubt")
        assert ["first"] == [step.content for step in hx.xdb.recall(session_id="s")][
            :1
        ]  # asking writes, and tells nobody
    finally:
        files.set_hook(previous)
    with pytest.raises(RowsInDoubt, match="could not be taken back"):
        hx.close()

    hx.close()
    assert "first" in {step.content for step in opened().xdb.recall(session_id="s")}
