"""Records beside the stream: one by one for each token, appended in batches, lost at most by a batch."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hexad import InvalidInput, NotFound, StorageFailure
from hexad.audit import AuditLog, AuditLogWriter, AuditRecorder, HushController
from opener import Opener

SCORES = {"mood::Calm": 0.5, "intent::Hidden": 0.9}
SEEN = {"state": SCORES}


@pytest.fixture
def writer(folder: Path) -> Iterator[AuditLogWriter]:
    with AuditLogWriter(folder, "be-1") as made:
        yield made


def said(folder: Path, session: str = "s") -> list[tuple[int | None, str | None]]:
    with AuditLog(folder) as log:
        found = log.query(
            reviewer_credential=log.reviewers.add(f"rita-{log.size}"), session_id=session, limit=10_000
        )
        assert log.verify().ok
    return [(record.tick, record.raw_content) for record in found]


@pytest.mark.row("H154")
def test_what_was_recorded_is_in_the_ledger_after_a_flush_in_its_order(
    writer: AuditLogWriter, folder: Path
) -> None:
    with writer.recorder(batch=7, delay_s=60) as recorder:
        for at in range(20):
            recorder.record("s", at // 2, "output", f"token {at}", SCORES, [{"directive": "calm"}])
        recorder.flush()
        assert 0 == recorder.pending
        assert [(at // 2, f"token {at}") for at in range(20)] == said(folder)


def test_what_was_recorded_is_there_soon_without_a_flush(writer: AuditLogWriter, folder: Path) -> None:
    with writer.recorder(delay_s=0.05) as recorder:
        recorder.record("s", 1, "output", "token", SCORES, [])
        until = time.monotonic() + 20
        while recorder.pending and time.monotonic() < until:
            time.sleep(0.01)
        assert [(1, "token")] == said(folder)
        recorder.record("s", 2, "output", "another", SCORES, [])  # after the thread had nothing left
    assert [(1, "token"), (2, "another")] == said(folder)


def test_a_full_batch_does_not_wait_for_the_delay(writer: AuditLogWriter) -> None:
    with writer.recorder(batch=5, delay_s=60) as recorder:
        for at in range(5):
            recorder.record("s", at, "output", "token", SCORES, [])
        until = time.monotonic() + 20
        while recorder.pending and time.monotonic() < until:
            time.sleep(0.01)
        assert 0 == recorder.pending


def test_always_means_that_a_record_is_on_the_disk_when_the_call_returns(
    writer: AuditLogWriter, folder: Path
) -> None:
    with writer.recorder(delay_s=60, durability="always") as recorder:
        recorder.record("s", 1, "output", "token", SCORES, [])
        assert [(1, "token")] == said(folder)


@pytest.mark.row("H096")
def test_threads_share_a_recorder_and_nothing_is_lost_or_twice(writer: AuditLogWriter, folder: Path) -> None:
    def run(recorder: AuditRecorder, name: str) -> None:
        for at in range(200):
            recorder.record("s", at, "output", f"{name} {at}", SCORES, [])

    with writer.recorder(batch=50, delay_s=0.001) as recorder:
        threads = [threading.Thread(target=run, args=(recorder, str(no))) for no in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    found = [text for _, text in said(folder)]
    assert 800 == len(found) == len(set(found))
    for no in range(4):
        assert [f"{no} {at}" for at in range(200)] == [row for row in found if row and row[0] == str(no)]


def _program(folder: Path, name: str, ready: Any) -> None:
    with AuditLogWriter(folder, name) as writer, writer.recorder(batch=20) as recorder:
        ready.wait()
        for at in range(100):
            recorder.record("s", at, "output", f"{name} {at}", SCORES, [])


@pytest.mark.row("H096", "H092")
def test_programs_record_into_one_chain(folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(2)
    programs = [context.Process(target=_program, args=(folder, name, ready)) for name in ("a", "b")]
    for program in programs:
        program.start()
    for program in programs:
        program.join()

    assert [0, 0] == [program.exitcode for program in programs]
    assert {f"{name} {at}" for name in "ab" for at in range(100)} == {text for _, text in said(folder)}


def _dies(folder: Path, ready: Any) -> None:
    writer = AuditLogWriter(folder, "be")
    recorder = writer.recorder(batch=10, delay_s=60)
    for at in range(30):
        recorder.record("s", at, "output", f"token {at}", SCORES, [])
    recorder.flush()
    for at in range(30, 35):
        recorder.record("s", at, "output", f"token {at}", SCORES, [])
    ready.set()
    time.sleep(60)


@pytest.mark.row("H092", "H096")
def test_a_killed_program_loses_what_was_not_flushed_and_the_next_goes_on(folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    program = context.Process(target=_dies, args=(folder, ready))
    program.start()
    assert ready.wait(60)
    assert program.pid is not None
    os.kill(program.pid, signal.SIGKILL)
    program.join()

    with AuditLogWriter(folder, "be") as writer, writer.recorder() as recorder:
        recorder.record("s", 40, "output", "after", SCORES, [])

    assert [*((at, f"token {at}") for at in range(30)), (40, "after")] == said(folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tick": -1}, "tick"),
        ({"event_type": "dream"}, "event_type"),
        ({"lens_activations": {"a": float("nan")}}, "finite"),
        ({"steering_applied": "calm"}, "steering"),
        ({"timestamp": "soon"}, "timestamp"),
    ],
)
def test_what_cannot_be_recorded_is_refused_at_once(
    writer: AuditLogWriter, folder: Path, change: Mapping[str, Any], words: str
) -> None:
    row = {
        "session_id": "s", "tick": 1, "event_type": "output", "raw_content": "x", "lens_activations": SCORES,
        "steering_applied": [],
    }  # fmt: skip
    with writer.recorder() as recorder:
        with pytest.raises(InvalidInput, match=words):
            recorder.record(**{**row, **change})
        recorder.record(**row)
    assert [(1, "x")] == said(folder)


@pytest.mark.parametrize(
    "given", [{"batch": 0}, {"delay_s": 0}, {"delay_s": True}, {"durability": "os"}, {"durability": "never"}]
)
def test_a_recorder_that_cannot_be_is_refused(writer: AuditLogWriter, given: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(given))):
        writer.recorder(**given)


def test_a_closed_recorder_takes_nothing(writer: AuditLogWriter) -> None:
    recorder = writer.recorder()
    recorder.close()
    recorder.close()
    with pytest.raises(InvalidInput, match="closed"):
        recorder.record("s", 1, "output", "x", SCORES, [])


def test_what_the_disk_refuses_is_kept_said_and_written_once(writer: AuditLogWriter, folder: Path) -> None:
    recorder = writer.recorder(delay_s=60)
    recorder.record("s", 1, "output", "before", SCORES, [])

    real, refusing = writer.append, [True]

    def append(made: Sequence[Any]) -> list[int]:
        if refusing:
            raise StorageFailure("The disk is full.")
        return real(made)

    writer.append = append  # type: ignore[method-assign]
    with pytest.raises(StorageFailure, match="full"):
        recorder.flush()
    assert 1 == recorder.pending
    refusing.clear()
    recorder.record("s", 2, "output", "after", SCORES, [])
    recorder.close()

    assert [(1, "before"), (2, "after")] == said(folder)


def steer(activations: Mapping[str, float]) -> list[dict[str, object]]:
    return [{"directive": "calm", "strength": 0.5}] if activations["intent::Hidden"] > 0.4 else []


@pytest.mark.row("H154", "H159", "H094", "H095", "H001")
@pytest.mark.parametrize("buffered", [False, True], ids=["writer", "recorder"])
def test_a_controller_records_beside_the_stream_what_the_agent_does_not_see(
    opened: Opener, project: Path, buffered: bool
) -> None:
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text('lenses = ["mood::*"]\n')
    hx = opened()
    hx.xdb.start_session("monday")
    with AuditLogWriter(hx.path, "be", clock=hx.clock) as writer, writer.recorder() as recorder:
        controller = HushController(recorder if buffered else writer, evaluate=SEEN.__getitem__, steer=steer)
        for token in ("Cer", "tain", "ly"):
            step = hx.xdb.record("output", token, SCORES)
            directives = controller.evaluate_and_steer("state", "monday", int(step.rpartition("-")[2]), token)
            assert directives == controller.active_directives == steer(SCORES)
        recorder.flush()
        seen = [hx.xdb.get_timestep(f"ts-monday-{tick}") for tick in (1, 2, 3)]

    with AuditLog(hx.path, clock=hx.clock) as log:
        kept = log.query(reviewer_credential=log.reviewers.add("rita"), session_id="monday")

    assert [SCORES] * 3 == [record.lens_activations for record in kept]
    assert [[{"directive": "calm", "strength": 0.5}]] * 3 == [record.steering_applied for record in kept]
    assert [(record.tick, record.content) for record in seen if record] == [
        (record.tick, record.raw_content) for record in kept
    ]
    assert all("intent::Hidden" not in record.concept_activations for record in seen if record)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"evaluate": None}, "evaluate must be a function, not None"),
        ({"evaluate": SEEN.__getitem__, "steer": "no"}, "steer must be a function, not 'no'"),
        ({"evaluate": SEEN.__getitem__, "audit_log": "ledger"}, "audit_log = 'ledger' must be"),
    ],
)
def test_a_controller_of_what_cannot_be_called_is_refused(given: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        HushController(**given)


@pytest.mark.parametrize("directives", ["no", [3], {"directive": "calm"}, None, 5, [{}], [""]])
def test_what_is_no_directive_is_named_and_not_recorded(writer: AuditLogWriter, directives: Any) -> None:
    controller = HushController(writer, evaluate=SEEN.__getitem__, steer=lambda _activations: directives)
    blind = HushController(writer, evaluate=lambda _state: "calm")  # type: ignore[arg-type, return-value]

    with pytest.raises(InvalidInput, match="`steer` gave"):
        controller.evaluate_and_steer("state", "monday", 1, "Cer")
    with pytest.raises(InvalidInput, match="`evaluate` gave 'calm'"):
        blind.evaluate_and_steer("state", "monday", 1, "Cer")

    assert () == controller.active_directives
    assert not (writer.record("monday", 1, "output", "Cer", SCORES, []) or "").startswith("audit-2")


@pytest.mark.parametrize("path", ["", None, 5])
def test_a_ledger_is_begun_in_no_place_that_nobody_named(
    path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InvalidInput, match="storage_path"):
        AuditLogWriter(path, "be-1")
    with pytest.raises(InvalidInput, match="path"):
        AuditLog(path)

    assert [] == list(tmp_path.iterdir())


def test_a_ledger_whose_parent_folder_is_missing_is_refused_and_makes_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"There is no folder '.*/mistyped' for a ledger; create it"):
        AuditLogWriter(tmp_path / "mistyped" / "ledger", "being")

    assert [] == [*tmp_path.iterdir()]
    AuditLogWriter(tmp_path / "ledger", "being").close()
    assert (tmp_path / "ledger" / "audit.db").exists()
