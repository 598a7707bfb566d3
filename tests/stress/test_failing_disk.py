"""Every single call to the disk fails once: either an error is shown and nothing changed, or all is well."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest
from stress_processes import Recorder
from stress_target import missing, open_store, problems, write, written
from stress_vfs import FailingVFS

from hexad.database import connection
from hexad.database.commit_queue import CommitInDoubt
from hexad.errors import HexadError

FAULTS = {
    "EIO": (apsw.IOError, errno.EIO),
    "ENOSPC": (apsw.FullError, errno.ENOSPC),
    "EROFS": (apsw.ReadOnlyError, errno.EROFS),
}
BEFORE, DURING = 6, 10
SHORT_STRIDE = 7
"""The short form fails every seventh call, the long one every call."""


@pytest.fixture(autouse=True)
def _frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CHECKPOINT_FRAMES", 12)
    monkeypatch.setattr(connection, "RESTART_FRAMES", 20)
    monkeypatch.setattr(connection, "TRUNCATE_FRAMES", 30)


@dataclass
class Outcome:
    """What a run over a failing disk was told."""

    acknowledged: set[tuple[int, int]] = field(default_factory=set)
    refused: set[tuple[int, int]] = field(default_factory=set)
    in_doubt: set[tuple[int, int]] = field(default_factory=set)
    errors: list[HexadError] = field(default_factory=list)


def use(path: Path, vfs: FailingVFS) -> Outcome:
    """Open, create, write, checkpoint and close, going on after errors; anything but a `HexadError` escapes."""
    outcome = Outcome()
    store = None
    for n in range(BEFORE + DURING):
        if n == BEFORE and store is not None:
            _close(store, outcome)
            store = None
        try:
            store = store or open_store(path, vfs=vfs.name, lock_timeout_s=1.0)
            write(store, 0, n)
            outcome.acknowledged.add((0, n))
        except CommitInDoubt as error:
            outcome.in_doubt.add((0, n))
            outcome.errors.append(error)
        except HexadError as error:
            outcome.refused.add((0, n))
            outcome.errors.append(error)
    if store is not None:
        _close(store, outcome)
    return outcome


def _close(store: connection.Database, outcome: Outcome) -> None:
    try:
        store.close()
    except HexadError as error:
        outcome.errors.append(error)


def fail_at(directory: Path, fault: str, *, at: int, lasting: bool) -> tuple[list[str], bool]:
    """Run with the fault at one call; return what was wrong afterwards, and whether the call was reached."""
    directory.mkdir()
    path = directory / "memory.db"
    vfs = FailingVFS(*FAULTS[fault], at=at, lasting=lasting)
    with vfs.installed():
        outcome = use(path, vfs)
    wrong = [
        f"an error without a path: {error}"
        for error in outcome.errors
        if str(directory.parent) not in str(error)  # its name is synced, too
    ]
    store = open_store(path)
    found = written(store)
    wrong += [f"lost {key}" for key in missing(store, outcome.acknowledged)]
    wrong += [f"kept {key} that was refused" for key in sorted(outcome.refused & found)]
    wrong += problems(store)
    write(store, 1, 0)
    store.close()
    if not vfs.failed and outcome.errors:
        wrong.append(f"an error without a fault: {outcome.errors[0]}")
    return [f"{fault} at call {at}, lasting={lasting}: {line}" for line in wrong], vfs.failed


def fail_everywhere(directory: Path, fault: str, *, stride: int) -> int:
    """Fail every `stride`-th call, once and for good; return how many calls failed."""
    found: list[str] = []
    failed = 0
    for lasting in (False, True):
        at, reached = 1, True
        while reached:
            wrong, reached = fail_at(directory / f"{lasting}-{at}", fault, at=at, lasting=lasting)
            found += wrong
            failed += reached
            # A full disk lets reads pass, so that a call may not fail although it was reached.
            reached = reached or at < 100
            at += stride

    assert [] == found
    return failed


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_call_is_an_error_that_changed_nothing_or_no_error(
    tmp_path: Path, fault: str, record_property: Recorder
) -> None:
    failed = fail_everywhere(tmp_path, fault, stride=SHORT_STRIDE)

    assert failed > 10
    record_property("failing calls to the disk", failed)


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_every_failing_call_is_an_error_that_changed_nothing_or_no_error(
    tmp_path: Path, fault: str, record_property: Recorder
) -> None:
    failed = fail_everywhere(tmp_path, fault, stride=1)

    assert failed > 100
    record_property("failing calls to the disk", failed)
