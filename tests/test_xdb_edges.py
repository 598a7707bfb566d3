"""Where the stream could lose or mistake something: forks, interrupts, ends of programs, odd folders and bounds."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from datetime import date, timedelta
from pathlib import Path

import pytest

import hexad
from hexad import Conflict, Hexad, InvalidInput, StorageFailure
from hexad.database import files
from hexad.experience import stream_database
from hexad.experience.recording import recorder


def contents(hx: Hexad) -> list[str]:
    return [record.content for record in hx.xdb.recall(session_id="*", limit=100_000)]


def test_a_forked_child_cannot_write_what_its_parent_recorded(opened):
    hx = opened()
    hx.xdb.start_session("monday")
    hx.xdb.record("output", "first")
    hx.xdb.flush()
    hx.xdb.record("output", "waits")
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover
        os.read(ready, 1)
        try:
            hx.xdb.flush()
        except InvalidInput:
            os._exit(7)
        os._exit(0)

    for at in range(50):
        hx.xdb.record("output", f"more {at}")
    hx.xdb.flush()
    os.write(go, b"x")
    _, status = os.waitpid(child, 0)
    os.close(ready)
    os.close(go)

    assert 7 == os.waitstatus_to_exitcode(status)
    assert ["first", "waits", *(f"more {at}" for at in range(50))] == contents(hx)


def test_what_a_thread_recorded_while_another_closed_the_store_is_there(opened):
    missing = 0
    for _ in range(5):
        hx = opened()
        session = hx.xdb.start_session("monday", compaction=False)
        recorded: list[str] = []

        def work(session=session, recorded=recorded) -> None:
            try:
                while True:
                    recorded.append(session.record("output", "x"))
            except InvalidInput:
                return

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
        hx.close()
        for thread in threads:
            thread.join()
        again = opened()
        found = {record.id for record in again.xdb.recall(session_id="monday", limit=100_000)}
        missing += len(set(recorded) - found)
        again.close()
    assert 0 == missing


@pytest.mark.parametrize("durability", ["group", "always"])
@pytest.mark.parametrize("where", ["write", "fdatasync"])
def test_an_interrupted_write_damages_nothing_and_loses_no_record_that_has_an_id(
    opened, monkeypatch, durability, where
):
    monkeypatch.setenv("HEXAD_STREAM_DURABILITY", durability)
    monkeypatch.setattr(recorder, "GROUP_S", 0.5)  # so that it is the main thread that writes
    hx = opened()
    hx.xdb.start_session("monday")
    hx.xdb.record("output", "zero", {"c0": 0.25})
    hx.xdb.flush()
    fire = [True]

    def hook(operation: str, path: object) -> None:
        if operation == where and str(path).endswith(".log") and fire:
            fire.clear()
            raise KeyboardInterrupt

    previous = files.set_hook(hook)
    expected = {"zero": {"c0": 0.25}, "two": {"c2": 0.75}}
    try:
        with pytest.raises(KeyboardInterrupt):
            hx.xdb.record("output", "one", {"c1": 0.5})
            expected["one"] = {"c1": 0.5}
            hx.xdb.flush()
    finally:
        files.set_hook(previous)
    hx.xdb.record("output", "two", {"c2": 0.75})

    assert expected == {record.content: record.concept_activations for record in hx.xdb.recall()}
    assert len(expected) == len(contents(hx))


def test_a_program_that_ends_without_closing_the_store_loses_nothing(opened, project: Path):
    opened().close()
    program = (
        "import hexad, sys\n"
        "hx = hexad.open(sys.argv[1], embedder=None)\n"
        "hx.xdb.start_session('monday')\n"
        "for at in range(10): hx.xdb.record('output', str(at))\n"
    )
    subprocess.run([sys.executable, "-c", program, str(project)], check=True)

    assert [str(at) for at in range(10)] == contents(opened())


@pytest.mark.parametrize("folder", ["session=7", "tick=9", "a[1]*?", "it's {a,b}"])
def test_a_store_may_lie_in_a_folder_of_any_name(tmp_path: Path, folder: str):
    place = tmp_path / folder
    place.mkdir()
    with hexad.open(place, embedder=None, background=False) as hx:
        hx.xdb.start_session("monday")
        hx.xdb.record("output", "sealed")
        hx.xdb.seal()
        hx.xdb.record("output", "not yet")

        assert [("ts-monday-1", "sealed"), ("ts-monday-2", "not yet")] == [
            (record.id, record.content) for record in hx.xdb.recall()
        ]


def test_bounds_of_activations_may_be_any_numbers_but_nan(opened):
    hx = opened()
    hx.xdb.start_session("monday")
    hx.xdb.record("output", "x", {"c": 0.5})

    assert 1 == len(hx.xdb.recall(concepts={"c": (-1e300, 1e39)}))
    assert [] == hx.xdb.recall(concepts={"c": (1e39, 1e300)})
    with pytest.raises(InvalidInput, match="lowest, highest"):
        hx.xdb.recall(concepts={"c": (float("nan"), 1)})
    with pytest.raises(InvalidInput, match="lowest, highest"):
        hx.xdb.recall_by_concept("c", min_activation=float("nan"))


def test_other_threads_of_an_interrupted_write_are_told_that_it_failed(opened, monkeypatch):
    monkeypatch.setenv("HEXAD_STREAM_DURABILITY", "always")
    hx = opened()
    session = hx.xdb.start_session("monday")
    hx.xdb.record("output", "zero")
    inside, others = threading.Event(), threading.Event()
    outcomes: list[object] = []

    def hook(operation: str, path: object) -> None:
        if operation == "fdatasync" and str(path).endswith(".log") and not inside.is_set():
            inside.set()
            others.wait(0.2)
            raise KeyboardInterrupt

    def work(text: str) -> None:
        try:
            outcomes.append(session.record("output", text))
        except (KeyboardInterrupt, StorageFailure) as error:
            outcomes.append(error)

    previous = files.set_hook(hook)
    try:
        threads = [threading.Thread(target=work, args=(f"t{at}",)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        files.set_hook(previous)

    assert sorted(outcome for outcome in outcomes if isinstance(outcome, str)) == sorted(
        record.id for record in hx.xdb.recall() if record.content != "zero"
    )


@pytest.mark.row("H010")
def test_a_session_that_another_program_went_on_with_is_resumed_after_its_highest_tick(opened):
    first, other = opened(), opened()
    first.xdb.start_session("monday")
    first.xdb.record("input", "first")
    first.xdb.end_session()
    other.xdb.start_session("monday")
    other.xdb.record("input", "second")
    other.xdb.end_session()
    first.xdb.start_session("monday")
    first.xdb.record("input", "third")
    other.xdb.start_session("monday")
    other.xdb.record("input", "fourth")
    other.xdb.flush()

    assert ["first", "second", "third", "fourth"] == contents(first)


def opened_beside_a_loss(opened):
    """Open a store whose database knows of a log that is not there."""
    with pytest.warns(UserWarning, match="accept-losses"):
        return opened()


def test_sealing_beside_an_older_database_removes_no_segment_that_holds_all_that_is_left(opened, project):
    with opened() as hx:
        hx.xdb.start_session("monday")
        hx.xdb.record("input", "before the backup", {})
        hx.xdb.flush()
    backup = (project / ".hexad" / "memory.db").read_bytes()
    with opened() as hx:
        hx.xdb.seal()
    segments = project / ".hexad" / "stream" / "segments"
    sealed = sorted(segments.glob("*.parquet"))
    assert 1 == len(sealed)
    (project / ".hexad" / "memory.db").write_bytes(backup)

    with opened_beside_a_loss(opened) as hx:
        hx.xdb.start_session("tuesday")
        hx.xdb.record("input", "after the backup", {})
    with opened_beside_a_loss(opened) as hx:
        hx.xdb.seal()
    assert set(sealed) < set(segments.iterdir())
    with opened_beside_a_loss(opened) as hx:
        assert [True, False] == [str(sealed[0]) in problem for problem in hx.check()]
        assert [True] == [str(sealed[0]) in problem for problem in hx.check(accept_losses=True)]
    sealed[0].unlink()


def test_a_file_that_is_no_segment_holds_up_no_sealing_and_is_named(opened, project):
    with opened() as hx:
        hx.xdb.start_session("monday")
        hx.xdb.record("input", "a word", {})
    stray = project / ".hexad" / "stream" / "segments" / "stray.parquet"
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"no Parquet at all")

    with opened() as hx:
        assert 1 == hx.xdb.seal().rows
        assert [True] == [str(stray) in problem for problem in hx.check()]
    stray.unlink()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"text_search": "\ud800"}, "text_search = '\\ud800' holds half a character"),
        ({"text_search": 5}, "text_search must be a string or None, not 5"),
        ({"tick_range": 5}, "tick_range = 5 is no range"),
        ({"time_range": 5}, "time_range = 5 is no range"),
        ({"event_types": 5}, "event_types = 5 must be a list"),
        ({"event_types": "input"}, "event_types = 'input' must be a list"),
        ({"concepts": 5}, "concepts = 5 must be a list"),
        ({"tags": 5}, "tags = 5 names no tags"),
        ({"tags": [5]}, "tags = [5] names no tags"),
        ({"match": "some"}, "match = 'some' is neither"),
        ({"event_id": 5}, "event_id must be a string or None, not 5"),
    ],
)
def test_a_question_that_cannot_be_asked_says_so(hx: Hexad, given: dict[str, object], words: str) -> None:
    hx.xdb.start_session("s")
    hx.xdb.record("output", "x", event_id="e")

    with pytest.raises(InvalidInput) as recalled:
        hx.xdb.recall(**given)

    assert words in str(recalled.value)
    if "text_search" in given:
        given = {"text": given["text_search"]}
    with pytest.raises(InvalidInput):
        hx.xdb.recall_events(**given)


def test_an_id_that_is_no_text_is_no_timestep(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match="timestep_id must be a string, not 5"):
        hx.xdb.get_timestep(5)


@pytest.mark.parametrize(
    ("call", "given", "named"),
    [
        ("recall", {"session_id": ["s"]}, "session_id"),
        ("recall_events", {"text": 5}, "text"),
        ("record", {"event_type": "output", "content": "x", "session_id": ["s"]}, "session_id"),
        ("start_session", {"session_id": None}, "session_id"),
        ("get_timestep", {"timestep_id": None}, "timestep_id"),
        ("tag", {"tag_name_or_id": 5, "timestep_id": "ts-s-1"}, "tag_name_or_id"),
        ("tag", {"tag_name_or_id": "t", "timestep_id": 5}, "timestep_id"),
        ("remove_tag", {"tag_name_or_id": None}, "tag_name_or_id"),
        ("tag_applications", {"tag_name_or_id": 5}, "tag_name_or_id"),
        ("find_tags", {"name_pattern": 5}, "name_pattern"),
        ("find_concept", {"query": None}, "query"),
        ("submit_graft", {"bud_tag_id": None, "submission_id": "g"}, "bud_tag_id"),
        ("load_concept_pack", {"path": None}, "path"),
    ],
)
def test_what_is_no_text_is_refused_by_the_name_of_its_parameter(
    hx: Hexad, call: str, given: dict[str, object], named: str
) -> None:
    hx.xdb.start_session("s")
    hx.xdb.record("output", "x")

    with pytest.raises(InvalidInput) as refused:
        getattr(hx.xdb, call)(**given)

    assert (named, True) == (refused.value.argument, str(refused.value).startswith(f"{named} "))
    assert f" {given[named]!r}" in str(refused.value)
    with pytest.raises(InvalidInput, match="record = 'x' is no timestep"):
        hx.xdb.experience_log.record_timestep("x")


def test_documents_are_searched_for_a_text_alone(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match="text_query must be a string or None, not 5"):
        hx.xdb.documents.search(text_query=5)


def test_a_range_of_times_may_be_open_and_of_dates(hx: Hexad) -> None:
    hx.xdb.start_session("s")
    hx.xdb.record_many([{"event_type": "output", "content": "x", "timestamp": "2026-01-05T12:00:00Z"}])
    day = timedelta(days=1)
    monday = date(2026, 1, 5)

    asked = [(monday, None), (None, monday), (None, monday + day), (monday + day, None), (None, None)]
    assert [1, 0, 1, 0, 1] == [len(hx.xdb.recall(time_range=times)) for times in asked]


def test_scores_are_asked_for_from_the_lowest_on(hx: Hexad) -> None:
    with pytest.raises(InvalidInput, match=r"'p::A' is \(0.9, 0.1\): the lowest score is above"):
        hx.xdb.recall(concepts={"p::A": (0.9, 0.1)})


def test_a_session_that_never_was_has_no_comments_but_an_error(hx: Hexad) -> None:
    with pytest.raises(hexad.NotFound, match="'never'"):
        hx.xdb.get_comments_for_range("never", 1, 2)


def test_a_bud_is_named_by_its_name_too(hx: Hexad) -> None:
    hx.xdb.start_session("s")
    hx.xdb.tag("Ferries", timestep_id=hx.xdb.record("output", "x"))

    assert "collecting" == hx.xdb.promote_to_bud("ferries").bud_status
    assert "ready" == hx.xdb.mark_bud_ready("Ferries").bud_status
    assert ["x"] == [step.content for step in hx.xdb.get_bud_examples("ferries")]


def test_activations_that_are_no_mapping_are_refused(hx: Hexad) -> None:
    hx.xdb.start_session("s")

    with pytest.raises(InvalidInput, match="is no mapping from concepts to scores"):
        hx.xdb.record("output", "x", ["p::A"])

    assert [] == hx.xdb.recall()


def test_blocks_of_ticks_are_kept_for_the_sessions_used_last_alone(opened, monkeypatch):
    monkeypatch.setattr(recorder, "SESSIONS_MOST", 8, raising=False)

    def blocks():
        return [each for each in gc.get_objects() if isinstance(each, recorder._Ticks)]

    of_others = blocks()  # of stores that earlier tests left
    hx = opened()
    for number in range(40):
        hx.xdb.start_session(f"task-{number}", compaction=False)
        hx.xdb.record("output", f"first of {number}")
    hx.xdb.record("output", "second of 3", session_id="task-3")
    hx.xdb.flush()
    gc.collect()
    kept = [each for each in blocks() if not any(each is other for other in of_others)]

    assert 1 <= len(kept) <= 8
    # What had not been used of a block went back: the next record is the next tick.
    assert [1, 2] == [step.tick for step in hx.xdb.recall(session_id="task-3")]
    assert 41 == len(contents(hx))


def test_sessions_that_never_end_are_not_kept_in_memory_for_ever(opened, monkeypatch):
    monkeypatch.setattr(stream_database, "SESSIONS_MOST", 8, raising=False)
    hx = opened()
    for number in range(40):
        hx.xdb.start_session(f"task-{number}", max_context_tokens=100)
        hx.xdb.record("output", f"first of {number}")
    experience = hx._services.experience().experience

    assert 8 == len(experience._open)
    assert 8 == len(experience.accounts.counters)
    # One that was let go of goes on as before, and its window is compacted all the same.
    assert "ts-task-3-2" == hx.xdb.record("output", "word " * 60, session_id="task-3")
    assert 2 == experience.last_tick("task-3")
    hx.xdb.record("output", "word " * 60, session_id="task-3")
    hx.maintain()
    assert hx.xdb.compactions("task-3")
    hx.xdb.end_session(session_id="task-0")
    with pytest.raises(Conflict, match="has ended"):
        hx.xdb.record("output", "late", session_id="task-0")


def test_a_session_in_use_keeps_its_block_whatever_else_begins(opened, monkeypatch):
    monkeypatch.setattr(recorder, "SESSIONS_MOST", 8, raising=False)
    hx = opened()
    hx.xdb.start_session("long", compaction=False)
    for number in range(30):
        hx.xdb.record("output", "again", session_id="long")
        hx.xdb.start_session(f"task-{number}")
        hx.xdb.record("output", "once")
    (last,) = (each.last_tick for each in hx.xdb.sessions() if each.id == "long")

    assert list(range(1, 31)) == [step.tick for step in hx.xdb.recall(session_id="long")]
    assert last < 130  # a block is reserved when the one before is used up, and not each time


def test_a_block_that_cannot_be_given_back_is_a_gap_and_no_failure(opened, monkeypatch):
    monkeypatch.setattr(recorder, "SESSIONS_MOST", 8, raising=False)
    hx = opened()

    def refuse(_, unused):
        raise StorageFailure("The disk is full.")

    monkeypatch.setattr("hexad.experience.tables.sessions.Sessions.give_back", refuse)
    for number in range(12):
        hx.xdb.start_session(f"task-{number}", compaction=False)
        hx.xdb.record("output", "once")
    hx.xdb.record("output", "twice", session_id="task-0")
    first, second = [step.tick for step in hx.xdb.recall(session_id="task-0")]

    assert first < second
    assert 13 == len(contents(hx))
    monkeypatch.undo()
