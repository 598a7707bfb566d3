"""Compression by several programs at once, and by programs that are killed: what was recorded adds up all the same."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import hexad
from hexad import CompressionLevel, Hexad, Stopped
from hexad.experience.tiers.compression import CompressionPass
from programs import Program

TARGET = Path(__file__).with_name("compression_target.py")
SESSIONS = 24


def start(what: str, project: Path, count: int) -> Program:
    return Program(TARGET, what, project, count)


def finish(running: Program) -> str:
    said, complained = running.communicate(timeout=300)
    assert 0 == running.returncode, complained
    return said


def counts(hx: Hexad) -> tuple[int, int]:
    found = hx.xdb.recall(session_id="*", limit=100_000)
    return sum(record.timesteps for record in found), sum(record.token_count for record in found)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    finish(start("fill", tmp_path, SESSIONS))
    return tmp_path


@pytest.mark.parametrize("at", [1, 13, 30, 52])
def test_a_program_that_is_killed_while_it_compresses_loses_and_doubles_nothing(project, at):
    died = start("die", project, at)
    died.communicate(timeout=300)
    assert -signal.SIGKILL == died.returncode

    with hexad.open(project, embedder=None, background=False) as hx:
        assert (50 * SESSIONS, 50 * SESSIONS) == counts(hx)
        assert [] == hx.check()
        report = hx.xdb.check_and_compress(max_storage_bytes=0)
        assert Stopped.NOTHING_LEFT is report.stopped
        assert (50 * SESSIONS, 50 * SESSIONS) == counts(hx)
        assert [CompressionLevel.YEAR] == [
            record.level for record in hx.xdb.compressed_records(session_id="*")
        ]
        assert [] == hx.check()


def test_programs_that_compress_at_once_do_it_once(project):
    several = [start("compress", project, 0) for _ in range(3)]
    said = [finish(process).split() for process in several]

    with hexad.open(project, embedder=None, background=False) as hx:
        if any(stopped == "elsewhere" for stopped, _ in said):
            hx.xdb.check_and_compress(max_storage_bytes=0)
        assert (50 * SESSIONS, 50 * SESSIONS) == counts(hx)
        [year] = hx.xdb.compressed_records(session_id="*")
        assert CompressionLevel.YEAR is year.level
        assert SESSIONS == sum(bool(hx.xdb.recall(session_id=f"s{at}")) for at in range(SESSIONS))
        assert [] == hx.check()


def test_two_passes_over_the_same_records_at_once_make_one_of_them(project):
    """Without the lease that keeps programs apart: the transactions alone must do."""
    first, second = (hexad.open(project, embedder=None, background=False) for _ in range(2))
    with first, second:
        slow, quick = (_passes(process) for process in (first, second))
        interrupted = False

        def inference(prompt: str) -> str:
            nonlocal interrupted
            if not interrupted:
                interrupted = True
                assert quick.run(CompressionLevel.REPLY, batch=100, k=10).into
            return "The summary of the slow one."

        first.xdb.set_summarizer(inference)
        passed = slow.run(CompressionLevel.REPLY, batch=100, k=10)

        assert interrupted
        assert 0 == passed.into
        assert (50 * SESSIONS, 50 * SESSIONS) == counts(first) == counts(second)
        sessions = first.xdb.compressed_records(session_id="*", level="SESSION", limit=1_000)
        assert len(sessions) == len({session.session_id for session in sessions})
        assert not any("slow" in session.summary for session in sessions)


def _passes(hx: Hexad) -> CompressionPass:
    return CompressionPass(
        hx._services.db,
        summarizer=hx._services.experience().summarizer,
        visibility=hx._services.experience().experience.visibility,
    )
