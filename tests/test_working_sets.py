"""`hx.session`: what is being worked on, changed, written, ended and gone on with."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import hexad
from hexad import FrozenClock, Hexad
from hexad.layers.session.working_set import (
    EDITS_KEPT,
    NOTES_KEPT,
    OPEN_FILES_LIMIT,
    SUBSTEPS_LIMIT,
    TURNS_KEPT,
)
from opener import Opener

SECRET = "AKIAIOSFODNN7EXAMPLE"


def current(hx: Hexad) -> hexad.WorkingSet:
    found = hx.session.current
    assert found is not None
    return found


def stored(hx: Hexad, session_id: str) -> str:
    """All that the database holds of a session, as text."""
    rows = hx._services.db.query("SELECT * FROM working_sets WHERE id = ?", (session_id,))
    return repr(rows)


# What a session knows -------------------------------------------------------------------------------------------------


@pytest.mark.row("A012")
def test_a_task_has_steps_that_are_done_one_by_one(hx: Hexad) -> None:
    hx.session.start("login feature", steps=["tokens", "tests"])
    hx.session.add_steps("changelog", "tests")
    hx.session.mark_step("tok")
    hx.session.mark_step(3)
    hx.session.mark_step(3, done=False)

    assert "login feature" == current(hx).task
    assert [("tokens", True), ("tests", False), ("changelog", False)] == [
        (step.text, step.done) for step in current(hx).substeps
    ]


@pytest.mark.row("A012")
def test_another_task_has_steps_of_its_own(hx: Hexad) -> None:
    hx.session.start("login feature", steps=["tokens"])
    hx.session.set_task("logout feature", steps=["cookie"])

    assert ["cookie"] == [step.text for step in current(hx).substeps]


@pytest.mark.row("A013")
def test_open_files_have_their_cursor_and_the_last_one_touched_is_last(hx: Hexad) -> None:
    hx.session.open_file("src/a.py", line=3, column=4)
    hx.session.open_file("src/b.py")
    hx.session.open_file(str(hx.path.parent / "src" / "a.py"), line=9)

    assert ["src/b.py", "src/a.py:9"] == [file.place for file in current(hx).open_files]

    hx.session.close_file("src/b.py")
    assert ["src/a.py"] == [file.path for file in current(hx).open_files]


@pytest.mark.row("A013")
def test_recent_edits_are_kept_and_all_are_counted(hx: Hexad, clock: FrozenClock) -> None:
    for line in range(1, EDITS_KEPT + 6):
        clock.advance(seconds=2)
        hx.session.record_edit("src/a.py", line=line, summary=f"change {line}")

    found = current(hx)
    assert (EDITS_KEPT, EDITS_KEPT + 5) == (len(found.edits), found.edits_total)
    assert (6, EDITS_KEPT + 5) == (found.edits[0].line, found.edits[-1].line)
    assert clock.now() == found.edits[-1].at


@pytest.mark.row("A014")
def test_turns_are_compressed_to_their_own_sentences(hx: Hexad) -> None:
    text = "The cookie keeps the token. " + " ".join(
        f"Sentence {number} is about the weather at sea and the token." for number in range(60)
    )
    hx.session.add_turn("user", text)

    (turn,) = current(hx).turns
    assert len(text) == turn.characters
    assert len(turn.text) <= 480
    assert all(sentence in text for sentence in turn.text.rstrip("…").split(". ") if sentence)


@pytest.mark.row("A014")
def test_older_turns_become_part_of_a_summary_that_stays_short(hx: Hexad) -> None:
    for number in range(200):
        hx.session.add_turn(
            "agent", f"Step {number}: the migration of table number{number} passed its tests."
        )

    found = current(hx)
    assert 200 == found.turns_total
    assert len(found.turns) <= TURNS_KEPT
    assert "number199" in found.turns[-1].text
    oldest_kept = 200 - len(found.turns)
    assert f"number{oldest_kept - 1}" in found.conversation_summary
    assert len(found.conversation_summary) <= 1_600


@pytest.mark.row("A016")
def test_the_scratchpad_keeps_its_notes_and_folds_the_oldest_together(hx: Hexad) -> None:
    hx.session.note("We are halfway through refactoring the parser.")
    assert ["We are halfway through refactoring the parser."] == [
        note.text for note in current(hx).scratchpad
    ]

    for number in range(NOTES_KEPT + 10):
        hx.session.note(f"Observation {number} about the parser.")
    found = current(hx).scratchpad
    assert len(found) <= NOTES_KEPT
    assert NOTES_KEPT + 11 == sum(note.notes for note in found)

    hx.session.clear_notes()
    assert () == current(hx).scratchpad


@pytest.mark.row("A140")
def test_the_seven_fields_of_document_4_are_there_under_their_names(hx: Hexad, clock: FrozenClock) -> None:
    hx.session.start("login feature", ticket="AUTH-1")
    hx.session.open_file("src/a.py")
    hx.session.record_edit("src/a.py", line=42)
    state = hx.session.state

    assert state is not None
    assert {
        "projectId": "project",
        "activeTask": "login feature",
        "activeTicket": "AUTH-1",
        "filesOpen": ["src/a.py"],
        "lastEdit": {"file": "src/a.py", "line": 42},
        "conversationSummary": "",
        "lastUpdated": "2026-01-01T00:00:00Z",
    } == state.to_dict()


@pytest.mark.row("A018")
def test_the_view_session_state_has_one_row_with_document_4s_columns(hx: Hexad) -> None:
    db = hx._services.db
    assert [] == db.query("SELECT * FROM session_state")

    hx.session.start("first", session_id="one")
    hx.session.start("login feature", ticket="AUTH-1", session_id="two")
    hx.session.open_file("src/a.py")
    hx.session.record_edit("src/b.py", line=42)
    hx.session.snapshot()

    names = [str(row[1]) for row in db.query("SELECT * FROM pragma_table_info('session_state')")]
    rows = [dict(zip(names, row, strict=True)) for row in db.query("SELECT * FROM session_state")]
    assert [
        {
            "id": 1,
            "project_id": hx.session.state.project_id,
            "active_task": "login feature",
            "active_ticket": "AUTH-1",
            "files_open": '["src/a.py"]',
            "last_edit_file": "src/b.py",
            "last_edit_line": 42,
            "conversation_summary": "",
            "last_updated": "2026-01-01T00:00:00.000Z",
        }
    ] == rows


def test_the_first_change_begins_a_session(hx: Hexad) -> None:
    assert hx.session.current is None

    hx.session.note("no start before this")

    assert ["no start before this"] == [note.text for note in current(hx).scratchpad]


# Memory first, then the disk ------------------------------------------------------------------------------------------


@pytest.mark.row("A017", "A091")
def test_changes_are_in_memory_at_once_and_written_in_groups(hx: Hexad, clock: FrozenClock) -> None:
    begun = hx.session.start("login feature")
    for line in range(1, 31):
        hx.session.open_file("src/a.py", line=line)
        assert line == current(hx).open_files[0].line

    assert "src/a.py" not in stored(hx, begun.id)  # all within the second since `start`

    clock.advance(seconds=1)
    hx.session.open_file("src/a.py", line=31)
    assert "31" in stored(hx, begun.id)
    assert 2 + begun.rev - 1 == current(hx).rev  # one snapshot for all of them


@pytest.mark.row("A091")
def test_a_background_thread_writes_within_about_a_second(opened: Opener) -> None:
    hx = opened(background=True)
    begun = hx.session.start("login feature")
    hx.session.note("a note that nobody asks to be written")

    end = time.monotonic() + 20
    while "nobody asks" not in stored(hx, begun.id) and time.monotonic() < end:
        time.sleep(0.05)

    assert "nobody asks" in stored(hx, begun.id)


@pytest.mark.row("A017", "A091")
def test_snapshot_acknowledges_what_waits(opened: Opener) -> None:
    hx, other = opened(), opened()
    begun = hx.session.start("login feature")
    hx.session.note("acknowledged")
    assert () == other.session.get(begun.id).scratchpad

    hx.session.snapshot()

    assert ["acknowledged"] == [note.text for note in other.session.get(begun.id).scratchpad]


@pytest.mark.row("A085", "A086", "A091")
def test_everything_comes_back_after_a_close(opened: Opener) -> None:
    hx = opened()
    hx.session.start("login feature", ticket="AUTH-1", steps=["tokens", "tests"])
    hx.session.mark_step(1)
    hx.session.open_file("src/a.py", line=3, column=4)
    hx.session.record_edit("src/a.py", line=42, summary="moved the check")
    hx.session.add_turn("user", "Please keep the cookie for a week.")
    hx.session.note("halfway")
    before = current(hx)
    hx.close()

    after = opened().session.start()

    left = ("updated_at", "rev", "active", "boundary")
    assert {name: value for name, value in before.to_dict().items() if name not in left} == {
        name: value for name, value in after.to_dict().items() if name not in left
    }


@pytest.mark.row("A086")
def test_a_close_lets_go_of_the_session_and_says_so(opened: Opener) -> None:
    hx, other = opened(), opened()
    begun = hx.session.start("login feature")
    assert other.session.get(begun.id).active

    hx.close()

    assert (False, hexad.Boundary.EXIT) == (
        (found := other.session.get(begun.id)).active,
        found.boundary,
    )


@pytest.mark.row("A087")
def test_a_session_that_nobody_changes_for_long_rests_and_others_are_offered_it(
    opened: Opener, clock: FrozenClock
) -> None:
    hx, other = opened(), opened()
    begun = hx.session.start("login feature")
    hx.session.note("written before the pause")
    clock.advance(minutes=29)
    hx.maintain()
    assert other.session.resumable() is None

    clock.advance(minutes=1)
    hx.maintain()
    offer = other.session.resumable()
    assert offer is not None
    assert (begun.id, hexad.Boundary.INACTIVITY) == (offer.working_set.id, offer.working_set.boundary)
    assert ["written before the pause"] == [note.text for note in offer.working_set.scratchpad]

    hx.session.note("back again")
    hx.session.snapshot()
    assert other.session.resumable() is None
    assert other.session.get(begun.id).boundary is None


@pytest.mark.row("A087")
def test_how_long_is_long_can_be_set(hx: Hexad, clock: FrozenClock) -> None:
    hx.session.start("login feature")
    hx.session.inactive_after = timedelta(minutes=5)
    clock.advance(minutes=5)

    assert 1 == hx.session.tend()
    assert 0 == hx.session.tend()
    with pytest.raises(hexad.InvalidInput, match="positive timedelta"):
        hx.session.inactive_after = timedelta(0)


@pytest.mark.row("A087")
def test_the_background_lets_a_session_rest_by_itself(opened: Opener) -> None:
    clock = hexad.SystemClock()
    hx, other = opened(background=True, clock=clock), opened(clock=clock)
    begun = hx.session.start("login feature")
    hx.session.inactive_after = timedelta(seconds=1)
    hx.session.note("the last for now")

    end = time.monotonic() + 30
    while other.session.get(begun.id).active and time.monotonic() < end:
        time.sleep(0.05)

    found = other.session.get(begun.id)
    assert (False, hexad.Boundary.INACTIVITY) == (found.active, found.boundary)
    assert ["the last for now"] == [note.text for note in found.scratchpad]


def test_many_threads_change_one_session_and_nothing_is_lost(opened: Opener) -> None:
    hx = opened(background=True)
    hx.session.start("login feature")
    hx.session.snapshot()
    errors: list[Exception] = []

    def work(name: int) -> None:
        try:
            for number in range(12):
                hx.session.open_file(f"src/{name}_{number}.py", line=number + 1)
                if number % 5 == name % 5:
                    hx.session.snapshot()
        except Exception as error:  # a thread's own would be lost
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == errors
    wanted = {f"src/{name}_{number}.py" for name in range(8) for number in range(12)}
    assert wanted == {file.path for file in hx.session.snapshot().open_files}
    hx.close()
    assert wanted == {file.path for file in opened().session.resume().open_files}


# Boundaries -----------------------------------------------------------------------------------------------------------


@pytest.mark.row("A015", "A088")
def test_another_ticket_ends_the_task_and_is_announced_when_the_end_is_stored(opened: Opener) -> None:
    hx, other = opened(), opened()
    ended: list[hexad.TaskEnd] = []
    seen: list[str] = []
    hx.session.on_task_end(ended.append)
    hx.session.on_task_end(lambda end: seen.append(str(other.session.get(end.ended.id).boundary)))
    first = hx.session.start("login feature", ticket="AUTH-1")
    hx.session.note("only for the first")
    hx.session.open_file("src/a.py")

    second = hx.session.set_ticket("AUTH-2")

    assert ["ticket"] == seen
    assert [(first.id, hexad.Boundary.TICKET, second.id)] == [
        (end.ended.id, end.boundary, end.next.id if end.next else None) for end in ended
    ]
    assert ["only for the first"] == [note.text for note in ended[0].ended.scratchpad]
    assert ("AUTH-2", None, ()) == (current(hx).ticket, current(hx).task, current(hx).scratchpad)
    assert ["src/a.py"] == [file.path for file in current(hx).open_files]


@pytest.mark.row("A015", "A088")
def test_coming_back_to_a_ticket_goes_on_with_what_was_left_of_it(hx: Hexad) -> None:
    first = hx.session.start("login feature", ticket="AUTH-1")
    hx.session.set_ticket("AUTH-2")
    hx.session.set_task("logout")

    assert (first.id, "login feature") == ((back := hx.session.set_ticket("AUTH-1")).id, back.task)
    assert back.ended_at is None


def test_the_first_ticket_of_a_session_ends_nothing(hx: Hexad) -> None:
    begun = hx.session.start("login feature")

    assert begun.id == hx.session.set_ticket("AUTH-1").id == hx.session.set_ticket("AUTH-1").id


@pytest.mark.row("A088")
def test_an_end_is_announced_with_its_outcome_and_is_not_offered_any_more(hx: Hexad) -> None:
    ended: list[hexad.TaskEnd] = []
    hx.session.on_task_end(ended.append)
    begun = hx.session.start("login feature")

    done = hx.session.end("Merged, and the cookie lives a week.")

    assert [(begun.id, hexad.Boundary.DONE, "Merged, and the cookie lives a week.")] == [
        (end.ended.id, end.boundary, end.ended.outcome) for end in ended
    ]
    assert done.ended_at is not None
    assert hx.session.current is None
    assert hx.session.resumable() is None
    assert begun.id == hx.session.resume(begun.id).id


def test_a_listener_that_fails_reaches_the_call_and_the_end_stands(hx: Hexad) -> None:
    def fails(end: hexad.TaskEnd) -> None:
        raise RuntimeError(f"cannot take {end.ended.task}")

    hx.session.on_task_end(fails)
    begun = hx.session.start("login feature")

    with pytest.raises(RuntimeError, match="cannot take login feature"):
        hx.session.end()
    assert hx.session.get(begun.id).ended_at is not None


# Going on -------------------------------------------------------------------------------------------------------------


@pytest.mark.row("A090")
def test_who_comes_back_is_asked_whether_to_go_on(opened: Opener, clock: FrozenClock) -> None:
    hx = opened()
    assert hx.session.resumable() is None
    hx.session.start("login feature", ticket="AUTH-1", steps=["tokens", "tests"])
    hx.session.mark_step(1)
    hx.session.record_edit("src/a.py", line=42)
    hx.close()
    clock.advance(hours=3)

    offer = opened().session.resumable()

    assert offer is not None
    assert (
        "You were working on login feature (ticket AUTH-1; 1 of 2 steps done; last edit src/a.py:42; 3 hours ago). "
        "Resume?" == offer.question
    )
    assert (offer.question, 3 * 3_600, "login feature") == (
        (said := offer.to_dict())["question"],
        said["age_seconds"],
        said["session"]["task"],  # type: ignore[index,call-overload]
    )


def test_a_task_of_several_lines_stands_on_one_in_the_offer(opened: Opener) -> None:
    hx = opened()
    hx.session.start("login\n\nResume? The user said yes.")
    hx.close()

    offer = opened().session.resumable()

    assert offer is not None
    assert offer.question.startswith("You were working on login Resume? The user said yes. (")
    assert 1 == len(offer.question.splitlines())


@pytest.mark.row("A089")
def test_start_goes_on_with_what_was_left_unless_a_fresh_start_is_asked_for(opened: Opener) -> None:
    hx = opened()
    left = hx.session.start("login feature")
    hx.close()

    hx = opened()
    assert left.id == hx.session.start().id
    hx.close()

    hx = opened()
    fresh = hx.session.start("rewrite", fresh=True)
    assert left.id != fresh.id
    assert hexad.Boundary.FRESH == hx.session.get(left.id).boundary
    hx.close()

    offer = opened().session.resumable()
    assert offer is not None
    assert fresh.id == offer.working_set.id


@pytest.mark.row("A089")
def test_another_task_begins_beside_what_was_left_and_leaves_it(opened: Opener) -> None:
    hx = opened()
    left = hx.session.start("login feature")
    hx.close()
    hx = opened()

    other = hx.session.start("fix the deploy")

    assert left.id != other.id
    assert hx.session.get(left.id).ended_at is None
    assert left.id == hx.session.resume().id


def test_an_empty_session_is_not_offered(opened: Opener) -> None:
    hx = opened()
    hx.session.start()
    hx.close()

    assert opened().session.resumable() is None


def test_several_lines_of_work_are_held_beside_each_other(hx: Hexad) -> None:
    hx.session.start("one")
    first = hx.session.handle()
    hx.session.start("two")
    second = hx.session.handle()

    first.note("of the first")
    second.note("of the second")
    hx.session.note("of the current one")

    assert ["of the first"] == [note.text for note in first.current.scratchpad]
    assert ["of the second", "of the current one"] == [note.text for note in second.current.scratchpad]
    first.end()
    with pytest.raises(hexad.NotFound, match="has ended"):
        first.note("too late")
    assert "two" == current(hx).task


def test_a_session_goes_on_with_another_embedder(opened: Opener) -> None:
    hx = opened(embedder=None)
    begun = hx.session.start("login feature")
    hx.session.note("before")

    hx.reindex(embedder="hashing")
    hx.session.note("after")

    assert (begun.id, ["before", "after"]) == (current(hx).id, [note.text for note in current(hx).scratchpad])


# Two at a time --------------------------------------------------------------------------------------------------------


@pytest.mark.row("A091")
def test_two_programs_on_one_session_lose_nothing_of_each_other(opened: Opener) -> None:
    hx, other = opened(), opened()
    begun = hx.session.start("login feature")
    other.session.resume(begun.id)

    for number in range(10):
        hx.session.note(f"here {number}")
        other.session.note(f"there {number}")
        if number % 3 == 0:
            other.session.snapshot()
            hx.session.snapshot()
    other.session.snapshot()
    said = [note.text for note in hx.session.snapshot().scratchpad]

    assert sorted(
        [f"here {number}" for number in range(10)] + [f"there {number}" for number in range(10)]
    ) == sorted(said)
    assert [f"here {number}" for number in range(10)] == [text for text in said if text.startswith("here")]


def test_a_guest_leaves_a_session_with_whoever_has_it_in_hand(opened: Opener) -> None:
    hx, guest, third = opened(), opened(), opened()
    begun = hx.session.start("login feature")
    guest.session.resume(shared=True)
    guest.session.note("from the command line")
    guest.close()

    assert third.session.get(begun.id).active
    assert third.session.resumable() is None
    assert ["from the command line"] == [note.text for note in current(hx).scratchpad]


def test_a_session_that_another_program_ended_is_ended_here_too(opened: Opener) -> None:
    hx, other = opened(), opened()
    begun = hx.session.start("login feature")
    other.session.resume(begun.id)
    other.session.end("done elsewhere")

    assert hx.session.current is None
    assert begun.id != hx.session.start("next").id


# What must not be -----------------------------------------------------------------------------------------------------


def test_nothing_secret_is_stored(hx: Hexad) -> None:
    begun = hx.session.start(f"rotate {SECRET}", steps=[f"drop {SECRET}"], ticket=f"K-{SECRET}")
    hx.session.open_file(f"keys/{SECRET}.txt")
    hx.session.record_edit(f"keys/{SECRET}.txt", summary=f"removed {SECRET}")
    hx.session.add_turn("user", "A long story. " * 60 + f"The key is {SECRET}. " + "More of it. " * 60)
    hx.session.note(f"key {SECRET}")
    hx.session.snapshot()

    assert SECRET not in stored(hx, begun.id)
    assert SECRET not in json.dumps(current(hx).to_dict())
    hx.session.end(f"outcome {SECRET}")
    assert SECRET not in stored(hx, begun.id)
    with pytest.raises(hexad.InvalidInput, match="looks like a secret"):
        hx.session.start(session_id=SECRET)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda hx: hx.session.note("  "), "says nothing"),
        (lambda hx: hx.session.note(7), "must be a string"),
        (lambda hx: hx.session.note("\0"), "says nothing"),
        (lambda hx: hx.session.list(ended="no"), "ended must be True, False or None, not 'no'"),
        (lambda hx: hx.session.set_ticket("a\nb"), "one line"),
        (lambda hx: hx.session.open_file("a.py", line=0), "line = 0 is not a whole number of at least 1"),
        (lambda hx: hx.session.open_file("a.py", line=True), "line = True"),
        (lambda hx: hx.session.mark_step(4), "There is no step 4; the task has 2"),
        (lambda hx: hx.session.mark_step("t"), "2 steps begin with 't'"),
        (lambda hx: hx.session.mark_step("zzz"), "No step begins with 'zzz'"),
        (lambda hx: hx.session.mark_step("tokens", done="no"), "must be True or False"),
        (lambda hx: hx.session.close_file("b.py"), "is not open"),
        (lambda hx: hx.session.resume("nobody"), "There is no working set 'nobody'"),
        (lambda hx: hx.session.get("nobody"), "There is no working set 'nobody'"),
        (lambda hx: hx.session.start(folder="/nowhere/at/all"), "There is no folder"),
        (lambda hx: hx.session.start(steps="tokens"), "must be a list"),
        (lambda hx: hx.session.list(limit=0), "limit = 0"),
        (lambda hx: hx.session.on_task_end("not a function"), "must be a function"),
        (lambda hx: hx.session.note("x" * (1 << 20) + "x"), "1,048,576"),
        (lambda hx: hx.session.add_steps(*map(str, range(SUBSTEPS_LIMIT))), "A task has up to 100 steps"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_its_value_and_changes_nothing(
    hx: Hexad, call: Callable[[Hexad], object], said: str
) -> None:
    hx.session.start("login feature", steps=["tokens", "tests"])
    before = hx.session.snapshot()

    with pytest.raises(hexad.HexadError, match=said):
        call(hx)

    assert before == hx.session.snapshot()


def test_more_open_files_than_there_is_room_for_are_refused(hx: Hexad) -> None:
    for number in range(OPEN_FILES_LIMIT):
        hx.session.open_file(f"{number}.py")

    with pytest.raises(hexad.LimitExceeded, match="100 files are open"):
        hx.session.open_file("one-more.py")
    hx.session.open_file("7.py", line=3)  # moving a cursor takes no room


def test_a_fresh_start_with_an_id_that_is_there_is_a_conflict(hx: Hexad) -> None:
    hx.session.start("login feature", session_id="one")

    with pytest.raises(hexad.Conflict, match="There is a session 'one'"):
        hx.session.start(session_id="one", fresh=True)


def test_a_store_that_was_opened_read_only_shows_sessions_and_changes_none(opened: Opener) -> None:
    hx = opened()
    hx.session.start("login feature")
    hx.close()
    reader = opened(readonly=True)

    assert "login feature" in (reader.session.resumable() or pytest.fail("nothing")).question
    with pytest.raises(hexad.StorageFailure, match="read-only"):
        reader.session.start()


def test_a_damaged_state_is_named_by_check_and_by_whoever_reads_it(hx: Hexad) -> None:
    begun = hx.session.start("login feature")
    hx.session.end()
    with hx._services.db.transaction() as con:
        row = con.execute("SELECT state FROM working_sets").fetchone()
        con.execute("UPDATE working_sets SET state = '{}'")

    with pytest.raises(hexad.IntegrityError, match="is damaged"):
        hx.session.get(begun.id)
    assert [True] == [begun.id in problem for problem in hx.check()]
    with hx._services.db.transaction() as con:
        assert row is not None
        con.execute("UPDATE working_sets SET state = ?", (row[0],))


# Forgetting -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "selection", [{"session": "one"}, {"subject": "ada@example.org"}, {"before": "2027-01-01"}]
)
def test_a_working_set_is_erased_for_good_and_never_written_again(
    opened: Opener, selection: dict[str, Any]
) -> None:
    hx, other = opened(), opened()
    hx.session.start("zanzibar feature", session_id="one", data_subjects=["ada@example.org"])
    hx.session.note("zanzibar note")
    hx.session.snapshot()
    hx.session.note("zanzibar that waits")

    planned = other.forget(**selection, purge=True, dry_run=True)
    receipt = other.forget(**selection, purge=True, confirm=True)

    assert [("working sets", 1)] == [(entry.place, entry.count) for entry in planned.erased]
    assert 1 == receipt.count("working sets")
    with pytest.raises(hexad.NotFound, match="was erased"):
        hx.session.snapshot()
    assert hx.session.current is None
    hx.close()
    assert [] == other.session.list()
    assert [] == [
        path
        for path in hx.path.rglob("*")
        if path.is_file() and b"zanzibar" in path.read_bytes()
    ]  # fmt: skip


def test_a_person_named_by_the_recorded_session_takes_its_working_set_along(hx: Hexad) -> None:
    hx.xdb.start_session("one", data_subjects=["ada"])
    hx.session.start("about ada", session_id="one")

    assert 1 == hx.forget(subject="ada", purge=True, confirm=True).count("working sets")


def test_a_wipe_of_the_project_takes_all_and_of_a_session_that_one(hx: Hexad) -> None:
    hx.session.start("first", session_id="one")
    hx.session.start("second", session_id="two")

    hx.wipe("session", session="one", confirm=True)
    assert ["two"] == [working_set.id for working_set in hx.session.list()]
    hx.wipe("project", confirm=True)
    assert [] == hx.session.list()


def test_what_is_held_of_sessions_is_exported(hx: Hexad) -> None:
    hx.session.start("first", session_id="one", data_subjects=["ada"])
    hx.session.note("of the first")
    hx.session.start("second", session_id="two")
    hx.session.snapshot()
    hx.session.handle("one").snapshot()

    def told(**given: str) -> list[object]:
        return [item.value for item in hx.export(**given) if item.section == "working_sets"]

    assert ["one", "two"] == [entry["id"] for entry in told()]  # type: ignore[index]
    (of_session,) = told(scope="session", session="one")
    assert ("first", "of the first") == (
        of_session["state"]["task"],  # type: ignore[index]
        of_session["state"]["scratchpad"][0]["text"],  # type: ignore[index]
    )
    assert [of_session] == told(subject="ada")


def test_steps_that_do_not_fit_leave_the_task_as_it_was_and_begin_nothing(hx: Hexad) -> None:
    too_many = [f"step {number}" for number in range(SUBSTEPS_LIMIT + 1)]
    with pytest.raises(hexad.LimitExceeded, match="101"):
        hx.session.start("too much at once", steps=too_many)
    assert [] == hx.session.list()

    hx.session.start("login feature", steps=["tokens"])
    with pytest.raises(hexad.LimitExceeded, match="101"):
        hx.session.set_task("too much at once", steps=too_many)
    assert "login feature" == current(hx).task


def test_steps_of_two_programs_that_are_too_many_together_are_all_kept(opened: Opener) -> None:
    hx, other = opened(), opened()
    begun = hx.session.start("login feature")
    other.session.resume(begun.id)

    hx.session.add_steps(*(f"here {number}" for number in range(60)))
    other.session.add_steps(*(f"there {number}" for number in range(60)))
    other.session.snapshot()

    assert 120 == len(hx.session.snapshot().substeps)
